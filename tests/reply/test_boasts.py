"""Deeds that nobody did."""

import pytest

from forgetmenot.reply.boasts import boasts


@pytest.mark.parametrize(
    "text",
    [
        "I have timed out Bob for you.",
        "I've banned bob!",
        "Done, timed out bob.",
        "Bob has been banned.",
        "I just deleted that message.",
        "Sure! I timed you out.",
        "I've turned on slow mode.",
        "I changed the title.",
    ],
)
def test_boasts(text: str) -> None:
    assert boasts(text)


@pytest.mark.parametrize(
    "text",
    [
        "I can't ban anybody.",
        "I have not timed out Bob.",
        "You changed your title last week, didn't you?",
        "The pizza is gone, noted!",
        "If I banned bob, who would race?",
        "That is done and dusted.",
        "You were playing drums when the stream was announced.",
        "urban memes are banished from my heart",
    ],
)
def test_ordinary_talk(text: str) -> None:
    assert not boasts(text)
