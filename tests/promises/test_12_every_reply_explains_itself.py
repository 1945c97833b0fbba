"""Promise 12: one row tells why the bot said what it said, or why it said nothing."""

import re
from dataclasses import dataclass

import msgspec
import pytest

from forgetmenot.domain import Outcome, OutcomeKind
from forgetmenot.durations import MINUTE
from forgetmenot.errors import ModelUnavailable
from forgetmenot.languages import ENGLISH
from forgetmenot.reply.engine import Reply
from forgetmenot.reply.explain import as_json, explain, one_line
from forgetmenot.settings.schema import PromptSettings, Settings
from forgetmenot.store.bot_messages import BotMessage, ReplyStatus
from tests.stage import ACTIVE, Stage, answering

ASKED = answering(
    "**Off you go!**", "timeout", target="alice", seconds=30, if_refused="Maybe later."
)


async def explanation_of(stage: Stage, reply: Reply) -> str:
    return msgspec.json.encode(
        as_json(await explain(stage.db, reply.id), ACTIVE), enc_hook=ENGLISH.reason
    ).decode()


# ── a reply with notes, an action and a bill ──────────────────────────────────────────────────


@dataclass
class Explained:
    """A reply that timed its asker out, and the notes in its prompt: two about them, one about bob."""

    stage: Stage
    reply: Reply
    own_notes: list[int]
    bobs_note: int

    async def row(self) -> BotMessage:
        return await self.stage.row(self.reply.id)

    async def story(self) -> str:
        return await explanation_of(self.stage, self.reply)


@pytest.fixture
async def explained(stage: Stage) -> Explained:
    own_notes = [
        await stage.know("plays drums in a band"),
        await stage.know("lost a drum on the way"),
    ]
    bobs_note = await stage.know("plays drums too", "2")
    await stage.hear("the sea is loud today", "2")
    stage.model.answers = [ASKED]
    reply = await stage.reply(
        "@forgetmenot_bot time me out and tell me about my drums, and about bob"
    )
    return Explained(stage, reply, own_notes, bobs_note)


async def test_the_row_tells_who_asked_by_which_line_and_how(
    explained: Explained,
) -> None:
    row = await explained.row()
    assert (row.event_id, row.viewer_id) == ("e2", "1")
    assert (row.trigger, row.mode) == ("mention", "mentions")


async def test_the_row_tells_what_was_sent_and_what_the_filters_changed(
    explained: Explained,
) -> None:
    row = await explained.row()
    assert row.status is ReplyStatus.SENT
    assert (row.text, row.twitch_id) == ("Off you go!", "t1")
    assert row.filters == ("markdown",)


async def test_the_row_tells_what_the_model_took_and_billed(
    explained: Explained,
) -> None:
    row = await explained.row()
    assert (row.model, row.latency_ms) == ("scripted", 7)
    billed = {"billed": 1_000, "cached": 600, "output": 20, "thoughts": 0}
    assert row.usage == {"estimated": row.prompt["estimated"], **billed}


async def test_the_row_tells_which_rows_were_in_the_prompt_by_rank(
    explained: Explained,
) -> None:
    row = await explained.row()
    sections = {section["name"]: section for section in row.prompt["sections"]}
    assert sections["lore"]["rows"] == [["notes", note] for note in explained.own_notes]
    assert sections["chat"]["rows"] == [["events", 1]]
    scored_notes = {str(note) for note in (*explained.own_notes, explained.bobs_note)}
    assert row.prompt["scores"].keys() == scored_notes


async def test_the_tokens_of_the_sections_are_those_of_the_prompt(
    explained: Explained,
) -> None:
    row = await explained.row()
    tokens = sum(section["tokens"] for section in row.prompt["sections"])
    assert tokens == row.prompt["estimated"]


@pytest.mark.parametrize(
    "part",
    [
        '"asked":"@forgetmenot_bot time me out',
        '"who":"Alice"',
        '"text":"Off you go!"',
        '"status":"sent"',
        '"filters":["markdown"]',
        "timeout: done. Allowed.",
        '"billed":1000,"cached":600',
        '"twitch_id":"t1"',
        "plays drums in a band",
        "Bob: the sea is loud today",
    ],
)
async def test_the_explanation_shows_it(explained: Explained, part: str) -> None:
    assert part in await explained.story()


async def test_the_explanation_names_notes_by_their_ids(explained: Explained) -> None:
    assert f'"id":{explained.own_notes[0]}' in await explained.story()


async def test_the_next_explanation_names_the_action_that_its_prompt_had(
    explained: Explained,
) -> None:
    await explained.stage.clock.advance(MINUTE)
    later = await explained.stage.reply("@forgetmenot_bot and now?")
    action = '"text":"timeout of Alice for 30 s: done"'
    assert action in await explanation_of(explained.stage, later)


# ── other replies ─────────────────────────────────────────────────────────────────────────────


async def test_it_holds_no_chat_text_and_shows_none_once_chat_is_gone(
    stage: Stage,
) -> None:
    await stage.hear("the marmot sleeps", "2")
    reply = await stage.reply("@forgetmenot_bot is the marmot asleep?")
    row = await stage.db.row("SELECT * FROM bot_messages WHERE id = ?", (reply.id,))
    assert row is not None
    assert (
        "marmot"
        not in msgspec.json.encode([str(value) for value in tuple(row)]).decode()
    )
    async with stage.db.write() as tx:
        await tx.execute("DELETE FROM events")
    story = await explanation_of(stage, reply)
    assert "marmot" not in story
    assert '"asked":""' in story
    assert "(no longer kept)" in story


async def test_what_was_dropped_and_at_which_step_is_told(stage: Stage) -> None:
    for i in range(10):
        await stage.know(f"fact number {i} of many about drums and bands")
        await stage.hear(f"line number {i} of this chat", "2")
    whole = await stage.reply("@forgetmenot_bot drums?")
    size = (await stage.row(whole.id)).prompt["estimated"]
    stage.settings = Settings(
        bot=ACTIVE.bot, prompt=PromptSettings(budget_tokens=size - 150)
    )
    await stage.clock.advance(MINUTE)
    reply = await stage.reply("@forgetmenot_bot drums?")
    story = await explanation_of(stage, reply)
    assert "2 lore past 5" in story
    assert re.search(r'"name":"lore","tokens":\d+,"dropped":[1-9]', story)


async def test_silence_has_a_reason(stage: Stage) -> None:
    stage.model.answers = [ModelUnavailable("The model does not answer.")]
    story = await explanation_of(stage, await stage.reply("@forgetmenot_bot hi"))
    assert '"status":"silent","text":"","detail":"The model does not answer."' in story


async def test_what_twitch_answered_is_told(stage: Stage) -> None:
    stage.chat.answers = [Outcome(OutcomeKind.REFUSED, "AutoMod held it")]
    story = await explanation_of(stage, await stage.reply("@forgetmenot_bot hi", "2"))
    assert '"detail":"AutoMod held it"' in story


async def line_about(stage: Stage, reply: Reply) -> str:
    return one_line(await explain(stage.db, reply.id))


async def test_chat_gets_one_line_without_the_fact_that_was_not_used(
    stage: Stage,
) -> None:
    await stage.know("plays drums")
    reply = await stage.reply("@forgetmenot_bot hi")
    line = await line_about(stage, reply)
    assert line == "I answered Alice without a note (reply 1)."


async def test_chat_gets_the_number_of_a_used_note_and_no_made_up_one(
    stage: Stage,
) -> None:
    await stage.know("plays drums")
    stage.model.answers = [
        '{"action": null, "notes": [1, 77], "say": "You play drums."}'
    ]
    reply = await stage.reply("@forgetmenot_bot what do I play?")
    line = await line_about(stage, reply)
    assert line == "I answered Alice with note #1 (reply 1)."


async def test_chat_gets_no_name_of_who_opted_out_since(stage: Stage) -> None:
    reply = await stage.reply("@forgetmenot_bot hi")
    async with stage.db.write() as tx:
        await tx.execute("UPDATE viewers SET opted_out_at = 1 WHERE id = '1'")
    line = await line_about(stage, reply)
    assert line.startswith("I answered somebody without")
