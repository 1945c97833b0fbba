"""Reads what rows say of somebody's time here."""

from collections.abc import Collection

from forgetmenot.domain import TimeTogether, Visit
from forgetmenot.store.database import Source


async def histories(
    source: Source,
    viewer_ids: Collection[str],
    until: int,
) -> dict[str, TimeTogether]:
    """Return what rows say of those of these people who came, by id; nobody hidden.

    `until`: visits that began later do not count (ms).
    """
    visits_of: dict[str, list[Visit]] = {}
    rows = await source.rows(
        """
        WITH visits AS (
            SELECT a.viewer_id, a.first_at, a.last_at, s.started_at,
                lag(a.last_at) OVER (PARTITION BY a.viewer_id ORDER BY a.first_at) AS left_at
            FROM attendance a
            JOIN streams s ON s.id = a.stream_id
            WHERE a.viewer_id IN (SELECT value FROM json_each(?))
                AND a.first_at <= ?
        )
        SELECT visits.viewer_id, visits.first_at, visits.last_at, (
            SELECT count(*)
            FROM streams missed
            WHERE missed.started_at > visits.left_at
                AND missed.started_at < visits.started_at
        ), v.sub_months, v.sub_months_at, v.watch_streak, v.watch_streak_at,
            coalesce(v.moderator_since, 0), v.congratulated_at
        FROM visits
        JOIN shown v ON v.id = visits.viewer_id
        ORDER BY visits.first_at
        """,
        (list(viewer_ids), until),
    )
    histories_by_id: dict[str, TimeTogether] = {}
    for viewer_id, first_at, last_at, missed, *of_viewer in rows:
        visits = visits_of.setdefault(viewer_id, [])
        visits.append(Visit(first_at, last_at, missed))
        histories_by_id[viewer_id] = TimeTogether(visits, *of_viewer)
    return histories_by_id
