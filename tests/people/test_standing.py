"""Who is a newcomer, a regular or back."""

import pytest

from forgetmenot.domain import Attendance, Role, Standing
from forgetmenot.durations import DAY, HOUR, SECOND
from forgetmenot.people.standing import (
    ActiveViewers,
    active_now,
    role_of,
    standing_of,
)
from forgetmenot.settings.schema import PeopleSettings
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
    ("streams", "lately", "away_d", "standing"),
    [
        (0, 0, None, Standing.NEWCOMER),
        (2, 2, 1, Standing.NEWCOMER),
        (3, 3, 1, Standing.KNOWN),
        (9, 5, 1, Standing.REGULAR),
        (9, 5, 21, Standing.RETURNER),
        (40, 0, 200, Standing.RETURNER),
        (40, 4, 20, Standing.KNOWN),
    ],
)
def test_standing(
    streams: int, lately: int, away_d: int | None, standing: Standing
) -> None:
    before = None if away_d is None else NOW - away_d * DAY
    assert (
        standing_of(Attendance(streams, lately, before), PeopleSettings(), NOW)
        is standing
    )


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
