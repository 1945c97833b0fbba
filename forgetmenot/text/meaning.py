"""Which words mean nearly the same, and what a text means, from a table of static word vectors.

The table is one file (`word_table.bin`, built by scripts/build_word_table.py). For each stem it holds the stems nearest
to it with their cosines, and a vector of small integers that is already weighted: common words have short vectors. A
text's vector is the sum of its words' vectors.

The arithmetic is done on Python's long integers, each holding a whole vector in lanes of fixed width, because adding
two of them is one operation: 150 notes are compared with a message in 0.1 ms, without NumPy, which would cost 25 MB.
It takes the little-endian order of every machine that the bot runs on.
"""

import json
import math
from array import array
from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import files
from itertools import accumulate
from mmap import ACCESS_READ, mmap

from forgetmenot.logs import log
from forgetmenot.text.given_names import GIVEN_NAMES

MAGIC = b"forgetmenot words 1\n"
ZERO = 128  # what is added to a vector's components in the file, which holds bytes
LEAST_COSINE = 0.35  # of stems that count as near
MOST_WORDS = 250  # of one text: the sum of so many bytes still fits a lane of 16 bits
LANES_KEPT = 6_000  # 2 MB
_BIAS = (
    1 << 31
)  # added to each lane of 32 bits, so that a negative sum borrows nothing from its neighbour


class WordTable:
    """The table, read from the bytes of its file. Raises ValueError if they are something else."""

    def __init__(self, data: bytes | mmap) -> None:
        if data[: len(MAGIC)] != MAGIC:
            raise ValueError("not a word table")
        end = data.find(b"\n", len(MAGIC))
        head = json.loads(data[len(MAGIC) : end])
        self.dimensions, self._near = int(head["dimensions"]), int(head["near"])
        view, at = memoryview(data), end + 1
        parts = []
        for size in head["sizes"]:
            parts.append(view[at : at + size])
            at += size
        lines = bytes(parts[0]).decode("ascii").split("\n")  # each a stem and its words
        self._lines = parts[0]
        self._line_starts = array("I", accumulate((len(line) + 1 for line in lines), initial=0))
        self._number = {
            word: number for number, line in enumerate(lines) for word in line.split(" ")[1:]
        }
        for number, line in enumerate(lines):
            self._number.setdefault(line.partition(" ")[0], number)
        self._near_numbers, self._nearness, self._vectors = parts[1], parts[2], parts[3]
        self._kept: dict[int, int] = {}

    def number(self, word: str) -> int | None:
        """The number of a word's stem, or of a stem itself; None where the table does not list it in this form."""
        return self._number.get(word)

    def stem_of(self, number: int) -> str:
        """Return the stem that has a number."""
        start, end = self._line_starts[number : number + 2]
        return bytes(self._lines[start : end - 1]).decode("ascii").partition(" ")[0]

    def numbers(self, words: Iterable[str]) -> list[int]:
        """The numbers of those words that the table knows in this form."""
        return [number for number in map(self._number.get, words) if number is not None]

    def near(self, number: int) -> list[tuple[int, float]]:
        """The stems nearest to one, nearest first; each with its nearness: 0 at LEAST_COSINE, 1 at a cosine of 1."""
        first, end = number * self._near, (number + 1) * self._near
        numbers = array("H", bytes(self._near_numbers[2 * first : 2 * end]))
        return list(zip(numbers, (share / 255 for share in self._nearness[first:end]), strict=True))

    def total(self, numbers: Sequence[int]) -> "array[int]":
        """The sum of some stems' vectors, to each component of which ZERO was added for each stem."""
        return array(
            "H", sum(map(self._lanes, numbers[:MOST_WORDS])).to_bytes(2 * self.dimensions, "little")
        )

    def _lanes(self, number: int) -> int:
        """A vector as one number; those of the words that come up first are kept, which are the common ones."""
        lanes = self._kept.get(number)
        if lanes is None:
            wide = bytearray(2 * self.dimensions)
            wide[::2] = self._vectors[number * self.dimensions : (number + 1) * self.dimensions]
            lanes = int.from_bytes(wide, "little")
            if len(self._kept) < LANES_KEPT:
                self._kept[number] = lanes
        return lanes


class Meanings:
    """The vectors of some texts, ready to be compared with a message. `texts` are the numbers of their words' stems."""

    def __init__(self, table: WordTable, texts: Sequence[Sequence[int]]) -> None:
        self._table = table
        self._counts = array("H", [min(len(numbers), MOST_WORDS) for numbers in texts])
        self._norms = array("f")
        sums = array("H")
        for numbers, count in zip(texts, self._counts, strict=True):
            total = table.total(numbers)
            self._norms.append(_norm(total, count * ZERO))
            sums.extend(total)
        self._columns = [
            _long(sums[column :: table.dimensions]) for column in range(table.dimensions)
        ]
        self._bias = int.from_bytes(_BIAS.to_bytes(4, "little") * len(texts), "little")

    def cosines(self, numbers: Sequence[int]) -> list[float]:
        """How near each text is to a message of these words: from -1 to 1, 0 where one of them says nothing."""
        zero = ZERO * min(len(numbers), MOST_WORDS)
        asked = self._table.total(numbers)
        length = _norm(asked, zero)
        if not length:
            return [0.0] * len(self._counts)
        # a vector of length 127 with whole numbers: products stay in lanes of 32 bits
        parts = [round(127 * (value - zero) / length) for value in asked]
        added = sum(map(int.__mul__, self._columns, parts)) + self._bias
        sums = array("I", added.to_bytes(4 * len(self._counts), "little"))
        per_word = ZERO * sum(parts)
        return [
            (value - _BIAS - per_word * words) / norm / 127 if norm else 0.0
            for value, words, norm in zip(sums, self._counts, self._norms, strict=True)
        ]


def _norm(total: "array[int]", zero: int) -> float:
    """The length of a vector to whose components `zero` was added, by C's loops alone."""
    # Σ(t - z)² written out, so that no loop of Python's runs over the components
    squares = math.hypot(*total) ** 2 - 2 * zero * sum(total) + len(total) * zero**2
    return math.sqrt(squares) if squares > 0.5 else 0.0


def _long(values: "array[int]") -> int:
    """Numbers of 16 bits as one long integer, each in a lane of 32."""
    narrow, wide = values.tobytes(), bytearray(4 * len(values))
    wide[::4], wide[1::4] = narrow[::2], narrow[1::2]
    return int.from_bytes(wide, "little")


@cache
def word_table() -> WordTable | None:
    """The table of words, read when it is first needed (25 ms, 3 MB); None, and a line in the log, without its file."""
    try:
        with files(__package__).joinpath("word_table.bin").open("rb") as file:
            # mapped: of the 3 MB of vectors only the pages of words that come up are ever in memory
            return WordTable(mmap(file.fileno(), 0, access=ACCESS_READ))
    except (OSError, ValueError) as error:
        log.warning(
            "the word table cannot be read: recall does without it", error=type(error).__name__
        )
        return None


def is_common_word(word: str) -> bool:
    """Whether the table has a word that is no name of a person: "drums" and "valorant", not "alice".

    False without the table.
    """
    table = word_table()
    return table is not None and word not in GIVEN_NAMES and table.number(word) is not None


def nearness(stems: Iterable[str], other_stems: Iterable[str]) -> float:
    """How near two texts are by the meaning of their words' stems: 1 for the same, about 0 for what is unrelated."""
    table = word_table()
    if table is None:
        return 0.0
    return Meanings(table, [table.numbers(stems)]).cosines(table.numbers(other_stems))[0]
