"""api.twitch.tv/helix on loopback: who may call, faults, the record of every call, and the way to each handler.

Paths, parameters and answers are those that twitchio 3.3.2 sends and reads and that Twitch documents; the wording of
refusals follows the documentation and was not checked against the real service.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from aiohttp import web

from forgetmenot.sim.call import Bucket, Call, Refused, refusal
from forgetmenot.sim.faults import Faults, hang_up, strike
from forgetmenot.sim.oauth import Token, Tokens

Handler = Callable[[Call], Awaitable[web.Response]]
Routes = Mapping[tuple[str, str], Handler]
_NOBODY = Token("", "", "", "", ())


@dataclass(frozen=True, slots=True)
class Recorded:
    """A call as it came over the wire, and the status it got (0: none). `user_id`: whose token it was, if any."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: Mapping[str, object] = field(default_factory=dict)
    user_id: str = ""
    status: int = 0

    def param(self, name: str) -> str:
        """A query parameter, or ""."""
        return (self.query.get(name) or [""])[0]


class Helix:
    """The HTTP side. `requests` is every call; `actions` those other than chat messages that changed something."""

    def __init__(self, tokens: Tokens, faults: Faults) -> None:
        self.tokens = tokens
        self.faults = faults
        self.bucket = Bucket()
        self.requests: list[Recorded] = []
        self.actions: list[Recorded] = []
        self._routes: dict[tuple[str, str], Handler] = {}

    def add(self, routes: Routes) -> None:
        """Answer these, too: (method, path) → handler."""
        self._routes.update(routes)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One call: fault, checks, handler, record."""
        path = request.match_info["path"].strip("/")
        fault = self.faults.take("helix", request.method, path)
        query = {key: request.query.getall(key) for key in request.query}
        body = await _json(request)
        if fault is not None and (struck := await strike(fault, request)) is not None:
            self._record(request, path, query, body, 0 if fault.drop else struck.status)
            return struck
        answer = await self._answer(request, Call(request.method, path, _NOBODY, query, body))
        self._record(request, path, query, body, answer.status)
        answer.headers.update(self.bucket.headers())
        return hang_up(request) if fault is not None and fault.lose else answer

    async def _answer(self, request: web.Request, call: Call) -> web.Response:
        try:
            token = self._token(request)
            handler = self._handler(call)
            return await handler(Call(call.method, call.path, token, call.query, call.body))
        except Refused as refused:
            return refusal(refused)

    def _handler(self, call: Call) -> Handler:
        if not self.bucket.take():
            raise Refused(429, "Too Many Requests")
        handler = self._routes.get((call.method, call.path))
        if handler is None:
            raise Refused(404, "Not Found")
        return handler

    def _token(self, request: web.Request) -> Token:
        given = request.headers.get("Authorization", "")
        if not given:
            raise Refused(401, "OAuth token is missing")
        token = self.tokens.valid(given.removeprefix("Bearer "))
        if token is None:
            raise Refused(401, "Invalid OAuth token")
        client_id = request.headers.get("Client-Id", "")
        if not client_id:
            raise Refused(401, "Client ID is missing")
        if client_id != self.tokens.client_id:
            raise Refused(401, "Client ID and OAuth token do not match")
        return token

    def _record(
        self,
        request: web.Request,
        path: str,
        query: Mapping[str, list[str]],
        body: Mapping[str, object],
        status: int,
    ) -> None:
        token = self.tokens.valid(request.headers.get("Authorization", "").removeprefix("Bearer "))
        headers = {key: value for key, value in request.headers.items() if key != "Authorization"}
        user_id = token.user_id if token is not None else ""
        recorded = Recorded(request.method, path, query, headers, body, user_id, status)
        self.requests.append(recorded)
        if request.method != "GET" and path != "chat/messages" and 200 <= status < 300:
            self.actions.append(recorded)


async def _json(request: web.Request) -> Mapping[str, object]:
    try:
        body = json.loads(await request.text() or "{}")
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
