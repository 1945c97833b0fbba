"""The pace alone: never over the limit in any 30 s, whatever is asked when."""

from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.clock import SECOND
from forgetmenot.reply.pace import WINDOW_MS, Pace
from forgetmenot.settings.schema import SendingSettings

PAUSES = st.lists(st.integers(0, 20 * SECOND), min_size=1, max_size=80)


def pace_of(per_30s: int = 3) -> Pace:
    settings = SendingSettings(per_30s=per_30s)
    return Pace(lambda: settings)


@given(st.integers(1, 20), PAUSES, st.integers(0, 3 * SECOND))
def test_no_window_holds_more_than_the_limit(limit: int, pauses: list[int], takes: int) -> None:
    pace, now, calls = pace_of(limit), 0, list[int]()
    for pause in pauses:
        now = pace.free_at(now + pause, 0)
        pace.call_begins(now)
        now += takes
        pace.call_ended(now)
        calls.append(now)
    for last in calls:
        assert sum(last - WINDOW_MS < at <= last for at in calls) <= limit


@given(st.integers(1, 20), st.integers(0, 60))
def test_who_waits_behind_others_gets_their_place_when_those_are_gone(limit: int, ahead: int) -> None:
    pace, waiting = pace_of(limit), pace_of(limit)
    for _ in range(ahead):
        now = pace.free_at(0, 0)
        pace.call_begins(now)
    assert waiting.free_at(0, ahead) == pace.free_at(0, 0)


def test_a_pause_that_twitch_asks_for_holds_although_there_are_places() -> None:
    pace = pace_of()
    pace.pause_until(5_000)
    assert pace.free_at(1_000, 0) == 5_000
    assert pace.free_at(6_000, 0) == 6_000


def test_a_quarter_of_the_places_is_kept() -> None:
    pace = pace_of(8)
    assert not pace.is_crowded(0, 5)
    assert pace.is_crowded(0, 6)


def test_a_moderator_has_more_places() -> None:
    pace = pace_of(1)
    pace.call_begins(0)
    assert pace.free_at(0, 0) == WINDOW_MS
    pace.wide = lambda: True
    assert pace.free_at(0, 0) == 0


def test_a_text_is_a_repeat_for_half_a_minute_in_any_case() -> None:
    pace = pace_of()
    pace.said("Hello", 0)
    assert pace.is_repeated("HELLO", 29_999)
    assert not pace.is_repeated("hello", 30_000)
