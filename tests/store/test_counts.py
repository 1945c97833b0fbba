"""Totals of a run, and what model calls cost and teach."""

from forgetmenot.clock import MINUTE, ManualClock
from forgetmenot.domain import NoteStatus, Purpose, Scope, SourceKind, TokenUsage
from forgetmenot.settings.prices import Used
from forgetmenot.store import bot_messages, notes
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.counts import LineCounts, Meter, gained, highest_ids, spent
from forgetmenot.store.database import Database
from forgetmenot.store.notes import NewNote
from tests.rows import put


async def learn(db: Database, fact: str) -> int:
    async with db.write() as tx:
        new = NewNote(Scope.CHANNEL, None, fact, 0.8, SourceKind.OBSERVED, 1)
        return await notes.insert(tx, new, cause="test", now=1)


async def answer(db: Database, status: ReplyStatus, estimated: int) -> None:
    async with db.write() as tx:
        row = await bot_messages.begin(tx, at=1, event_id=None, viewer_id=None, trigger="name", mode="shadow")
        usage = {"estimated": estimated}
        await bot_messages.record_answer(tx, row, model="fake", latency_ms=1, usage=usage, filters=())
        await bot_messages.settle(tx, row, status)


def test_a_line_that_was_covered_before_and_is_cleared_since_was_not_added() -> None:
    before = LineCounts(9, 9, 0, 0, 0, 0, 0, covered=9, uncovered=0, redacted=0, pruned_unread=0)
    after = LineCounts(10, 10, 0, 0, 0, 0, 0, covered=7, uncovered=0, redacted=3, pruned_unread=0)
    added = after.since(before)
    assert (added.covered, added.redacted, added.balanced) == (0, 1, True)


async def test_what_came_since_is_counted_though_older_rows_are_deleted_meanwhile(
    db: Database, clock: ManualClock
) -> None:
    await answer(db, ReplyStatus.SENT, 100)
    before = await highest_ids(db)
    for status in (ReplyStatus.SENT, ReplyStatus.SHADOW, ReplyStatus.DROPPED):
        await answer(db, status, 100)
    meter = Meter(db, clock)
    await meter.record(Purpose.REPLY, "fake", TokenUsage(1_000, 600, 20, 0), 5, None)
    await meter.record(Purpose.SUMMARY, "fake", TokenUsage(), 5, "ModelUnavailable")
    old, new = await learn(db, "the boss has three phases"), await learn(db, "the boss has four phases")
    async with db.write() as tx:
        note = await notes.get(tx, old)
        assert note is not None
        await notes.set_status(tx, note, NoteStatus.SUPERSEDED, at=2, cause="test", superseded_by=new)
        for number, (verdict, status_) in enumerate((("allow", "done"), ("deny", "denied"))):
            await put(tx, "action_logs", key=str(number), verdict=verdict, rule="test", reason="test", status=status_)
        await bot_messages.prune(tx, "bot_messages", before=2, limit=1)
    told = await gained(db, before)
    assert told == {
        "episodes": 0, "notes": 2, "superseded": 1, "replies": 2, "proposed": 2, "executed": 1, "llm_calls": 2,
    }  # fmt: skip


async def test_calls_are_summed_by_model_and_time(db: Database, clock: ManualClock) -> None:
    meter, start = Meter(db, clock), clock.now()
    await meter.record(Purpose.REPLY, "m", TokenUsage(1_000, 600, 20, 5), 800, None)
    await clock.advance(MINUTE)
    await meter.record(Purpose.REPLY, "m", TokenUsage(), 12_000, "ModelUnavailable")
    await meter.record(Purpose.SUMMARY, "n", TokenUsage(2_000, None, 100, None), 900, None)
    assert await spent(db, since=0) == {"m": Used(1_000, 600, 25), "n": Used(2_000, 0, 100)}
    assert await spent(db, since=start + 1) == {"m": Used(0, 0, 0), "n": Used(2_000, 0, 100)}
