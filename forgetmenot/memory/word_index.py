"""Which of some texts a word stands in, in any form, in other words or misspelt. Pure.

The notes of a person have one index (memory/note_index), the newest episodes another (memory/past_episodes).
"""

import math
from array import array
from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from string import ascii_lowercase

from forgetmenot.text.meaning import WordTable
from forgetmenot.text.words import stem, trigrams

# Letters at a stem's end that may not be the word's: "skies" is "sky", "ability" "abl".
CHANGED_BY_STEMMING = 2
# The number of stems, the nearest that the texts have, that count for a stem of nearly the same meaning.
NEAR_STEMS = 8
# What a stem of the same meaning counts, beside the stem itself.
NEAR_WEIGHT = 0.5
# What a word counts that is one slip of the finger away; others count this times the share of common trigrams.
SPELT_WEIGHT = 0.9
# The share of common trigrams that a word needs to count as a spelling of another.
LEAST_SHARED = 0.3
# Of shorter words (in letters) each is one slip away from many.
SHORTEST_SLIP = 4
# A slip changes this many trigrams of a word at most.
TRIGRAMS_OF_SLIP = 4
# Sorts after every other character.
LAST_CHARACTER = "\U0010ffff"


class WordIndex:
    """Which of some texts each word stands in.

    A word counts whole where a form of it stands (the same stem), in part where a word of nearly the same meaning does,
    and, unless the table lists it, where a word that is spelt nearly so does: chat is typos.
    Texts are named by their places, in the order in which they were added; without a table no word is near.
    """

    def __init__(self, table: WordTable | None = None) -> None:
        self._table = table
        # by word: the texts that it stands in
        self._places: dict[str, array[int]] = {}
        # the words that the table lists, by their stem's number there
        self._listed: dict[int, list[str]] = {}
        # the words that it does not list, sorted
        self._unlisted: list[str] = []
        # the words that have each trigram, of those texts whose spelling counts; not read late, which would be on the
        # event loop
        self._words_with: dict[str, list[str]] = defaultdict(list)

    def add(
        self,
        place: int,
        words: Iterable[str],
        *,
        spelling: bool = False,
    ) -> None:
        """Add the words of a text.

        `spelling`: a misspelt word of a query may mean one of them.
        """
        for word in words:
            places = self._places.get(word)
            if places is None:
                places = self._add_word(word, spelling=spelling)
            places.append(place)

    def _add_word(self, word: str, *, spelling: bool) -> "array[int]":
        """Add a word that no text had before, and return the list of its places, which is empty."""
        places = self._places[word] = array("I")
        number = self._number(word)
        if number is None:
            insort(self._unlisted, word)
        else:
            self._listed.setdefault(number, []).append(word)
        if spelling:
            for trigram in trigrams(word):
                self._words_with[trigram].append(word)
        return places

    def _number(self, word: str) -> int | None:
        """Return the table's number of a word's stem; None if the table does not list it."""
        if self._table is None:
            return None
        return self._table.number(word)

    def places(self, word: str) -> Sequence[int]:
        """Return the texts that a word stands in as it is, ascending; a text twice where it stands there twice."""
        return self._places.get(word, ())

    def forms(self, word: str) -> list[str]:
        """Return the words of the texts that have the same stem."""
        word_stem = stem(word)
        forms: list[str] = []
        number = self._number(word_stem)
        if number is not None:
            forms += self._listed.get(number, ())
        # Finding a stem is costly, so only words that begin alike are looked at.
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
        """Return the words of the texts that count as this one, each with its share: how much it counts (0 to 1).

        Forms of the word count 1. Without `spelling` no word counts for being spelt nearly so.
        """
        shares = dict.fromkeys(self.forms(word), 1.0)
        number = self._number(stem(word))
        if number is not None:
            for near_word, nearness in self._near_in_meaning(number):
                shares.setdefault(near_word, NEAR_WEIGHT * nearness)
            return shares
        # only a word that the table does not list may be a slip of the finger
        if spelling and len(word) >= SHORTEST_SLIP:
            for similar_word, similarity in self._near_in_spelling(word):
                shares.setdefault(similar_word, SPELT_WEIGHT * similarity)
        return shares

    def _near_in_meaning(self, number: int) -> Iterator[tuple[str, float]]:
        """Yield the texts' words of the stems nearest to a stem of the table, with their nearness (0 to 1)."""
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
        """Yield the texts' words that are spelt nearly like a word, with their similarity (0 to 1)."""
        word_trigrams = trigrams(word)
        # by word: how many trigrams it shares with this one
        lists = [self._words_with.get(trigram, ()) for trigram in word_trigrams]
        shared_counts = Counter(chain.from_iterable(lists))
        # Most candidates share too few trigrams to be near, and need not be compared. A similar word shares at least
        # LEAST_SHARED of all trigrams of the two, and these are not fewer than this word's own. A slip changes
        # TRIGRAMS_OF_SLIP of them at most.
        least_of_similar = LEAST_SHARED * len(word_trigrams)
        least_of_slip = max(1, len(word_trigrams) - TRIGRAMS_OF_SLIP)
        least = min(least_of_similar, least_of_slip)
        near_enough = [pair for pair in shared_counts.items() if pair[1] >= least]
        for candidate, shared_count in near_enough:
            # what `is_one_slip` asks of both words
            begins_alike = candidate[:2] == word[:2]
            difference = abs(len(candidate) - len(word))
            if begins_alike and difference <= 1 and is_one_slip(word, candidate):
                yield candidate, 1.0
                continue
            candidate_trigrams = trigrams(candidate)
            trigram_count = len(word_trigrams) + len(candidate_trigrams)
            # those that both have count once
            similarity = shared_count / (trigram_count - shared_count)
            if similarity >= LEAST_SHARED:
                yield candidate, similarity


def rarity(having: float, count: int) -> float:
    """Return how much a word tells that `having` of `count` texts have: the fewer, the more (BM25's idf)."""
    return math.log(1 + (count - having + 0.5) / (having + 0.5))


def is_one_slip(word: str, other: str) -> bool:
    """Return whether one slip makes one word of the other: a letter too many, too few or wrong, or two swapped.

    Both words must have the same first two letters, which are hardly ever wrong. Short words are a slip away from many,
    so they never count.
    """
    shorter = min(len(word), len(other))
    if shorter < SHORTEST_SLIP:
        return False
    # the letters at the beginning, and at the end, that the two have in common
    start = 2
    while start < shorter and word[start] == other[start]:
        start += 1
    end = 0
    while end < shorter - start and word[-1 - end] == other[-1 - end]:
        end += 1
    # what stands between them is what the slip changed
    word_middle = word[start : len(word) - end]
    other_middle = other[start : len(other) - end]
    if len(word_middle) <= 1 and len(other_middle) <= 1:
        return True
    return len(word_middle) == 2 and word_middle == other_middle[::-1]


def slips(word: str) -> Iterator[str]:
    """Yield everything that is one slip away from a word, as in `is_one_slip`; of a short word nothing."""
    if len(word) <= SHORTEST_SLIP:
        return
    for place in range(2, len(word) + 1):
        before = word[:place]
        rest = word[place:]
        after_letter = rest[1:]
        swapped = rest[1::-1] + rest[2:]
        # a letter too few, two swapped, a letter too many, a wrong letter
        yield before + after_letter
        yield before + swapped
        for letter in ascii_lowercase:
            yield before + letter + rest
            yield before + letter + after_letter
