"""Tier 1."""

import json

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.domain.chat import EventKind, Role
from forgetmenot.memory.transfer import import_notes
from forgetmenot.store import episodes, events, run_stats, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.events import NewEvent
from forgetmenot.store.viewers import SeenViewer


def row(event_id: str, run_id: int, at: int = 1, viewer_id: str = "1") -> NewEvent:
    return NewEvent(event_id, run_id, None, viewer_id, EventKind.MESSAGE, Role.VIEWER, at, "text")


@pytest.fixture
async def run_id(db: Database) -> int:
    run = await run_stats.begin_run(db, "test", 1)
    async with db.write() as tx:
        await viewers.record_seen(
            tx, [SeenViewer(who, f"login{who}", f"Login{who}", Role.VIEWER, 1, 1) for who in "12"]
        )
    return run


async def insert(db: Database, *rows: NewEvent) -> set[str] | None:
    async with db.write() as tx:
        return await events.insert(tx, rows)


async def test_lines_are_found_by_age_person_and_id(db: Database, run_id: int) -> None:
    await insert(db, *(row(f"m{at}", run_id, at, "12"[at % 2]) for at in range(1, 6)))
    assert [line.at for line in await events.latest_of(db, "1", 9)] == [2, 4]
    assert await events.by_id(db, "m9") is None
    assert await events.count_unread(db) == 5


PIECES = "SELECT count(DISTINCT segid) FROM episodes_fts_idx"


async def summarise(db: Database, *summaries: str) -> None:
    """Each by itself: every transaction leaves a piece."""
    for summary in summaries:
        async with db.write() as tx:
            await tx.execute(
                "INSERT INTO episodes (kind, started_at, ended_at, summary, events, created_at)"
                " VALUES ('chat', 0, 0, ?, 1, 0)",
                (summary,),
            )


async def found(db: Database, word: str) -> list[str]:
    return [one.summary for one in await episodes.search(db, episodes.any_of([word]), limit=10)]


async def test_after_a_merge_everything_is_found_in_one_piece(db: Database) -> None:
    await summarise(db, "a raid came", "a tuba was played", "the raid left")
    assert await db.value(PIECES) > 1
    await db.merge_search_index()
    assert await db.value(PIECES) == 1
    assert sorted(await found(db, "raid")) == ["a raid came", "the raid left"]


async def test_what_came_after_a_merge_is_merged_too(db: Database) -> None:
    await db.merge_search_index()
    await summarise(db, "a raid came")
    await db.merge_search_index()
    await summarise(db, "a tuba was played")
    assert await db.value(PIECES) == 2
    await db.merge_search_index()
    await db.merge_search_index()
    assert await db.value(PIECES) == 1
    assert await found(db, "tuba") == ["a tuba was played"]


async def test_an_import_leaves_one_piece(db: Database, clock: ManualClock) -> None:
    for number in range(3):
        line = {
            "viewer": "alice",
            "fact": f"plays tuba number {number}",
            "episode": {"key": f"{number}", "summary": "x"},
        }
        await import_notes(db, [json.dumps(line)], now=clock.now())
    assert await db.value(PIECES) == 1
