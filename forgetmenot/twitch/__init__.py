"""Twitch: reading chat, logging in, acting."""
