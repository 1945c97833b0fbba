"""Every text of the interface, in one file per language.

    say = in_language(settings.bot.language)
    say("chat.denied", id=3)

- A language is one file of this folder with the keys of en.toml; a test compares keys and what is
  filled in.
- A list of two is for one and for more, chosen by `n`.
- Reasons, troubles and details arise far from where they are read: `reason("needs",
  parameter="fact")`. They are English text for logs and the command line. A row keeps code and
  values; `say.reason` words them in a language.
"""

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any, TypeAlias

from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND
from forgetmenot.errors import ODD_INPUT

# The tables that have a word for a value, by the name it is filled in as.
_TABLES_OF_NAMES = {
    "action": "action.name",
    "parameter": "page.parameter",
    "status": "page.status",
}
# A text, or a pair: one for one and one for more, or a label and its sentence.
Text: TypeAlias = str | tuple[str, str]
# What is filled in, by the names in a text's braces.
Values: TypeAlias = Mapping[str, object]
# Texts by their dotted keys.
Texts: TypeAlias = dict[str, Text]
# The mean length of a month, in ms.
_MONTH = 30.4 * DAY
# Letters of a language's code: real ones have two or three.
_MAX_CODE = 20


class Language:
    """The texts of one language, by their dotted keys."""

    def __init__(self, tables: Mapping[str, Any], code: str = "") -> None:
        self.code = code
        self.tables = tables
        self.texts = _texts_by_key(tables, "")

    def __call__(self, key: str, /, **values: object) -> str:
        """Return a text, filled in. Raises KeyError if there is none."""
        text = self.texts[key]
        if not isinstance(text, str):
            text_for_one, text_for_more = text
            number = values.get("n")
            # "1" where a number was put into words before
            is_one = number in {1, "1"}
            text = text_for_one if is_one else text_for_more
        return text.format_map(values)

    def __contains__(self, key: str) -> bool:
        return key in self.texts

    def pair(self, key: str) -> tuple[str, str]:
        """Return a label with its sentence, which may be empty."""
        text = self.texts[key]
        if isinstance(text, str):
            return text, ""
        return text

    def number(self, amount: int) -> str:
        """Return a whole number as this language groups it."""
        grouped = f"{amount:,}"
        return grouped.replace(",", self("thousands"))

    def duration(self, ms: int, table: str = "span") -> str:
        """Return a length of time in one unit; with the table "ago", how long ago that was."""
        unit, amount = _in_one_unit(ms)
        return self(f"{table}.{unit}", n=amount)

    def reason(self, text: str) -> str:
        """Return a reason in this language; any other text (of Twitch, of a server) as it is."""
        if isinstance(text, Reason):
            return self.reason_text(text.code, text.values)
        return text

    def reason_text(self, code: str, values: Values) -> str:
        """Return a reason by its key."""
        shown_values: dict[str, object] = {}
        for name, value in values.items():
            shown_values[name] = self.value(name, value)
        return self(f"reason.{code}", **shown_values)

    def value(self, name: str, value: object) -> object:
        """Return what is filled in as `name`, in words of this language.

        A reason, a number, or the name of an action, a parameter or a status is put into words.
        Any other value stays.
        """
        if name == "actions":
            action_names = []
            for action in str(value).split(", "):
                action_name = self.value("action", action)
                action_names.append(str(action_name))
            return ", ".join(action_names)
        if isinstance(value, float):
            digits = str(value)
            return digits.replace(".", self("decimal"))
        table = _TABLES_OF_NAMES.get(name, "")
        name_in_words = self.texts.get(f"{table}.{value}")
        if name_in_words is not None:
            return name_in_words
        if isinstance(value, str):
            return self.reason(value)
        return value


def _in_one_unit(ms: int) -> tuple[str, int]:
    """Return a length of time as a unit of the languages' tables, and how many of it."""
    # Days and minutes from two on, because "45 days" says more than "1 month".
    if ms >= 60 * DAY:
        return "months", round(ms / _MONTH)
    if ms >= 2 * DAY:
        return "d", round(ms / DAY)
    if ms >= HOUR:
        return "h", round(ms / HOUR)
    if ms >= 2 * MINUTE:
        return "min", ms // MINUTE
    # Nothing lasts "0 seconds".
    return "s", max(1, ms // SECOND)


class Reason(str):
    """A text of the table [reason] in English, with its code and values for other languages."""

    __slots__ = ("code", "values")
    code: str
    values: Values

    # str() of a subclass would give a plain text, and the code and values would be lost.
    def __str__(self) -> str:
        """Return the reason itself, so that `str(error)` keeps code and values."""
        return self

    @property
    def row(self) -> str:
        """Return it as it is stored: `["needs", {"parameter": "fact"}]`; `read_reason` reads it."""
        nested = self.nested()
        return json.dumps(nested, ensure_ascii=False)

    def nested(self) -> list[object]:
        """Return code and values; values that are reasons likewise."""
        values = dict(self.values)
        for name, value in self.values.items():
            if isinstance(value, Reason):
                values[name] = value.nested()
        return [self.code, values]


def reason(code: str, /, **values: object) -> Reason:
    """Return a reason by its key in the table [reason]. Values may be reasons. Raises KeyError."""
    in_english = ENGLISH.reason_text(code, values)
    text = Reason(in_english)
    text.code = code
    text.values = values
    return text


def join_reasons(*texts: str) -> str:
    """Return the texts that are not empty as one, one after the other."""
    joined = ""
    # Two at a time, because a reason has a fixed number of values.
    for text in texts:
        if joined and text:
            joined = reason("joined", first=joined, second=text)
        else:
            joined = joined or text
    return joined


def read_reason(text: str) -> str:
    """Return a reason out of a row; any other text as it is."""
    if not text.startswith('["'):
        return text
    # It may still be somebody's own text, or a reason of which a newer build has no words.
    try:
        return _read(json.loads(text))
    except ODD_INPUT:
        return text


def _read(nested: Any) -> Reason:  # noqa: ANN401  # any JSON
    """Return the reason of code and values as `Reason.nested` gives them. Raises an error of ODD_INPUT."""
    code, values = nested
    read_values = dict(values)
    for name, value in values.items():
        # No value is a list but a reason in its stored form.
        if isinstance(value, list):
            read_values[name] = _read(value)
    return reason(code, **read_values)


def _texts_by_key(table: Mapping[str, object], prefix: str) -> Texts:
    """Return the texts of a table and those inside of it by their dotted keys; a pair for a list of two."""
    texts: Texts = {}
    for name, value in table.items():
        key = prefix + name
        if isinstance(value, Mapping):
            inner_texts = _texts_by_key(value, f"{key}.")
            texts |= inner_texts
        elif isinstance(value, list):
            text_for_one, text_for_more = value
            texts[key] = (text_for_one, text_for_more)
        else:
            texts[key] = str(value)
    return texts


@cache
def languages() -> dict[str, str]:
    """Return the languages that there are: code and own name."""
    folder = resources.files(__name__)
    file_names = [file.name for file in folder.iterdir()]
    names: dict[str, str] = {}
    for file_name in sorted(file_names):
        if file_name.endswith(".toml"):
            code = file_name.removesuffix(".toml")
            names[code] = in_language(code)("name")
    return names


@cache
def in_language(language: str = "en") -> Language:
    """Return the texts of a language; English if there is no such file."""
    # The settings may say anything: a path out of this folder, or a name that some systems refuse
    # to look for.
    may_be_code = language.isalpha() and len(language) < _MAX_CODE
    if not may_be_code:
        return in_language("en")
    folder = resources.files(__name__)
    file = folder / f"{language}.toml"
    if not file.is_file():
        return in_language("en")
    text = file.read_text(encoding="utf-8")
    tables = tomllib.loads(text)
    return Language(tables, language)


# What stands where no language is chosen: on the command line.
ENGLISH = in_language("en")
