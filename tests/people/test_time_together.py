"""What is worth saying of somebody's time here."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.domain import TimeTogether, Visit
from forgetmenot.durations import DAY, HOUR
from forgetmenot.languages import ENGLISH, in_language
from forgetmenot.people.time_together import (
    FactKind,
    facts_of,
    to_congratulate,
    words_of,
)


def at(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() * 1_000)


NOW = at("2026-11-29T20:00")


def visited(*starts: int, missed: int = 2) -> TimeTogether:
    """Somebody who came at these times, each for an hour, and missed so many streams before each."""
    return TimeTogether(
        [Visit(began_at, began_at + HOUR, missed) for began_at in starts]
    )


def kinds(history: TimeTogether, streak: int = 0, now: int = NOW) -> dict[str, int]:
    return {
        fact.kind.value: fact.amount for fact in facts_of(history, streak, now, "UTC")
    }


def test_an_anniversary_is_on_its_day_alone() -> None:
    came = visited(at("2024-11-29T23:30"), at("2024-11-29T23:30") + DAY)
    assert kinds(came) == {"years": 2}
    assert kinds(came, now=NOW + DAY) == {}
    assert kinds(came, now=NOW - DAY) == {}
    assert kinds(came, now=at("2024-11-29T23:45")) == {}


def test_of_a_first_visit_a_year_ago_the_anniversary_alone_is_said() -> None:
    first = at("2025-11-29T20:00")
    assert kinds(visited(first, first + DAY, NOW)) == {"years": 1, "back": 363}
    earlier = visited(first - 10 * DAY, first, first + DAY, NOW)
    assert kinds(earlier) == {"year_ago": 1, "back": 363}


def test_the_day_is_the_channels_own() -> None:
    came = visited(at("2024-11-28T23:30"), at("2024-11-28T23:30") + DAY)
    assert [
        fact.amount
        for fact in facts_of(came, 0, at("2026-11-29T10:00"), "Europe/Berlin")
    ] == [2]


def test_who_came_on_29_february_has_a_day_each_year() -> None:
    came = visited(at("2024-02-29T20:00"), at("2024-02-29T20:00") + DAY)
    assert kinds(came, now=at("2026-02-28T20:00")) == {"years": 2}
    assert kinds(came, now=at("2028-02-28T20:00")) == {}
    assert kinds(came, now=at("2028-02-29T20:00")) == {"years": 4}


def test_facts_are_as_rows_have_them() -> None:
    visits = (at("2025-01-01T20:00"), at("2025-11-29T22:00"), NOW - HOUR)
    history = visited(*visits)._replace(
        sub_months=24,
        sub_months_at=NOW - HOUR,
        watch_streak=20,
        watch_streak_at=NOW - HOUR,
        moderator_since=at("2025-11-29T08:00"),
    )
    facts = facts_of(history, 10, NOW, "UTC")
    assert words_of(facts, NOW, ENGLISH) == [
        "a moderator for 1 year today",
        "subscribed for 24 months",
        "watch streak on Twitch: 20 streams",
        "back after 364 days",
        "10 streams in a row",
        "was here a year ago today",
    ]
    assert [fact.kind for fact in to_congratulate(facts, history, NOW)] == [
        FactKind.MODERATOR,
        FactKind.SUB_MONTHS,
        FactKind.WATCH_STREAK,
        FactKind.STREAK,
    ]


def test_what_is_old_is_no_news() -> None:
    history = visited(NOW - 45 * DAY, NOW - 4 * DAY, NOW - 3 * DAY)._replace(
        sub_months=13,
        watch_streak=20,
        watch_streak_at=NOW - 3 * DAY,
    )
    facts = facts_of(history, 2, NOW, "UTC")
    assert words_of(facts, NOW, ENGLISH) == []
    assert to_congratulate(facts, history, NOW) == []
    assert kinds(history) == {"sub_months": 13, "watch_streak": 20, "absence": 40}


def test_the_first_time() -> None:
    assert kinds(visited(NOW)) == {"first": 1}


@pytest.mark.parametrize(
    ("months", "is_occasion"),
    [(1, False), (3, True), (6, True), (9, False), (12, True), (13, False), (36, True)],
)
def test_round_months_of_a_subscription_are_an_occasion(
    months: int, *, is_occasion: bool
) -> None:
    history = visited(NOW - DAY, NOW)._replace(sub_months=months, sub_months_at=NOW)
    [fact] = facts_of(history, 0, NOW, "UTC")
    assert (fact.kind, fact.is_occasion) == (FactKind.SUB_MONTHS, is_occasion)


@pytest.mark.parametrize(
    ("streak", "is_occasion"),
    [
        (3, False),
        (10, True),
        (11, False),
        (25, True),
        (50, True),
        (51, False),
        (150, True),
    ],
)
def test_round_streaks_are_an_occasion(streak: int, *, is_occasion: bool) -> None:
    [fact] = facts_of(visited(NOW - DAY, NOW), streak, NOW, "UTC")
    assert (fact.kind, fact.is_occasion) == (FactKind.STREAK, is_occasion)


def test_a_streak_of_two_is_everyday() -> None:
    assert kinds(visited(NOW - DAY, NOW), streak=2) == {}


@pytest.mark.parametrize(("away", "days"), [(21 * DAY - 1, None), (21 * DAY, 21)])
def test_an_absence_is_long_from_three_weeks_on(away: int, days: int | None) -> None:
    came = visited(NOW - HOUR - away, NOW)
    assert kinds(came).get("back") == days


def test_a_pause_of_the_channel_is_no_absence() -> None:
    assert kinds(visited(NOW - 40 * DAY, NOW, missed=0)) == {}
    assert kinds(visited(NOW - 40 * DAY, NOW, missed=1)) == {}
    own_absence = Visit(NOW - 65 * DAY, NOW - 65 * DAY, missed=9)
    pause = Visit(NOW, NOW, missed=0)
    first = Visit(NOW - 90 * DAY, NOW - 90 * DAY)
    assert kinds(TimeTogether([first, own_absence, pause])) == {"absence": 25}


def test_an_absence_is_news_when_it_ends() -> None:
    back = facts_of(visited(NOW - 40 * DAY, NOW), 0, NOW, "UTC")
    assert words_of(back, NOW, ENGLISH) == ["back after 39 days"]
    assert words_of(back, NOW, in_language("de")) == ["nach 39 Tagen wieder da"]
    later = facts_of(visited(NOW - 40 * DAY, NOW - HOUR, NOW), 0, NOW, "UTC")
    assert words_of(later, NOW, ENGLISH) == []


def test_an_absence_that_is_over_is_the_longest_time_away() -> None:
    visits = visited(NOW - 45 * DAY, NOW - 4 * DAY, NOW - 3 * DAY)
    [fact] = facts_of(visits, 0, NOW, "UTC")
    assert fact.words(ENGLISH) == "longest time away: 40 days"
    assert fact.words(in_language("de")) == "am längsten weg: 40 Tage"


def test_news_are_a_day_old_at_most() -> None:
    [fact] = facts_of(visited(NOW), 0, NOW, "UTC")
    assert (fact.kind, fact.since) == (FactKind.FIRST, NOW)
    assert fact.is_news(NOW + DAY - 1)
    assert not fact.is_news(NOW + DAY)


# It is ten in the morning of the 30th there.
KIRITIMATI = "Pacific/Kiritimati"
DAY_BEGAN = at("2026-11-29T10:00")
LAST_YEAR = at("2025-11-29T10:00")


@pytest.mark.parametrize(
    ("came_at", "was_there"),
    [
        (LAST_YEAR - HOUR - 1, False),
        (LAST_YEAR - HOUR, True),
        (LAST_YEAR, True),
        (LAST_YEAR + DAY - 1, True),
        (LAST_YEAR + DAY, False),
    ],
)
def test_a_year_ago_is_a_day_of_the_channels_calendar(
    came_at: int, *, was_there: bool
) -> None:
    history = visited(at("2025-07-01T10:00"), came_at, NOW)
    facts = facts_of(history, 0, NOW, KIRITIMATI)
    year_ago = [fact for fact in facts if fact.kind is FactKind.YEAR_AGO]
    assert [(fact.amount, fact.since) for fact in year_ago] == (
        [(1, DAY_BEGAN)] if was_there else []
    )


def test_an_anniversary_begins_with_the_channels_day() -> None:
    came = visited(at("2024-11-29T10:00"), at("2026-11-28T10:00"), NOW)
    [fact, *_] = facts_of(came, 0, NOW, KIRITIMATI)
    assert (fact.kind, fact.amount, fact.since) == (FactKind.YEARS, 2, DAY_BEGAN)


def test_nobody_is_congratulated_twice_on_the_same() -> None:
    history = visited(NOW - DAY, NOW)._replace(
        watch_streak=20, watch_streak_at=NOW - HOUR
    )
    facts = facts_of(history, 0, NOW, "UTC")
    assert to_congratulate(facts, history, NOW)
    assert not to_congratulate(facts, history._replace(congratulated_at=NOW), NOW)
    at_once = history._replace(congratulated_at=NOW - HOUR)
    assert not to_congratulate(facts, at_once, NOW)


TIMES = st.integers(0, 4_102_444_800_000)


@given(st.lists(TIMES, min_size=9, max_size=9), st.integers(0, 9_999), TIMES)
def test_any_rows_give_facts(times: list[int], count: int, now: int) -> None:
    history = visited(*sorted(times[:4]))._replace(
        sub_months=count,
        sub_months_at=times[4],
        watch_streak=count,
        watch_streak_at=times[5],
        moderator_since=times[6],
        congratulated_at=times[7],
    )
    facts = facts_of(history, count, now, "Europe/Berlin")
    assert all(fact.amount > 0 for fact in facts)
    assert words_of(facts, now, ENGLISH) is not None
