"""What the triggers of schema.sql call to keep `note_words`, the index of all notes by their words.

A word is a key: a number made from its stem, so no word of anybody's stands in the index. Two words may have the same
key (one pair in 8 million), so what the index finds is read again before it is used. The notes of a word are packed: a
row holds those of a span of `SPAN` ids, two bytes each, which is a quarter of what a row for each would take.
"""

import json
from array import array
from collections.abc import Callable, Iterable
from zlib import crc32

from forgetmenot.text.words import STOPWORDS, stem, words

SPAN = 4_096  # ids; as in schema.sql
_LARGEST_KEY = 0x7FFFFF  # what SQLite stores in three bytes
_RECALLED = frozenset({"active", "past"})


def key_of(word_stem: str) -> int:
    """Return the number that stands for a stem."""
    return crc32(word_stem.encode()) & _LARGEST_KEY


def stems_of_note(
    fact: str,
    topics: Iterable[str],
    asked_with: Iterable[str],
) -> set[str]:
    """Return the stems by which a note can be found."""
    text = " ".join([fact, *topics, *asked_with])
    return {stem(word) for word in words(text) if word not in STOPWORDS}


def note_keys(
    fact: str,
    topics: str,
    asked_with: str,
    status: str,
) -> str:
    """Return the keys of a note's words as a JSON list, from its columns; an empty one unless it may be recalled."""
    if status not in _RECALLED:
        return "[]"
    stems = stems_of_note(fact, json.loads(topics), json.loads(asked_with))
    # In the order of the primary key, in which rows are written fastest.
    return json.dumps(sorted(map(key_of, stems)))


def with_place(packed: bytes, place: int) -> bytes:
    """Return the packed places with one more."""
    places = array("H", packed)
    # A place that stood twice would count twice (`notes_by_word`).
    if place not in places:
        places.append(place)
    return places.tobytes()


def without_place(packed: bytes, place: int) -> bytes:
    """Return the packed places without one."""
    places = array("H", packed)
    if place in places:
        places.remove(place)
    return places.tobytes()


def unpacked(span: int, packed: bytes) -> list[int]:
    """Return the ids of the notes in a row of the index."""
    first = span * SPAN
    return [first + place for place in array("H", packed)]


# By their names in SQL, with the number of their arguments.
SQL_FUNCTIONS: dict[str, tuple[int, Callable[..., str | bytes]]] = {
    "note_keys": (4, note_keys),
    "with_place": (2, with_place),
    "without_place": (2, without_place),
}
