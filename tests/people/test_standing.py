"""Who is a newcomer, a regular or back."""

import pytest

from forgetmenot.domain import Attendance, Role, Standing
from forgetmenot.durations import DAY, HOUR, SECOND
from forgetmenot.people.standing import (
    REGULAR_WITHIN,
    ActiveViewers,
    active_now,
    role_of,
    standing_of,
)
from forgetmenot.settings.schema import PeopleSettings
from forgetmenot.store import streams, time_together
from forgetmenot.store.database import Database
from tests.notes_world import NOW, World, world

__all__ = ["world"]


@pytest.mark.parametrize(
    ("badges", "role"),
    [
        (set(), Role.VIEWER),
        ({"premium", "glhf-pledge"}, Role.VIEWER),
        ({"subscriber"}, Role.SUBSCRIBER),
        ({"founder"}, Role.SUBSCRIBER),
        ({"vip", "subscriber"}, Role.VIP),
        ({"founder", "moderator"}, Role.MODERATOR),
        ({"lead_moderator", "vip"}, Role.MODERATOR),
        ({"broadcaster", "subscriber", "premium"}, Role.BROADCASTER),
    ],
)
def test_the_role_is_the_highest_of_the_badges(badges: set[str], role: Role) -> None:
    assert role_of(badges) is role


@pytest.mark.parametrize(
    ("streams", "lately", "away_d", "missed", "standing"),
    [
        (0, 0, None, 0, Standing.NEWCOMER),
        (2, 2, 1, 0, Standing.NEWCOMER),
        (3, 3, 1, 0, Standing.KNOWN),
        (9, 5, 1, 0, Standing.REGULAR),
        (9, 5, 21, 2, Standing.RETURNER),
        (9, 5, 41, 1, Standing.REGULAR),
        (40, 0, 200, 90, Standing.RETURNER),
        (40, 0, 200, 0, Standing.KNOWN),
        (40, 4, 20, 9, Standing.KNOWN),
    ],
)
def test_standing(
    streams: int,
    lately: int,
    away_d: int | None,
    missed: int,
    standing: Standing,
) -> None:
    before = None if away_d is None else NOW - away_d * DAY
    attendance = Attendance(streams, lately, before, missed)
    assert standing_of(attendance, PeopleSettings(), NOW) is standing


async def standings(world: World) -> dict[str, Standing]:
    """The standings of alice and bob, from rows."""
    now = world.clock.now()
    since = now - REGULAR_WITHIN
    attendances = await streams.attendance_of(world.db, ["1", "2"], lately=since)
    return {
        viewer_id: standing_of(attendance, world.settings.people, now)
        for viewer_id, attendance in attendances.items()
    }


async def test_nobody_is_back_when_the_channel_itself_paused(world: World) -> None:
    await world.regulars("1", "2")
    await world.clock.advance(41 * DAY)
    assert await standings(world) == {"1": Standing.REGULAR, "2": Standing.REGULAR}
    await world.attends("1", await world.stream())
    assert await standings(world) == {"1": Standing.REGULAR, "2": Standing.REGULAR}
    # bob misses that stream, and the one after it
    await world.over("1")
    assert await standings(world) == {"1": Standing.REGULAR, "2": Standing.RETURNER}
    await world.attends("2", await world.stream())
    assert await standings(world) == {"1": Standing.REGULAR, "2": Standing.RETURNER}


async def test_missed_streams_are_counted_by_the_index_of_their_start(
    db: Database,
) -> None:
    """They are counted for each reply: the rows of all streams hold their recaps."""
    queries: list[str] = []
    await db._reader.set_trace_callback(queries.append)
    await streams.attendance_of(db, ["1"], lately=0)
    await time_together.histories(db, ["1"], NOW)
    for query in queries[:2]:
        plan = await db.rows(f"EXPLAIN QUERY PLAN {query}")
        steps = [step["detail"] for step in plan if "missed" in step["detail"]]
        assert any("COVERING INDEX streams_by_start" in step for step in steps)


@pytest.mark.parametrize(("days_ago", "is_regular"), [(59, True), (61, False)])
async def test_only_streams_of_the_last_sixty_days_make_a_regular(
    world: World, days_ago: int, *, is_regular: bool
) -> None:
    for _ in range(PeopleSettings().regular_streams):
        await world.attends("1", await world.stream())
    await world.clock.advance(days_ago * DAY)
    active = await active_now(world.db, PeopleSettings(), world.clock.now())
    assert ("1" in active) is is_regular


@pytest.mark.parametrize(("hours_ago", "is_active"), [(24, True), (25, False)])
async def test_whoever_was_seen_within_a_day_is_active(
    world: World, hours_ago: int, *, is_active: bool
) -> None:
    await world.attends("1", await world.stream())
    await world.clock.advance(hours_ago * HOUR)
    active = await active_now(world.db, PeopleSettings(), world.clock.now())
    assert ("1" in active) is is_active


async def test_active_viewers_are_read_again_after_a_minute_or_when_forgotten(
    world: World,
) -> None:
    active = ActiveViewers(
        db=world.db, settings=lambda: world.settings, clock=world.clock
    )
    assert active.ids == frozenset()
    await active.look()
    assert active.ids == {"1", "2", "9"}
    await world.viewer("3", "dora")
    await world.clock.advance(59 * SECOND)
    await active.look()
    assert "3" not in active.ids
    await world.clock.advance(SECOND)
    await active.look()
    assert "3" in active.ids
    await world.viewer("4", "erin")
    active.forget()
    await active.look()
    assert "4" in active.ids
