"""The Memory panel and the Rights panel: people, their notes, the channel's, streams with episodes, a note's chain."""

from collections.abc import Sequence

from aiohttp import web

from forgetmenot.clock import DAY
from forgetmenot.dock.context import CONTEXT, DockContext, answer, id_of, names, page_of
from forgetmenot.domain.memory import Note
from forgetmenot.errors import InputError
from forgetmenot.operations.wording import sentence
from forgetmenot.store import channel_state, notes
from forgetmenot.store.dock import memory as dock_memory
from forgetmenot.store.dock.memory import NotePage, PersonRow
from forgetmenot.text.mentions import PROVISIONAL, show

SCOPES = frozenset({"", "viewer", "channel"})
STATUSES = frozenset({"live", "past", "any"})
STREAMS = 60


def person_json(one: PersonRow, regular_streams: int) -> dict[str, object]:
    """Somebody as the page shows them."""
    return {
        **one._asdict(),
        "opted_out": bool(one.opted_out),
        "banned": bool(one.banned),
        "erasing": bool(one.erasing),
        "regular": one.lately >= regular_streams,
        "provisional": one.id.startswith(PROVISIONAL),
    }


def _since(context: DockContext) -> int:
    return context.clock.now() - context.settings().people.regular_within_d * DAY


async def _people(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    offset, limit = page_of(request)
    total, found = await dock_memory.people(
        context.db,
        find=request.query.get("find", "")[:50],
        since=_since(context),
        bot=await channel_state.read(context.db, "bot_id"),
        offset=offset,
        limit=limit,
        only="opted_out" if request.query.get("only") == "opted_out" else "",
    )
    regular = context.settings().people.regular_streams
    return answer({"total": total, "rows": [person_json(one, regular) for one in found]})


async def _person(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    found = await dock_memory.person(context.db, request.match_info["id"], _since(context))
    if found is None:
        raise InputError("There is no viewer with that ID (any more).")
    alone = [row for row in await notes.suppressions(context.db) if row.viewer_id == found.id]
    known = person_json(found, context.settings().people.regular_streams)
    return answer({**known, "left_alone": [{"id": row.id, "words": row.words, "note": row.note_id} for row in alone]})


async def _notes(request: web.Request) -> web.Response:
    context, query = request.app[CONTEXT], request.query
    offset, limit = page_of(request)
    scope, status = query.get("scope", ""), query.get("status", "live")
    if scope not in SCOPES or status not in STATUSES:
        raise InputError("There are no such notes.")
    wanted = NotePage(scope, query.get("subject", "")[:60], status, query.get("find", "")[:80], offset, limit)
    total, found = await dock_memory.page(context.db, wanted)
    return answer({"total": total, "rows": await notes_json(context, found)})


async def notes_json(context: DockContext, found: Sequence[Note]) -> list[dict[str, object]]:
    """Notes as the page shows them."""
    known = await names(context.db, (note.fact for note in found), (note.subject_id for note in found))
    alone = {row.note_id: row.id for row in await notes.suppressions(context.db) if row.note_id is not None}
    return [
        {
            "id": note.id, "scope": note.scope, "subject": note.subject_id, "who": known.get(note.subject_id or "", ""),
            "fact": show(note.fact, known), "confidence": round(note.confidence, 3), "status": note.status,
            "source": note.source_kind, "importance": note.importance, "created_at": note.created_at,
            "confirmed_at": note.last_confirmed_at, "expires_at": note.expires_at, "pinned": note.pinned,
            "replaced_by": note.superseded_by, "episodes": len(note.episode_ids), "left_alone": alone.get(note.id),
        }
        for note in found
    ]  # fmt: skip


async def _shown(request: web.Request) -> Note:
    """The note that is asked for, unless it is of somebody who is hidden. Raises InputError."""
    found = await dock_memory.note(request.app[CONTEXT].db, number := id_of(request))
    if found is None:
        raise InputError(f"There is no note {number} (any more), or it is about somebody who is hidden.")
    return found


async def _note(request: web.Request) -> web.Response:
    found = await _shown(request)
    return answer((await notes_json(request.app[CONTEXT], [found]))[0])


async def _chain(request: web.Request) -> web.Response:
    await _shown(request)
    context = request.app[CONTEXT]
    chain = dict(await context.control.chain(id_of(request)))
    history = chain.get("history")
    for change in history if isinstance(history, list) else ():
        change["cause"] = context.language.translated(change["cause"])
    return answer(chain)


async def _streams(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    rows = await dock_memory.streams(context.db, STREAMS)
    known = await names(context.db, (row["recap"] for row in rows))
    columns = ("id", "started_at", "ended_at", "title", "category", "episodes", "people")
    return answer([{**{name: row[name] for name in columns}, "recap": show(row["recap"], known)} for row in rows])


async def _episodes(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    rows = await dock_memory.episodes_of(context.db, id_of(request))
    known = await names(context.db, (row.summary for row in rows))
    return answer([{**row._asdict(), "summary": show(row.summary, known)} for row in rows])


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
