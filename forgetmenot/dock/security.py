"""Who may look and who may act: this machine alone, whoever has the address with its token, from the page itself.

Promises, for every request: the `Host` is exactly ours (so no other name that points here works), an `Origin`, where
there is one, is exactly ours; reading needs the cookie that the token was exchanged for; changing anything needs
POST, our `Origin`, the cookie, and the token itself in a header. The cookie is made of the token but is not it: cookies
of 127.0.0.1 go to every port, and what another port's program sees must not be enough to act.
"""

import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Awaitable, Callable
from pathlib import Path

from aiohttp import web

from forgetmenot.errors import SettingsError, StoreError
from forgetmenot.folders import make_own

HOST = "127.0.0.1"
TOKEN_FILE = "dock-token"  # noqa: S105  # a file's name
TOKEN_HEADER = "X-Dock-Token"  # noqa: S105  # a header's name
COOKIE_LASTS_S = 30 * 24 * 3_600
ADDRESS_AGAIN = "Open the dock's whole address again: `forgetmenot dock` prints it."

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


def check_host(host: str) -> None:
    """Refuse to be seen by any other machine. Raises SettingsError."""
    if host != HOST:
        raise SettingsError(f"The dock listens on {HOST} and nowhere else. Remove `host` from the table [dock].")


def token_in(folder: Path, *, fresh: bool = False) -> str:
    """The installation's token, from a file that only its user can read; made at the first call, or anew."""
    path = folder / TOKEN_FILE
    if not fresh:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            if len(token := path.read_text(encoding="ascii").strip()) >= 32:
                return token
    token = secrets.token_urlsafe(32)
    try:
        make_own(folder)
        path.unlink(missing_ok=True)
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
            file.write(token)
    except OSError as error:
        raise StoreError(
            f"{path} cannot be written: {error.strerror}. Check the folder and its permissions."
        ) from error
    return token


def address(port: int, token: str) -> str:
    """What OBS keeps."""
    return f"http://{HOST}:{port}/?token={token}"


class Guard:
    """The checks of one server."""

    def __init__(self, port: int, token: str) -> None:
        self.host = f"{HOST}:{port}"
        self.origin = f"http://{self.host}"
        self.cookie_name = f"forgetmenot_dock_{port}"
        self._token = token
        self._session = hmac.new(token.encode(), b"forgetmenot dock session", hashlib.sha256).hexdigest()

    def refusal(self, request: web.Request) -> str:
        """Why a request is not even looked at, or an empty text."""
        if request.headers.getall("Host", []) != [self.host]:
            return f"This page answers to {self.origin} only."
        if any(origin != self.origin for origin in request.headers.getall("Origin", [])):
            return "Another page may not ask this one."
        if request.headers.get("Sec-Fetch-Site", "none") not in {"none", "same-origin"} and _is_data(request):
            return "Another page may not ask this one."
        return ""

    def knows_token(self, given: str) -> bool:
        """Whether it is the token; takes as long for a wrong one."""
        return _same(given, self._token)

    def may_read(self, request: web.Request) -> bool:
        """Whether the cookie is there."""
        return _same(request.cookies.get(self.cookie_name, ""), self._session)

    def may_act(self, request: web.Request) -> bool:
        """Whether it comes from the page itself, by somebody who has the address."""
        return (
            self.may_read(request)
            and request.headers.get("Origin") == self.origin
            and request.content_type == "application/json"
            and self.knows_token(request.headers.get(TOKEN_HEADER, ""))
        )

    def let_in(self, response: web.StreamResponse) -> None:
        """Give the cookie."""
        response.set_cookie(
            self.cookie_name, self._session, max_age=COOKIE_LASTS_S, path="/", httponly=True, samesite="Strict"
        )


def _same(given: str, wanted: str) -> bool:
    """Compare in constant time. Bytes of a header that are no text come as half characters, which nothing encodes."""
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _is_data(request: web.Request) -> bool:
    return request.path.startswith(("/api/", "/events"))


def guarding(guard: Guard, answer: Callable[[int, str], web.Response]) -> Handler:
    """An aiohttp middleware that lets pass what may pass. `answer` makes a refusal from a status and a sentence."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        if reason := guard.refusal(request):
            return answer(403, reason)
        if request.method == "POST" and not guard.may_act(request):
            return answer(403 if guard.may_read(request) else 401, ADDRESS_AGAIN)
        if request.method not in {"GET", "HEAD", "POST"}:
            return answer(405, "That is not how this page is asked.")
        if _is_data(request) and not guard.may_read(request):
            return answer(401, ADDRESS_AGAIN)
        return await handler(request)

    return check  # type: ignore[return-value]  # aiohttp's middlewares take two arguments
