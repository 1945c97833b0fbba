"""What is wrong with a value in a settings file, in words for somebody who does not program."""

import difflib
import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, get_type_hints

from forgetmenot.settings.schema import Settings

_KINDS = {
    "str": "text in quotes",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list in square brackets",
    "object": "a table",
}
_GIVEN = {"str": "text", "float": "a number with a point", "array": "a list"}
_LIMIT = {"<=": "at most", ">=": "at least", "<": "less than", ">": "more than"}
_LIMITED = re.compile(r"Expected `\w+` (<=|>=|<|>) (-?[\d.]+)")
_LONG = re.compile(r"Expected `str` of length (<=|>=) (\d+)")
_OTHER_KIND = re.compile(r"Expected `(\w+)`, got `(\w+)`")
_NOT_KNOWN = re.compile(r"Invalid enum value '?(.*?)'?", re.DOTALL)


def wrong_value(message: str, table: str, key: str) -> str:
    """The end of a sentence that begins with table and key; `message` is what msgspec says. Pure."""
    if found := _LIMITED.fullmatch(message):
        return f" must be {_LIMIT[found[1]]} {float(found[2]):g}."
    if found := _LONG.fullmatch(message):
        return f" must be {_LIMIT[found[1]]} {found[2]} letters long."
    if found := _OTHER_KIND.fullmatch(message):
        wanted, given = (_KINDS.get(kind, kind) for kind in found.groups())
        return f"{': an entry' if '[' in key else ''} must be {wanted}, not {_GIVEN.get(found[2], given)}."
    known = _known(table, key)
    if known and (found := _NOT_KNOWN.fullmatch(message)):
        return f" cannot be `{found[1]}`.{nearest(found[1], known, in_order=True)}"
    return f": {message}."


def nearest(word: str, known: Iterable[str], *, in_order: bool = False) -> str:
    """A guess at what was meant, or else all that there is."""
    names = list(known)
    match = difflib.get_close_matches(word, names, n=1, cutoff=0.5)
    if match:
        return f" Did you mean `{match[0]}`?"
    return f" Known are: {', '.join(names if in_order else sorted(names))}."


def _known(table: str, key: str) -> list[str]:
    """The words that a setting may be, if they are few."""
    of: Any = get_type_hints(Settings).get(table)
    kind = get_type_hints(of).get(key) if isinstance(of, type) else None
    return [one.value for one in kind] if isinstance(kind, type) and issubclass(kind, StrEnum) else []
