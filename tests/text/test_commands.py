"""What a command looks like."""

import pytest

from forgetmenot.text.commands import is_command


@pytest.mark.parametrize("text", ["!so alice", "  !bot pause", "！forgetme", "!Why"])
def test_a_command(text: str) -> None:
    assert is_command(text)


@pytest.mark.parametrize("text", ["", "!", "!!!", "! wow", "wow !so", "!1", "so alice"])
def test_talk(text: str) -> None:
    assert not is_command(text)
