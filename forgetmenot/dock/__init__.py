"""The dock: a local page that shows the memory and steers the bot, through ports.Control."""
