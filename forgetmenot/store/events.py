"""Tier 1: what was said, at most 24 h long.

Each of Twitch's ids is stored once; a cleared line keeps its row and loses its text; an event is covered by one episode
or none. Does not decide what is stored (memory/ingest) or when it goes (memory/retention).
"""

import json
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import starmap
from typing import NamedTuple

from forgetmenot.domain.chat import Line
from forgetmenot.store import bot_messages
from forgetmenot.store.database import Row, Source, Transaction, row_as
from forgetmenot.text.removal import traces


class NewEvent(NamedTuple):
    """One row to be, in the order of `_INSERT`."""

    id: str
    run_id: int
    stream_id: int | None
    viewer_id: str
    kind: str
    text: str
    system_text: str
    reply_to_id: str | None
    role: str
    bits: int
    emote_only: bool
    addressed: bool
    from_bot: bool
    at: int
    redacted_at: int | None


class Clear(NamedTuple):
    """What is to lose its text: one event, one person's events until then, or (neither) all events until then.

    `remembered`: what one of these lines asked the bot to remember goes, too; not where the whole chat goes.
    """

    at: int
    event_id: str | None = None
    viewer_id: str | None = None
    remembered: bool = True


_INSERT = """
INSERT INTO events (id, run_id, stream_id, viewer_id, kind, text, system_text, reply_to_id, role, bits, emote_only,
    addressed, from_bot, at, redacted_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING
"""
_UNREAD = "episode_id IS NULL AND redacted_at IS NULL"
LONGEST_WAIT = 20 * 3_600_000
"""Nothing is postponed for longer: what seems to be was written by a clock that ran ahead, and is due."""
WAITS = "coalesce(retry_at, 0) > :now AND retry_at <= :latest"
NEVER = 2**60


async def insert(tx: Transaction, rows: Sequence[NewEvent]) -> set[str] | None:
    """Store events; the ids that were new, or None if all of them were."""
    last = await tx.row("SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'events'")
    before = last[0] if last else 0
    if await tx.many(_INSERT, rows) == len(rows):
        return None
    return {row[0] for row in await tx.rows("SELECT id FROM events WHERE seq > ?", (before,))}


async def clear(tx: Transaction, what: Clear, now: int) -> int:
    """Take the text away, and mark episodes that rest on it to be summarised again; how many events lost theirs.

    What the bot made from them loses its text, too: its replies, and their lines in chat.
    """
    where, params = _cleared(what)
    rows = await tx.rows(f"SELECT episode_id, at, text FROM events WHERE redacted_at IS NULL AND {where}", params)  # noqa: S608
    await tx.execute(
        f"UPDATE events SET text = '', system_text = '', redacted_at = :at WHERE redacted_at IS NULL AND {where}",  # noqa: S608
        params,
    )
    dirty = {row[0] for row in rows if row[0] is not None}
    if rows:
        own = await bot_messages.clear_made_from(tx, min(row[1] for row in rows))
        words = {word for row in rows if row[0] is not None for word in traces(row[2])}
        own += await bot_messages.clear_that_used(tx, "episodes", dirty, words)
        dirty |= await clear_own_lines(tx, own, what.at)
    if what.remembered:
        whole = what.event_id is None and what.viewer_id is None
        # by the time of the clear: a line that came with it was stored without its text
        lines = f"SELECT 'line:' || id FROM events WHERE redacted_at = :at AND {where}"  # noqa: S608  # constants
        # with the whole chat go corrections in plain speech, unlike what a command asked for
        asked = (
            "SELECT 1 FROM note_evidence v JOIN semantic_notes n ON n.id = v.note_id WHERE v.episode_id = episodes.id"
            " AND v.stance <> 'contradicted' AND n.source_kind <> 'self_claim'"
        )
        await tx.execute(
            f"UPDATE episodes SET dirty_at = coalesce(dirty_at, :now) WHERE kind = 'command' AND key IN ({lines})"  # noqa: S608
            f"{f' AND NOT EXISTS ({asked})' if whole else ''}",
            {**params, "now": now},
        )
    await tx.execute(
        "UPDATE episodes SET dirty_at = coalesce(dirty_at, ?) WHERE kind IN ('chat', 'counted')"
        " AND id IN (SELECT value FROM json_each(?))",
        (now, json.dumps(sorted(dirty))),
    )
    return len(rows)


async def clear_own_lines(tx: Transaction, event_ids: Sequence[str], at: int) -> set[int]:
    """Take the words of the bot's own lines away, by Twitch's ids; the episodes that cover them."""
    rows = await tx.rows(
        "UPDATE events SET text = '', system_text = '', redacted_at = ? WHERE redacted_at IS NULL"
        " AND from_bot = 1 AND id IN (SELECT value FROM json_each(?)) RETURNING episode_id",
        (at, json.dumps(list(event_ids))),
    )
    return {row[0] for row in rows if row[0] is not None}


def _cleared(what: Clear) -> tuple[str, Mapping[str, object]]:
    if what.event_id is not None:
        return "id = :id", {"at": what.at, "id": what.event_id}
    if what.viewer_id is not None:
        return "viewer_id = :id AND at <= :at", {"at": what.at, "id": what.viewer_id}
    return "at <= :at", {"at": what.at}


async def remember_clears(tx: Transaction, clears: Mapping[str, int]) -> None:
    """Keep clears for lines that have not arrived yet, by key (see memory/ingest)."""
    await tx.many(
        "INSERT INTO pending_redactions (event_id, at) VALUES (?, ?)"
        " ON CONFLICT (event_id) DO UPDATE SET at = max(at, excluded.at)",
        list(clears.items()),
    )


async def pending_clears(source: Source) -> dict[str, int]:
    """The clears that are kept, by key."""
    return {row["event_id"]: row["at"] for row in await source.rows("SELECT event_id, at FROM pending_redactions")}


async def unread(source: Source, limit: int = 2_000, *, due_at: int = NEVER) -> list[Line]:
    """The oldest events that no episode covers yet; with `due_at` without those that wait for another try then."""
    rows = await source.rows(
        f"SELECT * FROM events WHERE {_UNREAD} AND NOT ({WAITS}) ORDER BY at, seq LIMIT :limit",  # noqa: S608  # constants
        {"limit": limit, "now": due_at, "latest": due_at + LONGEST_WAIT},
    )
    return [_line(row) for row in rows]


async def postpone(tx: Transaction, windows: Sequence[Sequence[Line]], *, tries: int, retry_at: int) -> None:
    """Say of lines that no summary came of which windows are tried next, and when."""
    await tx.many(
        "UPDATE events SET tries = ?, retry_at = ?, retry_from = ? WHERE seq = ?",
        [(tries, retry_at, window[0].seq, line.seq) for window in windows for line in window],
    )


async def still_unread(source: Source, seqs: Sequence[int]) -> list[Line]:
    """Those of these events that no episode covers yet and nobody cleared."""
    rows = await source.rows(
        f"SELECT * FROM events WHERE seq IN (SELECT value FROM json_each(?)) AND {_UNREAD} ORDER BY at, seq",  # noqa: S608  # a constant
        (json.dumps(list(seqs)),),
    )
    return [_line(row) for row in rows]


async def of_episode(source: Source, episode_id: int) -> list[Line]:
    """What is left of the events that an episode covers."""
    rows = await source.rows(
        "SELECT * FROM events WHERE episode_id = ? AND redacted_at IS NULL ORDER BY at, seq", (episode_id,)
    )
    return [_line(row) for row in rows]


async def latest_of(source: Source, viewer_id: str, limit: int) -> list[Line]:
    """Somebody's newest lines, oldest first."""
    rows = await source.rows(
        "SELECT * FROM events WHERE viewer_id = ? AND redacted_at IS NULL ORDER BY at DESC, seq DESC LIMIT ?",
        (viewer_id, limit),
    )
    return [_line(row) for row in reversed(rows)]


async def by_id(source: Source, event_id: str) -> Line | None:
    """One event, if it still has its text."""
    row = await source.row("SELECT * FROM events WHERE id = ? AND redacted_at IS NULL", (event_id,))
    return _line(row) if row else None


async def speaker_of(source: Source, event_id: str) -> str | None:
    """Who said a line, also one that was cleared."""
    row = await source.row("SELECT viewer_id FROM events WHERE id = ? AND from_bot = 0", (event_id,))
    return str(row[0]) if row else None


async def any_cleared(source: Source, event_ids: Sequence[str]) -> bool:
    """Whether any of these lines has lost its text. A line that was never stored counts for nothing."""
    row = await source.row(
        "SELECT 1 FROM events WHERE id IN (SELECT value FROM json_each(?)) AND redacted_at IS NOT NULL LIMIT 1",
        (json.dumps(list(event_ids)),),
    )
    return row is not None


async def was_deleted(source: Source, event_id: str) -> bool:
    """Whether a line was cleared in chat, or will be when it arrives.

    Not one that lost its words with a fact that its speaker had forgotten.
    """
    row = await source.row(
        "SELECT 1 FROM events WHERE id = ?1 AND redacted_at > 0"
        " UNION ALL SELECT 1 FROM pending_redactions WHERE event_id = ?1",
        (event_id,),
    )
    return row is not None


async def are_unread(source: Source, seqs: Sequence[int]) -> bool:
    """Whether all of these events are still there, uncovered and not cleared."""
    row = await source.row(
        f"SELECT count(*) FROM events WHERE seq IN (SELECT value FROM json_each(?)) AND {_UNREAD}",  # noqa: S608  # a constant
        (json.dumps(list(seqs)),),
    )
    return row is not None and row[0] == len(seqs)


async def cover(tx: Transaction, seqs: Sequence[int], episode_id: int) -> None:
    """Say which episode covers these events."""
    await tx.execute(
        "UPDATE events SET episode_id = ? WHERE seq IN (SELECT value FROM json_each(?))",
        (episode_id, json.dumps(list(seqs))),
    )


async def count_unread(source: Source, before: int | None = None) -> int:
    """How many events no episode covers yet; with `before` only those said before then."""
    row = await source.row(f"SELECT count(*) FROM events WHERE {_UNREAD} AND at < ?", (before or 2**62,))  # noqa: S608  # a constant
    return int(row[0]) if row else 0


async def prune(tx: Transaction, before: int, limit: int) -> dict[int, dict[str, int]]:
    """Delete the oldest of what was said before then, up to a number of lines.

    Gives per run how many were covered, redacted, or unread (which should be none).
    """
    rows = await tx.rows(
        "DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE at < ? ORDER BY at LIMIT ?)"
        " RETURNING run_id, CASE WHEN redacted_at IS NOT NULL THEN 'pruned_redacted'"
        " WHEN episode_id IS NOT NULL THEN 'pruned_covered' ELSE 'pruned_unread' END",
        (before, limit),
    )
    await tx.execute("DELETE FROM pending_redactions WHERE at < ?", (before,))
    counts: dict[int, dict[str, int]] = {}
    for (run_id, name), count in Counter(map(tuple, rows)).items():
        counts.setdefault(run_id, {})[name] = count
    return counts


def _line(row: Row) -> Line:
    return row_as(row, Line)


# Recent chat for replies: without viewers who opted out or were banned, redacted lines, and the bot's own lines.


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
    return list(starmap(ChatLine, reversed(rows)))


async def lines_of(source: Source, viewer_id: str, *, since: int, until: int, limit: int) -> list[ChatLine]:
    """What one person typed last, oldest first."""
    rows = await source.rows(
        f"{_LINES} AND e.text != '' AND e.viewer_id = ? AND e.at >= ? AND e.at <= ?"
        " ORDER BY e.at DESC, e.seq DESC LIMIT ?",
        (viewer_id, since, until, limit),
    )
    return list(starmap(ChatLine, reversed(rows)))


async def unsummarised(source: Source, viewer_id: str = "", *, limit: int = 500) -> list[ChatLine]:
    """The newest lines (of one viewer) that no summary covers yet, oldest first."""
    unread = f"{_LINES} AND e.text != '' AND e.episode_id IS NULL"
    if viewer_id:  # by its index: this is asked for each reply
        rows = await source.rows(f"{unread} AND e.viewer_id = ? ORDER BY e.at DESC LIMIT ?", (viewer_id, limit))
    else:
        rows = await source.rows(f"{unread} ORDER BY e.seq DESC LIMIT ?", (limit,))
    return list(starmap(ChatLine, reversed(rows)))


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
