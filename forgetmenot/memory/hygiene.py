"""The sweep: what may not be kept any longer goes, byte for byte.

Promises, in this order: what is about to age out unread is counted first; raw chat older than it may be is deleted, and
accounted for; what the bot said, did and was billed for is deleted after its days; then no byte of it is left in the
file or the write-ahead log. Runs first thing at start, and every few minutes.
"""

from collections.abc import Callable
from dataclasses import dataclass

from forgetmenot.clock import DAY, HOUR, Clock
from forgetmenot.logs import log
from forgetmenot.memory.compaction import Compactor
from forgetmenot.memory.ingest import Ingest
from forgetmenot.settings.schema import Settings
from forgetmenot.store import action_logs, bot_messages, cooldowns, episodes, events, model_calls, tally
from forgetmenot.store.database import Database


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What one sweep did. `unread` should be 0. `wiped`: False if another process kept deleted bytes alive for now."""

    pruned: int
    unread: int
    expired: int
    wiped: bool


async def sweep(
    *, db: Database, compactor: Compactor, settings: Callable[[], Settings], clock: Clock, ingest: Ingest | None = None
) -> SweepReport:
    """Sweep once. Raises StoreError."""
    await compactor.cover_aged()
    before = clock.now() - int(settings().memory.raw_events_h * HOUR)
    pruned, unread = await _prune(db, before)
    if ingest is not None:
        ingest.forget_clears(before)
    expired = await _expire(db, clock.now() - settings().privacy.keep_replies_d * DAY, clock.now())
    wiped = await db.wipe_deleted()
    if unread:
        log.error("events were pruned unread", events=unread)
    log.debug("swept", pruned=pruned, expired=expired, wiped=wiped)
    return SweepReport(pruned, unread, expired, wiped)


async def _prune(db: Database, before: int) -> tuple[int, int]:
    async with db.write() as tx:
        counts = await events.prune(tx, before)
        await episodes.forget_lines(tx, before)
        for run_id, counted in counts.items():
            await tally.add(tx, run_id, counted)
    pruned = sum(sum(counted.values()) for counted in counts.values())
    return pruned, sum(counted.get("pruned_unread", 0) for counted in counts.values())


async def _expire(db: Database, before: int, now: int) -> int:
    """What is kept for looking back; and what rests no longer."""
    async with db.write() as tx:
        gone = await bot_messages.prune(tx, before) + await action_logs.prune(tx, before)
        await cooldowns.forget_past(tx, now)
    return gone + await model_calls.prune(db, before)
