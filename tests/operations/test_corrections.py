"""When a note may be corrected as a model says: a word of the line, or where that is foreign, what is meant."""

import pytest

from forgetmenot.domain import ChatEvent, EventKind, Proposal
from forgetmenot.operations import facts
from forgetmenot.operations.facts import ActionContext
from forgetmenot.settings.schema import Settings
from tests.notes_world import World, world

__all__ = ["world"]


async def typed(world: World, stored: str, fact: str, line: str) -> str:
    """The correction of a note of alice's that a line of hers may bring about; empty: none."""
    note_id = await world.note(stored)
    event = ChatEvent(
        "e1", EventKind.MESSAGE, "1", "alice", "Alice", line, world.clock.now()
    )
    proposal = Proposal("correct", {"note": str(note_id), "fact": fact})
    context = ActionContext(event, "k1", question=line)
    gathered = await facts.gather(
        world.db, proposal, context, frozenset(), Settings(), world.clock.now()
    )
    return gathered.typed.get("correct", "")


@pytest.mark.parametrize(
    ("stored", "fact", "line"),
    [
        ("works as a baker", "works as a cook", "ich bin jetzt Koch"),
        ("works as a baker", "is a firefighter", "maintenant je suis pompier"),
        ("lives in Zurich", "lives in Vienna", "ich wohne jetzt in Wien"),
        ("works as a plumber", "became a teacher", "ahora soy maestra"),
        ("is a student", "works as a nurse", "agora sou enfermeira"),
        ("has a dog called Rex", "has a cat", "今は猫がいます"),
        (
            "favourite colour is green",
            "favourite colour is blue",
            "meine Lieblingsfarbe ist Blau",
        ),
        ("works as a baker", "works as a cook", "I am a cook now"),
        (
            "owes 20 euros since 2 November 2026 for a lost bet",
            "paid the 20 euros of the lost bet on 8 November 2026",
            "falsch, das habe ich am sonntag überwiesen",
        ),
    ],
)
async def test_a_translated_correction_is_checked_by_what_it_means(
    world: World, stored: str, fact: str, line: str
) -> None:
    assert await typed(world, stored, fact, line) == fact


@pytest.mark.parametrize(
    ("stored", "fact", "line"),
    [
        ("plays the cello", "lives in Graz", "ich bin jetzt Koch"),
        ("works as a baker", "works as a cook", "bist du jetzt Koch?"),
        ("works as a baker", "works as a cook", "was bin ich von Beruf"),
        ("works as a baker", "works as a cook", "I like this song"),
        ("works as a baker", "works as a cook", "guten Abend"),
        ("has two cats", "has 3 cats", "ich habe jetzt mehr Katzen"),
    ],
)
async def test_a_line_that_does_not_correct_the_note_changes_nothing(
    world: World, stored: str, fact: str, line: str
) -> None:
    assert await typed(world, stored, fact, line) == ""
