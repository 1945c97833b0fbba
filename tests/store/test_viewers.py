"""People are ids."""

import pytest

from forgetmenot.clock import DAY
from forgetmenot.domain.chat import Role, Standing
from forgetmenot.settings.schema import PeopleSettings
from forgetmenot.store import crowd, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.viewers import Seen, Visit

NOW = 1_000 * DAY


def seen(viewer_id: str, login: str, at: int = 1, role: Role = Role.VIEWER) -> Seen:
    return Seen(viewer_id, login, login.title(), role, at, at)


async def take_in(db: Database, *people: Seen) -> None:
    async with db.write() as tx:
        await viewers.take_in(tx, people)


async def test_a_rename_keeps_the_id_and_the_names_over_time(db: Database) -> None:
    await take_in(db, seen("1", "alice"))
    await take_in(db, seen("1", "alicia", 5))
    assert await viewers.names_of(db, ["1"]) == {"1": "Alicia"}
    assert await viewers.viewer_by_login(db, "alice") is None
    rows = await db.rows("SELECT login FROM viewer_names ORDER BY first_seen_at")
    assert [row[0] for row in rows] == ["alice", "alicia"]


@pytest.mark.parametrize("in_one_batch", [True, False])
async def test_a_recycled_login_inherits_nothing(db: Database, in_one_batch: bool) -> None:
    old, new = seen("1", "alice"), seen("2", "alice", 5)
    for batch in [(old, new)] if in_one_batch else [(old,), (new,)]:
        await take_in(db, *batch)
    assert await viewers.names_of(db, ["1", "2"]) == {"2": "Alice"}
    found = await viewers.viewer_by_login(db, "@Alice")
    assert found is not None
    assert found.id == "2"


async def test_two_swap_their_logins(db: Database) -> None:
    await take_in(db, seen("1", "alice"), seen("2", "bob"))
    await take_in(db, seen("1", "bob", 5), seen("2", "alice", 5))
    assert await viewers.names_of(db, ["1", "2"]) == {"1": "Bob", "2": "Alice"}


async def _provisional_alice(db: Database) -> None:
    async with db.write() as tx:
        await crowd.add_provisional(tx, ["alice"], 1)
        await tx.execute(
            "INSERT INTO semantic_notes (scope, subject_id, fact, confidence, source_kind, created_at,"
            " last_confirmed_at) VALUES ('viewer', 'login:alice', 'is <@login:alice>', 1, 'import', 1, 1)"
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
    assert [one.role for one in await viewers.search(db, "alice")] == [Role.VIP]


async def test_the_role_is_that_of_the_last_line(db: Database) -> None:
    await take_in(db, seen("1", "alice", role=Role.MODERATOR))
    await take_in(db, seen("1", "alice", 5))
    found = await viewers.get(db, "1")
    assert found is not None
    assert found.role is Role.VIEWER


async def test_search_begins_at_the_start_of_a_login(db: Database) -> None:
    await take_in(db, seen("1", "alice", 1), seen("2", "alina", 2), seen("3", "bob"))
    assert [one.id for one in await viewers.search(db, "@AL")] == ["2", "1"]


async def test_called_prefers_who_holds_a_login_now(db: Database) -> None:
    await take_in(db, seen("1", "alice"))
    await take_in(db, seen("1", "alicia", 5), seen("2", "alice", 5))
    found = {one.name: one.id for one in await viewers.called(db, ["alice", "alicia", "nobody"])}
    assert found == {"alice": "2", "alicia": "1"}


async def test_the_bot_has_a_row_and_is_never_around(db: Database) -> None:
    async with db.write() as tx:
        await viewers.add_bot(tx, "99", "fmn", "FMN")
    assert await crowd.around(db, seen_since=1, regular_since=1, regular_streams=1) == []


def came(*days_ago: int) -> list[Visit]:
    return [Visit(NOW - days * DAY, NOW - days * DAY + 1) for days in days_ago]


@pytest.mark.parametrize(
    ("visits", "expected"),
    [
        ([], Standing.NEWCOMER),
        (came(1, 0), Standing.NEWCOMER),
        (came(3, 2, 1), Standing.KNOWN),
        (came(9, 7, 5, 3, 0), Standing.REGULAR),
        (came(90, 80, 70, 3, 0), Standing.KNOWN),
        (came(90, 80, 70, 30, 0), Standing.RETURNER),
        (came(90, 80, 30), Standing.RETURNER),
    ],
)
def test_standing(visits: list[Visit], expected: Standing) -> None:
    assert viewers.standing(visits, PeopleSettings(), NOW) is expected
