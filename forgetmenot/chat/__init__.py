"""Handles chat lines: routing and commands."""
