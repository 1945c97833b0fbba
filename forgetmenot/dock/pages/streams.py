"""Streams: each with its recap and summaries, and its evening by the minute."""

from aiohttp import web

from forgetmenot.dock.context import DockContext, id_of, name_of, names, reads
from forgetmenot.domain import NOTHING
from forgetmenot.errors import InputError
from forgetmenot.languages import reason
from forgetmenot.memory.missed import stream_so_far
from forgetmenot.operations.handlers.viewers import SO_FAR_CHARS
from forgetmenot.store import dock_rows, figures, picture_rows, streams
from forgetmenot.text.mentions import with_names

STREAMS_LIMIT = 60


async def _streams(context: DockContext, _request: web.Request) -> object:
    """Return the latest streams."""
    rows = await dock_rows.streams(context.db, STREAMS_LIMIT)
    shown_names = await names(context.db, (row["recap"] for row in rows))
    current_id = await streams.current_id(context.db)
    items = []
    for row in rows:
        item = {**dict(row), "recap": with_names(row["recap"], shown_names)}
        # A recap is written when a stream is over: until then it is told so far.
        if row["id"] == current_id:
            now = context.clock.now()
            item["so_far"] = await stream_so_far(context.db, now, SO_FAR_CHARS)
        items.append(item)
    return items


async def _episodes(context: DockContext, request: web.Request) -> object:
    """Return the summaries of one stream; stretches in which nothing happened are left out."""
    rows = await dock_rows.episodes_of(context.db, id_of(request))
    shown_names = await names(context.db, (row["summary"] for row in rows))
    items = []
    for row in rows:
        if row["summary"] != NOTHING:
            summary = with_names(row["summary"], shown_names)
            items.append({**dict(row), "summary": summary})
    return items


async def _evening(context: DockContext, request: web.Request) -> object:
    """Return one stream: chat by the minute, what happened, and when the bot spoke. Raises InputError for none."""
    db = context.db
    stream = await picture_rows.stream(db, id_of(request))
    if stream is None:
        raise InputError(reason("nothing_here"))
    moments = await figures.moments_of(db, stream["id"])
    shown_names = await names(db, (), (row["viewer_id"] for row in moments))
    minutes = await figures.minutes_of(db, stream["id"])
    items = []
    for row in moments:
        items.append(
            {
                "at": row["at"],
                "kind": row["kind"],
                "text": row["text"],
                "viewer": row["viewer_id"],
                "who": name_of(row["viewer_id"], shown_names),
            }
        )
    replies = await picture_rows.replies_between(db, stream["at"], stream["until"])
    return {
        **dict(stream),
        "minutes": [tuple(row) for row in minutes],
        "moments": items,
        "replies": replies,
    }


ROUTES = (
    reads("/api/streams", _streams),
    reads("/api/stream/{id}", _episodes),
    reads("/api/evening/{id}", _evening),
)
