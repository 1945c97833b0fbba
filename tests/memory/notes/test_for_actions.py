"""What an action may do to the memory: names become ids, forgetting means what its asker may mean, a bit is hearsay."""

from typing import TYPE_CHECKING

import pytest

from forgetmenot.domain.action import OutcomeKind
from forgetmenot.domain.memory import Note, NoteStatus, Scope, SourceKind
from forgetmenot.memory.notes.for_actions import NotesForActions
from forgetmenot.memory.notes.remember import remember
from forgetmenot.store import episodes, notes

if TYPE_CHECKING:
    from tests.notes_world import World


@pytest.fixture
def hand(world: "World") -> NotesForActions:
    return NotesForActions(db=world.db, settings=lambda: world.settings, clock=world.clock)


async def kept(world: "World", viewer_id: str | None = "1") -> list[Note]:
    return await notes.of_subject(world.db, viewer_id, tuple(NoteStatus))


async def test_people_named_in_a_fact_are_stored_by_id(world: "World", hand: NotesForActions) -> None:
    await hand.remember(about="1", fact="plays in bob's band with @bob and <@9>", asked_by="1")
    [note] = await kept(world)
    assert note.fact == "plays in <@2>'s band with <@2> and (someone>"


async def test_what_an_action_keeps_hangs_on_the_line_that_asked_for_it(world: "World", hand: NotesForActions) -> None:
    """When that is deleted, so is this, as after a `!remember`."""
    await hand.remember(about="1", fact="plays drums", asked_by="1", line="e1")
    await hand.flag_bit(bit="the lamp fell again", asked_by="1", line="e2")
    keys = await world.db.rows("SELECT key FROM episodes ORDER BY id")
    assert [row[0] for row in keys] == [episodes.key_of_line("e1"), episodes.key_of_line("e2")]


async def test_naming_hides_no_address_from_the_filter(world: "World", hand: NotesForActions) -> None:
    outcome = await hand.remember(about="1", fact="can be reached at bob@example.org", asked_by="1")
    assert (outcome.kind, outcome.detail) == (OutcomeKind.REFUSED, "sensitive:contact")


async def test_what_its_subject_forgets_is_gone_and_what_a_moderator_forgets_can_come_back(
    world: "World", hand: NotesForActions
) -> None:
    await hand.remember(about="1", fact="plays drums in a band", asked_by="1")
    await hand.remember(about="1", fact="has two cats called Salt", asked_by="1")
    assert (await hand.forget(about="1", what="cats", asked_by="9")).kind is OutcomeKind.DONE
    assert {note.fact: note.status for note in await kept(world)} == {
        "plays drums in a band": NoteStatus.ACTIVE,
        "has two cats called Salt": NoteStatus.RETRACTED,
    }
    assert (await hand.forget(about="1", what="drums", asked_by="1")).kind is OutcomeKind.DONE
    assert [note.fact for note in await kept(world)] == ["has two cats called Salt"]


async def test_a_bit_is_something_heard_and_replaces_nothing_that_was_told(
    world: "World", hand: NotesForActions
) -> None:
    assert (await hand.flag_bit(bit="the lamp fell over again", asked_by="9")).kind is OutcomeKind.DONE
    [bit] = await kept(world, None)
    assert (bit.scope, bit.source_kind, bit.confidence) == (Scope.RUNNING_BIT, SourceKind.OBSERVED, 0.5)
    told = await remember(world.db, None, "likes coffee on stream", by="9", at=world.clock.now(), scope=Scope.CHANNEL)
    outcome = await hand.flag_bit(bit="dislikes coffee on stream", asked_by="9")
    assert (outcome.kind, outcome.detail) == (OutcomeKind.REFUSED, "weaker_word")
    assert [note.id for note in await kept(world, None) if note.status is NoteStatus.ACTIVE] == [bit.id, told.id]
    assert (await hand.flag_bit(bit="is a moderator of this channel", asked_by="9")).kind is OutcomeKind.REFUSED
