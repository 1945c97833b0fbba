"""A Twitch on loopback: chat over IRC, log-in and Helix on one port, with people who say what they are told to say.

    async with TwitchSim(channel="demo") as sim:
        token = sim.grant("bot")
        …                                                # a bot at sim.irc_url, sim.helix_url, sim.id_url
        await sim.joined()                               # until somebody reads
        message_id = await sim.say("alice", "hello")

The real twitchio and an ordinary IRC client work against it unchanged. It is friendly: what Twitch refuses, and what
goes wrong on a network, is in tests/loopback_servers. Not checked against the real Twitch: the exact set of tags.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from functools import partial
from types import TracebackType
from typing import Self

from aiohttp import web
from aiohttp.typedefs import Middleware

from forgetmenot.sim.helix import Chat, HelixServer, refresh, validate
from forgetmenot.sim.irc import HOST, IrcServer, privmsg
from forgetmenot.sim.world import CLIENT_ID, SimMessage, SimStream, SimToken, Tokens, World

_MANAGED = ("banned_users", "chat_messages", "chat_settings", "shoutouts", "announcements")
ALL_SCOPES = (
    *("chat:read", "user:read:chat", "user:write:chat", "user:read:moderated_channels", "clips:edit"),
    *("moderation:read", "channel:read:vips", "channel:manage:broadcast"),
    *(f"moderator:manage:{what}" for what in _MANAGED),
)


def _real_now() -> int:
    return int(time.time() * 1_000)


class TwitchSim:
    """The whole of it. `now`: the time source (ms) of messages and streams; `port` 0: any; `seed`: fixed IDs."""

    middlewares: tuple[Middleware, ...] = ()

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
        self.world = World(channel, lambda: self.now(), seed=seed)  # noqa: PLW0108  # a test may change it
        self.tokens = Tokens(self.world, client_id)
        self.irc = IrcServer(self.world, self.tokens)
        self.chat = Chat(self.world, self.irc)
        self.helix = HelixServer(self.world, self.tokens, self.chat)
        self._port = port
        self._runner: web.AppRunner | None = None
        self._site: web.TCPSite | None = None
        self.url = ""

    async def __aenter__(self) -> Self:
        """Listen on the loopback interface."""
        app = web.Application(middlewares=self.middlewares)
        app.router.add_get("/irc", self.irc.handle)
        app.router.add_route("*", "/helix/{path:.*}", self.helix.handle)
        self.add_login(app.router)
        self._runner = web.AppRunner(app, handle_signals=False, access_log=None, shutdown_timeout=0.05)
        await self._runner.setup()
        await self.accept()
        return self

    def add_login(self, router: web.UrlDispatcher) -> None:
        """Answer what concerns tokens."""
        router.add_get("/oauth2/validate", partial(validate, self.tokens))
        router.add_post("/oauth2/token", partial(refresh, self.tokens))

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cut what is open and stop listening."""
        await self.drop()
        if self._runner is not None:
            await self._runner.cleanup()

    async def accept(self) -> None:
        """Listen (again), on the same port as before."""
        if self._site is None and self._runner is not None:
            self._site = web.TCPSite(self._runner, "127.0.0.1", self._port)
            await self._site.start()
            self._port = int(self._runner.addresses[0][1])
            self.url = f"http://127.0.0.1:{self._port}/"

    async def drop(self) -> None:
        """Cut every connection to chat without a closing handshake."""
        for connection in list(self.irc.connections):
            connection.abort()
        await asyncio.sleep(0)

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

    async def until(self, condition: Callable[[], object], seconds: float = 60.0) -> None:
        """Wait until the condition holds. Raises TimeoutError; the limit is for what never comes, not for a slow PC."""
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110  # the condition may look at anything
                await asyncio.sleep(0.002)

    async def joined(self, count: int = 1) -> None:
        """Wait until that many connections have joined the channel and read their welcome. Raises TimeoutError."""
        await self.until(lambda: sum(1 for c in self.irc.connections if c.channels) >= count)
        await self.settled()

    async def settled(self) -> None:
        """Wait until all who joined have read what was sent: each has answered a PING. Raises TimeoutError."""
        before = [(connection, connection.pongs) for connection in self.irc.connections if connection.channels]
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
        message_id: str = "",
        source_room: str = "",
        tags: Mapping[str, str] | None = None,
    ) -> str:
        """Somebody says something; the message's ID. `at`: ms. `badges`: of this one; `source_room`: shared chat."""
        user = self.world.user(login)
        said = SimMessage(
            id=message_id or self.world.new_id(),
            user=user,
            text=text,
            at=self.now() if at is None else at,
            badges=self.world.badges_of(user) if badges is None else tuple(badges),
            reply_to=self.world.messages.get(reply_to),
            me=me,
            bits=bits,
            source_room=source_room,
            extra=tags or {},
        )
        return (await self.chat.deliver(said)).id

    async def shared(self, login: str, text: str, *, at: int | None = None) -> str:
        """Said in a partner's channel during shared chat; the message's ID."""
        return await self.say(login, text, at=at, source_room="987654321")

    async def repeat(self, message_id: str) -> None:
        """Deliver the same message a second time. Raises KeyError for one that was never said."""
        await self.irc.broadcast(privmsg(self.world, self.world.messages[message_id]))

    async def clear_message(self, message_id: str) -> None:
        """A moderator deletes a message. Raises KeyError for one that was never said."""
        await self.chat.clear_message(message_id)

    async def timeout(self, login: str, seconds: int, by: str = "") -> None:
        """A moderator times somebody out; the streamer, unless another is named."""
        await self.chat.clear_person(self.world.user(login), seconds, self.world.user(by) if by else None)

    async def sub(self, login: str, months: int = 1, text: str = "") -> str:
        """A subscription, new or again; the notice's ID."""
        kind = "resub" if months > 1 else "sub"
        system = f"{self.world.user(login).name} subscribed at Tier 1. They've subscribed for {months} months!"
        parameters = {"cumulative-months": months, "months": 0, "sub-plan": "1000", "sub-plan-name": "Channel\x20Sub"}
        return await self.user_notice(login, text, kind, system, parameters)

    async def gift(self, login: str, count: int = 1) -> str:
        """Subscriptions for the channel; the notice's ID."""
        system = f"{self.world.user(login).name} is gifting {count} Tier 1 Subs to {self.world.owner.name}'s community!"
        parameters = {"mass-gift-count": count, "sub-plan": "1000", "sender-count": count}
        return await self.user_notice(login, "", "submysterygift", system, parameters)

    async def raid(self, login: str, viewers: int) -> str:
        """A raid; the notice's ID."""
        user = self.world.user(login)
        system = f"{viewers} raiders from {user.name} have joined!"
        parameters = {"displayName": user.name, "login": user.login, "viewerCount": viewers}
        return await self.user_notice(login, "", "raid", system, parameters)

    async def announcement(self, login: str, text: str) -> str:
        """A moderator's announcement; the notice's ID."""
        return await self.user_notice(login, text, "announcement", "", {"color": "PRIMARY"})

    async def user_notice(self, login: str, text: str, kind: str, system: str, parameters: Mapping[str, object]) -> str:
        """A USERNOTICE; its ID."""
        user = self.world.user(login)
        said = SimMessage(self.world.new_id(), user, text, self.now(), badges=self.world.badges_of(user))
        return (await self.chat.notice(said, kind, system, parameters)).id

    def go_live(self, *, title: str = "", game: str = "", at: int | None = None, stream_id: str = "") -> SimStream:
        """The stream begins. `at`: ms."""
        when = self.now() if at is None else at
        self.world.stream = SimStream(stream_id or str(40_000_000_000 + when // 1_000), when)
        self.world.title = title or self.world.title
        self.world.game = game or self.world.game
        return self.world.stream

    def go_offline(self) -> None:
        """The stream ends."""
        self.world.stream = None

    async def ping(self) -> None:
        """PING everybody; their PONGs are counted on the connections."""
        await self.irc.broadcast(f"PING :{HOST}")

    def grant(self, login: str, *scopes: str) -> SimToken:
        """Tokens without a log-in; without scopes, all that a bot may want."""
        return self.tokens.grant(login, scopes or ALL_SCOPES)
