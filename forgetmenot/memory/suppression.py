"""The list of what is never mentioned, and the filter that recall and replies use.

The caller decides who may change it. `words` are a topic or a fact; `#12` names a note.
"""

import re

from forgetmenot.memory.notes.proposals import FactRefused
from forgetmenot.memory.suppression_filter import SuppressionFilter, SuppressionRule, meaning
from forgetmenot.store import notes, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.store.notes import SuppressionRow
from forgetmenot.text.clean import clean

LONGEST = 200
MOST = 200
_NOTE = re.compile(r"#(\d{1,15})\s*\Z")


async def suppress(db: Database, viewer_id: str | None, what: str, *, by: str | None, at: int) -> SuppressionRow:
    """Never bring something up again, of one viewer or (None) at all.

    Raises FactRefused (topic, not_found, unknown, enough).
    """
    text = clean(what)
    found = _NOTE.match(text)
    if len(text) > LONGEST or (found is None and not meaning(text)):
        raise FactRefused("topic")
    async with db.write() as tx:
        if len(await notes.suppressions(tx)) >= MOST:
            raise FactRefused("enough")
        if viewer_id is not None and await viewers.get(tx, viewer_id) is None:
            raise FactRefused("unknown")
        note_id = int(found[1]) if found else None
        note = await notes.get(tx, note_id) if note_id is not None else None
        if note_id is not None and (note is None or viewer_id not in {None, note.subject_id}):
            raise FactRefused("not_found")
        about = note.subject_id if note is not None else viewer_id
        words = "" if found else text
        added_by = by if by is not None and await viewers.get(tx, by) is not None else None
        row_id = await notes.add_suppression(tx, about, words, note_id=note_id, by_id=added_by, at=at)
    return SuppressionRow(row_id, about, words, note_id, by, at)


async def unsuppress(db: Database, row_id: int) -> bool:
    """Take one entry off the list; False if there is none."""
    async with db.write() as tx:
        return await notes.remove_suppression(tx, row_id)


async def load_filter(source: Source) -> SuppressionFilter:
    """The filter of what is suppressed now."""
    rows = await notes.suppressions_with_facts(source)
    return SuppressionFilter(SuppressionRule(row.id, row.viewer_id, row.words, row.note_id, fact) for row, fact in rows)
