"""The number that stands for a line of chat in the index of Twitch's ids.

An id has 36 letters, so an index of the ids themselves is three times as large, and each batch of lines changes three
times as many of its pages. Two of a million lines have the same key once in 37 million times.
"""

from collections.abc import Callable
from hashlib import blake2b

_KEY_BYTES = 8  # what an INTEGER of SQLite holds


def line_key(event_id: str | None) -> int | None:
    """Return the number that stands for the id of a line; None for None, as SQL expects it."""
    if event_id is None:
        return None
    digest = blake2b(event_id.encode(), digest_size=_KEY_BYTES).digest()
    return int.from_bytes(digest, signed=True)


# By its name in SQL, with the number of its arguments.
SQL_FUNCTIONS: dict[str, tuple[int, Callable[..., int | None]]] = {
    "line_key": (1, line_key)
}
