"""Notes: all of them, one with its origin, what is learned in each stream, and names that an erasure left in doubt."""

from collections.abc import Mapping, Sequence

from aiohttp import web

from forgetmenot.dock.context import (
    DockContext,
    id_of,
    name_of,
    named_rows,
    names,
    page_of,
    reads,
)
from forgetmenot.domain import Note
from forgetmenot.errors import InputError
from forgetmenot.languages import reason
from forgetmenot.store import dock_rows, notes, personal_data, picture_rows
from forgetmenot.store.database import Database
from forgetmenot.store.names import by_login
from forgetmenot.text.mentions import with_names

# Characters of a filter that are read.
LONGEST_NAME = 60
LONGEST_SEARCH = 80
# How many of the latest streams the picture of what is learned shows.
LEARNED_STREAMS = 60


async def _notes(context: DockContext, request: web.Request) -> object:
    """Return a part of the notes that fit the query. Raises InputError for an odd one."""
    query = request.query
    offset, limit = page_of(request)
    scope = query.get("scope", "")
    status = query.get("status", "live")
    if scope not in dock_rows.SCOPES or status not in dock_rows.STATUSES:
        raise InputError(reason("request_odd"))
    total, rows = await dock_rows.page(
        context.db,
        scope=scope,
        subject=query.get("subject", "")[:LONGEST_NAME],
        status=status,
        find=query.get("find", "")[:LONGEST_SEARCH],
        offset=offset,
        limit=limit,
    )
    return {"total": total, "rows": await _items(context, rows)}


async def _items(context: DockContext, rows: Sequence[Note]) -> list[dict[str, object]]:
    """Return notes as the page shows them."""
    editors = await dock_rows.editors(context.db, [note.id for note in rows])
    facts = [note.fact for note in rows]
    subject_ids = [note.subject_id for note in rows]
    people = [*subject_ids, *editors.values()]
    shown_names = await names(context.db, facts, people)
    suppressions = await _suppressions(context.db)
    # The dock acts in the streamer's name: what they edited is "edited by you".
    channel = context.settings().twitch.channel
    streamer_id = await by_login(context.db, channel.casefold())
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


def _item(note: Note, shown_names: Mapping[str, str]) -> dict[str, object]:
    """Return what a note itself says of how it is shown."""
    return {
        "id": note.id,
        "scope": note.scope,
        "subject": note.subject_id,
        "who": name_of(note.subject_id, shown_names),
        "fact": with_names(note.fact, shown_names),
        "confidence": round(note.confidence, 3),
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


async def _note(context: DockContext, request: web.Request) -> object:
    """Return one note; with `chain` also where it comes from and was used.

    Raises InputError if there is none, or if it is of somebody who is hidden.
    """
    note_id = id_of(request)
    note = await dock_rows.note(context.db, note_id)
    if note is None:
        raise InputError(reason("nothing_here"))
    [item] = await _items(context, [note])
    # A list of notes does without: where one comes from takes several queries.
    if request.query.get("chain"):
        item["chain"] = await context.control.chain(note_id)
    return item


async def _doubtful(context: DockContext, _request: web.Request) -> object:
    """Return the texts of others in which erasures left a name that may be a word: table, row, text."""
    rows = await personal_data.doubtful_texts(context.db, context.clock.now())
    return await named_rows(context.db, rows, "text")


async def _learned(context: DockContext, _request: web.Request) -> object:
    """Return how many notes were new, confirmed, replaced and gone in each stream."""
    rows = await picture_rows.learned(context.db, LEARNED_STREAMS)
    return [dict(row) for row in rows]


async def _learned_in(context: DockContext, request: web.Request) -> object:
    """Return the notes behind one stream's bar."""
    rows = await picture_rows.learned_in(context.db, id_of(request))
    items = await named_rows(context.db, rows, "fact")
    subject_ids = [row["subject_id"] for row in rows]
    shown_names = await names(context.db, (), subject_ids)
    changes = []
    for item in items:
        change = {
            "kind": item["kind"],
            "at": item["at"],
            "note": item["note_id"],
            "scope": item["scope"],
            "who": name_of(item["subject_id"], shown_names),
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
