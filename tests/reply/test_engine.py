"""From a line of chat to an answer: what is said, what is not, and what the row tells of it."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from msgspec.structs import replace

from forgetmenot.domain import ChatEvent, EventKind
from forgetmenot.errors import StoreFull
from forgetmenot.prompt.instructions import MAY_BE_FOR_OTHERS
from forgetmenot.settings.schema import BotSettings, Mode, Settings
from forgetmenot.store import bot_messages
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.text.mentions import fenced_texts
from tests.stage import ACTIVE, Stage, answering

Move = Callable[[int], Awaitable[None]]


async def test_the_same_event_is_answered_once(stage: Stage) -> None:
    event = await stage.hear("@forgetmenot_bot hi")
    replies = await asyncio.gather(*(stage.engine.consider(event) for _ in range(3)))
    assert [reply is not None for reply in replies] == [True, False, False]
    assert await stage.engine.consider(event) is None
    assert len(stage.said) == 1


@pytest.mark.parametrize(
    ("next_question", "seconds_later", "outcome"),
    [
        ("@forgetmenot_bot what is my cat called", 60, "asked_again"),
        ("@forgetmenot_bot no, I mean: how is the cat called?", 60, "asked_again"),
        ("@forgetmenot_bot what is my cat called", 150, ""),
        ("@forgetmenot_bot how old is my cat?", 60, ""),
        ("@forgetmenot_bot thank you!", 60, ""),
    ],
)
async def test_whoever_asks_the_same_again_was_not_answered(
    stage: Stage,
    settle: Move,
    next_question: str,
    seconds_later: int,
    outcome: str,
) -> None:
    """A talk that goes on says nothing against the answer."""
    first = await stage.reply("@forgetmenot_bot what is my cat called?")
    await settle(seconds_later * 1_000)
    await stage.reply(next_question)
    assert (await stage.row(first.id)).outcome == outcome


async def test_neither_a_stale_mention_nor_a_slow_model_makes_it_answer_late(
    stage: Stage, settle: Move
) -> None:
    event = await stage.hear("@forgetmenot_bot hi")
    await settle(31_000)
    reply = await stage.engine.consider(event)
    assert reply is not None
    assert (reply.status, reply.detail, stage.model.asked) == (
        ReplyStatus.SILENT,
        "too late",
        [],
    )
    stage.model.answers = [answering("", "timeout", target="alice", seconds=30)]
    stage.model.meanwhile = lambda: settle(31_000)
    await stage.reply("@forgetmenot_bot time me out please")
    assert stage.said == stage.moderation.done_actions == []


async def test_the_cooldown_is_waited_out_and_the_newest_line_wins(
    stage: Stage, settle: Move
) -> None:
    await stage.ask("@forgetmenot_bot one")
    for word in ("two", "three"):
        stage.engine.take(await stage.hear(f"@forgetmenot_bot {word}"))
    await stage.engine.idle()
    assert len(stage.said) == 1
    await settle(12_000)
    await stage.engine.idle()
    two = await stage.row(2)
    three = await stage.row(3)
    assert {two.detail, three.detail} == {"", "a newer line of theirs took its place"}
    assert len(stage.said) == 2


async def test_nobody_has_the_model_asked_about_each_of_their_lines(
    stage: Stage, settle: Move
) -> None:
    stage.model.answers = ["The cello.", *[answering("")] * 8]
    await stage.reply("@forgetmenot_bot what do I play?")
    for _ in range(8):
        await settle(12_000)
        await stage.ask("are you sure?")
    assert len(stage.model.asked) == 1 + 2
    assert stage.said == ["The cello."]


async def test_a_bare_name_answers_the_line_before_it_or_asks_what_for(
    stage: Stage, settle: Move
) -> None:
    await stage.ask("@forgetmenot_bot")
    assert (stage.model.asked, stage.said) == (
        [],
        ["Yes? Ask me something, or type !help."],
    )
    await settle(11_000)
    await stage.hear("what is a marmot?")
    await stage.ask("@forgetmenot_bot")
    assert "what is a marmot?" in fenced_texts(stage.model.asked[0].prompt)["message"]


async def test_a_silent_preview_shows_the_words_as_chat_would_read_them(
    stage: Stage,
) -> None:
    stage.settings = replace(ACTIVE, bot=BotSettings(mode=Mode.SHADOW))
    stage.model.answers = [
        answering("I timed out alice.", "timeout", target="alice", seconds=30)
    ]
    reply = await stage.reply("@forgetmenot_bot please time me out")
    assert (reply.status, reply.text) == (ReplyStatus.SHADOW, "I timed out alice.")
    assert stage.said == stage.moderation.done_actions == []


# ── words fit the outcome ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("say", ["", "I banned bob!"])
async def test_a_deed_without_words_is_told_by_name_once(
    stage: Stage, say: str
) -> None:
    stage.model.answers = [answering(say, "timeout", target="me", seconds=30)]
    await stage.ask("@forgetmenot_bot please time me out")
    assert stage.said == ["Done: timeout Alice 30 s."]


async def test_a_raid_is_welcomed_to_everybody_in_live_mode(stage: Stage) -> None:
    stage.settings = Settings(bot=BotSettings(mode=Mode.LIVE))
    words = "25 raiders from bob have joined!"
    raid = replace(await stage.hear("", "2"), kind=EventKind.RAID, system_text=words)
    assert await stage.engine.consider(raid) is not None
    assert stage.chat.said[0][2] is None
    assert fenced_texts(stage.model.asked[0].prompt)["message"] == f"Bob: {words}"


async def test_an_action_that_nobody_asked_for_costs_no_answer(
    stage: Stage, settle: Move
) -> None:
    """Small models add one to many answers; a claim that it was done is no answer, though."""
    await stage.hear("hello", "2")
    for line, action, say, sent in (
        ("hi, who are you?", "shoutout", "Shoutout sent to Bob!", "Not now."),
        (
            "I finally beat the chicken boss!",
            "timeout",
            "What a fight!",
            "What a fight!",
        ),
        ("I want bob out of here", "timeout", "Bob takes a break.", "Not at all."),
    ):
        stage.model.answers = [answering(say, action, target="bob", if_refused=sent)]
        assert (await stage.reply(f"@forgetmenot_bot {line}")).text == sent
        await settle(11_000)
    assert stage.moderation.done_actions == []


def passer_by(stage: Stage, number: int) -> ChatEvent:
    viewer_and_text = (
        str(500 + number),
        f"v{number}",
        f"V{number}",
        "@forgetmenot_bot hello there",
    )
    return ChatEvent(
        f"c{number}", EventKind.MESSAGE, *viewer_and_text, stage.clock.now()
    )


async def test_a_crowd_costs_no_more_calls_than_there_is_room_for_answers(
    stage: Stage,
) -> None:
    stage.model.gate = asyncio.Event()
    stage.model.answers = [f"Hello to you, number {number}." for number in range(60)]
    for number in range(60):
        stage.engine.take(passer_by(stage, number))
    for _ in range(2_000):
        await asyncio.sleep(0.005)
        rows = await bot_messages.listing(stage.db, 60)
        if (
            sum(row.detail.startswith("too late") for row in rows)
            + len(stage.model.asked)
            == 60
        ):
            break
    assert len(stage.model.asked) == 20
    stage.model.gate.set()
    await stage.engine.idle()
    assert len(stage.said) == 20


async def test_a_reply_of_which_nothing_is_left_has_a_reason_and_gives_its_place_back(
    stage: Stage,
) -> None:
    for number in range(25):
        stage.model.answers = ["https://bad.example"]
        reply = await stage.engine.consider(passer_by(stage, number))
        assert reply is not None
        assert (reply.status, reply.detail) == (
            ReplyStatus.SILENT,
            "there was nothing to say",
        )


async def test_a_full_disk_while_thinking_is_a_reason(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_: object, **__: object) -> None:
        raise StoreFull("The disk is full.")

    monkeypatch.setattr(bot_messages, "record_prompt", full)
    assert (
        await stage.reply("@forgetmenot_bot hi")
    ).detail == "StoreFull: The disk is full."


async def test_a_line_that_may_be_for_others_may_be_left_without_an_answer(
    stage: Stage,
) -> None:
    """It is offered with the right to be silent, and silence costs the next answer nothing."""
    stage.settings = replace(
        stage.settings, reply=replace(stage.settings.reply, viewer_gap_s=0)
    )
    stage.model.answers = [
        answering("The cello."),
        answering(""),
        answering("Since May."),
    ]
    await stage.reply("@forgetmenot_bot what do I play?")
    silent = await stage.reply("what a jump")
    prompt = stage.model.asked[-1].prompt
    assert MAY_BE_FOR_OTHERS in prompt
    assert (silent.status, stage.said) == (ReplyStatus.SILENT, ["The cello."])
    answered = await stage.reply("@forgetmenot_bot since when?")
    assert MAY_BE_FOR_OTHERS not in stage.model.asked[-1].prompt
    assert answered.text == "Since May."
