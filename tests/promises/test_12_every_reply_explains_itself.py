"""Promise 12: one row tells why the bot said what it said, or why it said nothing."""

import re

import msgspec

from forgetmenot.clock import MINUTE
from forgetmenot.domain import Outcome, OutcomeKind
from forgetmenot.errors import ModelUnavailable
from forgetmenot.languages import ENGLISH
from forgetmenot.reply.engine import Reply
from forgetmenot.reply.explain import as_json, explain, one_line
from forgetmenot.settings.schema import PromptSettings, Settings
from forgetmenot.store.bot_messages import ReplyStatus
from tests.rows import put
from tests.stage import ACTIVE, Stage, answering

ASKED = answering("**Off you go!**", "timeout", target="alice", seconds=30, if_refused="Maybe later.")


async def told_of(stage: Stage, reply: Reply) -> str:
    return msgspec.json.encode(as_json(await explain(stage.db, reply.id), ACTIVE), enc_hook=ENGLISH.reason).decode()


async def test_the_row_tells_everything(stage: Stage) -> None:
    first = await stage.know("plays drums in a band")
    second = await stage.know("lives by the sea")
    other = await stage.know("plays drums too", "2")
    await stage.hear("the sea is loud today", "2")
    stage.model.answers = [ASKED]
    reply = await stage.reply("@forgetmenot_bot time me out and tell me about my drums, and about bob")
    row = await stage.row(reply.id)
    assert (row.event_id, row.viewer_id, row.trigger, row.mode) == ("e2", "1", "mention", "mentions")
    assert (row.status, row.text, row.twitch_id) == (ReplyStatus.SENT, "Off you go!", "t1")
    billed = {"billed": 1_000, "cached": 600, "output": 20, "thoughts": 0}
    assert row.usage == {"estimated": row.prompt["estimated"], **billed}
    assert (row.model, row.latency_ms, row.filters) == ("scripted", 7, ("markdown",))
    sections = {section["name"]: section for section in row.prompt["sections"]}
    assert sections["lore"]["rows"] == [["notes", first], ["notes", second]]  # in the order of their rank
    assert set(row.prompt["scores"]) == {str(first), str(second), str(other)}
    assert sections["chat"]["rows"] == [["events", 1]]
    assert sum(section["tokens"] for section in row.prompt["sections"]) == row.prompt["estimated"]
    story = await told_of(stage, reply)
    for part in (
        '"asked":"@forgetmenot_bot time me out', '"who":"Alice"', '"text":"Off you go!"', '"status":"sent"',
        '"filters":["markdown"]', "timeout: done. Allowed.", '"billed":1000,"cached":600', '"twitch_id":"t1"',
        f'"id":{first}', "plays drums in a band", "Bob: the sea is loud today",
    ):  # fmt: skip
        assert part in story
    await stage.clock.advance(MINUTE)
    later = await told_of(stage, await stage.reply("@forgetmenot_bot and now?"))
    assert '"text":"timeout of Alice for 30 s: done"' in later, "what a prompt told of deeds is named"


async def test_it_holds_no_chat_text_and_shows_none_once_chat_is_gone(stage: Stage) -> None:
    await stage.hear("the marmot sleeps", "2")
    reply = await stage.reply("@forgetmenot_bot is the marmot asleep?")
    row = await stage.db.row("SELECT * FROM bot_messages WHERE id = ?", (reply.id,))
    assert row is not None
    assert "marmot" not in msgspec.json.encode([str(value) for value in tuple(row)]).decode()
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
    stage.use(Settings(bot=ACTIVE.bot, prompt=PromptSettings(budget_tokens=size - 150)))
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
    assert '"detail":"AutoMod held it"' in await told_of(stage, await stage.reply("@forgetmenot_bot hi", "2"))


async def test_commands_and_notices_are_told_too(stage: Stage) -> None:
    """Who asked for what, where no prompt was made; and that a stream's notice answers nobody."""
    await stage.hear("!memory", "1")
    asked = await stage.db.value("SELECT id FROM events")
    async with stage.db.write() as tx:
        told = await put(tx, "bot_messages", event_id=asked, viewer_id="1", trigger="command", text="I know nothing.")
        notice = await put(tx, "bot_messages", trigger="notice", mode="mentions", text="I remember what happens here")
    trail = await explain(stage.db, told)
    assert (trail.who, trail.asked) == ("Alice", "!memory")
    trail = await explain(stage.db, notice)
    assert trail.asked == ""
    assert one_line(trail) == f"Reply {notice}: it is said once per stream; I used no notes; said."


async def test_one_line_for_chat(stage: Stage) -> None:
    """In words, with the numbers of what it used or could have used: the facts themselves are not told to everybody."""
    await stage.know("plays drums")
    reply = await stage.reply("@forgetmenot_bot hi")
    told = one_line(await explain(stage.db, reply.id))
    assert told == "Reply 1: Alice wrote to me; I used no notes; said."
    await stage.clock.advance(MINUTE)
    stage.model.answers = ['{"action": null, "notes": [1, 77], "say": "You play drums."}']
    other = await stage.reply("@forgetmenot_bot what do I play?")
    assert "; I used note #1; " in one_line(await explain(stage.db, other.id))
    await stage.clock.advance(MINUTE)
    other = await stage.reply("@forgetmenot_bot hi", "2")
    assert "; I used no notes; " in one_line(await explain(stage.db, other.id))
    async with stage.db.write() as tx:
        await tx.execute("UPDATE viewers SET opted_out_at = 1 WHERE id = '1'")
    assert one_line(await explain(stage.db, reply.id)).startswith("Reply 1: somebody wrote to me")


async def test_the_bots_own_lines_and_the_recap_are_named_too(stage: Stage) -> None:
    async with stage.db.write() as tx:
        await tx.execute("UPDATE streams SET ended_at = last_event_at, recap = 'a race was won', recapped_at = 1")
        await put(tx, "episodes", stream_id=1, summary="they raced")
        now = stage.clock.now()
        await tx.execute("INSERT INTO streams (id, started_at, last_event_at) VALUES (2, ?, ?)", (now, now))
    first = await stage.reply("@forgetmenot_bot hi")
    await stage.clock.advance(MINUTE)
    reply = await stage.reply("@forgetmenot_bot and now?")
    trail = await explain(stage.db, reply.id)
    rows = {section.name: [(row.of, row.id, row.text) for row in section.rows] for section in trail.sections}
    assert ("replies", first.id, first.text) in rows["own_messages"]
    assert rows["episodes"] == [("streams", 1, "a race was won"), ("episodes", 1, "they raced")]
