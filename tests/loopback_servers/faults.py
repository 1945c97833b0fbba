"""What goes wrong on request, at connecting to chat and at each HTTP call of the loopback Twitch.

    sim.faults.add("helix", path="chat/messages", status=503, times=2)
    sim.faults.add("helix", path="moderation/bans", lose=True)      # carried out, but the answer never arrives
    sim.faults.add("irc", html=True, times=None)                    # a captive portal, until cleared

Connections to chat that are already open have their own: `sim.drop()`, `sim.stall()`, `sim.garbage()`.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from aiohttp import web

from forgetmenot.sim.twitch import error_body

LOGIN_PAGE = "<!doctype html><html><head><title>Welcome to the hotel</title></head><body>Please sign in.</body></html>"
FAR_AWAY = 3_600.0  # seconds: longer than anybody waits


@dataclass(slots=True)
class Fault:
    """One thing that goes wrong, for calls to `where` (irc, helix, oauth), `path`; `times` None: always.

    What happens, in this order: wait `delay` seconds · `stall` (never answer) · `drop` (hang up) · `html` (a captive
    portal's page) · `status` with `body` and `headers` · `lose` (carry it out, then hang up).
    """

    where: str
    path: str = ""
    times: int | None = 1
    delay: float = 0.0
    stall: bool = False
    drop: bool = False
    html: bool = False
    lose: bool = False
    status: int = 0
    body: object = None
    headers: Mapping[str, str] = field(default_factory=dict)
    used: int = 0


class Faults:
    """The faults that wait for their call."""

    def __init__(self) -> None:
        self.waiting: list[Fault] = []

    def add(self, where: str, **how: object) -> Fault:
        """Let matching calls go wrong; the fields are those of Fault. Earlier ones come first."""
        fault = Fault(where, **how)  # type: ignore[arg-type]  # a dataclass checks its own names
        self.waiting.append(fault)
        return fault

    def clear(self) -> None:
        """Let everything go right again."""
        self.waiting.clear()

    def take(self, where: str, path: str) -> Fault | None:
        """The fault of this call, counted; None if it goes right."""
        fault = next((one for one in self.waiting if one.where == where and one.path in ("", path)), None)
        if fault is not None:
            fault.used += 1
            if fault.used == fault.times:
                self.waiting.remove(fault)
        return fault


async def strike(fault: Fault, request: web.Request) -> web.StreamResponse | None:
    """What the caller gets instead of an answer; None if the call goes on after all."""
    await asyncio.sleep(FAR_AWAY if fault.stall else fault.delay)
    if fault.drop:
        return hang_up(request)
    if fault.html:
        return web.Response(text=LOGIN_PAGE, content_type="text/html", status=fault.status or 200)
    if fault.status:
        body = fault.body or error_body(fault.status, "")
        return web.json_response(body, status=fault.status, headers=fault.headers)
    return None


def hang_up(request: web.Request) -> web.Response:
    """Close the connection without a word."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()
