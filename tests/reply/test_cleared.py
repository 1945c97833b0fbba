"""A moderator's hand is quicker than a model: what is cleared meanwhile is neither answered nor told."""

import asyncio
from typing import Literal

import msgspec
import pytest

from forgetmenot.clock import SECOND
from forgetmenot.domain.chat import ChatEvent
from forgetmenot.memory.erasure import forget_fact
from forgetmenot.memory.notes.edits import remember
from forgetmenot.reply.engine import Reply
from forgetmenot.settings.schema import SendingSettings
from forgetmenot.store import events
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.events import Clear
from tests.stage import Stage, answering

SECRET = "the code of the safe is marmot"


async def thinking(stage: Stage, event: ChatEvent) -> "asyncio.Task[Reply | None]":
    """The bot thinks about a line until the model is let go."""
    stage.model.held = asyncio.Event()
    task = asyncio.create_task(stage.engine.consider(event))
    while not stage.model.asked:  # noqa: ASYNC110  # a fake tells nobody
        await asyncio.sleep(0)
    return task


async def let_go(stage: Stage, task: "asyncio.Task[Reply | None]") -> Reply:
    assert stage.model.held is not None
    stage.model.held.set()
    reply = await task
    assert reply is not None
    return reply


async def clear(stage: Stage, *, event_id: str | None = None, viewer_id: str | None = None) -> None:
    async with stage.db.write() as tx:
        await events.clear(tx, Clear(stage.clock.now(), event_id, viewer_id), stage.clock.now())


@pytest.mark.parametrize("what", [{"event_id": "e1"}, {"viewer_id": "1"}, {}], ids=["line", "viewer", "whole chat"])
async def test_a_line_that_is_cleared_while_the_model_thinks_is_not_answered(
    stage: Stage, what: dict[str, str]
) -> None:
    stage.model.answers = [answering(f"You said: {SECRET}", "timeout", target="me", seconds=30)]
    task = await thinking(stage, await stage.hear(f"@forgetmenot_bot time me out, {SECRET}"))
    await clear(stage, **what)
    reply = await let_go(stage, task)
    assert (reply.status, reply.text, reply.detail) == (ReplyStatus.SILENT, "", "its line was cleared")
    assert stage.said == stage.moderation.done == []
    assert (await stage.row(reply.id)).text == ""


async def test_a_line_that_is_cleared_while_it_waits_its_turn_reaches_no_model(stage: Stage) -> None:
    await stage.ask("@forgetmenot_bot hello")
    event = await stage.hear(f"@forgetmenot_bot {SECRET}")
    task = asyncio.create_task(stage.engine.consider(event))
    await stage.clock.advance(SECOND)
    await clear(stage, event_id=event.id)
    await stage.clock.advance(20 * SECOND)
    reply = await task
    assert reply is not None
    assert (reply.status, reply.detail) == (ReplyStatus.SILENT, "its line was cleared")
    assert len(stage.model.asked) == 1


async def test_a_reply_that_waits_for_a_place_is_dropped_when_its_line_is_cleared(stage: Stage) -> None:
    stage.use(msgspec.structs.replace(stage.settings, sending=SendingSettings(per_30s=2)))
    for viewer in ("2", "3"):
        await stage.ask("@forgetmenot_bot hello", viewer)
    await stage.clock.advance(29 * SECOND)
    event = await stage.hear("@forgetmenot_bot hello")
    task = asyncio.create_task(stage.engine.consider(event))
    while not stage.outbox.waiting:  # noqa: ASYNC110  # the queue tells nobody
        await asyncio.sleep(0.001)
    await clear(stage, event_id=event.id)
    await stage.clock.advance(5 * SECOND)
    reply = await task
    assert reply is not None
    assert (reply.status, reply.detail) == (ReplyStatus.DROPPED, "its line was cleared")
    assert (await stage.row(reply.id)).text == ""  # it may say again what was cleared
    assert len(stage.said) == 2


async def test_a_line_of_another_that_is_cleared_meanwhile_is_left_out_of_a_second_thought(stage: Stage) -> None:
    await stage.hear(SECRET, "2")
    stage.model.answers = [f"Bob said that {SECRET}.", "Nobody said a word."]
    task = await thinking(stage, await stage.hear("@forgetmenot_bot what did bob say?"))
    assert SECRET in stage.model.asked[0].prompt
    await clear(stage, viewer_id="2")
    reply = await let_go(stage, task)
    assert (reply.status, stage.said) == (ReplyStatus.SENT, ["Nobody said a word."])
    assert SECRET not in stage.model.asked[1].prompt


async def test_while_lines_are_cleared_all_the_time_it_stays_silent(stage: Stage) -> None:
    lines = [(await stage.hear(f"{SECRET} {number}", "2")).id for number in range(3)]

    class Purge(asyncio.Event):
        async def wait(self) -> Literal[True]:
            await clear(stage, event_id=lines.pop())
            return True

    stage.model.held = Purge()
    reply = await stage.reply("@forgetmenot_bot what did bob say?")
    assert (reply.status, reply.detail) == (ReplyStatus.SILENT, "lines of its prompt were cleared")
    assert len(stage.model.asked) == 2


async def test_who_asks_to_be_forgotten_gets_their_answer(stage: Stage) -> None:
    """Their own line loses its words with the fact: nobody deleted it."""
    note = await remember(stage.db, "1", "plays the marimba", by="1", at=stage.clock.now())
    stage.use(msgspec.structs.replace(stage.settings, sending=SendingSettings(per_30s=2)))
    for viewer in ("2", "3"):
        await stage.ask("@forgetmenot_bot hello", viewer)
    await stage.clock.advance(29 * SECOND)
    stage.model.answers = ["It is gone."]
    event = await stage.hear("@forgetmenot_bot I want it gone that I play the marimba")
    task = asyncio.create_task(stage.engine.consider(event))
    while not stage.outbox.waiting:  # noqa: ASYNC110  # the queue tells nobody
        await asyncio.sleep(0.001)
    await forget_fact(stage.db, note.id, at=stage.clock.now())
    assert await stage.db.value("SELECT count(*) FROM events WHERE text LIKE '%marimba%'") == 0
    await stage.clock.advance(5 * SECOND)
    reply = await task
    assert reply is not None
    assert (reply.status, stage.said[-1]) == (ReplyStatus.SENT, "It is gone.")
