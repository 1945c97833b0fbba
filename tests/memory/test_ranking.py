"""An order for any text: words, typos, the evidence around a note, then confidence and recency."""

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forgetmenot.memory.meaning import WordTable, word_table
from forgetmenot.memory.ranking import DAY_MS, Candidate, Postings, WordIndex, query_of
from forgetmenot.text.words import stem, words
from tests.notes_world import NOW, note

TABLE = word_table()


def ranked(candidates: list[Candidate], text: str, limit: int = 10, table: WordTable | None = None) -> list[int]:
    return [one.note.id for one in Postings(candidates, table).ranked(query_of(text), now=NOW, limit=limit)]


MARCH = int(datetime(2026, 3, 3, tzinfo=UTC).timestamp() * 1_000)
FACTS = ["plays drums in a band", "lives in Oslo with two cats", "works as a nurse", "speedruns platformers"]
NOTES = [Candidate(note(i, fact)) for i, fact in enumerate(FACTS, start=1)]


@pytest.mark.parametrize(
    ("asked", "found", "table"),
    [
        ("how are your cats?", 2, None), ("still playing the drums?", 1, None),
        ("do you still speedrnu?", 4, None), ("nusre or doctor?", 3, None),
        ("do they have any pets", 2, TABLE), ("what instrument are they into", 1, TABLE),
        ("what is their job?", 3, TABLE),
    ],
)  # fmt: skip
def test_the_note_that_was_asked_for_comes_first_with_typos_and_in_other_words_too(
    asked: str, found: int, table: WordTable | None
) -> None:
    assert ranked(NOTES, asked, table=table)[0] == found


@pytest.mark.parametrize(
    ("candidate", "asked"),
    [
        (Candidate(note(5, "won the final"), ((1, "They talked about the fencing club."),)), "how is fencing going?"),
        (Candidate(note(5, "has a Fiesta", asked_with=("vehicle",))), "what vehicle do they have"),
        (Candidate(note(5, "bought a van")), "alice's van"),
        (Candidate(note(5, "was on a trip", last_confirmed_at=MARCH)), "what trip was that in March?"),
        (Candidate(note(5, "was on a trip", last_confirmed_at=MARCH)), "what trip was that on 3 March 2026?"),
    ],
    ids=["what stands around it", "words that people ask with", "a small word elsewhere", "a month", "a day"],
)
def test_what_finds_a_note(candidate: Candidate, asked: str) -> None:
    assert ranked([*NOTES, Candidate(note(6, "was on a trip")), candidate], asked)[0] == 5


def test_pinned_notes_come_first_and_expired_ones_not_at_all() -> None:
    candidates = [*NOTES, Candidate(note(5, "is a founder", pinned=True)), Candidate(note(6, "drums", expires_at=NOW))]
    assert ranked(candidates, "drums")[:2] == [5, 1]
    assert 6 not in ranked(candidates, "drums")


@pytest.mark.parametrize(("days", "is_first"), [(-2, False), (0, True), (6, True), (9, False)])
def test_a_day_of_the_coming_week_is_offered_before_what_only_fills_up(days: int, *, is_first: bool) -> None:
    day = datetime.fromtimestamp(NOW / 1_000 + days * 86_400, UTC).date()
    due = Candidate(note(9, f"has a job interview on {day}", confidence=0.1, last_confirmed_at=NOW - 20 * DAY_MS))
    assert (ranked([*NOTES, due], "hello there")[0] == 9) is is_first
    assert ranked([*NOTES, due], "how are your cats?")[0] == 2


def test_what_no_word_touches_follows_by_confidence_and_recency() -> None:
    candidates = [
        Candidate(note(1, "likes tea", last_confirmed_at=NOW - 90 * DAY_MS)),
        Candidate(note(2, "likes rain", confidence=0.5)),
        Candidate(note(3, "likes snow", confidence=0.9)),
    ]
    found = Postings(candidates).ranked(query_of("?"), now=NOW, limit=10)
    assert [one.note.id for one in found] == [3, 2, 1]
    assert {one.score for one in found} == {0.0}


TEXT = st.text(max_size=60)


@given(facts=st.lists(TEXT, max_size=14), message=TEXT, summary=TEXT, limit=st.integers(0, 12))
def test_any_text_gets_an_order_of_the_subjects_own_notes(
    facts: list[str], message: str, summary: str, limit: int
) -> None:
    candidates = [Candidate(note(i, fact), ((i % 3, summary),)) for i, fact in enumerate(facts)]
    found = Postings(candidates, TABLE).ranked(query_of(message), now=NOW, limit=limit)
    assert len(found) == min(limit, len(facts))
    assert len({one.note.id for one in found}) == len(found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(0 <= one.score <= 2.2 for one in found)
    assert Postings(candidates, TABLE).ranked(query_of(message), now=NOW, limit=limit) == found


SUFFIXES = """s es ies ied ing ed y ly li al ational tional ation ator ize izer ization ive iviti ativ ative ousness
    ousli fulness fulli lessli biliti bli alism aliti alli entli enci anci abli logi ology ement ment ent ance ence able
    ible icate iciti ical ness ful ism ate iti ous ion sion tion e ll"""
ENGLISH = st.builds(str.__add__, st.text("aeioubcdfglrstvy", min_size=1, max_size=6), st.sampled_from(SUFFIXES.split()))
WORD = ENGLISH | st.text(min_size=1, max_size=8).map(words).filter(len).map(lambda read: read[0])
TEXTS = st.lists(st.lists(WORD, max_size=6), max_size=6)


def index_of(texts: list[list[str]], table: WordTable | None = None) -> WordIndex:
    index = WordIndex(table)
    for place, text in enumerate(texts):
        index.add(place, text, spelling=True)
    return index


@given(TEXTS, WORD)
@example([["dying", "dies", "skies", "gently"]], "die")
@example([["ability", "abilities"]], "able")
@example([["cries", "cry", "crying"]], "cried")
def test_words_are_found_by_their_stem_wherever_it_differs_from_them(texts: list[list[str]], asked: str) -> None:
    every = {word for text in texts for word in text}
    for wanted in {asked, *every}:
        for index in (index_of(texts), index_of(texts, TABLE)):
            assert sorted(index.forms(wanted)) == sorted(word for word in every if stem(word) == stem(wanted))


@pytest.mark.parametrize(
    ("word", "other", "near"),
    [
        ("speedrun", "speedrnu", True), ("nurse", "nusre", True), ("clarinet", "clarinetist", True),
        ("cat", "car", False), ("nurse", "curve", False), ("kalimba", "marimba", False),
    ],
)  # fmt: skip
def test_a_word_that_no_table_lists_finds_what_is_spelt_nearly_so(word: str, other: str, *, near: bool) -> None:
    assert (other in index_of([[other]]).like(word)) is near
