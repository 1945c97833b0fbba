"""Lengths of time in milliseconds, how people and models type them, and how often something may happen in one. Pure."""

import re
from collections import deque

SECOND = 1_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
WEEK = 7 * DAY

_UNITS = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), SECOND),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes"), MINUTE),
    **dict.fromkeys(("h", "hour", "hours"), HOUR),
    **dict.fromkeys(("d", "day", "days"), DAY),
}
_TYPED = re.compile(r"([0-9]{1,7})\s*([a-z]*)", re.ASCII | re.IGNORECASE)


def parse_duration(text: str, *, default_unit: str = "") -> int | None:
    """Return a typed length of time ("12h", "30 s") in ms; None if it is none.

    `default_unit` is the unit of a bare number. Without it a bare number is no length of time.
    """
    typed = _TYPED.fullmatch(text.strip())
    if typed is None:
        return None
    unit = _UNITS.get(typed[2].lower() or default_unit)
    return None if unit is None else int(typed[1]) * unit


class SlidingWindow:
    """Lets at most `limit` things happen within `length` (ms)."""

    def __init__(self, limit: int, length: int) -> None:
        self._length = length
        self._times: deque[int] = deque(maxlen=limit)

    def is_full(self, now: int) -> bool:
        """Return whether so many happened within this time before now (ms)."""
        if len(self._times) < (self._times.maxlen or 0):
            return False
        return now - self._times[0] < self._length

    def count(self, now: int) -> None:
        """Count one that happens now (ms)."""
        self._times.append(now)


def minute_of(at: int, started_at: int) -> str:
    """Return a time as the minute of its stream, `1:23`. Both in ms."""
    since = max(0, at - started_at)
    return f"{since // HOUR}:{since // MINUTE % 60:02}"
