"""What of its prompt a reply used, and which of its claims nothing in the prompt supports. Pure.

Guarantees: a word that the prompt's data has in any form supports itself; the bot's instructions support nothing.
Only names, numbers and tales of a shared past ("last time") are looked at: everything else is talk.
"""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from forgetmenot.text.words import STOPWORDS, stem, words

ONE_IN = 3
"""So large a share of a note's telling words makes it used: one word is enough for a note that has three."""
_NUMBER = re.compile(r"(?<!\w)\d[\d.,:]*(?:%|\b)")
_NAME = re.compile(r"(?<![.!?…]\s)(?<!\A)(?<![\"“(])\b[A-Z][a-z]{2,}(?:\s[A-Z][a-z]{2,})*\b")
_PAST = re.compile(
    r"\b(?:last (?:time|week|stream|month|night|year)|yesterday|the other (?:day|night)|remember (?:when|that time"
    r"|how)|you (?:told|promised)"
    r" (?:me|us)|you said|like (?:you|we) (?:always|did)|as (?:always|usual)|back when|we (?:once|talked|met"
    r"|played))\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.!?…]+(?:[.!?…]+|\Z)\s*")
_SHOWN = re.compile(r"\[id:(\d+)\]\s*(.*?)(?:\s\([^()\n]*\))?\s*$", re.MULTILINE)
_NUMBER_WORDS = {
    str(number): word
    for number, word in enumerate(
        ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
    )
}


class Claim(NamedTuple):
    """Words of a reply that no row supports: what kind, and where they stand in its text."""

    kind: str
    start: int
    end: int


def facts_in(section: str) -> dict[int, str]:
    """The notes that a section of a prompt shows, by their ids."""
    return {int(found[1]): found[2] for found in _SHOWN.finditer(section)}


def used_notes(reply: str, facts: Mapping[int, str], asked: str = "") -> list[int]:
    """The ids of the notes that the reply tells of, beyond the words that the question had already."""
    said = _telling(reply)
    fresh = said - _telling(asked)
    used = []
    for note_id, fact in facts.items():
        telling = _telling(fact)
        shared = telling & said
        if shared & fresh and ONE_IN * len(shared) >= len(telling):
            used.append(note_id)
    return used


def unsupported(reply: str, sources: Iterable[str], known: Iterable[str] = ()) -> list[Claim]:
    """What of the reply nothing supports. `sources`: the data of its prompt; `known`: names that need no row."""
    text = "\n".join(sources).casefold()
    have = {stem(word) for word in words(text)} | {stem(word) for name in known for word in words(name)}
    found = [Claim("name", *one.span()) for one in _NAME.finditer(reply) if not _is_known(one[0], have)]
    found += [Claim("number", *one.span()) for one in _NUMBER.finditer(reply) if not _is_told(one[0], text, have)]
    for sentence in _SENTENCE.finditer(reply):
        if (past := _PAST.search(sentence[0])) is not None:
            rest = _telling(sentence[0]) - _telling(past[0])
            if not rest or len(rest & have) * 2 < len(rest):
                found.append(Claim("past", sentence.start() + past.start(), sentence.start() + past.end()))
    return sorted(found, key=lambda one: one.start)


def _is_known(name: str, have: set[str]) -> bool:
    return all(stem(word) in have or word in STOPWORDS for word in words(name))


def _is_told(number: str, text: str, have: set[str]) -> bool:
    bare = number.rstrip(".,:%")
    return re.search(rf"(?<!\d){re.escape(bare)}(?!\d)", text) is not None or _NUMBER_WORDS.get(bare) in have


def without_unsupported(reply: str, claims: Iterable[Claim]) -> str:
    """The reply without the sentences that hold such a claim; empty where there is no other."""
    at = [one.start for one in claims]
    kept = [one[0] for one in _SENTENCE.finditer(reply) if not any(one.start() <= start < one.end() for start in at)]
    return "".join(kept).strip()


def _telling(text: str) -> set[str]:
    return {stem(word) for word in words(text) if word not in STOPWORDS and len(word) > 1}
