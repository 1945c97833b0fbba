"""The full-text index of summaries."""

from forgetmenot.store import episodes
from forgetmenot.store.database import Database
from tests.rows import put

PIECES = "SELECT count(DISTINCT segid) FROM episodes_fts_idx"


async def summarise(db: Database, *summaries: str) -> None:
    """Each by itself: every transaction leaves a piece."""
    for summary in summaries:
        async with db.write() as tx:
            await put(tx, "episodes", summary=summary)


async def found(db: Database, word: str) -> list[str]:
    return [one.summary for one in await episodes.search(db, episodes.any_of([word]), limit=10)]


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
