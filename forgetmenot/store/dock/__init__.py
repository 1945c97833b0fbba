"""Queries for the dock."""
