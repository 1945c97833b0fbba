"""The life of a note without anybody saying anything: it runs out, nobody confirms it any more, there are too many.

Promises small transactions (chat is never kept waiting), a line of history for each change, and that pinned and
imported notes neither age nor fall to a cap. A viewer who stays away loses nothing: only streams they came to count.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial

from forgetmenot.clock import DAY
from forgetmenot.domain.memory import Note, NoteStatus
from forgetmenot.logs import log
from forgetmenot.settings.schema import MemorySettings
from forgetmenot.store import note_sweeps, notes
from forgetmenot.store.database import Database, Transaction

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
        expired=await _expire(db, now), stale=await _grow_stale(db, memory, now), evicted=await _evict(db, memory, now)
    )
    if report != LifeReport(0, 0, 0):
        log.info("notes swept", expired=report.expired, stale=report.stale, evicted=report.evicted)
    return report


async def _expire(db: Database, now: int) -> int:
    expired = 0
    while changed := await _change(
        db, lambda source: note_sweeps.run_out(source, now, AT_ONCE), NoteStatus.EXPIRED, "its time was up", now
    ):
        expired += changed
    return expired


async def _grow_stale(db: Database, memory: MemorySettings, now: int) -> int:
    before, streams = now - memory.stale_after_d * DAY, memory.stale_after_streams
    stale = 0
    for viewer in await note_sweeps.attending(db, streams):
        due = partial(note_sweeps.unconfirmed, viewer_id=viewer, confirmed_before=before, streams=streams)
        stale += await _change(db, due, NoteStatus.STALE, "not said again for long", now)
    return stale


async def _evict(db: Database, memory: MemorySettings, now: int) -> int:
    timed, permanent = memory.timed_notes_per_viewer, memory.permanent_notes_per_viewer
    evicted = 0
    for viewer in await note_sweeps.crowded(db, min(timed, permanent)):
        due = partial(note_sweeps.too_many, viewer_id=viewer, timed=timed, permanent=permanent)
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
            await notes.set_status(tx, note, status, at=now, cause=cause)
    return len(batch)
