"""Searches what is known about everybody and the channel, where it is not said whom a question is about.

"Who plays the cello?" is answered from one index of all notes (store/note_words), which writes keep up to date:

- a note scores by the rarity of those words of the question that it has, or has nearly the same meaning of, then by how
  near its meaning is and whether its date fits (as in memory/ranking);
- only notes with a good part of the question's words are returned, a few of each person, the best first;
- nothing about people who are hidden, nothing suppressed, no notes of other personas, no plan that is over, and
  nothing sensitive, whatever the settings let a note say.
"""

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from forgetmenot.domain import Note, Recalled
from forgetmenot.memory.ranking import (
    FITS_DATE,
    MEANING_SHARE,
    SPELT_WEIGHT,
    Query,
    of_best,
    slips,
)
from forgetmenot.store import note_words
from forgetmenot.store.database import Source
from forgetmenot.store.note_keys import key_of, stems_of_note
from forgetmenot.text.days import day_of
from forgetmenot.text.meaning import Meanings, WordTable
from forgetmenot.text.mentions import mention
from forgetmenot.text.questions import asks_for_person_in_sentence
from forgetmenot.text.sensitive import sensitive_category, states_sensitive
from forgetmenot.text.words import stem

MOST_RESULTS = 8
PER_SUBJECT = 3
# Words of a question that are looked up, the longest: they are the rarest.
MOST_WORDS = 8
# Words of nearly the same meaning are often all that a note has of a short question: "who has a pet?"
NEAR_STEMS = 16
NEAR_WEIGHT = 0.8
# Notes that are taken from the index for the rarest words; the others only tell those notes apart, and a word that
# more have does not even that.
MOST_READ = 1_000
MOST_COMPARED = 8_000
# Notes that are read and ranked.
CANDIDATES = 16
LEAST_OF_BEST = 0.5
# What part of the question's rarest words a note must have, by their rarity: "plays drums" does not answer who plays
# the oboe, which nobody does.
RAREST = 2
LEAST_OF_RAREST = 0.4


class Term(NamedTuple):
    """A word of the question: how rare it is, and how much each word (by its key) counts as it."""

    rarity: float
    shares: Mapping[int, float]


async def search(
    source: Source,
    query: Query,
    *,
    table: WordTable | None,
    now: int,
    may_be_shown: Callable[[Note], bool],
    people: Iterable[str] = (),
    may_be_sensitive: bool = False,
    limit: int = MOST_RESULTS,
) -> list[Recalled]:
    """Return the notes about anybody that fit what is asked, best first.

    `people`: the ids of those whom the question names, who count as words of it;
    `may_be_sensitive`: whether the settings let notes say what is sensitive.
    """
    telling = sorted(query.telling, key=len, reverse=True)
    asked_words = [*map(mention, people), *telling][:MOST_WORDS]
    if not asked_words:
        return []
    terms, counts = await _terms(source, asked_words, table)
    scores = await _scores(source, terms, counts)
    least = LEAST_OF_RAREST * sum(term.rarity for term in terms[:RAREST])
    fitting = {note_id: score for note_id, score in scores.items() if score >= least}
    visible = await note_words.recallable(source, _best(fitting, CANDIDATES))
    candidates = [
        note for note in visible if may_be_shown(note) and not note.is_over(now)
    ]
    ranked = _ranked(candidates, fitting, query, asked_words, table)
    if may_be_sensitive:
        ranked = [hit for hit in ranked if sensitive_category(hit.note.fact) is None]
    return _few_of_each(ranked, limit)


def asks_what_is_sensitive(question: str) -> bool:
    """Return whether an answer to "who …?" would state of somebody what is never stored about people."""
    asked = question.replace("?", " ")
    if states_sensitive(asked):
        return True
    if asks_for_person_in_sentence(question):
        return False
    return states_sensitive(f"Somebody is {asked}. Somebody has {asked}.")


async def _terms(
    source: Source,
    asked_words: Sequence[str],
    table: WordTable | None,
) -> tuple[list[Term], Mapping[int, int]]:
    """Return the words as terms, the rarest first, and how many notes have each word that counts as one of them."""
    shares_of = {word: _near_words(word, table) for word in asked_words}
    counts = await note_words.notes_by_word(source, set().union(*shares_of.values()))
    for word, shares in shares_of.items():
        if len(shares) == 1 and counts.keys().isdisjoint(shares):
            shares.update(_spellings(word, table))
            counts.update(await note_words.notes_by_word(source, shares.keys()))
    note_count = await source.highest_id("semantic_notes")
    terms = []
    for shares in shares_of.values():
        having = sum(share * counts.get(key, 0) for key, share in shares.items())
        # a word that no note has is as rare as one that one note has: in a small memory all words are rare
        having = min(max(having, 1.0), note_count)
        rarity = math.log(1 + (note_count - having + 0.5) / (having + 0.5))
        terms.append(Term(rarity, shares))
    terms.sort(key=lambda term: term.rarity, reverse=True)
    return terms, counts


def _near_words(word: str, table: WordTable | None) -> dict[int, float]:
    """Return the keys of a word and of those of nearly the same meaning, with how much each counts."""
    shares = {key_of(stem(word)): 1.0}
    number = table.number(stem(word)) if table is not None else None
    if table is None or number is None:
        return shares
    for near_number, nearness in table.near(number)[:NEAR_STEMS]:
        shares.setdefault(key_of(table.stem_of(near_number)), NEAR_WEIGHT * nearness)
    return shares


def _spellings(word: str, table: WordTable | None) -> dict[int, float]:
    """Return the keys of the words that may have been meant by one that nobody knows, with how much each counts."""
    if table is None:
        return {}
    known = [spelling for spelling in slips(word) if table.number(spelling) is not None]
    return {key_of(stem(spelling)): SPELT_WEIGHT for spelling in known}


async def _scores(
    source: Source,
    terms: Sequence[Term],
    counts: Mapping[int, int],
) -> dict[int, float]:
    """Return the score of each note that has one of the rarer words."""
    scores: dict[int, float] = {}
    # (weight, key) of words that too many notes have to be read
    common: list[tuple[float, int]] = []
    entries_left = MOST_READ
    for term in terms:
        share_of: dict[int, float] = {}
        for key, share in sorted(term.shares.items(), key=itemgetter(1), reverse=True):
            count = counts.get(key, 0)
            if count == 0:
                continue
            if count > entries_left and (scores or share_of):
                if count <= MOST_COMPARED:
                    common.append((term.rarity * share, key))
                continue
            for note_id in await note_words.newest_with(source, key, MOST_READ):
                share_of.setdefault(note_id, share)
            entries_left -= count
        for note_id, share in share_of.items():
            scores[note_id] = scores.get(note_id, 0.0) + term.rarity * share
    for weight, key in common:
        having = await note_words.newest_with(source, key, MOST_COMPARED)
        for note_id in scores.keys() & having:
            scores[note_id] += weight
    return scores


def _best(scores: Mapping[int, float], limit: int) -> list[int]:
    """Return the notes that score best, the newest of equals."""
    best = sorted(scores.items(), key=itemgetter(1, 0), reverse=True)
    return [note_id for note_id, _score in best[:limit]]


def _ranked(
    candidates: Sequence[Note],
    scores: Mapping[int, float],
    query: Query,
    asked_words: Collection[str],
    table: WordTable | None,
) -> list[Recalled]:
    """Return the candidates that fit, by words, meaning and date, best first and the newest of equals."""
    totals = of_best([scores[note.id] for note in candidates])
    stems = [
        stems_of_note(note.fact, note.topics, note.asked_with) for note in candidates
    ]
    if table is not None:
        meanings = Meanings(table, [table.numbers(note_stems) for note_stems in stems])
        cosines = meanings.cosines(table.numbers(map(stem, query.telling)))
        for place, nearness in enumerate(
            of_best([max(cosine, 0.0) for cosine in cosines])
        ):
            totals[place] += MEANING_SHARE * nearness
    asked_stems = set(map(stem, asked_words))
    recalled = []
    for note, note_stems, total in zip(candidates, stems, totals, strict=True):
        has_word = not asked_stems.isdisjoint(note_stems)
        # what is stale or past is only found by a word of its own
        if has_word or not note.is_inactive(note.last_confirmed_at):
            stated = day_of(note.last_confirmed_at, query.zone)
            fits_date = FITS_DATE * query.time.fits(stated)
            recalled.append(
                Recalled(note, round(total + fits_date, 6), asked_for=has_word)
            )
    if not recalled:
        return []
    recalled.sort(key=lambda hit: (hit.score, hit.note.id), reverse=True)
    least = LEAST_OF_BEST * recalled[0].score
    return [hit for hit in recalled if hit.score >= least]


def _few_of_each(ranked: Iterable[Recalled], limit: int) -> list[Recalled]:
    """Return the best few of each person and of the channel."""
    shown: list[Recalled] = []
    per_subject: Counter[str | None] = Counter()
    for hit in ranked:
        if len(shown) == limit:
            break
        subject_id = hit.note.subject_id
        if per_subject[subject_id] == PER_SUBJECT:
            continue
        per_subject[subject_id] += 1
        shown.append(hit)
    return shown
