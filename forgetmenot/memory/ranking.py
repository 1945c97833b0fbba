"""Which of a subject's notes fit what was just said. Pure: the notes and their surroundings come in, an order goes out.

A note's score is the sum of

- its BM25F score on words (`WordIndex`), over its fact and tags, the subject's other notes of the same episode and the
  summary of that episode, divided by the best note's;
- .3 of how near its meaning is to the message's (`meaning`), where a word table is given, divided by the best;
- up to .5 for what it says about the time that is asked for (`text.dates`).

How rare a word is counts over what the notes themselves say. Pinned notes come first; what no word touches follows by
confidence and recency. A stale or past note is offered only where the message has a word of its own, or a near one.
It does not know what may be shown: the caller leaves out what must not be. docs/EVALUATION.md has what was measured.
"""

import math
from array import array
from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby, islice
from string import ascii_lowercase
from typing import NamedTuple

from msgspec import Struct, field

from forgetmenot.domain import Note, Recalled
from forgetmenot.durations import WEEK
from forgetmenot.text.dates import (
    NO_TIME,
    AskedTime,
    asked_time,
    days_in,
    states_duration,
    states_time,
)
from forgetmenot.text.days import day_of
from forgetmenot.text.meaning import Meanings, WordTable
from forgetmenot.text.questions import without_greeting
from forgetmenot.text.words import (
    FILLER,
    STOPWORDS,
    foreign_stopwords_in,
    ideographs,
    is_hiragana,
    stem,
    trigrams,
    words,
)

CHANGED_BY_STEMMING = (
    2  # letters at a stem's end that may not be the word's: "skies" is "sky", "ability" "abl"
)
NEAR_STEMS = 8  # of those near to a stem, the nearest that the texts have
NEAR_WEIGHT = 0.5  # of a stem that means the same, beside the stem itself
SPELT_WEIGHT = 0.9  # of a word one slip of the finger away; of others, times what part of their trigrams is shared
LEAST_SHARED = 0.3
SHORTEST_SLIP = 4  # letters; of shorter words each is one slip away from many


class WordIndex:
    """Which of some texts each word stands in; one index serves the notes of a person, another the episodes.

    A word counts whole where a form of it stands (the same stem), in part where a word of nearly the same meaning does,
    and, unless the table lists it, where a word that is spelt nearly so does: chat is typos.
    Texts are named by their places, in the order in which they were added; without a table no word is near.
    """

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
            near = (
                (self._listed.get(other, ()), nearness)
                for other, nearness in self._table.near(number)
            )
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


def slips(word: str) -> Iterator[str]:
    """Yield everything that is one slip away from a word, as in `is_one_slip`; of a short word nothing."""
    if len(word) <= SHORTEST_SLIP:
        return
    for at in range(2, len(word) + 1):
        before, rest = word[:at], word[at:]
        yield before + rest[1:]
        yield before + rest[1::-1] + rest[2:]
        for letter in ascii_lowercase:
            yield before + letter + rest
            yield before + letter + rest[1:]


LOW_WEIGHT = 0.3  # of the category and the title in the query
FACT, FACTS_AROUND, SUMMARIES = 1.0, 0.15, 0.3  # what a word counts, by where it stands
K1 = 1.6  # how slowly a repeated word stops counting
B = 0.3  # how much a long text counts less; facts are all about as short
MEANING_SHARE = 0.3
FITS_DATE, TELLS_TIME, TELLS_DURATION = 0.5, 0.15, 0.25
PINNED = 10.0  # above any score
SOON = 0.3  # of a note that names a day of the coming week: above those that only mean something like what is asked
END_OF_TIME = 1 << 62
# How much nearer than usual (as a cosine) a note must be to count whole: where none is, meaning counts less.
WHOLE_NEARNESS = 0.3
# Of the best note's score, what a note must have to be offered: what answers is still there (docs/EVALUATION.md).
LEAST_OF_BEST = 0.25
_ANY = 1e-6
NAMED = 0.9  # of a word: a form of it, or one a slip away

_CATS_IN_FRENCH = frozenset(("chat", "chats"))
# Words that ask for what was said last, where nothing else is asked for: "what's new with me?"
_NEWEST = """new news newest latest lately recently update updates neu neues neuigkeiten zuletzt nuevo nueva novedades
    últimamente novo novidades ultimamente nouveau nouvelles neuf récemment"""
NEWEST = frozenset(words(_NEWEST))


class Query(Struct, frozen=True):
    """What is asked for: words with their weights, and what is asked about time.

    `anything`: nothing in particular is, as by a greeting or "what do you know about me?"; `newest`: then what was said
    last, "what's new?". `zone`: the time zone of the days that it names.
    """

    words: Mapping[str, float] = field(default_factory=dict)
    time: AskedTime = NO_TIME
    anything: bool = False
    newest: bool = False
    zone: str = ""

    @property
    def telling(self) -> list[str]:
        """The message's own words, without what counts little."""
        return [word for word, weight in self.words.items() if weight >= 1]


class Candidate(Struct, frozen=True):
    """A note with the summaries of its evidence episodes."""

    note: Note
    episodes: tuple[tuple[int, str], ...] = ()


def query_of(text: str, *, low: str = "", without: Iterable[str] = (), zone: str = "") -> Query:
    """What a text asks for; the words of `low` (category, title) count less, those of `without` (names) not at all.

    What counts less must be said as it is: it matches no misspelling. Small words of other languages count less too:
    "hat", "son" and "van" are some.
    """
    typed = words(without_greeting(text))
    typed += ideographs(text)
    small = foreign_stopwords_in(typed)
    filler = FILLER - _CATS_IN_FRENCH if small else FILLER
    ignored = {word for name in without for word in words(name)} | STOPWORDS | filler
    weights = {word: LOW_WEIGHT for word in words(low) if word not in ignored}
    for word in typed:
        if word not in ignored:
            weights[word] = LOW_WEIGHT if word in small or is_hiragana(word) else 1.0
    telling = {word for word, weight in weights.items() if weight >= 1}
    if telling and telling <= NEWEST:
        return Query(anything=True, newest=True, zone=zone)
    return Query(weights, asked_time(text), anything=not telling, zone=zone)


class _Weights(NamedTuple):
    """What a word weighs: added by each note's own words, and in each group of notes of the same episodes.

    `named`: how much at most one of a note's own words counts as this one.
    """

    own: tuple[tuple[int, float], ...]
    around: tuple[tuple[int, float], ...]
    named: Mapping[int, float]


class Postings:
    """A subject's notes, ready to be asked: built once per subject and revision.

    What a word weighs is kept once it was asked for; several threads may ask at once.
    """

    def __init__(self, candidates: Sequence[Candidate], table: WordTable | None = None) -> None:
        self.notes = tuple(candidate.note for candidate in candidates)
        self._pinned = [i for i, note in enumerate(self.notes) if note.pinned]
        self._days = [(i, day) for i, note in enumerate(self.notes) for day in days_in(note.fact)]
        self._may_be_quiet = [i for i, note in enumerate(self.notes) if note.is_quiet(END_OF_TIME)]
        self._table, self._index = table, WordIndex(table)
        facts = [_words(" ".join((one.fact, *one.topics, *one.asked_with))) for one in self.notes]
        summaries = dict(episode for candidate in candidates for episode in candidate.episodes)
        episodes = {key: _words(text) for key, text in summaries.items()}
        # notes of the same episodes are a group: what surrounds them is weighed once for all of them
        keys = [tuple(key for key, _ in candidate.episodes) for candidate in candidates]
        groups = {key: group for group, key in enumerate(dict.fromkeys(keys))}
        self._group_of = [groups[key] for key in keys]
        near: dict[int, list[int]] = defaultdict(list)
        for episode_ids, group in groups.items():
            for key in episode_ids:
                near[key].append(group)
        beside = [[group for key in of_note for group in near[key]] for of_note in keys]
        usual = sum(map(len, facts)) / max(1, len(facts))
        own = [_share(len(fact), usual, FACT) for fact in facts]
        about = self._around(list(episodes.values()), [near[key] for key in episodes], SUMMARIES)
        self._counts: list[tuple[int | None, float, tuple[tuple[int, float], ...]]] = [
            *zip(range(len(facts)), own, self._around(facts, beside, FACTS_AROUND), strict=True),
            *((None, 0.0, around) for around in about),
        ]
        """For each text: the note whose own words these are and how much one counts for it, and the groups that it
        surrounds with how much one counts for them."""
        for place, text in enumerate((*facts, *episodes.values())):
            self._index.add(place, text, spelling=place < len(facts))
        self._weights: dict[tuple[str, bool], _Weights] = {}
        self._meanings = (
            Meanings(table, [table.numbers(_words(note.fact)) for note in self.notes])
            if table
            else None
        )
        self._times: tuple[list[bool], list[bool]] | None = None

    def _around(
        self, texts: Sequence[Sequence[str]], surrounds: Sequence[Sequence[int]], weight: float
    ) -> list[tuple[tuple[int, float], ...]]:
        """For each text the groups that it surrounds, twice where it does so by two episodes, and a word's share."""
        lengths = [0] * (max(self._group_of, default=-1) + 1)
        for text, groups in zip(texts, surrounds, strict=True):
            for group in groups:
                lengths[group] += len(text)
        usual = sum(lengths[group] for group in self._group_of) / max(1, len(self._group_of))
        shares = [_share(length, usual, weight) for length in lengths]
        return [tuple((group, shares[group]) for group in groups) for groups in surrounds]

    def ranked(
        self,
        query: Query,
        *,
        now: int,
        limit: int,
        padded: int | None = None,
        opens: Callable[[Note], bool] = lambda _: True,
    ) -> list[Recalled]:
        """The best notes in order, at most `limit` of those that `opens` lets through.

        `padded`: those that share little or nothing with what is asked fill up to so many; None: to the limit.
        """
        lexical, named = self._lexical(query.words)
        scores = of_best(lexical)
        if (
            self._meanings and self._table and query.telling
        ):  # the message itself, without what counts little
            cosines = self._meanings.cosines(
                self._table.numbers(dict.fromkeys(map(stem, query.telling)))
            )
            # one person's notes are all a little alike: what is nearer than usual tells them apart
            usual = sum(cosines) / max(1, len(cosines))
            differences = [max(cosine - usual, 0.0) for cosine in cosines]
            most = max([WHOLE_NEARNESS, *differences])
            nearer = [difference / most for difference in differences]
            scores = [
                score + MEANING_SHARE * near for score, near in zip(scores, nearer, strict=True)
            ]
        if query.time:
            scores = list(map(float.__add__, scores, self._reading(query)))
        ordered = self._ordered(scores, named, query, now)
        if query.newest:
            ordered = iter(sorted(ordered, key=self._said_last, reverse=True))
        best = list(islice((i for i in ordered if opens(self.notes[i])), max(limit, 0)))
        most = limit if padded is None else padded
        least = LEAST_OF_BEST * max((scores[i] for i in best), default=0.0)
        fitting = [i for i in best[most:] if scores[i] >= max(least, _ANY) or self.notes[i].pinned]
        best = best[:most] + fitting
        return [
            Recalled(self.notes[i], round(scores[i], 6), asked_for=named.get(i, 0.0) >= NAMED)
            for i in best
        ]

    def _ordered(
        self, scores: Sequence[float], named: Container[int], query: Query, now: int
    ) -> Iterator[int]:
        """The notes that may be offered, best first. Only those that score alike are sorted by freshness."""
        places = list(scores)
        for i in self._pinned:
            places[i] += PINNED
        today = day_of(now, query.zone)
        for i in {i for i, day in self._days if day.is_soon(today)}:
            places[i] += SOON
        quiet = {i for i in self._may_be_quiet if self.notes[i].is_quiet(now)}
        asked = {i for i in quiet if i in named or self._fit_of_day(i, query) == 1}
        # over, and not kept as past: the daily sweep has not come to it yet
        ended = {
            i for i in quiet if self.notes[i].is_over(now) and not self.notes[i].is_past_when_over
        }
        left_out = {i for i in quiet if i not in asked} | ended
        offered = [i for i in range(len(self.notes)) if i not in left_out]
        offered.sort(key=places.__getitem__, reverse=True)
        for _, alike in groupby(offered, key=places.__getitem__):
            yield from sorted(alike, key=lambda i: (-freshness(self.notes[i], now), i))

    def _said_last(self, place: int) -> int:
        return self.notes[place].last_confirmed_at

    def _lexical(self, asked: Mapping[str, float]) -> tuple[list[float], dict[int, float]]:
        """The score of each note by words, and how far each note has a word of its own that is asked for."""
        by_stem: dict[str, tuple[float, str]] = {}
        for word, weight in asked.items():
            by_stem[stem(word)] = max((weight, word), by_stem.get(stem(word), (0.0, "")))
        scores = [0.0] * len(self.notes)
        around: dict[int, float] = defaultdict(float)
        named: dict[int, float] = {}
        for weight, word in by_stem.values():
            term = word, weight >= 1
            weights = self._weights.get(term) or self._weights.setdefault(
                term, self._weighed(*term)
            )
            for note, added in weights.own:
                scores[note] += weight * added
            for group, near in weights.around:
                around[group] += weight * near
            for note, as_much in weights.named.items() if weight >= 1 else ():
                named[note] = max(as_much, named.get(note, 0.0))
        return [
            score + around[group] for score, group in zip(scores, self._group_of, strict=True)
        ], named

    def _weighed(self, word: str, spelling: bool) -> _Weights:  # noqa: FBT001  # a term's second part
        """What a word weighs. How rare it is counts over what the notes say themselves."""
        own: dict[int, float] = {}
        around: dict[int, float] = {}
        most: dict[int, float] = {}
        like = self._index.like(word, spelling=spelling)
        for one, as_much in like.items():
            for place in self._index.places(one):
                note, share, groups = self._counts[place]
                if note is not None:
                    own[note] = own.get(note, 0.0) + as_much * share
                    most[note] = max(most.get(note, 0.0), as_much)
                for group, share in groups:
                    around[group] = around.get(group, 0.0) + as_much * share
        having = sum(most.values())
        rarity = math.log(1 + (len(self.notes) - having + 0.5) / (having + 0.5))
        added = []
        for note, its_own in own.items():
            near = around.get(self._group_of[note], 0.0)
            # what its own words add to what the texts around it say already
            added.append(
                (note, rarity * ((near + its_own) / (K1 + near + its_own) - near / (K1 + near)))
            )
        return _Weights(
            tuple(added),
            tuple((group, rarity * near / (K1 + near)) for group, near in around.items()),
            most,
        )

    def _fit_of_day(self, place: int, query: Query) -> float:
        """Return how well the day on which a note was said fits the times that are asked for."""
        if not query.time.periods:
            return 0.0
        return query.time.fits(day_of(self.notes[place].last_confirmed_at, query.zone))

    def _reading(self, query: Query) -> list[float]:
        """What each note adds by what it says about the time that is asked for."""
        if self._times is None:
            facts = [note.fact for note in self.notes]
            self._times = (
                [states_time(fact) for fact in facts],
                [states_duration(fact) for fact in facts],
            )
        time = query.time
        return [
            FITS_DATE * self._fit_of_day(place, query)
            + TELLS_TIME * (time.when and tells)
            + TELLS_DURATION * (time.how_long and lasts)
            for place, (tells, lasts) in enumerate(zip(*self._times, strict=True))
        ]


def freshness(note: Note, now: int) -> float:
    """Confidence, halved after a week: for padding and ties. A date in the future counts as now."""
    return note.confidence / (1 + max(now - note.last_confirmed_at, 0) / WEEK)


def of_best(scores: Sequence[float]) -> list[float]:
    """What part of the best score each one is."""
    best = max(scores, default=0.0)
    return [score / best for score in scores] if best > 0 else [0.0] * len(scores)


def _share(length: int, usual: float, weight: float) -> float:
    """How much a word counts in a text of some length: in a long one less."""
    return weight / (1 - B + B * length / (usual or 1.0))


def _words(text: str) -> list[str]:
    return [word for word in words(text) if word not in STOPWORDS]
