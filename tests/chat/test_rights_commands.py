"""What viewers type for their rights: erasing, opting out and in, what is kept."""

import re

import pytest

from forgetmenot.clock import DAY
from forgetmenot.store import notes, viewers
from tests.chat.conftest import IDS, Chat


@pytest.mark.parametrize(("who", "line"), [("alice", "!forgetme confirm"), ("carol", "!forgetme alice confirm")])
async def test_a_confirmed_erasure_is_carried_out(chat: Chat, who: str, line: str) -> None:
    await chat.say("alice", "!remember I play drums")
    answer = await chat.say(who, line) or ""
    assert re.match(r"Done: everything is deleted. I searched \d+ files .* 0 traces", answer)
    assert await viewers.get(chat.db, IDS["alice"]) is None
    assert await chat.facts("alice") == []


async def test_an_erasure_is_not_asked_for_again_and_again(chat: Chat) -> None:
    await chat.say("alice", "!forgetme confirm")
    await chat.eraser.idle()
    assert await chat.say("alice", "!forgetme confirm") == "OK: anything new is erased within a few minutes."
    await chat.eraser.idle()
    assert await viewers.get(chat.db, IDS["alice"]) is not None
    assert len(await chat.eraser.erase_due()) == 1
    assert await viewers.get(chat.db, IDS["alice"]) is None


async def test_an_opt_out_survives_an_erasure_without_a_name(chat: Chat) -> None:
    await chat.say("alice", "!optout")
    await chat.say("alice", "!forgetme confirm")
    await chat.eraser.idle()
    await chat.clock.advance(DAY)
    await chat.say("alice", "am I stored?")
    await chat.ingest.flush()
    assert await viewers.get(chat.db, IDS["alice"]) is None
    assert await chat.say("alice", "!optin") == "Welcome back: I remember you again."
    await chat.say("alice", "now I am")
    await chat.ingest.flush()
    assert await viewers.get(chat.db, IDS["alice"]) is not None


async def test_who_is_not_stored_is_not_stored_by_a_command(chat: Chat) -> None:
    await chat.say("alice", "!optout")
    await chat.say("alice", "!forgetme confirm")
    await chat.eraser.idle()
    answer = "I have nothing stored about you, so there is nothing to mention."
    assert await chat.say("alice", "!nevermention my exam") == answer
    assert await notes.suppressions(chat.db) == []


async def test_privacy_is_one_line_with_the_streamers_link(chat: Chat) -> None:
    line = await chat.say("alice", "!privacy") or ""
    assert "24 h" in line
    assert line.endswith("https://example.org/privacy")
