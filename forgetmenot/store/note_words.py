"""Reads `note_words`, the index of all notes that may be recalled, by the keys of their words (store/note_keys)."""

from collections.abc import Collection

from forgetmenot.domain import Note
from forgetmenot.store import notes
from forgetmenot.store.database import Source
from forgetmenot.store.note_keys import unpacked

_LISTED = "IN (SELECT value FROM json_each(?))"


async def notes_by_word(source: Source, keys: Collection[int]) -> dict[int, int]:
    """Return how many notes have each of these words; a word that none has is left out."""
    # a note takes two bytes in a row of the index
    sql = f"""
        SELECT word, sum(length(notes)) / 2
        FROM note_words
        WHERE word {_LISTED}
        GROUP BY word
    """
    return await source.pairs(sql, (keys,))


async def newest_with(
    source: Source,
    key: int,
    limit: int,
) -> list[int]:
    """Return the ids of the newest notes that have a word, the newest spans first."""
    sql = "SELECT span, notes FROM note_words WHERE word = ? ORDER BY span DESC"
    note_ids: list[int] = []
    for span, places in await source.rows(sql, (key,)):
        ids_of_span = unpacked(span, places)
        room = limit - len(note_ids)
        # In a span the notes stand as they came to have the word. That matters only where some are
        # cut.
        if len(ids_of_span) > room:
            ids_of_span = sorted(ids_of_span, reverse=True)[:room]
        note_ids += ids_of_span
        if len(note_ids) == limit:
            break
    return note_ids


async def recallable(source: Source, note_ids: Collection[int]) -> list[Note]:
    """Return those of these notes that may be recalled, of people who are not hidden and of the channel."""
    condition = f"""
        n.id {_LISTED}
            AND n.status IN ('active', 'past')
            AND n.fact <> ''
            AND (n.subject_id IS NULL OR EXISTS (SELECT 1 FROM shown v WHERE v.id = n.subject_id))
    """
    return await notes.where(source, condition, (note_ids,))
