"""Builds and wires the bot, and keeps it running."""
