"""A name on Twitch as people write it, and as Twitch keeps it. Pure."""

import re

_LOGIN = re.compile(r"(?:[#@]?[A-Za-z0-9_]{1,25})?")


def is_login(text: str) -> bool:
    """Whether somebody can be called so; nothing is no mistake here, and # and @ are how people write it."""
    return _LOGIN.fullmatch(text) is not None


def login_of(text: str) -> str:
    """The login as Twitch has it, of what `is_login`."""
    return text.lower().lstrip("#@")
