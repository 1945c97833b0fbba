"""Which of some texts each word stands in, in any of its forms, near in meaning or spelt nearly so. Pure.

One index serves the notes of a person (`ranking`) and the episodes (`episodes.past_episodes`). A word of a message
counts whole where a form of it stands (the same stem), in part where a word of nearly the same meaning does
(`meaning`), and, unless the table lists it, where a word that is spelt nearly so does: chat is typos.
"""

from array import array
from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice

from forgetmenot.memory.meaning import WordTable
from forgetmenot.text.words import stem, trigrams

CHANGED_BY_STEMMING = 2  # letters at a stem's end that may not be the word's: "skies" is "sky", "ability" "abl"
NEAR_STEMS = 8  # of those near to a stem, the nearest that the texts have
NEAR_WEIGHT = 0.5  # of a stem that means the same, beside the stem itself
SPELT_WEIGHT = 0.9  # of a word one slip of the finger away; of others, times what part of their trigrams is shared
LEAST_SHARED = 0.3
SHORTEST_SLIP = 4  # letters; of shorter words each is one slip away from many


class WordIndex:
    """Texts are named by their places, in the order in which they were added; without a table no word is near."""

    def __init__(self, table: WordTable | None = None) -> None:
        self._table = table
        self._places: dict[str, array[int]] = {}
        self._listed: dict[int, list[str]] = {}
        """The words that the table lists, by their stem's number there, and the others, sorted."""
        self._unlisted: list[str] = []
        self._having: dict[str, list[str]] = defaultdict(list)
        """The words of each trigram, of those texts whose spelling counts."""

    def add(self, place: int, words: Iterable[str], *, spelling: bool = False) -> None:
        """Add a text; `spelling`: its words may be meant by a word that is spelt nearly so."""
        for word in words:
            places = self._places.get(word)
            if places is None:
                places = self._places[word] = array("I")
                number = self._table.number(word) if self._table else None
                if number is None:
                    insort(self._unlisted, word)
                else:
                    self._listed.setdefault(number, []).append(word)
                if spelling:
                    for gram in trigrams(word):
                        self._having[gram].append(word)
            places.append(place)

    def places(self, word: str) -> Sequence[int]:
        """The texts that a word stands in as it is, ascending; twice where it stands there twice."""
        return self._places.get(word, ())

    def forms(self, word: str) -> list[str]:
        """The words of the texts that have the same stem."""
        wanted = stem(word)
        number = self._table.number(wanted) if self._table else None
        listed = [] if number is None else self._listed.get(number, [])
        # only those that begin alike are looked at: stems are costly
        start = wanted[: max(1, len(wanted) - CHANGED_BY_STEMMING)]
        low = bisect_left(self._unlisted, start)
        high = bisect_left(self._unlisted, start + "\U0010ffff", lo=low)
        return [*listed, *(one for one in self._unlisted[low:high] if stem(one) == wanted)]

    def like(self, word: str, *, spelling: bool = True) -> dict[str, float]:
        """The words of the texts that count as this one, and how much: 1 for its forms."""
        found = dict.fromkeys(self.forms(word), 1.0)
        number = self._table.number(stem(word)) if self._table else None
        if self._table is not None and number is not None:
            near = ((self._listed.get(other, ()), nearness) for other, nearness in self._table.near(number))
            for words, nearness in islice((one for one in near if one[0]), NEAR_STEMS):
                for one in words:
                    found.setdefault(one, NEAR_WEIGHT * nearness)
        elif spelling and len(word) >= SHORTEST_SLIP:
            for one, nearness in self._spelt_nearly(word):
                found.setdefault(one, SPELT_WEIGHT * nearness)
        return found

    def _spelt_nearly(self, word: str) -> Iterator[tuple[str, float]]:
        grams = trigrams(word)
        shared = Counter(chain.from_iterable(self._having.get(gram, ()) for gram in grams))
        # the union has at least the word's own trigrams, so with fewer in common no word is near enough; a slip
        # changes four at most
        alike, slip = LEAST_SHARED * len(grams), max(1, len(grams) - 4)
        for one, count in shared.items():
            if count < slip and count < alike:
                continue
            if abs(len(one) - len(word)) <= 1 and one[:2] == word[:2] and is_one_slip(word, one):
                yield one, 1.0
            elif (nearness := count / (len(grams) + len(trigrams(one)) - count)) >= LEAST_SHARED:
                yield one, nearness


def is_one_slip(one: str, other: str) -> bool:
    """Whether a letter too many, too few, another one or two that changed places make one word of the other.

    Of two words with the same first two letters, which are hardly ever wrong. Short words are a slip away from many.
    """
    least = min(len(one), len(other))
    if least < SHORTEST_SLIP:
        return False
    start = next((at for at in range(2, least) if one[at] != other[at]), least)
    end = next((at for at in range(least - start) if one[-1 - at] != other[-1 - at]), least - start)
    mine, theirs = one[start : len(one) - end], other[start : len(other) - end]
    return max(len(mine), len(theirs)) <= 1 or (len(mine) == 2 and mine == theirs[::-1])
