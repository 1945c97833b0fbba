"""Cleans the texts of a row of one person, by how people are written in its columns.

JSON is parsed, and of it only what holds somebody's words is changed: keys, numbers and names of
the program stay. A text that does not name the person stays as it is, to the byte.
"""

from typing import Any, TypeVar

import msgspec

from forgetmenot.errors import ODD_INPUT
from forgetmenot.store.personal_data import (
    FREE_TEXTS,
    PEOPLE,
    ColumnFormat,
    Place,
    WrittenRow,
)
from forgetmenot.text.mentions import SOMEBODY, mention
from forgetmenot.text.removal import NameForms, without_person

Decoded = TypeVar("Decoded")


def cleaned_texts(
    row: WrittenRow,
    place: Place,
    person: NameForms,
) -> tuple[str | None, ...]:
    """Return the texts of a row without the person, in the order of the place's columns."""
    # A name without a mark is theirs only in what was typed, and where they were at the time.
    bare = place.typed and row.near
    texts: list[str | None] = []
    for text in row.texts:
        cleaned = None
        if text is not None:
            cleaned = _cleaned_text(text, place, person, bare=bare)
        texts.append(cleaned)
    return tuple(texts)


def _cleaned_text(
    text: str,
    place: Place,
    person: NameForms,
    *,
    bare: bool,
) -> str:
    """Return a column without a person, read in the form in which it names people."""
    match place.written:
        case ColumnFormat.TEXT:
            return without(text, person, cut=place.cut, bare=bare)
        case ColumnFormat.WORDS:
            return _without_in_words(text, person, bare=bare)
        case ColumnFormat.FIELDS:
            return _without_in_fields(text, person, bare=bare)
        case ColumnFormat.REASON:
            return _without_in_reason(text, person, bare=bare)


def without(
    text: str,
    person: NameForms,
    *,
    cut: bool,
    bare: bool,
) -> str:
    """Return a text without the person.

    `cut`: the sentences about them are removed, not only their name.
    `bare`: a name without a mark counts as theirs.
    """
    if not cut:
        return person.anonymized(text, bare=bare)
    marked_text = person.with_mentions(text, bare=bare)
    return without_person(marked_text, person.viewer_id)


def _without_in_words(
    text: str,
    person: NameForms,
    *,
    bare: bool,
) -> str:
    """Return a JSON list of words without those that name the person."""
    listed_words = _decoded(text, list)
    # It is no list of words, and a bare name in other text may be any word.
    if listed_words is None:
        return person.anonymized(text, bare=False)
    remaining_words = []
    for word in listed_words:
        if person.anonymized(str(word), bare=bare) == str(word):
            remaining_words.append(word)
    if remaining_words == listed_words:
        return text
    return _encoded(remaining_words)


def _without_in_fields(
    text: str,
    person: NameForms,
    *,
    bare: bool,
) -> str:
    """Return a proposed action (a JSON object) with "somebody" for the person.

    Only its target and the fields that are somebody's words are looked at.
    """
    fields = _decoded(text, dict)
    if fields is None:
        return person.anonymized(text, bare=False)
    cleaned_fields = dict(fields)
    for name, value in fields.items():
        if not isinstance(value, str):
            continue
        if name in FREE_TEXTS:
            cleaned_fields[name] = person.anonymized(value, bare=bare)
        elif name in PEOPLE and person.is_named(value):
            cleaned_fields[name] = SOMEBODY
    # Encoded anew it would differ in its spaces, and nothing of others may change.
    if cleaned_fields == fields:
        return text
    return _encoded(cleaned_fields)


def _without_in_reason(
    text: str,
    person: NameForms,
    *,
    bare: bool,
) -> str:
    """Return a reason without the person.

    A reason of ours is a JSON list of a key and values, and only mentions in the values are theirs;
    any other text is another program's words.
    """
    if text == person.viewer_id:
        return ""
    is_own_reason = text.startswith('["')
    if not is_own_reason:
        return person.anonymized(text, bare=bare)
    parts = _decoded(text, list)
    if parts is None:
        return person.anonymized(text, bare=False)
    cleaned_parts = _without_mentions(parts, person)
    if cleaned_parts == parts:
        return text
    return _encoded(cleaned_parts)


def _without_mentions(value: Any, person: NameForms) -> Any:  # noqa: ANN401  # any JSON
    """Return JSON with "somebody" in the place of mentions of the person; its keys stay."""
    if isinstance(value, str):
        return value.replace(mention(person.viewer_id), SOMEBODY)
    if isinstance(value, list):
        return [_without_mentions(part, person) for part in value]
    if isinstance(value, dict):
        return {key: _without_mentions(part, person) for key, part in value.items()}
    return value


def _decoded(text: str, kind: type[Decoded]) -> Decoded | None:
    """Return the JSON value of a text; None if it is no JSON, or of another type."""
    try:
        value = msgspec.json.decode(text)
    except ODD_INPUT:
        return None
    return value if isinstance(value, kind) else None


def _encoded(value: object) -> str:
    """Return a value as JSON."""
    return msgspec.json.encode(value).decode()
