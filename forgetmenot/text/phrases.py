"""Sentences of several languages that say yes, or ask to be forgotten, read by the words of phrases.toml. Pure.

A sentence is read only if every word of it is listed for one language: any other word makes it talk. That keeps
"vergiss mein nicht" and "forget my drums" out without a rule for either.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from forgetmenot.text.clean import clean, plain

_TOKEN = re.compile(r"[^\W_]+")
# Characters that are read: no request is longer.
_LONGEST = 200
_KINDS = ("yes", "please", "verb", "me", "me_verb", "all", "subject", "beside")


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("phrases.toml").read_text("utf-8"))


class _Vocabulary:
    """The words of one language and what they are for: a word may be for several things."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._kind_of: dict[str, set[str]] = {}
        for kind in _KINDS:
            for listed in table.get(kind, "").split():
                for word in _TOKEN.findall(plain(listed)):
                    self._kind_of.setdefault(word, set()).add(kind)
        longest_first = sorted(self._kind_of, key=len, reverse=True)
        words = "|".join(map(re.escape, longest_first))
        self._word_inside = re.compile(words) if table.get("unspaced") else None

    def kinds(self, text: str) -> list[set[str]] | None:
        """What each word of a text is for, in order; None if it has none, or one that is not listed."""
        tokens = self._tokens(plain(clean(text))[:_LONGEST])
        kinds = [self._kind_of[token] for token in tokens if token in self._kind_of]
        return kinds if kinds and len(kinds) == len(tokens) else None

    def _tokens(self, text: str) -> list[str]:
        tokens = _TOKEN.findall(text)
        if self._word_inside is None:
            return tokens
        letters = "".join(tokens)
        found: list[str] = []
        at = 0
        while at < len(letters):
            word = self._word_inside.match(letters, at)
            if word is None:
                return [letters]
            found.append(word[0])
            at = word.end()
        return found


@cache
def _vocabularies() -> tuple[_Vocabulary, ...]:
    return tuple(_Vocabulary(table) for name, table in _table().items() if name != "address")


def is_yes(text: str) -> bool:
    """Whether a line only agrees: "yes", "ja bitte", "sí", "はい"."""
    return any(_says_yes(language.kinds(text)) for language in _vocabularies())


def _says_yes(kinds: list[set[str]] | None) -> bool:
    if kinds is None:
        return False
    agrees = any("yes" in kind for kind in kinds)
    return agrees and all(kind & {"yes", "please"} for kind in kinds)


def asks_to_be_forgotten(sentence: str) -> bool:
    """Whether a sentence asks to forget its speaker, or everything: "delete my data", "olvídame"."""
    return any(_means_everything(language.kinds(sentence)) for language in _vocabularies())


def _means_everything(kinds: list[set[str]] | None) -> bool:
    if kinds is None or _is_statement(kinds):
        return False
    every_kind = set[str]().union(*kinds)
    if "me_verb" in every_kind:
        return True
    return "verb" in every_kind and bool(every_kind & {"me", "all"})


def _is_statement(kinds: list[set[str]]) -> bool:
    """Whether it begins with its subject, behind a greeting or not: "you forget me"."""
    for kind in kinds:
        if "please" not in kind:
            return "subject" in kind
    return False


def names_everything(what: str) -> bool:
    """Whether what is to be forgotten is all of it: "everything", "me", "alles über mich", "mis datos"."""
    return any(_is_everything(language.kinds(what)) for language in _vocabularies())


def _is_everything(kinds: list[set[str]] | None) -> bool:
    if kinds is None:
        return False
    names_it = any(kind & {"all", "me"} for kind in kinds)
    return names_it and all(kind & {"all", "me", "beside", "please"} for kind in kinds)


@cache
def honorifics() -> tuple[str, ...]:
    """What is put behind a name where no space parts words: さん, 님."""
    return tuple(_table()["address"]["honorific"].split())
