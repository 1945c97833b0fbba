"""What the dock's pictures are drawn from: attendance, a person's time here, what was learned, an evening. Reads only.

People are read through the view `shown` alone: nobody who opted out or was banned is in a picture.
"""

from collections.abc import Sequence
from typing import NamedTuple

from forgetmenot.store.database import Database, Row, Source

# How many streams are a row of cells.
STREAMS_IN_ROW = 30
LEARNED_SHOWN = 300


class PeopleBounds(NamedTuple):
    """Which streams make a regular, a newcomer and somebody who is missing. Times in ms."""

    regular_streams: int
    regular_since: int
    newcomer_streams: int
    missing_before: int


_CAME = """
SELECT v.id, count(*) AS streams, sum(a.last_at >= :regular_since) AS lately, v.last_seen_at
FROM shown v JOIN attendance a ON a.viewer_id = v.id WHERE v.role <> 'broadcaster' AND v.id <> :bot GROUP BY v.id
"""
KINDS = {
    "regular": "lately >= :regular_streams AND last_seen_at >= :missing_before",
    "new": "streams < :newcomer_streams",
    "missing": "streams >= :regular_streams AND last_seen_at < :missing_before",
}


def ids_of_kind(kind: str) -> str:
    """Return the query of the ids of people of a kind; its parameters are those of `PeopleBounds`, and `bot`."""
    return f"SELECT id FROM ({_CAME}) WHERE {KINDS[kind]}"


async def count_kinds(
    db: Database,
    bounds: PeopleBounds,
    bot: str,
) -> Row:
    """Return how many came at all (`came`), and how many of each kind."""
    sums = ", ".join(
        f"coalesce(sum({condition}), 0) AS {name}" for name, condition in KINDS.items()
    )
    # All kinds in one pass over the visits.
    sql = f"SELECT count(*) AS came, {sums} FROM ({_CAME})"
    return (await db.rows(sql, {**bounds._asdict(), "bot": bot}))[0]


async def latest_streams(source: Source, limit: int) -> list[Row]:
    """Return the latest streams, oldest first: id, at, ended_at, title."""
    sql = "SELECT id, started_at AS at, ended_at, title FROM streams ORDER BY started_at DESC, id DESC LIMIT ?"
    return (await source.rows(sql, (limit,)))[::-1]


async def attendance(
    db: Database,
    viewer_ids: Sequence[str],
    stream_ids: Sequence[int],
) -> dict[str, list[int]]:
    """Return how many lines each of these people wrote in each of these streams, in their order.

    Without hidden people.
    """
    rows = await db.rows(
        "SELECT a.viewer_id, a.stream_id, a.lines FROM attendance a JOIN shown v ON v.id = a.viewer_id"
        " WHERE a.viewer_id IN (SELECT value FROM json_each(?)) AND a.stream_id IN (SELECT value FROM json_each(?))",
        (viewer_ids, stream_ids),
    )
    # A cell for each stream, also for those that somebody missed: they have no row.
    place = {stream_id: number for number, stream_id in enumerate(stream_ids)}
    lines: dict[str, list[int]] = {}
    for viewer_id, stream_id, count in rows:
        lines.setdefault(viewer_id, [0] * len(place))[place[stream_id]] = count
    return lines


# ── a person's time here ────────────────────────────────────────────────────────────────────


async def visits(db: Database, viewer_id: str) -> list[Row]:
    """Return the streams that somebody came to, oldest first: id, at, title, lines. Nothing of who is hidden."""
    return await db.rows(
        "SELECT s.id, a.first_at AS at, s.title, a.lines FROM attendance a JOIN shown v ON v.id = a.viewer_id"
        " JOIN streams s ON s.id = a.stream_id WHERE a.viewer_id = ? ORDER BY s.started_at, s.id",
        (viewer_id,),
    )


async def facts(db: Database, viewer_id: str) -> list[Row]:
    """Return what was ever noted of somebody who may be shown, in the order in which it was said.

    id, at, fact, status, expires_at, `replaced_by` and `gone_at` (ms), where it is not in use any more.
    """
    left_since = (
        "SELECT max(c.at) FROM note_changes c WHERE c.note_id = n.id AND c.to_status = n.status"
        " AND n.status <> 'active'"
    )
    return await db.rows(
        "SELECT n.id, n.first_said_at AS at, n.fact, n.status, n.expires_at, n.superseded_by AS replaced_by,"
        f" ({left_since}) AS gone_at FROM semantic_notes n JOIN shown v ON v.id = n.subject_id"
        " WHERE v.id = ? AND n.fact <> '' ORDER BY n.first_said_at, n.id LIMIT 500",
        (viewer_id,),
    )


async def jokes(db: Database, viewer_id: str) -> list[Row]:
    """Return the channel's running jokes that somebody told or took part in: id, at, fact."""
    return await db.rows(
        "SELECT DISTINCT n.id, n.first_said_at AS at, n.fact FROM note_evidence e JOIN shown v ON v.id = e.speaker_id"
        " JOIN semantic_notes n ON n.id = e.note_id"
        " WHERE v.id = ? AND n.scope = 'running_bit' AND n.status = 'active' AND n.fact <> '' ORDER BY n.id",
        (viewer_id,),
    )


async def joke_times(source: Source, note_ids: Sequence[int]) -> list[Row]:
    """Return when notes came up, oldest first: note_id, at, and who said it of those that may be shown (or NULL)."""
    return await source.rows(
        """
        SELECT e.note_id, e.at, v.id AS speaker_id
        FROM note_evidence e
        LEFT JOIN shown v ON v.id = e.speaker_id
        WHERE e.note_id IN (SELECT value FROM json_each(?))
            AND e.stance <> 'contradicted'
        ORDER BY e.at, e.note_id
        """,
        (note_ids,),
    )


async def moments_of_person(db: Database, viewer_id: str) -> list[Row]:
    """Return the raids, gifts and clips of somebody who may be shown: at, kind, text."""
    return await db.rows(
        "SELECT m.at, m.kind, m.text FROM moments m JOIN shown v ON v.id = m.viewer_id"
        " WHERE v.id = ? ORDER BY m.at, m.id",
        (viewer_id,),
    )


# ── what was learned ────────────────────────────────────────────────────────────────────────

# A stream's span ends where the next one begins: what a sweep did at night counts for the evening
# before. The last has no end.
_SPANS = """
WITH spans AS (SELECT id, started_at AS at, title,
    lead(started_at, 1, 9000000000000000) OVER (ORDER BY started_at, id) AS until FROM streams)
"""
_OF_SHOWN = "(n.subject_id IS NULL OR n.subject_id IN (SELECT id FROM shown))"
# What a bar counts; a change that is none of these (a note that was put back) stands in no bar.
LEARNED_KINDS = {
    "new": "c.from_status IS NULL",
    "replaced": "c.to_status = 'superseded'",
    "gone": "c.from_status IS NOT NULL AND c.to_status IN ('past', 'expired', 'evicted', 'retracted')",
}


async def learned(db: Database, limit: int) -> list[Row]:
    """For each of the latest streams, oldest first, how many notes changed since it began, until the next one.

    id, at, title; new, confirmed, replaced, gone. Notes that were erased, or are of somebody hidden, do not count.
    """
    sums = ", ".join(
        f"(SELECT count(*) FROM note_changes c JOIN semantic_notes n ON n.id = c.note_id"
        f' WHERE c.at >= s.at AND c.at < s.until AND {condition} AND {_OF_SHOWN}) AS "{kind}"'
        for kind, condition in LEARNED_KINDS.items()
    )
    confirmed = (
        "(SELECT count(*) FROM note_evidence e JOIN episodes p ON p.id = e.episode_id"
        " JOIN semantic_notes n ON n.id = e.note_id"
        f" WHERE p.stream_id = s.id AND e.stance = 'confirmed' AND {_OF_SHOWN}) AS confirmed"
    )
    rows = await db.rows(
        f"{_SPANS} SELECT s.id, s.at, s.title, {sums}, {confirmed} FROM spans s ORDER BY s.at DESC, s.id DESC LIMIT ?",
        (limit,),
    )
    return rows[::-1]


async def learned_in(db: Database, stream_id: int) -> list[Row]:
    """Return the changes of notes of one of these bars, oldest first: kind, at, note_id, subject_id, scope, fact."""
    kinds = " ".join(
        f"WHEN {condition} THEN '{kind}'" for kind, condition in LEARNED_KINDS.items()
    )
    changes = (
        f"SELECT CASE {kinds} END AS kind, c.at, n.id AS note_id, n.subject_id, n.scope, n.fact FROM spans s"
        " JOIN note_changes c ON c.at >= s.at AND c.at < s.until JOIN semantic_notes n ON n.id = c.note_id"
        f" WHERE s.id = :stream AND {_OF_SHOWN}"
    )
    confirmed = (
        "SELECT 'confirmed', e.at, n.id, n.subject_id, n.scope, n.fact FROM note_evidence e"
        " JOIN episodes p ON p.id = e.episode_id JOIN semantic_notes n ON n.id = e.note_id"
        f" WHERE p.stream_id = :stream AND e.stance = 'confirmed' AND {_OF_SHOWN}"
    )
    sql = f"{_SPANS} SELECT * FROM ({changes} UNION ALL {confirmed}) WHERE kind IS NOT NULL AND fact <> ''"
    return await db.rows(
        f"{sql} ORDER BY at, note_id LIMIT {LEARNED_SHOWN}", {"stream": stream_id}
    )


# ── an evening ──────────────────────────────────────────────────────────────────────────────


async def stream(db: Database, stream_id: int) -> Row | None:
    """Return one stream: id, at, ended_at, title, until (ms): when it ended, or something last happened in it."""
    return await db.row(
        "SELECT id, started_at AS at, ended_at, title, max(coalesce(ended_at, 0), last_event_at) AS until"
        " FROM streams WHERE id = ?",
        (stream_id,),
    )


async def replies_between(
    source: Source,
    since: int,
    until: int,
) -> list[int]:
    """When the bot said something, in order; answers to commands are left out."""
    return await source.column(
        "SELECT at FROM bot_messages WHERE status = 'sent' AND \"trigger\" NOT IN ('command', 'notice')"
        " AND at BETWEEN ? AND ? ORDER BY at",
        (since, until),
    )


async def replies_by_id(db: Database, reply_ids: Sequence[int]) -> dict[int, Row]:
    """Return the text of these replies, and to whom of those who may be shown: id, text, viewer_id."""
    rows = await db.rows(
        "SELECT m.id, m.text, v.id AS viewer_id FROM bot_messages m LEFT JOIN shown v ON v.id = m.viewer_id"
        " WHERE m.id IN (SELECT value FROM json_each(?))",
        (reply_ids,),
    )
    return {row["id"]: row for row in rows}
