"""id.twitch.tv on loopback: validate, the device code flow, one-time refresh tokens, revoke.

Parameters are taken from the query or from a form, as Twitch does. Shapes follow Twitch's documentation and what
twitchio 3.3.2 reads; not checked against the real service. A public client: no secret anywhere. Tokens run out when
a test says so (`expire`), not by the clock.
"""

import secrets
from dataclasses import dataclass

from aiohttp import web

from forgetmenot.sim.faults import error_body
from forgetmenot.sim.world import World

CLIENT_ID = "simclientid"
LIFETIME = 14_400  # seconds
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"


@dataclass(slots=True)
class Token:
    """A user's access token and the refresh token beside it."""

    access: str
    refresh: str
    user_id: str
    login: str
    scopes: tuple[str, ...]
    expired: bool = False  # the access token answers 401; the refresh token still works, once
    used: bool = False  # the refresh token has been used or revoked


@dataclass(slots=True)
class DeviceCode:
    """A log-in that waits for its user. `polls` counts how often the client asked."""

    device: str
    user: str
    scopes: tuple[str, ...]
    approved_by: str = ""
    ended: bool = False
    polls: int = 0


class Tokens:
    """Who holds which token. `expires_in` is what validate says; `refreshes` counts the successful ones."""

    def __init__(self, world: World, client_id: str) -> None:
        self.world = world
        self.client_id = client_id
        self.expires_in = LIFETIME
        self.issued: list[Token] = []
        self.refreshes = 0
        self.refused_refreshes = 0

    def grant(self, login: str, scopes: tuple[str, ...]) -> Token:
        """A fresh pair of tokens for a user, who is made if need be."""
        user = self.world.user(login)
        token = Token(secrets.token_hex(15), secrets.token_hex(25), user.id, login, tuple(scopes))
        self.issued.append(token)
        return token

    def valid(self, access: str) -> Token | None:
        """The token that still works, or None."""
        return next((t for t in self.issued if t.access == access and not t.expired), None)

    def refresh(self, refresh: str) -> Token | None:
        """A new pair for a refresh token that was not used yet; None if there is none."""
        old = next((t for t in self.issued if t.refresh == refresh and not t.used), None)
        if old is None:
            self.refused_refreshes += 1
            return None
        old.used = True
        self.refreshes += 1
        return self.grant(old.login, old.scopes)

    def expire(self, login: str = "") -> None:
        """Let the access tokens of a user, or of all, answer 401 from now on."""
        for token in self.issued:
            token.expired = token.expired or login in ("", token.login)

    def disconnect(self, login: str) -> None:
        """The user takes the bot's rights back in their Twitch settings: both tokens are dead."""
        for token in self.issued:
            if token.login == login:
                token.expired = token.used = True


class OAuthServer:
    """The HTTP side. `interval` and `device_lifetime` (seconds) are what a client is told."""

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens
        self.codes: list[DeviceCode] = []
        self.interval = 5
        self.device_lifetime = 1_800
        self.address = ""

    def add_routes(self, router: web.UrlDispatcher) -> None:
        """Answer under /oauth2 and /activate."""
        router.add_get("/oauth2/validate", self._validate)
        router.add_post("/oauth2/device", self._device)
        router.add_post("/oauth2/token", self._token)
        router.add_post("/oauth2/revoke", self._revoke)
        router.add_get("/activate", self._activate)

    def approve(self, user_code: str, login: str) -> None:
        """The user typed the code and agreed. Raises KeyError for a code that is not waiting."""
        self._waiting(user_code).approved_by = self.tokens.world.user(login).login

    def let_expire(self, user_code: str) -> None:
        """Nobody typed the code in time. Raises KeyError for a code that is not waiting."""
        self._waiting(user_code).ended = True

    def _waiting(self, user_code: str) -> DeviceCode:
        code = next((c for c in self.codes if c.user == user_code and not c.ended), None)
        if code is None:
            raise KeyError(user_code)
        return code

    async def _validate(self, request: web.Request) -> web.Response:
        given = request.headers.get("Authorization", "")
        token = self.tokens.valid(given.removeprefix("OAuth ").removeprefix("Bearer "))
        if token is None:
            return _answer({"status": 401, "message": "invalid access token"}, 401)
        body = {"client_id": self.tokens.client_id, "login": token.login, "scopes": list(token.scopes)}
        return _answer(body | {"user_id": token.user_id, "expires_in": self.tokens.expires_in})

    async def _device(self, request: web.Request) -> web.Response:
        given = await _parameters(request)
        if given.get("client_id") != self.tokens.client_id:
            return _refused(400, "invalid client")
        scopes = tuple(given.get("scopes", given.get("scope", "")).replace("+", " ").split())
        code = DeviceCode(secrets.token_hex(20), secrets.token_hex(4).upper(), scopes)
        self.codes.append(code)
        body = {"device_code": code.device, "expires_in": self.device_lifetime, "interval": self.interval}
        address = f"{self.address}activate?public=true&device-code={code.user}"
        return _answer(body | {"user_code": code.user, "verification_uri": address})

    async def _token(self, request: web.Request) -> web.Response:
        given = await _parameters(request)
        if given.get("client_id") != self.tokens.client_id:
            return _refused(400, "invalid client")
        if given.get("grant_type") == DEVICE_GRANT:
            return self._by_device_code(given.get("device_code", ""))
        if given.get("grant_type") != "refresh_token":
            return _refused(400, "invalid grant type")
        token = self.tokens.refresh(given.get("refresh_token", ""))
        return _refused(400, "Invalid refresh token") if token is None else _answer(_pair(token, self.tokens))

    def _by_device_code(self, device_code: str) -> web.Response:
        code = next((c for c in self.codes if c.device == device_code and not c.ended), None)
        if code is None:
            return _answer({"status": 400, "message": "invalid device code"}, 400)
        code.polls += 1
        if not code.approved_by:
            return _answer({"status": 400, "message": "authorization_pending"}, 400)
        code.ended = True
        return _answer(_pair(self.tokens.grant(code.approved_by, code.scopes), self.tokens))

    async def _revoke(self, request: web.Request) -> web.Response:
        given = await _parameters(request)
        token = self.tokens.valid(given.get("token", ""))
        if given.get("client_id") != self.tokens.client_id:
            return _answer({"status": 404, "message": "client does not exist"}, 404)
        if token is None:
            return _answer({"status": 400, "message": "Invalid token"}, 400)
        token.expired = token.used = True
        return web.Response()  # 200 without a body, which twitchio's revoke_token takes for an error

    async def _activate(self, request: web.Request) -> web.Response:
        """The page a browser opens: approves by link, so that a log-in can be tried by hand."""
        code, login = request.query.get("device-code", ""), request.query.get("login", "")
        if not login:
            text = f"Add &login=NAME to this address to let NAME approve the code {code}.\n"
            return web.Response(text=text)
        try:
            self.approve(code, login)
        except KeyError:
            return web.Response(text="No log-in waits for this code.\n", status=404)
        return web.Response(text=f"{login} has approved the log-in. You can close this page.\n")


async def _parameters(request: web.Request) -> dict[str, str]:
    form = await request.post()
    return dict(request.query) | {key: value for key, value in form.items() if isinstance(value, str)}


def _pair(token: Token, tokens: Tokens) -> dict[str, object]:
    body = {"access_token": token.access, "expires_in": tokens.expires_in, "refresh_token": token.refresh}
    return body | {"scope": list(token.scopes), "token_type": "bearer"}


def _answer(body: object, status: int = 200) -> web.Response:
    return web.json_response(body, status=status)


def _refused(status: int, message: str) -> web.Response:
    return _answer(error_body(status, message), status)
