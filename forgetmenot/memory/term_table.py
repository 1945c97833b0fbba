"""The rows of each term and what it weighs in them, in flat arrays. Pure.

A few objects whatever it holds: thousands of small ones for each viewer that recall keeps would be walked by the
garbage collector again and again, and that holds the event loop for a tenth of a second.
"""

from array import array
from collections.abc import Iterable, Iterator

BYTES_PER_TERM = 120  # a short text and a place in a dictionary


class TermTable:
    """Only ever added to, a term at a time."""

    def __init__(self) -> None:
        self._number: dict[str, int] = {}
        self._ends = array("I", [0])
        self._rows = array("I")
        self._weights = array("f")

    def __contains__(self, term: str) -> bool:
        return term in self._number

    def add(self, term: str, rows: Iterable[int], weights: Iterable[float] = ()) -> None:
        """Take in a new term: its rows, and what it weighs in each (in all terms of a table, or in none)."""
        self._number[term] = len(self._number)
        self._rows.extend(rows)
        self._weights.extend(weights)
        self._ends.append(len(self._rows))

    def rows(self, term: str) -> "array[int]":
        """The rows of a term."""
        number = self._number[term]
        return self._rows[self._ends[number] : self._ends[number + 1]]

    def weights(self, term: str) -> Iterator[tuple[int, float]]:
        """The rows of a term with its weight in each."""
        number = self._number[term]
        first, end = self._ends[number], self._ends[number + 1]
        return zip(self._rows[first:end], self._weights[first:end], strict=True)

    @property
    def size(self) -> int:
        """Roughly how many bytes it holds."""
        return BYTES_PER_TERM * len(self._number) + 4 * (len(self._rows) + len(self._weights))
