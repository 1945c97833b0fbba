"""Which calendar day a moment is, in the channel's time zone. Pure.

A `zone` is the name of a time zone, as `timezone` in [bot] has it: "Europe/Berlin"; empty for that
of this computer. No text of this module names it: where the streamer lives is nobody's business.
"""

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo, available_timezones

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
# In the last days of the year 9999 a zone's own date may be one that Python cannot have.
_LAST_MS = 253_401_955_200_000
_LAST_DAY = date(9999, 12, 29)


def is_zone(name: str) -> bool:
    """Return whether there is a time zone of that name; the empty name is this computer's."""
    try:
        _zone(name)
    except (LookupError, ValueError, OSError):
        return False
    return True


def zone_names() -> list[str]:
    """Return the names of all time zones. Slow: it reads them from the disk."""
    return sorted(available_timezones())


def _zone(name: str) -> tzinfo | None:
    return ZoneInfo(name) if name else None


def local_time(ms: int, zone: str) -> datetime:
    """Return a moment as the clocks of a zone show it, without the zone's name."""
    valid_ms = min(max(ms, 0), _LAST_MS)
    seconds = valid_ms // 1_000
    moment = datetime.fromtimestamp(seconds, _zone(zone))
    return moment.replace(tzinfo=None)


# Asked of the same notes at each message; without a zone the C library looks for a new one each time. A computer whose
# own zone changes meanwhile shows it at the next start.
@lru_cache(maxsize=4_096)
def day_of(ms: int, zone: str) -> date:
    """Return the calendar day of a moment."""
    return local_time(ms, zone).date()


@lru_cache(maxsize=256)
def start_of_day(day: date, zone: str) -> int:
    """Return when a day begins (ms). Where its midnight is skipped, when the clocks change."""
    valid_day = min(day, _LAST_DAY)
    midnight = datetime.combine(valid_day, time(), _zone(zone))
    since_epoch = midnight.astimezone(UTC) - _EPOCH
    return since_epoch // timedelta(milliseconds=1)


def end_of_day(day: date, zone: str) -> int:
    """Return when a day is over (ms)."""
    next_day = min(day, _LAST_DAY) + timedelta(days=1)
    return start_of_day(next_day, zone)


def days_since(
    ms: int,
    now: int,
    zone: str,
) -> int:
    """Return how many days of the calendar a moment is ago; below 0 for one on a later day."""
    between = day_of(now, zone) - day_of(ms, zone)
    return between.days


def ago(
    ms: int,
    now: int,
    zone: str,
) -> str:
    """Return how many days ago a moment was: "today", "yesterday", "3 days ago", "5 weeks ago".

    Days of the calendar are counted, so the evening before is "yesterday" at ten past midnight. A
    moment in the future is "today".
    """
    days = days_since(ms, now, zone)
    if days <= 0:
        return "today"
    if days == 1:
        return "yesterday"
    # Weeks and months from two of them on: "5 weeks ago" says more than "1 month ago".
    if days < 14:
        return f"{days} days ago"
    if days < 60:
        return f"{days // 7} weeks ago"
    if days < 365:
        return f"{days // 30} months ago"
    years = days // 365
    plural = "" if years == 1 else "s"
    return f"{years} year{plural} ago"


def iso_day(ms: int, zone: str) -> str:
    """Return a moment's day as `2026-11-20`."""
    return day_of(ms, zone).isoformat()


def written_day(ms: int, zone: str) -> str:
    """Return a moment's day as people write it: "10 May 2024"."""
    day = day_of(ms, zone)
    return f"{day.day} {day:%B} {day.year}"


def written_days(
    start: int,
    end: int,
    zone: str,
) -> str:
    """Return the day, or the first and the last, of a stretch of time: "Friday, 10 May 2024"."""
    first = f"{day_of(start, zone):%A}, {written_day(start, zone)}"
    last = f"{day_of(end, zone):%A}, {written_day(end, zone)}"
    return first if first == last else f"{first} to {last}"
