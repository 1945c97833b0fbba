"""A Twitch on loopback: chat over IRC, log-in and Helix on one port, with people who say what they are told to.

    async with TwitchSim(channel="demo") as sim:
        token = sim.grant("bot", "chat:read", "user:write:chat")
        … ws at sim.irc_url, Route.BASE = sim.helix_url, Route.ID_BASE = sim.id_url, client id sim.client_id …
        sim.world.user("alice", badges=("subscriber/12",))
        await sim.joined()                               # until somebody reads
        message_id = await sim.say("alice", "hello")
        await sim.until(lambda: sim.sent)                # until the bot has answered through Helix
        sim.faults.add("helix", path="chat/messages", status=503, times=2)

Promises: the real twitchio 3.3.2 and an ordinary IRC client work against it unchanged; all that was done is recorded.
Not checked against the real Twitch: the wording of refusals, the exact set of tags, the drop codes.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from types import TracebackType
from typing import Self

from aiohttp import web

from forgetmenot.sim import lines
from forgetmenot.sim.channel import Channel
from forgetmenot.sim.chat import Chat
from forgetmenot.sim.faults import Faults, hang_up, strike
from forgetmenot.sim.helix import Helix, Recorded
from forgetmenot.sim.irc import IrcServer
from forgetmenot.sim.moderation import Moderation
from forgetmenot.sim.oauth import CLIENT_ID, OAuthServer, Token, Tokens
from forgetmenot.sim.world import Said, Stream, World

ALL_SCOPES = (
    "chat:read",
    "user:read:chat",
    "user:write:chat",
    "moderator:manage:banned_users",
    "moderator:manage:chat_messages",
    "moderator:manage:chat_settings",
    "moderator:manage:shoutouts",
    "moderator:manage:announcements",
    "moderation:read",
    "channel:read:vips",
    "channel:manage:broadcast",
    "clips:edit",
    "user:read:moderated_channels",
)


def _real_now() -> int:
    return int(time.time() * 1_000)


class TwitchSim:
    """The whole of it. `now`: the time source (ms) of messages and streams; `port` 0: any; `seed`: fixed ids."""

    def __init__(
        self,
        channel: str = "demo",
        *,
        now: Callable[[], int] | None = None,
        port: int = 0,
        client_id: str = CLIENT_ID,
        seed: int | None = None,
    ) -> None:
        self.now = now or _real_now
        self.client_id = client_id
        self.faults = Faults()
        self.world = World(channel, self._now, seed=seed)
        self.tokens = Tokens(self.world, client_id)
        self.oauth = OAuthServer(self.tokens)
        self.irc = IrcServer(self.world, self.tokens, self.faults)
        self.chat = Chat(self.world, self.irc)
        self.helix = Helix(self.tokens, self.faults)
        self.moderation = Moderation(self.chat)
        self.channel = Channel(self.world)
        for part in (self.chat, self.moderation, self.channel):
            self.helix.add(part.routes())
        self._port = port
        self._runner: web.AppRunner | None = None
        self._site: web.TCPSite | None = None
        self.url = ""

    def _now(self) -> int:
        return self.now()  # looked up each time: a demo replaces it

    async def __aenter__(self) -> Self:
        """Listen on the loopback interface."""
        app = web.Application(middlewares=[self._oauth_faults])
        app.router.add_get("/irc", self.irc.handle)
        app.router.add_route("*", "/helix/{path:.*}", self.helix.handle)
        self.oauth.add_routes(app.router)
        self._runner = web.AppRunner(app, handle_signals=False, access_log=None, shutdown_timeout=0.05)
        await self._runner.setup()
        await self.accept()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cut what is open and stop listening."""
        await self.drop()
        if self._runner is not None:
            await self._runner.cleanup()

    async def accept(self) -> None:
        """Listen (again), on the same port as before."""
        if self._site is not None or self._runner is None:
            return
        self._site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await self._site.start()
        self._port = int(self._runner.addresses[0][1])
        self.url = self.oauth.address = f"http://127.0.0.1:{self._port}/"

    async def refuse(self) -> None:
        """Refuse new connections until `accept()`, as a dead network does."""
        if self._site is not None:
            await self._site.stop()
            self._site = None

    @web.middleware
    async def _oauth_faults(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        path = request.path.strip("/")
        fault = self.faults.take("oauth", request.method, path) if path.startswith("oauth2/") else None
        if fault is not None and (struck := await strike(fault, request)) is not None:
            return struck
        answer = await handler(request)
        return hang_up(request) if fault is not None and fault.lose else answer

    @property
    def irc_url(self) -> str:
        """The WebSocket of chat."""
        return f"ws://127.0.0.1:{self._port}/irc"

    @property
    def helix_url(self) -> str:
        """Helix, with the slash at the end that twitchio wants in Route.BASE."""
        return f"{self.url}helix/"

    @property
    def id_url(self) -> str:
        """Log-in, with the slash at the end that twitchio wants in Route.ID_BASE."""
        return self.url

    @property
    def log(self) -> list[Said]:
        """Every chat message that was delivered, in order."""
        return self.chat.said

    @property
    def sent(self) -> list[Said]:
        """Those of them that came through Helix."""
        return [said for said in self.chat.said if said.via == "helix"]

    @property
    def actions(self) -> list[Recorded]:
        """Every Helix call that changed something, other than chat messages."""
        return self.helix.actions

    @property
    def requests(self) -> list[Recorded]:
        """Every call to Helix, also those that failed."""
        return self.helix.requests

    async def until(self, condition: Callable[[], object], seconds: float = 30.0) -> None:
        """Wait until the condition holds. Raises TimeoutError; the limit is for what never comes, not for a slow PC."""
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110  # the condition may look at anything
                await asyncio.sleep(0.002)

    async def joined(self, count: int = 1) -> None:
        """Wait until that many connections have joined the channel and read their welcome. Raises TimeoutError."""
        await self.until(lambda: sum(1 for c in self.irc.connections if c.channels) >= count)
        await self.settled()

    async def settled(self) -> None:
        """Wait until every connection has read what was sent to it: it has answered a PING. Raises TimeoutError."""
        before = [(connection, connection.pongs) for connection in self.irc.connections]
        await self.ping()
        await self.until(lambda: all(c.pongs > count or c not in self.irc.connections for c, count in before))

    async def say(  # noqa: PLR0913  # everything a message can carry
        self,
        login: str,
        text: str,
        *,
        reply_to: str = "",
        badges: tuple[str, ...] | None = None,
        me: bool = False,
        bits: int = 0,
        at: int | None = None,
        first_msg: bool = False,
        message_id: str = "",
        source_room: str = "",
        tags: Mapping[str, str] | None = None,
    ) -> str:
        """Somebody says something; the message's id. `at`: ms. `badges`: of this one; `source_room`: shared chat."""
        user = self.world.user(login)
        said = Said(
            id=message_id or self.world.new_id(),
            user=user,
            text=text,
            at=self.now() if at is None else at,
            badges=self.world.badges_of(user) if badges is None else tuple(badges),
            reply_to=self.world.messages.get(reply_to),
            me=me,
            bits=bits,
            first=first_msg,
            source_room=source_room,
            extra=tags or {},
        )
        return (await self.chat.deliver(said)).id

    async def shared(self, login: str, text: str, *, at: int | None = None, source_room: str = "987654321") -> str:
        """Said in a partner's channel during shared chat; the message's id."""
        return await self.say(login, text, at=at, source_room=source_room)

    async def repeat(self, message_id: str) -> None:
        """Twitch delivers the same message a second time. Raises KeyError for one that was never said."""
        await self.raw(lines.privmsg(self.world, self.world.messages[message_id]))

    async def raw(self, line: str) -> None:
        """Send a line as it is to every connection that has joined."""
        await self.irc.broadcast(line)

    async def clear_message(self, message_id: str) -> None:
        """A moderator deletes a message. Raises KeyError for one that was never said."""
        await self.chat.clear_message(message_id)

    async def timeout(self, login: str, seconds: int, by: str = "") -> None:
        """A moderator times somebody out; the streamer, unless another is named."""
        await self.chat.clear_person(self.world.user(login), seconds, self.world.user(by) if by else None)

    async def ban(self, login: str, by: str = "") -> None:
        """A moderator bans somebody; the streamer, unless another is named."""
        await self.chat.clear_person(self.world.user(login), None, self.world.user(by) if by else None)

    async def clear_chat(self) -> None:
        """A moderator clears the whole chat."""
        await self.chat.clear_all()

    async def sub(self, login: str, months: int = 1, text: str = "", *, at: int | None = None) -> str:
        """A subscription, new or again; the notice's id."""
        user = self.world.user(login)
        kind = "resub" if months > 1 else "sub"
        system = f"{user.name} subscribed at Tier 1. They've subscribed for {months} months!"
        parameters = {"cumulative-months": months, "months": 0, "sub-plan": "1000", "sub-plan-name": "Channel\x20Sub"}
        return await self._notice(login, text, kind, system, parameters, at)

    async def gift(self, login: str, count: int = 1, recipient: str = "", *, at: int | None = None) -> str:
        """Gifted subscriptions: to one person by name, or `count` to the channel; the notice's id."""
        user = self.world.user(login)
        if recipient:
            to = self.world.user(recipient)
            system = f"{user.name} gifted a Tier 1 sub to {to.name}!"
            parameters: dict[str, object] = {"recipient-id": to.id, "recipient-user-name": to.login}
            parameters |= {"recipient-display-name": to.name, "sub-plan": "1000", "months": 1, "gift-months": 1}
            return await self._notice(login, "", "subgift", system, parameters, at)
        system = f"{user.name} is gifting {count} Tier 1 Subs to {self.world.owner.name}'s community!"
        parameters = {"mass-gift-count": count, "sub-plan": "1000", "sender-count": count}
        return await self._notice(login, "", "submysterygift", system, parameters, at)

    async def raid(self, login: str, viewers: int, *, at: int | None = None) -> str:
        """A raid; the notice's id."""
        user = self.world.user(login)
        system = f"{viewers} raiders from {user.name} have joined!"
        parameters = {"displayName": user.name, "login": user.login, "viewerCount": viewers}
        return await self._notice(login, "", "raid", system, parameters, at)

    async def announcement(self, login: str, text: str, *, color: str = "PRIMARY", at: int | None = None) -> str:
        """A moderator's announcement; the notice's id."""
        return await self._notice(login, text, "announcement", "", {"color": color}, at)

    async def _notice(  # all of a notice
        self, login: str, text: str, kind: str, system: str, parameters: Mapping[str, object], at: int | None
    ) -> str:
        user = self.world.user(login)
        when = self.now() if at is None else at
        said = Said(self.world.new_id(), user, text, when, badges=self.world.badges_of(user))
        return (await self.chat.notice(said, kind, system, parameters)).id

    async def room_state(self) -> None:
        """Tell everybody the room's rules."""
        await self.chat.room_state()

    async def notice(self, text: str, msg_id: str = "") -> None:
        """A NOTICE in the channel."""
        await self.irc.broadcast(lines.notice(text, channel=self.world.owner.login, msg_id=msg_id))

    def go_live(self, *, title: str = "", game: str = "", at: int | None = None, stream_id: str = "") -> Stream:
        """The stream begins. `at`: ms."""
        when = self.now() if at is None else at
        self.world.stream = Stream(stream_id or str(40_000_000_000 + when // 1_000), when)
        self.world.title = title or self.world.title
        self.world.game = game or self.world.game
        return self.world.stream

    def go_offline(self) -> None:
        """The stream ends."""
        self.world.stream = None

    async def drop(self) -> None:
        """Cut every connection to chat without a closing handshake."""
        for connection in list(self.irc.connections):
            connection.abort()
        await asyncio.sleep(0)

    def stall(self) -> None:
        """Half-open: open connections stay open and get not one byte more; what is said meanwhile is lost to them."""
        for connection in self.irc.connections:
            connection.stalled = True

    async def garbage(self, data: str | bytes = b"\x00\xff\xfe not IRC \x80") -> None:
        """Send something that is no line of IRC: bytes as a binary frame, text as a text frame."""
        for connection in list(self.irc.connections):
            await (connection.socket.send_bytes if isinstance(data, bytes) else connection.socket.send_str)(data)  # type: ignore[arg-type]

    async def reconnect(self) -> None:
        """RECONNECT: the server asks its clients to come again. It does not hang up by itself."""
        await self.irc.broadcast(f":{lines.HOST} RECONNECT")

    async def ping(self) -> None:
        """PING everybody; their PONGs are counted on the connections."""
        await self.irc.broadcast(f"PING :{lines.HOST}")

    def grant(self, login: str, *scopes: str) -> Token:
        """Tokens without a log-in; without scopes, all that a bot may want."""
        return self.tokens.grant(login, scopes or ALL_SCOPES)

    def approve(self, user_code: str, login: str) -> None:
        """The user typed the code and agreed. Raises KeyError for a code that is not waiting."""
        self.oauth.approve(user_code, login)

    def expire(self, login: str = "") -> None:
        """Let the access tokens of a user, or of all, answer 401 from now on."""
        self.tokens.expire(login)

    def drop_next(self, *codes: str) -> None:
        """Let the next messages through Helix be dropped for these reasons (chat.DROPS, or any)."""
        self.chat.forced.extend(codes)
