"""What happened on the stream, as a reply's prompt shows it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from forgetmenot.app.bot import Bot
from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChannelState, ChatEvent, EventKind, Prompt, Redaction
from forgetmenot.durations import MINUTE, SECOND
from forgetmenot.prompt.assemble import assemble
from forgetmenot.prompt.chat_speed import FAST, QUIET, USUAL
from forgetmenot.reply.context import ContextGatherer
from forgetmenot.reply.triggers import Trigger, TriggerKind
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state
from tests.stage import live_bot, said

ALICE = "771234501"
BOB = "771234502"
OX = "771234503"
OWNER = "771234500"
RAID = "20 raiders from OxQuux have joined!"


@pytest.fixture
async def bot(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Bot]:
    async with live_bot(tmp_path / "memory.sqlite3", clock, Settings) as (
        bot,
        _account,
    ):
        await channel_state.claim(bot.db, OWNER, "demo", clock.now())
        await bot.channel_is(ChannelState(True, "Boss rush", "Hades", clock.now()))
        yield bot


async def prompt(bot: Bot, clock: ManualClock, text: str, *badges: str) -> Prompt:
    """What the model is shown when Bob asks."""
    await bot.settle()
    question = said(clock, "question", BOB, "bobquux", text, *badges)
    trigger = Trigger(TriggerKind.MENTION, question, question=text)
    gatherer = ContextGatherer(db=bot.db, recall=bot.recall, clock=clock)
    material = await gatherer.tail(trigger, bot.settings(), bot_id="")
    return assemble((await bot.keeper.current()).prefix, material, bot.settings())


def block(answer_prompt: Prompt, name: str) -> str:
    return "".join(
        section.text for section in answer_prompt.sections if section.name == name
    )


def reported(
    clock: ManualClock, kind: EventKind, viewer_id: str, sentence: str, text: str = ""
) -> ChatEvent:
    event_id = f"{kind}-{viewer_id}-{clock.now()}-{sentence}"
    return ChatEvent(
        event_id,
        kind,
        viewer_id,
        f"user{viewer_id}",
        f"User{viewer_id}",
        text,
        clock.now(),
        system_text=sentence,
    )


async def raid(bot: Bot, clock: ManualClock) -> None:
    """A raid by Ox, whose twenty viewers all say the same."""
    await bot.hear(
        ChatEvent(
            "raid",
            EventKind.RAID,
            OX,
            "oxquux",
            "OxQuux",
            "",
            clock.now(),
            system_text=RAID,
        )
    )
    for number in range(20):
        await clock.advance(SECOND)
        await bot.hear(
            said(clock, f"ox{number}", f"7{number}", f"raider{number}", "OX RAID")
        )


async def test_a_raid_is_seen_above_the_noise_that_it_makes(
    bot: Bot, clock: ManualClock
) -> None:
    await raid(bot, clock)
    answer_prompt = await prompt(bot, clock, "who raided us?")
    assert RAID in block(answer_prompt, "happened")
    assert block(answer_prompt, "chat").count("OX RAID") == 1
    assert "20 people: OX RAID" in block(answer_prompt, "chat")


async def test_everybody_of_a_raid_counts_minutes_later(
    bot: Bot, clock: ManualClock
) -> None:
    for number in range(60):
        await clock.advance(SECOND)
        await bot.hear(
            said(clock, f"ox{number}", f"7{number}", f"raider{number}", "OX RAID")
        )
    await clock.advance(5 * MINUTE)
    for number in range(5):
        await bot.hear(said(clock, f"a{number}", ALICE, "alicequux", f"jump {number}"))
    answer_prompt = await prompt(bot, clock, "who raided us?")
    assert "60 people: OX RAID" in block(answer_prompt, "chat")


async def test_fast_chat_shows_as_many_rows_as_its_speed_asks_for(
    bot: Bot, clock: ManualClock
) -> None:
    for number in range(100):
        await clock.advance(SECOND)
        await bot.hear(said(clock, f"a{number}", ALICE, "alicequux", f"jump {number}"))
    answer_prompt = await prompt(bot, clock, "what now?")
    assert block(answer_prompt, "chat").count(": jump ") == FAST.chat_lines


async def test_a_speaker_who_typed_most_lines_still_sees_those_of_others(
    bot: Bot, clock: ManualClock
) -> None:
    for number in range(20):
        await clock.advance(10 * SECOND)
        await bot.hear(said(clock, f"a{number}", ALICE, "alicequux", f"jump {number}"))
    for number in range(40):
        await clock.advance(10 * SECOND)
        await bot.hear(said(clock, f"b{number}", BOB, "bobquux", "and again"))
    answer_prompt = await prompt(bot, clock, "what now?")
    assert block(answer_prompt, "chat").count(": jump ") == QUIET.chat_lines


@pytest.mark.parametrize("pause_s", [1, 40])
async def test_commands_of_viewers_push_no_talk_out(
    bot: Bot, clock: ManualClock, pause_s: int
) -> None:
    for number in range(20):
        await clock.advance(pause_s * SECOND)
        await bot.hear(said(clock, f"a{number}", ALICE, "alicequux", f"jump {number}"))
    for number in range(40):
        await clock.advance(pause_s * SECOND)
        login = f"viewer{number}"
        await bot.hear(
            said(clock, f"c{number}", f"7{number}", login, f"!quote {number}")
        )
    await bot.hear(said(clock, "who", BOB, "bobquux", "!who alicequux"))
    answer_prompt = await prompt(bot, clock, "what now?")
    rows = block(answer_prompt, "chat")
    assert rows.count(": jump ") == USUAL.chat_lines
    assert "!quote" not in rows
    # the speaker's own command stays in their conversation with the bot
    assert "!who" in block(answer_prompt, "own_messages")


async def test_a_few_people_with_the_same_words_keep_a_line_each(
    bot: Bot, clock: ManualClock
) -> None:
    for number in range(5):
        await bot.hear(
            said(clock, f"a{number}", f"7{number}", f"viewer{number}", "Germany")
        )
    answer_prompt = await prompt(bot, clock, "where is everybody from?")
    assert block(answer_prompt, "chat").count("Germany") == 5


async def test_a_flood_of_gifts_and_redemptions_does_not_hide_a_raid(
    bot: Bot, clock: ManualClock
) -> None:
    await bot.hear(reported(clock, EventKind.RAID, OX, RAID))
    await clock.advance(MINUTE)
    bomb = "UserA is gifting 50 Tier 1 Subs to Demo's community!"
    await bot.hear(reported(clock, EventKind.GIFT, ALICE, bomb))
    for number in range(50):
        gift = f"UserA gifted a Tier 1 sub to viewer{number}!"
        await bot.hear(reported(clock, EventKind.GIFT, ALICE, gift))
        drink = f"User{number} redeemed the reward “Hydrate {number}”."
        await bot.hear(reported(clock, EventKind.REDEMPTION, f"8{number}", drink))
    happened = block(await prompt(bot, clock, "what did I miss?"), "happened")
    assert RAID in happened
    assert bomb in happened
    assert "Hydrate 49" in happened
    assert happened.count(" ago: ") + happened.count("just now: ") == 8


async def test_what_is_longer_ago_or_of_somebody_banned_is_not_shown(
    bot: Bot, clock: ManualClock
) -> None:
    await bot.hear(reported(clock, EventKind.RAID, OX, RAID))
    await bot.hear(reported(clock, EventKind.CHEER, ALICE, "", "Cheer100 nice"))
    assert "cheered: Cheer100 nice" in block(
        await prompt(bot, clock, "and?"), "happened"
    )
    await bot.hear(Redaction(clock.now() + SECOND, user_id=ALICE))
    happened = block(await prompt(bot, clock, "and?"), "happened")
    assert RAID in happened
    assert "Cheer100" not in happened
    await clock.advance(31 * MINUTE)
    assert block(await prompt(bot, clock, "and?"), "happened") == ""


async def test_a_new_game_and_a_new_title_are_events_of_the_stream(
    bot: Bot, clock: ManualClock
) -> None:
    await clock.advance(MINUTE)
    await bot.channel_is(ChannelState(True, "Boss rush", "Celeste", clock.now()))
    await bot.channel_is(ChannelState(True, "Climbing", "Celeste", clock.now()))
    await bot.channel_is(ChannelState(True, "Climbing", "Celeste", clock.now()))
    happened = block(await prompt(bot, clock, "what changed?"), "happened")
    assert happened.count("The game changed from Hades to Celeste.") == 1
    assert happened.count("The stream's title changed to “Climbing”.") == 1
