"""What can be done from the page: `POST /api/do/NAME` with a small JSON body, answered with {"ok", "line"}."""

from collections.abc import Awaitable, Callable
from typing import Annotated

import msgspec
from aiohttp import web
from msgspec import Meta

from forgetmenot.dock.desk import DESK, Desk, answer, refusal
from forgetmenot.errors import ModelError
from forgetmenot.ports import Told


class Body(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A deed's body; which of these it needs is the deed's own."""

    id: Annotated[int, Meta(ge=0, le=2**53)] = 0
    viewer: str | None = None
    text: str = ""
    on: bool = True
    minutes: int = 0
    table: str = ""
    key: str = ""
    value: object = None


Deed = Callable[[Desk, Body], Awaitable[Told]]
LONGEST_TEXT = 4_000


async def _set(desk: Desk, body: Body) -> Told:
    return await desk.control.change_setting(body.table, body.key, body.value)


async def _erase(desk: Desk, body: Body) -> Told:
    """Every open page is told how far it is: it takes some seconds in a memory of years."""
    viewer = body.viewer or ""
    return await desk.control.erase(
        viewer, lambda share, what: desk.tell("erasing", {"viewer": viewer, "share": share, "what": what})
    )


DEEDS: dict[str, Deed] = {
    "switch": lambda desk, body: desk.control.switch(body.text, body.minutes),
    "approve": lambda desk, body: desk.control.approve(body.id),
    "deny": lambda desk, body: desk.control.deny(body.id),
    "undo": lambda desk, body: desk.control.undo(body.id),
    "remember": lambda desk, body: desk.control.remember(body.viewer, body.text, bit=body.key == "bit"),
    "edit": lambda desk, body: desk.control.edit(body.id, body.text),
    "pin": lambda desk, body: desk.control.pin(body.id, on=body.on),
    "retract": lambda desk, body: desk.control.retract(body.id),
    "restore": lambda desk, body: desk.control.restore(body.id),
    "leave_alone": lambda desk, body: desk.control.leave_alone(body.viewer, body.text),
    "allow_again": lambda desk, body: desk.control.allow_again(body.id),
    "erase": _erase,
    "opt_out": lambda desk, body: desk.control.opt_out(body.viewer or "", on=body.on),
    "set": _set,
}


async def _do(request: web.Request) -> web.Response:
    desk = request.app[DESK]
    deed = DEEDS.get(request.match_info["name"])
    if deed is None:
        raise web.HTTPNotFound
    body = await _body(request)
    if body is None:
        return refusal(400, "That was not understood. Reload the page.")
    told = await deed(desk, body)
    desk.touched()
    return answer(told)


async def _try(request: web.Request) -> web.Response:
    desk: Desk = request.app[DESK]
    body = await _body(request)
    if body is None or not body.text.strip():
        return refusal(400, "Type a message to try.")
    try:
        return answer({"ok": True, **await desk.control.try_out(body.viewer or "", body.text)})
    except ModelError as error:
        return refusal(409, str(error))


async def _body(request: web.Request) -> Body | None:
    """The body, or None for what is none."""
    try:
        body = msgspec.json.decode(await request.read(), type=Body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, web.RequestPayloadError):
        return None
    return body if len(body.text) <= LONGEST_TEXT else None


ROUTES = (web.post("/api/do/{name}", _do), web.post("/api/try", _try))
