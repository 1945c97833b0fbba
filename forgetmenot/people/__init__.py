"""Whom the bot knows and whom it leaves out: names, standing, and the handles that stand for people."""
