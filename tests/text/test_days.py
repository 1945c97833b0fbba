"""Which day it is where the channel is."""

import time
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from forgetmenot.text.days import (
    ago,
    day_of,
    end_of_day,
    is_zone,
    local_time,
    start_of_day,
    written_days,
)

HOUR = 3_600_000
DAY = 24 * HOUR

# For each zone an evening, of which three are followed by a night in which the clocks change.
EVENINGS = {
    "America/Los_Angeles": "2026-03-07",
    "Europe/Berlin": "2026-10-24",
    "Asia/Kolkata": "2026-11-26",
    "Pacific/Auckland": "2026-04-04",
    "Pacific/Kiritimati": "2026-12-31",
}


def ms(moment: str, zone: str) -> int:
    local = datetime.fromisoformat(moment).replace(tzinfo=ZoneInfo(zone))
    return int(local.timestamp() * 1_000)


@pytest.mark.parametrize("zone", EVENINGS)
def test_midnight_is_where_the_channel_is(zone: str) -> None:
    evening = EVENINGS[zone]
    before = ms(f"{evening}T23:50", zone)
    after = before + HOUR // 3
    assert day_of(before, zone).isoformat() == evening
    assert (day_of(after, zone) - day_of(before, zone)).days == 1
    assert f"{local_time(after, zone):%H:%M}" == "00:10"
    assert ago(before, before, zone) == "today"
    assert ago(before, after, zone) == "yesterday"
    assert end_of_day(day_of(before, zone), zone) == before + HOUR // 6
    # by days, not by 24 hours, on both sides of a change of the clocks
    third_day = day_of(before, zone) + timedelta(days=3)
    later = ms(f"{third_day}T00:10", zone)
    assert ago(before, later, zone) == "3 days ago"
    assert ago(after, later, zone) == "2 days ago"


def test_a_day_is_as_long_as_its_clocks_make_it() -> None:
    lengths = {
        "Europe/Berlin": (date(2026, 10, 25), 25),
        "America/Los_Angeles": (date(2026, 3, 8), 23),
        # the clocks go from 23:59 to 1:00: there is no midnight
        "America/Santiago": (date(2026, 9, 6), 23),
        "Asia/Kolkata": (date(2026, 9, 6), 24),
    }
    for zone, (day, hours) in lengths.items():
        assert end_of_day(day, zone) - start_of_day(day, zone) == hours * HOUR
        assert day_of(start_of_day(day, zone), zone) == day
        assert day_of(start_of_day(day, zone) - 1, zone) < day


@pytest.mark.parametrize(
    ("days", "words"),
    [
        (-3, "today"),
        (0, "today"),
        (1, "yesterday"),
        (13, "13 days ago"),
        (14, "2 weeks ago"),
        (59, "8 weeks ago"),
        (60, "2 months ago"),
        (365, "1 year ago"),
        (800, "2 years ago"),
    ],
)
def test_how_long_ago_is_said_as_people_say_it(days: int, words: str) -> None:
    now = ms("2026-11-26T12:00", "UTC")
    assert ago(now - days * DAY, now, "UTC") == words


def test_any_moment_has_a_day() -> None:
    for zone in (*EVENINGS, ""):
        for moment in (-(10**18), 0, 253_402_300_799_999, 10**18):
            assert start_of_day(day_of(moment, zone), zone) < end_of_day(date.max, zone)


def test_a_zone_has_a_name_that_exists() -> None:
    for name in ("", "UTC", "Europe/Berlin"):
        assert is_zone(name)
    for name in (
        "Europe",
        "Berlin",
        "../../etc/passwd",
        "/etc/localtime",
        "a\0b",
        "x" * 5_000,
        " ",
    ):
        assert not is_zone(name)


@pytest.mark.skipif(
    not hasattr(time, "tzset"),
    reason="the zone of this system cannot be set for one test",
)
def test_without_a_zone_a_day_is_that_of_this_computer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TZ", "Pacific/Auckland")
    time.tzset()
    day_of.cache_clear()
    try:
        evening = ms("2024-05-09T18:00", "UTC")
        assert written_days(evening, evening + HOUR, "") == "Friday, 10 May 2024"
        days = "Friday, 10 May 2024 to Saturday, 11 May 2024"
        assert written_days(evening, evening + 19 * HOUR, "") == days
        assert end_of_day(date(2024, 5, 10), "") == ms(
            "2024-05-11T00:00", "Pacific/Auckland"
        )
    finally:
        monkeypatch.undo()
        time.tzset()
        day_of.cache_clear()
