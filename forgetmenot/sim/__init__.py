"""A Twitch and a Gemini on loopback, for the demo, for tests and for whoever builds on this. Imports none of ours."""
