"""The one queue: inside the limits, in time, and each message at most once."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Awaitable, Callable

import pytest
from msgspec.structs import replace

from forgetmenot.clock import ManualClock
from forgetmenot.domain import Outcome, OutcomeKind
from forgetmenot.errors import (
    ForgetMeNotError,
    StoreFull,
    TwitchLoginNeeded,
    TwitchRateLimited,
    TwitchUnavailable,
)
from forgetmenot.reply.outbox import Outbox, Outgoing, Sent
from forgetmenot.settings.schema import Settings
from forgetmenot.store import bot_messages
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.database import Database
from tests.stage import FakeChat, working

Settle = Callable[..., Awaitable[None]]
NUMBERS = itertools.count(1)


class Queue:
    """An outbox and what it sends to. `running`: it is worked off meanwhile."""

    def __init__(self, db: Database, clock: ManualClock, chat: FakeChat) -> None:
        self.db = db
        self.clock = clock
        self.chat = chat
        self.overheard: list[tuple[str, str]] = []
        self.box = self.another()

    def another(self) -> Outbox:
        """As after a restart."""
        heard = self.overheard
        return Outbox(
            db=self.db,
            out=self.chat,
            clock=self.clock,
            settings=Settings,
            overhear=lambda *line: heard.append(line),
        )

    async def message(self, text: str, patience: int = 30_000) -> Outgoing:
        async with self.db.write() as tx:
            line = f"e{next(NUMBERS)}"
            row = await bot_messages.begin(
                tx,
                at=0,
                event_id=line,
                viewer_id="1",
                trigger="mention",
                mode="mentions",
            )
        return Outgoing(row, text, self.clock.now() + patience, "e1")

    async def send(self, text: str) -> Sent:
        return await self.box.send(await self.message(text))

    async def sending(
        self, *texts: str, patience: int = 30_000, box: Outbox | None = None
    ) -> list[asyncio.Task[Sent]]:
        messages = [await self.message(text, patience) for text in texts]
        return [asyncio.create_task((box or self.box).send(each)) for each in messages]

    @property
    def texts(self) -> list[str]:
        return [text for _, text, _ in self.chat.said]

    def keeps_within(self, limit: int) -> bool:
        """Whether no window of thirty seconds had more."""
        times = [at for at, _, _ in self.chat.said]
        return all(
            later - earlier >= 30_000
            for earlier, later in zip(times, times[limit:], strict=False)
        )


@pytest.fixture
def still(db: Database, clock: ManualClock, chat: FakeChat) -> Queue:
    return Queue(db, clock, chat)


@pytest.fixture
async def queue(still: Queue) -> AsyncIterator[Queue]:
    async with working(still.box.run()):
        yield still


@pytest.mark.parametrize(("moderator", "limit"), [(False, 20), (True, 100)])
async def test_never_more_than_twitch_allows_in_any_thirty_seconds(
    queue: Queue, settle: Settle, moderator: bool, limit: int
) -> None:
    queue.box.pace.moderates = lambda: moderator
    sending = await queue.sending(
        *(f"line {i}" for i in range(limit + limit // 2)), patience=200_000
    )
    for _ in range(200):
        await asyncio.sleep(0.005)
        if len(queue.texts) >= limit:
            break
    assert len(queue.texts) == limit
    assert queue.box.refusal_reason(queue.clock.now() + 29_000) == "too late"
    assert queue.box.refusal_reason(queue.clock.now() + 31_000) == ""
    await settle(31_000, *sending)
    assert queue.keeps_within(limit)


async def test_the_limits_outlive_a_restart(queue: Queue, settle: Settle) -> None:
    """Twenty lines, a restart, the same twenty again: no place and no text comes back before its thirty seconds."""
    for i in range(20):
        assert (await queue.send(f"line {i}")).status is ReplyStatus.SENT
    await queue.clock.advance(1_000)
    restarted = queue.another()
    await restarted.recover()
    async with working(restarted.run()):
        sending = await queue.sending(
            *(f"Line {i}" for i in range(20)), patience=90_000, box=restarted
        )
        await settle(28_000)
        assert len(queue.texts) == 20
        await settle(4_000, *sending)
    assert len(queue.texts) == 40
    assert queue.keeps_within(20)


async def test_what_was_or_may_have_been_said_is_not_said_again_within_thirty_seconds(
    queue: Queue, settle: Settle
) -> None:
    queue.chat.answers = [
        Outcome(kind)
        for kind in (OutcomeKind.DONE, OutcomeKind.UNKNOWN, OutcomeKind.REFUSED)
    ]
    statuses = [
        (await queue.send(text)).status for text in ("Hello", "Good morning", "bye")
    ]
    assert statuses == [ReplyStatus.SENT, ReplyStatus.UNKNOWN, ReplyStatus.REFUSED]
    for again in ("hello", "good morning"):
        assert await queue.send(again) == Sent(
            ReplyStatus.DROPPED, "it was said just before"
        )
    assert (await queue.send("bye")).status is ReplyStatus.SENT
    await settle(30_000)
    assert (await queue.send("hello")).status is ReplyStatus.SENT


async def test_what_twitch_put_off_is_first_again(queue: Queue, settle: Settle) -> None:
    queue.chat.answers = [TwitchRateLimited("slow down", 4)]
    await settle(5_000, *await queue.sending("one", "two", "three"))
    assert queue.texts == ["one", "one", "two", "three"]


async def test_what_grows_stale_in_the_queue_is_dropped_while_it_waits(
    queue: Queue, settle: Settle
) -> None:
    for i in range(20):
        await queue.send(f"line {i}")
    [waiting] = await queue.sending("late", patience=5_000)
    await settle(8_000)
    assert await waiting == Sent(ReplyStatus.DROPPED, "too late")
    assert len(queue.texts) == 20


async def test_answers_about_somebodys_own_data_go_first_and_are_not_too_late(
    queue: Queue, settle: Settle
) -> None:
    """Where sending is crowded: 20 places are taken, replies wait, and 30 people asked to be forgotten."""
    for number in range(20):
        await queue.send(f"line {number}")
    replies = await queue.sending("reply one", "reply two", patience=200_000)
    await asyncio.sleep(0)
    wishes = [
        asyncio.create_task(
            queue.box.say_line("Done.", reply_to=f"w{number}", is_urgent=True)
        )
        for number in range(30)
    ]
    await settle(29_000)
    assert len(queue.texts) == 20
    await settle(100_000, *replies, *wishes)
    assert {wish.result().status for wish in wishes} == {ReplyStatus.SENT}
    assert [text[:4] for text in queue.texts[20:]] == ["Done"] * 30 + ["repl"] * 2
    assert queue.keeps_within(20)


async def test_every_answer_of_twitch_is_kept(queue: Queue) -> None:
    answers: tuple[tuple[Outcome | ForgetMeNotError, Sent], ...] = (
        (
            Outcome(OutcomeKind.REFUSED, "held by AutoMod"),
            Sent(ReplyStatus.REFUSED, "held by AutoMod"),
        ),
        (TwitchUnavailable("no network"), Sent(ReplyStatus.REFUSED, "no network")),
        (TwitchLoginNeeded("log in"), Sent(ReplyStatus.REFUSED, "log in")),
        (
            Outcome(OutcomeKind.UNKNOWN, "no answer"),
            Sent(ReplyStatus.UNKNOWN, "no answer"),
        ),
    )
    for answer, sent in answers:
        queue.chat.answers = [answer]
        assert await queue.send("hello") == sent
    await queue.box.seen_in_chat("something else")
    await queue.box.seen_in_chat("hello")  # proof that the last one was delivered
    message = (await bot_messages.listing(queue.db, 1))[0]
    assert (message.status, message.detail) == (ReplyStatus.SENT, "seen in chat")


async def test_after_a_crash_nothing_is_sent_again(still: Queue) -> None:
    """Killed between the call and its answer: the row says `sending`, then `unknown`, and never goes out again."""
    still.chat.gate = asyncio.Event()
    going = await still.message("hello")
    async with working(still.box.run()):
        sending = asyncio.create_task(still.box.send(going))
        queued = asyncio.create_task(still.send("next"))
        while not still.texts:  # noqa: ASYNC110  # it tells nobody
            await asyncio.sleep(0.001)
    assert (await sending).status is ReplyStatus.UNKNOWN
    assert (await queued).status is ReplyStatus.DROPPED
    restarted = still.another()
    assert await restarted.recover() == 1
    message = await bot_messages.get(still.db, going.reply_id)
    assert message is not None
    assert message.status is ReplyStatus.UNKNOWN
    still.chat.gate = None
    async with working(restarted.run()):
        assert (
            await restarted.send(await still.message("hello"))
        ).detail == "it was said just before"
        await still.clock.advance(
            30_000
        )  # its text could go out again now, and yet that message does not
        assert (await restarted.send(going)).detail == "it was said just before"
    assert len(still.texts) == 1


async def test_without_a_disk_nothing_is_sent(
    queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A message whose row cannot be written could go out twice after a crash, so it does not go out."""

    async def full(*_: object, **__: object) -> bool:
        raise StoreFull("The disk is full.")

    message = await queue.message("hello")
    monkeypatch.setattr(bot_messages, "record_sending", full)
    assert await queue.box.send(message) == Sent(
        ReplyStatus.DROPPED, "The disk is full."
    )
    assert queue.texts == []


async def test_whoever_asks_the_same_hears_the_answer(queue: Queue) -> None:
    for viewer in ("1", "2", "2"):
        assert (
            await queue.box.say_line("Done: erased.", viewer_id=viewer)
        ).status is ReplyStatus.SENT
    long = "a" * 500
    await asyncio.gather(queue.box.say_line(long), queue.box.say_line(long))
    assert queue.texts == [
        "Done: erased.",
        "Done: erased. (2)",
        "Done: erased. (3)",
        long,
        f"{long[:490]} (2)",
    ]


@pytest.mark.parametrize("column", ["opted_out_at", "banned_at"])
async def test_an_answer_to_somebody_who_is_not_stored_leaves_nothing_of_them(
    queue: Queue, column: str
) -> None:
    async with queue.db.write() as tx:
        await tx.insert(
            "INSERT INTO viewers (id, first_seen_at, last_seen_at) VALUES ('3', 0, 0)"
        )
        await tx.execute(f"UPDATE viewers SET {column} = 1 WHERE id = '3'")  # noqa: S608  # a column of ours
    await queue.box.say_line(
        "You asked about lanternmoss.", reply_to="e3", viewer_id="3"
    )
    await queue.box.say_line("Hello, everybody.")
    assert queue.texts == ["You asked about lanternmoss.", "Hello, everybody."]
    assert [text for text, _id in queue.overheard] == ["Hello, everybody."]
    rows = await queue.db.rows(
        "SELECT viewer_id, event_id, text, status FROM bot_messages ORDER BY id"
    )
    assert [tuple(row) for row in rows] == [
        (None, None, "", "sent"),
        (None, None, "Hello, everybody.", "sent"),
    ]


async def test_three_people_who_say_hello_get_three_answers(queue: Queue) -> None:
    """Twitch refuses the same words within 30 s: then the name stands in front, or a number behind."""
    for name in ("Alice", "Bob", "Bob"):
        message = replace(
            await queue.message("Hello! Nice to see you."), addressee=name
        )
        assert (await queue.box.send(message)).status is ReplyStatus.SENT
    assert queue.texts == [
        "Hello! Nice to see you.",
        "@Bob Hello! Nice to see you.",
        "@Bob Hello! Nice to see you. (2)",
    ]


async def test_an_answer_with_a_name_in_front_fits_into_a_message(queue: Queue) -> None:
    for name in ("Alice", "Bob"):
        message = replace(await queue.message("x" * 500), addressee=name)
        assert (await queue.box.send(message)).status is ReplyStatus.SENT
    assert [len(text) for text in queue.texts] == [500, 500]


async def test_what_it_says_to_nobody_is_not_said_twice(queue: Queue) -> None:
    sent = [await queue.send("Welcome, raiders!") for _ in range(2)]
    assert [each.status for each in sent] == [ReplyStatus.SENT, ReplyStatus.DROPPED]
