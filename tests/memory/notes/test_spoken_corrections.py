"""A correction in plain speech counts at once; what is quoted, supposed or joked counts never."""

import pytest

from forgetmenot.domain.memory import Importance, Note, NoteStatus, Scope, SourceKind
from forgetmenot.memory.notes.spoken_corrections import corrected, may_replace
from forgetmenot.text.statements import meant_part

KNOWN = ("lives in Oslo", "plays the viola", "has a driving test on Monday", "likes tea", "has 3 cats and 2 dogs")


def note(number: int, fact: str) -> Note:
    return Note(
        id=number,
        scope=Scope.VIEWER,
        subject_id="1",
        fact=fact,
        confidence=0.9,
        status=NoteStatus.ACTIVE,
        source_kind=SourceKind.SELF_CLAIM,
        importance=Importance.MEDIUM,
        topics=(),
        asked_with=(),
        created_at=0,
        last_confirmed_at=0,
        expires_at=None,
        superseded_by=None,
        pinned=False,
        episode_ids=(),
    )


@pytest.mark.parametrize(
    ("line", "fact"),
    [
        ("I live in Bergen now", "lives in Bergen"),
        ("cello, not viola!", "plays the cello"),
        ("not the viola, the cello", "plays the cello"),
        ("my test got moved, it's Thursday now", "has a driving test on Thursday"),
        ("i switched from viola to tuba", "plays the tuba"),
        ("I live in Oslo", None),  # known
        ("I like coffee", None),  # new, but contradicts nothing
        ("the race moved to Friday", None),  # about something else
        ("4 cats now", None),  # of two numbers nobody says which
        ("Paris, not Rome", None),
    ],
)
def test_a_line_changes_the_one_note_that_it_contradicts(line: str, fact: str | None) -> None:
    found = corrected(line, [note(number, known) for number, known in enumerate(KNOWN)])
    assert (found[1] if found else None) == fact


@pytest.mark.parametrize(
    "line",
    [
        '"I live in Bergen" said the sign',
        "imagine I live in Bergen",
        "I live in Bergen Kappa",
        "what if I moved to Bergen",
        "i'd live in Bergen if they paid me",
        "my mum said I live in Bergen",
        "the song goes I live in Bergen now",
        "ojalá viviera en Bergen",
    ],
)
def test_what_is_not_meant_is_no_evidence(line: str) -> None:
    assert meant_part(line) != line
    assert "I live in Bergen" not in meant_part(line)


@pytest.mark.parametrize(
    ("line", "carried"),
    [
        ("I live in Bergen", True),
        ("I don't live in Oslo anymore I live in Bergen", True),
        ("not Oslo, Bergen", True),
        ("no wait, Bergen", True),
        ("I don't live in Bergen", False),
        ("I never said Bergen lol", False),
        ("do I live in Bergen?", False),
        ("my mum lives in Bergen", False),
    ],
)
def test_a_models_correction_needs_a_line_that_says_so(line: str, carried: bool) -> None:
    assert may_replace(line, "lives in Oslo", "lives in Bergen") is carried
