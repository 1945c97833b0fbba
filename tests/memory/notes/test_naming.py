"""Names become ids before a text is stored."""

from typing import TYPE_CHECKING

import pytest

from forgetmenot.memory.notes.naming import with_mentions
from forgetmenot.memory.notes.remember import remember

if TYPE_CHECKING:
    from tests.notes_world import World


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("plays in bob's band", "plays in <@2>'s band"),
        ("knows @Bob, and <@1> too", "knows <@2>, and <@1> too"),
        ("<@2> owes bob a coffee", "<@2> owes <@2> a coffee"),
        ("knows @nobody", "knows someone"),
        ("drinks tea", "drinks tea"),
        ("<@1>", "<@1>"),
        ("", ""),
    ],
)
async def test_names_become_ids_once_and_for_all(world: "World", typed: str, stored: str) -> None:
    assert await with_mentions(world.db, typed) == stored
    assert await with_mentions(world.db, stored) == stored


async def test_every_note_that_is_told_is_named_whatever_door_it_came_through(world: "World") -> None:
    note = await remember(world.db, "1", "sings with bob", by="9", at=world.clock.now())
    assert note.fact == "sings with <@2>"
