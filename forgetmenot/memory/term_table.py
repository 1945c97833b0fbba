"""Weights by term and row, in flat arrays. Pure.

A few objects whatever it holds: thousands of small ones for each viewer that recall keeps would be walked by the
garbage collector again and again, and that holds the event loop for a tenth of a second.
"""

from array import array
from collections.abc import Iterator, Mapping
from itertools import count, repeat

BYTES_PER_TERM = 120  # a short text and a place in a dictionary
BYTES_PER_ENTRY = 12


class TermTable:
    """Only ever added to. A term's entries are a chain through the arrays, from the last one back."""

    def __init__(self) -> None:
        self._last: dict[str, int] = {}
        self._before = array("i")
        self._rows = array("I")
        self._weights = array("f")

    def __contains__(self, term: str) -> bool:
        return term in self._last

    def add(self, row: int, weights: Mapping[str, float]) -> None:
        """Take in what each of these terms weighs in a row; whole columns at a time: cold recall is mostly this."""
        first = len(self._rows)
        self._before.extend(map(self._last.get, weights, repeat(-1)))
        self._last.update(zip(weights, count(first), strict=False))
        self._rows.extend(repeat(row, len(weights)))
        self._weights.extend(weights.values())

    def of(self, term: str) -> Iterator[tuple[int, float]]:
        """The rows of a term with its weight in each, the last added first."""
        entry = self._last.get(term, -1)
        while entry >= 0:
            yield self._rows[entry], self._weights[entry]
            entry = self._before[entry]

    def rows(self, term: str) -> list[int]:
        """The rows of a term alone."""
        found: list[int] = []
        entry = self._last.get(term, -1)
        while entry >= 0:
            found.append(self._rows[entry])
            entry = self._before[entry]
        return found

    @property
    def size(self) -> int:
        """Roughly how many bytes it holds."""
        return BYTES_PER_TERM * len(self._last) + BYTES_PER_ENTRY * len(self._rows)
