"""Who is around and can be spoken of, and who is a newcomer, a regular or back."""

import pytest

from forgetmenot.clock import DAY
from forgetmenot.domain import Attendance, Standing
from forgetmenot.memory.people import ViewerNames, standing_of
from forgetmenot.settings.schema import PeopleSettings
from forgetmenot.store.viewers import Name
from tests.notes_world import NOW

CROWD = [
    Name("1", "willie_drives", "Willie_Drives", current=True), Name("2", "alice92", "Alice92", current=True),
    Name("3", "bobthebuilder", "BobTheBuilder", current=True), Name("4", "bob_ross", "bob_ross", current=True),
    Name("5", "game", "Game", current=True), Name("6", "oldcarol", "Carolina", current=False),
    Name("6", "carolina", "Carolina", current=True), Name("7", "nightowl", "nightowl", current=True),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("how does willie drive?", ["1"]), ("what about @Alice92?", ["2"]), ("alice is late", ["2"]),
        ("carolina and willie and alice", ["6", "1"]), ("oldcarol used to come", ["6"]), ("nightowl!", ["7"]),
        ("bob is here", []),  # two of them
        ("bobthebuilder is here", ["3"]), ("what a game", []), ("@game what do you think", ["5"]),
        ("when is carolinas birthday?", ["6"]), ("what games are these", []), ("@nobody_here hello", []),
        ("<@2> said so", ["2"]), ("", []),
    ],
)  # fmt: skip
def test_people_are_found_by_name_and_unambiguous_short_form(text: str, found: list[str]) -> None:
    assert ViewerNames(CROWD).named_in(text) == found
    held_now = [
        Name("1", "alice", "Alicia", current=False),
        Name("2", "alice", "Alice", current=True),
    ]
    assert ViewerNames(held_now).named_in("@alice hi") == ["2"]


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
