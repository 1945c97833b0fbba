"""The loopback Twitch with all that tests need: faults, a record of every call, refusals, the log-in by code.

    sim.faults.add("helix", path="chat/messages", status=503, times=2)
    sim.faults.add("helix", path="moderation/bans", lose=True)      # carried out, but the answer never arrives
    sim.faults.add("irc", html=True, times=None)                    # a captive portal, until cleared

Connections to chat that are already open have their own: `sim.drop()`, `sim.stall()`, `sim.garbage()`. The wording
of refusals follows Twitch's documentation and was not checked against the real service.
"""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from uuid import uuid4

from aiohttp import web
from aiohttp.typedefs import Middleware

from forgetmenot.demo import twitch_server
from forgetmenot.demo.irc_server import (
    HOST,
    SimMessage,
    SimToken,
    Tokens,
    privmsg,
    tagged,
)
from forgetmenot.demo.twitch_server import error_body, json_body
from tests.loopback_servers.twitch_helix import HelixServer
from tests.loopback_servers.twitch_irc import IrcServer, World

DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
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
        fault = next(
            (
                planned
                for planned in self.waiting
                if planned.where == where and planned.path in ("", path)
            ),
            None,
        )
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
        return web.Response(
            text=LOGIN_PAGE, content_type="text/html", status=fault.status or 200
        )
    if fault.status:
        body = fault.body or error_body(fault.status, "")
        return web.json_response(body, status=fault.status, headers=fault.headers)
    return None


def hang_up(request: web.Request) -> web.Response:
    """Close the connection without a word."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


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


@dataclass(slots=True)
class DeviceCode:
    """A log-in that waits for its user. `polls` counts how often the client asked."""

    device: str
    user: str
    scopes: tuple[str, ...]
    approved_by: str = ""
    ended: bool = False
    polls: int = 0


class DeviceLogin:
    """id.twitch.tv: log-in by code, validating, renewing and revoking.

    `interval` and `expires_in` (seconds) are what a client is told; `refreshes` counts the renewals that were granted.
    """

    def __init__(self, sim: "TwitchSim") -> None:
        self.sim = sim
        self.tokens = sim.tokens
        self.codes: list[DeviceCode] = []
        self.interval = 5
        self.expires_in = 14_400
        self.refreshes = 0
        self.refused_refreshes = 0

    def waiting(self, user_code: str) -> DeviceCode:
        """The log-in of a code that was shown."""
        return next(
            code for code in self.codes if code.user == user_code and not code.ended
        )

    async def device(self, request: web.Request) -> web.Response:
        params = await self._given(request)
        scopes = tuple(
            params.get("scopes", params.get("scope", "")).replace("+", " ").split()
        )
        code = DeviceCode(secrets.token_hex(20), secrets.token_hex(4).upper(), scopes)
        self.codes.append(code)
        body = {
            "device_code": code.device,
            "expires_in": 1_800,
            "interval": self.interval,
        }
        address = f"{self.sim.url}activate?public=true&device-code={code.user}"
        return web.json_response(
            body | {"user_code": code.user, "verification_uri": address}
        )

    async def token(self, request: web.Request) -> web.Response:
        params = await self._given(request)
        if params.get("grant_type") not in {DEVICE_GRANT, "refresh_token"}:
            return _refused(400, "invalid grant type")
        if params.get("grant_type") == "refresh_token":
            token = self.refresh(params.get("refresh_token", ""))
            return (
                _refused(400, "Invalid refresh token")
                if token is None
                else self._pair(token)
            )
        code = next(
            (
                c
                for c in self.codes
                if c.device == params.get("device_code") and not c.ended
            ),
            None,
        )
        if code is None:
            return _refused(400, "invalid device code")
        # Twitch wants the rights of the code once more with each question.
        if tuple(params.get("scopes", "").split()) != code.scopes:
            return _refused(400, "invalid scopes")
        code.polls += 1
        if not code.approved_by:
            return _refused(400, "authorization_pending")
        code.ended = True
        return self._pair(self.tokens.grant(code.approved_by, code.scopes))

    def refresh(self, refresh: str) -> SimToken | None:
        """A new pair for a refresh token that was not used yet; None if there is none."""
        old = next(
            (t for t in self.tokens.issued if t.refresh == refresh and not t.used), None
        )
        if old is None:
            self.refused_refreshes += 1
            return None
        old.used = True
        self.refreshes += 1
        return self.tokens.grant(old.login, old.scopes)

    async def _given(self, request: web.Request) -> dict[str, str]:
        """Parameters from the query or from a form: Twitch takes both. All name the app."""
        form = await request.post()
        params = dict(request.query) | {
            key: value for key, value in form.items() if isinstance(value, str)
        }
        assert params["client_id"] == self.sim.client_id
        return params

    def _pair(self, token: SimToken) -> web.Response:
        body = {
            "access_token": token.access,
            "expires_in": self.expires_in,
            "refresh_token": token.refresh,
        }
        return web.json_response(
            body | {"scope": list(token.scopes), "token_type": "bearer"}
        )

    async def validate(self, request: web.Request) -> web.Response:
        authorization = request.headers.get("Authorization", "")
        token = self.tokens.valid(
            authorization.removeprefix("OAuth ").removeprefix("Bearer ")
        )
        if token is None:
            return _refused(401, "invalid access token")
        body = {
            "client_id": self.sim.client_id,
            "login": token.login,
            "scopes": list(token.scopes),
        }
        return web.json_response(
            body | {"user_id": token.user_id, "expires_in": self.expires_in}
        )

    async def revoke(self, request: web.Request) -> web.Response:
        token = self.tokens.valid((await self._given(request))["token"])
        assert token is not None
        token.expired = token.used = True
        return (
            web.Response()
        )  # 200 without a body, which twitchio's revoke_token takes for an error


class TwitchSim(twitch_server.TwitchSim):
    """`requests`: every call to Helix; `actions`: those other than chat messages that changed something."""

    def __init__(
        self, channel: str = "demo", *, now: Callable[[], int] | None = None
    ) -> None:
        super().__init__(channel, now=now)
        self.faults = Faults()
        self.oauth = DeviceLogin(self)
        self.requests: list[Recorded] = []
        self.actions: list[Recorded] = []
        self.middlewares: tuple[Middleware, ...] = (self._watched,)

    def build(self, channel: str) -> None:
        self.world: World = World(channel, lambda: self.now())  # noqa: PLW0108  # a test may change it
        self.tokens = Tokens(self.world)
        self.irc: IrcServer = IrcServer(self.world, self.tokens)
        self.helix: HelixServer = HelixServer(self.world, self.tokens, self.irc)

    def add_login(self, router: web.UrlDispatcher) -> None:
        router.add_get("/oauth2/validate", self.oauth.validate)
        router.add_post("/oauth2/token", self.oauth.token)
        router.add_post("/oauth2/device", self.oauth.device)
        router.add_post("/oauth2/revoke", self.oauth.revoke)

    @web.middleware
    async def _watched(
        self,
        request: web.Request,
        handler: Callable[[web.Request], Awaitable[web.StreamResponse]],
    ) -> web.StreamResponse:
        """A call with what goes wrong with it, and its record."""
        place, _, path = request.path.strip("/").partition("/")
        helix = place == "helix"
        where = {"helix": "helix", "oauth2": "oauth", "irc": "irc"}.get(place, "")
        if path and not helix:
            path = f"{place}/{path}"
        fault = self.faults.take(where, path)
        if fault is not None and fault.stall and where == "irc":
            request["stalled"] = True
        elif fault is not None:
            struck = await strike(fault, request)
            if struck is not None:
                if helix:
                    status = 0 if fault.drop else struck.status
                    await self._record(request, path, status)
                return struck
        answer = await handler(request)
        if helix:
            await self._record(request, path, answer.status)
        return hang_up(request) if fault is not None and fault.lose else answer

    async def _record(self, request: web.Request, path: str, status: int) -> None:
        token = self.tokens.valid(
            request.headers.get("Authorization", "").removeprefix("Bearer ")
        )
        query = {key: request.query.getall(key) for key in request.query}
        headers = {
            key: value
            for key, value in request.headers.items()
            if key != "Authorization"
        }
        user_id = token.user_id if token is not None else ""
        recorded = Recorded(
            request.method,
            path,
            query,
            headers,
            await json_body(request),
            user_id,
            status,
        )
        self.requests.append(recorded)
        if request.method != "GET" and path != "chat/messages" and 200 <= status < 300:
            self.actions.append(recorded)

    @property
    def sent(self) -> list[SimMessage]:
        """The chat messages that came through Helix."""
        return [message for message in self.irc.said if message.via == "helix"]

    async def raw(self, line: str) -> None:
        """Send a line as it is to every connection that has joined."""
        await self.irc.broadcast(line)

    async def repeat(self, message_id: str) -> None:
        """Deliver the same message a second time."""
        await self.irc.broadcast(privmsg(self.world, self.world.messages[message_id]))

    async def ban(self, login: str) -> None:
        """The streamer bans somebody."""
        user = self.world.user(login)
        self.world.banned.add(user.id)
        await self.irc.clear_person(user, None)

    async def raid(self, login: str, viewers: int, event_id: str = "") -> None:
        """Another channel raids this one. `event_id`: the same one comes a second time."""
        user = self.world.user(login)
        sentence = f"{viewers} raiders from {user.name} have joined!"
        tags = {
            "id": event_id or str(uuid4()),
            "badges": "",
            "display-name": user.name,
            "login": login,
            "msg-id": "raid",
            "msg-param-displayName": user.name,
            "msg-param-login": login,
            "msg-param-viewerCount": viewers,
            "room-id": self.world.room_id,
            "system-msg": sentence,
            "tmi-sent-ts": self.now(),
            "user-id": user.id,
        }
        await self.irc.broadcast(
            tagged(tags, f":{HOST} USERNOTICE #{self.world.owner.login}")
        )

    async def watch_streak(self, login: str, streams: int, months: int = 0) -> None:
        """A viewer shares their watch streak; `months`: for how long they have subscribed."""
        user = self.world.user(login)
        sentence = f"{user.name} watched {streams} consecutive streams!"
        tags = {
            "id": str(uuid4()),
            "badges": "subscriber/12" if months else "",
            "badge-info": f"subscriber/{months}" if months else "",
            "display-name": user.name,
            "login": login,
            "msg-id": "viewermilestone",
            "msg-param-category": "watch-streak",
            "msg-param-value": streams,
            "msg-param-copoReward": 450,
            "room-id": self.world.room_id,
            "system-msg": sentence,
            "tmi-sent-ts": self.now(),
            "user-id": user.id,
        }
        await self.irc.broadcast(
            tagged(tags, f":{HOST} USERNOTICE #{self.world.owner.login}")
        )

    async def unban(self, login: str) -> None:
        """The streamer lifts a ban or a timeout, which chat does not report."""
        user = self.world.user(login)
        self.world.banned.discard(user.id)
        self.world.timed_out.pop(user.id, None)

    async def timeout(self, login: str, seconds: int) -> None:
        """The streamer times somebody out, who cannot write meanwhile."""
        user = self.world.user(login)
        self.world.timed_out[user.id] = self.now() + seconds * 1_000
        await super().timeout(login, seconds)

    async def chat_mode(self, **mode: object) -> None:
        """The streamer changes a mode of the chat, by its name in World; only that is reported, as Twitch does."""
        for name, value in mode.items():
            setattr(self.world, name, value)
        world = self.world
        tags = {
            "emote_only": ("emote-only", int(world.emote_only)),
            "slow_s": ("slow", world.slow_s),
            "followers_only": ("followers-only", 0 if world.followers_only else -1),
            "subscribers_only": ("subs-only", int(world.subscribers_only)),
        }
        changed = dict(tags[name] for name in mode)
        line = f":{HOST} ROOMSTATE #{world.owner.login}"
        await self.irc.broadcast(tagged({**changed, "room-id": world.room_id}, line))

    def stall(self) -> None:
        """Half-open: open connections stay open and get not one byte more; what is said meanwhile is lost to them."""
        for connection in self.irc.connections:
            connection.stalled = True
            if connection.request.transport is not None:
                connection.request.transport.pause_reading()

    async def garbage(self) -> None:
        """Send something that is no line of IRC."""
        for connection in list(self.irc.connections):
            await connection.socket.send_bytes(b"\x00\xff\xfe not IRC \x80")

    async def reconnect(self) -> None:
        """RECONNECT: the server asks its clients to come again. It does not hang up by itself."""
        await self.irc.broadcast(f":{HOST} RECONNECT")

    def approve(self, user_code: str, login: str) -> None:
        """The user typed the code and agreed."""
        self.oauth.waiting(user_code).approved_by = self.world.user(login).login

    def expire(self, login: str = "") -> None:
        """Let the access tokens of a user, or of all, answer 401 from now on."""
        for token in self.tokens.issued:
            token.expired = token.expired or login in ("", token.login)

    def disconnect(self, login: str) -> None:
        """The user takes the bot's rights back in their Twitch settings: both tokens are dead."""
        for token in self.tokens.issued:
            if token.login == login:
                token.expired = token.used = True

    def drop_next(self, *codes: str) -> None:
        """Let the next messages through Helix be dropped for these reasons."""
        self.helix.forced.extend(codes)


def _refused(status: int, message: str) -> web.Response:
    return web.json_response(error_body(status, message), status=status)
