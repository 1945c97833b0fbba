"""A Twitch on loopback, for the demo and the tests. Imports nothing of the bot."""
