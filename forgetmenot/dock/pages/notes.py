"""Notes: all of them, one with its origin, what is learned in each stream, and names that an erasure left in doubt."""

from collections.abc import Mapping, Sequence

from forgetmenot.dock.context import (
    Item,
    PageRequest,
    name_of,
    named_rows,
    names,
    reads,
)
from forgetmenot.domain import Note
from forgetmenot.errors import InputError
from forgetmenot.languages import reason
from forgetmenot.operations.targets import owner_login
from forgetmenot.store import dock_rows, notes, personal_data, picture_rows
from forgetmenot.store.database import Database
from forgetmenot.store.names import by_login
from forgetmenot.text.mentions import with_names

# How many of the latest streams the picture of what is learned shows.
LEARNED_STREAMS = 60


async def _notes(page: PageRequest) -> object:
    """Return a part of the notes that fit the query. Raises InputError for an odd one."""
    offset, limit = page.part()
    scope = page.text("scope")
    status = page.text("status", "live")
    if scope not in dock_rows.SCOPES or status not in dock_rows.STATUSES:
        raise InputError(reason("request_odd"))
    total, rows = await dock_rows.page(
        page.db,
        scope=scope,
        subject=page.text("subject"),
        status=status,
        find=page.text("find"),
        offset=offset,
        limit=limit,
    )
    items = await _items(page, rows)
    return {"total": total, "rows": items}


async def _items(page: PageRequest, rows: Sequence[Note]) -> list[Item]:
    """Return notes as the page shows them."""
    note_ids = [note.id for note in rows]
    editors = await dock_rows.editors(page.db, note_ids)
    facts = [note.fact for note in rows]
    subject_ids = [note.subject_id for note in rows]
    people = [*subject_ids, *editors.values()]
    shown_names = await names(page.db, facts, people)
    suppressions = await _suppressions(page.db)
    # The dock acts in the streamer's name: what they edited is "edited by you".
    login = owner_login(page.settings.twitch.channel)
    streamer_id = await by_login(page.db, login)
    items = []
    for note in rows:
        item = _item(note, shown_names)
        editor_id = editors.get(note.id, "")
        # An editor who is hidden has no name here: it was edited, but nobody is named.
        item["edited"] = note.id in editors
        item["edited_by_you"] = editor_id == streamer_id
        item["edited_by"] = name_of(editor_id, shown_names)
        item["left_alone"] = suppressions.get(note.id)
        items.append(item)
    return items


def _item(note: Note, shown_names: Mapping[str, str]) -> Item:
    """Return what a note itself says of how it is shown."""
    subject_name = name_of(note.subject_id, shown_names)
    fact = with_names(note.fact, shown_names)
    confidence = round(note.confidence, 3)
    return {
        "id": note.id,
        "scope": note.scope,
        "subject": note.subject_id,
        "who": subject_name,
        "fact": fact,
        "confidence": confidence,
        "status": note.status,
        "source": note.source_kind,
        "said_at": note.first_said_at,
        "confirmed_at": note.last_confirmed_at,
        "stale": note.stale,
        "expires_at": note.expires_at,
        "pinned": note.pinned,
        "episodes": len(note.episode_ids),
    }


async def _suppressions(db: Database) -> dict[int, int]:
    """Return by note the entry of the list of what is never mentioned that names it."""
    entries = {}
    for row in await notes.suppressions(db):
        # Most entries are words, and name no note.
        if row.note_id is not None:
            entries[row.note_id] = row.id
    return entries


async def _note(page: PageRequest) -> object:
    """Return one note; with `chain` also where it comes from and was used.

    Raises InputError if there is none, or if it is of somebody who is hidden.
    """
    note_id = page.row_id
    note = await dock_rows.note(page.db, note_id)
    if note is None:
        raise InputError(reason("nothing_here"))
    [item] = await _items(page, [note])
    # A list of notes does without: where one comes from takes several queries.
    if page.text("chain"):
        control = page.context.control
        item["chain"] = await control.chain(note_id)
    return item


async def _doubtful(page: PageRequest) -> object:
    """Return the texts of others in which erasures left a name that may be a word: table, row, text."""
    rows = await personal_data.doubtful_texts(page.db, page.now)
    return await named_rows(page.db, rows, "text")


async def _learned(page: PageRequest) -> object:
    """Return how many notes were new, confirmed, replaced and gone in each stream."""
    rows = await picture_rows.learned(page.db, LEARNED_STREAMS)
    return [dict(row) for row in rows]


async def _learned_in(page: PageRequest) -> object:
    """Return the notes behind one stream's bar."""
    rows = await picture_rows.learned_in(page.db, page.row_id)
    items = await named_rows(page.db, rows, "fact")
    subject_ids = [row["subject_id"] for row in rows]
    shown_names = await names(page.db, (), subject_ids)
    changes = []
    for item in items:
        subject_id = item["subject_id"]
        change = {
            "kind": item["kind"],
            "at": item["at"],
            "note": item["note_id"],
            "scope": item["scope"],
            "who": name_of(subject_id, shown_names),
            "fact": item["fact"],
        }
        changes.append(change)
    return changes


ROUTES = (
    reads("/api/notes", _notes),
    reads("/api/note/{id}", _note),
    reads("/api/doubtful", _doubtful),
    reads("/api/learned", _learned),
    reads("/api/learned/{id}", _learned_in),
)
