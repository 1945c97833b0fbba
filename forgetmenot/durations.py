"""Lengths of time in milliseconds, and how people and models type them. Pure."""

import re

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
