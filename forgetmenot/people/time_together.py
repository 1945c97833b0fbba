"""What is worth saying of somebody's time here: streaks, anniversaries, returns. Pure.

No model writes any of it: each fact follows from rows (store/time_together).
"""

from collections.abc import Iterable, Sequence
from datetime import date
from enum import StrEnum
from typing import NamedTuple

from forgetmenot.domain import TimeTogether
from forgetmenot.durations import DAY
from forgetmenot.languages import Language
from forgetmenot.text.days import day_of, end_of_day, start_of_day

# Shorter absences are everyday, and so are shorter streaks.
LONG_ABSENCE = 21 * DAY
LONG_STREAK = 3
_EARLY_MONTHS = frozenset({3, 6})


class FactKind(StrEnum):
    """What a fact is about; its words stand in the table [together] of languages/."""

    YEARS = "years"
    MODERATOR = "moderator"
    SUB_MONTHS = "sub_months"
    WATCH_STREAK = "watch_streak"
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
        """Return it in words: "here for 2 years today"."""
        return language(f"together.{self.kind}", n=self.amount)


def a_year_ago(now: int, zone: str) -> tuple[int, int]:
    """Return from when to when the same day of last year was (ms)."""
    today = day_of(now, zone)
    day = _in_year(today, today.year - 1)
    return start_of_day(day, zone), end_of_day(day, zone)


def facts_of(
    history: TimeTogether,
    streak: int,
    now: int,
    zone: str,
) -> list[Fact]:
    """Return the facts of somebody's time here, the most remarkable first.

    `streak`: how many streams in a row they came to.
    """
    today = start_of_day(day_of(now, zone), zone)
    facts = []
    for kind, began_at in (
        (FactKind.YEARS, history.first_at),
        (FactKind.MODERATOR, history.moderator_since),
    ):
        years = _years_today(began_at, now, zone)
        if years:
            facts.append(Fact(kind, years, today, is_occasion=True))
    months = history.sub_months
    if months:
        is_round = months % 12 == 0 or months in _EARLY_MONTHS
        since = history.sub_months_at
        facts.append(Fact(FactKind.SUB_MONTHS, months, since, is_occasion=is_round))
    if history.watch_streak:
        since = history.watch_streak_at
        count = history.watch_streak
        facts.append(Fact(FactKind.WATCH_STREAK, count, since, is_occasion=True))
    if history.longest_absence >= LONG_ABSENCE:
        has_ended = history.absence == history.longest_absence
        since = history.came_at if has_ended else 0
        facts.append(Fact(FactKind.ABSENCE, history.longest_absence // DAY, since))
    if streak >= LONG_STREAK:
        is_round = streak in {10, 25} or streak % 50 == 0
        since = history.came_at
        facts.append(Fact(FactKind.STREAK, streak, since, is_occasion=is_round))
    if history.year_ago:
        facts.append(Fact(FactKind.YEAR_AGO, 1, today))
    if history.streams == 1:
        facts.append(Fact(FactKind.FIRST, 1, history.came_at))
    return facts


def to_congratulate(
    facts: Iterable[Fact],
    history: TimeTogether,
    now: int,
) -> list[Fact]:
    """Return the news of today that nobody was told yet to congratulate on."""
    occasions = [fact for fact in facts if fact.is_occasion and fact.is_news(now)]
    return [fact for fact in occasions if fact.since > history.congratulated_at]


def words_of(
    facts: Sequence[Fact],
    now: int,
    language: Language,
) -> list[str]:
    """Return those that are today's news, and a long streak, in words."""
    return [
        fact.words(language)
        for fact in facts
        if fact.is_news(now) or fact.kind is FactKind.STREAK
    ]


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
    years = today.year - began.year
    return years if years > 0 and _in_year(began, today.year) == today else 0


def _in_year(day: date, year: int) -> date:
    """Return a day in another year; of 29 February the 28th where there is no 29th."""
    try:
        return day.replace(year=year)
    except ValueError:
        return day.replace(year=year, day=28)
