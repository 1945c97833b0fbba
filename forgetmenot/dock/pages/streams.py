"""Streams: each with its recap and summaries, and its evening by the minute."""

from forgetmenot.dock.context import (
    Item,
    PageRequest,
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


async def _streams(page: PageRequest) -> object:
    """Return the latest streams."""
    rows = await dock_rows.streams(page.db, STREAMS_LIMIT)
    items = await named_rows(page.db, rows, "recap")
    current_id = await streams.current_id(page.db)
    for item in items:
        # A recap is written when a stream is over. Until then the page shows what happened so far.
        if item["id"] == current_id:
            so_far = await stream_so_far(page.db, page.now, SO_FAR_CHARS)
            item["so_far"] = so_far
    return items


async def _episodes(page: PageRequest) -> object:
    """Return the summaries of one stream; stretches in which nothing happened are left out."""
    rows = await dock_rows.episodes_of(page.db, page.row_id)
    eventful_rows = [row for row in rows if row["summary"] != NOTHING]
    return await named_rows(page.db, eventful_rows, "summary")


async def _evening(page: PageRequest) -> object:
    """Return one stream: chat by the minute, what happened, and when the bot spoke. Raises InputError for none."""
    db = page.db
    stream = await picture_rows.stream(db, page.row_id)
    if stream is None:
        raise InputError(reason("nothing_here"))
    stream_id = stream["id"]
    began_at = stream["at"]
    until = stream["until"]
    minutes = await figures.minutes_of(db, stream_id)
    moments = await _moments(db, stream_id)
    # A reply has no stream of its own: it is one of the time in which the stream was on.
    replies = await picture_rows.replies_between(db, began_at, until)
    return {
        **dict(stream),
        "minutes": [tuple(row) for row in minutes],
        "moments": moments,
        "replies": replies,
    }


async def _moments(db: Database, stream_id: int) -> list[Item]:
    """Return what happened in a stream: raids, subs, clips and others, each with who it was."""
    rows = await figures.moments_of(db, stream_id)
    viewer_ids = [row["viewer_id"] for row in rows]
    shown_names = await names(db, (), viewer_ids)
    moments = []
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
