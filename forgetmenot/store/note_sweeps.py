"""The queries of the daily sweep over notes: which have run out, which nobody confirms any more, which are too many."""

from forgetmenot.domain.memory import Note
from forgetmenot.store.database import Database, Transaction
from forgetmenot.store.notes import from_row

Source = Database | Transaction

_NOTE = "SELECT n.*, NULL AS episode_ids FROM semantic_notes n"


async def run_out(source: Source, now: int, limit: int) -> list[Note]:
    """Active notes whose end has come; pinned and imported ones have none."""
    rows = await source.rows(
        f"{_NOTE} WHERE n.status = 'active' AND n.expires_at <= ? AND n.pinned = 0 AND n.source_kind <> 'import'"
        " LIMIT ?",
        (now, limit),
    )
    return [from_row(row) for row in rows]


async def unconfirmed(source: Source, *, confirmed_before: int, streams: int, limit: int) -> list[Note]:
    """Active notes last confirmed before then, whose subject has come to that many streams since.

    Absence is not staleness: only streams attended after the confirmation count.
    """
    rows = await source.rows(
        f"{_NOTE} WHERE n.status = 'active' AND n.subject_id IS NOT NULL AND n.pinned = 0"  # noqa: S608  # a constant
        " AND n.source_kind <> 'import' AND n.last_confirmed_at <= :before"
        " AND (SELECT count(*) FROM attendance a WHERE a.viewer_id = n.subject_id AND a.first_at > n.last_confirmed_at)"
        " >= :streams LIMIT :limit",
        {"before": confirmed_before, "streams": streams, "limit": limit},
    )
    return [from_row(row) for row in rows]


async def too_many(source: Source, *, timed: int, permanent: int, limit: int) -> list[Note]:
    """Active notes past the caps of their subject: the least important first, then the oldest."""
    rows = await source.rows(
        "WITH counted AS (SELECT n.id, n.expires_at IS NULL AS lasting, row_number() OVER ("
        "  PARTITION BY n.subject_id, n.expires_at IS NULL"
        "  ORDER BY CASE n.importance WHEN 'high' THEN 2 WHEN 'medium' THEN 1 ELSE 0 END DESC,"
        "   n.last_confirmed_at DESC, n.id DESC) AS place"
        "  FROM semantic_notes n WHERE n.status = 'active' AND n.subject_id IS NOT NULL AND n.pinned = 0"
        "  AND n.source_kind <> 'import')"
        " SELECT n.*, NULL AS episode_ids FROM semantic_notes n JOIN counted c ON c.id = n.id"
        " WHERE c.place > CASE WHEN c.lasting THEN :permanent ELSE :timed END ORDER BY c.place DESC LIMIT :limit",
        {"timed": timed, "permanent": permanent, "limit": limit},
    )
    return [from_row(row) for row in rows]
