"""Which of a subject's notes fit what was just said. Pure: the notes and their surroundings come in, an order goes out.

A note's score is the sum of

- half of its BM25F score on stems, over the fact, the words it is asked with, the subject's other notes of the same
  episode and the summary of that episode. A stem near in meaning to one that is asked for counts as a part of it;
- half of the same on trigrams, because chat is typos;
- 0.3 of how near its meaning is to the message's (`meaning`), where a word table is given;
- up to 0.5 for what it says about the time that is asked for (`text.dates`).

The first three are each divided by their best. How rare a word is counts over what the notes themselves say: their
surroundings are shared. A word never seen is replaced by the nearest known spelling, unless the table knows it. Pinned
notes come first; what no word touches follows by confidence and recency. A stale or past note is offered only where the
message shares a word with it, or a near one. docs/EVALUATION.md has what was measured.

It promises an order for any text. It does not know what may be shown: the caller leaves out what must not be.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from itertools import chain, groupby, islice

from forgetmenot.domain.memory import Note, Recalled
from forgetmenot.memory.inverted_index import BYTES_PER_TERM, FieldWeights, InvertedIndex, TextPlaces
from forgetmenot.memory.meaning import Meanings, WordTable
from forgetmenot.text.dates import NO_TIME, TimeAsked, tells_duration, tells_time, time_asked
from forgetmenot.text.words import STOPWORDS, small_words, stem, trigrams, words

DAY_MS = 86_400_000
LOW_WEIGHT = 0.3  # of the category and the title in the query
NEAREST_KEPT = 1_000
NEAR_ENOUGH = 0.4  # Jaccard similarity of trigrams, for a word that was never seen
STEM_FIELDS = (1.0, 0.6, 0.15, 0.3)  # fact, asked with, all notes of its episodes, their summaries
TRIGRAM_FIELDS = (1.0, 0.6, 0.15, 0.2)
STEM_SHARE, TRIGRAM_SHARE, MEANING_SHARE = 0.5, 0.5, 0.3
FITS_DATE, TELLS_TIME, TELLS_DURATION = 0.5, 0.15, 0.25
LOOKED_AT = 3  # of the best notes, for what they cover of the question
COVERED_SHARE = 0.45  # of the fit; the rest is how near the best note's meaning is
FITS = 0.3  # nine of ten questions that have an answer fit better: docs/EVALUATION.md
PINNED = 10.0  # above any score

# Words of chat and of questions that say nothing about what is asked for.
_FILLER = """hey hi hello yo lol lmao lul kekw omg btw tbh imo thanks thx yeah yep nope nah hmm uh um actually maybe
    know remember tell think talk anything something everything thing stuff chat bot guys dude bro man"""
FILLER = frozenset(_FILLER.split())


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked for: words with their weights, and what is asked about time."""

    words: Mapping[str, float] = field(default_factory=dict)
    time: TimeAsked = NO_TIME
    text: str = ""

    @property
    def says_something(self) -> bool:
        """Whether the message itself has a word to look for."""
        return any(weight >= 1 for weight in self.words.values())


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note with the summaries of its evidence episodes."""

    note: Note
    episodes: tuple[tuple[int, str], ...] = ()


def query_of(text: str, *, low: str = "", without: Iterable[str] = ()) -> Query:
    """What a text asks for; the words of `low` (category, title) count less, those of `without` (names) not at all.

    What counts less must be said as it is: it matches no misspelling. Small words of other languages count less too:
    "hat", "son" and "van" are some.
    """
    said = words(text)
    small = small_words(said)
    ignored = {word for name in without for word in words(name)} | STOPWORDS | FILLER
    weights = {word: LOW_WEIGHT for word in words(low) if word not in ignored}
    weights.update({word: LOW_WEIGHT if word in small else 1.0 for word in said if word not in ignored})
    return Query(weights, time_asked(text), text)


_NUMERALS = {"ii": "2", "iii": "3", "iv": "4", "v": "5", "vi": "6", "vii": "7", "viii": "8", "ix": "9", "x": "10"}


def short_names(title: str) -> tuple[str, ...]:
    """What people call a game for short: "Grand Theft Auto V" is "gta", "gtav" and "gta5". Two words are too few."""
    named = words(title)
    number = named.pop() if len(named) > 1 and (named[-1] in _NUMERALS or named[-1].isdecimal()) else ""
    if len(named) < 3:
        return ()
    initials = "".join(word[0] for word in named)
    return tuple(dict.fromkeys((initials, f"{initials}{number}", f"{initials}{_NUMERALS.get(number, number)}")))


class Found(list[Recalled]):
    """The best notes in order. `fit`: how well they answer what was asked, from 0 to 1; 1 where nothing was asked."""

    def __init__(self, notes: Iterable[Recalled] = (), *, fit: float = 1.0) -> None:
        super().__init__(notes)
        self.fit = fit

    @property
    def fits(self) -> bool:
        """Whether they may answer it. False: say that nothing is known about it, whatever else the notes tell."""
        return self.fit >= FITS


class Postings:
    """A subject's notes, ready to be asked: built once per subject and revision, asked in a millisecond.

    What a term weighs is worked out when it is first asked for, and kept: one thread at a time may ask.
    """

    def __init__(self, candidates: Sequence[Candidate], table: WordTable | None = None) -> None:
        self.notes = tuple(candidate.note for candidate in candidates)
        self._table = table
        facts = [_words(candidate.note.fact) for candidate in candidates]
        asked = [_words(" ".join((*candidate.note.topics, *candidate.note.asked_with))) for candidate in candidates]
        summaries = dict(episode for candidate in candidates for episode in candidate.episodes)
        episodes = {key: _words(text) for key, text in summaries.items()}
        texts = [*facts, *asked, *episodes.values()]
        self._index = index = InvertedIndex(texts, table)
        layout = TextPlaces([tuple(key for key, _ in candidate.episodes) for candidate in candidates], list(episodes))
        letters = [sum(map(len, text)) for text in texts]  # a word has as many trigrams as letters
        self._stems = FieldWeights(layout, index, index.like_stem, [len(text) for text in texts], STEM_FIELDS)
        self._trigrams = FieldWeights(layout, index, index.like_trigram, letters, TRIGRAM_FIELDS)
        self._meanings = Meanings(table, [table.numbers(fact) for fact in facts]) if table else None
        self._times: tuple[list[bool], list[bool]] | None = None
        self._nearest = lru_cache(NEAREST_KEPT)(partial(_nearest, index))  # chat repeats itself

    @property
    def size(self) -> int:
        """Roughly how many bytes it holds by now."""
        meanings = self._meanings.size if self._meanings else 0
        nearest = BYTES_PER_TERM * self._nearest.cache_info().currsize
        return self._index.size + self._stems.size + self._trigrams.size + meanings + nearest

    def ranked(
        self,
        query: Query,
        *,
        now: int,
        limit: int,
        opens: Callable[[Note], bool] = lambda _: True,
    ) -> Found:
        """The best notes in order, at most `limit` of those that `opens` lets through; expired ones left out."""
        asked = self._known(query.words)
        cosines = self._cosines(asked)
        scores = self._scores(asked, cosines)
        if query.time:
            scores = list(map(float.__add__, scores, self._reading(query.time)))
        shown = filter(lambda i: opens(self.notes[i]), self._ordered(scores, _telling(asked), now))
        best = list(islice(shown, max(limit, 0)))
        found = [Recalled(self.notes[i], round(scores[i], 6)) for i in best]
        return Found(found, fit=self._fit(asked, best, cosines))

    def _ordered(self, scores: Sequence[float], telling: Sequence[str], now: int) -> Iterator[int]:
        """The notes that may be offered, best first. Only those that score alike are sorted by freshness."""
        places = [score + PINNED * note.pinned for score, note in zip(scores, self.notes, strict=True)]
        quiet = [i for i, note in enumerate(self.notes) if note.is_quiet(now)]
        left_out = set(quiet)
        if quiet and telling:
            left_out -= {i for i in quiet if not _ended(self.notes[i], now) and self._says(i, telling)}
        alive = [i for i in range(len(self.notes)) if i not in left_out]
        alive.sort(key=places.__getitem__, reverse=True)
        for _, alike in groupby(alive, key=places.__getitem__):
            yield from sorted(alike, key=lambda i: (-freshness(self.notes[i], now), i))

    def _scores(self, asked: Mapping[str, float], cosines: Sequence[float]) -> list[float]:
        by_stem: dict[str, float] = {}
        by_trigram: dict[str, float] = {}
        for word, weight in asked.items():
            by_stem[stem(word)] = max(weight, by_stem.get(stem(word), 0.0))
            for gram in trigrams(word) if weight >= 1 else ():
                by_trigram[gram] = max(weight, by_trigram.get(gram, 0.0))
        # one person's notes are all a little alike: what is nearer than usual tells them apart
        usual = sum(cosines) / len(cosines) if cosines else 0.0  # of this subject's notes
        return fuse(
            len(self.notes),
            (STEM_SHARE, self._stems.scores(by_stem)),
            (TRIGRAM_SHARE, self._trigrams.scores(by_trigram)),
            (MEANING_SHARE, [max(cosine - usual, 0.0) for cosine in cosines]),
        )

    def _says(self, number: int, telling: Iterable[str]) -> bool:
        """Whether a note itself has one of these stems, or one that is near in meaning."""
        note = self.notes[number]
        own = set(_words(" ".join((note.fact, *note.topics, *note.asked_with))))
        return any(self._index.words[word] in own for one in telling for word, _ in self._index.like_stem(one))

    def _cosines(self, asked: Mapping[str, float]) -> list[float]:
        """How near each note is in meaning to the message itself, without what counts little."""
        telling = _telling(asked)
        if self._meanings is None or self._table is None or not telling or not self.notes:
            return []
        return self._meanings.cosines(self._table.numbers(telling))

    def _fit(self, asked: Mapping[str, float], best: Sequence[int], cosines: Sequence[float]) -> float:
        telling = _telling(asked)
        if not telling or self._table is None:
            return 1.0
        covered = self._stems.coverage(telling, best[:LOOKED_AT])
        return COVERED_SHARE * covered + (1 - COVERED_SHARE) * max(cosines[best[0]] if best and cosines else 0.0, 0.0)

    def _known(self, query: Mapping[str, float]) -> dict[str, float]:
        """The query with each word that was never seen replaced by the nearest one that was."""
        known: dict[str, float] = {}
        for word, weight in query.items():
            listed = self._table is not None and self._table.number(stem(word)) is not None
            found = word if weight < 1 or listed or self._index.with_stem(stem(word)) else self._nearest(word)
            known[found or word] = max(weight, known.get(found or word, 0.0))
        return known

    def _reading(self, time: TimeAsked) -> list[float]:
        """What each note adds by what it says about the time that is asked for."""
        if self._times is None:
            facts = [note.fact for note in self.notes]
            self._times = ([tells_time(fact) for fact in facts], [tells_duration(fact) for fact in facts])
        return [
            (FITS_DATE * time.fits(note.last_confirmed_at) if time.periods else 0.0)
            + TELLS_TIME * (time.when and tells)
            + TELLS_DURATION * (time.how_long and lasts)
            for note, tells, lasts in zip(self.notes, *self._times, strict=True)
        ]


def by_recency(notes: Iterable[Note], *, now: int, limit: int) -> list[Recalled]:
    """The plain sort that does not look at the question: for when recall has no time, or nothing was asked."""
    alive = (note for note in notes if not note.is_quiet(now))
    order = sorted(alive, key=lambda note: (not note.pinned, -freshness(note, now), -note.id))
    return [Recalled(note, 0.0) for note in order[: max(limit, 0)]]


def _ended(note: Note, now: int) -> bool:
    """Whether a note's time is over and it does not stay as a past one: the daily sweep has not come to it yet."""
    return note.is_over(now) and not note.is_past_when_over


def freshness(note: Note, now: int) -> float:
    """Confidence, halved after a week: for padding and ties. A date in the future counts as now."""
    return note.confidence / (1 + max(now - note.last_confirmed_at, 0) / DAY_MS / 7)


def fuse(count: int, *scored: tuple[float, Sequence[float]]) -> list[float]:
    """Several scorings of as many notes as one: of each its share, by what part of its best a note has."""
    fused = [0.0] * count
    for share, scores in scored:
        best = max(scores, default=0.0)
        if best > 0:
            fused = [so_far + share * score / best for so_far, score in zip(fused, scores, strict=True)]
    return fused


def _nearest(index: InvertedIndex, word: str) -> str | None:
    """The nearest known word by Jaccard similarity of trigrams, if it is near enough."""
    grams = trigrams(word)
    shared = Counter(chain.from_iterable(map(index.with_trigram, grams)))
    # the union has at least the word's own trigrams, so with fewer in common no word can be near enough
    least = NEAR_ENOUGH * len(grams)
    known = [(index.words[number], common) for number, common in shared.items() if common >= least]
    near = [(-common / len(grams | trigrams(other)), other) for other, common in known]
    most, nearest = min(near, default=(0.0, None))
    return nearest if -most >= NEAR_ENOUGH else None


def _telling(asked: Mapping[str, float]) -> list[str]:
    """The stems of the message's own words."""
    return list(dict.fromkeys(stem(word) for word, weight in asked.items() if weight >= 1))


def _words(text: str) -> list[str]:
    return [word for word in words(text) if word not in STOPWORDS]
