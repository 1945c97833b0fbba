"""Every text of the interface in one file per language: chat's answers, the dock, the set-up, the checks.

    say = in_language(settings.bot.language)
    say("chat.denied", id=3)

- A language is one file of this folder with the keys of en.toml; a test compares keys and what is filled in.
- A list of two is for one and for more, chosen by `n`.
- Reasons, troubles and details are written in English where they arise, for logs, rows and the command line. Where
  people read them, `say.translated` finds them by their English text in the table [inside].
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache, cached_property
from importlib import resources
from typing import Any

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000
_PLACE = re.compile(r"\{\w+\}")
_ONE_WORD = frozenset(
    ["account", "action", "kind", "least", "most", "n", "parameter", "role", "rule", "status", "verdict"]
)


class Language:
    """The texts of one language, by their dotted keys."""

    def __init__(self, tables: Mapping[str, Any], code: str = "") -> None:
        self.code = code
        self.tables = tables
        self._texts = dict(_flat(tables, ""))

    def __call__(self, key: str, /, **values: object) -> str:
        """The text, filled in. Raises KeyError if there is none."""
        text = self._texts[key]
        if not isinstance(text, str):
            text = text[0 if values.get("n") in {1, "1"} else 1]
        return text.format_map(values)

    def __contains__(self, key: str) -> bool:
        return key in self._texts

    @property
    def texts(self) -> Mapping[str, str | tuple[str, str]]:
        """Every text by its key."""
        return self._texts

    def pair(self, key: str) -> tuple[str, str]:
        """A label with its sentence."""
        pair = self._texts[key]
        return (pair, "") if isinstance(pair, str) else pair

    def number(self, amount: int) -> str:
        """A whole number as this language groups it."""
        return f"{amount:,}".replace(",", self("thousands"))

    def span(self, ms: int, how: str = "span") -> str:
        """A length of time in one unit; `how` "ago": how long ago."""
        for unit, size, least in (("months", 30.4 * DAY, 60 * DAY), ("d", DAY, 2 * DAY), ("h", HOUR, HOUR)):
            if ms >= least:
                return self(f"{how}.{unit}", n=round(ms / size))
        return self(f"{how}.min", n=ms // MINUTE) if ms >= 2 * MINUTE else self(f"{how}.s", n=max(1, ms // 1000))

    def translated(self, text: str) -> str:
        """A sentence that code wrote in English, in this language; as it is where it is not known."""
        if self is ENGLISH or not text:
            return text
        if found := self._by_text.get(text):
            return found
        for pattern, translation in self._patterns:
            if match := pattern.fullmatch(text):
                return translation.format_map({name: self.translated(part) for name, part in match.groupdict().items()})
        first, stop, rest = text.partition(". ")
        return f"{self.translated(first + '.')} {self.translated(rest)}" if stop and rest else text

    @cached_property
    def _inside(self) -> list[tuple[str, str]]:
        english = ENGLISH.texts
        return [(str(english[key]), str(text)) for key, text in self._texts.items() if key.startswith("inside.")]

    @cached_property
    def _by_text(self) -> dict[str, str]:
        return {english: text for english, text in self._inside if not _PLACE.search(english)}

    @cached_property
    def _patterns(self) -> list[tuple[re.Pattern[str], str]]:
        filled = [(english, text) for english, text in self._inside if _PLACE.search(english)]
        return [(_pattern(english), text) for english, text in sorted(filled, key=lambda one: -len(one[0]))]


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


def _pattern(english: str) -> re.Pattern[str]:
    parts = re.split(r"\{(\w+)\}", english)
    pieces = [_group(part) if place % 2 else re.escape(part) for place, part in enumerate(parts)]
    return re.compile("".join(pieces), re.DOTALL)


def _group(name: str) -> str:
    value = r"[\w-]+" if name in _ONE_WORD else ".+?"
    return f"(?P<{name}>{value})"


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
    if not language.isalpha() or not file.is_file():
        return in_language("en")
    return Language(tomllib.loads(file.read_text(encoding="utf-8")), language)


ENGLISH = in_language("en")
"""What stands where no language is chosen: on the command line."""
