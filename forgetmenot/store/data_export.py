"""Exports everything that is stored about one person, row by row, as it stands in the database."""

from functools import partial

from forgetmenot.languages import read_reason
from forgetmenot.store.database import Database, Row, Source

_NAMED = "'<@' || ?1 || '>'"


_THEIR_NOTES = "(SELECT id FROM semantic_notes WHERE subject_id = ?1)"


EXPORT_PARTS = {
    "person": "viewers WHERE id = ?1",
    "names": "viewer_names WHERE viewer_id = ?1",
    "words_of_names": "name_words WHERE viewer_id = ?1",
    "streams": "attendance WHERE viewer_id = ?1",
    "moments": "moments WHERE viewer_id = ?1",
    "lines": "events WHERE viewer_id = ?1 AND redacted_at IS NULL",
    "moderation": "events WHERE target_id = ?1",
    "notes": "semantic_notes WHERE subject_id = ?1",
    "notes_history": f"note_changes WHERE note_id IN {_THEIR_NOTES}",
    "evidence": f"note_evidence WHERE note_id IN {_THEIR_NOTES}",
    # What somebody told of others is theirs as well: the evidence names who said it.
    "said_about_others": "semantic_notes WHERE subject_id IS NOT ?1"
    " AND id IN (SELECT note_id FROM note_evidence WHERE speaker_id = ?1)",
    "mentioned_in_notes": f"semantic_notes WHERE subject_id IS NOT ?1 AND instr(fact, {_NAMED})",
    "summaries": "episodes WHERE id IN (SELECT episode_id FROM episode_people WHERE viewer_id = ?1)",
    "recaps": f"streams WHERE instr(recap || so_far, {_NAMED})",
    "quotes": "quotes WHERE viewer_id = ?1 OR by_id = ?1",
    "mentioned_in_quotes": f"quotes WHERE viewer_id <> ?1 AND instr(text, {_NAMED})",
    "briefs": "briefs WHERE viewer_id = ?1",
    "replies": "bot_messages WHERE viewer_id = ?1 OR about_id = ?1",
    "actions": "action_logs WHERE asked_by = ?1 OR target_id = ?1",
    "never_mention": "never_mention WHERE viewer_id = ?1 OR by_id = ?1",
    "channel_texts": f"channel_state WHERE instr(value, {_NAMED})",
}


# Columns that an export shows only if they hold the person's own id: ids of others, and a path of the streamer's.
_OWN_ID_ONLY = {
    "subject_id",
    "viewer_id",
    "about_id",
    "speaker_id",
    "asked_by",
    "target_id",
    "decided_by",
    "by_id",
    "recap_file",
}


Rows = list[dict[str, object]]


async def export(db: Database, viewer_id: str) -> dict[str, Rows]:
    """Return what is stored about a viewer, by kind, `person` first. Times in ms; people in texts as `<@id>`."""
    # Row by row as it stands, so that nothing is left out by a query that forgot it.
    parts = {}
    for name, from_where in EXPORT_PARTS.items():
        sql = f"SELECT * FROM {from_where} ORDER BY 1"
        # in the reader's thread: thousands of rows would hold the event loop
        parts[name] = await db.together(partial(_rows, sql, viewer_id))
    return parts


async def _rows(sql: str, viewer_id: str, source: Source) -> Rows:
    """Return the rows of a part, as `_exported` gives them."""
    rows = await source.rows(sql, (viewer_id,))
    return [_exported(row, viewer_id) for row in rows]


def _exported(row: Row, viewer_id: str) -> dict[str, object]:
    """Return the columns of a row without the ids of other people; causes and reasons as sentences."""
    columns: dict[str, object] = {}
    for name, value in dict(row).items():
        if name in _OWN_ID_ONLY and value != viewer_id:
            continue
        columns[name] = value
        if name in {"cause", "reason"}:
            columns[name] = read_reason(str(value))
    return columns
