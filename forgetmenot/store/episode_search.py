"""Episodes by the words of their summaries (FTS5): none that rests on a cleared line.

What a summary says of people who opted out or were banned still stands in it: the caller cuts it.
"""

import json
from collections.abc import Iterable, Sequence

from forgetmenot.domain.memory import Episode
from forgetmenot.store.database import Database, Source
from forgetmenot.store.episodes import episode_of

PAGES_AT_ONCE = 500
_BEST = """
SELECT e.*, NULL AS people FROM (SELECT rowid, rank FROM episodes_fts WHERE episodes_fts MATCH :match
    ORDER BY rank LIMIT :limit + 20 + json_array_length(:without)) f JOIN episodes e ON e.id = f.rowid
WHERE e.id NOT IN (SELECT value FROM json_each(:without)) AND e.dirty_at IS NULL ORDER BY f.rank LIMIT :limit
"""
_NEWEST = """
SELECT e.*, NULL AS people FROM (SELECT rowid FROM episodes_fts WHERE episodes_fts MATCH :match
    ORDER BY rowid DESC LIMIT :limit + json_array_length(:without)) f JOIN episodes e ON e.id = f.rowid
WHERE e.id NOT IN (SELECT value FROM json_each(:without)) AND e.dirty_at IS NULL ORDER BY e.id DESC LIMIT :limit
"""
_RAREST = """
SELECT value FROM json_each(?) ORDER BY
    (SELECT count(*) FROM (SELECT 1 FROM episodes_fts WHERE episodes_fts MATCH value LIMIT 300)) LIMIT ?
"""


async def best(source: Source, match: str, *, limit: int, without: Sequence[int] = ()) -> list[Episode]:
    """The episodes whose summary fits a full-text query best, best first.

    `match` is FTS5's own syntax: build it with `any_of`, never from foreign text. The few best are chosen by their
    numbers before anything else of them is read.
    """
    rows = await source.rows(_BEST, {"match": match, "without": json.dumps(list(without)), "limit": limit})
    return [episode_of(row) for row in rows]


async def speaking_of(
    source: Source, terms: Sequence[str], *, at_least: int, limit: int, without: Sequence[int] = ()
) -> list[Episode]:
    """The newest candidates for having `at_least` of these words (two or more; one of one) in their summary.

    Whatever has k of n words has two of the rarest n - k + 2, and those that have are few. Newest first, so that
    nothing reads to its end the thousands of summaries that a pair of common words stands in.
    """
    rare = await _rarest(source, [any_of([term]) for term in terms], max(2, len(terms) - at_least + 2))
    pairs = [f"({word} AND ({' OR '.join(rare[place:])}))" for place, word in enumerate(rare[:-1], start=1)]
    values = {"match": " OR ".join(pairs or rare), "without": json.dumps(list(without)), "limit": limit}
    return [episode_of(row) for row in await source.rows(_NEWEST, values)]


async def _rarest(source: Source, quoted: list[str], most: int) -> list[str]:
    if len(quoted) <= most:
        return quoted
    return [row[0] for row in await source.rows(_RAREST, (json.dumps(quoted), most))]


def any_of(terms: Iterable[str]) -> str:
    """An FTS5 query that takes any of these words; quoted, so that none of them is an operator."""
    return " OR ".join('"' + term.replace('"', '""') + '"' for term in terms)


async def merge(db: Database) -> None:
    """Make the index one piece: every word of a search is looked up in each of its pieces, and writing leaves many.

    In steps, between which others may write.
    """
    pages = -PAGES_AT_ONCE  # below 0: of whatever size the pieces are
    while await _merge_some(db, pages):
        pages = PAGES_AT_ONCE


async def _merge_some(db: Database, pages: int) -> bool:
    """One step; whether it had something to do."""
    async with db.write() as tx:
        before = await tx.value("SELECT total_changes()")
        await tx.execute("INSERT INTO episodes_fts (episodes_fts, rank) VALUES ('merge', ?)", (pages,))
        return int(await tx.value("SELECT total_changes()")) - int(before) > 1
