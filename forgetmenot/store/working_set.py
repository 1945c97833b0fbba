"""What a reply needs to read: the last lines, who is speaking, what was done lately. Reads only.

Nothing of a viewer who opted out or was banned, nothing redacted, and none of the bot's own lines come back from here.
"""

import json
from collections.abc import Collection
from typing import NamedTuple

from forgetmenot.domain.chat import Viewer
from forgetmenot.store.database import Database, Row, Source
from forgetmenot.store.viewers import viewer_of


class ChatLine(NamedTuple):
    """One line of tier 1."""

    seq: int
    event_id: str
    viewer_id: str
    text: str
    at: int


class Attendance(NamedTuple):
    """How often somebody was there: streams in all, since a date, and when the stream before this one was left."""

    streams: int
    lately: int
    before_at: int | None


_LINES = """
SELECT e.seq, e.id, e.viewer_id, e.text, e.at FROM events e JOIN viewers v ON v.id = e.viewer_id
WHERE e.redacted_at IS NULL AND e.from_bot = 0 AND e.text != '' AND v.opted_out_at IS NULL AND v.banned_at IS NULL
"""


async def chat_lines(source: Source, *, since: int, until: int, limit: int) -> list[ChatLine]:
    """The channel's last lines, oldest first."""
    rows = await source.rows(
        f"{_LINES} AND e.at >= ? AND e.at <= ? ORDER BY e.at DESC, e.seq DESC LIMIT ?", (since, until, limit)
    )
    return [ChatLine(*row) for row in reversed(rows)]


async def lines_of(source: Source, viewer_id: str, *, since: int, until: int, limit: int) -> list[ChatLine]:
    """One person's last lines, oldest first."""
    rows = await source.rows(
        f"{_LINES} AND e.viewer_id = ? AND e.at >= ? AND e.at <= ? ORDER BY e.at DESC, e.seq DESC LIMIT ?",
        (viewer_id, since, until, limit),
    )
    return [ChatLine(*row) for row in reversed(rows)]


async def lines_by_seq(db: Database, seqs: Collection[int]) -> dict[int, ChatLine]:
    """Lines that are still there, by their seq."""
    wanted = "e.seq IN (SELECT value FROM json_each(?))"
    rows = await db.rows(f"{_LINES} AND {wanted}", (json.dumps(list(seqs)),))
    return {row[0]: ChatLine(*row) for row in rows}


async def count_since(source: Source, since: int) -> int:
    """How many lines were said since then."""
    return int(await source.value("SELECT count(*) FROM events WHERE at >= ? AND from_bot = 0", (since,)))


async def viewers(source: Source, viewer_ids: Collection[str]) -> dict[str, Viewer]:
    """People by their ids; those who opted out are marked, those who were banned are left out."""
    rows = await source.rows(
        "SELECT * FROM viewers WHERE banned_at IS NULL AND id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(viewer_ids)),),
    )
    return {row["id"]: viewer_of(row) for row in rows}


async def hidden(source: Source, viewer_ids: Collection[str]) -> frozenset[str]:
    """Those among them of whom nothing may be shown."""
    rows = await source.rows(
        "SELECT id FROM viewers WHERE (opted_out_at IS NOT NULL OR banned_at IS NOT NULL)"
        " AND id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(viewer_ids)),),
    )
    return frozenset(row[0] for row in rows)


async def may_be_shown(source: Source, viewer_ids: Collection[str]) -> bool:
    """Whether all of them are still there, and none of them is hidden."""
    row = await source.row(
        "SELECT count(*) FROM viewers WHERE opted_out_at IS NULL AND banned_at IS NULL"
        " AND id IN (SELECT value FROM json_each(?))",
        (json.dumps(list(viewer_ids)),),
    )
    return row is not None and row[0] == len(viewer_ids)


async def attendance(source: Source, viewer_id: str, *, lately: int) -> Attendance:
    """How often somebody came; the open stream counts, but is not one they came back from."""
    row = await source.row(
        "SELECT count(*), total(s.started_at >= ?2), max(CASE WHEN s.ended_at IS NOT NULL THEN a.last_at END)"
        " FROM attendance a JOIN streams s ON s.id = a.stream_id WHERE a.viewer_id = ?1",
        (viewer_id, lately),
    )
    return Attendance(int(row[0]), int(row[1]), row[2]) if row else Attendance(0, 0, None)


async def deeds_of_reply(db: Database, reply_id: int) -> list[Row]:
    """What one reply proposed, and what became of it."""
    return await db.rows("SELECT * FROM action_logs WHERE bot_message_id = ? ORDER BY id", (reply_id,))
