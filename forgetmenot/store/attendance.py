"""Who came to which stream."""

import json
from collections.abc import Collection, Iterable

from forgetmenot.domain.chat import Attendance
from forgetmenot.store.database import Source, Transaction


async def attend(tx: Transaction, visits: Iterable[tuple[str, int, int, int, int]]) -> None:
    """Add to who came to which stream: (viewer id, stream id, first at, last at, lines)."""
    await tx.many(
        "INSERT INTO attendance (viewer_id, stream_id, first_at, last_at, lines) VALUES (?, ?, ?, ?, ?)"
        " ON CONFLICT (viewer_id, stream_id) DO UPDATE SET lines = lines + excluded.lines,"
        " first_at = min(first_at, excluded.first_at), last_at = max(last_at, excluded.last_at)",
        visits,
    )


async def of(
    source: Source, viewer_ids: Iterable[str], *, lately: int, during: int | None = None
) -> dict[str, Attendance]:
    """How often these people came, and since `lately` (ms).

    The open stream, and `during` (the stream that is spoken of), count; but nobody comes back from them.
    """
    found = dict.fromkeys(viewer_ids, Attendance(0, 0, None))
    rows = await source.rows(
        "SELECT a.viewer_id, count(*), sum(s.started_at >= :lately),"
        " max(CASE WHEN s.ended_at IS NOT NULL AND s.id IS NOT :during THEN a.last_at END)"
        " FROM attendance a JOIN streams s ON s.id = a.stream_id"
        " WHERE a.viewer_id IN (SELECT value FROM json_each(:viewers)) GROUP BY a.viewer_id",
        {"viewers": json.dumps(list(found)), "lately": lately, "during": during},
    )
    return found | {row[0]: Attendance(*tuple(row)[1:]) for row in rows}


async def came_often(source: Source, viewer_ids: Collection[str], streams: int) -> set[str]:
    """Those of these people who came to that many streams; to fewer, where there were not twice as many yet."""
    rows = await source.rows(
        "SELECT value FROM json_each(?1) WHERE (SELECT count(*) FROM attendance WHERE viewer_id = value)"
        " >= min(?2, (SELECT count(*) FROM streams) - ?2)",
        (json.dumps(sorted(viewer_ids)), streams),
    )
    return {row[0] for row in rows}
