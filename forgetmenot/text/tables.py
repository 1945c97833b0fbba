"""Reads the lists of words that stand beside the code of this package, in TOML files."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def word_lists(name: str) -> dict[str, Any]:
    """Return the tables of a file of this package, "roles.toml", read once."""
    file = files(__package__).joinpath(name)
    return tomllib.loads(file.read_text("utf-8"))
