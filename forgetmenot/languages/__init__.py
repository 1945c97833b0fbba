"""Every text of the interface in one file per language: chat's answers, the dock, the set-up, the checks.

    say = in_language(settings.bot.language)
    say("chat.denied", id=3)

- A language is one file of this folder with the keys of en.toml; a test compares keys and what is filled in.
- A list of two is for one and for more, chosen by `n`.
- Reasons, troubles and details arise far from where they are read: `reason("needs", parameter="fact")`. They are
  English text for logs and the command line; a row keeps code and values; `say.reason` words them in a language.
"""

import json
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND
from forgetmenot.errors import ODD_INPUT

_NAMES = {"action": "action.name", "parameter": "page.parameter", "status": "page.status"}


class Language:
    """The texts of one language, by their dotted keys."""

    def __init__(self, tables: Mapping[str, Any], code: str = "") -> None:
        self.code = code
        self.tables = tables
        self.texts = dict(_flat(tables, ""))  # every text by its key

    def __call__(self, key: str, /, **values: object) -> str:
        """The text, filled in. Raises KeyError if there is none."""
        text = self.texts[key]
        if not isinstance(text, str):
            text = text[0 if values.get("n") in {1, "1"} else 1]
        return text.format_map(values)

    def __contains__(self, key: str) -> bool:
        return key in self.texts

    def pair(self, key: str) -> tuple[str, str]:
        """A label with its sentence."""
        pair = self.texts[key]
        return (pair, "") if isinstance(pair, str) else pair

    def number(self, amount: int) -> str:
        """A whole number as this language groups it."""
        return f"{amount:,}".replace(",", self("thousands"))

    def duration(self, ms: int, how: str = "span") -> str:
        """A length of time in one unit; `how` "ago": how long ago."""
        for unit, size, least in (
            ("months", 30.4 * DAY, 60 * DAY),
            ("d", DAY, 2 * DAY),
            ("h", HOUR, HOUR),
        ):
            if ms >= least:
                return self(f"{how}.{unit}", n=round(ms / size))
        return (
            self(f"{how}.min", n=ms // MINUTE)
            if ms >= 2 * MINUTE
            else self(f"{how}.s", n=max(1, ms // SECOND))
        )

    def reason(self, text: str) -> str:
        """A reason in this language; any other text (of Twitch, of a model's server) as it is."""
        return self.reason_text(text.code, text.values) if isinstance(text, Reason) else text

    def reason_text(self, code: str, values: Mapping[str, object]) -> str:
        """A reason by its key."""
        return self(
            f"reason.{code}", **{name: self.value(name, value) for name, value in values.items()}
        )

    def value(self, name: str, value: object) -> object:
        """What is filled in as `name`: a reason, or the name of an action, parameter or status, in words."""
        if name == "actions":
            return ", ".join(str(self.value("action", one)) for one in str(value).split(", "))
        if isinstance(value, float):
            return str(value).replace(".", self("decimal"))
        known = self.texts.get(f"{_NAMES.get(name, '')}.{value}")
        return (
            known if known is not None else self.reason(value) if isinstance(value, str) else value
        )


class Reason(str):
    """A text of the table [reason]: in English, with its code and values for other languages and for a row."""

    __slots__ = ("code", "values")
    code: str
    values: Mapping[str, object]

    def __str__(self) -> str:
        """The reason itself, so that `str(error)` keeps code and values."""
        return self

    @property
    def row(self) -> str:
        """How it is stored: `["needs", {"parameter": "fact"}]`; `read_reason` reads it."""
        return json.dumps(self.nested(), ensure_ascii=False)

    def nested(self) -> list[object]:
        """Code and values; values that are reasons likewise."""
        return [
            self.code,
            {name: v.nested() if isinstance(v, Reason) else v for name, v in self.values.items()},
        ]


def reason(code: str, /, **values: object) -> Reason:
    """A reason by its key in the table [reason]. Values may be reasons. Raises KeyError."""
    made = Reason(ENGLISH.reason_text(code, values))
    made.code, made.values = code, values
    return made


def join_reasons(*texts: str) -> str:
    """Those that are not empty, one after the other."""
    text = ""
    for part in filter(None, texts):
        text = reason("joined", first=text, second=part) if text else part
    return text


def read_reason(text: str) -> str:
    """A reason out of a row; any other text as it is."""
    try:
        return _read(json.loads(text)) if text.startswith('["') else text
    except ODD_INPUT:
        return text


def _read(nested: Any) -> Reason:  # noqa: ANN401  # any JSON
    code, values = nested
    return reason(
        code,
        **{name: _read(part) if isinstance(part, list) else part for name, part in values.items()},
    )


def _flat(table: Mapping[str, object], before: str) -> list[tuple[str, str | tuple[str, str]]]:
    found: list[tuple[str, str | tuple[str, str]]] = []
    for name, value in table.items():
        if isinstance(value, Mapping):
            found += _flat(value, f"{before}{name}.")
        elif isinstance(value, list):
            found.append((before + name, (value[0], value[1])))
        else:
            found.append((before + name, str(value)))
    return found


@cache
def languages() -> dict[str, str]:
    """The languages that there are: code and own name."""
    files = (entry.name for entry in resources.files(__name__).iterdir())
    codes = sorted(name.removesuffix(".toml") for name in files if name.endswith(".toml"))
    return {code: in_language(code)("name") for code in codes}


@cache
def in_language(language: str = "en") -> Language:
    """The texts of a language; English if there is no such file."""
    file = resources.files(__name__) / f"{language}.toml"
    if not (
        language.isalpha() and len(language) < 20 and file.is_file()
    ):  # a longer name is an error of its own
        return in_language("en")
    return Language(tomllib.loads(file.read_text(encoding="utf-8")), language)


# What stands where no language is chosen: on the command line.
ENGLISH = in_language("en")
