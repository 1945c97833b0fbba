"""How many lines and episodes a prompt shows while chat is quiet, as usual or fast."""

import pytest

from forgetmenot.durations import MINUTE
from forgetmenot.prompt.chat_speed import (
    FAST,
    QUIET,
    USUAL,
    WorkingSet,
    speed_at,
    speed_within,
    working_set,
)

NOW = 1_784_894_400_000


@pytest.mark.parametrize(
    ("lines_a_minute", "expected"),
    [(0, QUIET), (0.9, QUIET), (1, USUAL), (29, USUAL), (30, FAST), (3_000, FAST)],
)
def test_a_quiet_chat_has_fewer_lines_and_a_fast_one_fewer_episodes(
    lines_a_minute: float, expected: WorkingSet
) -> None:
    assert working_set(lines_a_minute) == expected


def test_the_three_sets() -> None:
    assert QUIET.chat_lines < USUAL.chat_lines < FAST.chat_lines
    assert FAST.episodes < USUAL.episodes == QUIET.episodes


def test_speed_counts_the_last_three_minutes_alone() -> None:
    half_an_hour_ago = [NOW - 30 * MINUTE] * 100
    lately = [NOW - 2 * MINUTE, NOW - MINUTE, NOW]
    assert speed_at(NOW, half_an_hour_ago) == 0
    assert speed_at(NOW, [*half_an_hour_ago, *lately]) == 1
    # a clock may be behind Twitch's
    assert speed_at(NOW, [NOW + MINUTE]) == 0


def test_the_speed_of_a_window_of_chat() -> None:
    assert speed_within(60, 2 * MINUTE) == 30
    # lines of one moment are no speed beyond a minute's
    assert speed_within(60, 0) == 60
