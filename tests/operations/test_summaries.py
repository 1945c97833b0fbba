"""The streamer corrects what is written of a stream: the next reply reads the new text."""

from typing import Any

import pytest

from forgetmenot.app.bot import Bot
from forgetmenot.clock import ManualClock
from forgetmenot.domain import NOTHING, OperationResult, Surface
from forgetmenot.operations.run import run
from forgetmenot.operations.targets import owner
from forgetmenot.store import episodes, privacy_choices, streams
from tests.chat.conftest import IDS, Chat, chat
from tests.rows import put
from tests.wishes import erase

__all__ = ["chat"]

ALICE = IDS["alice"]
WRONG = f"<@{ALICE}> beat the boss. <@{ALICE}> shaved a beard."


async def in_dock(chat: Chat, name: str, **params: Any) -> OperationResult:  # noqa: ANN401  # as the page sends them
    asker = await owner(chat.db, Surface.DOCK, "streamer", chat.clock.now())
    return await run(chat.bot.operations, name, params, asker)


async def put_stream(chat: Chat) -> None:
    now = chat.clock.now()
    times = {"started_at": now - 9_000, "last_event_at": now, "ended_at": now}
    async with chat.db.write() as tx:
        await put(tx, "streams", id=7, recap=WRONG, recapped_at=now, **times)
        await put(tx, "episodes", id=8, stream_id=7, summary=WRONG, ended_at=now)


async def prefix_of(bot: Bot) -> str:
    kept = await bot.keeper.current()
    return kept.prefix.text


@pytest.mark.parametrize("name", ["edit_recap", "edit_summary"])
async def test_a_corrected_text_is_what_replies_read(chat: Chat, name: str) -> None:
    await put_stream(chat)
    other = "edit_summary" if name == "edit_recap" else "edit_recap"
    await in_dock(chat, other, id=8 if other == "edit_summary" else 7, text="Quiet.")
    row = 8 if name == "edit_summary" else 7
    assert "shaved a beard" in await prefix_of(chat.bot)
    result = await in_dock(chat, name, id=row, text="Bob  beat the boss.")
    assert result.ok
    prefix = await prefix_of(chat.bot)
    assert "Bob beat the boss." in prefix
    assert "shaved a beard" not in prefix


async def test_names_are_stored_as_ids_and_who_is_named_is_found(chat: Chat) -> None:
    await put_stream(chat)
    await in_dock(chat, "edit_summary", id=8, text="Bob won.")
    await in_dock(chat, "edit_recap", id=7, text="Bob won.")
    bob = f"<@{IDS['bob']}> won."
    [episode] = await episodes.get_many(chat.db, [8])
    stream = (await streams.get_many(chat.db, [7]))[7]
    assert (episode.summary, stream.recap) == (bob, bob)
    people = await chat.db.column("SELECT viewer_id FROM episode_people")
    assert people == [IDS["bob"]]


async def test_an_empty_text_removes_what_was_written(chat: Chat) -> None:
    await put_stream(chat)
    assert (await in_dock(chat, "edit_summary", id=8)).ok
    assert (await in_dock(chat, "edit_recap", id=7, text=" ")).ok
    [episode] = await episodes.get_many(chat.db, [8])
    assert episode.summary == NOTHING
    assert (await streams.get_many(chat.db, [7]))[7].recap == ""
    assert "beat the boss" not in await prefix_of(chat.bot)


@pytest.mark.parametrize("name", ["edit_recap", "edit_summary"])
async def test_a_text_that_is_gone_is_said_to_be(chat: Chat, name: str) -> None:
    result = await in_dock(chat, name, id=99, text="Bob won.")
    assert (result.ok, result.code) == (False, "no_summary")


async def test_the_clock_of_a_recap_moves_on_so_that_its_file_is_written_again(
    chat: Chat,
) -> None:
    await put_stream(chat)
    clock: ManualClock = chat.clock
    await clock.advance(5_000)
    await in_dock(chat, "edit_recap", id=7, text="Bob won.")
    sql = "SELECT recapped_at FROM streams WHERE id = 7"
    assert await chat.db.value(sql) == clock.now()


async def stored_texts(chat: Chat) -> set[str]:
    sql = "SELECT summary FROM episodes UNION SELECT recap FROM streams"
    return set(await chat.db.column(sql)) - {""}


async def test_a_sentence_about_somebody_hidden_stays_theirs(chat: Chat) -> None:
    """The page shows "somebody": stored like that, replies would tell it again."""
    await put_stream(chat)
    async with chat.db.write() as tx:
        await privacy_choices.opt_out(tx, ALICE, chat.clock.now())
    typed = "somebody beat the boss. Bob shaved a beard."
    await in_dock(chat, "edit_summary", id=8, text=typed)
    await in_dock(chat, "edit_recap", id=7, text=typed)
    corrected = f"<@{ALICE}> beat the boss. <@{IDS['bob']}> shaved a beard."
    assert await stored_texts(chat) == {corrected}
    assert "beat the boss" not in await prefix_of(chat.bot)


@pytest.mark.parametrize(("name", "row"), [("edit_recap", 7), ("edit_summary", 8)])
async def test_a_form_that_was_open_during_an_erasure_brings_nobody_back(
    chat: Chat, name: str, row: int
) -> None:
    await put_stream(chat)
    bobs = f"<@{IDS['bob']}> cheered."
    async with chat.db.write() as tx:
        await tx.execute("UPDATE streams SET recap = recap || ' ' || ?", (bobs,))
        await tx.execute("UPDATE episodes SET summary = summary || ' ' || ?", (bobs,))
    shown = "Alice beat the boss. Alice shaved a beard. Bob cheered."
    await erase(chat.db, ALICE, now=chat.clock.now())
    typed = "Alice beat the boss. Alice grew a beard. Bob cheered."
    result = await in_dock(chat, name, id=row, text=typed, shown=shown)
    assert (result.ok, result.code) == (False, "summary_changed")
    assert "Alice" not in " ".join(await stored_texts(chat))


@pytest.mark.parametrize(("name", "row"), [("edit_recap", 7), ("edit_summary", 8)])
async def test_a_form_whose_text_is_still_what_it_showed_is_saved(
    chat: Chat, name: str, row: int
) -> None:
    await put_stream(chat)
    shown = "Alice beat the boss. Alice shaved a beard."
    result = await in_dock(chat, name, id=row, text="Alice won.", shown=shown)
    assert result.ok
    assert f"<@{ALICE}> won." in await stored_texts(chat)


async def test_a_sentence_about_somebody_whom_nothing_is_stored_of_stays(
    chat: Chat,
) -> None:
    await put_stream(chat)
    text = "<@999999> sang. Quiet."
    async with chat.db.write() as tx:
        await tx.execute("UPDATE episodes SET summary = ?", (text,))
    typed = "somebody sang. Loud."
    assert (await in_dock(chat, "edit_summary", id=8, text=typed)).ok
    assert "<@999999> sang. Loud." in await stored_texts(chat)
