"""Which of a few hundred texts each word stands in: the words sorted, their places in flat arrays. Pure.

A term is not a word: it is a stem or a trigram, and the words that have it are looked up when it is asked for. So
building is reading the texts, and nothing is worked out for terms that nobody asks for. A few objects whatever it
holds: thousands of small ones for each viewer that recall keeps would be walked by the garbage collector again and
again, and that holds the event loop.
"""

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, repeat

from forgetmenot.memory.term_table import TermTable
from forgetmenot.text.words import stem

BYTES_PER_WORD = 140  # a short text, a place in the list and in the long text
CHANGED_BY_STEMMING = 2  # so many letters at a stem's end may not be the word's: "skies" is "sky", "ability" "abl"


class Concordance:
    """Built once. A word is named by its number in the sorted list."""

    def __init__(self, texts: Iterable[Sequence[str]]) -> None:
        places: dict[str, list[int]] = {}
        for place, told in enumerate(texts):
            for word in told:
                places.setdefault(word, []).append(place)
        self.words = sorted(places)
        self._first = array("I", accumulate((len(places[word]) for word in self.words), initial=0))
        self._places = array("I", chain.from_iterable(map(places.__getitem__, self.words)))
        self._text = f" {'  '.join(self.words)} "  # each word between two spaces of its own, as trigrams have it
        self._starts = array("I", accumulate((len(word) + 2 for word in self.words), initial=0))
        self._owner = array("I", chain.from_iterable(repeat(i, len(word) + 2) for i, word in enumerate(self.words)))
        self._with = TermTable()

    def places(self, word: int) -> "array[int]":
        """The texts that a word stands in; twice where it stands there twice."""
        return self._places[self._first[word] : self._first[word + 1]]

    def with_stem(self, wanted: str) -> list[int]:
        """The words that have this stem."""
        return having_stem(self.words, wanted)

    def with_trigram(self, wanted: str) -> Sequence[int]:
        """The words that have this piece, a word's edges being spaces; kept from the first time on."""
        if wanted in self._with:
            return self._with.rows(wanted)
        found: list[int] = []
        at = self._text.find(wanted)
        while at >= 0:
            number = self._owner[at]
            found.append(number)
            at = self._text.find(wanted, self._starts[number + 1])
        if found:
            self._with.add(wanted, found)
        return found

    @property
    def size(self) -> int:
        """Roughly how many bytes it holds."""
        return BYTES_PER_WORD * len(self.words) + 4 * len(self._places) + self._with.size


def having_stem(known: Sequence[str], wanted: str) -> list[int]:
    """Which of these sorted words have a stem. Only those that begin alike are looked at: stems are costly."""
    start = wanted[: max(1, len(wanted) - CHANGED_BY_STEMMING)]
    low = bisect_left(known, start)
    high = bisect_left(known, start + "\U0010ffff", lo=low)
    return [number for number in range(low, high) if stem(known[number]) == wanted]
