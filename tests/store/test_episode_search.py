"""The index over summaries, as one piece."""

import json

from forgetmenot.clock import ManualClock
from forgetmenot.memory.copies.notes_in import import_notes
from forgetmenot.store import episode_search
from forgetmenot.store.database import Database

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
    return [one.summary for one in await episode_search.best(db, episode_search.any_of([word]), limit=10)]


async def test_after_a_merge_everything_is_found_in_one_piece(db: Database) -> None:
    await summarise(db, "a raid came", "a tuba was played", "the raid left")
    assert await db.value(PIECES) > 1
    await episode_search.merge(db)
    assert await db.value(PIECES) == 1
    assert sorted(await found(db, "raid")) == ["a raid came", "the raid left"]


async def test_what_came_after_a_merge_is_merged_too(db: Database) -> None:
    await episode_search.merge(db)
    await summarise(db, "a raid came")
    await episode_search.merge(db)
    await summarise(db, "a tuba was played")
    assert await db.value(PIECES) == 2
    await episode_search.merge(db)
    await episode_search.merge(db)
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
