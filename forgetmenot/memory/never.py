"""Never bring up: the list that people keep, and the Silence that recall and replies ask.

Who may leave what alone is the caller's to decide. `words` are a topic or a fact; `#12` names a note.
"""

import re

from forgetmenot.memory.notes.proposals import Refused
from forgetmenot.memory.silence import Entry, Silence, meaning
from forgetmenot.store import never, notes, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.store.never import Left
from forgetmenot.text.clean import clean

LONGEST = 200
MOST = 200
_NOTE = re.compile(r"#(\d{1,15})\s*\Z")


async def leave_alone(db: Database, viewer_id: str | None, what: str, *, by: str | None, at: int) -> Left:
    """Never bring something up again, of one viewer or (None) at all.

    Raises Refused (length, not_found, unknown, enough).
    """
    text = clean(what)
    found = _NOTE.match(text)
    if len(text) > LONGEST or (found is None and not meaning(text)):
        raise Refused("length")
    async with db.write() as tx:
        if len(await never.listed(tx)) >= MOST:
            raise Refused("enough")
        if viewer_id is not None and await viewers.get(tx, viewer_id) is None:
            raise Refused("unknown")
        note_id = int(found[1]) if found else None
        note = await notes.get(tx, note_id) if note_id is not None else None
        if note_id is not None and (note is None or viewer_id not in {None, note.subject_id}):
            raise Refused("not_found")
        about = note.subject_id if note is not None else viewer_id
        words = "" if found else text
        told_by = by if by is not None and await viewers.get(tx, by) is not None else None
        row_id = await never.add(tx, about, words, note_id=note_id, by_id=told_by, at=at)
    return Left(row_id, about, words, note_id, by, at)


async def allow_again(db: Database, row_id: int) -> bool:
    """Take one entry off the list; False if there is none."""
    async with db.write() as tx:
        return await never.remove(tx, row_id)


async def silence(source: Source) -> Silence:
    """What is to be left alone now."""
    rows = await never.with_facts(source)
    return Silence(Entry(row.id, row.viewer_id, row.words, row.note_id, fact) for row, fact in rows)
