"""What a question asks about time, and whether a text answers it. Pure; English.

"what did she do in May?" names a month, "on 3 July 2023" a day. "when" is answered by a text that
states a time, "how long" by one that states a duration.
"""

import re
from calendar import monthrange
from collections.abc import Sequence
from datetime import date, timedelta

from msgspec import Struct

from forgetmenot.text.days import day_of, end_of_day
from forgetmenot.text.words import text_cache

_MONTHS_OF_YEAR = """
    january february march april may june july august september october november december
"""
MONTHS = tuple(_MONTHS_OF_YEAR.split())
_DIGIT = re.compile(r"\d")
_MONTH_NUMBERS = {"sept": 9}
for _number, _month in enumerate(MONTHS, start=1):
    _MONTH_NUMBERS[_month] = _number
    _MONTH_NUMBERS[_month[:3]] = _number
_LONGEST_FIRST = sorted(_MONTH_NUMBERS, key=len, reverse=True)
_NAMES = "|".join(_LONGEST_FIRST)
_YEAR = r"(?:,?\s+(?P<year>(?:19|20)\d\d))?"
_MONTH = re.compile(
    rf"\b(?P<month>{_NAMES})\b\.?(?:\s+(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\b(?!:))?{_YEAR}"
)
_DAY_FIRST = re.compile(
    rf"\b(?P<day>[0-3]?\d)(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_NAMES})\b\.?{_YEAR}"
)
_ISO = re.compile(r"\b(?P<year>(?:19|20)\d\d)-(?P<month>\d\d)(?:-(?P<day>\d\d))?\b")
_YEAR_ALONE = re.compile(
    r"\b(?:in|of|during|since|until|before|after)\s+(?P<year>(?:19|20)\d\d)\b"
)
# Months that are verbs ("may", "march") or names ("jan") as well: only with a day, a year or one of
# these words before them.
_AMBIGUOUS_MONTHS = frozenset({"may", "mar", "march", "sep", "dec", "jan", "jun"})
_BEFORE_MONTH = re.compile(
    r"\b(?:in|of|since|during|last|this|next|early|mid|late|until|till|by|on|from|before|after)"
    r"[\s-]+$"
)

_WHEN = re.compile(
    r"\bwhen\b|\bwhat (?:date|day|month|year|time)\b|\bwhich (?:day|month|year)\b|\bhow long ago\b"
)
_HOW_LONG = re.compile(
    r"\bhow (?:long|many (?:days|weeks|months|years|hours))\b(?! ago)|\bsince when\b"
)
_CLEAR = [month for month in MONTHS if month not in _AMBIGUOUS_MONTHS]
_CLEAR_MONTHS = "|".join(_CLEAR)
_A_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|recently|lately|ago|weekends?|weeks?|months?|years?"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?|summer|winter|spring|autumn|morning|evening"
    r"|afternoon|night|birthday|anniversary|(?:19|20)\d\d"
    rf"|{_CLEAR_MONTHS}|since|\d{{1,2}}(?::\d\d)? ?[ap]m)\b"
)
_AMOUNT = (
    "a|an|one|two|three|four|five|six|seven|eight|nine|ten|few|several|many|of|couple"
)
_A_DURATION = re.compile(
    rf"\b(?:\d+|{_AMOUNT}) (?:minute|hour|day|week|month|year|decade)s?\b"
    r"|\bsince\b|\b(?:years|months|decades|ages)\b|\ba long time\b"
)

_PLANNED = re.compile(
    r"\b(?:will|going to|about to|plan(?:s|ned|ning)|(?:hop|want|intend|aim)(?:s|es|ing) to"
    r"|upcoming|booked)\b"
)
# "has a concert on 26 November", said on that day: in the evening it is still to come.
_HAS = re.compile(r"has (?:an?|the|her|his|their|its) ")
# A plan of several days: "the week of 9 November", "from 28 November to 3 December".
_WEEK_OF = re.compile(r"\bweek (?:of|from|starting|beginning)\b")
_FROM_TO = re.compile(r"\b(?:from|between)\b.+\b(?:to|till|until|and)\b")
_REST_OF_WEEK = timedelta(days=6)

# People often mention an event within the week after it.
_NEAR_DAYS = 8
# Days ahead of what is soon.
_SOON_DAYS = 7
# "on 3 May", said two days later, is not the third of May of next year.
_NEXT_DAYS = 60
# Six hours: a stream may go on after midnight.
_LATE_MS = 21_600_000
_MAX_YEAR = 9_999


class Period(Struct, frozen=True):
    """A year, a month or a day; a month without a year is that month of any year."""

    year: int | None = None
    month: int | None = None
    day: int | None = None

    def fits(self, stated: date) -> float:
        """Return how well a fact stated on a date fits: 1, 0.5 if stated soon after, else 0."""
        if self.month is None:
            return float(self.year in {None, stated.year})
        if self.year is not None:
            return self._fits_in(self.year, stated)
        # "in December", stated in January, is the December before.
        this_year = self._fits_in(stated.year, stated)
        year_before = self._fits_in(stated.year - 1, stated)
        return max(this_year, year_before)

    def is_soon(self, today: date) -> bool:
        """Return whether it is a day from yesterday to a week after today.

        A day without a year comes every year.
        """
        for year in self._years_from(today):
            first_day, _ = self._days_in(year)
            if -1 <= (first_day - today).days <= _SOON_DAYS:
                return True
        return False

    def day_from(self, stated: date) -> date | None:
        """Return the day it names; None if that was before it was stated.

        Without a year it is the next such day, and None if that is more than two months away.
        """
        for year in self._years_from(stated):
            day, _ = self._days_in(year)
            days_ahead = (day - stated).days
            is_near = self.year is not None or days_ahead <= _NEXT_DAYS
            if is_near and days_ahead >= 0:
                return day
        return None

    def _years_from(self, start: date) -> tuple[int, ...]:
        """Return the year it is in; without one that of a date and the next."""
        if self.year is not None:
            return (self.year,)
        return (start.year, min(start.year + 1, _MAX_YEAR))

    def _fits_in(self, year: int, stated: date) -> float:
        """Return how well a date fits the month, or the day, of one year."""
        first_day, last_day = self._days_in(year)
        days_before = (first_day - stated).days
        days_after = (stated - last_day).days
        # A day to either side of a day, because an evening goes on after midnight.
        tolerance = 0 if self.day is None else 1
        if max(days_before, days_after) <= tolerance:
            return 1.0
        if 0 < days_after <= _NEAR_DAYS:
            return 0.5
        return 0.0

    def _days_in(self, year: int) -> tuple[date, date]:
        """Return its first and its last day in a year."""
        month = self.month or 1
        _weekday, month_length = monthrange(year, month)
        if self.day is None:
            return date(year, month, 1), date(year, month, month_length)
        # "30 February" is the last day of February.
        day_number = min(max(self.day, 1), month_length)
        only_day = date(year, month, day_number)
        return only_day, only_day


class AskedTime(Struct, frozen=True):
    """What a question asks about time; false if it asks nothing about it."""

    periods: tuple[Period, ...] = ()
    when: bool = False
    how_long: bool = False

    def __bool__(self) -> bool:
        return bool(self.periods or self.when or self.how_long)

    def fits(self, stated: date) -> float:
        """Return how well a fact stated on a day fits the times that are named, from 0 to 1."""
        fits = [period.fits(stated) for period in self.periods]
        return max(fits, default=0.0)


NO_TIME = AskedTime()


@text_cache(256)
def asked_time(text: str) -> AskedTime:
    """Return what a question asks about time."""
    lower_text = text.lower()
    asks_when = _WHEN.search(lower_text) is not None
    asks_how_long = _HOW_LONG.search(lower_text) is not None
    periods = periods_in(lower_text)
    return AskedTime(periods, when=asks_when, how_long=asks_how_long)


def periods_in(lower_text: str) -> tuple[Period, ...]:
    """Return the years, months and days that a text in small letters names, each once."""
    # By the place where the month begins, which the three patterns share.
    periods: dict[int, Period] = {}
    # In this order: of "3 May 2024" the last pattern would read a month and a year alone.
    for pattern in (_ISO, _DAY_FIRST, _MONTH):
        for match in pattern.finditer(lower_text):
            period = _period(match, lower_text)
            places = range(match.start(), match.end())
            is_read = not periods.keys().isdisjoint(places)
            if period is not None and not is_read:
                periods[match.start("month")] = period
    if periods:
        return tuple(dict.fromkeys(periods.values()))
    years = _YEAR_ALONE.findall(lower_text)
    unique_years = dict.fromkeys(map(int, years))
    return tuple(map(Period, unique_years))


def _period(match: re.Match[str], lower_text: str) -> Period | None:
    """Return the month or day of a match; None for a word that is no month, or no date."""
    name = match["month"]
    is_alone = not match["year"] and not match["day"]
    if is_alone and name in _AMBIGUOUS_MONTHS:
        text_before = lower_text[: match.start()]
        if not _BEFORE_MONTH.search(text_before):
            return None
    month = int(name) if name.isdigit() else _MONTH_NUMBERS[name]
    if not 1 <= month <= 12:
        return None
    year = int(match["year"]) if match["year"] else None
    if not match["day"]:
        return Period(year, month)
    day = int(match["day"])
    return Period(year, month, day) if 1 <= day <= 31 else None


def days_in(text: str) -> tuple[Period, ...]:
    """Return the days that a text names, each once."""
    # Asked of every note, few of which have a digit.
    if not _DIGIT.search(text):
        return ()
    periods = periods_in(text.lower())
    return tuple(period for period in periods if period.day is not None)


def stated_plan_end(
    text: str,
    stated_at: int,
    ends_at: int | None,
    zone: str,
) -> int | None:
    """Return when what a text states as a plan is over (ms); None if it is no plan.

    It is over with the day that it names, by the channel's calendar, or else at `ends_at`; of a week
    with its last day. A day that was still to come when the text was stated makes it a plan. So does
    the same day if the text says what somebody has.
    """
    days = days_in(text)
    # most notes name no day and have no end
    if not days and ends_at is None:
        return None
    lower_text = text.lower()
    stated = day_of(stated_at, zone)
    is_planned = _PLANNED.search(lower_text) is not None
    may_be_today = is_planned or _HAS.match(lower_text) is not None
    planned_days = []
    for period in days:
        day = period.day_from(stated)
        if day is None:
            continue
        if may_be_today or day > stated:
            planned_days.append(day)
    if planned_days:
        return end_of_day(_last_day(planned_days, lower_text), zone)
    return ends_at if is_planned else None


def _last_day(planned_days: Sequence[date], lower_text: str) -> date:
    """Return the last day of a plan, which names these days; of two plans that of the first."""
    first_day = min(planned_days)
    if _WEEK_OF.search(lower_text):
        return first_day + _REST_OF_WEEK
    if _FROM_TO.search(lower_text):
        return max(planned_days)
    return first_day


def without_times(text: str) -> str:
    """Return a text in small letters without the days, months and years that it names."""
    lower_text = text.lower()
    for pattern in (_ISO, _DAY_FIRST, _MONTH, _YEAR_ALONE):
        lower_text = pattern.sub(" ", lower_text)
    return lower_text


def ended_since(
    end: int | None,
    left_at: int,
    now: int,
) -> bool:
    """Return whether a plan ended since somebody left the stream before, or soon before (ms)."""
    return end is not None and left_at - _LATE_MS < end <= now


def states_time(text: str) -> bool:
    """Return whether a text states when something is, was or will be."""
    return _A_TIME.search(text.lower()) is not None


def states_duration(text: str) -> bool:
    """Return whether a text states how long something lasts."""
    return _A_DURATION.search(text.lower()) is not None
