"""Lengths of time as people and models type them."""

import pytest

from forgetmenot.durations import (
    DAY,
    HOUR,
    MINUTE,
    SECOND,
    SlidingWindow,
    parse_duration,
)


@pytest.mark.parametrize(
    ("typed", "duration"),
    [
        ("30s", 30 * SECOND),
        (" 5 Min ", 5 * MINUTE),
        ("12h", 12 * HOUR),
        ("7 days", 7 * DAY),
        ("7", None),
        ("soon", None),
        ("-5 s", None),
        ("5 weeks", None),
        ("٥ s", None),
        ("", None),
    ],
)
def test_a_number_with_a_unit_is_a_length_of_time(
    typed: str, duration: int | None
) -> None:
    assert parse_duration(typed) == duration


def test_a_bare_number_has_the_unit_that_is_asked_for() -> None:
    assert parse_duration("90", default_unit="s") == 90 * SECOND
    assert parse_duration("90 min", default_unit="s") == 90 * MINUTE


def test_a_window_is_full_until_the_first_of_so_many_is_long_ago() -> None:
    window = SlidingWindow(2, MINUTE)
    assert not window.is_full(0)
    window.count(0)
    window.count(SECOND)
    assert window.is_full(MINUTE - 1)
    assert not window.is_full(MINUTE)
    window.count(MINUTE)
    assert window.is_full(MINUTE + SECOND - 1)
    assert not window.is_full(MINUTE + SECOND)
