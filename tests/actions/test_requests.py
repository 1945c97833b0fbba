"""What a viewer's own words ask for, and when games are out of place."""

import pytest

from forgetmenot.actions.requests import asked_for, is_serious


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ("@bot time me out please", {"timeout"}),
        ("TIMEOUT ME", {"timeout"}),
        ("could you give me a timeout?", {"timeout"}),
        ("mute me for a bit", {"timeout"}),
        ("delete my last message", {"delete", "forget"}),
        ("remember that I like tea", {"remember"}),
        ("don't time me out", set()),
        ("never mute me", set()),
        ("urban memes", set()),
        ("the timeout menace", set()),
        ("ban me", set()),
        ("time bob out", set()),
        ("what a timeout", set()),
        ("", set()),
    ],
)
def test_only_whole_words_about_oneself_count(message: str, names: set[str]) -> None:
    assert asked_for(message) == names


@pytest.mark.parametrize(
    "line",
    [
        "my grandma died",
        "I'm in the hospital",
        "i want to kill myself",
        "she passed away",
        "lost my job today",
        "fuck cancer",
    ],
)
def test_grief_and_distress_are_serious(line: str) -> None:
    assert is_serious(["hello", line])


@pytest.mark.parametrize(
    "line", ["dead chat", "i'm dying lol", "he died again", "KEKW", "this boss is killing me", "died lol"]
)
def test_the_ways_of_chat_are_not(line: str) -> None:
    assert not is_serious([line])
