"""The Memory panel and the Rights panel: people, their notes, the channel's, streams with episodes, a note's chain."""

from collections.abc import Sequence

from aiohttp import web

from forgetmenot.clock import DAY
from forgetmenot.dock.context import CONTEXT, DockContext, answer, id_of, names, page_of
from forgetmenot.domain.memory import Note
from forgetmenot.errors import InputError
from forgetmenot.languages import reason
from forgetmenot.memory.episodes.viewer_briefs import about_viewer
from forgetmenot.operations.wording import sentence
from forgetmenot.store import channel_state, dock_rows, notes
from forgetmenot.store.dock_rows import NotePage, PersonRow
from forgetmenot.text.mentions import PROVISIONAL, show

SCOPES = frozenset({"", "viewer", "channel"})
STATUSES = frozenset({"live", "past", "review", "any"})
STREAMS = 60


def person_json(person: PersonRow, regular_streams: int) -> dict[str, object]:
    """Somebody as the page shows them."""
    return {
        **person._asdict(),
        "opted_out": bool(person.opted_out),
        "banned": bool(person.banned),
        "erasing": bool(person.erasing),
        "regular": person.lately >= regular_streams,
        "provisional": person.id.startswith(PROVISIONAL),
    }


def _since(context: DockContext) -> int:
    return context.clock.now() - context.settings().people.regular_within_d * DAY


async def _people(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    offset, limit = page_of(request)
    total, people = await dock_rows.people(
        context.db,
        find=request.query.get("find", "")[:50],
        since=_since(context),
        bot=await channel_state.read(context.db, "bot_id"),
        offset=offset,
        limit=limit,
        only="opted_out" if request.query.get("only") == "opted_out" else "",
    )
    regular = context.settings().people.regular_streams
    return answer({"total": total, "rows": [person_json(person, regular) for person in people]})


async def _person(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    person = await dock_rows.person(context.db, request.match_info["id"], _since(context))
    if person is None:
        raise InputError(reason("no_viewer"))
    alone = [row for row in await notes.suppressions(context.db) if row.viewer_id == person.id]
    known = person_json(person, context.settings().people.regular_streams)
    brief, streams = await about_viewer(context.db, person.id)
    known |= {"brief": brief, "in_streams": streams}
    return answer({**known, "left_alone": [{"id": row.id, "words": row.words, "note": row.note_id} for row in alone]})


async def _notes(request: web.Request) -> web.Response:
    context, query = request.app[CONTEXT], request.query
    offset, limit = page_of(request)
    scope, status = query.get("scope", ""), query.get("status", "live")
    if scope not in SCOPES or status not in STATUSES:
        raise InputError(reason("no_notes"))
    wanted = NotePage(scope, query.get("subject", "")[:60], status, query.get("find", "")[:80], offset, limit)
    total, rows = await dock_rows.page(context.db, wanted)
    return answer({"total": total, "rows": await notes_json(context, rows)})


async def notes_json(context: DockContext, rows: Sequence[Note]) -> list[dict[str, object]]:
    """Notes as the page shows them."""
    known = await names(context.db, (note.fact for note in rows), (note.subject_id for note in rows))
    alone = {row.note_id: row.id for row in await notes.suppressions(context.db) if row.note_id is not None}
    return [
        {
            "id": note.id, "scope": note.scope, "subject": note.subject_id, "who": known.get(note.subject_id or "", ""),
            "fact": show(note.fact, known), "confidence": round(note.confidence, 3), "status": note.status,
            "source": note.source_kind, "importance": note.importance, "created_at": note.created_at,
            "confirmed_at": note.last_confirmed_at, "expires_at": note.expires_at, "pinned": note.pinned,
            "replaced_by": note.superseded_by, "episodes": len(note.episode_ids), "left_alone": alone.get(note.id),
        }
        for note in rows
    ]  # fmt: skip


async def _shown(request: web.Request) -> Note:
    """The note that is asked for, unless it is of somebody who is hidden. Raises InputError."""
    note = await dock_rows.note(request.app[CONTEXT].db, number := id_of(request))
    if note is None:
        raise InputError(reason("note_hidden", n=number))
    return note


async def _note(request: web.Request) -> web.Response:
    note = await _shown(request)
    return answer((await notes_json(request.app[CONTEXT], [note]))[0])


async def _chain(request: web.Request) -> web.Response:
    await _shown(request)
    context = request.app[CONTEXT]
    return answer(await context.control.chain(id_of(request)), language=context.language)


async def _streams(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    rows = await dock_rows.streams(context.db, STREAMS)
    known = await names(context.db, (row["recap"] for row in rows))
    columns = ("id", "started_at", "ended_at", "title", "category", "episodes", "people")
    return answer([{**{name: row[name] for name in columns}, "recap": show(row["recap"], known)} for row in rows])


async def _episodes(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    rows = await dock_rows.episodes_of(context.db, id_of(request))
    known = await names(context.db, (row["summary"] for row in rows))
    return answer([{**dict(row), "summary": show(row["summary"], known)} for row in rows])


async def _left_alone(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    rows = await notes.suppressions(context.db)
    known = await names(context.db, (), (row.viewer_id for row in rows))
    return answer(
        [
            {
                "id": row.id,
                "viewer": row.viewer_id,
                "who": known.get(row.viewer_id or "", ""),
                "words": row.words,
                "note": row.note_id,
            }
            for row in rows
        ]
    )


async def _export(request: web.Request) -> web.Response:
    params = {"viewer": request.match_info["id"]}
    result = await request.app[CONTEXT].control.run("export", params, lambda _share, _step: None)
    if not result.ok:
        raise InputError(sentence(result, request.app[CONTEXT].language))
    response = answer(dict(result.data))
    response.headers["Content-Disposition"] = 'attachment; filename="forgetmenot-export.json"'
    return response


ROUTES = (
    web.get("/api/people", _people),
    web.get("/api/person/{id}", _person),
    web.get("/api/notes", _notes),
    web.get("/api/note/{id}", _note),
    web.get("/api/chain/{id}", _chain),
    web.get("/api/streams", _streams),
    web.get("/api/stream/{id}", _episodes),
    web.get("/api/left_alone", _left_alone),
    web.get("/api/export/{id}", _export),
)
