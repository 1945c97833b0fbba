"""Reads what rows say of somebody's time here."""

from collections.abc import Collection

from forgetmenot.domain import TimeTogether
from forgetmenot.store.database import Source

_HISTORY = """
WITH visits AS (
    SELECT viewer_id, first_at, last_at, first_at - lag(last_at) OVER (
        PARTITION BY viewer_id
        ORDER BY first_at
    ) AS absence
    FROM attendance
    WHERE viewer_id IN (SELECT value FROM json_each(:viewers))
        AND first_at <= :until
),
summed AS (
    SELECT viewer_id, count(*) AS streams, min(first_at) AS first_at,
        max(first_at) AS came_at, max(coalesce(absence, 0)) AS longest_absence,
        max(first_at < :day_end AND last_at >= :day_start) AS year_ago
    FROM visits
    GROUP BY viewer_id
)
SELECT v.id, s.streams, s.first_at, s.came_at, coalesce(c.absence, 0),
    s.longest_absence, s.year_ago, v.sub_months, v.sub_months_at, v.watch_streak,
    v.watch_streak_at, coalesce(v.moderator_since, 0), v.congratulated_at
FROM summed s
JOIN shown v ON v.id = s.viewer_id
JOIN visits c ON c.viewer_id = s.viewer_id
    AND c.first_at = s.came_at
"""


async def histories(
    source: Source,
    viewer_ids: Collection[str],
    until: int,
    a_year_ago: tuple[int, int],
) -> dict[str, TimeTogether]:
    """Return what rows say of these people's time here, by id; nobody hidden.

    `until`: visits that began later do not count. `a_year_ago`: from when to when that
    day was (ms).
    """
    rows = await source.rows(
        _HISTORY,
        {
            "viewers": list(viewer_ids),
            "until": until,
            "day_start": a_year_ago[0],
            "day_end": a_year_ago[1],
        },
    )
    return {row[0]: TimeTogether(*row[1:]) for row in rows}
