"""Which of a subject's notes fit what was just said. Pure: the notes and their surroundings come in, an order goes out.

A note's score is the sum of

- its score on words (memory/note_index), divided by the best note's;
- .3 of how near its meaning is to the message's (`text.meaning`), where a word table is given, divided by the best;
- up to .5 for what it says about the time that is asked for (`text.dates`).

Pinned notes come first. Notes without any word of the message follow by confidence and recency. A stale or past note
is offered only if the message has a word of it, or a similar one. The caller leaves out notes that must not be shown.
docs/EVALUATION.md has the measurements.
"""

from collections.abc import (
    Callable,
    Collection,
    Container,
    Iterable,
    Iterator,
    Sequence,
)
from itertools import groupby, islice
from operator import add

from forgetmenot.domain import Note, Recalled
from forgetmenot.durations import WEEK
from forgetmenot.memory.lifetimes import becomes_past
from forgetmenot.memory.note_index import Candidate, NoteIndex, without_stopwords
from forgetmenot.memory.query import Query
from forgetmenot.text.dates import Period, days_in, states_duration, states_time
from forgetmenot.text.days import day_of
from forgetmenot.text.meaning import Meanings, WordTable
from forgetmenot.text.words import stem

MEANING_SHARE = 0.3
# What is added to a note's score if the message asks about time, and the note was said on the asked day, states a time,
# or states a duration.
FITS_DATE = 0.5
TELLS_TIME = 0.15
TELLS_DURATION = 0.25
# What is added to the score of a pinned note: it stands above any other.
PINNED = 10.0
# What is added for a day of the coming week, whatever is asked. A near meaning adds no more than this.
SOON = 0.3
# A time (ms) after the end of every note.
END_OF_TIME = 1 << 62
# How much nearer than usual (as a cosine) a note must be to get all of MEANING_SHARE.
FULL_DIFFERENCE = 0.3
# A note needs this part of the best note's score to be offered. Measured: the notes that answer have more
# (docs/EVALUATION.md).
LEAST_OF_BEST = 0.25
# Less than any score of a note that shares something with the query.
_LEAST_SCORE = 1e-6
# A note is asked for by name if one of its words counts this much as an asked one: a form of it, or one slip away.
ASKED_FOR_SHARE = 0.9


class Postings:
    """A subject's notes, indexed for queries. They never change, so several threads may ask at once.

    Inside, a note is meant by its place in `notes`.
    """

    def __init__(
        self, candidates: Sequence[Candidate], table: WordTable | None = None
    ) -> None:
        self.notes = tuple(candidate.note for candidate in candidates)
        facts = [without_stopwords(note.fact) for note in self.notes]
        self._index = NoteIndex(candidates, facts, table)
        self._pinned: list[int] = []
        # the notes that are inactive, or will be at the end of their time
        self._may_be_inactive: list[int] = []
        # (note, a day that its fact names)
        self._days: list[tuple[int, Period]] = []
        for place, note in enumerate(self.notes):
            if note.pinned:
                self._pinned.append(place)
            if note.is_inactive(END_OF_TIME):
                self._may_be_inactive.append(place)
            for day in days_in(note.fact):
                self._days.append((place, day))

        self._table = table
        self._meanings: Meanings | None = None
        if table is not None:
            numbers_of_facts = [table.numbers(fact) for fact in facts]
            self._meanings = Meanings(table, numbers_of_facts)
        # by note: whether it states a time, and a duration; read when the first question about time comes
        self._times: list[tuple[bool, bool]] | None = None

    def is_ready(self, query: Query | None = None) -> bool:
        """Return whether a query is answered at once, without `make_ready`; None: any query."""
        if self._meanings is None or self._meanings.are_made:
            return True
        return query is not None and not self._asked_numbers(query)

    def make_ready(self, query: Query | None = None) -> None:
        """Make what a query needs and others may not need; None: what any query may need.

        What its words add to scores is cached, so that a first question is not weighed on the event loop.
        """
        if self._meanings is not None and not self.is_ready(query):
            self._meanings.make()
        if query is not None:
            self._index.scores(query.words)

    def ranked(
        self,
        query: Query,
        *,
        now: int,
        limit: int,
        padded_to: int | None = None,
        only_if_asked_for: bool = False,
        may_be_shown: Callable[[Note], bool] = lambda _note: True,
    ) -> list[Recalled]:
        """Return the notes that fit a query and may be shown, best first, at most `limit`.

        If fewer than `padded_to` notes fit, others fill the list up to this number; None: up to the limit. `now` in ms.
        `only_if_asked_for`: none is returned if no note has a word of the query.
        """
        word_scores, shares = self._index.scores(query.words)
        best_share = max(shares.values(), default=0.0)
        if only_if_asked_for and best_share < ASKED_FOR_SHARE:
            return []
        scores = self._scores(word_scores, query)
        ranks = self._ranks(scores, query, now)
        candidates = self._candidates(shares, query, now)
        if padded_to == 0:
            # nothing fills the list up, so notes that share nothing with the query need no order
            candidates = [place for place in candidates if ranks[place] >= _LEAST_SCORE]
        ordered: Iterable[int] = self._ordered(candidates, ranks, now)
        if query.newest:
            # sorting is stable: of notes confirmed at the same time the better one stays first
            ordered = sorted(ordered, key=self._last_confirmed_at, reverse=True)
        # lazily: whether a note may be shown is asked only until there are enough
        visible = (place for place in ordered if may_be_shown(self.notes[place]))
        best = list(islice(visible, max(limit, 0)))
        if padded_to is not None:
            best = self._without_padding(best, scores, padded_to)
        recalled = []
        for place in best:
            note = self.notes[place]
            score = round(scores[place], 6)
            asked_for = shares.get(place, 0.0) >= ASKED_FOR_SHARE
            recalled.append(Recalled(note, score, asked_for=asked_for))
        return recalled

    def _scores(self, word_scores: Sequence[float], query: Query) -> list[float]:
        """Return the score of each note by its words, its meaning and the time that is asked for."""
        scores = relative_to_best(word_scores)
        if query.telling:
            meaning_scores = self._meaning_scores(query)
            scores = list(map(add, scores, meaning_scores))
        if query.time:
            time_scores = self._time_scores(query)
            scores = list(map(add, scores, time_scores))
        return scores

    def _meaning_scores(self, query: Query) -> list[float]:
        """Return how much its meaning adds to the score of each note; all 0 if the table has no word of the query."""
        asked_numbers = self._asked_numbers(query)
        if self._meanings is None or not asked_numbers:
            return [0.0] * len(self.notes)
        cosines = self._meanings.cosines(asked_numbers)
        # One person's notes are all a little alike, so only what is nearer than the mean tells them apart.
        count = max(1, len(cosines))
        mean_cosine = sum(cosines) / count
        differences = [max(cosine - mean_cosine, 0.0) for cosine in cosines]
        largest = max(differences, default=0.0)
        # The nearest note gets all of MEANING_SHARE, or a part of it where no note is much nearer than the others.
        full_difference = max(largest, FULL_DIFFERENCE)
        scores = []
        for difference in differences:
            scores.append(MEANING_SHARE * (difference / full_difference))
        return scores

    def _asked_numbers(self, query: Query) -> list[int]:
        """Return the numbers in the word table of what a query asks; none without a table."""
        if self._table is None:
            return []
        # the message's own words, without those of its context (category, title)
        asked_stems = dict.fromkeys(map(stem, query.telling))
        return self._table.numbers(asked_stems)

    def _without_padding(
        self,
        best: Sequence[int],
        scores: Sequence[float],
        padded_to: int,
    ) -> list[int]:
        """Return the first `padded_to` notes, and of the others those that fit the query or are pinned."""
        best_score = max([scores[place] for place in best], default=0.0)
        least = max(LEAST_OF_BEST * best_score, _LEAST_SCORE)
        offered = list(best[:padded_to])
        for place in best[padded_to:]:
            if scores[place] >= least or self.notes[place].pinned:
                offered.append(place)
        return offered

    def _candidates(
        self,
        shares: Container[int],
        query: Query,
        now: int,
    ) -> list[int]:
        """Return the notes that may be offered. `shares`: the notes that have a word of the query."""
        unoffered = self._unoffered(shares, query, now)
        all_places = range(len(self.notes))
        return [place for place in all_places if place not in unoffered]

    def _ordered(
        self,
        candidates: Iterable[int],
        ranks: Sequence[float],
        now: int,
    ) -> Iterator[int]:
        """Yield notes by their ranks, best first; of equal ones the freshest first."""
        best_first = sorted(candidates, key=ranks.__getitem__, reverse=True)

        def freshest_first(place: int) -> tuple[float, int]:
            """Return the sort key: the freshest note first, of equal ones the first of the list."""
            note_freshness = freshness(self.notes[place], now)
            return -note_freshness, place

        # freshness is computed rank by rank, because most callers take only the first notes
        for _rank, places in groupby(best_first, key=ranks.__getitem__):
            yield from sorted(places, key=freshest_first)

    def _ranks(
        self,
        scores: Sequence[float],
        query: Query,
        now: int,
    ) -> list[float]:
        """Return the scores, raised for pinned notes and for notes that name a day of the coming week."""
        ranks = list(scores)
        for place in self._pinned:
            ranks[place] += PINNED
        today = day_of(now, query.zone)
        # a set: a note that names two days of the coming week is raised once
        soon = {place for place, day in self._days if day.is_soon(today)}
        for place in soon:
            ranks[place] += SOON
        return ranks

    def _unoffered(
        self,
        shares: Container[int],
        query: Query,
        now: int,
    ) -> set[int]:
        """Return the notes that are over, and stale and past notes without anything that the query asks for.

        A note is asked for by one of its words, a similar word, or the day or month in which it was said. `shares`: the
        notes that have a word of the query.
        """
        unoffered = set()
        for place in self._may_be_inactive:
            note = self.notes[place]
            if not note.is_inactive(now):
                continue
            # it is over and will not be kept as past, but the daily sweep has not ended it yet
            is_unswept = note.is_over(now) and not becomes_past(note)
            # a fit below 1 means that it was only said soon after the asked time
            is_asked_for = place in shares or self._fit_of_day(place, query) == 1
            if is_unswept or not is_asked_for:
                unoffered.add(place)
        return unoffered

    def _last_confirmed_at(self, place: int) -> int:
        """Return when a note was said or confirmed last (ms)."""
        return self.notes[place].last_confirmed_at

    def _fit_of_day(self, place: int, query: Query) -> float:
        """Return how well the day on which a note was last confirmed fits the asked times (0 to 1)."""
        if not query.time.periods:
            return 0.0
        confirmed_on = day_of(self._last_confirmed_at(place), query.zone)
        return query.time.fits(confirmed_on)

    def _time_scores(self, query: Query) -> list[float]:
        """Return how much each note's score gains by what the query asks about time.

        The query may ask for a day ("yesterday"), on which the note was last confirmed, for a time ("when …?") or for a
        duration ("how long …?"), which its fact may state.
        """
        times = self._times
        if times is None:
            times = []
            for note in self.notes:
                times.append((states_time(note.fact), states_duration(note.fact)))
            # set only when it is complete, because another thread may read it meanwhile
            self._times = times
        scores = []
        for place, (has_time, has_duration) in enumerate(times):
            score = FITS_DATE * self._fit_of_day(place, query)
            if query.time.when and has_time:
                score += TELLS_TIME
            if query.time.how_long and has_duration:
                score += TELLS_DURATION
            scores.append(score)
        return scores


def freshness(note: Note, now: int) -> float:
    """Return the confidence of a note, halved a week after its last confirmation. It orders notes of equal score.

    A date in the future counts as now.
    """
    age = max(now - note.last_confirmed_at, 0)
    return note.confidence / (1 + age / WEEK)


def relative_to_best(scores: Collection[float]) -> list[float]:
    """Return each score divided by the best one; all 0 if none is above 0."""
    best = max(scores, default=0.0)
    if best <= 0:
        return [0.0] * len(scores)
    return [score / best for score in scores]
