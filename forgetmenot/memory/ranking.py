"""Which of a subject's notes fit what was just said. Pure: the notes and their surroundings come in, an order goes out.

Two BM25F scores, one on stems and one on trigrams (chat is typos), over the fact, the words it is asked with, the
subject's other notes of the same episode and the summary of that episode; each divided by its best and added (fusing
by rank alone measured .01 less). How rare a word is counts over what the notes themselves say: their surroundings are
shared. A word never seen is replaced by the nearest known one. Pinned notes come first; what no word touches follows
by confidence and recency. The weights lie on a plateau: nearby ones rank alike (scripts/bench_recall.py).

It promises an order for any text. It does not know what may be shown: the caller leaves out what must not be.
"""

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, repeat

from forgetmenot.domain.memory import Note, Recalled
from forgetmenot.memory.concordance import Concordance
from forgetmenot.memory.term_table import TermTable
from forgetmenot.text.words import STOPWORDS, stem, trigrams, words

DAY_MS = 86_400_000
LOW_WEIGHT = 0.3  # of the category and the title in the query
NEAR_ENOUGH = 0.4  # Jaccard similarity of trigrams, for a word that was never seen
K1 = 2.0  # how slowly a repeated word stops counting
BYTES_PER_TEXT = 160
B = 0.3  # how much a long text counts less; facts are all about as short
STEM_FIELDS = (1.0, 0.6, 0.15, 0.3)  # fact, asked with, all notes of its episodes, their summaries
TRIGRAM_FIELDS = (1.0, 0.6, 0.15, 0.2)

# Words of chat and of questions that say nothing about what is asked for.
_FILLER = """hey hi hello yo lol lmao lul kekw omg btw tbh imo thanks thx yeah yep nope nah hmm uh um actually maybe
    know remember tell think talk anything something everything thing stuff chat bot guys dude bro man"""
FILLER = frozenset(_FILLER.split())

Query = Mapping[str, float]  # word → weight


@dataclass(frozen=True, slots=True)
class Candidate:
    """A note with the summaries of its evidence episodes."""

    note: Note
    episodes: tuple[tuple[int, str], ...] = ()


def query_of(text: str, *, low: str = "", without: Iterable[str] = ()) -> Query:
    """The words of a query with their weights; `low` (category, title) counts less, `without` (names) not at all."""
    ignored = {word for name in without for word in words(name)} | STOPWORDS | FILLER
    query = {word: LOW_WEIGHT for word in words(low) if word not in ignored}
    query.update({word: 1.0 for word in words(text) if word not in ignored})
    return query


class Postings:
    """A subject's notes, ready to be asked: built once per subject and revision, asked in a millisecond.

    What a word weighs is worked out when it is first asked for, or by `weigh_all`, and kept.
    """

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.notes = tuple(candidate.note for candidate in candidates)
        facts = [_told(candidate.note.fact) for candidate in candidates]
        asked = [_told(" ".join((*candidate.note.topics, *candidate.note.asked_with))) for candidate in candidates]
        episodes = {key: _told(text) for key, text in {e for candidate in candidates for e in candidate.episodes}}
        texts = [*facts, *asked, *episodes.values()]
        self._words = Concordance(texts)
        layout = _Layout([tuple(key for key, _ in candidate.episodes) for candidate in candidates], list(episodes))
        letters = [sum(map(len, told)) for told in texts]  # a word has as many trigrams as letters
        self._stems = _Index(layout, self._words, self._words.with_stem, [len(told) for told in texts], STEM_FIELDS)
        self._trigrams = _Index(layout, self._words, self._words.with_trigram, letters, TRIGRAM_FIELDS)

    @property
    def size(self) -> int:
        """Roughly how many bytes it holds by now."""
        return self._words.size + self._stems.size + self._trigrams.size

    def weigh_all(self) -> None:
        """Work out what every term weighs, so that nobody waits for it later: some ms for each ten notes."""
        for word in self._words.words:
            self._stems.weigh(stem(word))
            for gram in trigrams(word):
                self._trigrams.weigh(gram)

    def ranked(
        self, query: Query, *, now: int, limit: int, opens: Callable[[Note], bool] = lambda _: True
    ) -> list[Recalled]:
        """The best notes in order, at most `limit` of those that `opens` lets through; expired ones left out."""
        scores = self._fused(self._known(query))
        alive = (i for i, note in enumerate(self.notes) if note.expires_at is None or note.expires_at > now)
        order = sorted(
            (not self.notes[i].pinned, -scores.get(i, 0.0), -freshness(self.notes[i], now), i) for i in alive
        )
        shown = islice(((self.notes[i], -score) for _, score, _, i in order if opens(self.notes[i])), max(limit, 0))
        return [Recalled(note, round(score, 6)) for note, score in shown]

    def _known(self, query: Query) -> dict[str, float]:
        """The query with each word that was never seen replaced by the nearest one that was."""
        known: dict[str, float] = {}
        for word, weight in query.items():
            found = word if self._words.with_stem(stem(word)) else self._nearest(word)
            known[found or word] = max(weight, known.get(found or word, 0.0))
        return known

    def _nearest(self, word: str) -> str | None:
        """The nearest known word by Jaccard similarity of trigrams, if it is near enough."""
        grams = trigrams(word)
        shared = Counter(chain.from_iterable(map(self._words.with_trigram, grams)))
        least = NEAR_ENOUGH * len(grams)
        best, most = None, 0.0
        for number in sorted([number for number, common in shared.items() if common >= least]):
            known = self._words.words[number]
            near = shared[number] / len(grams | trigrams(known))
            if near > most:
                best, most = known, near
        return best if most >= NEAR_ENOUGH else None

    def _fused(self, query: Query) -> dict[int, float]:
        by_stem: dict[str, float] = {}
        by_trigram: dict[str, float] = {}
        for word, weight in query.items():
            by_stem[stem(word)] = max(weight, by_stem.get(stem(word), 0.0))
            for gram in trigrams(word):
                by_trigram[gram] = max(weight, by_trigram.get(gram, 0.0))
        return fuse(self._stems.scores(by_stem), self._trigrams.scores(by_trigram))


def by_recency(notes: Iterable[Note], *, now: int, limit: int) -> list[Recalled]:
    """The plain sort that does not look at the question: for when recall has no time, or nothing was asked."""
    alive = (note for note in notes if note.expires_at is None or note.expires_at > now)
    order = sorted(alive, key=lambda note: (not note.pinned, -freshness(note, now), -note.id))
    return [Recalled(note, 0.0) for note in order[: max(limit, 0)]]


def freshness(note: Note, now: int) -> float:
    """Confidence, halved after a week: for padding and ties. A date in the future counts as now."""
    return note.confidence / (1 + max(now - note.last_confirmed_at, 0) / DAY_MS / 7)


def fuse(*scored: Mapping[int, float]) -> dict[int, float]:
    """Several scorings as one: the mean of each score's share of the best in its scoring, 0 to 1."""
    fused: dict[int, float] = defaultdict(float)
    for scores in scored:
        best = max(scores.values(), default=0.0)
        for index, score in scores.items() if best > 0 else ():
            fused[index] += score / best / len(scored)
    return fused


def _told(text: str) -> list[str]:
    return [word for word in words(text) if word not in STOPWORDS]


class _Layout:
    """Which text is where: the facts of all notes, what each is asked with, the summaries of their episodes.

    Notes of the same episodes are a group: they share what surrounds them.
    """

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
        self.surrounds = (*facts, *repeat((), self.notes), *(tuple(around[key]) for key in episodes))
        """For each text the groups that it surrounds, twice where it does so by two episodes."""


class _Index:
    """What each term weighs in each note: worked out when it is first asked for, and kept.

    What stands around notes counts once for their group, whose row comes after those of the notes; for each note what
    its own words add to that. `having` tells which words have a term.
    """

    def __init__(
        self,
        layout: _Layout,
        words_: Concordance,
        having: Callable[[str], Sequence[int]],
        lengths: Sequence[int],
        fields: Sequence[float],
    ) -> None:
        self._layout, self._words, self._having = layout, words_, having
        count = layout.notes
        together, summaries = [0] * layout.groups, [0] * layout.groups
        for place, (length, groups) in enumerate(zip(lengths, layout.surrounds, strict=True)):
            for group in groups:
                (together if place < count else summaries)[group] += length
        self._own = [*_shares(lengths[:count], fields[0]), *_shares(lengths[count : 2 * count], fields[1])]
        self._together = _shares(together, fields[2], layout.group_of)
        self._summary = _shares(summaries, fields[3], layout.group_of)
        self._table = TermTable()

    def scores(self, query: Query) -> dict[int, float]:
        """Each note that a term touches, with its score."""
        count = self._layout.notes
        scores: dict[int, float] = defaultdict(float)
        for term, asked in query.items():
            for row, weight in self._weights(term):
                scores[row] += asked * weight
        if not scores or max(scores) < count:
            return scores
        for index, group in enumerate(self._layout.group_of):
            if count + group in scores:
                scores[index] += scores[count + group]
        return {row: score for row, score in scores.items() if row < count}

    def _weights(self, term: str) -> Iterable[tuple[int, float]]:
        return self._table.weights(term) if self.weigh(term) else ()

    def weigh(self, term: str) -> bool:
        """Work out what a term weighs, unless that is known; whether any note has it."""
        if term not in self._table:
            found = self._weigh(term)
            if not found:
                return False
            self._table.add(term, found, found.values())
        return True

    def _weigh(self, term: str) -> dict[int, float]:
        """What a term weighs in each note and group. How rare it is counts over what the notes say themselves."""
        own, around = self._occurrences(term)
        count = self._layout.notes
        rarity = math.log(1 + (count - len(own) + 0.5) / (len(own) + 0.5))
        weights: dict[int, float] = {}
        for note, said in own.items():
            near = around.get(self._layout.group_of[note], 0.0)
            weights[note] = rarity * ((near + said) / (K1 + near + said) - near / (K1 + near))
        for group, near in around.items():
            weights[count + group] = rarity * near / (K1 + near)
        return weights

    def _occurrences(self, term: str) -> tuple[dict[int, float], dict[int, float]]:
        """How much of a term is in each note's own words, and around each group."""
        own: dict[int, float] = defaultdict(float)
        around: dict[int, float] = defaultdict(float)
        count, surrounds = self._layout.notes, self._layout.surrounds
        shares, together, summary = self._own, self._together, self._summary
        for number in self._having(term):
            for place in self._words.places(number):
                if place < count:
                    own[place] += shares[place]
                    for group in surrounds[place]:
                        around[group] += together[group]
                elif place < 2 * count:
                    own[place - count] += shares[place]
                else:
                    for group in surrounds[place]:
                        around[group] += summary[group]
        return own, around

    @property
    def size(self) -> int:
        """Roughly how many bytes it holds."""
        return self._table.size + BYTES_PER_TEXT * len(self._layout.surrounds)


def _shares(lengths: Sequence[int], weight: float, standing_for: Sequence[int] | None = None) -> "array[float]":
    """How much a word counts in texts of these lengths: in a long one less. `standing_for`: whose lengths are usual."""
    usual = lengths if standing_for is None else [lengths[index] for index in standing_for]
    average = sum(usual) / len(usual) if any(usual) else 1.0
    return array("d", [weight / (1 - B + B * length / average) for length in lengths])
