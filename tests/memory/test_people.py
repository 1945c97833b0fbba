"""Nobody rather than the wrong one."""

import pytest

from forgetmenot.memory.people import People
from forgetmenot.store.viewers import Name

CROWD = [
    Name("1", "willie_drives", "Willie_Drives", current=True),
    Name("2", "alice92", "Alice92", current=True),
    Name("3", "bobthebuilder", "BobTheBuilder", current=True),
    Name("4", "bob_ross", "bob_ross", current=True),
    Name("5", "game", "Game", current=True),
    Name("6", "oldcarol", "Carolina", current=False),
    Name("6", "carolina", "Carolina", current=True),
    Name("7", "nightowl", "nightowl", current=True),
]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("how does willie drive?", ["1"]),
        ("what about @Alice92?", ["2"]),
        ("alice is late", ["2"]),
        ("carol said so", ["6"]),
        ("carolina and willie and alice", ["6", "1"]),
        ("oldcarol used to come", ["6"]),
        ("nightowl!", ["7"]),
        ("bob is here", []),  # two of them
        ("bobthebuilder is here", ["3"]),
        ("what a game", []),
        ("@game what do you think", ["5"]),
        ("@nobody_here hello", []),
        ("<@2> said so", ["2"]),
        ("", []),
    ],
)
def test_people_are_found_by_name_and_unambiguous_short_form(text: str, found: list[str]) -> None:
    assert People(CROWD).named_in(text) == found


def test_the_speaker_is_left_out_and_the_limit_kept() -> None:
    assert People(CROWD).named_in("alice and willie", without={"2"}) == ["1"]
    assert People(CROWD).named_in("alice and willie", limit=1) == ["2"]


def test_a_login_that_somebody_else_holds_now_is_theirs() -> None:
    crowd = [Name("1", "alice", "Alicia", current=False), Name("2", "alice", "Alice", current=True)]
    assert People(crowd).named_in("@alice hi") == ["2"]


def test_only_whole_names_are_names() -> None:
    people = People(CROWD)
    assert [word for word in ("nightowl", "Alice92!", "willie", "game", "drums", "") if people.is_name(word)] == [
        "nightowl",
        "Alice92!",
    ]
