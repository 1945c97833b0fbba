"""Scores a subject's notes by the words of a query (BM25F). Pure.

A note's own words are those of its fact, its topics and what it may be asked with. The words of the texts around it
count less: the subject's other notes of the same episodes, and the summaries of those episodes. How rare a word is
depends on the notes' own words alone.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import add
from typing import NamedTuple

from msgspec import Struct

from forgetmenot.domain import Note
from forgetmenot.memory.word_index import WordIndex, rarity
from forgetmenot.text.meaning import WordTable
from forgetmenot.text.words import STOPWORDS, read_words, stem

# What a word counts by where it stands: in the fact, in the facts of the same episodes, in the summaries of those.
FACT = 1.0
FACTS_AROUND = 0.15
SUMMARIES = 0.3
# How slowly a repeated word stops counting (k1 of BM25).
K1 = 1.6
# How much less a word of a long text counts (b of BM25). It is low because all facts are about as short.
B = 0.3


class Candidate(Struct, frozen=True):
    """A note with the summaries of its evidence episodes, each as (episode id, summary)."""

    note: Note
    episodes: tuple[tuple[int, str], ...] = ()


# The groups of notes that a text surrounds, each with how much the text's words count for them.
_Around = Sequence[tuple[int, float]]


class _WordCounts(NamedTuple):
    """How often a word, or one that counts as it, stands in the texts.

    `own`: by note, its weighed count in the note's own words. `around`: by group, its weighed count in the texts around
    the group. `shares`: by note, how much the nearest of its own words counts as this one (0 to 1).
    """

    own: Mapping[int, float]
    around: Mapping[int, float]
    shares: Mapping[int, float]


class _WordScores(NamedTuple):
    """What a word adds to the scores of notes.

    `own`: notes that have the word themselves, each with the addition. `around`: groups with the word in the texts
    around them, each with the addition for all its notes. `shares`: as in `_WordCounts`.
    """

    own: Sequence[tuple[int, float]]
    around: Sequence[tuple[int, float]]
    shares: Mapping[int, float]


NO_SCORES = _WordScores((), (), {})


class NoteIndex:
    """The words of a subject's notes and of the texts around them.

    A note is named by its place in the list of candidates. Notes of the same episodes are a group: what the texts
    around them add is the same for all of them, so it is weighed once.
    """

    def __init__(
        self,
        candidates: Sequence[Candidate],
        facts: Sequence[Sequence[str]],
        table: WordTable | None,
    ) -> None:
        """Index notes. `facts`: the words of each note's fact, without stopwords."""
        # a cache: what a word adds to scores, by the word and whether spelling counts
        self._scores_of: dict[tuple[str, bool], _WordScores] = {}
        # Texts have the order in which their words are added: the facts first, each at the place of its note, then the
        # summaries.
        self._words = WordIndex(table)
        # by note: how much its own words count
        self._weights: list[float] = []
        # by text
        self._around: list[_Around] = []
        # by note: its group, which it shares with the notes of the same episodes
        self._group_of: list[int] = []
        # by group: the episodes of its notes
        self._episodes_of: list[tuple[int, ...]] = []
        groups_of_episode = self._form_groups(candidates)
        self._add_facts(candidates, facts, groups_of_episode)
        self._add_summaries(candidates, groups_of_episode)

    def scores(
        self, word_weights: Mapping[str, float]
    ) -> tuple[list[float], Mapping[int, float]]:
        """Return the score of each note, and the best share of each note.

        The share says how much a note's own nearest word counts as a word of the query (0 to 1).
        """
        own_scores = [0.0] * len(self._group_of)
        group_scores: dict[int, float] = defaultdict(float)
        best_shares: dict[int, float] = {}
        for word, weight in _one_of_each_stem(word_weights):
            # a word of low weight matches no misspelling, and does not make a note asked for
            is_telling = weight >= 1
            scores = self._scores_by(word, spelling=is_telling)
            for note, added in scores.own:
                own_scores[note] += weight * added
            for group, added in scores.around:
                group_scores[group] += weight * added
            if not is_telling:
                continue
            for note, share in scores.shares.items():
                best_shares[note] = max(share, best_shares.get(note, 0.0))
        around_scores = [group_scores[group] for group in self._group_of]
        scores_of_notes = list(map(add, own_scores, around_scores))
        return scores_of_notes, best_shares

    def _scores_by(self, word: str, *, spelling: bool) -> _WordScores:
        """Return what a word adds to the scores of notes. It is cached, because the same words are asked for often.

        `spelling`: nearly the same spelling counts, too.
        """
        scores = self._scores_of.get((word, spelling))
        if scores is None:
            similar_words = self._words.like(word, spelling=spelling)
            # most words of a message are in no note, nor is one like them
            scores = NO_SCORES
            if similar_words:
                scores = self._weigh(self._counts_of(similar_words))
            self._scores_of[word, spelling] = scores
        return scores

    def _counts_of(self, similar_words: Mapping[str, float]) -> _WordCounts:
        """Return how often words that count as one stand in the texts. `similar_words`: how much each counts."""
        own: dict[int, float] = defaultdict(float)
        around: dict[int, float] = defaultdict(float)
        shares: dict[int, float] = {}
        note_count = len(self._group_of)
        for similar_word, share in similar_words.items():
            for place in self._words.places(similar_word):
                if place < note_count:
                    own[place] += share * self._weights[place]
                    shares[place] = max(shares.get(place, 0.0), share)
                for group, weight in self._around[place]:
                    around[group] += share * weight
        return _WordCounts(own, around, shares)

    def _weigh(self, counts: _WordCounts) -> _WordScores:
        """Return what a word adds to the scores of notes (BM25F).

        A rare word adds more than a common one, and each repeat adds less than the one before.
        """
        # How many notes have the word. A note with only a similar word counts as a fraction.
        note_count = sum(counts.shares.values())
        word_rarity = rarity(note_count, len(self._group_of))
        own = []
        for note, own_count in counts.own.items():
            group = self._group_of[note]
            around_count = counts.around.get(group, 0.0)
            # The texts around the note count for its whole group (below), so its own words add only the increase.
            with_own = _saturated(around_count + own_count)
            added = with_own - _saturated(around_count)
            own.append((note, word_rarity * added))
        around = []
        for group, around_count in counts.around.items():
            # `_saturated`, with the multiplication first: another order changes the last digit of a score
            added = word_rarity * around_count / (K1 + around_count)
            around.append((group, added))
        return _WordScores(own, around, counts.shares)

    def _form_groups(self, candidates: Sequence[Candidate]) -> dict[int, list[int]]:
        """Put notes of the same episodes into one group, and return by episode the groups with notes from it."""
        group_of_same_episodes: dict[tuple[tuple[int, str], ...], int] = {}
        groups_of_episode: dict[int, list[int]] = defaultdict(list)
        for candidate in candidates:
            group = group_of_same_episodes.get(candidate.episodes)
            if group is None:
                group = len(group_of_same_episodes)
                group_of_same_episodes[candidate.episodes] = group
                episode_ids = tuple(episode_id for episode_id, _ in candidate.episodes)
                self._episodes_of.append(episode_ids)
                for episode_id in episode_ids:
                    groups_of_episode[episode_id].append(group)
            self._group_of.append(group)
        return groups_of_episode

    def _add_facts(
        self,
        candidates: Sequence[Candidate],
        facts: Sequence[Sequence[str]],
        groups_of_episode: Mapping[int, Sequence[int]],
    ) -> None:
        """Index the own words of each note: its fact, its topics and what it may be asked with.

        They also count, less, for all groups with notes from the same episodes. `facts`: the words of each fact.
        `groups_of_episode`: by episode, the groups with notes from it.
        """
        searched_words: list[Sequence[str]] = []
        for candidate, fact_words in zip(candidates, facts, strict=True):
            words_beside = _words_beside(candidate.note)
            searched_words.append([*fact_words, *words_beside])
        lengths = list(map(len, searched_words))
        usual_length = _mean(lengths)
        # all notes of a group surround the same groups
        lengths_of_groups = [0] * len(self._episodes_of)
        for group, length in zip(self._group_of, lengths, strict=True):
            lengths_of_groups[group] += length
            weight = _weight_of_length(length, usual_length, FACT)
            self._weights.append(weight)
        surrounded_groups: list[list[int]] = []
        for episode_ids in self._episodes_of:
            groups: list[int] = []
            for episode_id in episode_ids:
                # a group that shares two episodes with the note stands here twice, and counts twice
                groups += groups_of_episode[episode_id]
            surrounded_groups.append(groups)
        around = self._weigh_around(lengths_of_groups, surrounded_groups, FACTS_AROUND)
        self._around += [around[group] for group in self._group_of]
        # a misspelt word of a message may mean one of these
        self._words.add(enumerate(searched_words), spelling=True)

    def _add_summaries(
        self,
        candidates: Sequence[Candidate],
        groups_of_episode: Mapping[int, Sequence[int]],
    ) -> None:
        """Index the summary of each episode. It counts for the notes that come from the episode."""
        summary_of: dict[int, str] = {}
        for candidate in candidates:
            summary_of.update(candidate.episodes)
        summaries = list(map(without_stopwords, summary_of.values()))
        lengths = list(map(len, summaries))
        surrounded_groups = [groups_of_episode[episode_id] for episode_id in summary_of]
        first_place = len(self._around)
        self._around += self._weigh_around(lengths, surrounded_groups, SUMMARIES)
        self._words.add(enumerate(summaries, start=first_place))

    def _weigh_around(
        self,
        lengths: Sequence[int],
        surrounded_groups: Sequence[Sequence[int]],
        usual_weight: float,
    ) -> list[_Around]:
        """Return for texts the groups that each surrounds, with how much a word of it counts for their notes.

        All texts around a group count as one long text: the longer it is, the less each of its words counts. `lengths`:
        of each text, in words. `surrounded_groups`: the groups that each text surrounds. `usual_weight`: the weight in
        texts of the usual length.
        """
        group_lengths = [0] * len(self._episodes_of)
        for length, groups in zip(lengths, surrounded_groups, strict=True):
            for group in groups:
                group_lengths[group] += length
        # the mean over notes, not over groups: a large group counts more
        usual_length = _mean([group_lengths[group] for group in self._group_of])
        group_weights = []
        for length in group_lengths:
            weight = _weight_of_length(length, usual_length, usual_weight)
            group_weights.append(weight)
        around: list[_Around] = []
        for groups in surrounded_groups:
            around.append([(group, group_weights[group]) for group in groups])
        return around


def without_stopwords(text: str) -> list[str]:
    """Return the words of a text without stopwords, in order and with repeats."""
    return [word for word in read_words(text) if word not in STOPWORDS]


def _words_beside(note: Note) -> list[str]:
    """Return the search words of a note that are not in its fact: its topics, and what it may be asked with."""
    if not note.topics and not note.asked_with:
        return []
    texts = chain(note.topics, note.asked_with)
    return without_stopwords(" ".join(texts))


def _one_of_each_stem(
    word_weights: Mapping[str, float],
) -> Iterable[tuple[str, float]]:
    """Return the words of a query with their weights. Of words with the same stem, only the heaviest is returned."""
    heaviest: dict[str, tuple[float, str]] = {}
    for word, weight in word_weights.items():
        word_stem = stem(word)
        weighed_word = (weight, word)
        heaviest_so_far = heaviest.get(word_stem, weighed_word)
        # two forms of equal weight are compared by the alphabet, so that the order of the words does not matter
        heaviest[word_stem] = max(weighed_word, heaviest_so_far)
    return [(word, weight) for weight, word in heaviest.values()]


def _saturated(count: float) -> float:
    """Return how much a word counts that occurs `count` times (0 to 1). Each repeat adds less."""
    return count / (K1 + count)


def _weight_of_length(
    length: int,
    usual_length: float,
    weight: float,
) -> float:
    """Return how much a word counts in a text of this length (in words).

    It is `weight` in a text of the usual length, and less in a longer one.
    """
    # the usual length is 0 if all texts are empty: dividing by 1 then avoids an error
    relative_length = B * length / (usual_length or 1.0)
    return weight / (1 - B + relative_length)


def _mean(lengths: Sequence[int]) -> float:
    """Return the mean of lengths; 0 if there are none."""
    return sum(lengths) / max(1, len(lengths))
