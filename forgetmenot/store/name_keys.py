"""What the triggers of schema.sql call to keep `name_words` and `nicknames`, the indexes of what people are called."""

import json
from collections.abc import Callable

from forgetmenot.text.names import name_words, nicknames_in


def name_keys(login: str | None, display_name: str | None) -> str:
    """Return the words by which a name is found, as a JSON list."""
    return json.dumps(sorted(name_words(login or "", display_name or login or "")))


def nickname_keys(fact: str) -> str:
    """Return the nicknames that a note gives its subject, as a JSON list."""
    return json.dumps(sorted(set(nicknames_in(fact))))


# By their names in SQL, with the number of their arguments.
SQL_FUNCTIONS: dict[str, tuple[int, Callable[..., str]]] = {
    "name_keys": (2, name_keys),
    "nickname_keys": (1, nickname_keys),
}
