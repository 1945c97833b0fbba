"""The one queue: inside the limits, fair, in time, and each message at most once."""

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from forgetmenot.clock import ManualClock
from forgetmenot.domain import Outcome, OutcomeKind
from forgetmenot.errors import ForgetMeNotError, StoreFull, TwitchLoginNeeded, TwitchRateLimited, TwitchUnavailable
from forgetmenot.reply.outbox import Outbox, Outgoing, SendRateLimiter, Sent
from forgetmenot.settings.schema import Settings
from forgetmenot.store import bot_messages
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.database import Database
from tests.stage import FakeChat

Move = Callable[..., Awaitable[None]]
NUMBERS = itertools.count(1)


async def message(db: Database, clock: ManualClock, text: str, patience: int = 30_000) -> Outgoing:
    async with db.write() as tx:
        line = f"e{next(NUMBERS)}"
        row = await bot_messages.begin(tx, at=0, event_id=line, viewer_id="1", trigger="mention", mode="mentions")
    return Outgoing(row, text, clock.now() + patience, "e1")


@pytest.mark.parametrize(("moderator", "limit"), [(False, 20), (True, 100)])
async def test_never_more_than_twitch_allows_in_any_thirty_seconds(
    db: Database, clock: ManualClock, outbox: Outbox, chat: FakeChat, settle: Move, moderator: bool, limit: int
) -> None:
    outbox.pace.wide = lambda: moderator
    messages = [await message(db, clock, f"line {i}", 200_000) for i in range(limit + limit // 2)]
    sending = [asyncio.create_task(outbox.send(each)) for each in messages]
    for _ in range(200):
        await asyncio.sleep(0.005)
        if len(chat.said) >= limit:
            break
    assert len(chat.said) == limit
    assert outbox.refusal_reason(clock.now() + 29_000) == "too late"
    assert outbox.refusal_reason(clock.now() + 31_000) == ""
    await settle(31_000, *sending)
    await asyncio.gather(*sending)
    times = [at for at, _, _ in chat.said]
    assert all(later - earlier >= 30_000 for earlier, later in zip(times, times[limit:], strict=False))


async def test_what_went_out_is_overheard_unless_it_is_not_to_be_kept(
    db: Database, clock: ManualClock, chat: FakeChat
) -> None:
    overheard: list[tuple[str, str]] = []
    box = Outbox(db=db, out=chat, clock=clock, settings=Settings, overhear=lambda *said: overheard.append(said))
    chat.answers = [Outcome(OutcomeKind.DONE, twitch_id="t1"), Outcome(OutcomeKind.REFUSED, "no")]
    messages = [await message(db, clock, text) for text in ("one", "refused", "two")]
    messages[2] = replace(messages[2], kept=False)
    sending = [asyncio.create_task(box.send(each)) for each in messages]
    await asyncio.sleep(0)
    for _ in messages:
        await box.step()
    await asyncio.gather(*sending)
    assert [text for _, text, _ in chat.said] == ["one", "refused", "two"]
    assert overheard == [("one", "t1")]
    rows = await db.rows("SELECT text, status FROM bot_messages ORDER BY id")
    assert [tuple(row) for row in rows] == [("one", "sent"), ("refused", "refused"), ("", "sent")]


async def test_what_was_or_may_have_been_said_is_not_said_again_within_thirty_seconds(
    db: Database, clock: ManualClock, outbox: Outbox, chat: FakeChat, settle: Move
) -> None:
    async def send(text: str) -> Sent:
        return await outbox.send(await message(db, clock, text))

    chat.answers = [
        Outcome(OutcomeKind.DONE), Outcome(OutcomeKind.UNKNOWN, "no answer"), Outcome(OutcomeKind.REFUSED, "no"),
    ]  # fmt: skip
    assert (await send("Hello")).status is ReplyStatus.SENT
    assert (await send("Good morning")).status is ReplyStatus.UNKNOWN
    assert (await send("bye")).status is ReplyStatus.REFUSED
    for again in ("hello", "good morning"):
        assert await send(again) == Sent(ReplyStatus.DROPPED, "it was said just before")
    assert (await send("bye")).status is ReplyStatus.SENT
    await settle(30_000)
    assert (await send("hello")).status is ReplyStatus.SENT


async def test_what_twitch_put_off_is_first_again(
    db: Database, clock: ManualClock, outbox: Outbox, chat: FakeChat, settle: Move
) -> None:
    chat.answers = [TwitchRateLimited("slow down", 4)]
    messages = [await message(db, clock, text) for text in ("one", "two", "three")]
    sending = [asyncio.create_task(outbox.send(each)) for each in messages]
    await settle(5_000, *sending)
    await asyncio.gather(*sending)
    assert [text for _, text, _ in chat.said] == ["one", "one", "two", "three"]


async def test_what_grows_stale_in_the_queue_is_dropped_while_it_waits(
    db: Database, clock: ManualClock, outbox: Outbox, chat: FakeChat, settle: Move
) -> None:
    for i in range(20):
        await outbox.send(await message(db, clock, f"line {i}"))
    waiting = asyncio.create_task(outbox.send(await message(db, clock, "late", patience=5_000)))
    await settle(8_000)
    assert await waiting == Sent(ReplyStatus.DROPPED, "too late")
    assert len(chat.said) == 20


async def test_every_answer_of_twitch_is_kept(db: Database, clock: ManualClock, outbox: Outbox, chat: FakeChat) -> None:
    answers: tuple[tuple[Outcome | ForgetMeNotError, Sent], ...] = (
        (Outcome(OutcomeKind.REFUSED, "held by AutoMod"), Sent(ReplyStatus.REFUSED, "held by AutoMod")),
        (Outcome(OutcomeKind.FAILED, "odd"), Sent(ReplyStatus.REFUSED, "odd")),
        (TwitchUnavailable("no network"), Sent(ReplyStatus.REFUSED, "no network")),
        (TwitchLoginNeeded("log in"), Sent(ReplyStatus.REFUSED, "log in")),
        (Outcome(OutcomeKind.UNKNOWN, "no answer"), Sent(ReplyStatus.UNKNOWN, "no answer")),
    )
    for answer, sent in answers:
        chat.answers = [answer]
        assert await outbox.send(await message(db, clock, "hello")) == sent
    await outbox.seen_in_chat("something else")
    await outbox.seen_in_chat("hello")  # proof that the last one was delivered
    kept = (await bot_messages.listing(db, 1))[0]
    assert (kept.status, kept.detail) == (ReplyStatus.SENT, "seen in chat")


async def test_after_a_crash_nothing_is_sent_again(db: Database, clock: ManualClock, chat: FakeChat) -> None:
    """Killed between the call and its answer: the row says `sending`, then `unknown`, and never goes out again."""
    chat.held = asyncio.Event()
    box = Outbox(db=db, out=chat, clock=clock, settings=Settings)
    worker = asyncio.create_task(box.run())
    going = await message(db, clock, "hello")
    sending = asyncio.create_task(box.send(going))
    queued = asyncio.create_task(box.send(await message(db, clock, "next")))
    while not chat.said:  # noqa: ASYNC110  # it tells nobody
        await asyncio.sleep(0.001)
    worker.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await worker
    assert (await sending).status is ReplyStatus.UNKNOWN
    assert (await queued).status is ReplyStatus.DROPPED
    restarted = Outbox(db=db, out=chat, clock=clock, settings=Settings)
    assert await restarted.recover() == 1
    kept = await bot_messages.get(db, going.reply_id)
    assert kept is not None
    assert kept.status is ReplyStatus.UNKNOWN
    await clock.advance(30_000)  # before that the text itself would be kept from going out
    again = asyncio.create_task(restarted.send(going))
    await asyncio.sleep(0)
    await restarted.step()
    assert (await again).detail == "it was said just before"
    assert len(chat.said) == 1


async def test_the_limits_outlive_a_restart(
    db: Database, clock: ManualClock, outbox: Outbox, chat: FakeChat, settle: Move
) -> None:
    """Twenty lines, a restart, the same twenty again: no place and no text comes back before its thirty seconds."""
    for i in range(20):
        assert (await outbox.send(await message(db, clock, f"line {i}"))).status is ReplyStatus.SENT
    await clock.advance(1_000)
    restarted = Outbox(db=db, out=chat, clock=clock, settings=Settings)
    await restarted.recover()
    worker = asyncio.create_task(restarted.run())
    sending = [
        asyncio.create_task(restarted.send(await message(db, clock, f"Line {i}", patience=90_000))) for i in range(20)
    ]
    await settle(28_000)
    assert len(chat.said) == 20
    await settle(4_000, *sending)
    await asyncio.gather(*sending)
    assert len(chat.said) == 40
    times = [at for at, _, _ in chat.said]
    assert all(later - earlier >= 30_000 for earlier, later in zip(times, times[20:], strict=False))
    worker.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await worker


async def test_without_a_disk_nothing_is_sent(
    db: Database, clock: ManualClock, chat: FakeChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message whose row cannot be written could go out twice after a crash, so it does not go out."""

    async def full(*_: object, **__: object) -> bool:
        raise StoreFull("The disk is full.")

    box = Outbox(db=db, out=chat, clock=clock, settings=Settings)
    sending = asyncio.create_task(box.send(await message(db, clock, "hello")))
    await asyncio.sleep(0)
    monkeypatch.setattr(bot_messages, "record_sending", full)
    await box.step()
    assert await sending == Sent(ReplyStatus.DROPPED, "The disk is full.")
    assert chat.said == []


async def test_whoever_asks_the_same_hears_the_answer(outbox: Outbox, chat: FakeChat) -> None:
    for viewer in ("1", "2", "2"):
        sent = await outbox.say_line("Done: nothing is stored of you.", viewer_id=viewer)
        assert sent.status is ReplyStatus.SENT
    long = "a" * 500
    await asyncio.gather(outbox.say_line(long), outbox.say_line(long))
    assert [text for _, text, _ in chat.said] == [
        "Done: nothing is stored of you.",
        "Done: nothing is stored of you. (2)",
        "Done: nothing is stored of you. (3)",
        long,
        f"{long[:490]} (2)",
    ]


async def test_a_quarter_of_the_places_is_kept_for_replies(outbox: Outbox, chat: FakeChat, settle: Move) -> None:
    answers = [asyncio.create_task(outbox.say_line(f"answer {i}", viewer_id=str(i), spare=True)) for i in range(30)]
    await settle(100)
    statuses = [(await answer).status for answer in answers]
    assert statuses.count(ReplyStatus.SENT) == len(chat.said) == 15
    assert (await outbox.say_line("a moderator's answer")).status is ReplyStatus.SENT
    await settle(31_000)
    assert (await outbox.say_line("later again", spare=True)).status is ReplyStatus.SENT


@pytest.mark.parametrize("column", ["opted_out_at", "banned_at"])
async def test_an_answer_to_somebody_who_is_not_stored_leaves_nothing_of_them(
    db: Database, outbox: Outbox, chat: FakeChat, column: str
) -> None:
    async with db.write() as tx:
        await tx.insert("INSERT INTO viewers (id, first_seen_at, last_seen_at) VALUES ('3', 0, 0)")
        await tx.execute(f"UPDATE viewers SET {column} = 1 WHERE id = '3'")  # noqa: S608  # a column of ours
    await outbox.say_line("You asked about lanternmoss.", reply_to="e3", viewer_id="3")
    assert [text for _, text, _ in chat.said] == ["You asked about lanternmoss."]
    rows = await db.rows("SELECT viewer_id, event_id, text, status FROM bot_messages")
    assert [tuple(row) for row in rows] == [(None, None, "", "sent")]


@given(st.integers(1, 20), st.integers(0, 60))
def test_who_waits_behind_others_gets_their_place_when_those_are_gone(limit: int, ahead: int) -> None:
    pace, waiting = SendRateLimiter(limit), SendRateLimiter(limit)
    for _ in range(ahead):
        pace.call_begins(pace.free_at(0, 0))
    assert waiting.free_at(0, ahead) == pace.free_at(0, 0)
    waiting.pause_until(10**6)  # as Twitch asked: although there may be places
    assert waiting.free_at(0, 0) == 10**6
