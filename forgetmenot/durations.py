"""Lengths of time in milliseconds, how people and models type them, and how often something may happen in one. Pure."""

import re
from collections import deque

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
WEEK = 7 * DAY

_UNIT_NAMES = {
    SECOND: ("s", "sec", "secs", "second", "seconds"),
    MINUTE: ("m", "min", "mins", "minute", "minutes"),
    HOUR: ("h", "hour", "hours"),
    DAY: ("d", "day", "days"),
}
# A model may write a number of any length, and `int` raises ValueError for thousands of digits.
_TYPED = re.compile(r"([0-9]{1,7})\s*([a-z]*)", re.ASCII | re.IGNORECASE)


def parse_duration(text: str, *, default_unit: str = "") -> int | None:
    """Return a typed length of time ("12h", "30 s") in ms; None if it is none.

    `default_unit` is the unit of a bare number. Without it a bare number is no length of time.
    """
    typed = _TYPED.fullmatch(text.strip())
    if typed is None:
        return None
    amount = int(typed[1])
    typed_unit = typed[2].lower() or default_unit
    for unit, names in _UNIT_NAMES.items():
        if typed_unit in names:
            return amount * unit
    return None


class SlidingWindow:
    """Lets at most `limit` things happen within `length` (ms)."""

    def __init__(self, limit: int, length: int) -> None:
        self._limit = limit
        self._length = length
        # The newest ones: the oldest of them decides.
        self._times: deque[int] = deque(maxlen=limit)

    def is_full(self, now: int) -> bool:
        """Return whether so many happened within this time before now (ms)."""
        if len(self._times) < self._limit:
            return False
        oldest = self._times[0]
        return now - oldest < self._length

    def count(self, now: int) -> None:
        """Count one that happens now (ms)."""
        self._times.append(now)


def minute_of(at: int, started_at: int) -> str:
    """Return a time as the minute of its stream, `1:23`. Both in ms."""
    minutes = max(0, at - started_at) // MINUTE
    return f"{minutes // 60}:{minutes % 60:02}"
