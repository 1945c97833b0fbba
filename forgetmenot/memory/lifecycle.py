"""The life of a note without anybody saying anything: it runs out, nobody confirms it any more, there are too many.

Promises small transactions (chat is never kept waiting), a line of history for each change, and that pinned and
imported notes neither age nor fall to a cap. A viewer who stays away loses nothing: only streams they came to count.
"""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

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

    async def run_out(tx: Transaction) -> list[Note]:
        return await note_sweeps.run_out(tx, now, AT_ONCE)

    async def unconfirmed(tx: Transaction) -> list[Note]:
        before = now - memory.stale_after_d * DAY
        return await note_sweeps.unconfirmed(
            tx, confirmed_before=before, streams=memory.stale_after_streams, limit=AT_ONCE
        )

    async def too_many(tx: Transaction) -> list[Note]:
        return await note_sweeps.too_many(
            tx, timed=memory.timed_notes_per_viewer, permanent=memory.permanent_notes_per_viewer, limit=AT_ONCE
        )

    report = LifeReport(
        expired=await _all(db, run_out, NoteStatus.EXPIRED, "its time was up", now),
        stale=await _all(db, unconfirmed, NoteStatus.STALE, "not said again for long", now),
        evicted=await _all(db, too_many, NoteStatus.EVICTED, "too many notes", now),
    )
    if report != LifeReport(0, 0, 0):
        log.info("notes swept", expired=report.expired, stale=report.stale, evicted=report.evicted)
    return report


async def _all(
    db: Database, due: Callable[[Transaction], Awaitable[list[Note]]], status: NoteStatus, cause: str, now: int
) -> int:
    """Change all that are due, a few hundred per transaction."""
    changed = 0
    while True:
        async with db.write() as tx:
            batch = await due(tx)
            for note in batch:
                await notes.set_status(tx, note, status, at=now, cause=cause)
        changed += len(batch)
        if len(batch) < AT_ONCE:
            return changed
