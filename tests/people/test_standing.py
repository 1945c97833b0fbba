"""Who is a newcomer, a regular or back."""

import pytest

from forgetmenot.domain import Attendance, Standing
from forgetmenot.durations import DAY
from forgetmenot.people.standing import standing_of
from forgetmenot.settings.schema import PeopleSettings
from tests.notes_world import NOW


@pytest.mark.parametrize(
    ("streams", "lately", "away_d", "standing"),
    [
        (0, 0, None, Standing.NEWCOMER), (2, 2, 1, Standing.NEWCOMER), (3, 3, 1, Standing.KNOWN),
        (9, 5, 1, Standing.REGULAR), (9, 5, 21, Standing.RETURNER), (40, 0, 200, Standing.RETURNER),
        (40, 4, 20, Standing.KNOWN),
    ],
)  # fmt: skip
def test_standing(streams: int, lately: int, away_d: int | None, standing: Standing) -> None:
    before = None if away_d is None else NOW - away_d * DAY
    assert standing_of(Attendance(streams, lately, before), PeopleSettings(), NOW) is standing
