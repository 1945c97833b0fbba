"""Forgetting one fact: the note and those it had replaced are deleted, and summaries and recaps no longer say it.

What deleted rows leave in the file goes with the next thorough wipe (`Eraser.erase_due`).
"""

from forgetmenot.domain import Note
from forgetmenot.store import channel_state, notes, personal_data
from forgetmenot.store.channel_state import WIPE_DUE
from forgetmenot.store.database import Source, Transaction
from forgetmenot.text.removal import fact_stems, states_fact, without_fact


async def replaced_by(source: Source, note: Note) -> list[Note]:
    """The notes that this one replaced, and those that they had replaced."""
    found: dict[int, Note] = {}
    waiting = [note]
    while waiting:
        for old in await notes.predecessors(source, waiting.pop().id):
            if old.id not in found and old.id != note.id:
                found[old.id] = old
                waiting.append(old)
    return list(found.values())


async def delete_fact(tx: Transaction, note: Note, at: int) -> None:
    """Delete a note about a viewer with its history, and what says the same in other texts."""
    subject_id, words = note.subject_id or "", fact_stems(note.fact)
    for one in await personal_data.texts_with_words(tx, note.id, subject_id, words):
        if one.column != "text":
            rest = without_fact(one.text, subject_id, note.fact)
        elif one.own:
            rest = (
                "" if states_fact(one.text, words) or one.text.startswith("!") else one.text
            )  # "!forget drums" names it
        else:  # of what others said lately only what has all of it
            rest = "" if words <= fact_stems(one.text) else one.text
        if rest != one.text:
            await personal_data.rewrite_traced(tx, one, rest)
    await personal_data.delete_traced_note(tx, note.id, subject_id, at)
    await channel_state.put(tx, {WIPE_DUE: "1"}, at)
