"""Answers requests below /v1/: who may ask, and what.

Guarantees:
- Nothing is answered, not even that it exists, while the interface is off in the settings.
- Only programs on this computer ask: the dock's server listens on 127.0.0.1 and refuses other host names. A web page
  never may: a browser adds `Origin` or `Sec-Fetch-Site`, and no page can leave them away.
- Each request needs the interface's own token, which cannot act and does not open the dock.
- It only reads. Somebody who may not be told of is answered like somebody who was never here.
"""

import hmac
from collections.abc import Callable

import msgspec
from aiohttp import web
from msgspec import Struct

from forgetmenot.clock import Clock
from forgetmenot.local_api import answers, description, events
from forgetmenot.server_sent_events import open_stream
from forgetmenot.settings.schema import Settings
from forgetmenot.store.database import Database

PREFIX = "/v1/"
TOKEN_FILE = "api-token"  # noqa: S105  # a file's name
# A stream holds a connection of the dock's server: a program that opens one after the other must not take them all.
LISTENERS_LIMIT = 8
_UNAUTHORIZED = "The token is missing or wrong. `forgetmenot connect` prints it."
# A browser adds one of them to each request of a page, and no page can leave it away.
_BROWSER_HEADERS = ("Origin", "Sec-Fetch-Site")


class LocalApi(Struct):
    """The interface over one memory.

    `token` is what a request must bring; `listeners`: open streams of events.
    """

    db: Database
    settings: Callable[[], Settings]
    clock: Clock
    token: str
    listeners: int = 0

    async def respond(self, request: web.Request) -> web.StreamResponse:
        """Answer one request below /v1/."""
        if not self.settings().local_api.enabled:
            raise web.HTTPNotFound
        # Before the token is looked at, so that a page learns nothing of it.
        if any(name in request.headers for name in _BROWSER_HEADERS):
            return _error(403, "Web pages may not use this interface.")
        if not self._has_token(request):
            return _error(401, _UNAUTHORIZED)
        path = request.path.removeprefix(PREFIX)
        if path == "events":
            return await self._events(request)
        answer = await self._answer(path, request.host)
        # The same for a path that there is not and for somebody who may not be told of.
        if answer is None:
            return _error(404, "There is nothing here.")
        return _json(answer)

    def _has_token(self, request: web.Request) -> bool:
        """Return whether a request brings the interface's own token."""
        header = request.headers.get("Authorization", "")
        expected_header = f"Bearer {self.token}".encode()
        # Bytes that are no text come as half characters, which cannot be encoded without "replace".
        sent_header = header.encode("utf-8", "replace")
        return hmac.compare_digest(sent_header, expected_header)

    async def _answer(self, path: str, host: str) -> object | None:
        """Return what is to be read at a path; None where there is nothing."""
        db = self.db
        settings = self.settings()
        now = self.clock.now()
        folder, _, login = path.partition("/")
        if folder == "viewers" and login:
            return await answers.viewer(db, settings, login, now)
        if path == "channel":
            return await answers.channel(db)
        if path == "book":
            return await answers.book(db, now)
        if path == "recap":
            return await answers.recap(db, settings)
        if path == "openapi.json":
            return description.document(host)
        return None

    async def _events(self, request: web.Request) -> web.StreamResponse:
        """Send events until the listener leaves or the interface is switched off."""
        # 503 rather than 429: the program did nothing wrong and may try again.
        if self.listeners >= LISTENERS_LIMIT:
            return _error(503, "Too many programs listen already.")
        self.listeners += 1
        try:
            return await self._send_events(request)
        finally:
            self.listeners -= 1

    async def _send_events(self, request: web.Request) -> web.StreamResponse:
        """Write events as they happen, until one of the two ends it."""
        watch = events.Watch(self.db, self.settings, self.clock)
        # Before the headers: what happens once the listener has them is not missed.
        await watch.begin()
        response = await open_stream(request)
        try:
            async for event in watch.events():
                await response.write(event)
        except ConnectionError:
            # The listener went away; that is how most streams end.
            pass
        return response


def _json(value: object, status: int = 200) -> web.Response:
    """Return a value as JSON."""
    body = msgspec.json.encode(value)
    return web.Response(body=body, status=status, content_type="application/json")


def _error(status: int, sentence: str) -> web.Response:
    """Return a refusal with its sentence."""
    return _json({"error": sentence}, status)
