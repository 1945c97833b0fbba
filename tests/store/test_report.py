"""Totals, and what was added between two of them."""

from forgetmenot.clock import ManualClock
from forgetmenot.domain.memory import NoteStatus, Scope, SourceKind
from forgetmenot.domain.model import Purpose, TokenUsage
from forgetmenot.store import bot_messages, notes, tally
from forgetmenot.store.bot_messages import Status
from forgetmenot.store.database import Database
from forgetmenot.store.model_calls import Meter
from forgetmenot.store.notes import NewNote
from forgetmenot.store.report import Totals, totals

NOTHING = Totals(*[0] * 14)


async def learn(db: Database, fact: str) -> int:
    async with db.write() as tx:
        new = NewNote(Scope.CHANNEL, None, fact, 0.8, SourceKind.OBSERVED, 1)
        return await notes.insert(tx, new, cause="test", now=1)


async def answer(db: Database, status: Status, estimated: int) -> None:
    async with db.write() as tx:
        row = await bot_messages.begin(tx, at=1, event_id=None, viewer_id=None, trigger="name", mode="shadow")
        usage = {"estimated": estimated}
        await bot_messages.record_answer(tx, row, model="fake", latency_ms=1, usage=usage, filters=())
        await bot_messages.settle(tx, row, status)


async def test_an_empty_memory_has_come_to_nothing(db: Database) -> None:
    assert await totals(db) == NOTHING


async def test_a_note_that_was_superseded_and_one_that_was_deleted_were_both_written(db: Database) -> None:
    before = await totals(db)
    old, new = await learn(db, "the boss has three phases"), await learn(db, "the boss has four phases")
    async with db.write() as tx:
        note = await notes.get(tx, old)
        assert note is not None
        await notes.set_status(tx, note, NoteStatus.SUPERSEDED, at=2, cause="test", superseded_by=new)
    gone = await learn(db, "somebody wants this to be forgotten")
    async with db.write() as tx:
        await tx.execute("DELETE FROM semantic_notes WHERE id = ?", (gone,))
    added = (await totals(db)).since(before)
    assert (added.notes, added.superseded) == (3, 1)


async def test_replies_are_those_that_were_said_or_only_thought(db: Database) -> None:
    for status in Status:
        await answer(db, status, 100)
    told = await totals(db)
    assert told.replies == 2
    assert told.estimated == 100 * len(Status)


async def test_calls_to_models_count_with_what_was_billed(db: Database, clock: ManualClock) -> None:
    meter = Meter(db, clock)
    await meter.record(Purpose.REPLY, "fake", TokenUsage(1_000, 600, 20, 0), 5, None)
    before = await totals(db)
    await meter.record(Purpose.SUMMARY, "fake", TokenUsage(300, 0, 20, 0), 5, None)
    await meter.record(Purpose.SUMMARY, "fake", TokenUsage(), 5, "ModelUnavailable")
    added = (await totals(db)).since(before)
    assert (added.llm_calls, added.billed_in_all) == (2, 300)


async def test_the_tokens_told_are_those_of_replies(db: Database, clock: ManualClock) -> None:
    meter = Meter(db, clock)
    await meter.record(Purpose.REPLY, "fake", TokenUsage(1_000, 600, 20, 0), 5, None)
    await meter.record(Purpose.SUMMARY, "fake", TokenUsage(300, 100, 20, 0), 5, None)
    told = await totals(db)
    assert (told.billed, told.cached, told.billed_in_all) == (1_000, 600, 1_300)


async def test_actions_count_by_what_was_decided_and_by_what_was_done(db: Database) -> None:
    decided = (("allow", "done"), ("allow_changed", "failed"), ("ask", "undone"), ("deny", "denied"))
    async with db.write() as tx:
        for number, (verdict, status) in enumerate(decided):
            await tx.execute(
                "INSERT INTO action_logs (at, key, name, class, params_json, verdict, rule, reason, status)"
                " VALUES (1, ?, 'clip', 'A', '{}', ?, 'test', 'test', ?)",
                (str(number), verdict, status),
            )
    told = await totals(db)
    assert (told.proposed, told.allowed, told.denied, told.executed) == (4, 2, 1, 2)


async def test_of_the_tokens_those_of_the_unchanged_prefix_are_counted(db: Database) -> None:
    """Of replies that have a prompt and an estimate alone: both halves of the share are of the same replies."""
    await answer(db, Status.SENT, 1_000)
    async with db.write() as tx:
        await bot_messages.record_prompt(tx, 1, {"prefix_tokens": 600})
        row = await bot_messages.begin(tx, at=1, event_id=None, viewer_id=None, trigger="name", mode="shadow")
        await bot_messages.record_prompt(tx, row, {"prefix_tokens": 600})
        await bot_messages.settle(tx, row, Status.SILENT)
    told = await totals(db)
    assert (told.estimated, told.prefix) == (1_000, 600)


async def test_what_was_deleted_since_still_counts(db: Database, clock: ManualClock) -> None:
    """Pruned after its days, or erased with a person: it happened."""
    await tally.begin_run(db, "test", 1)
    for status in (Status.SENT, Status.SHADOW, Status.DROPPED):
        await answer(db, status, 100)
    meter = Meter(db, clock)
    await meter.record(Purpose.REPLY, "fake", TokenUsage(1_000, 600, 20, 0), 5, None)
    await meter.record(Purpose.SUMMARY, "fake", TokenUsage(), 5, "ModelUnavailable")
    old, new = await learn(db, "the boss has three phases"), await learn(db, "the boss has four phases")
    async with db.write() as tx:
        await bot_messages.record_prompt(tx, 1, {"prefix_tokens": 60})
        note = await notes.get(tx, old)
        assert note is not None
        await notes.set_status(tx, note, NoteStatus.SUPERSEDED, at=2, cause="test", superseded_by=new)
        for number, (verdict, status_) in enumerate((("allow", "done"), ("deny", "denied"))):
            await tx.execute(
                "INSERT INTO action_logs (at, key, name, class, params_json, verdict, rule, reason, status)"
                " VALUES (1, ?, 'clip', 'A', '{}', ?, 'test', 'test', ?)",
                (str(number), verdict, status_),
            )
    told = await totals(db)
    assert told == Totals(0, 2, 1, 2, 2, 1, 1, 1, 2, 300, 60, 1_000, 600, 1_000)
    async with db.write() as tx:
        await tx.execute("DELETE FROM bot_messages")
        await tx.execute("DELETE FROM action_logs")
        await tx.execute("DELETE FROM semantic_notes")
        await tx.execute("DELETE FROM model_calls")
    assert await totals(db) == told
