"""People are ids."""

import pytest

from forgetmenot.domain import Role
from forgetmenot.people.names import called
from forgetmenot.store import privacy_choices, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.viewers import SeenViewer
from tests.rows import put


def seen_viewer(viewer_id: str, login: str, at: int = 1) -> SeenViewer:
    return SeenViewer(viewer_id, login, login.title(), Role.VIEWER, at, at)


async def take_in(db: Database, *people: SeenViewer) -> None:
    async with db.write() as tx:
        await viewers.record_seen(tx, people)


async def test_two_swap_their_logins(db: Database) -> None:
    """And a login means who holds it now."""
    await take_in(db, seen_viewer("1", "alice"), seen_viewer("2", "bob"))
    await take_in(db, seen_viewer("1", "bob", 5), seen_viewer("2", "alice", 5))
    assert await viewers.names(db, ["1", "2"]) == {"1": "Bob", "2": "Alice"}
    viewer_ids = {
        viewer.name: viewer.id
        for viewer in await called(db, ["alice", "bob", "nobody"])
    }
    assert viewer_ids == {"alice": "2", "bob": "1"}


@pytest.mark.parametrize("known_before", [True, False])
async def test_a_provisional_viewer_becomes_the_real_one(
    db: Database, known_before: bool
) -> None:
    if known_before:
        await take_in(db, seen_viewer("1", "alicia"))
    async with db.write() as tx:
        await viewers.add_unseen(tx, {"login:alice": "alice"}, 1)
        await put(
            tx, "semantic_notes", subject_id="login:alice", fact="is <@login:alice>"
        )
    await take_in(db, seen_viewer("1", "alice", 5))
    row = await db.row("SELECT subject_id, fact FROM semantic_notes")
    assert row is not None
    assert tuple(row) == ("1", "is <@1>")
    assert await db.value("SELECT count(*) FROM viewers") == 1


async def test_who_is_only_shown_by_a_name_does_not_stand_before_who_is_called_so(
    db: Database,
) -> None:
    """Else a moderator's `!forgetme bob confirm` would erase whom somebody with that display name chooses."""
    await take_in(
        db,
        seen_viewer("1", "bob"),
        SeenViewer("6", "mallory", "bob", Role.VIEWER, 9, 9),
    )
    assert [viewer.id for viewer in await called(db, ["bob"])] == ["1"]
    await take_in(db, seen_viewer("1", "robert", 10))
    assert [viewer.id for viewer in await called(db, ["bob"])] == ["6"]


async def test_a_names_colour_is_the_last_that_was_told(db: Database) -> None:
    for color in ("#1e90ff", "", "#ff69b4", ""):
        await take_in(db, seen_viewer("1", "alice")._replace(color=color))
    assert await db.value("SELECT color FROM viewers WHERE id = '1'") == "#ff69b4"


async def test_who_is_to_be_erased_is_found_without_reading_every_viewer(
    db: Database,
) -> None:
    """Asked each minute, of 200,000 viewers."""
    plan = await db.rows(f"EXPLAIN QUERY PLAN {privacy_choices._DUE}", (1,))
    steps = [row["detail"] for row in plan]
    assert not [step for step in steps if step.startswith("SCAN")], steps
