"""Which of a few hundred texts each word stands in: the words sorted, their places in flat arrays. Pure.

A term is not a word: it is a stem with the stems near to it, or a trigram, and the words that have it are looked up
when it is asked for. So building is reading the texts, and nothing is worked out for terms that nobody asks for.

A few objects whatever it holds: thousands of small ones for each viewer that recall keeps would be walked by the
garbage collector again and again, and that holds the event loop for a tenth of a second.
"""

import math
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, chain, repeat, zip_longest

from forgetmenot.memory.meaning import WordTable
from forgetmenot.text.words import stem

BYTES_PER_WORD = 150  # a short text, a place in the list and in the long text
BYTES_PER_TERM = 120  # a short text and a place in a dictionary
CHANGED_BY_STEMMING = 2  # so many letters at a stem's end may not be the word's: "skies" is "sky", "ability" "abl"
NEAR_STEMS = 8  # of those near to a stem, the nearest that the texts have
NEAR_WEIGHT = 0.6  # of a stem that means the same, beside the stem itself


class InvertedIndex:
    """Built once. A word is named by its number in the sorted list; without a table no stem is near to another."""

    def __init__(self, texts: Iterable[Sequence[str]], table: WordTable | None = None) -> None:
        places: dict[str, list[int]] = {}
        for place, text in enumerate(texts):
            for word in text:
                places.setdefault(word, []).append(place)
        self.words = sorted(places)
        self._first = array("I", accumulate((len(places[word]) for word in self.words), initial=0))
        self._places = array("I", chain.from_iterable(map(places.__getitem__, self.words)))
        self._text = f" {'  '.join(self.words)} "  # each word between two spaces of its own, as trigrams have it
        self._starts = array("I", accumulate((len(word) + 2 for word in self.words), initial=0))
        self._owner = array("I", chain.from_iterable(repeat(i, len(word) + 2) for i, word in enumerate(self.words)))
        self._with_trigram = TermTable()
        self._table = table
        numbers = [table.number(word) for word in self.words] if table else [None] * len(self.words)
        listed = sorted((number, i) for i, number in enumerate(numbers) if number is not None)
        self._listed = array("I", [number for number, _ in listed])
        """The stems of the words that the table lists, sorted, and beside them the words."""
        self._listed_words = array("I", [i for _, i in listed])
        self._unlisted = array("I", [i for i, number in enumerate(numbers) if number is None])
        self._unlisted_words = [self.words[i] for i in self._unlisted]

    def places(self, word: int) -> "array[int]":
        """The texts that a word stands in; twice where it stands there twice."""
        return self._places[self._first[word] : self._first[word + 1]]

    def with_stem(self, wanted: str) -> list[int]:
        """The words that have this stem."""
        number = self._table.number(wanted) if self._table else None
        listed = [] if number is None else self._of_listed(number)
        unlisted = having_stem(self._unlisted_words, wanted)
        return [*listed, *(self._unlisted[i] for i in unlisted)]

    def like_stem(self, wanted: str) -> list[tuple[int, float]]:
        """The words that have this stem, with 1, and those of the nearest stems, with how much they count."""
        found = [(word, 1.0) for word in self.with_stem(wanted)]
        number = self._table.number(wanted) if self._table else None
        if self._table is None or number is None:
            return found
        near = ((self._of_listed(other), nearness) for other, nearness in self._table.near(number))
        for _, (having, nearness) in zip(range(NEAR_STEMS), filter(lambda one: one[0], near), strict=False):
            found += [(word, NEAR_WEIGHT * nearness) for word in having]
        return found

    def _of_listed(self, number: int) -> list[int]:
        low = bisect_left(self._listed, number)
        high = bisect_left(self._listed, number + 1, lo=low)
        return list(self._listed_words[low:high])

    def with_trigram(self, wanted: str) -> Sequence[int]:
        """The words that have this piece, a word's edges being spaces; kept from the first time on."""
        if wanted in self._with_trigram:
            return self._with_trigram.rows(wanted)
        found: list[int] = []
        at = self._text.find(wanted)
        while at >= 0:
            number = self._owner[at]
            found.append(number)
            at = self._text.find(wanted, self._starts[number + 1])
        if found:
            self._with_trigram.add(wanted, found)
        return found

    def like_trigram(self, wanted: str) -> list[tuple[int, float]]:
        """The same, each counting 1."""
        return [(word, 1.0) for word in self.with_trigram(wanted)]

    @property
    def size(self) -> int:
        """Roughly how many bytes it holds."""
        return BYTES_PER_WORD * len(self.words) + 4 * len(self._places) + self._with_trigram.size


class TermTable:
    """The rows of each term and what it weighs in them, in flat arrays. Only ever added to, a term at a time."""

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


def having_stem(known: Sequence[str], wanted: str) -> list[int]:
    """Which of these sorted words have a stem. Only those that begin alike are looked at: stems are costly."""
    start = wanted[: max(1, len(wanted) - CHANGED_BY_STEMMING)]
    low = bisect_left(known, start)
    high = bisect_left(known, start + "\U0010ffff", lo=low)
    return [number for number in range(low, high) if stem(known[number]) == wanted]


K1 = 2.0  # how slowly a repeated word stops counting
B = 0.3  # how much a long text counts less; facts are all about as short
BYTES_PER_TEXT = 160


class TextPlaces:
    """Which text is where: the facts of all notes, what each is asked with, the summaries of their episodes."""

    def __init__(self, groups: Sequence[tuple[int, ...]], episodes: Sequence[int]) -> None:
        self.notes = len(groups)
        number = {group: index for index, group in enumerate(dict.fromkeys(groups))}
        self.group_of = array("I", [number[group] for group in groups])
        self.groups = len(number)
        around: dict[int, list[int]] = defaultdict(list)
        for group, index in number.items():
            for key in group:
                around[key].append(index)
        facts = (tuple(index for key in group for index in around[key]) for group in groups)
        self.surrounds = (*facts, *((),) * self.notes, *(tuple(around[key]) for key in episodes))
        """For each text the groups that it surrounds, twice where it does so by two episodes."""


class FieldWeights:
    """What each term weighs in each note. `having` gives the words that have a term, and how much each counts as it."""

    def __init__(
        self,
        layout: TextPlaces,
        index: InvertedIndex,
        having: Callable[[str], Iterable[tuple[int, float]]],
        lengths: Sequence[int],
        fields: Sequence[float],
    ) -> None:
        self._layout, self._index, self._having = layout, index, having
        count = layout.notes
        together, summaries = [0] * layout.groups, [0] * layout.groups
        for place, (length, groups) in enumerate(zip(lengths, layout.surrounds, strict=True)):
            for group in groups:
                (together if place < count else summaries)[group] += length
        own = [*_shares(lengths[:count], fields[0]), *_shares(lengths[count : 2 * count], fields[1])]
        near = _shares(together, fields[2], layout.group_of), _shares(summaries, fields[3], layout.group_of)
        around = ([(group, near[at >= count][group]) for group in groups] for at, groups in enumerate(layout.surrounds))
        self._counts = list(zip_longest(chain(range(count), range(count)), own, around))
        """For each text whose words these are and how much one counts; the groups around, and how much there."""
        self._table = TermTable()
        self._most = TermTable()

    def scores(self, query: Mapping[str, float]) -> list[float]:
        """The score of each note."""
        count, table = self._layout.notes, self._table
        scores = [0.0] * (count + self._layout.groups)
        for term, asked in query.items():
            if term not in table:
                own, around, most = self._occurrences(term)
                found = self._weights(own, around, sum(most.values()))
                table.add(term, found, found.values())
            for row, weight in table.weights(term):
                scores[row] += asked * weight
        around_notes = scores[count:]
        if not any(around_notes):
            return scores[:count]
        return [own + around_notes[group] for own, group in zip(scores, self._layout.group_of, strict=False)]

    def coverage(self, terms: Collection[str], notes: Sequence[int]) -> float:
        """How much of what is asked for the best of some notes says itself, from 0 to 1; rare terms count more."""
        count = self._layout.notes
        covered, whole = dict.fromkeys(notes, 0.0), 0.0
        for term in terms:
            if term not in self._most:
                found = self._occurrences(term)[2]
                self._most.add(term, found, found.values())
            most = dict(self._most.weights(term))
            rarity = _rarity(count, sum(most.values()))
            whole += rarity
            for note in covered:
                covered[note] += rarity * most.get(note, 0.0)
        return max(covered.values()) / whole if covered and whole else 0.0

    def _weights(self, own: Mapping[int, float], around: Mapping[int, float], having: float) -> dict[int, float]:
        """What a term weighs in each note and group. How rare it is counts over what the notes say themselves."""
        count, group_of = self._layout.notes, self._layout.group_of
        rarity = _rarity(count, having)
        weights: dict[int, float] = {}
        for note, its_own in own.items():
            near = around.get(group_of[note], 0.0)
            weights[note] = rarity * ((near + its_own) / (K1 + near + its_own) - near / (K1 + near))
        for group, near in around.items():
            weights[count + group] = rarity * near / (K1 + near)
        return weights

    def _occurrences(self, term: str) -> tuple[dict[int, float], dict[int, float], dict[int, float]]:
        """How much of a term is in each note's own words, around each group, and the most of one word in each note."""
        own: dict[int, float] = {}
        around: dict[int, float] = {}
        most: dict[int, float] = {}
        places, counts = self._index.places, self._counts
        for number, as_much in self._having(term):
            for place in places(number):
                note, share, groups = counts[place]
                if note is not None:
                    own[note] = own.get(note, 0.0) + as_much * share
                    if most.get(note, 0.0) < as_much:
                        most[note] = as_much
                for group, share in groups:
                    around[group] = around.get(group, 0.0) + as_much * share
        return own, around, most

    @property
    def size(self) -> int:
        """Roughly how many bytes it holds."""
        return self._table.size + self._most.size + BYTES_PER_TEXT * len(self._layout.surrounds)


def _rarity(count: int, having: float) -> float:
    return math.log(1 + (count - having + 0.5) / (having + 0.5))


def _shares(lengths: Sequence[int], weight: float, standing_for: Sequence[int] | None = None) -> "array[float]":
    """How much a word counts in texts of these lengths: in a long one less. `standing_for`: whose lengths are usual."""
    usual = lengths if standing_for is None else [lengths[index] for index in standing_for]
    average = sum(usual) / len(usual) if any(usual) else 1.0
    return array("d", [weight / (1 - B + B * length / average) for length in lengths])
