"""Which of a few hundred texts each word stands in, and what a term weighs in each note. Pure.

A term is not a word: it is a stem with the stems near to it, or a trigram. What it weighs in each note is worked out
when it is first asked for, and kept; so building is reading the texts and listing the words of each trigram.

The words are sorted, their places in flat arrays: a few objects whatever it holds. Thousands of small ones for each
viewer that recall keeps would be walked by the garbage collector again and again, and that holds the event loop for a
tenth of a second.
"""

import math
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate, chain, islice, zip_longest

from forgetmenot.memory.meaning import WordTable
from forgetmenot.text.words import stem, trigrams

BYTES_PER_WORD = 150  # a short text, a place in the list and in the long text
BYTES_PER_TERM = 120  # a short text and a place in a dictionary
CHANGED_BY_STEMMING = 2  # letters at a stem's end that may not be the word's: "skies" is "sky", "ability" "abl"
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
        having: dict[str, list[int]] = defaultdict(list)
        for number, word in enumerate(self.words):
            for gram in trigrams(word):
                having[gram].append(number)
        self._trigram = {gram: number for number, gram in enumerate(having)}
        self._trigram_ends = array("I", accumulate(map(len, having.values()), initial=0))
        self._with_trigram = array("I", chain.from_iterable(having.values()))
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
        for words, nearness in islice((one for one in near if one[0]), NEAR_STEMS):
            found += [(word, NEAR_WEIGHT * nearness) for word in words]
        return found

    def _of_listed(self, number: int) -> list[int]:
        low = bisect_left(self._listed, number)
        high = bisect_left(self._listed, number + 1, lo=low)
        return list(self._listed_words[low:high])

    def with_trigram(self, wanted: str) -> Sequence[int]:
        """The words that have this piece, a word's edges being spaces."""
        number = self._trigram.get(wanted)
        return () if number is None else self._with_trigram[self._trigram_ends[number] : self._trigram_ends[number + 1]]

    def like_trigram(self, wanted: str) -> list[tuple[int, float]]:
        """The same, each counting 1."""
        return [(word, 1.0) for word in self.with_trigram(wanted)]

    @property
    def size(self) -> int:
        """Roughly how many bytes it holds."""
        terms = BYTES_PER_WORD * len(self.words) + BYTES_PER_TERM * len(self._trigram)
        return terms + 4 * (len(self._places) + len(self._with_trigram))


def having_stem(known: Sequence[str], wanted: str) -> list[int]:
    """Which of these sorted words have a stem. Only those that begin alike are looked at: stems are costly."""
    start = wanted[: max(1, len(wanted) - CHANGED_BY_STEMMING)]
    low = bisect_left(known, start)
    high = bisect_left(known, start + "\U0010ffff", lo=low)
    return [number for number in range(low, high) if stem(known[number]) == wanted]


K1 = 2.0  # how slowly a repeated word stops counting
B = 0.3  # how much a long text counts less; facts are all about as short
BYTES_PER_TEXT = 160
LANE_UNIT = 1 << 20
"""What a weight of 1 is in its lane. None is above 14 (the logarithm of a million notes) …"""
TERMS_AT_ONCE = 256
"""… so the sum of this many still fits."""


class TextPlaces:
    """Which text is where: the facts of all notes, what each is asked with, the summaries of their episodes."""

    def __init__(self, groups: Sequence[tuple[int, ...]], episodes: Sequence[int]) -> None:
        self.notes = len(groups)
        # notes of the same episodes are a group: what surrounds them is weighed once for all of them
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
    """What each term weighs in each note. `having` gives the words that have a term, and how much each counts as it.

    `fields`: the weights of a note's fact, of what it is asked with, of the facts around it and of its summaries.
    """

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
        fact_weight, asked_weight, facts_around_weight, summaries_weight = fields
        facts_around, summaries = [0] * layout.groups, [0] * layout.groups  # how long the texts around a group are
        for place, (length, groups) in enumerate(zip(lengths, layout.surrounds, strict=True)):
            surrounding = facts_around if place < count else summaries
            for group in groups:
                surrounding[group] += length
        own = [*_shares(lengths[:count], fact_weight), *_shares(lengths[count : 2 * count], asked_weight)]
        fact_shares = _shares(facts_around, facts_around_weight, layout.group_of)
        summary_shares = _shares(summaries, summaries_weight, layout.group_of)
        around = [
            tuple((group, (fact_shares if place < count else summary_shares)[group]) for group in groups)
            for place, groups in enumerate(layout.surrounds)
        ]
        self._counts = list(zip_longest(chain(range(count), range(count)), own, around))
        """For each text: the note whose own words these are and how much one counts for it (None for a summary), and
        the groups that it surrounds with how much one counts for them."""
        self._weights: dict[str, int] = {}
        """For each term a number that holds its weight in each note and group, in lanes of 32 bits: adding two is one
        operation. Beside a float it is off by a millionth."""
        self._most: dict[str, dict[int, float]] = {}

    def scores(self, query: Mapping[str, float]) -> list[float]:
        """The score of each note, in a unit of its own."""
        count = self._layout.notes
        asked_so: dict[float, list[int]] = {}
        for term, asked in query.items():
            if term not in self._weights:
                self._weights[term] = self._weighed(term)
            asked_so.setdefault(asked, []).append(self._weights[term])
        scores = [0.0] * (count + self._layout.groups)
        # terms that are asked for alike are added as long integers first: one addition for all notes
        for asked, weights in asked_so.items():
            for first in range(0, len(weights), TERMS_AT_ONCE):
                lanes = sum(weights[first : first + TERMS_AT_ONCE]).to_bytes(4 * len(scores), "little")
                scores = [score + asked * lane for score, lane in zip(scores, array("I", lanes), strict=True)]
        return [score + scores[count + group] for score, group in zip(scores, self._layout.group_of, strict=False)]

    def coverage(self, terms: Collection[str], notes: Sequence[int]) -> float:
        """How much of what is asked for the best of some notes says itself, from 0 to 1; rare terms count more."""
        count = self._layout.notes
        covered, whole = dict.fromkeys(notes, 0.0), 0.0
        for term in terms:
            if term not in self._most:
                self._most[term] = self._occurrences(term)[2]
            most = self._most[term]
            rarity = _rarity(count, sum(most.values()))
            whole += rarity
            for note in covered:
                covered[note] += rarity * most.get(note, 0.0)
        return max(covered.values()) / whole if covered and whole else 0.0

    def _weighed(self, term: str) -> int:
        """What a term weighs in each note and group. How rare it is counts over what the notes say themselves."""
        count, group_of = self._layout.notes, self._layout.group_of
        own, around, most = self._occurrences(term)
        unit = LANE_UNIT * _rarity(count, sum(most.values()))
        lanes = array("I", bytes(4 * (count + self._layout.groups)))
        for note, its_own in own.items():
            near = around.get(group_of[note], 0.0)
            # what its own words add to what the texts around it say already; that part is in the group's lane
            lanes[note] = round(unit * ((near + its_own) / (K1 + near + its_own) - near / (K1 + near)))
        for group, near in around.items():
            lanes[count + group] = round(unit * near / (K1 + near))
        return int.from_bytes(lanes, "little")

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
        layout = self._layout
        lanes = len(self._weights) * (BYTES_PER_TERM + 4 * (layout.notes + layout.groups))
        return lanes + 2 * BYTES_PER_TERM * len(self._most) + BYTES_PER_TEXT * len(layout.surrounds)


def _rarity(count: int, having: float) -> float:
    return math.log(1 + (count - having + 0.5) / (having + 0.5))


def _shares(lengths: Sequence[int], weight: float, standing_for: Sequence[int] | None = None) -> "array[float]":
    """How much a word counts in texts of these lengths: in a long one less. `standing_for`: whose lengths are usual."""
    usual = lengths if standing_for is None else [lengths[index] for index in standing_for]
    average = sum(usual) / len(usual) if any(usual) else 1.0
    return array("d", [weight / (1 - B + B * length / average) for length in lengths])
