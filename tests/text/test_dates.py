"""What texts say about time."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.durations import HOUR
from forgetmenot.text.dates import (
    NO_TIME,
    AskedTime,
    Period,
    asked_time,
    days_in,
    ended_since,
    stated_plan_end,
    states_duration,
    states_time,
    without_times,
)
from forgetmenot.text.days import day_of


def ms(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1_000)


@pytest.mark.parametrize(
    ("question", "periods"),
    [
        ("what did alice do on 3 July 2023?", [Period(2023, 7, 3)]),
        ("where was bob on March 14th", [Period(None, 3, 14)]),
        ("what did carol win in December 2025", [Period(2025, 12)]),
        ("how many marathons in 2024?", [Period(2024)]),
        ("what was better, after 2019 or before 2020?", [Period(2019), Period(2020)]),
        ("in 2024, or of 2024?", [Period(2024)]),
        ("the game she finished on 2026-02-28", [Period(2026, 2, 28)]),
        ("what happened in 2026-02", [Period(2026, 2)]),
        (
            "the 1st of april or the 2nd of june",
            [Period(None, 4, 1), Period(None, 6, 2)],
        ),
        ("on 31 october or on 1 november", [Period(None, 10, 31), Period(None, 11, 1)]),
        ("in may", [Period(None, 5)]),
        ("in mid-march", [Period(None, 3)]),
        ("may 2024", [Period(2024, 5)]),
        ("in june and in june", [Period(None, 6)]),
        ("on 3 may at 20:30", [Period(None, 5, 3)]),
        ("was it may, or in june?", [Period(None, 6)]),
        ("may i ask what you march for", []),
        ("did jan and dec from the guild show up", []),
        ("i have 2013 subs", []),
        ("2026-13-01", []),
        ("2026-00-01", []),
        ("on july 32, or june 0", []),
    ],
)
def test_the_days_months_and_years_that_are_named(
    question: str, periods: list[Period]
) -> None:
    assert list(asked_time(question).periods) == periods


@pytest.mark.parametrize(
    ("question", "stated", "fit"),
    [
        ("what was that in august", "2025-08-20", 1),
        ("what was that in august", "2026-08-01", 1),
        ("what was that in august", "2026-08-31", 1),
        ("what was that in august", "2026-07-31", 0),
        ("what was that in august", "2026-09-01", 0.5),
        ("what was that in august", "2026-09-08", 0.5),
        ("what was that in august", "2026-09-09", 0),
        ("what was that in august", "2026-10-05", 0),
        ("and in august 2024?", "2026-08-20", 0),
        ("and in 2024?", "2024-01-01", 1),
        ("and in 2024?", "2025-01-01", 0),
        ("on august 20", "2026-08-18", 0),
        ("on august 20", "2026-08-19", 1),
        ("on august 20", "2026-08-21", 1),
        ("on august 20", "2026-08-22", 0.5),
        ("on august 20", "2026-08-28", 0.5),
        ("on august 20", "2026-08-29", 0),
        ("on february 30", "2026-03-01", 1),
        ("on 1 february", "2026-01-31", 1),
        ("on 1 february", "2026-02-10", 0),
        ("new year, on december 31", "2026-01-02", 0.5),
        ("in december", "9999-12-03", 1),
        ("in may or in june", "2026-06-30", 1),
        ("what do they play", "2026-11-03", 0),
    ],
)
def test_a_named_time_fits_what_was_stated_then_or_soon_after(
    question: str, stated: str, fit: float
) -> None:
    assert asked_time(question).fits(day_of(ms(stated), "UTC")) == fit


def test_a_period_without_year_and_month_fits_any_day() -> None:
    assert Period().fits(date(2026, 8, 20)) == 1


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("when did she move?", AskedTime(when=True)),
        ("what year was that?", AskedTime(when=True)),
        ("how long ago was that?", AskedTime(when=True)),
        ("how long does it take?", AskedTime(how_long=True)),
        ("how many weeks was she away?", AskedTime(how_long=True)),
        ("When in 2024?", AskedTime((Period(2024),), when=True)),
        ("what does she play?", NO_TIME),
    ],
)
def test_what_a_question_asks_about_time(question: str, asks: AskedTime) -> None:
    assert asked_time(question) == asks
    assert bool(asked_time(question)) is (asks != NO_TIME)


TODAY = date(2026, 11, 20)


@pytest.mark.parametrize(
    ("period", "is_soon"),
    [
        (Period(None, 11, 18), False),
        (Period(None, 11, 19), True),
        (Period(None, 11, 20), True),
        (Period(None, 11, 27), True),
        (Period(None, 11, 28), False),
        (Period(2025, 11, 20), False),
        (Period(2026, 11, 20), True),
        (Period(2027, 11, 20), False),
    ],
)
def test_soon_is_from_yesterday_to_a_week_ahead(
    period: Period, *, is_soon: bool
) -> None:
    assert period.is_soon(TODAY) is is_soon


def test_new_year_is_soon_in_december() -> None:
    assert Period(None, 1, 2).is_soon(date(2026, 12, 30))


@pytest.mark.parametrize(
    ("period", "day"),
    [
        (Period(None, 11, 20), TODAY),
        (Period(None, 1, 19), date(2027, 1, 19)),
        (Period(None, 1, 20), None),
        (Period(None, 11, 19), None),
        (Period(2026, 11, 19), None),
        (Period(2028, 5, 3), date(2028, 5, 3)),
    ],
)
def test_the_next_such_day_is_at_most_sixty_days_away_unless_its_year_is_named(
    period: Period, day: date | None
) -> None:
    assert period.day_from(TODAY) == day


def test_days_are_named_with_a_digit() -> None:
    assert days_in("on 3 May, in June 2026 and in July") == (Period(None, 5, 3),)
    assert days_in("on the third of May") == ()


@pytest.mark.parametrize(
    ("fact", "over"),
    [
        ("has a driving test on 14 December 2026", "2026-12-15"),
        ("has a driving test on 14 December", "2026-12-15"),
        ("has a driving test on 20 November", "2026-11-21"),
        ("will sing on 2026-11-20", "2026-11-21"),
        ("plans to learn the harp", "2026-11-27"),
        ("goes from 2 to 5 January 2027", "2027-01-06"),
        ("sings on 1 December and will sing on 30 November", "2026-12-01"),
        ("won on 3 May 2026, will sing on 30 November", "2026-12-01"),
        ("was told of 31 February 2027 and 99 May", "2027-03-01"),
        ("won the cup on 20 November 2026", None),
        ("moved to Oslo on 3 May 2026", None),
        ("has been sober since 3 May", None),
        ("has a cold", None),
    ],
)
def test_a_plan_is_over_after_the_day_it_names_or_when_it_ends(
    fact: str, over: str | None
) -> None:
    end = stated_plan_end(fact, ms("2026-11-20"), ms("2026-11-27"), "UTC")
    assert end == (ms(over) if over else None)


def test_the_day_of_a_plan_is_the_channels() -> None:
    """Half an hour before noon of the 20th it is the 21st in Kiribati."""
    stated_at = ms("2026-11-20T11:30")
    kiribati = "Pacific/Kiritimati"
    end = stated_plan_end("has a test on 20 November", stated_at, None, kiribati)
    assert end is None
    end = stated_plan_end("has a test on 21 November", stated_at, None, kiribati)
    assert end == ms("2026-11-21T10:00")


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Sings on 2026-11-20 in Oslo", "sings on in oslo"),
        ("sings on 20 November 2026 in Oslo", "sings on in oslo"),
        ("sings on November 20th in Oslo", "sings on in oslo"),
        ("lived there until 2019, in Oslo", "lived there , in oslo"),
    ],
)
def test_a_text_without_its_times(text: str, rest: str) -> None:
    assert " ".join(without_times(text).split()) == rest


NOW = ms("2026-11-20")


@pytest.mark.parametrize(
    ("end", "has_ended"),
    [
        (None, False),
        (NOW - 30 * HOUR, False),
        (NOW - 30 * HOUR + 1, True),
        (NOW, True),
        (NOW + 1, False),
    ],
)
def test_a_plan_ended_since_somebody_left_or_up_to_six_hours_before(
    end: int | None, *, has_ended: bool
) -> None:
    assert ended_since(end, NOW - 24 * HOUR, NOW) is has_ended


@pytest.mark.parametrize(
    ("text", "time", "duration"),
    [
        ("Moved YESTERDAY", True, False),
        ("moved in 2019", True, False),
        ("gets up at 7 am", True, False),
        ("may move", False, False),
        ("was away for 3 DAYS", False, True),
        ("has lived there for a long time", False, True),
        ("has lived there since school", True, True),
        ("plays drums", False, False),
    ],
)
def test_texts_that_state_a_time_or_a_duration(
    text: str, *, time: bool, duration: bool
) -> None:
    assert states_time(text) is time
    assert states_duration(text) is duration


@given(
    st.text(alphabet="0123456789 -/.,mayjunedctlsgo\u0660", max_size=40),
    st.integers(-(10**15), 10**18),
)
def test_any_text_and_any_moment_can_be_read(text: str, moment: int) -> None:
    assert 0 <= asked_time(text).fits(day_of(moment, "UTC")) <= 1
    over = stated_plan_end(text, max(moment, 0) % 2**47, None, "UTC")
    assert over is None or over > max(moment, 0) % 2**47 - 86_400_000
