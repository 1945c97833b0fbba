"""Taken back by a person: a retraction, a supersede, an undo; in one step, and nothing is lost."""

from typing import TYPE_CHECKING

import pytest

from forgetmenot.clock import DAY
from forgetmenot.domain.memory import NoteStatus
from forgetmenot.memory.notes.proposals import Refused
from forgetmenot.memory.notes.remember import remember
from forgetmenot.memory.notes.undoing import retract, undo
from forgetmenot.store import notes

if TYPE_CHECKING:
    from tests.notes_world import World


async def test_a_retracted_note_keeps_its_text_and_comes_back(world: "World") -> None:
    note = await remember(world.db, "1", "lives in Oslo", by="1", at=1)
    assert (await retract(world.db, note.id, at=2, cause="wrong")).id == note.id
    gone = await notes.get(world.db, note.id)
    assert gone is not None
    assert (gone.status, gone.fact) == (NoteStatus.RETRACTED, "lives in Oslo")
    with pytest.raises(Refused, match="not_live"):
        await retract(world.db, note.id, at=2, cause="wrong")
    assert (await undo(world.db, note.id, at=3)).status is NoteStatus.ACTIVE
    assert [change.cause for change in await notes.changes(world.db, note.id)] == ["said", "wrong", "undone"]


@pytest.mark.parametrize("by_the_old_one", [True, False])
async def test_a_supersede_is_undone_in_one_step_by_either_number(world: "World", by_the_old_one: bool) -> None:
    old = await remember(world.db, "1", "lives in Oslo", by="1", at=1)
    new = await remember(world.db, "1", "lives in Rome", by="1", at=2)
    back = await undo(world.db, old.id if by_the_old_one else new.id, at=3)
    assert back.id == old.id
    assert [note.id for note in await notes.of_subject(world.db, "1")] == [old.id]
    assert [note.id for note in await notes.of_subject(world.db, "1", (NoteStatus.RETRACTED,))] == [new.id]


async def test_undoing_a_note_that_was_brought_back_turns_the_two_round(world: "World") -> None:
    at = world.clock.now()
    first = await remember(world.db, "1", "lives in Oslo", by="1", at=at)
    second = await remember(world.db, "1", "lives in Rome", by="1", at=at + DAY)
    assert (await remember(world.db, "1", "lives in Oslo", by="1", at=at + 2 * DAY)).id == first.id
    assert (await undo(world.db, first.id, at=at + 3 * DAY)).id == second.id
    was = await notes.get(world.db, first.id)
    assert was is not None
    assert (was.status, was.superseded_by) == (NoteStatus.SUPERSEDED, second.id)


@pytest.mark.parametrize("again", [1, 2, 3])
async def test_what_was_undone_can_be_undone_and_never_do_both_stand(world: "World", again: int) -> None:
    at = world.clock.now()
    one = await remember(world.db, "1", "lives in Oslo", by="1", at=at)
    two = await remember(world.db, "1", "lives in Rome", by="1", at=at + DAY)
    for turn in range(again):
        back = (one, two)[turn % 2]
        assert (await undo(world.db, back.id, at=at + (2 + turn) * DAY)).id == back.id
        assert [note.id for note in await notes.of_subject(world.db, "1")] == [back.id]


async def test_there_may_be_nothing_to_undo_or_to_retract(world: "World") -> None:
    note = await remember(world.db, "1", "lives in Oslo", by="1", at=1)
    with pytest.raises(Refused, match="nothing_to_undo"):
        await undo(world.db, note.id, at=2)
    with pytest.raises(Refused, match="not_found"):
        await undo(world.db, 404, at=2)
    with pytest.raises(Refused, match="not_found"):
        await retract(world.db, 404, at=2, cause="wrong")
