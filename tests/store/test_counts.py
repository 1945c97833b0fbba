"""Totals of a run, and what model calls cost."""

from forgetmenot.clock import MINUTE, ManualClock
from forgetmenot.domain import Purpose, TokenUsage
from forgetmenot.settings.prices import Used
from forgetmenot.store.counts import Meter, spent
from forgetmenot.store.database import Database


async def test_calls_are_summed_by_model_and_time(db: Database, clock: ManualClock) -> None:
    meter, start = Meter(db, clock), clock.now()
    await meter.record(Purpose.REPLY, "m", TokenUsage(1_000, 600, 20, 5), 800, None)
    await clock.advance(MINUTE)
    await meter.record(Purpose.REPLY, "m", TokenUsage(), 12_000, "ModelUnavailable")
    await meter.record(Purpose.SUMMARY, "n", TokenUsage(2_000, None, 100, None), 900, None)
    assert await spent(db, since=0) == {"m": Used(1_000, 600, 25), "n": Used(2_000, 0, 100)}
    assert await spent(db, since=start + 1) == {"m": Used(0, 0, 0), "n": Used(2_000, 0, 100)}
