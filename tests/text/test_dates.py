"""What texts say about time."""

from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.text.dates import Period, asked_time, stated_plan_end
from forgetmenot.text.days import day_of


def ms(day: str) -> int:
    return int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp() * 1_000)


NAMED = {
    "what did alice do on 3 July 2023?": [Period(2023, 7, 3)], "where was bob on March 14th": [Period(None, 3, 14)],
    "what did carol win in December 2025": [Period(2025, 12)], "how many marathons in 2024?": [Period(2024)],
    "the game she finished on 2026-02-28": [Period(2026, 2, 28)],
    "the 1st of april or the 2nd of june": [Period(None, 4, 1), Period(None, 6, 2)],
    "may i ask what you march for": [], "did jan and dec from the guild show up": [], "i have 2013 subs": [],
}  # fmt: skip
FITTING = (
    ("what was that in august", "2025-08-20", 1), ("what was that in august", "2026-09-05", 0.5),
    ("what was that in august", "2026-10-05", 0), ("and in august 2024?", "2026-08-20", 0),
    ("on august 20", "2026-08-25", 0.5), ("new year, on december 31", "2026-01-02", 0.5),
    ("in december", "9999-12-03", 1), ("what do they play", "2026-11-03", 0),
)  # fmt: skip


def test_the_days_months_and_years_that_are_named_fit_what_was_told_then() -> None:
    assert {text: list(asked_time(text).periods) for text in NAMED} == NAMED
    for asked, told, fits in FITTING:
        assert asked_time(asked).fits(day_of(ms(told), "UTC")) == fits, (asked, told)


OVER = {
    "has a driving test on 14 December 2026": "2026-12-15", "has a driving test on 14 December": "2026-12-15",
    "will sing on 2026-11-20": "2026-11-21", "plans to learn the harp": "2026-11-27",
    "goes from 2 to 5 January 2027": "2027-01-06", "was told of 31 February 2027 and 99 May": "2027-03-01",
}  # fmt: skip
NO_PLANS = (
    "won the cup on 20 November 2026",
    "moved to Oslo on 3 May 2026",
    "has been sober since 3 May",
    "has a cold",
)


def test_a_plan_is_over_after_the_day_it_names_or_when_it_ends() -> None:
    over = {
        fact: stated_plan_end(fact, ms("2026-11-20"), ms("2026-11-27"), "UTC")
        for fact in (*OVER, *NO_PLANS)
    }
    assert over == {fact: ms(day) for fact, day in OVER.items()} | dict.fromkeys(
        NO_PLANS
    )


@given(
    st.text(alphabet="0123456789 -/.,mayjunedctlsgo\u0660", max_size=40),
    st.integers(-(10**15), 10**18),
)
def test_any_text_and_any_moment_can_be_read(text: str, told: int) -> None:
    assert 0 <= asked_time(text).fits(day_of(told, "UTC")) <= 1
    over = stated_plan_end(text, max(told, 0) % 2**47, None, "UTC")
    assert over is None or over > max(told, 0) % 2**47 - 86_400_000
