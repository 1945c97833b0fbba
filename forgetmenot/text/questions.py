"""Does a line ask for something remembered, and does a known fact answer it? By two tables of text/classifier. Pure.

Names of people who are known count as one word, so what is learned of one is true of all. The rows that the tables are
trained on are scripts/classifiers/questions.tsv (scripts/train_classifiers.py); whoever changes a feature trains anew.
"""

import re
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

from forgetmenot.text.caches import text_cache
from forgetmenot.text.classifier import classifier, encoded, numbered, share
from forgetmenot.text.words import STOPWORDS, stem, words

ASKS = 0.35
"""The least probability that a line asks for memory."""
ANSWERS, MAY_ANSWER = 0.8, 0.4
"""The least probability with which a fact is taken for an answer, and with which a model is left to judge it."""
ONE_IN = 3
"""An answer uses a fact if it has one in three of its telling words: one is enough for a fact that has three."""
_WORD = re.compile(r"(?<!<)@?[\w'’]+")
MOST_WORDS = 30
"""Words of a line, the last ones, and of a fact that are looked at."""
_COUNTED = 3
_STEM = 4
"""Letters by which forms of a word in any language are taken for one."""


def without_names(line: str, is_name: Callable[[str], bool]) -> str:
    """The line with the names of known people ("bob", "bob's", "bobs") as one mention. `is_name`: whether it is one."""

    def masked(word: re.Match[str]) -> str:
        return "<@1>" if is_name(word[0]) or (word[0][-1] in "sS" and is_name(word[0][:-1])) else word[0]

    return _WORD.sub(masked, line)


def asked_about(line: str) -> str:
    """Of whom a line `without_names` asks what only memory can tell: "me", "person", "channel"; "" if it does not."""
    shares = classifier("questions").shares(line, question_signs(line))
    return max(shares.keys() - {"none"}, key=shares.__getitem__) if shares["none"] < 1 - ASKS else ""


def question_signs(line: str) -> list[str]:
    """What else the table "questions" knows a line by."""
    return ["?"] if "?" in line else []


def answers(line: str, fact: str) -> float:
    """The probability that a fact of the person or channel in question gives what a line `without_names` asks for."""
    return share(classifier("answers").sum_of("answers", answer_features(line, fact)))


def taken_words(fact: frozenset[str], said: frozenset[str], asked: frozenset[str]) -> int:
    """How many words of a fact an answer has that the question had not; 0 if it has less than one in ONE_IN of them.

    Each by its telling stems (`telling_stems` of two letters or more).
    """
    shared = fact & said
    return len(shared - asked) if ONE_IN * len(shared) >= len(fact) else 0


def answer_features(line: str, fact: str) -> list[int]:
    """What the table "answers" weighs: which words stand in both, in one alone, and each beside each."""
    asked, known = _line_read(line), _fact_read(fact)
    lacking = [word for word, its_stem in asked.telling if its_stem not in known.stems]
    shared, few = min(len(asked.telling) - len(lacking), _COUNTED), min(len(lacking), _COUNTED)
    new = min(sum(one not in asked.stems for one in known.telling), _COUNTED)
    counts = [f"shared {shared}", f"lacking {few}", f"new {new}", f"many {shared} {few} {new}"]
    counts += [part for word in lacking for part in (f"lacks {word}", f"lacks {word} {known.first}")]
    ends = [*known.ends, encoded(f" | shared {min(shared, 2)}"), encoded(f" | new {new}")]
    # a CRC goes on from a number: the line and the fact are each read once, and only put together here
    found = [crc32(end, part) for part in asked.parts for end in ends]
    found += [crc32(other, one) for one in asked.words for other in known.beside]
    found += [crc32(other, one) for one in asked.starts for other in known.beside_starts]
    return [*found, *map(numbered, counts), *asked.alone, *known.alone]


class _Line(NamedTuple):
    """A question, apart from any fact: its features, and the numbers that are gone on from for those of both."""

    stems: frozenset[str]
    telling: list[tuple[str, str]]
    """The words that carry its meaning, with their stems."""
    parts: list[int]
    words: list[int]
    starts: list[int]
    alone: list[int]


class _Fact(NamedTuple):
    """A fact, apart from any question: its features, and what goes on a question's for those of both."""

    stems: frozenset[str]
    telling: list[str]
    first: list[str]
    ends: list[bytes]
    beside: list[bytes]
    beside_starts: list[bytes]
    alone: list[int]


@text_cache(16)
def _line_read(line: str) -> _Line:
    # the last ones: a long line asks at its end
    said = words(line)[-MOST_WORDS:]
    parts = dict.fromkeys([*said, *(f"{one} {other}" for one, other in pairwise(["^", *said, "$"]))])
    return _Line(
        stems=frozenset(map(stem, said)),
        telling=[(word, stem(word)) for word in said if word not in STOPWORDS and word[0] != "<"],
        parts=list(map(numbered, parts)),
        words=list(map(numbered, dict.fromkeys(said))),
        starts=list(map(numbered, dict.fromkeys(word[:_STEM] for word in said))),
        alone=[numbered(f"asks {part}") for part in parts],
    )


@text_cache(1_024)
def _fact_read(fact: str) -> _Fact:
    known = words(fact)[:MOST_WORDS]
    first, second = known[:1], known[:2]
    digits, name = any(map(str.isdigit, fact)), any(word[:1].isupper() for word in fact.split()[1:])
    alone = [f"looks {digits} {name}", f"begins {first}", f"begins {second}", *(f"has {word}" for word in known)]
    return _Fact(
        stems=frozenset(map(stem, known)),
        telling=[stem(word) for word in known if word not in STOPWORDS],
        first=first,
        ends=[encoded(end) for end in (f" | {first}", f" | digits {digits}", f" | name {name}")],
        beside=[encoded(f" & {word}") for word in dict.fromkeys(known)],
        beside_starts=[encoded(f" ~ {start}") for start in dict.fromkeys(word[:_STEM] for word in known)],
        alone=list(map(numbered, alone)),
    )
