"""Forgets one fact: the note and those it replaced are deleted, and other texts no longer say it.

What deleted rows leave in the file goes with the next thorough wipe (`Eraser.erase_due`).
"""

from forgetmenot.domain import Note
from forgetmenot.store import channel_state, notes, traced_texts
from forgetmenot.store.channel_state import WIPE_DUE
from forgetmenot.store.database import Source, Transaction
from forgetmenot.store.traced_texts import TracedText
from forgetmenot.text.removal import fact_stems, states_fact, without_fact


async def replaced_by(source: Source, note: Note) -> list[Note]:
    """Return the notes that this one replaced, and those that they had replaced."""
    # By id, so that each note is walked once.
    replaced: dict[int, Note] = {}
    successors = [note]
    while successors:
        successor = successors.pop()
        for old_note in await notes.predecessors(source, successor.id):
            if old_note.id == note.id:
                continue
            if old_note.id in replaced:
                continue
            replaced[old_note.id] = old_note
            successors.append(old_note)
    return list(replaced.values())


async def delete_fact(
    tx: Transaction,
    note: Note,
    at: int,
) -> None:
    """Delete a note about a viewer with its history, and what says the same in other texts."""
    # The texts first: which ones may say it follows from the note's evidence, which goes with it.
    subject_id = note.subject_id or ""
    stems = fact_stems(note.fact)
    texts = await traced_texts.texts_with_words(tx, note.id, subject_id, stems)
    for stored in texts:
        remaining_text = _without_note(stored, note, stems)
        if remaining_text != stored.text:
            await traced_texts.rewrite_traced(tx, stored, remaining_text)
    await traced_texts.delete_traced_note(tx, note.id, subject_id, at)
    await channel_state.put(tx, {WIPE_DUE: "1"}, at)


def _without_note(
    stored: TracedText,
    note: Note,
    stems: frozenset[str],
) -> str:
    """Return what stays of a text that may say the same as a note (its stems)."""
    is_line = stored.column == "text"
    if not is_line:
        return without_fact(stored.text, note.subject_id or "", note.fact)
    if _line_says(stored, stems):
        return ""
    return stored.text


def _line_says(line: TracedText, stems: frozenset[str]) -> bool:
    """Return whether a line of chat or of the bot says a fact (its stems), and so loses its words."""
    if not line.own:
        # A line of somebody else goes only if it says all of it: it may be about their own drums.
        return stems <= fact_stems(line.text)
    # "!forget drums" names what is to be forgotten.
    is_command = line.text.startswith("!")
    return is_command or states_fact(line.text, stems)
