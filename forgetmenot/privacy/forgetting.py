"""Forgetting one fact: the note and those it had replaced are deleted, and summaries and recaps no longer say it.

What deleted rows leave in the file goes with the next thorough wipe (`Eraser.erase_due`).
"""

from forgetmenot.domain import Note
from forgetmenot.store import channel_state, notes, traced_texts
from forgetmenot.store.channel_state import WIPE_DUE
from forgetmenot.store.database import Source, Transaction
from forgetmenot.store.traced_texts import TracedText
from forgetmenot.text.removal import fact_stems, states_fact, without_fact


async def replaced_by(source: Source, note: Note) -> list[Note]:
    """The notes that this one replaced, and those that they had replaced."""
    replaced: dict[int, Note] = {}
    waiting = [note]
    while waiting:
        successor = waiting.pop()
        for old in await notes.predecessors(source, successor.id):
            if old.id not in replaced and old.id != note.id:
                replaced[old.id] = old
                waiting.append(old)
    return list(replaced.values())


async def delete_fact(
    tx: Transaction,
    note: Note,
    at: int,
) -> None:
    """Delete a note about a viewer with its history, and what says the same in other texts."""
    subject_id = note.subject_id or ""
    stems = fact_stems(note.fact)
    for text in await traced_texts.texts_with_words(tx, note.id, subject_id, stems):
        rest = _without_note(text, note, stems)
        if rest != text.text:
            await traced_texts.rewrite_traced(tx, text, rest)
    await traced_texts.delete_traced_note(tx, note.id, subject_id, at)
    await channel_state.put(tx, {WIPE_DUE: "1"}, at)


def _without_note(
    text: TracedText,
    note: Note,
    stems: frozenset[str],
) -> str:
    """What stays of a text that may say the same as a note."""
    if text.column != "text":
        return without_fact(text.text, note.subject_id or "", note.fact)
    if text.own:
        # "!forget drums" names it
        is_command = text.text.startswith("!")
        return "" if is_command or states_fact(text.text, stems) else text.text
    # of what others said lately only what has all of it
    return "" if stems <= fact_stems(text.text) else text.text
