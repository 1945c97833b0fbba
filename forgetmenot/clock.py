"""Time as the program sees it: milliseconds since the epoch, UTC, from a replaceable clock.

A `Clock` is handed down from app/. Nothing else calls time.time(). What is deleted by its age goes
by `certain`.
"""

import asyncio
import time
from collections import deque
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from typing import Protocol

from forgetmenot.durations import DAY, SECOND

# In UTC, as all here. Windows' own conversion has no year before it.
_EPOCH = datetime(1970, 1, 1)  # noqa: DTZ001


def _machine_ms() -> int:
    return time.time_ns() // 1_000_000


def _monotonic_ms() -> int:
    return time.monotonic_ns() // 1_000_000


class Clock(Protocol):
    """What time it is, and how to wait."""

    def now(self) -> int:
        """Milliseconds since the epoch, UTC."""

    def certain(self) -> int:
        """Return a time that has certainly passed.

        Deletions by age use it: a clock that runs ahead must delete nothing.
        """

    def at_least(self, ms: int) -> None:
        """Take a time that lies in the past, such as that of the newest line that Twitch sent."""

    async def sleep(self, ms: int) -> None:
        """Wait that long by this clock."""


# What the machine's clock may be off before it is corrected, and what counts as a jump of it.
TOLERANCE = 5 * SECOND


class SystemClock:
    """The machine's clock, corrected by what Twitch's own timestamps say (`observe`).

    A PC whose clock is wrong by hours must neither keep chat longer nor prune it unread. The
    correction is the median of the last 15 differences, so that one late line moves nothing, and is
    left out below five seconds. `certain` adds what the monotonic clock counted since to Twitch's
    time, and before that is known to the newest time in the memory: after a pause of days nothing
    is deleted until Twitch has said a time.

    Where the machine's clock jumps against its monotonic one, because the PC slept or its clock was
    set, the next line alone decides: the differences from before the jump are dropped.
    """

    def __init__(self) -> None:
        self._differences: deque[int] = deque(maxlen=15)
        self._offset = 0
        # Twitch's time less the monotonic clock's.
        self._since_boot: deque[int] = deque(maxlen=15)
        self._newest_row = -_monotonic_ms()
        self._lead = _machine_ms() - _monotonic_ms()
        # lines from before that time say nothing: they waited in a buffer while the PC slept
        self._too_old = 0

    def now(self) -> int:
        """Corrected milliseconds since the epoch."""
        self._notice_jump()
        return _machine_ms() + self._offset

    def certain(self) -> int:
        """By Twitch's time if any is known, else by the newest row's, else from 0 on."""
        self._notice_jump()
        start = self._newest_row
        if self._since_boot:
            start = _median(self._since_boot)
        return start + _monotonic_ms()

    def at_least(self, ms: int) -> None:
        """Take the newest time in the memory.

        What an earlier run wrote far ahead of this clock is not believed.
        """
        if ms <= self.now() + DAY:
            self._newest_row = max(self._newest_row, ms - _monotonic_ms())

    def observe(self, twitch_ms: int) -> None:
        """Take Twitch's timestamp of a line that has just arrived."""
        self._notice_jump()
        if twitch_ms < self._too_old:
            return
        self._since_boot.append(twitch_ms - _monotonic_ms())
        self._differences.append(twitch_ms - _machine_ms())
        typical = _median(self._differences)
        self._offset = typical if abs(typical) > TOLERANCE else 0

    def _notice_jump(self) -> None:
        """Begin anew where the machine's clock moved by something else than the time that passed.

        A jump by the correction itself sets the clock right; after any other one the PC slept, and
        the correction stays until a line says otherwise.
        """
        lead = _machine_ms() - _monotonic_ms()
        jump = lead - self._lead
        expected = _monotonic_ms() + self._lead + self._offset
        self._lead = lead
        if abs(jump) <= TOLERANCE:
            return
        if abs(jump - self._offset) <= TOLERANCE:
            self._offset = 0
        # The PC slept: lines that waited in a buffer meanwhile would pull the time back by hours.
        elif jump > 0 and self._since_boot:
            self._too_old = expected + TOLERANCE
        if self._since_boot:
            # so much has passed in any case
            self._newest_row = max(self._newest_row, _median(self._since_boot))
        self._differences.clear()
        self._since_boot.clear()

    async def sleep(self, ms: int) -> None:
        """Sleep in real time."""
        await asyncio.sleep(ms / 1_000)


def _median(values: Collection[int]) -> int:
    # The module statistics costs each start 6 ms.
    middle = len(values) // 2
    return sorted(values)[middle]


class ManualClock:
    """A clock that somebody moves: a recording's replay, a simulated year, a test.

    It never goes backwards. `sleep` returns when it has been moved past the wake-up time.
    """

    def __init__(self, start: int = 0) -> None:
        self._now = start
        self._moved = asyncio.Condition()

    def now(self) -> int:
        """Return the time it was last moved to."""
        return self._now

    def certain(self) -> int:
        """Return the same: whoever moves it knows."""
        return self._now

    def at_least(self, ms: int) -> None:
        """Nothing to learn from it."""

    async def move_to(self, ms: int) -> None:
        """Move to that time, if it lies ahead, and wake whoever waited for it."""
        self._now = max(self._now, ms)
        async with self._moved:
            self._moved.notify_all()

    async def advance(self, ms: int) -> None:
        """Move ahead by that much."""
        await self.move_to(self._now + ms)

    async def sleep(self, ms: int) -> None:
        """Wait until the clock stands `ms` later than now."""
        wake = self._now + ms
        async with self._moved:
            await self._moved.wait_for(lambda: self._now >= wake)


def iso(ms: int) -> str:
    """Return a time as people and JSON read it: `2026-11-20T18:30:00Z`."""
    return f"{(_EPOCH + timedelta(milliseconds=ms)).isoformat(timespec='seconds')}Z"


def parse_iso(text: str) -> int:
    """Return an ISO 8601 time as milliseconds; without a zone UTC.

    Raises ValueError, also for one `iso` cannot write.
    """
    moment = datetime.fromisoformat(text.strip())
    try:
        if moment.tzinfo:
            moment = moment.astimezone(UTC).replace(tzinfo=None)
    # Midnight of the first or last day of the calendar, in a zone that puts it outside.
    except OverflowError as error:
        raise ValueError(f"{text} is outside of the calendar") from error
    return (moment - _EPOCH) // timedelta(milliseconds=1)
