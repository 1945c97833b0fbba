"""Reads `note_words`, the index of all notes that may be recalled, by the keys of their words (store/note_keys)."""

from collections.abc import Collection

from forgetmenot.domain import Note
from forgetmenot.store import notes
from forgetmenot.store.database import Source
from forgetmenot.store.note_keys import unpacked

_LISTED = "IN (SELECT value FROM json_each(?))"


async def notes_by_word(source: Source, keys: Collection[int]) -> dict[int, int]:
    """Return how many notes have each of these words; a word that none has is left out."""
    counted = "SELECT word, sum(length(notes)) / 2 FROM note_words"
    return await source.pairs(f"{counted} WHERE word {_LISTED} GROUP BY word", (keys,))


async def newest_with(source: Source, key: int, limit: int) -> list[int]:
    """Return the ids of the newest notes that have a word, the newest spans first."""
    packed = "SELECT span, notes FROM note_words WHERE word = ? ORDER BY span DESC"
    note_ids: list[int] = []
    for span, places in await source.rows(packed, (key,)):
        in_span = unpacked(span, places)
        if len(in_span) > limit - len(note_ids):
            in_span = sorted(in_span, reverse=True)[: limit - len(note_ids)]
        note_ids += in_span
        if len(note_ids) == limit:
            break
    return note_ids


async def recallable(source: Source, note_ids: Collection[int]) -> list[Note]:
    """Return those of these notes that may be recalled, of people who are not hidden and of the channel."""
    shown = "(n.subject_id IS NULL OR EXISTS (SELECT 1 FROM shown v WHERE v.id = n.subject_id))"
    recalled = "n.status IN ('active', 'past') AND n.fact <> ''"
    return await notes.where(source, f"n.id {_LISTED} AND {recalled} AND {shown}", (note_ids,))
