"""Names on Twitch, as people write them."""

import pytest

from forgetmenot.text.logins import is_login, login_of


@pytest.mark.parametrize("text", ["alice", "@Alice_1", "#alice", "", "a" * 25])
def test_names(text: str) -> None:
    assert is_login(text)


@pytest.mark.parametrize(
    "text", ["alice smith", "älice", "@", "#@alice", "a" * 26, "https://twitch.tv/alice", "alice\n"]
)
def test_what_is_none(text: str) -> None:
    assert not is_login(text)


def test_as_twitch_keeps_them() -> None:
    assert [login_of(text) for text in ("@Alice_1", "#ALICE", "alice")] == ["alice_1", "alice", "alice"]
