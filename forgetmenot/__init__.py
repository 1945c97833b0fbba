"""ForgetMeNot: a local-first Twitch chat bot with a real memory, which does not keep the chat."""

__version__ = "0.1.0"
