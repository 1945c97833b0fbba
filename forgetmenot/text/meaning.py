"""Which words mean nearly the same, and what a text means, from a table of static word vectors.

The table is one file (`word_table.bin`, built by scripts/build_word_table.py). For each stem it has
the stems nearest to it with their cosines, and a vector of small integers that is already weighted:
common words have short vectors. A text's vector is the sum of its words' vectors.

The arithmetic is done on Python's long integers. Each holds a whole vector in lanes of fixed width,
because adding two of them is one operation: 150 notes are compared with a message in 0.1 ms without
NumPy, which would take 25 MB. It relies on the little-endian order of every machine that the bot
runs on.
"""

import json
import math
from array import array
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from itertools import accumulate
from mmap import ACCESS_READ, mmap
from typing import NamedTuple

from forgetmenot.logs import log
from forgetmenot.text.given_names import GIVEN_NAMES

MAGIC = b"forgetmenot words 1\n"
# What is added to a vector's components in the file, which stores bytes.
ZERO = 128
# The cosine from which stems count as near.
MIN_COSINE = 0.35
# Words of one text: the sum of so many bytes still fits a lane of 16 bits.
MAX_WORDS = 250
# Vectors that are kept as numbers: 2 MB.
_MAX_LANES = 6_000
# Added to each lane of 32 bits, so that a negative sum borrows nothing from its neighbour.
_BIAS = 1 << 31
# Vectors are scaled to this length, with which products stay in lanes of 32 bits.
_SCALED_LENGTH = 127


class WordTable:
    """The table, read from the bytes of its file. Raises ValueError if they are something else."""

    def __init__(self, data: bytes | mmap) -> None:
        if data[: len(MAGIC)] != MAGIC:
            raise ValueError("not a word table")
        head_end = data.find(b"\n", len(MAGIC))
        head = json.loads(data[len(MAGIC) : head_end])
        self.dimensions = int(head["dimensions"])
        self._near_count = int(head["near"])
        # Views, not copies: they leave the mapped file on the disk.
        body = memoryview(data)[head_end + 1 :]
        parts = _parts_of(body, head["sizes"])
        self._lines, self._near_numbers, self._nearness, self._vectors = parts
        # Each line is a stem and its words.
        text = bytes(self._lines).decode("ascii")
        lines = text.split("\n")
        line_lengths = [len(line) + 1 for line in lines]
        line_starts = accumulate(line_lengths, initial=0)
        self._line_starts = array("I", line_starts)
        self._numbers = _numbers_of_words(lines)
        self._lanes_of: dict[int, int] = {}

    def number(self, word: str) -> int | None:
        """Return the number of a word's stem, or of a stem; None if the table has no such form."""
        return self._numbers.get(word)

    def stem_of(self, number: int) -> str:
        """Return the stem that has a number."""
        start = self._line_starts[number]
        end = self._line_starts[number + 1]
        line = bytes(self._lines[start : end - 1])
        return _stem_in(line.decode("ascii"))

    def numbers(self, words: Iterable[str]) -> list[int]:
        """Return the numbers of those words that the table has in this form."""
        return [self._numbers[word] for word in words if word in self._numbers]

    def near(self, number: int) -> list[tuple[int, float]]:
        """Return the nearest stems with their nearness, nearest first.

        Nearness is 0 at MIN_COSINE and 1 at a cosine of 1.
        """
        start = number * self._near_count
        end = start + self._near_count
        # Each number takes two bytes, each nearness one.
        number_bytes = bytes(self._near_numbers[2 * start : 2 * end])
        numbers = array("H", number_bytes)
        nearness = [share / 255 for share in self._nearness[start:end]]
        return list(zip(numbers, nearness, strict=True))

    def total(self, numbers: Sequence[int]) -> "array[int]":
        """Return the sum of some stems' vectors, with ZERO in each component for each stem."""
        total = 0
        for number in numbers[:MAX_WORDS]:
            total += self._lanes(number)
        total_bytes = total.to_bytes(2 * self.dimensions, "little")
        return array("H", total_bytes)

    def _lanes(self, number: int) -> int:
        """Return a vector as one number.

        The first that are asked for are kept, which are those of common words.
        """
        lanes = self._lanes_of.get(number)
        if lanes is not None:
            return lanes
        start = number * self.dimensions
        # Each byte of the file in a lane of 16 bits, so that sums have room.
        wide = bytearray(2 * self.dimensions)
        wide[::2] = self._vectors[start : start + self.dimensions]
        lanes = int.from_bytes(wide, "little")
        if len(self._lanes_of) < _MAX_LANES:
            self._lanes_of[number] = lanes
        return lanes


def _parts_of(data: memoryview, sizes: Iterable[int]) -> list[memoryview]:
    """Return the parts of these sizes that follow each other in the data."""
    parts = []
    start = 0
    for size in sizes:
        parts.append(data[start : start + size])
        start += size
    return parts


def _numbers_of_words(lines: Sequence[str]) -> dict[str, int]:
    """Return the number of the line for each word and each stem of the table."""
    numbers: dict[str, int] = {}
    for number, line in enumerate(lines):
        for word in line.split(" ")[1:]:
            numbers[word] = number
    # Stems come second: one that is also a word of another stem stays that word.
    for number, line in enumerate(lines):
        numbers.setdefault(_stem_in(line), number)
    return numbers


def _stem_in(line: str) -> str:
    """Return the stem of a line of the table, which is its first word."""
    return line.partition(" ")[0]


class _Vectors(NamedTuple):
    """The vectors of some texts.

    `counts`: of the words in each. `norms`: their lengths. `columns`: one long integer for each component, which has
    that component of all texts side by side. `bias`: one that has _BIAS for each text.
    """

    counts: Sequence[int]
    norms: Sequence[float]
    columns: Sequence[int]
    bias: int


class Meanings:
    """What some texts mean, to be compared with messages.

    `texts` are the numbers of their words' stems. Their vectors are made for the first message that has a meaning, or
    by `make`: those of 250 facts in 1.5 ms.
    """

    def __init__(self, table: WordTable, texts: Sequence[Sequence[int]]) -> None:
        self._table = table
        self._texts = texts
        self._vectors: _Vectors | None = None

    @property
    def are_made(self) -> bool:
        """Return whether the vectors are made, so that no message waits for them."""
        return self._vectors is not None

    def make(self) -> _Vectors:
        """Return the texts' vectors, made now if they were not before."""
        if self._vectors is not None:
            return self._vectors
        table = self._table
        # Arrays: of each subject that recall caches, lists would take several times the memory.
        counts = array("H")
        norms = array("f")
        totals = array("H")
        for numbers in self._texts:
            count = min(len(numbers), MAX_WORDS)
            total = table.total(numbers)
            counts.append(count)
            norms.append(_norm(total, count * ZERO))
            totals.extend(total)
        lanes = _in_lanes(totals)
        columns = []
        for column in range(table.dimensions):
            column_lanes = lanes[column :: table.dimensions]
            columns.append(_as_long_integer(column_lanes))
        biases = array("I", [_BIAS]) * len(self._texts)
        vectors = _Vectors(counts, norms, columns, _as_long_integer(biases))
        # Set only now that it is complete, because another thread may read it meanwhile.
        self._vectors = vectors
        return vectors

    def cosines(self, numbers: Sequence[int]) -> list[float]:
        """Return how near each text is to a message of these words, from -1 to 1.

        0 if the message or the text says nothing.
        """
        zero = ZERO * min(len(numbers), MAX_WORDS)
        message = self._table.total(numbers)
        norm = _norm(message, zero)
        if not norm:
            return [0.0] * len(self._texts)
        vectors = self.make()
        components = [
            round(_SCALED_LENGTH * (value - zero) / norm) for value in message
        ]
        products = _products(vectors, components)
        zero_of_word = ZERO * sum(components)
        cosines = []
        rows = zip(products, vectors.counts, vectors.norms, strict=True)
        for biased_product, count, text_norm in rows:
            if not text_norm:
                cosines.append(0.0)
                continue
            # Takes out again what keeps the lanes, and the file's bytes, above zero.
            product = biased_product - _BIAS - zero_of_word * count
            cosines.append(product / text_norm / _SCALED_LENGTH)
        return cosines


def _products(vectors: _Vectors, components: Sequence[int]) -> "array[int]":
    """Return the product of a message with each text, with _BIAS added to each."""
    # One multiplication for each component serves all texts, each in a lane of its own.
    total = vectors.bias
    for column, component in zip(vectors.columns, components, strict=True):
        total += column * component
    total_bytes = total.to_bytes(4 * len(vectors.counts), "little")
    return array("I", total_bytes)


def _as_long_integer(lanes: "array[int]") -> int:
    """Return one integer that holds an array's numbers side by side."""
    return int.from_bytes(lanes.tobytes(), "little")


def _norm(total: "array[int]", zero: int) -> float:
    """Return the length of a vector to whose components `zero` was added."""
    return math.dist(total, (zero,) * len(total))


def _in_lanes(values: "array[int]") -> "array[int]":
    """Return numbers of 16 bits, each in a lane of 32."""
    # By their bytes: made from the numbers one by one it takes three times as long.
    narrow = values.tobytes()
    wide = bytearray(4 * len(values))
    wide[::4] = narrow[::2]
    wide[1::4] = narrow[1::2]
    return array("I", bytes(wide))


@cache
def word_table() -> WordTable | None:
    """Return the table of words, read at the first call (25 ms, 3 MB).

    None, with a warning in the log, if its file cannot be read.
    """
    try:
        path = files(__package__).joinpath("word_table.bin")
        with path.open("rb") as file:
            # Mapped: of 3 MB of vectors only the pages of words that come up are ever in memory.
            data = mmap(file.fileno(), 0, access=ACCESS_READ)
            return WordTable(data)
    except (OSError, ValueError) as error:
        log.warning(
            "the word table cannot be read: recall does without it",
            error=type(error).__name__,
        )
        return None


def is_common_word(word: str) -> bool:
    """Return whether the table has a word that is no first name: "drums", not "alice".

    False without the table.
    """
    table = word_table()
    if table is None or word in GIVEN_NAMES:
        return False
    return table.number(word) is not None


def nearness(stems: Iterable[str], other_stems: Iterable[str]) -> float:
    """Return how near two texts are in meaning: 1 for the same, about 0 for unrelated ones.

    0 without the table.
    """
    table = word_table()
    if table is None:
        return 0.0
    meanings = Meanings(table, [table.numbers(stems)])
    return meanings.cosines(table.numbers(other_stems))[0]
