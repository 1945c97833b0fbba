"""Forgetting one fact, because its subject wants it: text, history and the sentences that it came from.

Promises that the note and those it had replaced are deleted, that summaries and recaps no longer say it, and that a
keyed hash keeps it from being learned again, unless its subject asks for it in so many words. What deleted rows leave
in the file goes with the next thorough wipe (memory/erasure.Eraser.erase_due).
"""

import asyncio
from collections.abc import Sequence

from forgetmenot.domain.memory import Note
from forgetmenot.memory.erasure import HUSH_FROM, WIPE_DUE
from forgetmenot.memory.notes.proposals import Refused
from forgetmenot.store import channel_state, fact_traces, forgotten, notes
from forgetmenot.store.database import Database, Transaction
from forgetmenot.text.removal import says, traces, without_fact


async def forget_fact(db: Database, note_id: int, *, at: int) -> Note:
    """Delete a note about a viewer for good; the note as it was. Raises Refused("not_found")."""
    async with db.write() as tx:
        note = await notes.get(tx, note_id)
        if note is None or note.subject_id is None:
            raise Refused("not_found")
        for one in [note, *await _replaced(tx, note)]:
            await _forget(tx, one, note.subject_id, at)
        since = (await channel_state.read_all(tx)).get(HUSH_FROM, str(at))
        await channel_state.put(tx, {WIPE_DUE: "1", HUSH_FROM: since}, at)
    await db.wipe_deleted()
    return note


async def _replaced(tx: Transaction, note: Note) -> list[Note]:
    """The notes that this one replaced, and those that they had replaced."""
    found: dict[int, Note] = {}
    waiting = [note]
    while waiting:
        for old in await notes.superseded_by(tx, waiting.pop().id):
            if old.id not in found and old.id != note.id:
                found[old.id] = old
                waiting.append(old)
    return list(found.values())


async def _forget(tx: Transaction, note: Note, subject_id: str, at: int) -> None:
    words = traces(note.fact)
    for text in await fact_traces.texts(tx, note.id, subject_id, words):
        rest = without_fact(text.text, subject_id, note.fact)
        if rest != text.text:
            await fact_traces.rewrite(tx, text, rest)
    for line in await fact_traces.spoken(tx, note.id, subject_id, words):
        if says(line.text, words) or line.text.startswith("!"):  # "!forget drums" names it, if not in full
            await fact_traces.silence(tx, line)
    told = await fact_traces.told_by_others(tx, note.id, subject_id)
    for line in await asyncio.to_thread(_telling, told, words):  # a day of some moderator's lines
        await fact_traces.silence(tx, line)
    await forgotten.add(tx, subject_id, [words], at=at)
    await fact_traces.delete(tx, note.id)


def _telling(lines: Sequence[fact_traces.Text], words: frozenset[str]) -> list[fact_traces.Text]:
    """The lines that have all of a fact's words."""
    return [line for line in lines if words and words <= traces(line.text)]
