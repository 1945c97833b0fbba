"""What viewers say about themselves is known before the first summary; what may not be kept is not."""

import pytest

from forgetmenot.memory import suppression
from forgetmenot.memory.heard_facts import heard_facts, said_in
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store.database import Database
from tests.chat.conftest import IDS, Chat, chat

__all__ = ["chat"]


@pytest.mark.parametrize(
    ("line", "facts"),
    [
        ("I play the cello", ["plays the cello"]),
        ("@carol my cat is called Miso!", ["has a cat called Miso"]),
        ("I live in Bergen, it rains a lot", ["lives in Bergen"]),
        ("do I play the cello?", []),
        ("I think so", []),
        ("!remember I play drums", []),
        ("forget that I play drums", []),
        ("I have a diagnosis of diabetes", []),
    ],
)
def test_a_plain_statement_about_its_speaker_is_a_fact_and_nothing_else_is(line: str, facts: list[str]) -> None:
    assert said_in(line, PrivacySettings()) == facts


async def heard(db: Database) -> list[tuple[str, str]]:
    return [(one.viewer_id, one.fact) for one in await heard_facts(db, PrivacySettings())]


async def test_it_is_known_to_memory_at_once_and_gone_with_its_line(chat: Chat) -> None:
    await chat.say("alice", "I play the cello")
    assert await chat.say("alice", "!memory") == "What I know about you: plays the cello (heard just now)"
    assert await heard(chat.db) == [(IDS["alice"], "plays the cello")]
    await chat.say("alice", "!optout")
    assert await heard(chat.db) == []


async def test_what_is_a_note_or_never_to_be_mentioned_is_not_shown_again(chat: Chat) -> None:
    await chat.say("alice", "I play the cello")
    await chat.say("alice", "!remember I play the cello")
    assert await chat.say("alice", "!memory") == "What I know about you: #1 plays the cello"
    await chat.say("bob", "I live in Bergen")
    await suppression.suppress(chat.db, IDS["bob"], "Bergen", by=None, at=chat.clock.now())
    assert await heard(chat.db) == []
