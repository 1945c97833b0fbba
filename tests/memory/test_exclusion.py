"""Who is not remembered, and who is a bot: one rule for every room."""

import pytest

from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.memory.exclusion import Exclusion, is_bot
from forgetmenot.settings.schema import MemorySettings

MEMORY = MemorySettings(known_bots=(" @HelperBot", "55"), ignored_viewers=("Carol", "77"))


def line(login: str = "alice", user_id: str = "1", *badges: str) -> ChatEvent:
    return ChatEvent("e", EventKind.MESSAGE, user_id, login, login.title(), "hi", 0, badges=frozenset(badges))


@pytest.mark.parametrize(
    ("event", "rule"),
    [
        (line(), None),
        (line("Nightbot"), "known_bot"),
        (line("helperbot"), "known_bot"),
        (line("renamed", "55"), "known_bot"),
        (line("alice", "1", "bot-badge"), "known_bot"),
        (line("carol"), "ignored"),
        (line("renamed", "77"), "ignored"),
        (line("dave", "42"), "opted_out"),
        (line("erin"), "opted_out"),
        (line("forgetmenot_bot", "99"), "own"),
    ],
)
def test_which_rule_keeps_a_line_out(event: ChatEvent, rule: str | None) -> None:
    assert Exclusion(MEMORY, {"42", "login:erin"}, "99").why(event) == rule


def test_a_bot_is_one_by_login_id_or_badge() -> None:
    assert is_bot(MEMORY, "NIGHTBOT", "1")
    assert is_bot(MEMORY, "renamed", "55")
    assert is_bot(MEMORY, "alice", "1", {"bot"})
    assert not is_bot(MEMORY, "alice", "1", {"moderator"})
    assert not is_bot(MEMORY, "carol", "77")
