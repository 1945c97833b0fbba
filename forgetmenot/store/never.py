"""Rows of `never_mention`: what recall and replies leave alone. A change lets go of the briefs that may speak of it."""

from typing import NamedTuple

from forgetmenot.store.database import Source, Transaction


class Left(NamedTuple):
    """One row. `viewer_id` None: of the whole channel; `note_id`: that one note, and its words when it was named."""

    id: int
    viewer_id: str | None
    words: str
    note_id: int | None
    by_id: str | None
    at: int


async def add(
    tx: Transaction, viewer_id: str | None, words: str, *, note_id: int | None, by_id: str | None, at: int
) -> int:
    """Leave something alone from now on; the row's id."""
    await tx.execute("DELETE FROM briefs WHERE viewer_id = ?1 OR ?1 IS NULL", (viewer_id,))
    return await tx.insert(
        "INSERT INTO never_mention (viewer_id, words, note_id, by_id, at) VALUES (?, ?, ?, ?, ?)",
        (viewer_id, words, note_id, by_id, at),
    )


async def remove(tx: Transaction, row_id: int) -> bool:
    """Let it be brought up again; False if there is no such row."""
    return bool(await tx.execute("DELETE FROM never_mention WHERE id = ?", (row_id,)))


async def revision(source: Source) -> tuple[int, int, int]:
    """Another value whenever a row came or went."""
    found = (await source.rows("SELECT count(*), coalesce(max(id), 0), coalesce(sum(at), 0) FROM never_mention"))[0]
    return found[0], found[1], found[2]


async def with_facts(source: Source) -> list[tuple[Left, str]]:
    """Every row, oldest first, and what the note says that it names, if it names one that is there."""
    rows = await source.rows(
        "SELECT n.*, coalesce(s.fact, '') FROM never_mention n LEFT JOIN semantic_notes s ON s.id = n.note_id"
        " ORDER BY n.id"
    )
    return [(Left(*row[:-1]), row[-1]) for row in rows]


async def listed(source: Source) -> list[Left]:
    """Every row, oldest first."""
    return [Left(*row) for row in await source.rows("SELECT * FROM never_mention ORDER BY id")]
