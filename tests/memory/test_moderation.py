"""What moderators did: events of the channel, shown to moderators alone, and never a fact about a person."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from forgetmenot.app.bot import Bot
from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChannelState, EventKind, Redaction
from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND
from forgetmenot.memory.transcript import participations, transcript
from forgetmenot.people.handles import Handles
from forgetmenot.settings.schema import Settings
from forgetmenot.store import (
    channel_state,
    data_export,
    dock_rows,
    events,
    person_deletion,
    privacy_choices,
)
from forgetmenot.store.invariants import verify
from tests.reply.test_happened import block, prompt
from tests.stage import live_bot, said

ALICE = "771234501"
CAROL = "771234505"
OWNER = "771234500"


@pytest.fixture
async def bot(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Bot]:
    async with live_bot(tmp_path / "memory.sqlite3", clock, Settings) as (
        bot,
        _account,
    ):
        await channel_state.claim(bot.db, OWNER, "demo", clock.now())
        await bot.channel_is(ChannelState(True, "Boss rush", "Hades", clock.now()))
        for viewer_id, login in ((ALICE, "alicequux"), (CAROL, "carolquux")):
            await bot.hear(
                said(clock, f"line-{login}", viewer_id, login, "hello everybody")
            )
        await clock.advance(SECOND)
        yield bot


async def moderate(bot: Bot, clock: ManualClock) -> None:
    """Alice is banned, a stranger timed out, a line of Carol's deleted."""
    await bot.hear(Redaction(clock.now(), user_id=ALICE))
    await bot.hear(Redaction(clock.now(), user_id="5555", duration_s=600))
    await bot.hear(Redaction(clock.now(), event_id="line-carolquux"))
    await bot.settle()


async def test_an_act_is_stored_with_whom_it_hit_if_they_are_known(
    bot: Bot, clock: ManualClock
) -> None:
    await moderate(bot, clock)
    rows = await bot.db.rows(
        "SELECT viewer_id, target_id, system_text FROM events WHERE kind = ? ORDER BY seq",
        (EventKind.MODERATION,),
    )
    assert [tuple(row) for row in rows] == [
        (OWNER, ALICE, "was banned"),
        (OWNER, None, "was timed out for 10 min"),
        (OWNER, CAROL, "had a message deleted"),
    ]
    assert await bot.db.value("SELECT count(*) FROM viewers WHERE id = '5555'") == 0
    assert await verify(bot.db, now=clock.now()) == []


async def test_only_a_moderators_prompt_has_it(bot: Bot, clock: ManualClock) -> None:
    await moderate(bot, clock)
    answer_prompt = await prompt(bot, clock, "who was just banned?")
    assert "was banned" not in answer_prompt.prefix + answer_prompt.tail
    answer_prompt = await prompt(bot, clock, "who was just banned?", "moderator")
    assert "Alicequux was banned" in block(answer_prompt, "moderation")
    assert "somebody was timed out for 10 min" in block(answer_prompt, "moderation")
    event_rows = set[int]()
    for section in answer_prompt.sections:
        event_rows |= {seq for table, seq in section.rows if table == "events"}
    acts = await bot.db.column("SELECT seq FROM events WHERE kind = 'moderation'")
    assert not event_rows & set(acts)
    assert "banned" not in str(await dock_rows.lines(bot.db, 50))


async def test_a_summary_is_given_numbers_and_nobody(
    bot: Bot, clock: ManualClock
) -> None:
    await moderate(bot, clock)
    await bot.hear(Redaction(clock.now() + SECOND, user_id=CAROL, duration_s=10))
    await bot.hear(said(clock, "line-late", CAROL, "carolquux", "sorry"))
    await bot.settle()
    window = await events.unread(bot.db)
    handles = Handles.of(list(participations(window)))
    written = transcript(window, handles)
    assert written[-1] == (
        "* Moderators: one person was banned, 2 people were timed out, one message was deleted."
    )
    assert OWNER not in participations(window)
    assert "banned" not in "".join(written[:-1])


async def test_an_erasure_and_an_opt_out_leave_no_id_of_theirs(
    bot: Bot, clock: ManualClock
) -> None:
    await moderate(bot, clock)
    exported = await data_export.export(bot.db, CAROL)
    assert [row["system_text"] for row in exported["moderation"]] == [
        "had a message deleted"
    ]
    async with bot.db.write() as tx:
        await privacy_choices.opt_out(tx, CAROL, clock.now())
        await person_deletion.delete_chat(tx, ALICE)
    ids = await bot.db.column("SELECT id FROM events WHERE kind = 'moderation'")
    assert not [
        viewer_id
        for viewer_id in ids
        if CAROL in viewer_id or ALICE in viewer_id or "5555" in viewer_id
    ]
    assert await bot.db.column(
        "SELECT target_id FROM events WHERE kind = 'moderation'"
    ) == [
        None,
        None,
    ]


async def test_clearing_the_chat_keeps_the_acts_for_a_day(
    bot: Bot, clock: ManualClock
) -> None:
    await moderate(bot, clock)
    await bot.hear(Redaction(clock.now() + SECOND))
    await bot.settle()
    acts = "SELECT count(*) FROM events WHERE kind = 'moderation' AND system_text <> ''"
    assert await bot.db.value(acts) == 4
    await clock.advance(DAY - HOUR)
    await bot.tasks.catch_up()
    await clock.advance(HOUR + 5 * MINUTE)
    await bot.tasks.catch_up()
    assert (
        await bot.db.value("SELECT count(*) FROM events WHERE kind = 'moderation'") == 0
    )
