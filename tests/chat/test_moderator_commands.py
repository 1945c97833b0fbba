"""What moderators type: who is heard as one, approving, switches, why."""

import pytest

from forgetmenot.clock import MINUTE
from forgetmenot.memory import rights
from forgetmenot.operations.services import read_switches
from forgetmenot.store import bot_messages
from forgetmenot.store.bot_messages import ReplyStatus
from tests.chat.conftest import IDS, Chat


@pytest.mark.parametrize(
    ("who", "badges"),
    [
        ("alice", frozenset()),
        ("alice", frozenset({"vip", "subscriber"})),
        ("forgetmenot_bot", frozenset({"moderator"})),
        ("helperbot", frozenset({"moderator"})),
        ("carol", frozenset({"moderator", "bot-badge"})),
    ],
)
async def test_only_people_who_moderate_are_heard(chat: Chat, who: str, badges: frozenset[str]) -> None:
    waiting = await chat.propose("New title")
    chat.badges[who] = badges
    assert await chat.say(who, f"!approve {waiting}") is None
    assert await chat.say(who, "!bot pause") is None
    assert chat.account.titles == []
    assert not (await read_switches(chat.db)).paused


async def test_approve_deny_and_undo(chat: Chat) -> None:
    waiting = await chat.propose("New title")
    assert await chat.say("carol", f"!approve {waiting}") == "The title is changed."
    first, second = await chat.propose("a"), await chat.propose("b")
    assert await chat.say("carol", "!approve") == f"Which one? #{first} title “a”, #{second} title “b”"
    chat.badges["carol"] = frozenset({"broadcaster"})
    assert await chat.say("carol", f"!deny {first}") == f"#{first} denied."
    assert await chat.say("carol", f"!deny {first}") == f"#{first} is not waiting for approval."
    assert chat.account.titles == ["New title"]


async def test_nobody_approves_what_was_not_shown(chat: Chat) -> None:
    """Without a number nothing is decided: what waits is listed."""
    assert await chat.say("carol", "!approve") == "Nothing is waiting for approval."
    waiting = await chat.propose("Hacked")
    for command in ("!approve", "!deny"):
        assert await chat.say("carol", command) == f"Which one? #{waiting} title “Hacked”"
    assert await chat.say("carol", f"!deny {waiting}") == f"#{waiting} denied."
    assert chat.account.titles == []


async def test_status_names_what_waits(chat: Chat) -> None:
    await chat.propose("a")
    assert await chat.say("carol", "!bot status") == "ForgetMeNot: on (mentions), 1 waiting for approval."


async def test_quiet_ends_by_itself(chat: Chat) -> None:
    await chat.say("carol", "!bot quiet 10")
    assert (await read_switches(chat.db)).silent(chat.clock.now())
    await chat.clock.advance(10 * MINUTE)
    assert not (await read_switches(chat.db)).silent(chat.clock.now())


async def test_why_is_one_line_about_what_it_said_by_itself(chat: Chat) -> None:
    """Not about the answer to the moderator's last command, nor about a notice."""
    async with chat.db.write() as tx:
        for number, trigger in enumerate(["mention", "command", "notice"]):
            at = chat.clock.now() + number
            reply = await bot_messages.begin(
                tx, at=at, event_id=f"e{number}", viewer_id=IDS["alice"], trigger=trigger, mode="mentions"
            )
            lore = {"name": "lore", "of": "notes", "rows": [4, 7], "tokens": 9, "dropped": 0}
            await bot_messages.record_prompt(tx, reply, {"sections": [lore]})
            await bot_messages.record_sending(tx, reply, "hi", at)
    line = "Reply 1: Alice wrote to me; I used no notes; sending."
    assert await chat.say("carol", "!why") == line
    assert (await chat.say("carol", "!why 2") or "").startswith("Reply 2: ")


async def test_a_suppressed_note_is_not_quoted(chat: Chat) -> None:
    await chat.say("alice", "!remember I got divorced in May")
    await rights.suppress(chat.db, IDS["alice"], "divorce", by=IDS["alice"], at=0)
    assert await chat.say("carol", "!wrong 1") == "Removed: #1. To undo: !restore 1"


async def test_a_moderator_who_calls_an_answer_wrong_means_a_note_about_whoever_got_it(chat: Chat) -> None:
    for who in ("carol", "alice"):
        await chat.say(who, "!remember I play drums")
    async with chat.db.write() as tx:
        reply = await bot_messages.begin(
            tx, at=chat.clock.now(), event_id=None, viewer_id=IDS["alice"], trigger="mention", mode="mentions"
        )
        await bot_messages.record_answer(tx, reply, model="m", latency_ms=1, usage={}, filters=(), used=[2])
        await bot_messages.settle(tx, reply, ReplyStatus.SENT, text="You play the drums!")
    assert await chat.say("carol", "!wrong") == "Removed: #2 plays drums. To undo: !restore 2"
