"""Access to the dock: only from this machine, with the token in its address, from the page itself.

Guarantees, for every request:
- the `Host` is exactly ours, so no other name that points here works; an `Origin`, where there is one, is exactly ours;
- every answer with data needs the token in a header, which no other page can send; changing anything also needs POST,
  our `Origin` and JSON (for a dropped file: bytes). There is no cookie: cookies of 127.0.0.1 go to the programs on
  every port;
- the waiting page, which has a file's origin, gets one answer, and only if it has the token (obs_page);
- connections are limited in number (Connections), so that no local program can take the file handles that chat and
  the memory need. A connection carries one request.
"""

import asyncio
import contextlib
import hmac
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path

from aiohttp import web

from forgetmenot.dock import obs_page

HOST = "127.0.0.1"
TOKEN_FILE = "dock-token"  # noqa: S105  # a file's name
TOKEN_HEADER = "X-Dock-Token"  # noqa: S105  # a header's name
# The one request that brings a file instead of JSON.
UPLOAD = "/api/past_chat"
# Chromium opens at most six connections to one address; with many windows open this is far from what a system gives
# a process.
CONNECTIONS_LIMIT = 64
# Bytes of a token. Its text is longer: a text of fewer characters is none of ours.
TOKEN_LENGTH = 32
OTHER_PAGE = "Other web pages may not use the dock."
ADDRESS_AGAIN = "This link is not valid or has expired. Open the dock again: `forgetmenot dock` prints the address."

# frame-ancestors: a dock of OBS is a window of its own and no frame, so nothing has a reason to frame the page.
# trusted-types: no text can become markup, not even by a fault in the page's own scripts.
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src "
    "'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
# Makes a refusal from a status and a sentence.
RefusalAnswer = Callable[[int, str], web.Response]


def token_in(
    folder: Path,
    *,
    fresh: bool = False,
    file: str = TOKEN_FILE,
) -> str:
    """Return the token of the dock, or of another `file`, which only its user can read.

    It is made at the first call, or anew if `fresh`. Raises StoreError.
    """
    path = folder / file
    if not fresh:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            token = path.read_text(encoding="ascii").strip()
            if len(token) >= TOKEN_LENGTH:
                return token
    token = secrets.token_urlsafe(TOKEN_LENGTH)
    # A new file in the place of the old one: a file or a link that was there would keep its own rights.
    obs_page.keep(path, token)
    return token


def address(port: int, token: str) -> str:
    """Return the dock's address with its token."""
    return f"http://{HOST}:{port}/?token={token}"


class Guard:
    """The checks of one server."""

    def __init__(self, port: int, token: str) -> None:
        self.port = port
        self.host = f"{HOST}:{port}"
        self.origin = f"http://{self.host}"
        self._token = token

    def refusal(self, request: web.Request) -> str:
        """Return why a request is not even looked at; empty if it is."""
        # A name of somebody else's that points to 127.0.0.1 (DNS rebinding) would make their page ours.
        if not self._names_this_host(request):
            return f"This page answers to {self.origin} only."
        # All of them: of two headers of a name, another program might read the other one.
        origins = request.headers.getall("Origin", [])
        if any(origin != self.origin for origin in origins):
            return OTHER_PAGE
        # A GET need not bring an Origin; browsers send this one with every request, and no page can change it.
        site = request.headers.get("Sec-Fetch-Site", "none")
        is_foreign = site not in {"none", "same-origin"}
        # The page itself may be opened by a link from anywhere: it holds nothing.
        if is_foreign and request.path.startswith("/api/"):
            return OTHER_PAGE
        return ""

    def _names_this_host(self, request: web.Request) -> bool:
        """Return whether a request was sent to exactly our host name and port."""
        hosts = request.headers.getall("Host", [])
        return hosts == [self.host]

    def greeting(self, request: web.Request) -> web.Response | None:
        """Return the answer to our waiting page; None if it is not that page, or not for this dock."""
        origins = request.headers.getall("Origin", [])
        if not self._names_this_host(request):
            return None
        if not obs_page.ORIGINS.issuperset(origins):
            return None
        challenge = request.query.get("challenge", "")
        proof = request.query.get("proof", "")
        greeting = obs_page.greeting(self._token, self.port, challenge, proof)
        if not greeting:
            return None
        response = web.Response(text=greeting)
        # Without it the browser would not let the waiting page, which has another origin, read the answer.
        if origins:
            response.headers["Access-Control-Allow-Origin"] = origins[0]
        return response

    def may_read(self, request: web.Request) -> bool:
        """Return whether the token is in the request's header."""
        header = request.headers.get(TOKEN_HEADER, "")
        # Bytes that are no text come as half characters, which cannot be encoded without "replace".
        sent_token = header.encode("utf-8", "replace")
        own_token = self._token.encode()
        # Takes as long for a wrong token as for the right one: == would say how much of it is right.
        return hmac.compare_digest(sent_token, own_token)

    def _comes_from_the_page(self, request: web.Request) -> bool:
        """Return whether a browser says that the request is made by our own page.

        Chromium 103, which OBS 28 to 30 bring, sends no Origin from a page that gives no referrer. What it sends
        instead can be set by no page.
        """
        origin = request.headers.get("Origin")
        if origin is not None:
            return origin == self.origin
        site = request.headers.get("Sec-Fetch-Site")
        return site == "same-origin"

    def may_act(self, request: web.Request) -> bool:
        """Return whether a request comes from the page itself, by somebody who has the token."""
        if not self.may_read(request):
            return False
        if not self._comes_from_the_page(request):
            return False
        # Neither is what a form of another page could send.
        expected_type = "application/json"
        if request.path == UPLOAD:
            expected_type = "application/octet-stream"
        header = request.headers.get("Content-Type", "")
        content_type, _, _parameters = header.partition(";")
        return content_type.strip().lower() == expected_type

    def may_pass(self, request: web.Request) -> bool:
        """Return whether a request brings what its method and path need."""
        if request.method == "POST":
            return self.may_act(request)
        # What is below /v1/ has a token of its own (local_api/server).
        if not request.path.startswith("/api/"):
            return True
        return self.may_read(request)


def guarding(guard: Guard, answer: RefusalAnswer) -> Handler:
    """Return an aiohttp middleware that lets pass what may."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if request.path == obs_page.PATH:
            greeting = guard.greeting(request)
            if greeting is not None:
                return greeting
        refusal = guard.refusal(request)
        if refusal:
            return answer(403, refusal)
        if request.method not in {"GET", "HEAD", "POST"}:
            return answer(405, "The dock does not accept this request.")
        if not guard.may_pass(request):
            return answer(401, ADDRESS_AGAIN)
        # The page packs nothing, and a small body could become a large one.
        encoding = request.headers.get("Content-Encoding", "identity")
        if encoding.strip().lower() != "identity":
            return answer(415, "The dock takes no packed body.")
        return await handler(request)

    return check  # type: ignore[return-value]  # aiohttp's middlewares take two arguments


class Connections:
    """Makes the protocol of each new connection: aiohttp's, as long as there are not too many.

    Where there are, the oldest without a request makes room, so that a page gets through while another program holds
    connections open. Where all of them are in use, the new one is refused. `busy`: those with a request under way.
    """

    server: web.Server | None = None

    def __init__(self) -> None:
        self.busy: set[asyncio.BaseProtocol | None] = set()

    def __call__(self) -> asyncio.BaseProtocol:
        """Return a protocol for the next connection."""
        assert self.server is not None  # noqa: S101  # nothing listens before
        # One that is closed stays in aiohttp's list until its handler has ended.
        open_connections = [
            connection
            for connection in self.server.connections
            if connection.transport is not None
        ]
        if len(open_connections) < CONNECTIONS_LIMIT:
            return self.server()
        # In the order in which they were opened: the first of them waits longest.
        for connection in open_connections:
            if connection not in self.busy:
                connection.force_close()
                return self.server()
        return _Refused()


class _Refused(asyncio.Protocol):
    """A connection that is closed at once."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Close it."""
        transport.close()
