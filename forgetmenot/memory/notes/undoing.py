"""A person takes a change of memory back: retracts a note, or undoes a supersede or a retraction, in one step.

Nothing is deleted: a retracted note keeps its text (erasure is its subject's own wish, elsewhere).
"""

from dataclasses import replace

from forgetmenot.domain.memory import Note, NoteStatus
from forgetmenot.memory.notes.beliefs import LIVE, REPLACES, TAKE_BACK
from forgetmenot.memory.notes.proposals import Refused
from forgetmenot.store import notes
from forgetmenot.store.database import Database, Transaction

UNDONE = "undone"


async def retract(db: Database, note_id: int, *, at: int, cause: str) -> Note:
    """Take a note back; it keeps its text and can be brought back with `undo`. The note as it was. Raises Refused."""
    async with db.write() as tx:
        note = await notes.get(tx, note_id)
        if note is None:
            raise Refused("not_found")
        if note.status not in LIVE:
            raise Refused("not_live")
        await notes.set_status(tx, note, NoteStatus.RETRACTED, at=at, cause=cause)
        return note


async def undo(db: Database, note_id: int, *, at: int) -> Note:
    """Take back the last thing that was done to a note: a supersede (by either of the two), a retraction.

    What one word replaced at once comes back at once. The note that is active again. Raises Refused("nothing_to_undo").
    """
    async with db.write() as tx:
        note = await notes.get(tx, note_id)
        if note is None:
            raise Refused("not_found")
        if note.status is NoteStatus.RETRACTED:
            return await _stand_again(tx, note, at)
        replaced = [note] if note.status is NoteStatus.SUPERSEDED else await _replaced_last(tx, note)
        back = [await _undo_supersede(tx, old, at) for old in replaced]
        return back[-1]


async def _stand_again(tx: Transaction, note: Note, now: int) -> Note:
    """A note that was taken back is active again; what an undo had brought back in its place goes again."""
    last = (await notes.changes(tx, note.id))[-1]
    held = await notes.of_subject(tx, note.subject_id, LIVE) if last.cause == UNDONE else []
    await notes.set_status(tx, note, NoteStatus.ACTIVE, at=now, cause=UNDONE)
    if held:
        came_back = await notes.changed_last(tx, [one.id for one in held], UNDONE, last.at)
        for old in [one for one in held if one.id in came_back]:
            await notes.set_status(tx, old, NoteStatus.SUPERSEDED, at=now, cause=UNDONE, superseded_by=note.id)
    return replace(note, status=NoteStatus.ACTIVE)


async def _replaced_last(tx: Transaction, note: Note) -> list[Note]:
    """What a note replaced when it last replaced something."""
    replaced = {old: (await notes.changes(tx, old.id))[-1].at for old in await notes.superseded_by(tx, note.id)}
    if not replaced:
        raise Refused("nothing_to_undo")
    return [old for old, at in replaced.items() if at == max(replaced.values())]


async def _undo_supersede(tx: Transaction, old: Note, now: int) -> Note:
    successor = await notes.get(tx, old.superseded_by) if old.superseded_by is not None else None
    by_undo = (await notes.changes(tx, old.id))[-1].cause == UNDONE
    await notes.set_status(tx, old, NoteStatus.ACTIVE, at=now, cause=UNDONE)
    if successor is not None and successor.status in LIVE:
        history = [change.cause for change in await notes.changes(tx, successor.id)]
        if by_undo or history[-1] == TAKE_BACK:
            await notes.set_status(tx, successor, NoteStatus.SUPERSEDED, at=now, cause=UNDONE, superseded_by=old.id)
        elif history[0] == REPLACES:
            await notes.set_status(tx, successor, NoteStatus.RETRACTED, at=now, cause=UNDONE)
    return replace(old, status=NoteStatus.ACTIVE, superseded_by=None)
