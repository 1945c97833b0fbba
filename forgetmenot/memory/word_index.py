"""Finds the texts that have a word, in any form, in words of nearly the same meaning, or misspelt. Pure.

The notes of a person have one such index (memory/note_index), the newest episodes another (memory/past_episodes).
"""

import math
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, islice
from string import ascii_lowercase

from forgetmenot.text.meaning import WordTable
from forgetmenot.text.words import stem, trigrams

# This many letters at the end of a stem may differ from its words: the stem of "skies" is "sky", of "ability" "abl".
CHANGED_BY_STEMMING = 2
# This many stems of nearly the same meaning count as a stem: the nearest of those in the texts.
NEAR_STEMS = 8
# How much a stem of the same meaning counts; the stem itself counts 1.
NEAR_WEIGHT = 0.5
# How much a word counts that is one typing slip away. Other similar spellings count this times their share of common
# trigrams.
SPELT_WEIGHT = 0.9
# A word counts as a spelling of another if they share this part of their trigrams.
LEAST_SHARED = 0.3
# Shorter words (in letters) are not compared by spelling: each is one slip away from many others.
SHORTEST_SLIP = 4
# A slip changes this many trigrams of a word at most.
TRIGRAMS_OF_SLIP = 4
# Sorts after every other character.
LAST_CHARACTER = "\U0010ffff"
_no_places = partial(array, "I")


class WordIndex:
    """The words of some texts, and the texts that have each word.

    A form of a word (the same stem) counts 1, a word of nearly the same meaning less. Chat has many typos, so a similar
    spelling counts less, too, if the table does not list the word. Without a table no word is near in meaning. A text
    is meant by its place, a number that the caller gives it.
    """

    def __init__(self, table: WordTable | None = None) -> None:
        self._table = table
        # by word: the places of the texts that have it; the words in the order in which they came
        self._places: dict[str, array[int]] = defaultdict(_no_places)
        # the words of texts that the table lists, by their stem's number there
        self._listed: dict[int, list[str]] = defaultdict(list)
        # the words of texts that it does not list, sorted
        self._unlisted: list[str] = []
        # the words that a misspelt word of a query may mean
        self._spelt: list[str] = []
        # by trigram: those of these words that have it; made when the first word is compared by spelling
        self._words_with: dict[str, list[str]] | None = None

    def add(
        self,
        texts: Iterable[tuple[int, Iterable[str]]],
        *,
        spelling: bool = False,
    ) -> None:
        """Add texts, each as its place and its words. `place`: a number, higher than those before it.

        `spelling`: a misspelt word of a query may mean one of these words.
        """
        known_count = len(self._places)
        places_of = self._places
        for place, words in texts:
            for word in words:
                places_of[word].append(place)
        # the newest words stand last
        new_count = len(places_of) - known_count
        new_words = list(islice(reversed(places_of), new_count))
        new_words.reverse()
        unlisted_count = len(self._unlisted)
        for word in new_words:
            number = self._number(word)
            if number is None:
                self._unlisted.append(word)
            else:
                self._listed[number].append(word)
        if len(self._unlisted) > unlisted_count:
            self._unlisted.sort()
        if spelling:
            self._spelt += new_words
            self._words_with = None

    def _number(self, word: str) -> int | None:
        """Return the table's number of a word's stem, or of a stem; None if the table does not list it."""
        if self._table is None:
            return None
        return self._table.number(word)

    def places(self, word: str) -> Sequence[int]:
        """Return the places of the texts that have this very word, ascending. A text that has it twice comes twice."""
        return self._places.get(word, ())

    def forms(self, word: str) -> list[str]:
        """Return the words of the texts that have the same stem as a word."""
        word_stem = stem(word)
        forms: list[str] = []
        number = self._number(word_stem)
        if number is not None:
            forms += self._listed.get(number, ())
        # Finding a stem is costly, so only words that begin alike are looked at. The list is sorted, so they stand
        # together.
        unchanged_length = max(1, len(word_stem) - CHANGED_BY_STEMMING)
        beginning = word_stem[:unchanged_length]
        behind_beginning = beginning + LAST_CHARACTER
        start = bisect_left(self._unlisted, beginning)
        end = bisect_left(self._unlisted, behind_beginning, lo=start)
        for candidate in self._unlisted[start:end]:
            if stem(candidate) == word_stem:
                forms.append(candidate)
        return forms

    def like(self, word: str, *, spelling: bool = True) -> dict[str, float]:
        """Return the words of the texts that count as this one, each with how much it counts (0 to 1).

        Forms of the word count 1. `spelling`: similar spellings count, too.
        """
        shares = dict.fromkeys(self.forms(word), 1.0)
        number = self._number(stem(word))
        if number is not None:
            for near_word, nearness in self._near_in_meaning(number):
                shares.setdefault(near_word, NEAR_WEIGHT * nearness)
            return shares
        # a word that the table lists is spelt right
        if spelling and len(word) >= SHORTEST_SLIP:
            for similar_word, similarity in self._near_in_spelling(word):
                shares.setdefault(similar_word, SPELT_WEIGHT * similarity)
        return shares

    def _near_in_meaning(self, number: int) -> Iterator[tuple[str, float]]:
        """Yield the texts' words nearest in meaning to a stem of the table, with their nearness (0 to 1).

        `number`: the stem's number in the table. The words of the NEAR_STEMS nearest stems are yielded.
        """
        if self._table is None:
            return
        stem_count = 0
        for near_number, nearness in self._table.near(number):
            near_words = self._listed.get(near_number)
            if near_words is None:
                continue
            for near_word in near_words:
                yield near_word, nearness
            stem_count += 1
            if stem_count == NEAR_STEMS:
                return

    def _near_in_spelling(self, word: str) -> Iterator[tuple[str, float]]:
        """Yield the texts' words that are spelt like a word, with their similarity (0 to 1)."""
        word_trigrams = trigrams(word)
        # By word: how many trigrams it shares with this one, or more: it may be listed twice under one.
        words_with = self._trigram_index()
        lists = filter(None, map(words_with.get, word_trigrams))
        shared_counts = Counter(chain.from_iterable(lists))
        # Most candidates share too few trigrams to be similar, and need not be compared. Of two similar words, the
        # shared trigrams are at least LEAST_SHARED of this word's trigrams. After one slip, all but TRIGRAMS_OF_SLIP
        # trigrams are still shared.
        least_of_similar = LEAST_SHARED * len(word_trigrams)
        least_of_slip = max(1, len(word_trigrams) - TRIGRAMS_OF_SLIP)
        least = min(least_of_similar, least_of_slip)
        near_enough = [
            other for other, count in shared_counts.items() if count >= least
        ]
        for candidate in near_enough:
            # cheap checks first: `is_one_slip` needs the same beginning, and lengths that differ by one at most
            begins_alike = candidate[:2] == word[:2]
            difference = abs(len(candidate) - len(word))
            if begins_alike and difference <= 1 and is_one_slip(word, candidate):
                yield candidate, 1.0
                continue
            candidate_trigrams = trigrams(candidate)
            shared_count = len(word_trigrams & candidate_trigrams)
            trigram_count = len(word_trigrams) + len(candidate_trigrams)
            # the trigrams of both words together, in which the shared ones count once
            similarity = shared_count / (trigram_count - shared_count)
            if similarity >= LEAST_SHARED:
                yield candidate, similarity

    def _trigram_index(self) -> Mapping[str, Sequence[str]]:
        """Return by trigram the words that have it, of those that a misspelt word may mean."""
        if self._words_with is not None:
            return self._words_with
        words_with: dict[str, list[str]] = defaultdict(list)
        for word in self._spelt:
            # As `trigrams` does, but a word may be listed twice under a trigram that it has twice: half the time, and
            # nothing of it is cached.
            padded = f" {word} "
            for start in range(len(word)):
                words_with[padded[start : start + 3]].append(word)
        # set only when it is complete, because another thread may read it meanwhile
        self._words_with = words_with
        return words_with


def rarity(having: float, count: int) -> float:
    """Return how much a word counts that `having` of `count` texts have: the rarer, the more (BM25's idf)."""
    return math.log(1 + (count - having + 0.5) / (having + 0.5))


def is_one_slip(word: str, other: str) -> bool:
    """Return whether one typing slip turns one word into the other.

    A slip is a letter too many, too few or wrong, or two letters swapped. The first two letters must be the same,
    because slips hardly ever touch them. Short words never count: each is one slip away from many others.
    """
    shorter = min(len(word), len(other))
    if shorter < SHORTEST_SLIP:
        return False
    # how many letters the two have in common at the beginning, and then at the end
    start = 2
    while start < shorter and word[start] == other[start]:
        start += 1
    end = 0
    while end < shorter - start and word[-1 - end] == other[-1 - end]:
        end += 1
    # the slip changed what stands between these letters
    word_middle = word[start : len(word) - end]
    other_middle = other[start : len(other) - end]
    if len(word_middle) <= 1 and len(other_middle) <= 1:
        return True
    return len(word_middle) == 2 and word_middle == other_middle[::-1]


def slips(word: str) -> Iterator[str]:
    """Yield every string that is one slip away from a word, as in `is_one_slip`; nothing for a short word."""
    if len(word) <= SHORTEST_SLIP:
        return
    for place in range(2, len(word) + 1):
        before = word[:place]
        rest = word[place:]
        after_letter = rest[1:]
        # the first two letters of the rest, in the other order
        swapped = rest[1::-1] + rest[2:]
        # a letter too few, two swapped, a letter too many, a wrong letter
        yield before + after_letter
        yield before + swapped
        for letter in ascii_lowercase:
            yield before + letter + rest
            yield before + letter + after_letter
