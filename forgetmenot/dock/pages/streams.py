"""Streams: each with its recap and summaries, and its evening by the minute."""

from aiohttp import web

from forgetmenot.dock.context import (
    DockContext,
    Item,
    id_of,
    name_of,
    named_rows,
    names,
    reads,
)
from forgetmenot.domain import NOTHING
from forgetmenot.errors import InputError
from forgetmenot.languages import reason
from forgetmenot.memory.missed import stream_so_far
from forgetmenot.operations.handlers.viewers import SO_FAR_CHARS
from forgetmenot.store import dock_rows, figures, picture_rows, streams
from forgetmenot.store.database import Database

STREAMS_LIMIT = 60


async def _streams(context: DockContext, _request: web.Request) -> object:
    """Return the latest streams."""
    rows = await dock_rows.streams(context.db, STREAMS_LIMIT)
    items = await named_rows(context.db, rows, "recap")
    current_id = await streams.current_id(context.db)
    for item in items:
        # A recap is written when a stream is over: until then it is told so far.
        if item["id"] == current_id:
            now = context.clock.now()
            item["so_far"] = await stream_so_far(context.db, now, SO_FAR_CHARS)
    return items


async def _episodes(context: DockContext, request: web.Request) -> object:
    """Return the summaries of one stream; stretches in which nothing happened are left out."""
    rows = await dock_rows.episodes_of(context.db, id_of(request))
    eventful_rows = [row for row in rows if row["summary"] != NOTHING]
    return await named_rows(context.db, eventful_rows, "summary")


async def _evening(context: DockContext, request: web.Request) -> object:
    """Return one stream: chat by the minute, what happened, and when the bot spoke. Raises InputError for none."""
    db = context.db
    stream = await picture_rows.stream(db, id_of(request))
    if stream is None:
        raise InputError(reason("nothing_here"))
    minutes = await figures.minutes_of(db, stream["id"])
    # A reply has no stream of its own: it is one of the time in which the stream was on.
    replies = await picture_rows.replies_between(db, stream["at"], stream["until"])
    return {
        **dict(stream),
        "minutes": [tuple(row) for row in minutes],
        "moments": await _moments(db, stream["id"]),
        "replies": replies,
    }


async def _moments(db: Database, stream_id: int) -> list[Item]:
    """Return what happened in a stream: raids, subs, clips and others, each with who it was."""
    rows = await figures.moments_of(db, stream_id)
    viewer_ids = [row["viewer_id"] for row in rows]
    shown_names = await names(db, (), viewer_ids)
    moments: list[Item] = []
    for row in rows:
        viewer_id = row["viewer_id"]
        moment = {
            "at": row["at"],
            "kind": row["kind"],
            "text": row["text"],
            "viewer": viewer_id,
            "who": name_of(viewer_id, shown_names),
        }
        moments.append(moment)
    return moments


ROUTES = (
    reads("/api/streams", _streams),
    reads("/api/stream/{id}", _episodes),
    reads("/api/evening/{id}", _evening),
)
