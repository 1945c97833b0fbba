"""Handles chat lines: routing, commands and their wording."""
