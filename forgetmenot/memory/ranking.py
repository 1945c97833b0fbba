"""Which of a subject's notes fit what was just said. Pure: the notes and their surroundings come in, an order goes out.

A note's score is the sum of

- its BM25F score on words (`NoteIndex`), over its fact and tags, the subject's other notes of the same episode and the
  summary of that episode, divided by the best note's;
- .3 of how near its meaning is to the message's (`meaning`), where a word table is given, divided by the best;
- up to .5 for what it says about the time that is asked for (`text.dates`).

How rare a word is counts over what the notes themselves say. Pinned notes come first; what no word touches follows by
confidence and recency. A stale or past note is offered only where the message has a word of its own, or a near one.
It does not know what may be shown: the caller leaves out what must not be. docs/EVALUATION.md has what was measured.
"""

from collections import defaultdict
from collections.abc import (
    Callable,
    Collection,
    Container,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from itertools import groupby, islice
from operator import add
from typing import NamedTuple

from msgspec import Struct, field

from forgetmenot.domain import Note, Recalled
from forgetmenot.durations import WEEK
from forgetmenot.memory.lifetimes import becomes_past
from forgetmenot.memory.word_index import WordIndex, rarity
from forgetmenot.text.dates import (
    NO_TIME,
    AskedTime,
    Period,
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
    words,
)

# What a word counts in the query: of the category and the title, and small words of other languages.
LOW_WEIGHT = 0.3
# What a word counts by where it stands: in the fact, in the facts of the same episodes, in the summaries of those.
FACT = 1.0
FACTS_AROUND = 0.15
SUMMARIES = 0.3
# How slowly a repeated word stops counting (k1 of BM25).
K1 = 1.6
# How much less a word of a long text counts (b of BM25); facts are all about as short.
B = 0.3
MEANING_SHARE = 0.3
# What a note adds that was said on the day, that states a time, that states a duration, where one is asked for.
FITS_DATE = 0.5
TELLS_TIME = 0.15
TELLS_DURATION = 0.25
# What is added to the score of a pinned note: it stands above any other.
PINNED = 10.0
# What is added for a day of the coming week: more than for only meaning something like what is asked.
SOON = 0.3
# A time (ms) after the end of every note.
END_OF_TIME = 1 << 62
# How much nearer than usual (as a cosine) a note must be to count whole: where none is, meaning counts less.
WHOLE_NEARNESS = 0.3
# Of the best note's score, what a note must have to be offered: what answers is still there (docs/EVALUATION.md).
LEAST_OF_BEST = 0.25
# Less than any score of a note that shares something with the query.
_LEAST_SCORE = 1e-6
# How much a note's word must count as an asked one for the note to be asked for: a form of it, or one slip away.
NAMED = 0.9

_CATS_IN_FRENCH = frozenset(("chat", "chats"))
# Words that ask for what was said last, where nothing else is asked for: "what's new with me?"
_NEWEST = """new news newest latest lately recently update updates neu neues neuigkeiten zuletzt nuevo nueva novedades
    últimamente novo novidades ultimamente nouveau nouvelles neuf récemment"""
NEWEST = frozenset(words(_NEWEST))


class Query(Struct, frozen=True):
    """What a message asks for.

    `words`: the words asked for, with their weights. `time`: what is asked about time. `is_general`: nothing in
    particular is asked for, as by a greeting or "what do you know about me?". `newest`: what was said last is asked
    for, as by "what's new?"; then `is_general` is set too. `zone`: the time zone of the days that the message names.
    """

    words: Mapping[str, float] = field(default_factory=dict)
    time: AskedTime = NO_TIME
    is_general: bool = False
    newest: bool = False
    zone: str = ""

    @property
    def telling(self) -> list[str]:
        """Return the message's own words, without those that count little."""
        return [word for word, weight in self.words.items() if weight >= 1]


class Candidate(Struct, frozen=True):
    """A note with the summaries of its evidence episodes, each as (episode id, summary)."""

    note: Note
    episodes: tuple[tuple[int, str], ...] = ()


def query_of(
    text: str,
    *,
    context: str = "",
    names: Iterable[str] = (),
    zone: str = "",
) -> Query:
    """Return what a text asks for.

    The words of `context` (category, title) count less, those of `names` not at all. What counts less must stand in a
    note as it is: it matches no misspelling. Small words of other languages count less too: "hat", "son" and "van" are
    some.
    """
    typed_words = words(without_greeting(text)) + ideographs(text)
    small_words = foreign_stopwords_in(typed_words)
    ignored = _ignored_words(names, is_english=not small_words)
    weights = {word: LOW_WEIGHT for word in words(context) if word not in ignored}
    for word in typed_words:
        if word in ignored:
            continue
        is_small = word in small_words or is_hiragana(word)
        weights[word] = LOW_WEIGHT if is_small else 1.0
    telling = {word for word, weight in weights.items() if weight >= 1}
    if telling and telling <= NEWEST:
        return Query(is_general=True, newest=True, zone=zone)
    return Query(weights, asked_time(text), is_general=not telling, zone=zone)


def _ignored_words(names: Iterable[str], *, is_english: bool) -> set[str]:
    """Return the words that no query has: those of these names, small ones and filler."""
    filler = FILLER
    if not is_english:
        # "chat" is filler in English, and in a French question it is a cat
        filler = FILLER - _CATS_IN_FRENCH
    ignored = set(STOPWORDS | filler)
    for name in names:
        ignored.update(words(name))
    return ignored


class _WordWeights(NamedTuple):
    """What a word adds to scores.

    `own`: (place of a note, what is added to its score), for each note that has the word itself. `around`: (group,
    what is added to the score of each of its notes), by the texts around them. `shares`: for each note that has the
    word, how much the nearest of its own words counts as this one.
    """

    own: tuple[tuple[int, float], ...]
    around: tuple[tuple[int, float], ...]
    shares: Mapping[int, float]


class _IndexedText(NamedTuple):
    """A fact or a summary in the index.

    `note`: the place of the note whose fact it is, None for a summary. `weight`: what a word of it counts for that
    note. `groups`: (group that it surrounds, what a word of it counts for the notes of that group).
    """

    note: int | None
    weight: float
    groups: tuple[tuple[int, float], ...]


class NoteIndex:
    """The words of a subject's notes and of the texts around them, weighed as by BM25F.

    A note is named by its place in the list of candidates. Notes of the same episodes are a group: what the texts
    around them add is the same for all of them, so it is weighed once.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        facts: Sequence[Sequence[str]],
        table: WordTable | None,
    ) -> None:
        """Index notes. `facts`: the words of the fact of each, without small ones."""
        # what a word adds, kept once it was asked for; by the word, and whether spelling counts
        self._weights: dict[tuple[str, bool], _WordWeights] = {}
        self._words = WordIndex(table)
        # by place of a note: its group, which it shares with the notes of the same episodes
        self._group_of: list[int] = []
        # the texts in the order in which their words were added
        self._texts: list[_IndexedText] = []
        groups_with = self._form_groups(candidates)
        self._add_facts(candidates, facts, groups_with)
        self._add_summaries(candidates, groups_with)

    def scores(
        self, word_weights: Mapping[str, float]
    ) -> tuple[list[float], Mapping[int, float]]:
        """Return the score of each note by words, and how much the best of its own words counts as an asked one."""
        own_scores = [0.0] * len(self._group_of)
        around_scores: dict[int, float] = defaultdict(float)
        best_shares: dict[int, float] = {}
        for weight, word in _one_of_each_stem(word_weights):
            is_telling = weight >= 1
            weights = self._weights_of(word, spelling=is_telling)
            for place, added in weights.own:
                own_scores[place] += weight * added
            for group, added in weights.around:
                around_scores[group] += weight * added
            if not is_telling:
                continue
            for place, share in weights.shares.items():
                best_shares[place] = max(share, best_shares.get(place, 0.0))
        scores_of_groups = [around_scores[group] for group in self._group_of]
        return list(map(add, own_scores, scores_of_groups)), best_shares

    def _weights_of(self, word: str, *, spelling: bool) -> _WordWeights:
        """Return what a word adds to scores; kept, because the same words are asked for again and again."""
        weights = self._weights.get((word, spelling))
        if weights is None:
            weights = self._weigh(word, spelling=spelling)
            self._weights[word, spelling] = weights
        return weights

    def _weigh(self, word: str, *, spelling: bool) -> _WordWeights:
        """Return what a word adds to scores (BM25F), as far as the index has it or a word like it."""
        # how often each note has the word, and how often the texts around each group have it
        own_counts: dict[int, float] = defaultdict(float)
        around_counts: dict[int, float] = defaultdict(float)
        shares: dict[int, float] = {}
        for similar_word, share in self._words.like(word, spelling=spelling).items():
            for text_place in self._words.places(similar_word):
                text = self._texts[text_place]
                if text.note is not None:
                    own_counts[text.note] += share * text.weight
                    shares[text.note] = max(shares.get(text.note, 0.0), share)
                for group, weight in text.groups:
                    around_counts[group] += share * weight
        # How many notes say it themselves; one that has only a near word counts as a part of a note.
        note_count = sum(shares.values())
        word_rarity = rarity(note_count, len(self._group_of))
        added_by_own = []
        for note, own_count in own_counts.items():
            around_count = around_counts.get(self._group_of[note], 0.0)
            # what its own words add to what the texts around it say already
            added = _saturated(around_count + own_count) - _saturated(around_count)
            added_by_own.append((note, word_rarity * added))
        added_by_around = []
        for group, around_count in around_counts.items():
            # multiplied first: the order of the factors decides the last digit of a score
            added = word_rarity * around_count / (K1 + around_count)
            added_by_around.append((group, added))
        return _WordWeights(tuple(added_by_own), tuple(added_by_around), shares)

    def _form_groups(self, candidates: Sequence[Candidate]) -> dict[int, list[int]]:
        """Put notes of the same episodes into one group, and return the groups that come from each episode."""
        group_of_episodes: dict[tuple[int, ...], int] = {}
        groups_with: dict[int, list[int]] = defaultdict(list)
        for candidate in candidates:
            episode_ids = tuple(episode_id for episode_id, _ in candidate.episodes)
            group = group_of_episodes.get(episode_ids)
            if group is None:
                group = len(group_of_episodes)
                group_of_episodes[episode_ids] = group
                for episode_id in episode_ids:
                    groups_with[episode_id].append(group)
            self._group_of.append(group)
        return groups_with

    def _add_facts(
        self,
        candidates: Sequence[Candidate],
        facts: Sequence[Sequence[str]],
        groups_with: Mapping[int, Sequence[int]],
    ) -> None:
        """Index the words of each note. They surround all notes that share an episode with it."""
        searched_words = []
        for candidate, fact in zip(candidates, facts, strict=True):
            searched_words.append([*fact, *_words_beside(candidate.note)])
        groups_beside: list[list[int]] = []
        for candidate in candidates:
            # a group that shares two episodes with the note stands here twice, and counts twice
            groups: list[int] = []
            for episode_id, _ in candidate.episodes:
                groups += groups_with[episode_id]
            groups_beside.append(groups)
        group_weights = self._group_weights(searched_words, groups_beside, FACTS_AROUND)
        word_count = sum(map(len, searched_words))
        usual_length = word_count / max(1, len(searched_words))
        for place, note_words in enumerate(searched_words):
            weight = _weight_of_length(len(note_words), usual_length, FACT)
            around = [(group, group_weights[group]) for group in groups_beside[place]]
            self._texts.append(_IndexedText(place, weight, tuple(around)))
            self._words.add(place, note_words, spelling=True)

    def _add_summaries(
        self,
        candidates: Sequence[Candidate],
        groups_with: Mapping[int, Sequence[int]],
    ) -> None:
        """Index the summary of each episode. It surrounds the notes that come from the episode."""
        summary_of: dict[int, str] = {}
        for candidate in candidates:
            summary_of.update(candidate.episodes)
        summaries = [_without_stopwords(summary) for summary in summary_of.values()]
        groups_about = [groups_with[episode_id] for episode_id in summary_of]
        group_weights = self._group_weights(summaries, groups_about, SUMMARIES)
        for summary, groups in zip(summaries, groups_about, strict=True):
            around = [(group, group_weights[group]) for group in groups]
            self._words.add(len(self._texts), summary)
            self._texts.append(_IndexedText(None, 0.0, tuple(around)))

    def _group_weights(
        self,
        texts: Sequence[Sequence[str]],
        groups_of_texts: Sequence[Sequence[int]],
        weight: float,
    ) -> list[float]:
        """Return for each group what a word of the texts around it counts for its notes.

        `groups_of_texts`: the groups that each text surrounds. All texts around a group count as one long text.
        """
        group_count = max(self._group_of, default=-1) + 1
        lengths = [0] * group_count
        for text, groups in zip(texts, groups_of_texts, strict=True):
            for group in groups:
                lengths[group] += len(text)
        # the mean over notes, not over groups
        total_length = sum(lengths[group] for group in self._group_of)
        usual_length = total_length / max(1, len(self._group_of))
        return [_weight_of_length(length, usual_length, weight) for length in lengths]


class Postings:
    """A subject's notes, ready to be asked: built once per subject and revision. Several threads may ask at once.

    A note is named by its place in `notes`.
    """

    def __init__(
        self, candidates: Sequence[Candidate], table: WordTable | None = None
    ) -> None:
        self.notes = tuple(candidate.note for candidate in candidates)
        facts = [_without_stopwords(note.fact) for note in self.notes]
        self._index = NoteIndex(candidates, facts, table)
        self._pinned = [place for place, note in enumerate(self.notes) if note.pinned]
        # the notes that are inactive, or will be at the end of their time
        self._may_be_inactive: list[int] = []
        # (note, a day that its fact names)
        self._days: list[tuple[int, Period]] = []
        for place, note in enumerate(self.notes):
            if note.is_inactive(END_OF_TIME):
                self._may_be_inactive.append(place)
            for day in days_in(note.fact):
                self._days.append((place, day))

        self._table = table
        self._meanings = None
        if table is not None:
            self._meanings = Meanings(table, [table.numbers(fact) for fact in facts])
        # by note: whether it states a time, and a duration; read when the first question about time comes
        self._times: list[tuple[bool, bool]] | None = None

    def ranked(
        self,
        query: Query,
        *,
        now: int,
        limit: int,
        padded_to: int | None = None,
        may_be_shown: Callable[[Note], bool] = lambda _note: True,
    ) -> list[Recalled]:
        """Return the notes that fit a query, best first, at most `limit` of those that may be shown.

        `padded_to`: notes that share little or nothing with what is asked fill up to this number; None: to the limit.
        `now` in ms.
        """
        word_scores, shares = self._index.scores(query.words)
        scores = of_best(word_scores)
        if query.telling:
            scores = self._with_meaning(scores, query)
        if query.time:
            time_scores = self._time_scores(query)
            scores = list(map(add, scores, time_scores))
        ordered: Iterable[int] = self._ordered(scores, shares, query, now)
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
            asked_for = shares.get(place, 0.0) >= NAMED
            recalled.append(Recalled(note, score, asked_for=asked_for))
        return recalled

    def _with_meaning(self, scores: Sequence[float], query: Query) -> list[float]:
        """Return the scores with what each note adds by its meaning; without a table, as they are."""
        if self._table is None or self._meanings is None:
            return list(scores)
        # the message itself, without what counts little
        stems = dict.fromkeys(map(stem, query.telling))
        cosines = self._meanings.cosines(self._table.numbers(stems))
        # One person's notes are all a little alike: what is nearer than usual tells them apart.
        usual = sum(cosines) / max(1, len(cosines))
        differences = [max(cosine - usual, 0.0) for cosine in cosines]
        largest = max([WHOLE_NEARNESS, *differences])
        meaning_scores = [
            MEANING_SHARE * (difference / largest) for difference in differences
        ]
        return list(map(add, scores, meaning_scores))

    def _without_padding(
        self,
        best: Sequence[int],
        scores: Sequence[float],
        padded_to: int,
    ) -> list[int]:
        """Return the first `padded_to` notes, and of those after them the ones that fit what is asked or are pinned."""
        best_score = max([scores[place] for place in best], default=0.0)
        least = max(LEAST_OF_BEST * best_score, _LEAST_SCORE)
        offered = list(best[:padded_to])
        for place in best[padded_to:]:
            if scores[place] >= least or self.notes[place].pinned:
                offered.append(place)
        return offered

    def _ordered(
        self,
        scores: Sequence[float],
        shares: Container[int],
        query: Query,
        now: int,
    ) -> Iterator[int]:
        """Yield the notes that may be offered, best first. Of those that score alike the freshest come first."""
        ranks = list(scores)
        for place in self._pinned:
            ranks[place] += PINNED
        today = day_of(now, query.zone)
        # a set: a note that names two days of the coming week is raised once
        soon = {place for place, day in self._days if day.is_soon(today)}
        for place in soon:
            ranks[place] += SOON
        unoffered = self._unoffered(shares, query, now)
        offered = [place for place in range(len(self.notes)) if place not in unoffered]

        def freshest_first(place: int) -> tuple[float, int]:
            return -freshness(self.notes[place], now), place

        offered.sort(key=ranks.__getitem__, reverse=True)
        # freshness is worked out for one rank after the other: most callers take only the first notes
        for _rank, places in groupby(offered, key=ranks.__getitem__):
            yield from sorted(places, key=freshest_first)

    def _unoffered(
        self,
        shares: Container[int],
        query: Query,
        now: int,
    ) -> set[int]:
        """Return the notes that are stale or past and were not asked for, and those that are over.

        A note is asked for by a word of its own, or by the very day on which it was said.
        """
        unoffered = set()
        for place in self._may_be_inactive:
            note = self.notes[place]
            if not note.is_inactive(now):
                continue
            # over, and not kept as past: the daily sweep has not come to it yet
            is_unswept = note.is_over(now) and not becomes_past(note)
            is_asked_for = place in shares or self._fit_of_day(place, query) == 1
            if is_unswept or not is_asked_for:
                unoffered.add(place)
        return unoffered

    def _last_confirmed_at(self, place: int) -> int:
        return self.notes[place].last_confirmed_at

    def _fit_of_day(self, place: int, query: Query) -> float:
        """Return how well the day on which a note was said fits the times that are asked for (0 to 1)."""
        if not query.time.periods:
            return 0.0
        return query.time.fits(day_of(self.notes[place].last_confirmed_at, query.zone))

    def _time_scores(self, query: Query) -> list[float]:
        """Return what is added to the score of each note for the time that is asked for."""
        if self._times is None:
            facts = [note.fact for note in self.notes]
            self._times = [(states_time(fact), states_duration(fact)) for fact in facts]
        scores = []
        for place, (has_time, has_duration) in enumerate(self._times):
            score = FITS_DATE * self._fit_of_day(place, query)
            if query.time.when and has_time:
                score += TELLS_TIME
            if query.time.how_long and has_duration:
                score += TELLS_DURATION
            scores.append(score)
        return scores


def _one_of_each_stem(
    word_weights: Mapping[str, float],
) -> list[tuple[float, str]]:
    """Return (weight, word) of a query: of words with the same stem only the one that weighs most."""
    heaviest: dict[str, tuple[float, str]] = {}
    for word, weight in word_weights.items():
        word_stem = stem(word)
        known = heaviest.get(word_stem, (0.0, ""))
        heaviest[word_stem] = max((weight, word), known)
    return list(heaviest.values())


def _saturated(count: float) -> float:
    """Return what a word counts that stands somewhere this often (0 to 1): each repeat adds less."""
    return count / (K1 + count)


def freshness(note: Note, now: int) -> float:
    """Return the confidence of a note, half of it a week after it was confirmed: for padding and ties.

    A date in the future counts as now.
    """
    age = max(now - note.last_confirmed_at, 0)
    return note.confidence / (1 + age / WEEK)


def of_best(scores: Collection[float]) -> list[float]:
    """Return each score as a part of the best one; all 0 if none is above 0."""
    best = max(scores, default=0.0)
    if best <= 0:
        return [0.0] * len(scores)
    return [score / best for score in scores]


def _weight_of_length(
    length: int,
    usual_length: float,
    weight: float,
) -> float:
    """Return what a word counts in a text of some length (in words): less in a long one, `weight` in a usual one."""
    relative_length = B * length / (usual_length or 1.0)
    return weight / (1 - B + relative_length)


def _words_beside(note: Note) -> list[str]:
    """Return the words by which a note is found that are not in its fact."""
    if not note.topics and not note.asked_with:
        return []
    return _without_stopwords(" ".join((*note.topics, *note.asked_with)))


def _without_stopwords(text: str) -> list[str]:
    """Return the words of a text that tell something, in order and with repeats."""
    return [word for word in words(text) if word not in STOPWORDS]
