"""What the bot said and did not say, as it is kept."""

import itertools

from msgspec.structs import replace

from forgetmenot.clock import DAY
from forgetmenot.store import action_logs, bot_messages, viewers
from forgetmenot.store.action_logs import ActionStatus, NewAction
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.database import Database

NUMBERS = itertools.count(1)


async def said(db: Database, text: str, status: ReplyStatus, *, at: int = 1_000) -> None:
    async with db.write() as tx:
        await viewers.add_unseen(tx, {"1": "alice"}, 1)
        line = f"e{next(NUMBERS)}"
        row = await bot_messages.begin(tx, at=at, event_id=line, viewer_id="1", trigger="mention", mode="mentions")
        await bot_messages.settle(tx, row, status, "because", text=text)


async def test_only_what_went_out_counts_as_said(db: Database) -> None:
    """And a line whose words were taken away takes no place in a prompt."""
    for status in ReplyStatus:
        await said(db, f"it was {status}", status)
    await said(db, "", ReplyStatus.SENT)
    for limit, to, found in ((10, None, ["it was sent"]), (1, "1", ["it was sent"]), (10, "2", [])):
        assert [line.text for line in await bot_messages.said_lately(db, limit, 0, to)] == found


async def test_old_rows_go_but_not_those_in_the_middle_of_sending(db: Database) -> None:
    await said(db, "old", ReplyStatus.SENT, at=1)
    await said(db, "open", ReplyStatus.SENDING, at=1)
    await said(db, "new", ReplyStatus.SENT, at=100)
    async with db.write() as tx:
        assert await bot_messages.prune(tx, "bot_messages", 50, 9) == 1
    assert [kept.text for kept in await bot_messages.listing(db, 5)] == ["new", "open"]


async def test_a_line_of_chat_is_answered_at_most_once(db: Database) -> None:
    """Also by another reply, and whatever the first one's fate was; a refusal may be tried again."""
    for fate, again in (
        (ReplyStatus.SENT, False),
        (ReplyStatus.UNKNOWN, False),
        (ReplyStatus.SENDING, False),
        (ReplyStatus.REFUSED, True),
    ):
        async with db.write() as tx:
            first, second = [
                await bot_messages.begin(tx, at=0, event_id=fate, viewer_id=None, trigger="mention", mode="live")
                for _ in range(2)
            ]
            assert await bot_messages.record_sending(tx, first, "hello", 0)
            await bot_messages.settle(tx, first, fate)
        assert await bot_messages.is_answered(db, fate) is not again
        async with db.write() as tx:
            assert await bot_messages.record_sending(tx, second, "hello again", 0) is again


NEW = NewAction(
    key="k",
    at=1_000,
    name="clip",
    kind="A",
    params={"text": "x"},
    verdict="allow",
    rule="allowed",
    reason="Allowed.",
    status=ActionStatus.RUNNING,
    asked_by="nobody-stored",
)


async def test_old_rows_go_but_not_what_is_still_to_do(db: Database) -> None:
    async with db.write() as tx:
        await action_logs.insert(tx, replace(NEW, key="done", status=ActionStatus.DONE))
        await action_logs.insert(tx, replace(NEW, key="due", status=ActionStatus.DONE, revert_at=2_000))
        await action_logs.insert(
            tx, replace(NEW, key="waits", status=ActionStatus.WAITING, verdict="ask", expires_at=9)
        )
        await action_logs.insert(tx, replace(NEW, key="no", status=ActionStatus.DENIED, verdict="deny"))
    async with db.write() as tx:
        assert await bot_messages.prune(tx, "action_logs", DAY, 9) == 2
    assert {row.key for row in await action_logs.latest(db, 9)} == {"due", "waits"}
