"""Sweeps: permanently deletes what may no longer be kept.

Chat is swept at the start and every few minutes, in this order: lines about to age out unread are counted; raw chat
past its limit is deleted and counted; the bot's messages, actions and model calls are deleted after their days; deleted
bytes are wiped from the file and the write-ahead log. The time is `Clock.certain`, so that a clock that runs ahead
deletes nothing early.

Notes are swept at the start and once a day: those whose time is over, the stale ones (memory/lifetimes), those past a
limit. Each transaction is small, and each change leaves a row of history; pinned and imported notes are exempt. A note
about a viewer grows stale by the streams that they came to, a fact about the channel and a running bit by all streams.
"""

from collections import Counter
from collections.abc import Callable, Mapping

from forgetmenot.clock import Clock
from forgetmenot.durations import DAY, HOUR
from forgetmenot.logs import log
from forgetmenot.memory.compaction import Compactor
from forgetmenot.memory.lifetimes import (
    LONGEST_PASSING,
    PAST_KEPT,
    STALE_AFTER,
    STALE_AFTER_STREAMS,
)
from forgetmenot.settings.schema import MemorySettings, Settings
from forgetmenot.store import bot_messages, episodes, events, notes
from forgetmenot.store.counts import add_counts
from forgetmenot.store.database import Database

# How many rows one transaction changes, so that no write lasts longer than 50 ms.
LINES_AT_ONCE = 1_000
LOGS_AT_ONCE = 250
NOTES_AT_ONCE = 200
CHANNEL_NOTES_LIMIT = 100


async def sweep_chat(
    *,
    db: Database,
    compactor: Compactor,
    settings: Callable[[], Settings],
    clock: Clock,
) -> None:
    """Delete raw chat and the bot's logs that are past their limits. Raises StoreError."""
    # lines that are about to be deleted are counted first, so that nothing is lost unread
    await compactor.cover_aged()
    now = clock.certain()
    present_settings = settings()
    lines_kept = int(present_settings.memory.raw_events_h * HOUR)
    logs_kept = present_settings.privacy.keep_replies_d * DAY
    deleted_lines = await _delete_lines(db, now - lines_kept)
    deleted_logs = await _delete_logs(
        db, now - logs_kept, present_settings.bot.timezone
    )
    unread = deleted_lines["pruned_unread"]
    if unread:
        log.error("events were pruned unread", events=unread)
    # False while another process reads the file: the next sweep wipes those bytes
    wiped = await db.wipe_deleted()
    log.debug("swept", pruned=deleted_lines.total(), expired=deleted_logs, wiped=wiped)


async def _delete_lines(db: Database, before: int) -> Counter[str]:
    """Delete raw lines older than a time (ms), and the keys of commands that were typed in them.

    It takes several transactions, so that others can write in between. Returns how many lines of each kind were
    deleted.
    """
    deleted: Counter[str] = Counter()
    while True:
        async with db.write() as tx:
            counts = await events.prune(tx, before, LINES_AT_ONCE)
            await add_counts(tx, counts)
        deleted.update(counts)
        if sum(counts.values()) < LINES_AT_ONCE:
            break
    async with db.write() as tx:
        # a key finds a command's episode when its line is cleared; lines this old cannot be cleared any more
        await episodes.drop_line_keys(tx, before)
    return deleted


async def _delete_logs(
    db: Database,
    before: int,
    timezone: str,
) -> int:
    """Delete the bot's messages, actions and model calls older than a time (ms); return how many rows.

    Weekly figures about the replies stay. `timezone`: the channel's, in which a week begins.
    """
    deleted = 0
    for table in bot_messages.PRUNABLE:
        while True:
            async with db.write() as tx:
                count = await bot_messages.prune(
                    tx, table, before, LOGS_AT_ONCE, timezone
                )
            deleted += count
            if count < LOGS_AT_ONCE:
                break
    return deleted


async def sweep_notes(
    db: Database,
    memory: MemorySettings,
    now: int,
) -> Counter[str]:
    """Give every note the status that it should have now; return how many changed, by kind of change."""
    changed: Counter[str] = Counter()
    changed["over"] = await _end_expired(db, now)
    changed["stale"] = await _set_stale(db, now)
    changed["evicted"] = await _evict(db, memory.notes_per_viewer, now)
    if changed.total():
        log.info("notes swept", **changed)
    return changed


async def _end_expired(db: Database, now: int) -> int:
    """End the notes whose time is over; return how many."""
    # The parameters of the query "over" of `notes.end_due`. A note that was to last longer than `longest_passing`
    # becomes past, any other expires. A past note expires if its end was before `before`.
    values = {
        "now": now,
        "before": now - PAST_KEPT,
        "longest_passing": LONGEST_PASSING,
        "limit": NOTES_AT_ONCE,
        "cause": "its time was up",
    }
    return await _end_all(db, "over", values)


async def _set_stale(db: Database, now: int) -> int:
    """Mark notes as stale that nobody confirmed or used for a long time; return how many."""
    stale = 0
    attending_viewers = await notes.attending_viewers(db, STALE_AFTER_STREAMS)
    # None: the notes about the channel
    for viewer_id in (None, *attending_viewers):
        async with db.write() as tx:
            stale += await notes.set_stale(
                tx, viewer_id, before=now - STALE_AFTER, streams=STALE_AFTER_STREAMS
            )
    return stale


async def _evict(db: Database, notes_per_viewer: int, now: int) -> int:
    """End the least valuable notes of the channel and of viewers who have too many; return how many."""
    # notes with an end of their own may be a quarter of a viewer's limit
    timed_limit = max(1, notes_per_viewer // 4)
    values = {
        "now": now,
        "limit": NOTES_AT_ONCE,
        "channel": CHANNEL_NOTES_LIMIT,
        "timed": timed_limit,
        "permanent": notes_per_viewer,
        "cause": "too many notes",
    }
    evicted = await _end_all(db, "channel", values)
    smallest_limit = min(timed_limit, notes_per_viewer)
    for viewer_id in await notes.viewers_over_limit(db, smallest_limit):
        viewer_values = {**values, "viewer": viewer_id}
        evicted += await _end_all(db, "timed", viewer_values)
        evicted += await _end_all(db, "permanent", viewer_values)
    return evicted


async def _end_all(
    db: Database,
    query: str,
    values: Mapping[str, object],
) -> int:
    """End all notes whose time is over, or that are too many: they become past, expired or evicted. Return how many.

    `query`: which notes, "over", or of those that are too many: "channel", "timed" or "permanent". `values`: the
    parameters of that query. At most as many as its limit are ended in one transaction, so that none is long.
    """
    ended = 0
    while True:
        count = await notes.end_due(db, query, values)
        if not count:
            return ended
        ended += count
