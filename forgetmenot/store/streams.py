"""Streams: when each began and ended, what it was called, and its recap."""

import json
from collections.abc import Collection

from forgetmenot.domain.chat import Stream
from forgetmenot.store.database import Row, Source, Transaction


async def begin(tx: Transaction, at: int, *, twitch_id: str | None = None, title: str = "", category: str = "") -> int:
    """Open a stream; its id."""
    return await tx.insert(
        "INSERT INTO streams (started_at, last_event_at, twitch_id, title, category) VALUES (?1, ?1, ?2, ?3, ?4)",
        (at, twitch_id, title, category),
    )


async def touch(tx: Transaction, stream_id: int, at: int) -> None:
    """Something was said in it."""
    await tx.execute("UPDATE streams SET last_event_at = max(last_event_at, ?) WHERE id = ?", (at, stream_id))


async def describe(tx: Transaction, stream_id: int, *, twitch_id: str | None, title: str, category: str) -> None:
    """What Twitch says about it."""
    await tx.execute(
        "UPDATE streams SET twitch_id = coalesce(?, twitch_id), title = ?, category = ? WHERE id = ?",
        (twitch_id, title, category, stream_id),
    )


async def end(tx: Transaction, stream_id: int, at: int) -> None:
    """Close it, once; never before it began."""
    await tx.execute(
        "UPDATE streams SET ended_at = max(?, started_at) WHERE id = ? AND ended_at IS NULL", (at, stream_id)
    )


async def open_one(source: Source) -> Row | None:
    """The stream that is on: id, started_at, last_event_at, twitch_id."""
    return await source.row("SELECT * FROM streams WHERE ended_at IS NULL ORDER BY id DESC LIMIT 1")


async def open_id(source: Source) -> int | None:
    """The stream that is on now."""
    row = await source.row("SELECT id FROM streams WHERE ended_at IS NULL ORDER BY id DESC LIMIT 1")
    return int(row[0]) if row else None


async def start_of(source: Source, stream_id: int | None) -> int:
    """When a stream began; 0 for none."""
    row = await source.row("SELECT started_at FROM streams WHERE id = ?", (stream_id,))
    return int(row[0]) if row else 0


async def last_heard(source: Source) -> int:
    """When the last line of any stream was said (ms); 0 in an empty memory."""
    return int(await source.value("SELECT coalesce(max(last_event_at), 0) FROM streams"))


async def before(source: Source, stream_id: int | None) -> tuple[int, str] | None:
    """The stream before that one (None: the last of all) with its recap; without, while it rests on a cleared line."""
    row = await source.row(
        "SELECT id, iif(EXISTS (SELECT 1 FROM episodes e WHERE e.stream_id = streams.id AND e.dirty_at IS NOT NULL),"
        " '', recap) FROM streams WHERE ?1 IS NULL OR id < ?1 ORDER BY id DESC LIMIT 1",
        (stream_id,),
    )
    return (row[0], row[1]) if row else None


async def recaps(source: Source, stream_ids: Collection[int]) -> dict[int, str]:
    """The recaps of these streams, where there is one."""
    rows = await source.rows(
        "SELECT id, recap FROM streams WHERE recap != '' AND id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(stream_ids)),),
    )
    return {row[0]: row[1] for row in rows}


async def ago(source: Source, stream_ids: Collection[int]) -> dict[int, int]:
    """How many streams ago each of these was: 0 is the one that is on, 1 the last that is over."""
    rows = await source.rows(
        "SELECT s.id, (SELECT count(*) FROM streams n WHERE n.started_at > s.started_at)"
        " + (NOT EXISTS (SELECT 1 FROM streams o WHERE o.ended_at IS NULL))"
        " FROM streams s WHERE s.id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(stream_ids)),),
    )
    return {row[0]: row[1] for row in rows}


async def without_recap(source: Source) -> list[Stream]:
    """Closed streams that have no recap yet and nothing unread or to be read again, oldest first."""
    rows = await source.rows(
        "SELECT * FROM streams s WHERE s.ended_at IS NOT NULL AND s.recapped_at IS NULL"
        " AND NOT EXISTS (SELECT 1 FROM events e WHERE e.stream_id = s.id AND e.episode_id IS NULL"
        "  AND e.redacted_at IS NULL)"
        " AND NOT EXISTS (SELECT 1 FROM episodes p WHERE p.stream_id = s.id AND p.dirty_at IS NOT NULL)"
        " ORDER BY s.id"
    )
    return [_stream(row) for row in rows]


async def closed(source: Source) -> frozenset[int]:
    """The ids of streams that have ended and still hold unread events."""
    rows = await source.rows(
        "SELECT DISTINCT e.stream_id FROM events e JOIN streams s ON s.id = e.stream_id"
        " WHERE e.episode_id IS NULL AND e.redacted_at IS NULL AND s.ended_at IS NOT NULL"
    )
    return frozenset(row[0] for row in rows)


async def set_recap(tx: Transaction, stream_id: int, recap: str, at: int) -> bool:
    """Write a stream's recap; False if it has one."""
    changed = await tx.execute(
        "UPDATE streams SET recap = ?, recapped_at = ? WHERE id = ? AND recapped_at IS NULL", (recap, at, stream_id)
    )
    return changed == 1


async def forget_recap(tx: Transaction, stream_id: int | None) -> None:
    """An episode of it was summarised again: its recap has to be written again."""
    await tx.execute("UPDATE streams SET recap = '', recapped_at = NULL WHERE id = ?", (stream_id,))


async def recapped(source: Source, days: int) -> list[Stream]:
    """The streams that ended within so many days of the newest one that is over, oldest first.

    Nothing while a stream that is over waits for its recap.
    """
    rows = await source.rows(
        "SELECT * FROM streams WHERE recap <> '' AND ended_at > (SELECT max(ended_at) FROM streams) - ? * 86400000"
        " AND NOT EXISTS (SELECT 1 FROM streams s WHERE s.ended_at IS NOT NULL AND s.recapped_at IS NULL)"
        " ORDER BY ended_at, id",
        (days,),
    )
    return [_stream(row) for row in rows]


def _stream(row: Row) -> Stream:
    return Stream(row["id"], row["started_at"], row["ended_at"], row["title"], row["category"], row["recap"])
