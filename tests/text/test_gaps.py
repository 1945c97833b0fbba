"""The sentence about what was not heard."""

import pytest

from forgetmenot.text.gaps import gaps_told

NOW = 1_784_894_400_000


@pytest.mark.parametrize("state", [{}, {"gaps": ""}, {"gaps": "0", "gap_from": "1", "gap_to": "2"}])
def test_without_a_gap_there_is_nothing_to_tell(state: dict[str, str]) -> None:
    assert gaps_told(state, NOW) == ""


@pytest.mark.parametrize(
    ("count", "long", "ago", "told"),
    [
        (1, 45_000, 180_000, "1 gap in what was heard since the start, of 45 s, 3 min ago"),
        (3, 200, 0, "3 gaps in what was heard since the start, the last of 1 s, 1 s ago"),
        (2, 9_000_000, 172_800_000, "2 gaps in what was heard since the start, the last of 2 h, 2 d ago"),
    ],
)
def test_the_last_one_is_told_with_its_length_and_age(count: int, long: int, ago: int, told: str) -> None:
    state = {"gaps": str(count), "gap_from": str(NOW - ago - long), "gap_to": str(NOW - ago)}
    assert gaps_told(state, NOW) == told
