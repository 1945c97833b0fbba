"""Server-sent events: how a stream of them begins, one event, and the comment that keeps a silent stream open."""

import msgspec
from aiohttp import web

# Proxies and clients give up a stream that is silent for half a minute or a minute.
STILL_HERE_EVERY_S = 15.0
STILL_HERE = b": still here\n\n"


async def open_stream(request: web.Request) -> web.StreamResponse:
    """Return the answer to a request for events, with its headers sent."""
    response = web.StreamResponse(
        headers={"Content-Type": "text/event-stream; charset=utf-8"}
    )
    await response.prepare(request)
    # Milliseconds: after a restart of the bot a listener is back within a second.
    await response.write(b"retry: 1000\n\n")
    return response


def event(name: str, data: object) -> bytes:
    """Return one event, its data as JSON."""
    return f"event: {name}\ndata: ".encode() + msgspec.json.encode(data) + b"\n\n"
