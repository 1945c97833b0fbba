"""Many who ask at once: no model is paid for what could not be said in time."""

import asyncio

import pytest

from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.settings.schema import BotSettings, Mode, Settings
from forgetmenot.store import bot_messages
from tests.stage import Stage

CROWD = 60


def _mention(stage: Stage, number: int) -> ChatEvent:
    text = "@forgetmenot_bot hello there"
    return ChatEvent(
        f"c{number}", EventKind.MESSAGE, str(500 + number), f"v{number}", f"V{number}", text, stage.clock.now()
    )


@pytest.mark.parametrize("mode", [Mode.MENTIONS, Mode.SHADOW])
async def test_a_crowd_costs_no_more_calls_than_there_is_room_for_answers(stage: Stage, mode: Mode) -> None:
    stage.use(Settings(bot=BotSettings(mode=mode)))
    stage.model.held = asyncio.Event()
    stage.model.answers = [f"Hello to you, number {number}." for number in range(CROWD)]
    for number in range(CROWD):
        stage.engine.take(_mention(stage, number))
    for _ in range(2_000):
        await asyncio.sleep(0.005)
        rows = await bot_messages.listing(stage.db, CROWD)
        if sum(row.detail.startswith("no room in the queue") for row in rows) + len(stage.model.asked) == CROWD:
            break
    assert len(stage.model.asked) == 20
    stage.model.held.set()
    await stage.engine.idle()
    assert len(stage.said) == (20 if mode is Mode.MENTIONS else 0)


async def test_a_reply_that_failed_gives_its_place_back(stage: Stage) -> None:
    stage.use(Settings(bot=BotSettings(mode=Mode.MENTIONS)))
    for number in range(25):
        stage.model.answers = ["/"]
        await stage.engine.consider(_mention(stage, number))
    assert len(stage.model.asked) == 25
