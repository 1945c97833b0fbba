"""Sums the weights of features of a text, by a fixed table: logistic regression, the same answer for the same text.

For the classes of short texts ("lasting", "questions": scripts/train_classifiers.py) the
features are the `pieces` of their words: whole words, pairs of neighbours and of words with one between them, and two
to five letters in a row of a word, so that inflected, misspelt and joined words still count.
Letters that only look like Latin ones are read as these; names and mentions all count as the same word. For
"answers" they are those of text/questions.

The tables are part of the program: `classifier` reads each once, everything else here is pure.
"""

import json
import math
import re
import zlib
from array import array
from collections.abc import Callable, Collection, Iterable
from functools import cache
from importlib.resources import files
from itertools import pairwise
from operator import itemgetter
from typing import Literal, get_args

from forgetmenot.errors import ProgramDamaged
from forgetmenot.text.caches import text_cache
from forgetmenot.text.clean import fold_word, plain
from forgetmenot.text.mentions import MENTION
from forgetmenot.text.words import UNSPACED

SHORTEST_PIECE, LONGEST_PIECE = 2, 5
LONGEST_TEXT = 600
"""Characters that are looked at."""
WORDS_TOGETHER = 8
_BETWEEN_CLAUSES = re.compile(
    r"[.,;:!?…()\[\]\"“”—–|/、。，！？]+\s*|\s[-&+]\s|\s(?:and|but|or|because|while|who|und|aber|oder|weil|y|e|o|et|mais|ou"
    r"|mas|ma|pero|porque|en|maar|i|ale|oraz|ve|ama|и|а|но)\s",
    re.IGNORECASE,
)
_HANDLE = re.compile(rf"{MENTION.pattern}|\bP\d{{1,3}}\b")
_WORD = re.compile(r"\w+")


class WeightTable:
    """A table of weights, read from the bytes of its file. Raises ValueError where they are none.

    The bytes: one line of JSON, then, compressed, for each label one signed byte for each bucket. The JSON has
    `labels`, `buckets`, `scale`, `biases`, `signs` (the weights of what the caller found out, by its name) and `rows`
    (the hash of the sentences it was trained on); lists of weights are in the order of the labels.
    """

    def __init__(self, data: bytes) -> None:
        head, _, packed = data.partition(b"\n")
        try:
            header = json.loads(head)
            self.labels: tuple[str, ...] = tuple(header["labels"])
            self.rows = str(header["rows"])
            self.buckets, self._scale = int(header["buckets"]), float(header["scale"])
            self._biases: list[float] = header["biases"]
            self._signs: dict[str, list[float]] = header["signs"]
            weights = zlib.decompress(packed)
        except (KeyError, TypeError, zlib.error) as error:
            raise ValueError("no table of weights") from error
        if len(weights) != self.buckets * len(self.labels):
            raise ValueError("a table of weights of the wrong size")
        self._columns = [
            array("b", weights[start : start + self.buckets]) for start in range(0, len(weights), self.buckets)
        ]

    def sum_for(self, label: str, features: Iterable[str]) -> float:
        """The weights of one label that was trained alone, summed; `share` makes a probability of it, of 0 one half."""
        return self.sum_of(label, map(numbered, features))

    def sum_of(self, label: str, numbers: Iterable[int]) -> float:
        """The same, of features that are numbered."""
        found = bucketed(numbers, self.buckets)
        at = self.labels.index(label)
        weighed = sum(_weights_at(found)(self._columns[at]))
        # divided by the root of their number: else a long text would be sure of anything
        return self._biases[at] + self._scale / math.sqrt(len(found) + 1) * weighed

    def shares(self, text: str, signs: Iterable[str] = ()) -> dict[str, float]:
        """The probability of each label, together 1. `signs`: what else was found out about the text, by name."""
        found = bucketed(pieces(text), self.buckets)
        scale = self._scale / math.sqrt(len(found) + 1)
        sums = [scale * sum(weights) for weights in map(_weights_at(found), self._columns)]
        extra = [self._signs[sign] for sign in signs if sign in self._signs]
        sums = [sum(terms) for terms in zip(sums, self._biases, *extra, strict=True)]
        # less the largest, so that no power overflows; the shares stay the same
        powers = [math.exp(one - max(sums)) for one in sums]
        return {label: power / sum(powers) for label, power in zip(self.labels, powers, strict=True)}


def _weights_at(found: Collection[int]) -> Callable[["array[int]"], Iterable[int]]:
    """What gives a column's weights in these buckets: some hundred in half the time that asking for each takes."""
    return itemgetter(*found) if len(found) > 1 else lambda column: [column[at] for at in found]


def share(weighed: float) -> float:
    """The probability that a sum stands for."""
    return 1 / (1 + math.exp(-max(-50.0, min(50.0, weighed))))


def bucketed(numbers: Iterable[int], buckets: int) -> set[int]:
    """The places of features in a table, each below `buckets`."""
    return {number % buckets for number in numbers}


def numbered(feature: str) -> int:
    """The number of a feature: the CRC-32 of its text, so that that of two parts is made of the first one's."""
    return zlib.crc32(encoded(feature))


def encoded(feature: str) -> bytes:
    """The bytes that a feature is numbered by."""
    return feature.encode("utf-8", "replace")


Table = Literal["answers", "lasting", "questions"]
TABLES: tuple[Table, ...] = get_args(Table)


@cache
def classifier(name: Table) -> WeightTable:
    """One of the program's own tables. Raises ProgramDamaged where its file is missing or damaged."""
    file = files(__package__).joinpath(f"{name}.weights")
    try:
        return WeightTable(file.read_bytes())
    except (OSError, ValueError) as error:
        raise ProgramDamaged(f"{file} is missing or damaged. Install ForgetMeNot again.") from error


def clauses(text: str) -> list[str]:
    """The clauses of a text, and of a longer one every few words that stand together.

    Beside many harmless words, what a few others say weighs little.
    """
    parts = [part.strip() for part in _BETWEEN_CLAUSES.split(text)]
    words = text.split()
    starts = range(0, len(words) - WORDS_TOGETHER // 2, WORDS_TOGETHER // 2) if len(words) > WORDS_TOGETHER else ()
    parts += [" ".join(words[at : at + WORDS_TOGETHER]) for at in starts]
    return [part for part in dict.fromkeys(parts) if " " in part and part != text]


def as_read(text: str) -> str:
    """A text in small letters without accents, with words that only look Latin in Latin letters."""
    return " ".join(map(fold_word, plain(text).split()))


def word_list(listed: str) -> re.Pattern[str]:
    """A pattern for words between spaces: "idiot*" with any ending, "*bot" with any beginning, "no_longer" as two.

    Words in scripts without spaces between words are found anywhere. For texts as `as_read` makes them.
    """
    stems = [plain(word).replace("_", " ") for word in listed.split()]
    anywhere = [re.escape(stem) for stem in stems if UNSPACED.match(stem)]
    whole = [re.escape(stem).replace(r"\*", r"\w*") for stem in stems if not UNSPACED.match(stem)]
    return re.compile("|".join([rf"\b(?:{'|'.join(whole)})\b", *anywhere]))


def pieces(text: str) -> set[int]:
    """The pieces that a text is made of, numbered."""
    words = ["^", *_WORD.findall(as_read(_HANDLE.sub(" somebody ", text[:LONGEST_TEXT]))), "$"]
    found = {numbered(f"{one} {other}") for one, other in pairwise(words)}
    # two spaces, so that words with one between them are another feature than neighbours
    found |= {numbered(f"{one}  {other}") for one, other in zip(words, words[2:], strict=False)}
    return found.union(*map(_pieces_of, words))


@text_cache(4_096)
def _pieces_of(word: str) -> "array[int]":
    padded = f"_{word}_"
    text = encoded(padded) if word.isascii() else None  # cut as bytes where each letter is one
    spans = [
        (at, at + size) for size in range(SHORTEST_PIECE, LONGEST_PIECE + 1) for at in range(len(padded) - size + 1)
    ]
    cut = [text[at:end] for at, end in spans] if text else [encoded(padded[at:end]) for at, end in spans]
    return array("I", {*map(zlib.crc32, cut), numbered(padded), *(() if text else map(numbered, word))})
