"""The queries of the daily sweep over notes: which have run out, which nobody confirms any more, which are too many.

Each is short at any size: by an index, or about one viewer at a time, so that neither connection is held for long.
"""

from forgetmenot.domain.memory import Note
from forgetmenot.store.database import Source
from forgetmenot.store.notes import from_row

_NOTE = "SELECT n.*, NULL AS episode_ids FROM semantic_notes n"
_MORTAL = "n.status = 'active' AND n.pinned = 0 AND n.source_kind <> 'import'"


async def run_out(source: Source, now: int, limit: int) -> list[Note]:
    """Notes whose end has come."""
    rows = await source.rows(f"{_NOTE} WHERE {_MORTAL} AND n.expires_at <= ? LIMIT ?", (now, limit))
    return [from_row(row) for row in rows]


async def attending(source: Source, streams: int) -> list[str]:
    """Viewers who have come to that many streams in all."""
    rows = await source.rows("SELECT viewer_id FROM attendance GROUP BY viewer_id HAVING count(*) >= ?", (streams,))
    return [row[0] for row in rows]


async def unconfirmed(source: Source, viewer_id: str, *, confirmed_before: int, streams: int) -> list[Note]:
    """A viewer's notes last confirmed before then, and followed by that many streams they came to.

    Absence is not staleness: only streams attended after the confirmation count.
    """
    rows = await source.rows(
        f"{_NOTE} WHERE n.subject_id = :viewer AND {_MORTAL} AND n.last_confirmed_at <= :before"  # noqa: S608  # constants
        " AND (SELECT count(*) FROM attendance a WHERE a.viewer_id = :viewer AND a.first_at > n.last_confirmed_at)"
        " >= :streams",
        {"viewer": viewer_id, "before": confirmed_before, "streams": streams},
    )
    return [from_row(row) for row in rows]


async def crowded(source: Source, more_than: int) -> list[str]:
    """Viewers about whom there are more active notes than that."""
    rows = await source.rows(
        "SELECT subject_id FROM semantic_notes WHERE subject_id IS NOT NULL AND status = 'active'"
        " GROUP BY subject_id HAVING count(*) > ?",
        (more_than,),
    )
    return [row[0] for row in rows]


async def too_many(source: Source, viewer_id: str, *, timed: int, permanent: int) -> list[Note]:
    """A viewer's notes past the caps: hearsay first, then the least important, then the oldest."""
    rows = await source.rows(
        "WITH counted AS (SELECT n.id, n.expires_at IS NULL AS lasting, row_number() OVER ("  # noqa: S608  # a constant
        "  PARTITION BY n.expires_at IS NULL"
        "  ORDER BY n.source_kind = 'reported',"
        "   CASE n.importance WHEN 'high' THEN 2 WHEN 'medium' THEN 1 ELSE 0 END DESC,"
        "   n.last_confirmed_at DESC, n.id DESC) AS place"
        f" FROM semantic_notes n WHERE n.subject_id = :viewer AND {_MORTAL})"
        " SELECT n.*, NULL AS episode_ids FROM semantic_notes n JOIN counted c ON c.id = n.id"
        " WHERE c.place > CASE WHEN c.lasting THEN :permanent ELSE :timed END ORDER BY c.place DESC",
        {"viewer": viewer_id, "timed": timed, "permanent": permanent},
    )
    return [from_row(row) for row in rows]
