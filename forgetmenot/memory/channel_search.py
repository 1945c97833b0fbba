"""Searches what is known about everybody and the channel, where it is not said whom a question is about.

"Who plays the cello?" is answered from one index of all notes (store/note_words), which writes keep up to date:

- a note scores by the rarity of those words of the question that it has, or has nearly the same meaning of, then by how
  near its meaning is and whether its date fits (as in memory/ranking);
- only notes with a good part of the question's words are returned, a few of each person, the best first;
- nothing about people who are hidden, nothing suppressed, no notes of other personas, no plan that is over, and
  nothing sensitive, whatever the settings let a note say.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import NamedTuple

from forgetmenot.domain import Note, NoteStatus, Recalled
from forgetmenot.memory.query import Query
from forgetmenot.memory.question_words import asked_words, cosines_to, near_stems
from forgetmenot.memory.ranking import FITS_DATE, MEANING_SHARE, relative_to_best
from forgetmenot.memory.word_index import SPELT_WEIGHT, rarity, slips
from forgetmenot.store import note_words
from forgetmenot.store.database import Source
from forgetmenot.store.note_keys import key_of, stems_of_note
from forgetmenot.text.days import day_of
from forgetmenot.text.meaning import WordTable
from forgetmenot.text.questions import asks_for_person_in_sentence
from forgetmenot.text.sensitive import sensitive_category, states_sensitive
from forgetmenot.text.words import stem

MOST_RESULTS = 8
PER_SUBJECT = 3
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


class _Term(NamedTuple):
    """A word of the question.

    `rarity`: how much it weighs; the fewer notes have it, the more. `shares`: the words that count as it by their keys
    in the index, nearest first, and how much each counts (0 to 1).
    """

    rarity: float
    shares: Mapping[int, float]


class _Lookups(NamedTuple):
    """The index keys of the words to look up, one sequence for each term.

    Notes with a word of `candidate_keys` become candidates. The words of `common_keys` are in too many notes for that,
    and only add to the scores of candidates.
    """

    candidate_keys: Sequence[Sequence[int]]
    common_keys: Sequence[Sequence[int]]


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
    """Return the notes about anybody that fit a question, best first, at most `limit`.

    `people`: the ids of the viewers in the question, each of whom counts as a word. `may_be_sensitive`: whether the
    settings allow sensitive notes. `now` in ms.
    """
    question_words = asked_words(query, people)
    if not question_words:
        return []
    shares_of = {word: _near_keys(word, table) for word in question_words}
    note_counts = await _note_counts(source, shares_of)
    await _add_spellings(source, shares_of, note_counts, table)
    # ids are given in order: the highest is about the number of notes
    note_count = await source.highest_id("semantic_notes")
    terms = _terms(shares_of.values(), note_counts, note_count)
    scores = await _word_scores(source, terms, note_counts)
    fitting_scores = _with_rarest_words(scores, terms)
    best_ids = _best(fitting_scores, CANDIDATES)
    candidates = []
    for note in await note_words.recallable(source, best_ids):
        if may_be_shown(note) and not note.is_over(now):
            candidates.append(note)
    ranked = _ranked(candidates, fitting_scores, query, question_words, table)
    if may_be_sensitive:
        # a sensitive note may answer "what does alice have?", but never "who has …?"
        ranked = [hit for hit in ranked if sensitive_category(hit.note.fact) is None]
    return _few_of_each(ranked, limit)


def asks_what_is_sensitive(question: str) -> bool:
    """Return whether an answer to "who …?" would say something sensitive about a person."""
    without_mark = question.replace("?", " ")
    if states_sensitive(without_mark):
        return True
    # a whole question ("who plays the cello?") is a sentence, which was checked above
    if asks_for_person_in_sentence(question):
        return False
    # single words ("diabetes") are no sentence: the two sentences are tried that would answer them
    answers = f"Somebody is {without_mark}. Somebody has {without_mark}."
    return states_sensitive(answers)


async def _note_counts(
    source: Source,
    shares_of: Mapping[str, Mapping[int, float]],
) -> dict[int, int]:
    """Return how many notes have each word, by the key of the word in the index.

    `shares_of`: for each word of the question, the keys of the words that count as it, and how much each counts. All
    these words are looked up.
    """
    all_keys: set[int] = set()
    for shares in shares_of.values():
        all_keys.update(shares)
    return await note_words.notes_by_word(source, all_keys)


async def _add_spellings(
    source: Source,
    shares_of: Mapping[str, dict[int, float]],
    note_counts: dict[int, int],
    table: WordTable | None,
) -> None:
    """Correct the misspelt words of a question, by more entries in `shares_of` and `note_counts`.

    `shares_of` gets the correct words that a misspelt one may stand for, `note_counts` how many notes have these.

    A word counts as misspelt if no note has it and it has no near words.
    """
    for word, shares in shares_of.items():
        # a word with near words is in the word table, so it is spelt correctly
        has_near_words = len(shares) > 1
        is_in_notes = not note_counts.keys().isdisjoint(shares)
        if has_near_words or is_in_notes:
            continue
        shares.update(_spellings(word, table))
        spelling_counts = await note_words.notes_by_word(source, shares.keys())
        note_counts.update(spelling_counts)


def _near_keys(word: str, table: WordTable | None) -> dict[int, float]:
    """Return the index keys of a word and its near words, nearest first, with how much each counts (0 to 1)."""
    shares: dict[int, float] = {}
    for near_stem, share in near_stems(word, table).items():
        # two stems may share a key: the nearer one, which comes first, stays
        shares.setdefault(key_of(near_stem), share)
    return shares


def _spellings(word: str, table: WordTable | None) -> dict[int, float]:
    """Return the index keys of correct words that are one slip away, with how much each counts (0 to 1)."""
    shares: dict[int, float] = {}
    if table is None:
        return shares
    for spelling in slips(word):
        if table.number(spelling) is not None:
            key = key_of(stem(spelling))
            shares[key] = SPELT_WEIGHT
    return shares


def _terms(
    all_shares: Iterable[Mapping[int, float]],
    note_counts: Mapping[int, int],
    note_count: int,
) -> list[_Term]:
    """Return the words of the question with their rarity, the rarest first.

    `all_shares`: the `shares` of each word. `note_counts`: how many notes have each word, by its key. `note_count`:
    about how many notes there are.
    """
    terms = []
    for shares in all_shares:
        notes_with_word = 0.0
        for key, share in shares.items():
            notes_with_word += share * note_counts.get(key, 0)
        # a word that no note has counts like a word of one note
        notes_with_word = min(max(notes_with_word, 1.0), note_count)
        terms.append(_Term(rarity(notes_with_word, note_count), shares))
    terms.sort(key=lambda term: term.rarity, reverse=True)
    return terms


def _lookups(terms: Iterable[_Term], note_counts: Mapping[int, int]) -> _Lookups:
    """Choose which words make candidates: the rarest, until about MOST_READ notes have them.

    `terms`: the rarest first. `note_counts`: how many notes have each word, by its key.
    """
    candidate_keys: list[list[int]] = []
    common_keys: list[list[int]] = []
    reads_left = MOST_READ
    has_candidates = False
    for term in terms:
        term_keys: list[int] = []
        common_term_keys: list[int] = []
        for key in term.shares:
            note_count = note_counts.get(key, 0)
            if note_count == 0:
                continue
            # the first word is read in any case: without it there would be no candidates
            if note_count <= reads_left or not has_candidates:
                term_keys.append(key)
                reads_left -= note_count
                has_candidates = True
            elif note_count <= MOST_COMPARED:
                common_term_keys.append(key)
        candidate_keys.append(term_keys)
        common_keys.append(common_term_keys)
    return _Lookups(candidate_keys, common_keys)


async def _word_scores(
    source: Source,
    terms: Sequence[_Term],
    note_counts: Mapping[int, int],
) -> dict[int, float]:
    """Return the scores of the candidates by their words.

    `terms`: the rarest first. `note_counts`: how many notes have each word, by its key.
    """
    lookups = _lookups(terms, note_counts)
    scores: dict[int, float] = defaultdict(float)
    for term, keys in zip(terms, lookups.candidate_keys, strict=True):
        # a note counts once for each term, by the nearest of its words: that comes first
        share_of: dict[int, float] = {}
        for key in keys:
            share = term.shares[key]
            for note_id in await note_words.newest_with(source, key, MOST_READ):
                share_of.setdefault(note_id, share)
        for note_id, share in share_of.items():
            scores[note_id] += term.rarity * share
    # words of too many notes add to the scores of candidates only
    for term, keys in zip(terms, lookups.common_keys, strict=True):
        for key in keys:
            score = term.rarity * term.shares[key]
            note_ids = await note_words.newest_with(source, key, MOST_COMPARED)
            for note_id in scores.keys() & note_ids:
                scores[note_id] += score
    return scores


def _with_rarest_words(
    scores: Mapping[int, float],
    terms: Sequence[_Term],
) -> dict[int, float]:
    """Return the scores of the notes that have enough of the question's rarest words; `terms`: the rarest first."""
    full_score = sum(term.rarity for term in terms[:RAREST])
    least_score = LEAST_OF_RAREST * full_score
    return {note_id: score for note_id, score in scores.items() if score >= least_score}


def _best(scores: Mapping[int, float], limit: int) -> list[int]:
    """Return the ids of the notes with the best scores. Of equal ones the newest comes first."""
    by_score_and_id = sorted(scores.items(), key=itemgetter(1, 0), reverse=True)
    return [note_id for note_id, _score in by_score_and_id[:limit]]


def _ranked(
    candidates: Sequence[Note],
    scores: Mapping[int, float],
    query: Query,
    question_words: Iterable[str],
    table: WordTable | None,
) -> list[Recalled]:
    """Return the candidates that fit by words, meaning and date, best first. Of equal ones the newest comes first.

    `scores`: for the words of each note, by its id. A stale or past note must have a word of the question itself.
    """
    word_scores = relative_to_best([scores[note.id] for note in candidates])
    stems_of_notes = []
    for note in candidates:
        note_stems = stems_of_note(note.fact, note.topics, note.asked_with)
        stems_of_notes.append(note_stems)
    meaning_scores = _meaning_scores(stems_of_notes, query, table)
    question_stems = {stem(word) for word in question_words}
    recalled = []
    for position, note in enumerate(candidates):
        has_word = not question_stems.isdisjoint(stems_of_notes[position])
        is_inactive = note.stale or note.status is NoteStatus.PAST
        if is_inactive and not has_word:
            continue
        confirmed_on = day_of(note.last_confirmed_at, query.zone)
        date_score = FITS_DATE * query.time.fits(confirmed_on)
        word_score = word_scores[position]
        meaning_score = meaning_scores[position]
        score = word_score + meaning_score + date_score
        recalled.append(Recalled(note, round(score, 6), asked_for=has_word))
    if not recalled:
        return []
    recalled.sort(key=lambda hit: (hit.score, hit.note.id), reverse=True)
    least_score = LEAST_OF_BEST * recalled[0].score
    return [hit for hit in recalled if hit.score >= least_score]


def _meaning_scores(
    stems_of_notes: Sequence[Collection[str]],
    query: Query,
    table: WordTable | None,
) -> list[float]:
    """Return the score of each note for its meaning, 0 without a table. `stems_of_notes`: the stems of each note."""
    if table is None:
        return [0.0] * len(stems_of_notes)
    cosines = cosines_to(query, stems_of_notes, table)
    nearness = relative_to_best([max(cosine, 0.0) for cosine in cosines])
    return [MEANING_SHARE * near for near in nearness]


def _few_of_each(ranked: Iterable[Recalled], limit: int) -> list[Recalled]:
    """Return the best notes: at most `limit`, and at most PER_SUBJECT of each viewer and of the channel."""
    shown: list[Recalled] = []
    number_shown: Counter[str | None] = Counter()
    for hit in ranked:
        if len(shown) == limit:
            break
        subject_id = hit.note.subject_id
        if number_shown[subject_id] < PER_SUBJECT:
            number_shown[subject_id] += 1
            shown.append(hit)
    return shown
