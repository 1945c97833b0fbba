"""Figures that stay when the rows behind them are deleted: spending, chat by the minute, moments of streams.

- They hold numbers, names of models and games, the streamer's titles and addresses of clips: no text of a viewer.
- Of people only `moments.viewer_id` knows, which an erasure unsets.
- They are written in the transactions of what they count.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

from forgetmenot.domain import ChatEvent, EventKind, TokenUsage
from forgetmenot.durations import MINUTE, SECOND
from forgetmenot.store.database import Row, Source, Transaction

# Subs that one person gives at once come as a line with their number, and then a line for each.
ONE_GIFT_WITHIN = 30 * SECOND
_NUMBER = {
    EventKind.RAID: re.compile(r"\A(\d{1,7}) raiders?\b"),
    EventKind.GIFT: re.compile(r"\bgifting (\d{1,7}) "),
}


class MomentKind(StrEnum):
    """What happened in a stream."""

    TITLE = "title"
    GAME = "game"
    RAID = "raid"
    GIFT = "gift"
    CLIP = "clip"
    MARKER = "marker"


# ── spending ────────────────────────────────────────────────────────────────────────────────


async def add_spending(
    tx: Transaction,
    *,
    day: str,
    purpose: str,
    model: str,
    usage: TokenUsage,
    failed: bool,
) -> None:
    """Add one call of a model to its day."""
    await tx.execute(
        """
        INSERT INTO spending (day, purpose, model, calls, input, cached, output, failed)
        VALUES (?, ?, ?, 1, ?, ?, ?, ?)
        ON CONFLICT (day, purpose, model) DO UPDATE SET
            calls = calls + 1, input = input + excluded.input,
            cached = cached + excluded.cached,
            output = output + excluded.output,
            failed = failed + excluded.failed
        """,
        (
            day,
            purpose,
            model,
            # A provider that does not say a number counts as 0.
            usage.input or 0,
            usage.cached or 0,
            (usage.output or 0) + (usage.thoughts or 0),
            int(failed),
        ),
    )


async def spending(source: Source, first_day: str) -> list[Row]:
    """Return what was spent from a day (YYYY-MM-DD) on, by day, purpose and model, in the order of days."""
    sql = "SELECT * FROM spending WHERE day >= ? ORDER BY day, purpose, model"
    return await source.rows(sql, (first_day,))


# ── chat by the minute ──────────────────────────────────────────────────────────────────────


class PlacedLine(NamedTuple):
    """Who said a line, when (ms), and in which stream; None outside of streams."""

    viewer_id: str
    stream_id: int | None
    at: int


# The larger number stays: a file may be learned twice, and of a minute that is counted again lines
# may be gone.
_ADD_MINUTE = """
INSERT INTO minutes (stream_id, minute, lines, people, addressed) VALUES (?, ?, ?, ?, 0)
ON CONFLICT (stream_id, minute) DO UPDATE SET lines = max(lines, excluded.lines),
    people = max(people, excluded.people)
"""
# Without GROUP BY there is always a row of sums: HAVING drops it where no line counts.
_COUNT_MINUTE = """
INSERT INTO minutes (stream_id, minute, lines, people, addressed)
SELECT :stream, :minute, count(*), count(DISTINCT viewer_id), sum(addressed) FROM events
WHERE stream_id = :stream AND at >= :minute * 60000 AND at < (:minute + 1) * 60000
    AND NOT from_bot AND kind <> 'moderation' HAVING count(*) > 0
ON CONFLICT (stream_id, minute) DO UPDATE SET lines = max(lines, excluded.lines),
    people = max(people, excluded.people), addressed = max(addressed, excluded.addressed)
"""


async def count_minutes(tx: Transaction, lines: Iterable[PlacedLine]) -> None:
    """Count again the minutes of lines that were just stored as events. A minute's figures never shrink."""
    touched = {
        (line.stream_id, line.at // MINUTE)
        for line in lines
        if line.stream_id is not None
    }
    values = [
        {"stream": stream, "minute": minute} for stream, minute in sorted(touched)
    ]
    await tx.many(_COUNT_MINUTE, values)


async def count_past_minutes(tx: Transaction, lines: Iterable[PlacedLine]) -> None:
    """Count the minutes of lines of a past stream, which are in no table."""
    authors_of = defaultdict[tuple[int, int], list[str]](list)
    for line in lines:
        if line.stream_id is not None:
            minute = line.at // MINUTE
            authors_of[line.stream_id, minute].append(line.viewer_id)
    rows = []
    for (stream_id, minute), authors in authors_of.items():
        rows.append((stream_id, minute, len(authors), len(set(authors))))
    await tx.many(_ADD_MINUTE, rows)


async def minutes_of(source: Source, stream_id: int) -> list[Row]:
    """Return the minutes of a stream with chat, in order: minute (since the epoch), lines, people, addressed."""
    sql = """
        SELECT minute, lines, people, addressed
        FROM minutes
        WHERE stream_id = ?
        ORDER BY minute
    """
    return await source.rows(sql, (stream_id,))


# ── moments ─────────────────────────────────────────────────────────────────────────────────


async def add_moments(
    tx: Transaction, events: Iterable[tuple[ChatEvent, int | None]]
) -> None:
    """Keep the raids and gifts among events that were just stored, each with its stream."""
    for event, stream_id in events:
        pattern = _NUMBER.get(event.kind)
        if pattern is None or stream_id is None:
            continue
        # Twitch's own words, in English whatever the viewer's language is.
        number = pattern.search(event.system_text)
        since = event.at - ONE_GIFT_WITHIN if event.kind is EventKind.GIFT else event.at
        kind = MomentKind(event.kind.value)
        known = await tx.row(
            "SELECT 1 FROM moments WHERE stream_id = ? AND kind = ? AND viewer_id = ? AND at BETWEEN ? AND ?",
            (stream_id, kind, event.user_id, since, event.at),
        )
        if known is None:
            text = number[1] if number else "1"
            await add_moment(tx, stream_id, event.at, kind, text, event.user_id)


async def add_moment(
    tx: Transaction,
    stream_id: int,
    at: int,
    kind: MomentKind,
    text: str,
    viewer_id: str | None,
) -> None:
    """Keep one moment of a stream. `text`: a number, a title or an address, nothing that a viewer wrote."""
    await tx.execute(
        "INSERT INTO moments (stream_id, at, kind, text, viewer_id) VALUES (?, ?, ?, ?, ?)",
        (stream_id, at, kind, text, viewer_id),
    )


async def note_title(
    tx: Transaction,
    stream_id: int,
    at: int,
    *,
    title: str,
    game: str,
) -> None:
    """Keep a stream's title and game where they are new; the first ones hold since it began."""
    for kind, text in ((MomentKind.TITLE, title), (MomentKind.GAME, game)):
        if not text:
            continue
        last = await tx.value(
            """
            SELECT text
            FROM moments
            WHERE stream_id = ?
                AND kind = ?
            ORDER BY at DESC, id DESC
            LIMIT 1
            """,
            (stream_id, kind),
        )
        # Twitch repeats title and game with every poll: only a change is a moment.
        if last == text:
            continue
        sql = """
            INSERT INTO moments (stream_id, at, kind, text)
            SELECT id, iif(?3, started_at, max(started_at, ?2)), ?4, ?5
            FROM streams
            WHERE id = ?1
        """
        await tx.execute(sql, (stream_id, at, last is None, kind, text))


async def add_clip(tx: Transaction, action_id: int) -> None:
    """Keep the clip or the marker that an action made, if a stream is on; of a marker not its words."""
    await tx.execute(
        """
        INSERT INTO moments (stream_id, at, kind, text, viewer_id)
        SELECT s.id, a.at, a.name, iif(a.name = 'clip', a.detail, ''), a.asked_by
        FROM action_logs a
        JOIN streams s ON s.ended_at IS NULL
        WHERE a.id = ?
            AND a.name IN ('clip', 'marker')
            AND a.status = 'done'
        ORDER BY s.id DESC
        LIMIT 1
        """,
        (action_id,),
    )


async def moments_of(source: Source, stream_id: int) -> list[Row]:
    """Return the moments of a stream in order: at, kind, text, and who of those that may be shown (or NULL)."""
    return await source.rows(
        """
        SELECT m.at, m.kind, m.text, v.id AS viewer_id
        FROM moments m
        LEFT JOIN shown v ON v.id = m.viewer_id
        WHERE m.stream_id = ?
        ORDER BY m.at, m.id
        """,
        (stream_id,),
    )


async def clips(source: Source) -> list[Row]:
    """Return clips and markers, oldest first: id, at, kind, text, stream_id, and in which episode of chat they were.

    The episode is the last of the stream that had begun; NULL where none had.
    """
    # A clip is made minutes after what it shows: so the episode is the last that had begun.
    return await source.rows(
        """
        SELECT m.id, m.at, m.kind, m.text, m.stream_id, (
            SELECT e.id
            FROM episodes e
            WHERE e.stream_id = m.stream_id
                AND e.kind = 'chat'
                AND e.started_at <= m.at
            ORDER BY e.started_at DESC
            LIMIT 1
        ) AS episode_id
        FROM moments m
        WHERE m.kind IN ('clip', 'marker')
        ORDER BY m.at, m.id
        """
    )
