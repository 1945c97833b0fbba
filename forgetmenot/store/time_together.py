"""Reads what rows say of somebody's time here."""

from collections.abc import Collection

from forgetmenot.domain import TimeTogether
from forgetmenot.store.database import Source


async def histories(
    source: Source,
    viewer_ids: Collection[str],
    until: int,
) -> dict[str, TimeTogether]:
    """Return what rows say of those of these people who came, by id; nobody hidden.

    `until`: visits that began later do not count (ms).
    """
    visits: dict[str, list[tuple[int, int]]] = {}
    rows = await source.rows(
        """
        SELECT viewer_id, first_at, last_at
        FROM attendance
        WHERE viewer_id IN (SELECT value FROM json_each(?))
            AND first_at <= ?
        ORDER BY first_at
        """,
        (list(viewer_ids), until),
    )
    for viewer_id, first_at, last_at in rows:
        visits.setdefault(viewer_id, []).append((first_at, last_at))
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
