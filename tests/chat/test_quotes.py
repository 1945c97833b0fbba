"""Moderators keep a line as a quote; its author removes it, and it goes wherever its author or its people go."""

import asyncio
import json

import pytest
from msgspec.structs import astuple, replace

from forgetmenot.domain import Redaction, ReplyTo, Surface
from forgetmenot.durations import DAY, MINUTE
from forgetmenot.operations.run import run
from forgetmenot.operations.targets import owner
from forgetmenot.privacy.requests import carry_out
from forgetmenot.store import (
    backup,
    channel_state,
    data_export,
    events,
    quotes,
    viewers,
)
from forgetmenot.store.database import CARRIED_OUT
from tests.chat.conftest import IDS, Chat
from tests.rows import put


async def texts(chat: Chat) -> list[str]:
    return await chat.db.column("SELECT text FROM quotes ORDER BY id")


async def test_a_moderator_keeps_the_last_line_of_somebody_or_of_anybody(
    chat: Chat,
) -> None:
    await chat.say("alice", "stairs are ladders that gave up")
    await chat.say("bob", "I know two keys")
    await chat.say("carol", "so true")
    answer = await chat.say("carol", "!quote @alice")
    assert answer is not None
    assert "stairs are ladders that gave up" in answer
    assert "Alice" in answer
    assert "!unquote 1" in answer
    await chat.say("carol", "!quote")
    assert await texts(chat) == ["stairs are ladders that gave up", "I know two keys"]
    # a second time it is the same quote
    assert await chat.say("carol", "!quote alice") == answer
    assert len(await texts(chat)) == 2


async def test_a_quote_is_kept_when_chat_is_gone_and_says_when_it_was_said(
    chat: Chat,
) -> None:
    await chat.say("bob", "hello there")
    await chat.clock.advance(7 * MINUTE)
    await chat.say("alice", "the ladder has a lawyer")
    await chat.say("carol", "!quote alice")
    await chat.clock.advance(2 * DAY)
    await chat.bot.tasks.catch_up()
    assert await chat.db.value("SELECT count(*) FROM events WHERE text <> ''") == 0
    [quote] = await quotes.shown(chat.db)
    started_at = await chat.db.value("SELECT started_at FROM streams")
    assert quote.text == "the ladder has a lawyer"
    assert (quote.said_at - started_at) // MINUTE == 7
    assert quote.by_id == IDS["carol"]


async def test_a_reply_keeps_the_line_that_it_replies_to(chat: Chat) -> None:
    await chat.say("alice", "drummers first")
    first_id = f"m{chat.count}"
    await chat.say("alice", "anyway")
    typed = replace(
        chat.event("carol", "@alice !quote"),
        reply_to=ReplyTo(first_id, IDS["alice"], "alice", "drummers first"),
    )
    chat.ingest.take(typed)
    assert await chat.commands.handle(typed) is not None
    assert await texts(chat) == ["drummers first"]
    # no other command is read behind somebody's name
    erase = replace(
        chat.event("carol", "@alice !forgetme yes"),
        reply_to=ReplyTo(first_id, IDS["alice"], "alice", "drummers first"),
    )
    assert await chat.commands.handle(erase) is None


async def test_only_moderators_keep_lines_and_never_of_whoever_opted_out(
    chat: Chat,
) -> None:
    await chat.say("alice", "I fell off my own chair")
    assert await chat.say("bob", "!quote alice") is None
    await chat.say("alice", "!optout")
    await chat.say("alice", "still here")
    answer = await chat.say("carol", "!quote alice")
    assert answer
    assert "chair" not in answer
    assert await texts(chat) == []


async def test_what_is_never_stored_is_no_quote_and_neither_is_a_command(
    chat: Chat,
) -> None:
    await chat.say("alice", "call me, +49 30 901820")
    await chat.say("carol", "!quote alice")
    assert await texts(chat) == []
    await chat.say("alice", "the hook sings in E")
    await chat.say("alice", "!streak")
    await chat.say("carol", "!quote alice")
    assert await texts(chat) == ["the hook sings in E"]


async def test_its_author_removes_a_quote_and_nobody_else_but_moderators(
    chat: Chat,
) -> None:
    await chat.say("alice", "one more minute in four languages")
    await chat.say("carol", "!quote alice")
    assert await chat.say("bob", "!unquote 1") is not None
    assert len(await texts(chat)) == 1
    assert await chat.say("alice", "!unquote") is not None
    assert await texts(chat) == []
    await chat.say("alice", "wear it then")
    await chat.say("carol", "!quote alice")
    await chat.say("alice", "@forgetmenot_bot delete my quote")
    assert await texts(chat) == []
    await chat.say("alice", "a mystery to me")
    await chat.say("carol", "!quote alice")
    number = await chat.db.highest_id("quotes")
    await chat.say("carol", f"!unquote {number}")
    assert await texts(chat) == []


async def test_what_the_bot_said_of_a_removed_quote_goes_with_it(chat: Chat) -> None:
    await chat.hear("alice", "the wombat is my lawyer")
    await chat.hear("carol", "!quote alice")
    count_sql = (
        "SELECT count(*) FROM {} WHERE text LIKE '%wombat%' AND text LIKE '%Kept%'"
    )
    assert await chat.db.value(count_sql.format("bot_messages")) == 1
    sections = [{"name": "past_episode", "rows": [["quotes", 1]]}]
    async with chat.db.write() as tx:
        await put(
            tx,
            "bot_messages",
            text="Alice said: the wombat is my lawyer.",
            prompt_json=json.dumps({"sections": sections}),
        )
        await put(tx, "bot_messages", text="A wombat of my own.")
    await chat.hear("alice", "!unquote")
    replies = await chat.db.column(
        "SELECT text FROM bot_messages WHERE text LIKE '%wombat%'"
    )
    assert replies == ["A wombat of my own."]


async def test_a_removed_quote_is_removed_from_an_older_copy_again(chat: Chat) -> None:
    await chat.say("alice", "guilty as a ladder")
    await chat.say("carol", "!quote alice")
    [quote] = await quotes.shown(chat.db)
    await chat.say("alice", "!unquote")
    async with chat.db.write() as tx:
        # as an older copy has it, which does not know what was asked for since
        await quotes.add(tx, quotes.NewQuote(*astuple(quote)[1:]))
        await tx.execute("DELETE FROM channel_state WHERE name = ?", (CARRIED_OUT,))
    await carry_out(chat.db)
    assert await texts(chat) == []


async def test_a_line_that_is_deleted_in_chat_is_no_quote_any_more(chat: Chat) -> None:
    await chat.say("alice", "nobody saw that")
    line_id = f"m{chat.count}"
    await chat.say("carol", "!quote alice")
    assert len(await texts(chat)) == 1
    await chat.bot.hear(Redaction(chat.clock.now(), event_id=line_id))
    await chat.ingest.flush()
    assert await texts(chat) == []


async def test_a_quote_goes_with_its_author_and_loses_whoever_is_named_in_it(
    chat: Chat,
) -> None:
    await chat.say("bob", "hello")
    await chat.say("alice", "The tower shook. bob drives like a grandmother.")
    await chat.say("carol", "!quote alice")
    await chat.say("bob", "carol is the guide we deserve")
    await chat.say("carol", "!quote bob")
    await chat.hear("bob", "!forgetme yes")
    assert await texts(chat) == ["The tower shook."]
    await chat.hear("alice", "!forgetme yes")
    assert await texts(chat) == []


async def test_whoever_is_hidden_is_in_no_list_and_everybody_gets_their_own(
    chat: Chat,
) -> None:
    await chat.say("alice", "the bread is laughing")
    await chat.say("carol", "!quote alice")
    rows = await data_export.export(chat.db, IDS["alice"])
    assert [row["text"] for row in rows["quotes"]] == ["the bread is laughing"]
    await chat.say("alice", "!optout")
    assert await quotes.shown(chat.db) == []


async def test_the_dock_removes_a_quote(chat: Chat) -> None:
    await chat.say("alice", "it looks like a hat")
    await chat.say("carol", "!quote alice")
    asker = await owner(chat.db, Surface.DOCK, "streamer", chat.clock.now())
    result = await run(chat.context, "unquote", {"id": 1}, asker)
    assert result.ok
    assert await texts(chat) == []


@pytest.mark.parametrize("called", ["@forgetmenot_bot", "@bob", "@nobody, @bob"])
async def test_a_line_said_to_somebody_is_kept_without_their_name(
    chat: Chat, called: str
) -> None:
    await chat.say("alice", f"{called} stairs are ladders that gave up")
    answer = await chat.say("carol", "!quote alice")
    assert answer is not None
    assert answer.startswith("Kept in the book: “stairs are ladders that gave up”")
    assert await texts(chat) == ["stairs are ladders that gave up"]


async def test_a_line_said_to_somebody_may_hold_no_command(chat: Chat) -> None:
    await chat.say("alice", "@bob <script>stairs</script>")
    answer = await chat.say("carol", "!quote alice")
    assert answer == "I don't store commands or code."
    assert await texts(chat) == []


@pytest.mark.parametrize("cause", ["deleted in chat", "hidden"])
async def test_what_goes_while_it_is_being_quoted_is_no_quote(
    chat: Chat,
    cause: str,
) -> None:
    await chat.say("alice", "nobody saw that")
    line_id = f"m{chat.count}"
    command = chat.event("carol", "!quote alice")
    chat.ingest.take(command)
    await chat.ingest.flush()
    async with chat.db.write() as tx:
        quoting = asyncio.create_task(chat.commands.handle(command))
        # it reads the line, and waits to write
        await asyncio.wait([quoting], timeout=0.3)
        assert not quoting.done()
        now = chat.clock.now()
        if cause == "hidden":
            await viewers.set_banned(tx, IDS["alice"], now)
        else:
            await events.clear(tx, events.Clear(now, event_id=line_id), now)
    answer = await quoting
    assert answer is not None
    assert "nobody saw that" not in answer.line
    assert await texts(chat) == []


async def test_what_the_bot_said_of_a_quote_goes_with_its_erased_author(
    chat: Chat,
) -> None:
    await chat.hear("bob", "hi")
    await chat.hear("alice", "the wombat is my lawyer")
    await chat.hear("carol", "!quote alice")
    await chat.hear("bob", "alice owes me a wombat, @alice knows it")
    await chat.hear("carol", "!quote bob")
    sections = [{"name": "past_episode", "rows": [["quotes", 1]]}]
    async with chat.db.write() as tx:
        await put(
            tx,
            "bot_messages",
            text="A lawyer with a pouch, she said.",
            prompt_json=json.dumps({"sections": sections}),
        )
        await put(tx, "bot_messages", text="A cello of my own.")
    await chat.hear("alice", "!forgetme yes")
    for table in ("bot_messages", "quotes", "events"):
        texts = await chat.db.column(f"SELECT text FROM {table} WHERE text <> ''")  # noqa: S608  # our own names
        assert not [text for text in texts if "lawyer" in text], table
        assert not [text for text in texts if "Kept" in text], table
    assert "A cello of my own." in await chat.db.column("SELECT text FROM bot_messages")


async def test_removing_a_quote_leaves_what_was_said_of_another(chat: Chat) -> None:
    for number in range(1, 11):
        await chat.hear("alice", f"line number {number}")
        await chat.hear("carol", "!quote alice")
        await chat.clock.advance(MINUTE)
    await chat.hear("alice", "!unquote 1")
    texts = await chat.db.column("SELECT text FROM bot_messages WHERE text <> ''")
    quote_texts = [text for text in texts if text.startswith("Kept")]
    assert any(text.endswith("!unquote 10") for text in quote_texts)
    assert not any(text.endswith("!unquote 1") for text in quote_texts)


async def test_a_backup_is_made_of_a_quote_and_none_stays_of_a_deleted_line(
    chat: Chat,
) -> None:
    await chat.say("alice", "nobody saw that")
    line_id = f"m{chat.count}"
    await chat.ingest.flush()
    copy = chat.db.path.with_name("copy.sqlite3")
    backup.copy(chat.db.path, copy)
    await chat.say("carol", "!quote alice")
    assert backup.lacks_changes(copy, chat.db.path)
    backup.copy(chat.db.path, copy)
    await chat.say("alice", "!unquote")
    assert backup.lacks_changes(copy, chat.db.path)
    await chat.say("carol", "!quote alice")
    await chat.bot.hear(Redaction(chat.clock.now(), event_id=line_id))
    await chat.ingest.flush()
    assert await texts(chat) == []
    assert await channel_state.read(chat.db, events.COPIES_STALE)


@pytest.mark.parametrize("goes_by", ["!unquote", "!forgetme yes"])
async def test_what_the_bot_said_of_a_long_quote_goes_too(
    chat: Chat,
    goes_by: str,
) -> None:
    await chat.hear("alice", "the wombat is my lawyer " + "and yours " * 45)
    answer = await chat.hear("carol", "!quote alice")
    assert answer.endswith("!unquote 1")
    await chat.hear("alice", goes_by)
    texts = await chat.db.column("SELECT text FROM bot_messages WHERE text <> ''")
    assert not [text for text in texts if "wombat" in text]


@pytest.mark.parametrize("max_chars", [100, 200, 400])
async def test_the_answer_ends_with_the_number_however_short_it_must_be(
    chat: Chat, max_chars: int
) -> None:
    """By that number the answer is found when the quote is removed."""
    reply = replace(chat.context.settings().reply, max_chars=max_chars)
    settings = replace(chat.context.settings(), reply=reply)
    chat.context.settings = lambda: settings
    await chat.say("alice", "a wombat and " * 35)
    answer = await chat.say("carol", "!quote alice") or ""
    assert "wombat" in answer
    assert answer.endswith("Alice can remove it: !unquote 1")
    assert len(answer) <= max_chars


async def test_an_answer_that_cannot_have_the_number_has_no_word_of_the_quote(
    chat: Chat,
) -> None:
    reply = replace(chat.context.settings().reply, max_chars=40)
    settings = replace(chat.context.settings(), reply=reply)
    chat.context.settings = lambda: settings
    await chat.say("alice", "a wombat and " * 35)
    assert "wombat" not in (await chat.say("carol", "!quote alice") or "")
