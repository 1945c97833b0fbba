"""Roles and standing: who may do what, who is a regular, and who is active now.

- A role is read from the badges of one message, a standing from the streams that a viewer came to.
- Active are viewers seen within a day and all regulars, except those who opted out or were banned.
"""

from collections.abc import Callable
from collections.abc import Set as AbstractSet

from forgetmenot.clock import Clock
from forgetmenot.domain import ABSENCE_STREAMS, Attendance, Role, Standing
from forgetmenot.durations import DAY, MINUTE
from forgetmenot.settings.schema import PeopleSettings, Settings
from forgetmenot.store.database import Database, Source
from forgetmenot.store.names import active_ids

# Highest first: a moderator who subscribes is a moderator.
_BADGES = (
    ("broadcaster", Role.BROADCASTER),
    ("lead_moderator", Role.MODERATOR),
    ("moderator", Role.MODERATOR),
    ("vip", Role.VIP),
    ("subscriber", Role.SUBSCRIBER),
    ("founder", Role.SUBSCRIBER),
)


def role_of(badges: AbstractSet[str]) -> Role:
    """Return the highest role that a badge stands for."""
    # most lines have no badge
    if not badges:
        return Role.VIEWER
    for badge, role in _BADGES:
        if badge in badges:
            return role
    return Role.VIEWER


# Streams within this time count for being a regular, in ms.
REGULAR_WITHIN = 60 * DAY


def standing_of(
    attendance: Attendance,
    people: PeopleSettings,
    now: int,
) -> Standing:
    """Return the standing of somebody who came that often, `lately` within REGULAR_WITHIN."""
    if attendance.streams < people.newcomer_streams:
        return Standing.NEWCOMER
    last_came_at = attendance.before_at
    if last_came_at is not None and attendance.missed >= ABSENCE_STREAMS:
        time_away = now - last_came_at
        if time_away >= people.returner_away_d * DAY:
            return Standing.RETURNER
    if attendance.lately >= people.regular_streams:
        return Standing.REGULAR
    return Standing.KNOWN


# How long the ids that were read stand, and who counts as active, in ms.
FRESH = MINUTE
SEEN_LATELY = DAY


class ActiveViewers:
    """The ids of those who were in chat within a day, and of all regulars; none until the first `look`."""

    def __init__(
        self,
        *,
        db: Database,
        settings: Callable[[], Settings],
        clock: Clock,
    ) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self.ids: frozenset[str] = frozenset()
        self._until = 0

    async def look(self) -> None:
        """Read the ids, unless they were read within the last minute."""
        if self._clock.now() >= self._until:
            await self.look_again()

    async def look_again(self) -> None:
        """Read the ids. A periodic task calls it so that no reply has to wait."""
        now = self._clock.now()
        self.ids = await active_now(self._db, self._settings().people, now)
        self._until = now + FRESH

    def forget(self) -> None:
        """Have the ids read before the next message: after an erasure."""
        self._until = 0


async def active_now(
    source: Source,
    people: PeopleSettings,
    now: int,
) -> frozenset[str]:
    """Return the ids of those who were in chat within a day, and of all regulars; nobody hidden."""
    return await active_ids(
        source,
        seen_since=now - SEEN_LATELY,
        regular_since=now - REGULAR_WITHIN,
        regular_streams=people.regular_streams,
    )
