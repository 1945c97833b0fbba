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
    visits: dict[str, list[Visit]] = {}
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
        SELECT viewer_id, first_at, last_at, (
            SELECT count(*)
            FROM streams missed
            WHERE missed.started_at > visits.left_at
                AND missed.started_at < visits.started_at
        )
        FROM visits
        ORDER BY first_at
        """,
        (list(viewer_ids), until),
    )
    for viewer_id, *visit in rows:
        visits.setdefault(viewer_id, []).append(Visit(*visit))
    # Read second: who came by then but is hidden falls out here.
    people = await source.rows(
        """
        SELECT id, sub_months, sub_months_at, watch_streak, watch_streak_at,
            coalesce(moderator_since, 0), congratulated_at
        FROM shown
        WHERE id IN (SELECT value FROM json_each(?))
        """,
        (visits.keys(),),
    )
    return {row[0]: TimeTogether(visits[row[0]], *row[1:]) for row in people}
