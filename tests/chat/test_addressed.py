"""A command counts however it is typed: after the bot's name, as Twitch's reply to it, and so does its "yes"."""

import pytest
from msgspec.structs import replace

from forgetmenot.domain import ReplyTo
from forgetmenot.durations import MINUTE
from forgetmenot.store import viewers
from tests.chat.conftest import IDS, Chat

AFTER_ITS_NAME = (
    "@ForgetMeNot !forgetme yes",
    "@forgetmenot_bot, !forgetme yes",
    "  @ForgetMeNot: ！forgetme yes",
    "ForgetMeNot !forgetme yes",
    "hey @ForgetMeNot !forgetme yes please",
    "@ForgetMeNotさん、!forgetme yes",
    "＠ForgetMeNot!forgetme yes",
    "!forgetme yes @ForgetMeNot",
    "!forgetme @ForgetMeNot yes",
    "!forgetme yes \U000e0000",
)
NOT_TO_IT = (
    "@bob !forgetme yes",
    "bob !forgetme yes",
    "did you know !forgetme yes works",
)


@pytest.mark.parametrize("line", AFTER_ITS_NAME)
async def test_a_command_after_its_name_is_done(chat: Chat, line: str) -> None:
    assert "everything is deleted" in await chat.hear("alice", line)
    assert await viewers.get(chat.db, IDS["alice"]) is None


@pytest.mark.parametrize("line", NOT_TO_IT)
async def test_a_command_after_another_name_or_in_the_middle_of_a_sentence_is_none(
    chat: Chat, line: str
) -> None:
    assert await chat.hear("alice", line) == ""
    assert await viewers.get(chat.db, IDS["alice"]) is not None


@pytest.mark.parametrize("name", ["ForgetMeNot", "AnOlderName"])
async def test_a_command_as_twitchs_reply_to_the_bot_is_done(
    chat: Chat, name: str
) -> None:
    """Twitch puts the name of whoever is replied to in front, as it was then."""
    to_the_bot = ReplyTo("sent-1", IDS["forgetmenot_bot"], "forgetmenot_bot", "Hi!")
    event = replace(chat.event("alice", f"@{name} !forgetme yes"), reply_to=to_the_bot)
    assert "everything is deleted" in await chat.hear_event(event)
    assert await viewers.get(chat.db, IDS["alice"]) is None


async def test_a_command_as_a_reply_to_somebody_else_is_none(chat: Chat) -> None:
    to_bob = ReplyTo("m2", IDS["bob"], "bob", "Hi!")
    event = replace(chat.event("alice", "@bob !forgetme yes"), reply_to=to_bob)
    assert await chat.hear_event(event) == ""


async def test_what_is_to_be_remembered_may_name_the_bot(chat: Chat) -> None:
    answer = await chat.hear(
        "alice", "@ForgetMeNot !remember I play chess with @ForgetMeNot"
    )
    assert "plays chess with" in answer


YES = (
    "yes",
    "@ForgetMeNot yes!",
    "Yes please",
    "¡Sí!",
    "oui",
    "sim",
    "ja bitte",
    "はい",
    "yes, delete everything",
    "sí, bórrame",
    "yes \U000e0000",
)


@pytest.mark.parametrize("line", YES)
async def test_a_yes_may_name_the_bot_and_be_in_ones_own_language(
    chat: Chat, line: str
) -> None:
    assert "To confirm" in await chat.hear("alice", "@ForgetMeNot !forgetme")
    assert "everything is deleted" in await chat.hear("alice", line)


@pytest.mark.parametrize(
    ("waited", "counts"), [(MINUTE, True), (2 * MINUTE, True), (2 * MINUTE + 1, False)]
)
async def test_a_yes_counts_for_two_minutes(
    chat: Chat, waited: int, *, counts: bool
) -> None:
    await chat.hear("alice", "!forgetme")
    await chat.clock.advance(waited - 1_000)
    assert ("everything is deleted" in await chat.hear("alice", "yes")) is counts


@pytest.mark.parametrize("between", ["hm", "@ForgetMeNot no", "!memory", "yes i know"])
async def test_any_other_line_of_theirs_is_a_no(chat: Chat, between: str) -> None:
    await chat.hear("alice", "!forgetme")
    await chat.hear("alice", between)
    assert "everything is deleted" not in await chat.hear("alice", "yes")


async def test_a_viewer_confirms_in_their_own_language(chat: Chat) -> None:
    """Moderators may name a viewer there, who may be called "sim"."""
    assert "everything is deleted" in await chat.hear("alice", "!forgetme sí")
    assert (
        await chat.hear("carol", "!forgetme sim")
        == "No viewer named sim. Use a current login."
    )
