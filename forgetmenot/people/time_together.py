"""What is worth saying of somebody's time here: streaks, anniversaries, returns. Pure.

No model writes any of it: each fact follows from rows (store/time_together).
"""

from collections.abc import Iterable, Sequence
from datetime import date
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from forgetmenot.domain import ABSENCE_STREAMS, TimeTogether, Visit
from forgetmenot.durations import DAY
from forgetmenot.languages import Language
from forgetmenot.text.days import day_of, end_of_day, start_of_day

# Shorter absences are everyday, and so are shorter streaks.
LONG_ABSENCE = 21 * DAY
LONG_STREAK = 3
# Months of a subscription and streams in a row that are an occasion, before the first year or fifty.
_EARLY_MONTHS = frozenset({3, 6})
_ROUND_STREAKS = frozenset({10, 25})


class FactKind(StrEnum):
    """What a fact is about; its words stand in the table [together] of languages/."""

    YEARS = "years"
    MODERATOR = "moderator"
    SUB_MONTHS = "sub_months"
    WATCH_STREAK = "watch_streak"
    BACK = "back"
    ABSENCE = "absence"
    STREAK = "streak"
    YEAR_AGO = "year_ago"
    FIRST = "first"


class Fact(NamedTuple):
    """One fact. `amount`: its years, months, days or streams. `since`: when it became true (ms)."""

    kind: FactKind
    amount: int
    since: int
    is_occasion: bool = False

    def is_news(self, now: int) -> bool:
        """Return whether it became true within a day."""
        # by Twitch's time, which may be ahead of ours
        return now - self.since < DAY

    def words(self, language: Language) -> str:
        """Return it in words: "first here 2 years ago today"."""
        return language(f"together.{self.kind}", n=self.amount)


def facts_of(
    history: TimeTogether,
    streak: int,
    now: int,
    zone: str,
) -> list[Fact]:
    """Return the facts of somebody's time here, the most remarkable first.

    `streak`: how many streams in a row they came to.
    """
    facts = _anniversaries(history, now, zone)
    facts += _counts_of_twitch(history)
    facts += _longest_absence(history, now)
    came_at = history.visits[-1].first_at
    if streak >= LONG_STREAK:
        is_round = streak in _ROUND_STREAKS or streak % 50 == 0
        facts.append(Fact(FactKind.STREAK, streak, came_at, is_occasion=is_round))
    # "A year ago today you were here": true all day, whenever they come.
    today = day_of(now, zone)
    last_year = _in_year(today, today.year - 1)
    # Of a first visit a year ago the anniversary says it.
    is_said = any(fact.kind is FactKind.YEARS and fact.amount == 1 for fact in facts)
    if not is_said and _was_there(history.visits, last_year, zone):
        since = start_of_day(today, zone)
        facts.append(Fact(FactKind.YEAR_AGO, 1, since))
    if len(history.visits) == 1:
        facts.append(Fact(FactKind.FIRST, 1, came_at))
    return facts


def _counts_of_twitch(history: TimeTogether) -> list[Fact]:
    """Return what Twitch counts by itself: no row of ours says when a subscription began."""
    facts = []
    months = history.sub_months
    if months:
        is_round = months % 12 == 0 or months in _EARLY_MONTHS
        since = history.sub_months_at
        facts.append(Fact(FactKind.SUB_MONTHS, months, since, is_occasion=is_round))
    # Twitch announces milestones of them alone, so each is an occasion.
    streams = history.watch_streak
    if streams:
        since = history.watch_streak_at
        facts.append(Fact(FactKind.WATCH_STREAK, streams, since, is_occasion=True))
    return facts


def _anniversaries(
    history: TimeTogether,
    now: int,
    zone: str,
) -> list[Fact]:
    """Return of what it is the anniversary today: the first visit, the first badge of a moderator."""
    today = start_of_day(day_of(now, zone), zone)
    first_came_at = history.visits[0].first_at
    beginnings = {
        FactKind.YEARS: first_came_at,
        FactKind.MODERATOR: history.moderator_since,
    }
    facts = []
    for kind, began_at in beginnings.items():
        years = _years_today(began_at, now, zone)
        if years:
            facts.append(Fact(kind, years, today, is_occasion=True))
    return facts


def _longest_absence(history: TimeTogether, now: int) -> list[Fact]:
    """Return the longest time between two visits in which they missed streams; nothing if none was long."""
    absences = []
    for earlier, later in pairwise(history.visits):
        absence = 0
        if later.missed >= ABSENCE_STREAMS:
            absence = later.first_at - earlier.last_at
        absences.append(absence)
    longest = max(absences, default=0)
    if longest < LONG_ABSENCE:
        return []
    days = longest // DAY
    came_at = history.visits[-1].first_at
    back = Fact(FactKind.BACK, days, came_at)
    if absences[-1] == longest and back.is_news(now):
        return [back]
    # It ended long ago, so it is no news.
    return [Fact(FactKind.ABSENCE, days, since=0)]


def _was_there(
    visits: Iterable[Visit],
    day: date,
    zone: str,
) -> bool:
    start = start_of_day(day, zone)
    end = end_of_day(day, zone)
    return any(visit.first_at < end and visit.last_at >= start for visit in visits)


def to_congratulate(
    facts: Iterable[Fact],
    history: TimeTogether,
    now: int,
) -> list[Fact]:
    """Return the news of today that nobody was told yet to congratulate on."""
    new_facts = []
    for fact in facts:
        # One time says it of all: whoever was congratulated on one today, was on those of before.
        is_new = fact.since > history.congratulated_at
        if is_new and fact.is_occasion and fact.is_news(now):
            new_facts.append(fact)
    return new_facts


def words_of(
    facts: Sequence[Fact],
    now: int,
    language: Language,
) -> list[str]:
    """Return those that are today's news, and a long streak, in words."""
    sentences = []
    for fact in facts:
        if fact.is_news(now) or fact.kind is FactKind.STREAK:
            sentences.append(fact.words(language))
    return sentences


def _years_today(
    began_at: int,
    now: int,
    zone: str,
) -> int:
    """Return how many years ago something began on this day; 0 on any other day."""
    if not began_at:
        return 0
    began = day_of(began_at, zone)
    today = day_of(now, zone)
    if _in_year(began, today.year) != today:
        return 0
    # Never negative: a computer's clock may have been wrong.
    return max(0, today.year - began.year)


def _in_year(day: date, year: int) -> date:
    """Return a day in another year; of 29 February the 28th where there is no 29th."""
    try:
        return day.replace(year=year)
    except ValueError:
        return day.replace(year=year, day=28)
