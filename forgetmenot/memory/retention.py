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

from collections import Counter
from collections.abc import Callable

from forgetmenot.clock import Clock
from forgetmenot.durations import DAY, HOUR
from forgetmenot.logs import log
from forgetmenot.memory.compaction import Compactor
from forgetmenot.settings.schema import MemorySettings, Settings
from forgetmenot.store import bot_messages, episodes, events, notes
from forgetmenot.store.counts import add_counts
from forgetmenot.store.database import Database

# Rows that one transaction changes: no write lasts longer than 50 ms.
LINES_AT_ONCE, LOGS_AT_ONCE, NOTES_AT_ONCE = 1_000, 250, 200
# After its end a note stays that long as a past one.
PAST_KEPT = 365 * DAY
CHANNEL_NOTES_KEPT = 100
# A note is stale so long after it was last confirmed or used, and after that many streams of its subject.
STALE_AFTER, STALE_AFTER_STREAMS = 90 * DAY, 20


async def sweep_chat(
    *, db: Database, compactor: Compactor, settings: Callable[[], Settings], clock: Clock
) -> None:
    """Sweep once. Raises StoreError."""
    # before anything is deleted, so that nothing goes unread
    await compactor.cover_aged()
    now = clock.certain()
    before = now - int(settings().memory.raw_events_h * HOUR)
    gone, some = Counter[str](), LINES_AT_ONCE
    while some == LINES_AT_ONCE:  # some lines at a time: others write in between
        async with db.write() as tx:
            counts = await events.prune(tx, before, LINES_AT_ONCE)
            await add_counts(tx, counts)
        some = sum(counts.values())
        gone.update(counts)
    async with db.write() as tx:
        await episodes.drop_line_keys(tx, before)
    expired = 0
    old = now - settings().privacy.keep_replies_d * DAY
    zone = settings().bot.timezone
    for table in bot_messages.PRUNABLE:
        some = LOGS_AT_ONCE
        while some == LOGS_AT_ONCE:
            async with db.write() as tx:
                some = await bot_messages.prune(tx, table, old, LOGS_AT_ONCE, zone)
            expired += some
    if unread := gone["pruned_unread"]:
        log.error("events were pruned unread", events=unread)
    # not wiped: another process keeps deleted bytes alive for now
    log.debug("swept", pruned=gone.total(), expired=expired, wiped=await db.wipe_deleted())


async def sweep_notes(db: Database, memory: MemorySettings, now: int) -> Counter[str]:
    """Bring every note to the status it should have now, at the start and once a day; how many of each kind."""
    most = memory.notes_per_viewer
    kept = {"channel": CHANNEL_NOTES_KEPT, "timed": max(1, most // 4), "permanent": most}
    over = {
        "now": now,
        "before": now - PAST_KEPT,
        "limit": NOTES_AT_ONCE,
        "cause": "its time was up",
    }
    many = {**over, **kept, "cause": "too many notes"}
    changed = Counter[str]()
    while some := await notes.end_due(db, "over", over):
        changed["over"] += some
    for viewer in (None, *await notes.attending_viewers(db, STALE_AFTER_STREAMS)):
        async with db.write() as tx:
            before = now - STALE_AFTER
            changed["stale"] += await notes.set_stale(
                tx, viewer, before=before, streams=STALE_AFTER_STREAMS
            )
    too_many = [("channel", many)]
    for viewer in await notes.viewers_over_limit(db, min(kept["timed"], kept["permanent"])):
        too_many += [(kind, {**many, "viewer": viewer}) for kind in ("timed", "permanent")]
    for kind, values in too_many:
        while some := await notes.end_due(db, kind, values):
            changed["evicted"] += some
    if changed.total():
        log.info("notes swept", **changed)
    return changed
