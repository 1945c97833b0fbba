"""A whole show: a raid, talk, a chat that shuts the bot out, a ban, commands, the end by OBS alone, and its recap."""

import json
import re
from pathlib import Path

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.demo.irc_server import SimMessage
from forgetmenot.durations import MINUTE, SECOND
from forgetmenot.memory.recap_markdown import markdown_of
from tests.hearing.evening import (
    BOT,
    Evening,
    evening,
    line,
    state_becomes,
    the_stream_begins,
)
from tests.loopback_servers.openai import Sent, SimOpenAI

RAID = "5000 raiders from Foxface have joined!"
BAN = {"name": "ban", "target": "spammer", "reason": "spam"}
# What is asked, what the prompt must show, and what the model answers then.
ANSWERS: tuple[tuple[str, tuple[str, ...], dict[str, object]], ...] = (
    (
        "who raided us?",
        (
            f"<happened>\njust now: {RAID}\n</happened>",
            "<chat>\n20 people: OX RAID\n</chat>",
        ),
        line("Foxface did, with 5000 people. Which of their games do you like most?"),
    ),
    ("the chess ones, mostly", (), line("Chess it is, then.")),
    (" hi\n", (), line("Hi!")),
    (
        "from last stream?",
        (f"<message>\nErin: @{BOT} do you remember\nErin: the thing with the boss\n",),
        line("The lighthouse keeper fell at the third try."),
    ),
    (
        "please ban spammer",
        (),
        {"action": BAN, "say": "Banned.", "if_refused": "No way.", "notes": []},
    ),
    ("who was banned?", ("Spammer was banned",), line("Spammer was, just now.")),
    ("what happened to spammer?", (), line("No idea.")),
    (
        "what do I drive?",
        ("[id:1; today] drives a red tractor",),
        {**line("A red tractor, I think."), "notes": [1]},
    ),
)
SUMMARY = "Chat greeted a raid of 5000 people and talked about the lighthouse boss."
LATER = "Chat talked about tractors."
RECAP = (
    "Chat greeted a raid of 5000 people, and the lighthouse boss fell at the third try."
)


class Model(SimOpenAI):
    """Answers a question only where its prompt shows what is needed for it."""

    def _write(self, sent: Sent, *, obey: bool) -> str:  # noqa: ARG002  # it knows every format
        prompt = "\n".join(str(message["content"]) for message in sent["messages"])
        if "write its recap" in prompt:
            return json.dumps({"summary": RECAP})
        if "Summarise this chat" in prompt:
            return json.dumps({"summary": LATER if "tractor" in prompt else SUMMARY})
        question = prompt.rpartition("<message>")[2]
        for topic, clues, answer in ANSWERS:
            if topic in question and all(clue in prompt for clue in clues):
                return json.dumps(answer)
        return json.dumps({"summary": "Chat talked.", "notes": [], "say": ""})

    @property
    def prompt(self) -> str:
        """What it was shown last."""
        return "\n".join(
            str(message["content"]) for message in self.seen[-1]["messages"]
        )

    @property
    def questions(self) -> list[str]:
        """The messages that it was asked to answer."""
        prompts = (
            "\n".join(str(part["content"]) for part in sent["messages"])
            for sent in self.seen
        )
        return [
            prompt.rpartition("<message>\n")[2]
            for prompt in prompts
            if "<message>" in prompt
        ]


@pytest.mark.slow
async def test_a_whole_show(tmp_path: Path, clock: ManualClock) -> None:
    model = Model()
    async with evening(tmp_path, clock, model) as tonight:
        tonight.twitch.world.moderator("carol")
        await the_stream_begins(tonight)
        await tonight.passes(MINUTE)
        await a_raid_is_seen_above_its_noise(tonight)
        await a_talk_goes_on_and_nobody_is_butted_in_on(tonight, model)
        await three_equal_greetings_get_three_answers(tonight)
        await a_question_over_three_lines_is_one(tonight, model)
        await in_an_emote_only_chat_no_model_is_asked(tonight, model)
        await made_a_moderator_it_bans_after_a_yes(tonight, model)
        await commands_answer_in_peoples_words(tonight)
        await obs_alone_ends_the_stream(tonight)
        await its_recap_can_be_posted(tonight)


async def ask(
    tonight: Evening, login: str, text: str, *, after_s: int = 31
) -> SimMessage:
    """Somebody says something; the bot's answer."""
    await tonight.clock.advance(after_s * SECOND)
    count = len(tonight.twitch.sent)
    await tonight.twitch.say(login, text)
    await answers_come(tonight, count + 1)
    return tonight.twitch.sent[-1]


async def answers_come(tonight: Evening, count: int) -> None:
    """Seconds pass until the bot has sent so many lines, which it may wait with: for a cooldown, or a line's end."""
    for _ in range(30):
        await tonight.twitch.settled()
        await tonight.bot.settle()
        if len(tonight.twitch.sent) >= count:
            return
        await tonight.clock.advance(SECOND)
    raise AssertionError(
        await tonight.bot.db.value("SELECT max(detail) FROM bot_messages")
    )


async def is_not_answered(tonight: Evening, login: str, text: str) -> None:
    """Somebody says something, and the bot says nothing."""
    await tonight.clock.advance(5 * SECOND)
    count = len(tonight.twitch.sent)
    await tonight.twitch.say(login, text)
    await tonight.passes(5 * SECOND)
    assert len(tonight.twitch.sent) == count


async def a_raid_is_seen_above_its_noise(tonight: Evening) -> None:
    await tonight.twitch.raid("foxface", 5000)
    for number in range(20):
        await tonight.twitch.say(f"fan{number}", "OX RAID")
    answer = await ask(tonight, "alice", f"@{BOT} who raided us?", after_s=0)
    assert answer.text.startswith("Foxface did, with 5000 people.")


async def a_talk_goes_on_and_nobody_is_butted_in_on(
    tonight: Evening, model: Model
) -> None:
    """The bot has asked Alice something, and her next line answers it; what others ask each other is left alone."""
    answer = await ask(tonight, "alice", "the chess ones, mostly", after_s=5)
    assert answer.text == "Chess it is, then."
    question_count = len(model.questions)
    await is_not_answered(tonight, "bob", "really? how did they do that?")
    await is_not_answered(tonight, "alice", "bob, did you see that jump?")
    assert len(model.questions) == question_count, (
        "nobody is paid for what is not for the bot"
    )


async def three_equal_greetings_get_three_answers(tonight: Evening) -> None:
    await tonight.clock.advance(31 * SECOND)
    count = len(tonight.twitch.sent)
    for login in ("alice", "bob", "dora"):
        await tonight.twitch.say(login, f"@{BOT} hi")
    await answers_come(tonight, count + 3)
    greetings = tonight.twitch.sent[count:]
    assert len({greeting.text for greeting in greetings}) == 3
    assert {
        greeting.reply_to.user.login for greeting in greetings if greeting.reply_to
    } == {
        "alice",
        "bob",
        "dora",
    }


async def a_question_over_three_lines_is_one(tonight: Evening, model: Model) -> None:
    await tonight.clock.advance(31 * SECOND)
    question_count = len(model.questions)
    count = len(tonight.twitch.sent)
    for text in (
        f"@{BOT} do you remember",
        "the thing with the boss",
        "from last stream?",
    ):
        await tonight.twitch.say("erin", text)
        await tonight.twitch.settled()
        await tonight.bot.settle()
        await tonight.clock.advance(1_200)
    await answers_come(tonight, count + 1)
    assert (
        tonight.twitch.sent[-1].text == "The lighthouse keeper fell at the third try."
    )
    assert len(model.questions) == question_count + 1


async def in_an_emote_only_chat_no_model_is_asked(
    tonight: Evening, model: Model
) -> None:
    question_count = len(model.questions)
    await tonight.twitch.chat_mode(emote_only=True)
    await is_not_answered(tonight, "carol", f"@{BOT} please ban spammer")
    assert len(model.questions) == question_count
    assert "/mod keeper" in tonight.bot.permission.warning()
    tonight.twitch.world.moderator(BOT)
    await tonight.passes(30 * SECOND)
    await tonight.twitch.until(lambda: not tonight.bot.permission.warning())


async def made_a_moderator_it_bans_after_a_yes(tonight: Evening, model: Model) -> None:
    twitch = tonight.twitch
    spammer = twitch.world.user("spammer")
    await twitch.say("spammer", "buy followers at example.com")
    answer = await ask(tonight, "carol", f"@{BOT} please ban spammer")
    number = re.search(r"!approve (\d+)", answer.text)
    assert number is not None, answer.text
    assert spammer.id not in twitch.world.banned
    approval = await ask(tonight, "carol", f"!approve {number[1]}")
    assert "Done: ban" in approval.text
    assert spammer.id in twitch.world.banned
    assert [action.path for action in twitch.actions].count("moderation/bans") == 1
    await twitch.chat_mode(emote_only=False)
    answer = await ask(tonight, "carol", f"@{BOT} who was banned?")
    assert answer.text == "Spammer was, just now."
    # for a viewer the prompt does not have it
    await ask(tonight, "alice", f"@{BOT} what happened to spammer?")
    assert "Spammer was banned" not in model.prompt


async def commands_answer_in_peoples_words(tonight: Evening) -> None:
    """The first hour is summarised by now, and more of it follows."""
    await tonight.passes(31 * MINUTE)
    answer = await ask(tonight, "dora", "!remember I drive a red tractor")
    assert answer.text == "Remembered: drives a red tractor (1)"
    answer = await ask(tonight, "dora", f"@{BOT} what do I drive?")
    assert answer.text == "A red tractor, I think."
    await ask(tonight, "dora", "!good")
    answer = await ask(tonight, "carol", "!why")
    assert answer.text.startswith("I answered Dora with note #1")
    answer = await ask(tonight, "dora", "!edit tractor is now a blue van")
    assert "drives a blue van (was: drives a red tractor)" in answer.text
    answer = await ask(tonight, "dora", "!memroy")
    assert answer.text == "What I know about you: #1 drives a blue van"
    await is_not_answered(tonight, "dora", "!memorandum")
    await tonight.passes(31 * MINUTE)
    answer = await ask(tonight, "erin", "!missed")
    assert answer.text.startswith("Since you were last here")
    assert LATER in answer.text


async def obs_alone_ends_the_stream(tonight: Evening) -> None:
    db = tonight.bot.db
    ended = tonight.clock.now()
    await tonight.obs.stream(on=False)
    await state_becomes(tonight.bot, {"live": "0"})
    assert tonight.twitch.world.stream is not None, "Twitch itself knows it later"
    await tonight.passes(MINUTE)
    tonight.twitch.go_offline()
    for _ in range(5):
        await tonight.passes(10 * MINUTE)
    assert await db.column("SELECT ended_at FROM streams") == [ended]


async def its_recap_can_be_posted(tonight: Evening) -> None:
    bot = tonight.bot
    recap = await markdown_of(bot.db, 1, bot.settings())
    assert recap is not None
    assert RECAP in recap
    assert "Boss rush" in recap
    assert "> A red tractor, I think." in recap
    for unwanted in ("!approve", "somebody", "No way", "Remembered", "Foxface"):
        assert unwanted.casefold() not in recap.replace("If somebody", "").casefold()
