"""When and how the bot answers, and why it said that."""
