"""What a question asks about time, and whether a text answers it. Pure; English.

"what did she do in May?" names a month, "on 3 July 2023" a day. "when" wants a text that tells a time, "how long" one
that tells a duration.
"""

import re
from calendar import monthrange
from datetime import date, timedelta

from msgspec import Struct

from forgetmenot.text.days import day_of, end_of_day
from forgetmenot.text.words import text_cache

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_NUMBER = {
    name: number for number, month in enumerate(MONTHS, start=1) for name in (month, month[:3])
}
_NUMBER["sept"] = 9
_NAMES = "|".join(sorted(_NUMBER, key=len, reverse=True))
_YEAR = r"(?:,?\s+(?P<year>(?:19|20)\d\d))?"
_MONTH = re.compile(
    rf"\b(?P<month>{_NAMES})\b\.?(?:\s+(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b(?!:))?{_YEAR}"
)
_DAY_FIRST = re.compile(
    rf"\b(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_NAMES})\b\.?{_YEAR}"
)
_ISO = re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)(?:-(?P<day>\d\d))?\b")
_YEAR_ALONE = re.compile(r"\b(?:in|of|during|since|until|before|after)\s+(?P<year>(?:19|20)\d\d)\b")
_WORDS_TOO = {
    "may",
    "mar",
    "march",
    "sep",
    "dec",
    "jan",
    "jun",
}  # words or names as well, so only after one of these
_BEFORE_MONTH = re.compile(
    r"\b(?:in|of|since|during|last|this|next|early|mid|late|until|till|by|on|from|before|after)[\s-]+$"
)

_WHEN = re.compile(
    r"\bwhen\b|\bwhat (?:date|day|month|year|time)\b|\bwhich (?:day|month|year)\b|\bhow long ago\b"
)
_HOW_LONG = re.compile(
    r"\bhow (?:long|many (?:days|weeks|months|years|hours))\b(?! ago)|\bsince when\b"
)
_A_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|recently|lately|ago|weekends?|weeks?|months?|years?|(?:mon|tues|wednes|thurs|fri"
    r"|satur|sun)days?|summer|winter|spring|autumn|morning|evening|afternoon|night|birthday|anniversary|(?:19|20)\d\d"
    rf"|{'|'.join(month for month in MONTHS if month not in _WORDS_TOO)}|since|\d{{1,2}}(?::\d\d)? ?[ap]m)\b"
)
_SOME = "a|an|one|two|three|four|five|six|seven|eight|nine|ten|few|several|many|of|couple"
_A_DURATION = re.compile(
    rf"\b(?:\d+|{_SOME}) (?:minute|hour|day|week|month|year|decade)s?\b|\bsince\b|\b(?:years|months|decades|ages)\b"
    r"|\ba long time\b"
)

_PLANNED = re.compile(
    r"\b(?:will|going to|about to|plan(?:s|ned|ning)|(?:hop|want|intend|aim)(?:s|es|ing) to|upcoming|booked)\b"
)
# "has a concert on 26 November", said on that day: in the evening it is still to come.
_HAS = re.compile(r"has (?:an?|the|her|his|their|its) ")

NEAR_DAYS = 8  # people often mention an event within the week after it
SOON_DAYS = 7
NEXT_DAYS = 60  # "on 3 May", said two days later, is not the third of May of next year
LATE_MS = 21_600_000


class Period(Struct, frozen=True):
    """A year, a month or a day; a month without a year is that month of any year."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    def fits(self, stated: date) -> float:
        """How well a fact stated on a date fits it: 1, 0.5 where it was stated shortly afterwards, else 0."""
        if self.month is None:
            return float(self.year in {None, stated.year})
        # "in December", stated in January, is the December before
        years = (stated.year, stated.year - 1) if self.year is None else (self.year,)
        return max(self._fits_in(year, stated) for year in years)

    def is_soon(self, today: date) -> bool:
        """Whether it is a day from yesterday to a week after today; one without a year comes every year."""
        years = (today.year, min(today.year + 1, 9999)) if self.year is None else (self.year,)
        return any(-1 <= (self._days(year)[0] - today).days <= SOON_DAYS for year in years)

    def day_from(self, said: date) -> date | None:
        """The day it names, if that is `said` or later; without a year, the next one within `NEXT_DAYS`."""
        if self.year is not None:
            day = self._days(self.year)[0]
            return day if day >= said else None
        ahead = (self._days(year)[0] for year in (said.year, min(said.year + 1, 9999)))
        return next(
            (day for day in ahead if timedelta() <= day - said <= timedelta(NEXT_DAYS)), None
        )

    def _fits_in(self, year: int, stated: date) -> float:
        """The same for the month, or the day, of one year."""
        first, last = self._days(year)
        before, after = (first - stated).days, (stated - last).days
        # a day to either side of a day, because an evening goes on after midnight
        if max(before, after) <= (0 if self.day is None else 1):
            return 1.0
        return 0.5 if 0 < after <= NEAR_DAYS else 0.0

    def _days(self, year: int) -> tuple[date, date]:
        """The first and the last day of it in a year."""
        month = self.month or 1
        first = date(year, month, 1)
        last = first.replace(day=monthrange(year, month)[1])
        if self.day is None:
            return first, last
        day = min(max(self.day, 1), last.day)
        return first.replace(day=day), first.replace(day=day)


class AskedTime(Struct, frozen=True):
    """What a question asks about time."""

    periods: tuple[Period, ...] = ()
    when: bool = False
    how_long: bool = False

    def __bool__(self) -> bool:
        return bool(self.periods or self.when or self.how_long)

    def fits(self, stated: date) -> float:
        """How well a fact stated on a day fits the times that are named, from 0 to 1."""
        return max((period.fits(stated) for period in self.periods), default=0.0)


NO_TIME = AskedTime()


@text_cache(256)
def asked_time(text: str) -> AskedTime:
    """Read a question. A text without a word of time gives a false value."""
    low = text.lower()
    return AskedTime(
        periods_in(low), when=bool(_WHEN.search(low)), how_long=bool(_HOW_LONG.search(low))
    )


def periods_in(text: str) -> tuple[Period, ...]:
    """The years, months and days that a text in small letters names."""
    found: dict[int, Period] = {}
    for pattern in (_ISO, _DAY_FIRST, _MONTH):
        for match in pattern.finditer(text):
            period = _period(match, text)
            if period is not None and not any(match.start() <= at < match.end() for at in found):
                found[match.start("month")] = period
    if not found:
        found = {match.start(): Period(int(match["year"])) for match in _YEAR_ALONE.finditer(text)}
    return tuple(dict.fromkeys(found.values()))


def days_in(text: str) -> tuple[Period, ...]:
    """The days that a text names."""
    found = periods_in(text.lower()) if any(map(str.isdecimal, text)) else ()
    return tuple(period for period in found if period.day is not None)


def stated_plan_end(text: str, said_at: int, ends_at: int | None, zone: str) -> int | None:
    """Return when what a text says as a plan is over (ms); None for no plan.

    That is with the day that it names, by the channel's calendar, or else at `ends_at`. A day that was still to come
    when the text was said makes it a plan, and so does the same day where the text says what somebody has.
    """
    said = day_of(said_at, zone)
    is_planned = _PLANNED.search(text.lower()) is not None
    may_be_today = is_planned or _HAS.match(text.lower()) is not None
    days_ahead = []
    for period in days_in(text):
        day = period.day_from(said)
        if day is not None and (may_be_today or day > said):
            days_ahead.append(day)
    if days_ahead:
        return end_of_day(min(days_ahead), zone)
    return ends_at if is_planned else None


def without_times(text: str) -> str:
    """Return a text in small letters without the days, months and years that it names."""
    low = text.lower()
    for pattern in (_ISO, _DAY_FIRST, _MONTH, _YEAR_ALONE):
        low = pattern.sub(" ", low)
    return low


def ended_since(end: int | None, left_at: int, now: int) -> bool:
    """Whether a plan ended since somebody left the stream before (ms), which may have gone on after midnight."""
    return end is not None and left_at - LATE_MS < end <= now


def states_time(text: str) -> bool:
    """Whether a text says when something is, was or will be."""
    return bool(_A_TIME.search(text.lower()))


def states_duration(text: str) -> bool:
    """Whether a text says how long something lasts."""
    return bool(_A_DURATION.search(text.lower()))


def _period(match: re.Match[str], text: str) -> Period | None:
    name, day = match["month"], match["day"]
    month = int(name) if name.isdigit() else _NUMBER[name]
    if name in _WORDS_TOO and not (
        day or match["year"] or _BEFORE_MONTH.search(text[: match.start()])
    ):
        return None  # "may" and "march" are verbs, "jan" and "jun" names
    if not 1 <= month <= 12 or (day and not 1 <= int(day) <= 31):
        return None
    return Period(int(match["year"]) if match["year"] else None, month, int(day) if day else None)
