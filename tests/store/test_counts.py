"""Totals of a run, and what model calls cost."""

from forgetmenot.clock import MINUTE, ManualClock
from forgetmenot.domain import Purpose, TokenUsage
from forgetmenot.settings.prices import Used
from forgetmenot.store import bot_messages
from forgetmenot.store.counts import Meter, gained, highest_ids, spent
from forgetmenot.store.database import Database
from tests.rows import put


async def test_what_came_since_is_counted_though_older_rows_are_deleted_meanwhile(db: Database) -> None:
    async with db.write() as tx:
        await put(tx, "bot_messages")
    before = await highest_ids(db)
    async with db.write() as tx:
        for status in ("sent", "shadow", "dropped"):
            await put(tx, "bot_messages", status=status)
        note = await put(tx, "semantic_notes", scope="channel", fact="the boss has three phases")
        await put(tx, "note_changes", note_id=note, at=1, to_status="superseded", cause="conflict")
        for number, status in enumerate(("done", "denied")):
            await put(tx, "action_logs", key=str(number), status=status)
        await put(tx, "model_calls")
        await bot_messages.prune(tx, "bot_messages", before=2, limit=1)
    assert await gained(db, before) == {
        "episodes": 0, "notes": 1, "superseded": 1, "replies": 2, "proposed": 2, "executed": 1, "llm_calls": 1,
    }  # fmt: skip


async def test_calls_are_summed_by_model_and_time(db: Database, clock: ManualClock) -> None:
    meter, start = Meter(db, clock), clock.now()
    await meter.record(Purpose.REPLY, "m", TokenUsage(1_000, 600, 20, 5), 800, None)
    await clock.advance(MINUTE)
    await meter.record(Purpose.REPLY, "m", TokenUsage(), 12_000, "ModelUnavailable")
    await meter.record(Purpose.SUMMARY, "n", TokenUsage(2_000, None, 100, None), 900, None)
    assert await spent(db, since=0) == {"m": Used(1_000, 600, 25), "n": Used(2_000, 0, 100)}
    assert await spent(db, since=start + 1) == {"m": Used(0, 0, 0), "n": Used(2_000, 0, 100)}
