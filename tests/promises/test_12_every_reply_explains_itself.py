"""Promise 12: one row tells why the bot said what it said, or why it said nothing."""

import re

import msgspec

from forgetmenot.domain import Outcome, OutcomeKind
from forgetmenot.durations import MINUTE
from forgetmenot.errors import ModelUnavailable
from forgetmenot.languages import ENGLISH
from forgetmenot.reply.engine import Reply
from forgetmenot.reply.explain import as_json, explain, one_line
from forgetmenot.settings.schema import PromptSettings, Settings
from forgetmenot.store.bot_messages import ReplyStatus
from tests.stage import ACTIVE, Stage, answering

ASKED = answering(
    "**Off you go!**", "timeout", target="alice", seconds=30, if_refused="Maybe later."
)


async def told_of(stage: Stage, reply: Reply) -> str:
    return msgspec.json.encode(
        as_json(await explain(stage.db, reply.id), ACTIVE), enc_hook=ENGLISH.reason
    ).decode()


async def test_the_row_tells_everything(stage: Stage) -> None:
    first = await stage.know("plays drums in a band")
    second = await stage.know("lost a drum on the way")
    other = await stage.know("plays drums too", "2")
    await stage.hear("the sea is loud today", "2")
    stage.model.answers = [ASKED]
    reply = await stage.reply(
        "@forgetmenot_bot time me out and tell me about my drums, and about bob"
    )
    row = await stage.row(reply.id)
    assert (row.event_id, row.viewer_id, row.trigger, row.mode) == (
        "e2",
        "1",
        "mention",
        "mentions",
    )
    assert (row.status, row.text, row.twitch_id) == (
        ReplyStatus.SENT,
        "Off you go!",
        "t1",
    )
    billed = {"billed": 1_000, "cached": 600, "output": 20, "thoughts": 0}
    assert row.usage == {"estimated": row.prompt["estimated"], **billed}
    assert (row.model, row.latency_ms, row.filters) == ("scripted", 7, ("markdown",))
    sections = {section["name"]: section for section in row.prompt["sections"]}
    # in the order of their rank
    assert sections["lore"]["rows"] == [["notes", first], ["notes", second]]
    assert set(row.prompt["scores"]) == {str(first), str(second), str(other)}
    assert sections["chat"]["rows"] == [["events", 1]]
    assert (
        sum(section["tokens"] for section in row.prompt["sections"])
        == row.prompt["estimated"]
    )
    story = await told_of(stage, reply)
    for part in (
        '"asked":"@forgetmenot_bot time me out',
        '"who":"Alice"',
        '"text":"Off you go!"',
        '"status":"sent"',
        '"filters":["markdown"]',
        "timeout: done. Allowed.",
        '"billed":1000,"cached":600',
        '"twitch_id":"t1"',
        f'"id":{first}',
        "plays drums in a band",
        "Bob: the sea is loud today",
    ):
        assert part in story
    await stage.clock.advance(MINUTE)
    later = await told_of(stage, await stage.reply("@forgetmenot_bot and now?"))
    assert '"text":"timeout of Alice for 30 s: done"' in later, (
        "what a prompt told of deeds is named"
    )


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
    story = await told_of(stage, reply)
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
    story = await told_of(stage, reply)
    assert "2 lore past 5" in story
    assert re.search(r'"name":"lore","tokens":\d+,"dropped":[1-9]', story)


async def test_silence_and_what_twitch_answered_have_a_reason(stage: Stage) -> None:
    stage.model.answers = [ModelUnavailable("The model does not answer.")]
    story = await told_of(stage, await stage.reply("@forgetmenot_bot hi"))
    assert '"status":"silent","text":"","detail":"The model does not answer."' in story
    stage.chat.answers = [Outcome(OutcomeKind.REFUSED, "AutoMod held it")]
    assert '"detail":"AutoMod held it"' in await told_of(
        stage, await stage.reply("@forgetmenot_bot hi", "2")
    )


async def test_one_line_for_chat(stage: Stage) -> None:
    """In words, with the numbers of what it used or could have used: the facts themselves are not told to everybody."""
    await stage.know("plays drums")
    reply = await stage.reply("@forgetmenot_bot hi")
    told = one_line(await explain(stage.db, reply.id))
    assert told == "I answered Alice without a note (reply 1)."
    await stage.clock.advance(MINUTE)
    stage.model.answers = [
        '{"action": null, "notes": [1, 77], "say": "You play drums."}'
    ]
    other = await stage.reply("@forgetmenot_bot what do I play?")
    told = one_line(await explain(stage.db, other.id))
    assert told == "I answered Alice with note #1 (reply 2)."
    async with stage.db.write() as tx:
        await tx.execute("UPDATE viewers SET opted_out_at = 1 WHERE id = '1'")
    assert one_line(await explain(stage.db, reply.id)).startswith(
        "I answered somebody without"
    )
