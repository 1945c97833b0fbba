"""Tier 1."""

import pytest

from forgetmenot.clock import HOUR
from forgetmenot.domain.chat import EventKind, Role
from forgetmenot.domain.memory import EpisodeKind, Part
from forgetmenot.store import episode_mending, episodes, events, identities, tally
from forgetmenot.store.database import Database, Transaction
from forgetmenot.store.episodes import NewEpisode
from forgetmenot.store.events import Clear, NewEvent
from forgetmenot.store.identities import Seen


def row(event_id: str, run_id: int, at: int = 1, viewer_id: str = "1") -> NewEvent:
    return NewEvent(
        event_id,
        run_id,
        None,
        viewer_id,
        EventKind.MESSAGE,
        "text",
        "",
        None,
        Role.VIEWER,
        0,
        False,
        False,
        False,
        at,
        None,
    )


@pytest.fixture
async def run_id(db: Database) -> int:
    run = await tally.begin_run(db, "test", 1)
    async with db.write() as tx:
        await identities.take_in(tx, [Seen(who, f"login{who}", f"Login{who}", Role.VIEWER, 1, 1) for who in "12"])
    return run


async def insert(db: Database, *rows: NewEvent) -> set[str] | None:
    async with db.write() as tx:
        return await events.insert(tx, rows)


async def test_insert_tells_what_was_new(db: Database, run_id: int) -> None:
    assert await insert(db, row("a", run_id), row("b", run_id)) is None
    assert await insert(db, row("b", run_id), row("c", run_id), row("c", run_id)) == {"c"}
    assert [line.id for line in await events.unread(db)] == ["a", "b", "c"]


async def cover(db: Database, *seqs: int) -> int | None:
    new = NewEpisode(EpisodeKind.CHAT, None, 1, 1, "summary", {"1": Part(len(seqs), 0)}, seqs)
    return await episodes.write(db, new, 1)


async def test_an_event_is_covered_once(db: Database, run_id: int) -> None:
    await insert(db, row("a", run_id), row("b", run_id))
    assert await cover(db, 1) == 1
    assert await cover(db, 1, 2) is None
    assert await db.value("SELECT count(*) FROM episodes") == 1
    assert [line.seq for line in await events.unread(db)] == [2]


async def clear(db: Database, what: Clear) -> int:
    async with db.write() as tx:
        return await events.clear(tx, what, 5)


async def test_a_clear_dirties_the_episode_once(db: Database, run_id: int) -> None:
    await insert(db, row("a", run_id), row("b", run_id), row("c", run_id, viewer_id="2"))
    await cover(db, 1, 2, 3)
    assert await clear(db, Clear(5, viewer_id="1")) == 2
    assert await clear(db, Clear(6, event_id="a")) == 0
    assert [one.id for one in await episode_mending.dirty(db)] == [1]
    assert [line.id for line in await events.of_episode(db, 1)] == ["c"]


async def test_lines_are_found_by_age_person_and_id(db: Database, run_id: int) -> None:
    await insert(db, *(row(f"m{at}", run_id, at, "12"[at % 2]) for at in range(1, 6)))
    assert [line.at for line in await events.latest_of(db, "1", 9)] == [2, 4]
    assert await events.by_id(db, "m9") is None
    assert await events.count_unread(db, before=3) == 2


async def test_pruning_counts_per_run(db: Database, run_id: int) -> None:
    await insert(db, *(row(f"m{i}", run_id, i) for i in range(1, 5)))
    await cover(db, 1)
    await clear(db, Clear(9, event_id="m2"))
    async with db.write() as tx:
        counts = await prune(tx)
    assert counts == {run_id: {"pruned_covered": 1, "pruned_redacted": 1, "pruned_unread": 2}}
    assert await events.count_unread(db) == 0


async def prune(tx: Transaction) -> dict[int, dict[str, int]]:
    return await events.prune(tx, HOUR)
