"""An order for any text: words, typos, the evidence around a note, then confidence and recency."""

import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st

from forgetmenot.domain.memory import Importance, Note, NoteStatus, Scope, SourceKind
from forgetmenot.memory.ranking import DAY_MS, Candidate, Postings, by_recency, freshness, fuse, query_of

NOW = 1_784_894_400_000


def note(note_id: int, fact: str, **changes: object) -> Note:
    """A note that nothing distinguishes but its fact."""
    plain = Note(
        id=note_id,
        scope=Scope.VIEWER,
        subject_id="7",
        fact=fact,
        confidence=0.8,
        status=NoteStatus.ACTIVE,
        source_kind=SourceKind.SELF_CLAIM,
        importance=Importance.MEDIUM,
        topics=(),
        asked_with=(),
        created_at=NOW,
        last_confirmed_at=NOW,
        expires_at=None,
        superseded_by=None,
        pinned=False,
        episode_ids=(),
    )
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]  # the fields are the caller's


def ranked(candidates: list[Candidate], text: str, limit: int = 10) -> list[int]:
    return [one.note.id for one in Postings(candidates).ranked(query_of(text), now=NOW, limit=limit)]


FACTS = ["plays drums in a band", "lives in Oslo with two cats", "works as a nurse", "speedruns platformers"]
NOTES = [Candidate(note(i, fact)) for i, fact in enumerate(FACTS, start=1)]


def test_the_note_that_was_asked_for_comes_first() -> None:
    assert ranked(NOTES, "how are your cats?")[0] == 2
    assert ranked(NOTES, "still playing the drums?")[0] == 1


def test_typos_find_it_too() -> None:
    assert ranked(NOTES, "do you still speedrnu?")[0] == 4
    assert ranked(NOTES, "nusre or doctor?")[0] == 3


def test_all_notes_are_given_when_there_is_room() -> None:
    assert sorted(ranked(NOTES, "drums")) == [1, 2, 3, 4]


def test_what_stands_around_a_note_finds_it() -> None:
    around = [*NOTES, Candidate(note(5, "won the final on Sunday"), ((1, "They talked about the fencing club."),))]
    assert ranked(around, "how is fencing going?")[0] == 5


def test_words_that_people_ask_with_find_a_note() -> None:
    asked = [*NOTES, Candidate(note(5, "has a Fiesta", topics=("car",), asked_with=("vehicle",)))]
    assert ranked(asked, "what vehicle do they have")[0] == 5


def test_a_note_of_the_same_episode_helps_less_than_the_fact_itself() -> None:
    together = ((9, "An evening in chat."),)
    candidates = [Candidate(note(1, "bakes bread"), together), Candidate(note(2, "collects stamps"), together)]
    assert ranked([*candidates, Candidate(note(3, "sails"))], "stamps") == [2, 1, 3]


def test_pinned_notes_come_first_and_expired_ones_not_at_all() -> None:
    candidates = [*NOTES, Candidate(note(5, "is a founder", pinned=True)), Candidate(note(6, "drums", expires_at=NOW))]
    assert ranked(candidates, "drums")[:2] == [5, 1]
    assert 6 not in ranked(candidates, "drums")


def test_what_no_word_touches_follows_by_confidence_and_recency() -> None:
    candidates = [
        Candidate(note(1, "likes tea", last_confirmed_at=NOW - 90 * DAY_MS)),
        Candidate(note(2, "likes rain", confidence=0.5)),
        Candidate(note(3, "likes snow", confidence=0.9)),
    ]
    found = Postings(candidates).ranked(query_of("?"), now=NOW, limit=10)
    assert [one.note.id for one in found] == [3, 2, 1]
    assert {one.score for one in found} == {0.0}
    assert [one.note.id for one in by_recency([c.note for c in candidates], now=NOW, limit=2)] == [3, 2]


def test_a_confirmation_from_the_future_counts_as_now() -> None:
    assert freshness(note(1, "x", last_confirmed_at=NOW + DAY_MS), NOW) == freshness(note(1, "x"), NOW)


def test_a_note_stuffed_with_keywords_does_not_win_over_the_fact() -> None:
    stuffed = note(9, "drums cats nurse oslo band speedruns platformers works lives plays music pets job city")
    assert ranked([*NOTES, Candidate(stuffed)], "who lives in Oslo?")[0] == 2


def test_the_query_is_what_is_asked_without_names_and_filler() -> None:
    query = query_of("hey bot do you know what alice drives?", low="Gran Turismo", without=["bot", "Alice"])
    assert query == {"drives": 1.0, "gran": 0.3, "turismo": 0.3}
    assert query_of("drives", low="drives") == {"drives": 1.0}


def test_fusing_takes_each_scoring_by_its_best() -> None:
    assert fuse({1: 10.0, 2: 5.0}, {2: 0.1}) == {1: 0.5, 2: 0.75}
    assert fuse({1: 0.0}, {}) == {}


def test_nothing_known_gives_nothing() -> None:
    assert ranked([], "drums") == []
    assert Postings([]).size == 0
    assert ranked(NOTES, "drums", limit=0) == []


TEXT = st.text(max_size=60)


@settings(max_examples=80, deadline=None)
@given(facts=st.lists(TEXT, max_size=14), message=TEXT, summary=TEXT, limit=st.integers(0, 12))
def test_any_text_gets_an_order_of_the_subjects_own_notes(
    facts: list[str], message: str, summary: str, limit: int
) -> None:
    candidates = [Candidate(note(i, fact), ((i % 3, summary),)) for i, fact in enumerate(facts)]
    found = Postings(candidates).ranked(query_of(message), now=NOW, limit=limit)
    assert len(found) == min(limit, len(facts))
    assert len({one.note.id for one in found}) == len(found)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert all(0 <= one.score <= 1.000001 for one in found)
    assert Postings(candidates).ranked(query_of(message), now=NOW, limit=limit) == found
    weighed = Postings(candidates)
    weighed.weigh_all()
    assert weighed.ranked(query_of(message), now=NOW, limit=limit) == found


def test_what_was_weighed_beforehand_is_not_worked_out_again() -> None:
    postings = Postings(NOTES)
    before = postings.size
    postings.weigh_all()
    weighed = postings.size
    assert weighed > before
    postings.ranked(query_of("do you play drums in Oslo with platformers?"), now=NOW, limit=5)
    assert postings.size == weighed
