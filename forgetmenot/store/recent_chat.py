"""The last lines of chat, as a reply is shown them. Reads only.

Nothing of a viewer who opted out or was banned, nothing redacted, and none of the bot's own lines come back from here.
"""

import json
from collections.abc import Collection
from typing import NamedTuple

from forgetmenot.store.database import Source


class ChatLine(NamedTuple):
    """One line of tier 1."""

    seq: int
    event_id: str
    viewer_id: str
    text: str
    at: int


# A raid or a sub without a word of theirs is told in Twitch's own, in brackets.
_LINES = """
SELECT e.seq, e.id, e.viewer_id, CASE WHEN e.text = '' THEN '(' || e.system_text || ')' ELSE e.text END, e.at
FROM events e JOIN viewers v ON v.id = e.viewer_id WHERE e.redacted_at IS NULL AND e.from_bot = 0
    AND (e.text != '' OR e.system_text != '') AND v.opted_out_at IS NULL AND v.banned_at IS NULL
"""


async def lines(source: Source, *, since: int, until: int, limit: int) -> list[ChatLine]:
    """The channel's last lines, oldest first."""
    rows = await source.rows(
        f"{_LINES} AND e.at >= ? AND e.at <= ? ORDER BY e.at DESC, e.seq DESC LIMIT ?", (since, until, limit)
    )
    return [ChatLine(*row) for row in reversed(rows)]


async def lines_of(source: Source, viewer_id: str, *, since: int, until: int, limit: int) -> list[ChatLine]:
    """What one person typed last, oldest first."""
    rows = await source.rows(
        f"{_LINES} AND e.text != '' AND e.viewer_id = ? AND e.at >= ? AND e.at <= ?"
        " ORDER BY e.at DESC, e.seq DESC LIMIT ?",
        (viewer_id, since, until, limit),
    )
    return [ChatLine(*row) for row in reversed(rows)]


async def lines_by_seq(source: Source, seqs: Collection[int]) -> dict[int, ChatLine]:
    """Lines that are still there, by their seq."""
    wanted = "e.seq IN (SELECT value FROM json_each(?))"
    rows = await source.rows(f"{_LINES} AND {wanted}", (json.dumps(list(seqs)),))
    return {row[0]: ChatLine(*row) for row in rows}


async def line_by_id(source: Source, event_id: str) -> ChatLine | None:
    """One line by Twitch's id, if it is still there."""
    row = await source.row(f"{_LINES} AND e.id = ?", (event_id,))
    return ChatLine(*row) if row else None


async def count_since(source: Source, since: int) -> int:
    """How many lines were said since then."""
    return int(await source.value("SELECT count(*) FROM events WHERE at >= ? AND from_bot = 0", (since,)))
