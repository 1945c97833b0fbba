"""Time: corrected by Twitch's, moved by hand, read and written as ISO."""

import time

import pytest

from forgetmenot.clock import SystemClock, parse_iso
from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND


def machine_ms() -> int:
    return time.time_ns() // 1_000_000


@pytest.mark.parametrize(
    (
        "differences_ms",
        "off",
    ),  # Twitch's time less the machine's, and by how much that is corrected
    [
        ((3 * HOUR,), 3 * HOUR),
        ((-80, -250, -1_900), 0),
        ((-100, -100, -10 * MINUTE, -100, -100), 0),
    ],
)
def test_a_clock_that_is_hours_wrong_is_corrected_and_ordinary_latency_is_not(
    differences_ms: tuple[int, ...], off: int
) -> None:
    clock = SystemClock()
    for difference in differences_ms:
        clock.observe(machine_ms() + difference)
    assert abs(clock.now() - machine_ms() - off) < 1_000


def test_what_is_certain_waits_for_twitch_and_goes_by_no_clock_of_the_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The PC is three days ahead, is set right, and sleeps for two days: no time is certain before it has passed."""
    true = 1_784_894_400_000
    machine = 3 * DAY
    counted = 5 * HOUR
    monkeypatch.setattr(time, "time_ns", lambda: (true + machine) * 1_000_000)
    monkeypatch.setattr(time, "monotonic_ns", lambda: counted * 1_000_000)
    clock = SystemClock()
    assert clock.certain() == 0
    clock.at_least(true - 10 * MINUTE)
    clock.at_least(true + 40 * DAY)
    assert (clock.now(), clock.certain()) == (true + 3 * DAY, true - 10 * MINUTE)
    counted += HOUR
    true += HOUR
    assert clock.certain() == true - 10 * MINUTE
    clock.observe(true)
    assert (clock.now(), clock.certain()) == (true, true)
    machine = 0
    assert clock.certain() == true
    true += 2 * DAY  # while the monotonic clock stands still
    assert clock.certain() == true - 2 * DAY
    for _ in range(15):
        clock.observe(true)
    assert (clock.now(), clock.certain()) == (true, true)


class Computer:
    """A computer whose clock may be wrong, and that may sleep; `true` is the time outside."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, ahead: int = 0) -> None:
        self.true = 1_784_894_400_000
        self.ahead = ahead
        self.counted = 5 * HOUR
        monkeypatch.setattr(
            time, "time_ns", lambda: (self.true + self.ahead) * 1_000_000
        )
        monkeypatch.setattr(time, "monotonic_ns", lambda: self.counted * 1_000_000)

    def runs(self, ms: int) -> None:
        self.true += ms
        self.counted += ms

    def sleeps(self, ms: int) -> None:
        self.true += ms

    def hears(self, clock: SystemClock, lines: int = 15) -> None:
        for _ in range(lines):
            self.runs(SECOND)
            clock.observe(self.true)


@pytest.mark.parametrize("ahead", [3 * HOUR, -3 * HOUR])
def test_a_clock_that_is_set_right_is_right_at_once(
    monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    computer = Computer(monkeypatch, ahead)
    clock = SystemClock()
    computer.hears(clock)
    assert clock.now() == computer.true
    computer.runs(MINUTE)
    computer.ahead = 0
    assert clock.now() == computer.true
    computer.hears(clock, 1)
    assert (clock.now(), clock.certain()) == (computer.true, computer.true)


@pytest.mark.parametrize("ahead", [3 * HOUR, -3 * HOUR])
def test_a_clock_that_is_set_wrong_is_right_with_the_next_line(
    monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    computer = Computer(monkeypatch)
    clock = SystemClock()
    computer.hears(clock)
    computer.ahead = ahead
    clock.now()  # tasks ask every second
    computer.runs(10 * SECOND)
    computer.hears(clock, 1)
    assert (clock.now(), clock.certain()) == (computer.true, computer.true)


@pytest.mark.parametrize("ahead", [0, 3 * HOUR])
def test_after_a_sleep_the_time_is_right_though_older_lines_are_still_to_be_read(
    monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    computer = Computer(monkeypatch, ahead)
    clock = SystemClock()
    computer.hears(clock)
    before = computer.true
    computer.sleeps(8 * HOUR)
    assert clock.now() == computer.true
    assert clock.certain() == before
    for number in range(20):  # they waited in the system's buffer
        clock.observe(before - number)
        assert clock.now() == computer.true
    computer.hears(clock, 1)
    assert (clock.now(), clock.certain()) == (computer.true, computer.true)


def test_a_time_that_its_zone_puts_outside_of_the_calendar_is_refused() -> None:
    for text in ("9999-12-31T23:59:59-23:00", "0001-01-01T00:00:00+23:00"):
        with pytest.raises(ValueError, match="calendar"):
            parse_iso(text)
