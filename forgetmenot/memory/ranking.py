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
from itertools import chain

from forgetmenot.domain.memory import Note, Recalled
from forgetmenot.memory.term_table import TermTable
from forgetmenot.text.words import STOPWORDS, stem, trigrams, words

DAY_MS = 86_400_000
ALL_WHEN_AT_MOST = 10
LOW_WEIGHT = 0.3  # of the category and the title in the query
NEAR_ENOUGH = 0.4  # Jaccard similarity of trigrams, for a word that was never seen
K1 = 2.0  # how slowly a repeated word stops counting
B = 0.3  # how much a long text counts less; facts are all about as short
STEM_FIELDS = (1.0, 0.6, 0.15, 0.3)  # fact, asked with, all notes of its episodes, their summaries
TRIGRAM_FIELDS = (1.0, 0.6, 0.15, 0.2)

# Words of chat and of questions that say nothing about what is asked for.
_FILLER = """hey hi hello yo lol lmao lul kekw omg btw tbh imo thanks thx yeah yep nope nah hmm uh um actually maybe
    know remember tell think talk anything something everything thing stuff chat bot guys dude bro man"""
FILLER = frozenset(_FILLER.split())

Bag = Mapping[str, int]
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
    """A subject's notes, ready to be asked. Built once per subject and revision (tens of ms), asked in under one.

    `size` is roughly how many bytes it holds: its weight in a cache.
    """

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.notes = tuple(candidate.note for candidate in candidates)
        texts = _Texts(candidates)
        self._vocabulary = _Vocabulary(texts.words())
        self._stems = _Index(texts, _stem_bag, STEM_FIELDS)
        self._trigrams = _Index(texts, _trigram_bag, TRIGRAM_FIELDS)
        self.size = self._stems.size + self._trigrams.size + self._vocabulary.size  # once: it reads all of them

    def ranked(self, query: Query, *, now: int, limit: int) -> list[Recalled]:
        """The best notes in order, at most `limit`; expired ones left out."""
        scores = self._fused(self._known(query))
        order = sorted(
            (i for i, note in enumerate(self.notes) if note.expires_at is None or note.expires_at > now),
            key=lambda i: (not self.notes[i].pinned, -scores.get(i, 0.0), -freshness(self.notes[i], now)),
        )
        return [Recalled(self.notes[i], round(scores.get(i, 0.0), 6)) for i in order[: max(limit, 0)]]

    def _known(self, query: Query) -> dict[str, float]:
        """The query with each word that was never seen replaced by the nearest one that was."""
        known: dict[str, float] = {}
        for word, weight in query.items():
            found = word if self._stems.has(stem(word)) else self._vocabulary.nearest(word)
            known[found or word] = max(weight, known.get(found or word, 0.0))
        return known

    def _fused(self, query: Query) -> dict[int, float]:
        by_stem: dict[str, float] = {}
        by_trigram: dict[str, float] = defaultdict(float)
        for word, weight in query.items():
            by_stem[stem(word)] = max(weight, by_stem.get(stem(word), 0.0))
            for gram in trigrams(word):
                by_trigram[gram] = max(by_trigram[gram], weight)
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


def _stem_bag(told: Iterable[str]) -> Bag:
    return Counter(stem(word) for word in told)


def _trigram_bag(told: Iterable[str]) -> Bag:
    return Counter(gram for word in told for gram in trigrams(word))


class _Texts:
    """The words of each note and of what surrounds it; every text is read once."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.facts = [_told(candidate.note.fact) for candidate in candidates]
        self.asked = [_told(" ".join((*candidate.note.topics, *candidate.note.asked_with))) for candidate in candidates]
        self.groups = [tuple(key for key, _ in candidate.episodes) for candidate in candidates]
        summaries = {key: text for candidate in candidates for key, text in candidate.episodes}
        self.episodes = {key: _told(text) for key, text in summaries.items()}

    def words(self) -> set[str]:
        """Every word that occurs."""
        return {word for told in (*self.facts, *self.asked, *self.episodes.values()) for word in told}


class _Surroundings:
    """What the notes of the same episodes share: what they say together, and the summaries."""

    def __init__(self, texts: _Texts, facts: Sequence[Bag], bag_of: Callable[[Iterable[str]], Bag]) -> None:
        self._groups = texts.groups
        self._episodes = {key: bag_of(told) for key, told in texts.episodes.items()}
        self._together: dict[int, Counter[str]] = defaultdict(Counter)
        for group, fact in zip(texts.groups, facts, strict=True):
            for key in group:
                self._together[key].update(fact)

    def weighted(self, field_weights: Sequence[float]) -> dict[tuple[int, ...], dict[str, float]]:
        """For each set of episodes that a note rests on, the weight of each term around it."""
        fields = {
            group: (_sum(self._together[key] for key in group), _sum(self._episodes[key] for key in group))
            for group in set(self._groups)
        }
        averages = [_average(fields[group][field] for group in self._groups) for field in range(2)]
        weighted: dict[tuple[int, ...], dict[str, float]] = {}
        for group, bags in fields.items():
            weighted[group] = {}
            for bag, weight, average in zip(bags, field_weights, averages, strict=True):
                _add(weighted[group], bag, weight, average)
        return weighted


class _Index:
    """The weight that each term gives each note, worked out beforehand.

    Notes of the same episodes share what surrounds them: it stands once for their group, and for each note what its
    own words add to that.
    """

    def __init__(self, texts: _Texts, bag_of: Callable[[Iterable[str]], Bag], field_weights: Sequence[float]) -> None:
        facts = [bag_of(told) for told in texts.facts]
        asked = [bag_of(told) for told in texts.asked]
        around = _Surroundings(texts, facts, bag_of).weighted(field_weights[2:])
        rarity = _Rarity([{*fact, *asked_with} for fact, asked_with in zip(facts, asked, strict=True)])
        number = {group: index for index, group in enumerate(around)}
        self._group_of = array("I", [number[group] for group in texts.groups])
        self._around, self._own = TermTable(), TermTable()
        for group, weighted in around.items():
            self._around.add(number[group], {term: rarity[term] * w / (K1 + w) for term, w in weighted.items()})
        averages = _average(facts), _average(asked)
        for index, group in enumerate(texts.groups):
            own: dict[str, float] = {}
            _add(own, facts[index], field_weights[0], averages[0])
            _add(own, asked[index], field_weights[1], averages[1])
            self._own.add(index, rarity.added(own, around[group]))
        self.size = self._around.size + self._own.size

    def has(self, term: str) -> bool:
        return term in self._own or term in self._around

    def scores(self, query: Query) -> dict[int, float]:
        """Each note that a term touches, with its score."""
        shared = _scores(self._around, query)
        scores = _scores(self._own, query)
        for index, group in enumerate(self._group_of) if shared else ():
            if group in shared:
                scores[index] = scores.get(index, 0.0) + shared[group]
        return scores


class _Rarity(dict[str, float]):
    """How much a term counts for being rare over what the notes say themselves; worked out when it is asked for."""

    def __init__(self, said: Sequence[set[str]]) -> None:
        super().__init__()
        self._notes = len(said)
        self._with = Counter(term for terms in said for term in terms)

    def __missing__(self, term: str) -> float:
        having = self._with[term]
        rarity = self[term] = math.log(1 + (self._notes - having + 0.5) / (having + 0.5))
        return rarity

    def added(self, own: Mapping[str, float], around: Mapping[str, float]) -> dict[str, float]:
        """What a note's own terms add to what stands around it."""
        added: dict[str, float] = {}
        for term, weight in own.items():
            shared = around.get(term, 0.0)
            added[term] = self[term] * ((shared + weight) / (K1 + shared + weight) - shared / (K1 + shared))
        return added


def _scores(table: TermTable, query: Query) -> dict[int, float]:
    scores: dict[int, float] = defaultdict(float)
    for term, asked in query.items():
        for row, weight in table.of(term):
            scores[row] += asked * weight
    return scores


def _sum(bags: Iterable[Bag]) -> Bag:
    total: Counter[str] = Counter()
    for bag in bags:
        total.update(bag)
    return total


def _average(bags: Iterable[Bag]) -> float:
    lengths = [sum(bag.values()) for bag in bags]
    return sum(lengths) / len(lengths) if any(lengths) else 1.0


def _add(weighted: dict[str, float], bag: Bag, weight: float, average: float) -> None:
    """Add one field's terms, a long text's less."""
    if bag:
        share = weight / (1 - B + B * sum(bag.values()) / average)
        for term, count in bag.items():
            weighted[term] = weighted.get(term, 0.0) + share * count


class _Vocabulary:
    """Finds the known word that a misspelt one is nearest to."""

    def __init__(self, known: Iterable[str]) -> None:
        self._words = sorted(known)
        self._sizes = array("I")
        self._with = TermTable()
        for index, word in enumerate(self._words):
            grams = trigrams(word)
            self._sizes.append(len(grams))
            self._with.add(index, dict.fromkeys(grams, 1.0))
        self.size = self._with.size

    def nearest(self, word: str) -> str | None:
        """The nearest known word by Jaccard similarity of trigrams, if it is near enough."""
        grams = trigrams(word)
        shared = Counter(chain.from_iterable(map(self._with.rows, grams)))
        best, most = -1, 0.0
        for index, common in shared.items():
            near = common / (len(grams) + self._sizes[index] - common)
            if near > most or (near == most and index < best):
                best, most = index, near
        return self._words[best] if most >= NEAR_ENOUGH else None
