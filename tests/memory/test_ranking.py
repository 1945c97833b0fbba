"""An order for any text: words, typos, the evidence around a note, then confidence and recency."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.memory import channel_search
from forgetmenot.memory.ranking import Candidate, Postings, query_of
from forgetmenot.memory.word_index import WordIndex
from forgetmenot.store.note_keys import key_of
from forgetmenot.text.meaning import WordTable, word_table
from tests.notes_world import NOW, note

TABLE = word_table()


def ranked(
    candidates: list[Candidate],
    text: str,
    limit: int = 10,
    table: WordTable | None = None,
) -> list[int]:
    return [
        one.note.id
        for one in Postings(candidates, table).ranked(
            query_of(text), now=NOW, limit=limit
        )
    ]


MARCH = int(datetime(2026, 3, 3, tzinfo=UTC).timestamp() * 1_000)
FACTS = [
    "plays drums in a band",
    "lives in Oslo with two cats",
    "works as a nurse",
    "speedruns platformers",
]
NOTES = [Candidate(note(i, fact)) for i, fact in enumerate(FACTS, start=1)]


@pytest.mark.parametrize(
    ("asked", "found", "table"),
    [
        ("how are your cats?", 2, None),
        ("still playing the drums?", 1, None),
        ("do you still speedrnu?", 4, None),
        ("nusre or doctor?", 3, None),
        ("do they have any pets", 2, TABLE),
        ("what instrument are they into", 1, TABLE),
        ("what is their job?", 3, TABLE),
    ],
)
def test_the_note_that_was_asked_for_comes_first_with_typos_and_in_other_words_too(
    asked: str, found: int, table: WordTable | None
) -> None:
    assert ranked(NOTES, asked, table=table)[0] == found


@pytest.mark.parametrize(
    ("candidate", "asked"),
    [
        (
            Candidate(
                note(5, "won the final"), ((1, "They talked about the fencing club."),)
            ),
            "how is fencing going?",
        ),
        (
            Candidate(note(5, "has a Fiesta", asked_with=("vehicle",))),
            "what vehicle do they have",
        ),
        (Candidate(note(5, "bought a van")), "alice's van"),
        (
            Candidate(note(5, "was on a trip", last_confirmed_at=MARCH)),
            "what trip was that in March?",
        ),
        (
            Candidate(note(5, "was on a trip", last_confirmed_at=MARCH)),
            "what trip was that on 3 March 2026?",
        ),
    ],
    ids=[
        "what stands around it",
        "words that people ask with",
        "a small word elsewhere",
        "a month",
        "a day",
    ],
)
def test_what_finds_a_note(candidate: Candidate, asked: str) -> None:
    assert (
        ranked([*NOTES, Candidate(note(6, "was on a trip")), candidate], asked)[0] == 5
    )


def nearness_of(word: str, near_word: str) -> float:
    """How near two words are in meaning, as the table has it."""
    assert TABLE is not None
    number = TABLE.number(word)
    near_number = TABLE.number(near_word)
    assert number is not None
    assert near_number is not None
    nearness: float = dict(TABLE.near(number))[near_number]
    return nearness


def test_among_a_viewers_notes_a_near_word_counts_half() -> None:
    index = WordIndex(TABLE)
    index.add(0, ["cats"])
    assert index.like("pets") == {
        "cats": pytest.approx(0.5 * nearness_of("pet", "cat"))
    }


def test_among_everybodys_notes_a_near_word_counts_four_fifths() -> None:
    shares = channel_search._near_words("pets", TABLE)
    assert shares[key_of("pet")] == 1.0
    assert shares[key_of("cat")] == pytest.approx(0.8 * nearness_of("pet", "cat"))


def test_pinned_notes_come_first_and_expired_ones_not_at_all() -> None:
    candidates = [
        *NOTES,
        Candidate(note(5, "is a founder", pinned=True)),
        Candidate(note(6, "drums", expires_at=NOW)),
    ]
    assert ranked(candidates, "drums")[:2] == [5, 1]
    assert 6 not in ranked(candidates, "drums")


TEXT = st.text(max_size=60)


@given(
    facts=st.lists(TEXT, max_size=14),
    message=TEXT,
    summary=TEXT,
    limit=st.integers(0, 12),
)
def test_any_text_gets_an_order_of_the_subjects_own_notes(
    facts: list[str], message: str, summary: str, limit: int
) -> None:
    candidates = [
        Candidate(note(i, fact), ((i % 3, summary),)) for i, fact in enumerate(facts)
    ]
    found = Postings(candidates, TABLE).ranked(query_of(message), now=NOW, limit=limit)
    assert len(found) == min(limit, len(facts))
    assert len({one.note.id for one in found}) == len(found)
    assert [one.score for one in found] == sorted(
        (one.score for one in found), reverse=True
    )
    assert all(0 <= one.score <= 2.2 for one in found)
    assert (
        Postings(candidates, TABLE).ranked(query_of(message), now=NOW, limit=limit)
        == found
    )
