"""Which of a subject's notes fit what was just said. Pure: the notes and their surroundings come in, an order goes out.

Two BM25F scores, one on stems and one on trigrams (chat is typos), over the fact, the words it is asked with, the
subject's other notes of the same episode and the summary of that episode; the two orders fused by reciprocal rank.
A word that the notes have never seen is replaced by the nearest one they have. Pinned notes come first; what no word
touches follows by confidence and recency. The weights lie on a plateau (any nearby ones rank alike).

It promises an order for any text. It does not know what may be shown: the caller leaves out what must not be.
"""

import math
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from forgetmenot.domain.memory import Note, Recalled
from forgetmenot.text.words import STOPWORDS, stem, trigrams, words

DAY_MS = 86_400_000
ALL_WHEN_AT_MOST = 10
LOW_WEIGHT = 0.3  # of the category and the title in the query
NEAR_ENOUGH = 0.4  # Jaccard similarity of trigrams, for a word that was never seen
K1 = 1.2
B = 0.75
FUSION_K = 60
STEM_FIELDS = (1.0, 0.6, 0.2, 0.3)  # fact, asked with, siblings, episode
TRIGRAM_FIELDS = (1.0, 0.6, 0.2, 0.2)

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
    """A subject's notes, ready to be asked. Built once per subject and revision (tens of ms), asked in under one."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self.notes = tuple(candidate.note for candidate in candidates)
        surroundings = _Surroundings(candidates)
        self._vocabulary = _Vocabulary(surroundings.words())
        self._stems = _Index(surroundings.fields(_stem_bag), STEM_FIELDS)
        self._trigrams = _Index(surroundings.fields(_trigram_bag), TRIGRAM_FIELDS)

    @property
    def size(self) -> int:
        """How many postings it holds: its weight in a cache (6 bytes each)."""
        return self._stems.size + self._trigrams.size

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
            if found is not None:
                known[found] = max(weight, known.get(found, 0.0))
            else:
                known[word] = max(weight, known.get(word, 0.0))
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
    """Reciprocal-rank fusion of several scorings; equal scores share a rank."""
    fused: dict[int, float] = defaultdict(float)
    for scores in scored:
        rank, last = 0, math.inf
        for position, (index, score) in enumerate(sorted(scores.items(), key=lambda item: -item[1]), start=1):
            if score < last:
                rank, last = position, score
            fused[index] += 1 / (FUSION_K + rank)
    return fused


def _stem_bag(text: str) -> Bag:
    return Counter(stem(word) for word in words(text) if word not in STOPWORDS)


def _trigram_bag(text: str) -> Bag:
    bag: Counter[str] = Counter()
    for word in words(text):
        if word not in STOPWORDS:
            bag.update(trigrams(word))
    return bag


class _Surroundings:
    """The four fields of each note, made of bags that are counted once per text."""

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._candidates = candidates
        self._episodes = {key: text for candidate in candidates for key, text in candidate.episodes}
        self._members: dict[int, list[int]] = defaultdict(list)
        for index, candidate in enumerate(candidates):
            for key, _ in candidate.episodes:
                self._members[key].append(index)

    def words(self) -> set[str]:
        """Every word that occurs."""
        seen = {word for text in self._episodes.values() for word in words(text)}
        for candidate in self._candidates:
            seen.update(words(candidate.note.fact), words(_asked(candidate.note)))
        return seen - STOPWORDS

    def fields(self, bag_of: Callable[[str], Bag]) -> list[tuple[Bag, Bag, Bag, Bag]]:
        """For each note: fact, asked with, siblings, episode."""
        facts = [bag_of(candidate.note.fact) for candidate in self._candidates]
        episodes = {key: bag_of(text) for key, text in self._episodes.items()}
        totals = {key: _sum(facts[member] for member in members) for key, members in self._members.items()}
        return [
            (
                fact,
                bag_of(_asked(candidate.note)),
                _siblings(_sum(totals[key] for key, _ in candidate.episodes), fact, len(candidate.episodes)),
                _sum(episodes[key] for key, _ in candidate.episodes),
            )
            for fact, candidate in zip(facts, self._candidates, strict=True)
        ]


def _siblings(total: Bag, own: Bag, times: int) -> Bag:
    """What the other notes of the same episodes say: all of them less this one."""
    return {term: count - times * own.get(term, 0) for term, count in total.items() if count > times * own.get(term, 0)}


def _sum(bags: Iterable[Bag]) -> Bag:
    total: Counter[str] = Counter()
    for bag in bags:
        total.update(bag)
    return total


def _asked(note: Note) -> str:
    return " ".join((*note.topics, *note.asked_with))


class _Index:
    """Postings with the weight that each term gives each document, worked out beforehand."""

    def __init__(self, documents: Sequence[Sequence[Bag]], field_weights: Sequence[float]) -> None:
        self._postings: dict[str, tuple[array[int], array[float]]] = {}
        averages = [_average(document[field] for document in documents) for field in range(len(field_weights))]
        for index, document in enumerate(documents):
            for term, weight in _weighted(document, field_weights, averages).items():
                indexes, weights = self._postings.setdefault(term, (array("I"), array("f")))
                indexes.append(index)
                weights.append(weight)
        for indexes, weights in self._postings.values():
            rarity = math.log(1 + (len(documents) - len(indexes) + 0.5) / (len(indexes) + 0.5))
            weights[:] = array("f", (rarity * weight / (K1 + weight) for weight in weights))

    @property
    def size(self) -> int:
        return sum(len(indexes) for indexes, _ in self._postings.values())

    def has(self, term: str) -> bool:
        return term in self._postings

    def scores(self, query: Query) -> dict[int, float]:
        """Each document that a term touches, with its score."""
        scores: dict[int, float] = defaultdict(float)
        for term, asked in query.items():
            if term in self._postings:
                for index, weight in zip(*self._postings[term], strict=True):
                    scores[index] += asked * weight
        return scores


def _average(bags: Iterable[Bag]) -> float:
    lengths = [sum(bag.values()) for bag in bags]
    return sum(lengths) / len(lengths) if any(lengths) else 1.0


def _weighted(document: Sequence[Bag], field_weights: Sequence[float], averages: Sequence[float]) -> dict[str, float]:
    weighted: dict[str, float] = defaultdict(float)
    for bag, weight, average in zip(document, field_weights, averages, strict=True):
        if bag:
            share = weight / (1 - B + B * sum(bag.values()) / average)
            for term, count in bag.items():
                weighted[term] += share * count
    return weighted


class _Vocabulary:
    """Finds the known word that a misspelt one is nearest to."""

    def __init__(self, known: Iterable[str]) -> None:
        self._words = sorted(known)
        self._sizes = array("I")
        self._with: dict[str, array[int]] = {}
        for index, word in enumerate(self._words):
            grams = trigrams(word)
            self._sizes.append(len(grams))
            for gram in grams:
                self._with.setdefault(gram, array("I")).append(index)

    def nearest(self, word: str) -> str | None:
        """The nearest known word by Jaccard similarity of trigrams, if it is near enough."""
        grams = trigrams(word)
        shared = Counter(index for gram in grams if gram in self._with for index in self._with[gram])
        best, found = NEAR_ENOUGH, None
        for index, common in shared.items():
            similarity = common / (len(grams) + self._sizes[index] - common)
            if similarity >= best and (found is None or similarity > best):
                best, found = similarity, self._words[index]
        return found
