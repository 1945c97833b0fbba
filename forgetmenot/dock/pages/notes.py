"""Notes: all of them, one with its origin, what is learned in each stream, and names that an erasure left in doubt."""

from collections.abc import Sequence

from aiohttp import web

from forgetmenot.dock.context import DockContext, id_of, name_of, names, page_of, reads
from forgetmenot.domain import Note
from forgetmenot.errors import InputError
from forgetmenot.languages import reason
from forgetmenot.store import dock_rows, notes, personal_data, picture_rows
from forgetmenot.store.names import by_login
from forgetmenot.text.mentions import with_names

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
        subject=query.get("subject", "")[:60],
        status=status,
        find=query.get("find", "")[:80],
        offset=offset,
        limit=limit,
    )
    return {"total": total, "rows": await notes_json(context, rows)}


async def notes_json(
    context: DockContext, rows: Sequence[Note]
) -> list[dict[str, object]]:
    """Return notes as the page shows them."""
    editors = await dock_rows.editors(context.db, [note.id for note in rows])
    people = [*(note.subject_id for note in rows), *editors.values()]
    shown_names = await names(context.db, (note.fact for note in rows), people)
    # The dock acts in the streamer's name: what they edited is "edited by you".
    streamer_id = await by_login(
        context.db, context.settings().twitch.channel.casefold()
    )
    # By note: the entry of the list of what is never mentioned that names it.
    suppressions = {}
    for row in await notes.suppressions(context.db):
        if row.note_id is not None:
            suppressions[row.note_id] = row.id
    return [
        {
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
            "left_alone": suppressions.get(note.id),
            "edited": note.id in editors,
            "edited_by_you": editors.get(note.id, "") == streamer_id,
            "edited_by": name_of(editors.get(note.id), shown_names),
        }
        for note in rows
    ]


async def _note(context: DockContext, request: web.Request) -> object:
    """Return one note; with `chain` also where it comes from and was used.

    Raises InputError if there is none, or if it is of somebody who is hidden.
    """
    note_id = id_of(request)
    note = await dock_rows.note(context.db, note_id)
    if note is None:
        raise InputError(reason("nothing_here"))
    [shown_note] = await notes_json(context, [note])
    if request.query.get("chain"):
        shown_note["chain"] = await context.control.chain(note_id)
    return shown_note


async def _doubtful(context: DockContext, _request: web.Request) -> object:
    """Return the texts of others in which erasures left a name that may be a word: table, row, text."""
    rows = await personal_data.doubtful_texts(context.db, context.clock.now())
    shown_names = await names(context.db, (str(row["text"]) for row in rows))
    items = []
    for row in rows:
        item = dict(row)
        item["text"] = with_names(str(row["text"]), shown_names)
        items.append(item)
    return items


async def _learned(context: DockContext, _request: web.Request) -> object:
    """Return how many notes were new, confirmed, replaced and gone in each stream."""
    rows = await picture_rows.learned(context.db, LEARNED_STREAMS)
    return [dict(row) for row in rows]


async def _learned_in(context: DockContext, request: web.Request) -> object:
    """Return the notes behind one stream's bar."""
    rows = await picture_rows.learned_in(context.db, id_of(request))
    facts = [row["fact"] for row in rows]
    subject_ids = [row["subject_id"] for row in rows]
    shown_names = await names(context.db, facts, subject_ids)
    changes = []
    for row in rows:
        change = {
            "kind": row["kind"],
            "at": row["at"],
            "note": row["note_id"],
            "scope": row["scope"],
            "who": name_of(row["subject_id"], shown_names),
            "fact": with_names(row["fact"], shown_names),
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
