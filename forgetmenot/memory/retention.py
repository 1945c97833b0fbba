"""Sweeps: permanently deletes what may no longer be kept.

In this order: lines about to age out unread are counted; raw chat past its limit is deleted and counted; the bot's
messages, actions and model calls are deleted after their days; then deleted bytes are wiped from the file and the
write-ahead log. Runs at start and every few minutes, by `Clock.certain`, so that a clock that runs ahead deletes
nothing early.

Once a day notes are swept too: those whose time is over, the stale, those past a limit. Small transactions, a history
row for each change; pinned and imported notes are exempt. What was to last a month is past for a year before it ends,
what was to last a week or less ends. A note about a viewer grows stale by the streams that they came to, a fact about
the channel and a running bit by all streams; a stale note stays, and is found by its words.
"""

from collections.abc import Callable, Mapping

from msgspec import Struct

from forgetmenot.clock import DAY, HOUR, Clock
from forgetmenot.domain import NoteStatus
from forgetmenot.logs import log
from forgetmenot.memory.compaction import Compactor
from forgetmenot.settings.schema import MemorySettings, Settings
from forgetmenot.store import bot_messages, episodes, events, notes
from forgetmenot.store.counts import add_counts
from forgetmenot.store.database import Database

# Rows that one transaction deletes: no write lasts longer than 50 ms.
LINES_AT_ONCE, LOGS_AT_ONCE = 1_000, 250


class SweepReport(Struct, frozen=True):
    """What one sweep did. `unread` should be 0. `wiped`: False if another process kept deleted bytes alive for now."""

    pruned: int
    unread: int
    expired: int
    wiped: bool


async def sweep_chat(
    *, db: Database, compactor: Compactor, settings: Callable[[], Settings], clock: Clock
) -> SweepReport:
    """Sweep once. Raises StoreError."""
    # before anything is deleted, so that nothing goes unread
    await compactor.cover_aged()
    now = clock.certain()
    before = now - int(settings().memory.raw_events_h * HOUR)
    pruned, unread = await _prune(db, before)
    expired = await _expire(db, now - settings().privacy.keep_replies_d * DAY)
    wiped = await db.wipe_deleted()
    if unread:
        log.error("events were pruned unread", events=unread)
    log.debug("swept", pruned=pruned, expired=expired, wiped=wiped)
    return SweepReport(pruned, unread, expired, wiped)


async def _prune(db: Database, before: int) -> tuple[int, int]:
    """Delete old chat, some lines at a time: others write in between."""
    pruned = unread = 0
    while True:
        async with db.write() as tx:
            counts = await events.prune(tx, before, LINES_AT_ONCE)
            await add_counts(tx, counts)
        some = sum(counts.values())
        pruned, unread = pruned + some, unread + counts.get("pruned_unread", 0)
        if some < LINES_AT_ONCE:
            async with db.write() as tx:
                await episodes.forget_lines(tx, before)
            return pruned, unread


async def _expire(db: Database, before: int) -> int:
    """Delete logs past their days."""
    gone = 0
    for table in bot_messages.OLD:
        some = LOGS_AT_ONCE
        while some == LOGS_AT_ONCE:
            async with db.write() as tx:
                some = await bot_messages.prune(tx, table, before, LOGS_AT_ONCE)
            gone += some
    return gone


NOTES_PER_TRANSACTION = 200
# After its end a note stays that long as a past one.
PAST_KEPT = 365 * DAY
CHANNEL_NOTES_KEPT = 100
# Streams that its subject came to (for a channel note: all) without confirming it, besides the settings' days.
STALE_AFTER, STALE_AFTER_STREAMS = 90 * DAY, 20


class LifeReport(Struct, frozen=True):
    """How many notes changed in one sweep."""

    expired: int
    stale: int
    evicted: int


async def sweep_notes(db: Database, memory: MemorySettings, now: int) -> LifeReport:
    """Bring every note to the status it should have now. For the start of the program, and once a day."""
    expired = 0
    while changed := await _change(db, "over", "its time was up", now, {}):
        expired += changed
    while await _change(db, "long over", "its time was up", now, {"before": now - PAST_KEPT}):
        pass
    stale, before = 0, now - STALE_AFTER
    for viewer in (None, *await notes.attending_viewers(db, STALE_AFTER_STREAMS)):
        async with db.write() as tx:
            stale += await notes.set_stale(tx, viewer, before=before, streams=STALE_AFTER_STREAMS)
    why, most = "too many notes", memory.notes_per_viewer
    evicted = await _change(db, "too many of the channel", why, now, {"kept": CHANNEL_NOTES_KEPT})
    values = {"timed": max(1, most // 4), "permanent": most}
    for viewer in await notes.viewers_over_limit(db, min(values.values())):
        evicted += await _change(db, "too many", why, now, {**values, "viewer": viewer})
    report = LifeReport(expired, stale, evicted)
    if report != LifeReport(0, 0, 0):
        log.info("notes swept", expired=report.expired, stale=report.stale, evicted=report.evicted)
    return report


async def _change(db: Database, sweep: str, cause: str, now: int, values: Mapping[str, object]) -> int:
    """Change those that are due, in one transaction; none is opened where nothing is due."""
    values = {**values, "now": now, "limit": NOTES_PER_TRANSACTION}
    if not await notes.due(db, sweep, values):
        return 0
    async with db.write() as tx:
        batch = await notes.due(tx, sweep, values)
        for note in batch:
            stays = note.status is NoteStatus.ACTIVE and note.is_past_when_over
            over = NoteStatus.PAST if stays else NoteStatus.EXPIRED
            status = NoteStatus.EVICTED if sweep.startswith("too many") else over
            await notes.set_status(tx, note, status, at=now, cause=cause)
    return len(batch)
