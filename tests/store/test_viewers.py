"""People are ids."""

import pytest

from forgetmenot.domain import Attendance, Role
from forgetmenot.store import streams, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.viewers import SeenViewer


def seen(viewer_id: str, login: str, at: int = 1, role: Role = Role.VIEWER) -> SeenViewer:
    return SeenViewer(viewer_id, login, login.title(), role, at, at)


async def take_in(db: Database, *people: SeenViewer) -> None:
    async with db.write() as tx:
        await viewers.record_seen(tx, people)


async def test_two_swap_their_logins(db: Database) -> None:
    """And a login means who holds it now."""
    await take_in(db, seen("1", "alice"), seen("2", "bob"))
    await take_in(db, seen("1", "bob", 5), seen("2", "alice", 5))
    assert await viewers.names(db, ["1", "2"]) == {"1": "Bob", "2": "Alice"}
    found = {one.name: one.id for one in await viewers.called(db, ["alice", "bob", "nobody"])}
    assert found == {"alice": "2", "bob": "1"}


async def _provisional_alice(db: Database) -> None:
    async with db.write() as tx:
        await viewers.add_unseen(tx, {"login:alice": "alice"}, 1)
        await tx.execute(
            "INSERT INTO semantic_notes (scope, subject_id, fact, confidence, source_kind, created_at,"
            " first_said_at, last_confirmed_at)"
            " VALUES ('viewer', 'login:alice', 'is <@login:alice>', 1, 'import', 1, 1, 1)"
        )


@pytest.mark.parametrize("known_before", [True, False])
async def test_a_provisional_viewer_becomes_the_real_one(db: Database, known_before: bool) -> None:
    if known_before:
        await take_in(db, seen("1", "alicia"))
    await _provisional_alice(db)
    await take_in(db, seen("1", "alice", 5))
    row = await db.row("SELECT subject_id, fact FROM semantic_notes")
    assert row is not None
    assert tuple(row) == ("1", "is <@1>")
    assert await db.value("SELECT count(*) FROM viewers") == 1


async def test_a_viewer_known_by_login_alone_stays_who_they_are(db: Database) -> None:
    """Recordings without ids are replayed under provisional ones."""
    for role in (Role.VIEWER, Role.VIP):
        await take_in(db, seen("login:alice", "alice", role=role))
    found = await viewers.get(db, await viewers.find(db, "alice") or "")
    assert found is not None
    assert (found.id, found.role) == ("login:alice", Role.VIP)


async def test_who_is_only_shown_by_a_name_does_not_stand_before_who_is_called_so(db: Database) -> None:
    """Else a moderator's `!forgetme bob confirm` would erase whom somebody with that display name chooses."""
    await take_in(db, seen("1", "bob"), SeenViewer("6", "mallory", "bob", Role.VIEWER, 9, 9))
    assert [one.id for one in await viewers.called(db, ["bob"])] == ["1"]
    await take_in(db, seen("1", "robert", 10))
    assert [one.id for one in await viewers.called(db, ["bob"])] == ["6"]


async def test_who_was_seen_at_the_same_time_is_found_in_the_same_order_in_every_run(db: Database) -> None:
    """Else a replay's summaries would number people otherwise; the order of a set is another in each process."""
    logins = ["alice", "bob", *(f"viewer_{letter}" for letter in "cdefgh")]
    await take_in(db, *(seen(str(number), login) for number, login in enumerate(logins)))
    assert [one.name for one in await viewers.called(db, set(logins))] == logins


async def test_attendance_counts_streams_and_when_the_one_before_was_left(db: Database) -> None:
    await take_in(db, seen("1", "alice"), seen("2", "bob"))
    async with db.write() as tx:
        await tx.many(
            "INSERT INTO streams (id, started_at, last_event_at) VALUES (?, ?2, ?2)", [(1, 10), (2, 50), (3, 90)]
        )
        await tx.execute("UPDATE streams SET ended_at = started_at + 9 WHERE id < 3")
        await streams.attend(tx, [("1", number, at, at + 1, 2) for number, at in ((1, 10), (2, 50), (3, 90))])
        await streams.attend(tx, [("1", 3, 95, 97, 1)])
    found = await streams.attendance_of(db, ["1", "2"], lately=50)
    assert found == {"1": Attendance(3, 2, 51), "2": Attendance(0, 0, None)}
    assert await db.value("SELECT last_at - first_at FROM attendance WHERE stream_id = 3") == 7
