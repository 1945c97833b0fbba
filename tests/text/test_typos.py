"""A slip of the finger is forgiven, another word is not."""

import pytest

from forgetmenot.text.typos import same_word


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("amsterdam", "amsterdm"),
        ("amsterdam", "asmterdam"[0] + "msterdma"),
        ("guitar", "guitarr"),
        ("chicken", "chicksn"),
    ],
)
def test_slips(one: str, two: str) -> None:
    assert same_word(one, two)
    assert same_word(two, one)


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("ireland", "iceland"),
        ("house", "horse"),
        ("train", "brain"),
        ("cat", "cut"),
        ("game", "games2"),
        ("soul#2", "soul#3"),
        ("berlin", "barcelona"),
        ("drums", "drummer"),
    ],
)
def test_other_words(one: str, two: str) -> None:
    assert not same_word(one, two)
