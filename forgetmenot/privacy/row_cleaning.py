"""The texts of a row without one person, by how people are written in its columns.

JSON is parsed, and of it only what holds somebody's words is changed: keys, numbers and names of the program stay, and
what has nothing of the person stays byte for byte.
"""

from collections.abc import Callable
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
    """The texts of a row without them, in the order of the place's columns."""
    bare = place.typed and row.near
    texts: list[str | None] = []
    for text in row.texts:
        if text is None:
            texts.append(None)
        elif place.written is ColumnFormat.TEXT:
            texts.append(without(text, person, cut=place.cut, bare=bare))
        else:
            texts.append(_CLEANED_AS[place.written](text, person, bare))
    return tuple(texts)


def without(
    text: str,
    person: NameForms,
    *,
    cut: bool,
    bare: bool,
) -> str:
    """A text without them; `cut`: without the sentences about them."""
    if cut:
        return without_person(person.with_mentions(text, bare=bare), person.viewer_id)
    return person.anonymized(text, bare=bare)


def _without_in_words(
    text: str,
    person: NameForms,
    bare: bool,  # noqa: FBT001  # as _CLEANED_AS calls it
) -> str:
    """A JSON list of words without those that name them."""
    listed = _decoded(text, list)
    if listed is None:
        return person.anonymized(text, bare=False)
    without_them = []
    for word in listed:
        if person.anonymized(str(word), bare=bare) == str(word):
            without_them.append(word)
    return text if without_them == listed else _encoded(without_them)


def _without_in_fields(
    text: str,
    person: NameForms,
    bare: bool,  # noqa: FBT001
) -> str:
    """A proposed action without them: of its fields, those that are somebody's words, and the target."""
    fields = _decoded(text, dict)
    if fields is None:
        return person.anonymized(text, bare=False)
    cleaned = dict(fields)
    for name, value in fields.items():
        if not isinstance(value, str):
            continue
        if name in FREE_TEXTS:
            cleaned[name] = person.anonymized(value, bare=bare)
        elif name in PEOPLE and person.is_named(value):
            cleaned[name] = SOMEBODY
    return text if cleaned == fields else _encoded(cleaned)


def _without_in_reason(
    text: str,
    person: NameForms,
    bare: bool,  # noqa: FBT001
) -> str:
    """A reason without them: of one of ours, those of its values that mention them."""
    if text == person.viewer_id:
        return ""
    if not text.startswith('["'):
        return person.anonymized(text, bare=bare)
    parts = _decoded(text, list)
    if parts is None:
        return person.anonymized(text, bare=False)
    cleaned = _without_mentions(parts, person)
    return text if cleaned == parts else _encoded(cleaned)


def _without_mentions(value: Any, person: NameForms) -> Any:  # noqa: ANN401  # any JSON
    """JSON with "somebody" in the place of their mentions; its keys stay."""
    if isinstance(value, str):
        return value.replace(mention(person.viewer_id), SOMEBODY)
    if isinstance(value, list):
        return [_without_mentions(part, person) for part in value]
    if isinstance(value, dict):
        return {key: _without_mentions(part, person) for key, part in value.items()}
    return value


_CLEANED_AS: dict[ColumnFormat, Callable[[str, NameForms, bool], str]] = {
    ColumnFormat.WORDS: _without_in_words,
    ColumnFormat.FIELDS: _without_in_fields,
    ColumnFormat.REASON: _without_in_reason,
}


def _decoded(text: str, kind: type[Decoded]) -> Decoded | None:
    """JSON of that kind; None for anything else."""
    try:
        value = msgspec.json.decode(text)
    except ODD_INPUT:
        return None
    return value if isinstance(value, kind) else None


def _encoded(value: object) -> str:
    return msgspec.json.encode(value).decode()
