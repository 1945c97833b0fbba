"""The meter writes every call down, and sums them up."""

from forgetmenot.clock import MINUTE, ManualClock
from forgetmenot.domain.model import Purpose, TokenUsage
from forgetmenot.settings.prices import Used
from forgetmenot.store.database import Database
from forgetmenot.store.model_calls import Meter, Spent, prune, spent


async def test_calls_are_summed_by_model_and_time(db: Database, clock: ManualClock) -> None:
    meter, start = Meter(db, clock), clock.now()
    await meter.record(Purpose.REPLY, "m", TokenUsage(1_000, 600, 20, 5), 800, None)
    await clock.advance(MINUTE)
    await meter.record(Purpose.REPLY, "m", TokenUsage(), 12_000, "ModelUnavailable")
    await meter.record(Purpose.SUMMARY, "n", TokenUsage(2_000, None, 100, None), 900, None)
    first, second = Spent(2, Used(1_000, 600, 25)), Spent(1, Used(2_000, 0, 100))
    assert await spent(db) == {"m": first, "n": second}
    assert await spent(db, since=start + 1) == {"m": Spent(1, Used(0, 0, 0)), "n": second}


async def test_a_bill_that_does_not_say_stays_unknown(db: Database, clock: ManualClock) -> None:
    await Meter(db, clock).record(Purpose.RECAP, "m", TokenUsage(input=7), 1, None)
    row = await db.row("SELECT purpose, model, input, cached, output, thoughts, error FROM model_calls")
    assert row is not None
    assert tuple(row) == ("recap", "m", 7, None, None, None, None)


async def test_old_calls_are_pruned(db: Database, clock: ManualClock) -> None:
    await Meter(db, clock).record(Purpose.REPLY, "m", TokenUsage(), 1, None)
    assert await prune(db, clock.now()) == 0
    assert await prune(db, clock.now() + 1) == 1
    assert await spent(db) == {}
