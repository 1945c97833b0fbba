"""Sweeps: permanently deletes what may no longer be kept.

In this order: lines about to age out unread are counted; raw chat past its limit is deleted and counted; the bot's
messages, actions and model calls are deleted after their days; then deleted bytes are wiped from the file and the
write-ahead log. Runs at start and every few minutes, by `Clock.certain`, so that a clock that runs ahead deletes
nothing early.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from forgetmenot.clock import DAY, HOUR, Clock
from forgetmenot.domain.memory import Note, NoteStatus
from forgetmenot.logs import log
from forgetmenot.memory.compaction import Compactor
from forgetmenot.memory.ingest import Ingest
from forgetmenot.settings.schema import MemorySettings, Settings
from forgetmenot.store import action_logs, bot_messages, channel_state, episodes, events, model_calls, run_stats
from forgetmenot.store import notes as note_sweeps
from forgetmenot.store.database import Database, Transaction


@dataclass(frozen=True, slots=True)
class SweepReport:
    """What one sweep did. `unread` should be 0. `wiped`: False if another process kept deleted bytes alive for now."""

    pruned: int
    unread: int
    expired: int
    wiped: bool


async def sweep_chat(
    *, db: Database, compactor: Compactor, settings: Callable[[], Settings], clock: Clock, ingest: Ingest | None = None
) -> SweepReport:
    """Sweep once. Raises StoreError."""
    await compactor.cover_aged()
    now = clock.certain()
    before = now - int(settings().memory.raw_events_h * HOUR)
    pruned, unread = await _prune(db, before)
    if ingest is not None:
        ingest.forget_clears(before)
    expired = await _expire(db, now - settings().privacy.keep_replies_d * DAY, now)
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
            await run_stats.add_counts(tx, run_id, counted)
    pruned = sum(sum(counted.values()) for counted in counts.values())
    return pruned, sum(counted.get("pruned_unread", 0) for counted in counts.values())


async def _expire(db: Database, before: int, now: int) -> int:
    """Delete logs past their days, and cooldowns that are over."""
    async with db.write() as tx:
        gone = await bot_messages.prune(tx, before) + await action_logs.prune(tx, before)
        await channel_state.drop_past_cooldowns(tx, now)
    return gone + await model_calls.prune(db, before)


# The daily sweep over notes: expired, unconfirmed, too many. Small transactions, a history row for each change; pinned
# and imported notes are exempt. Only streams that a viewer came to count towards age. Facts about the channel
# and running bits age by the streams there were.


AT_ONCE = 200


@dataclass(frozen=True, slots=True)
class LifeReport:
    """How many notes changed in one sweep."""

    expired: int
    stale: int
    evicted: int


async def sweep_notes(db: Database, memory: MemorySettings, now: int) -> LifeReport:
    """Bring every note to the status it should have now. For the start of the program, and once a day."""
    report = LifeReport(
        expired=await _expire_lifecycle(db, now),
        stale=await _grow_stale(db, memory, now),
        evicted=await _evict(db, memory, now),
    )
    if report != LifeReport(0, 0, 0):
        log.info("notes swept", expired=report.expired, stale=report.stale, evicted=report.evicted)
    return report


async def _expire_lifecycle(db: Database, now: int) -> int:
    expired = 0
    while changed := await _change(
        db, lambda source: note_sweeps.notes_run_out(source, now, AT_ONCE), NoteStatus.EXPIRED, "its time was up", now
    ):
        expired += changed
    return expired


async def _grow_stale(db: Database, memory: MemorySettings, now: int) -> int:
    before, streams = now - memory.stale_after_d * DAY, memory.stale_after_streams
    of_channel = partial(note_sweeps.unconfirmed_channel_notes, confirmed_before=before, streams=streams, limit=AT_ONCE)
    stale = await _change(db, of_channel, NoteStatus.STALE, "not said again for long", now)
    for viewer in await note_sweeps.attending_viewers(db, streams):
        due = partial(note_sweeps.unconfirmed_notes, viewer_id=viewer, confirmed_before=before, streams=streams)
        stale += await _change(db, due, NoteStatus.STALE, "not said again for long", now)
    return stale


async def _evict(db: Database, memory: MemorySettings, now: int) -> int:
    timed, permanent = memory.timed_notes_per_viewer, memory.permanent_notes_per_viewer
    of_channel = partial(note_sweeps.channel_notes_over_limit, kept=memory.channel_notes_kept, limit=AT_ONCE)
    evicted = await _change(db, of_channel, NoteStatus.EVICTED, "too many notes", now)
    for viewer in await note_sweeps.viewers_over_limit(db, min(timed, permanent)):
        due = partial(note_sweeps.notes_over_limit, viewer_id=viewer, timed=timed, permanent=permanent)
        evicted += await _change(db, due, NoteStatus.EVICTED, "too many notes", now)
    return evicted


async def _change(
    db: Database,
    due: Callable[[Database | Transaction], Awaitable[list[Note]]],
    status: NoteStatus,
    cause: str,
    now: int,
) -> int:
    """Change those that are due, in one transaction; none is opened where nothing is due."""
    if not await due(db):
        return 0
    async with db.write() as tx:
        batch = await due(tx)
        for note in batch:
            await note_sweeps.set_status(tx, note, status, at=now, cause=cause)
    return len(batch)
