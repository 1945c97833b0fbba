"""The chat of the loopback Twitch as a bot may meet it: anonymous readers, refusals, half-open connections.

What is sent to a stalled connection is lost, as on a half-open TCP connection.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field

from aiohttp import web

from forgetmenot.demo import irc_server
from forgetmenot.demo.irc_server import HOST, Tokens, tagged

ANONYMOUS = "justinfan"
KNOWN = {"twitch.tv/tags", "twitch.tv/commands", "twitch.tv/membership"}


class World(irc_server.World):
    """A channel that knows whom it has banned or timed out, the modes of its chat, and what was deleted."""

    def __init__(self, channel: str, now: Callable[[], int]) -> None:
        super().__init__(channel, now)
        self.banned: set[str] = set()
        self.timed_out: dict[str, int] = {}  # by user id: until when (ms)
        self.emote_only = False
        self.slow_s = 0
        self.followers_only = False
        self.subscribers_only = False
        self.followers: set[str] = set()
        self.deleted: set[str] = set()


def notice(text: str, *, channel: str = "*", msg_id: str = "") -> str:
    """NOTICE; the server's own when the channel is "*"."""
    target = channel if channel == "*" else f"#{channel}"
    return tagged(
        {"msg-id": msg_id} if msg_id else {}, f":{HOST} NOTICE {target} :{text}"
    )


@dataclass(slots=True, eq=False)
class Connection(irc_server.Connection):
    """One that may be stalled: half-open."""

    caps: set[str] = field(default_factory=set)
    stalled: bool = False

    async def send(self, *texts: str) -> None:
        if not self.stalled:
            await irc_server.Connection.send(self, *texts)


class IrcServer(irc_server.IrcServer):
    """`silent_unknown`: a JOIN of a channel that does not exist gets no answer at all."""

    connections: list[Connection]  # type: ignore[assignment]  # it makes no others

    def __init__(self, world: World, tokens: Tokens) -> None:
        super().__init__(world, tokens)
        self.world: World = world
        self.silent_unknown = False

    def connected(
        self, socket: web.WebSocketResponse, request: web.Request
    ) -> Connection:
        return Connection(socket, request, stalled=bool(request.get("stalled")))

    async def end(self, connection: irc_server.Connection) -> None:
        assert isinstance(connection, Connection)
        while connection.stalled and connection.request.transport is not None:  # noqa: ASYNC110  # no event tells of it
            await asyncio.sleep(0.02)  # a closing handshake is not answered either
        if not connection.stalled:
            await super().end(connection)

    async def take(self, connection: irc_server.Connection, line: str) -> None:
        assert isinstance(connection, Connection)
        if not connection.stalled:
            await super().take(connection, line)

    async def acknowledge(self, connection: irc_server.Connection, rest: str) -> None:
        assert isinstance(connection, Connection)
        connection.caps.update(rest.removeprefix("REQ :").split())
        assert connection.caps <= KNOWN
        await super().acknowledge(connection, rest)

    async def sign_in(self, connection: irc_server.Connection) -> None:
        token = self.tokens.valid(connection.password.removeprefix("oauth:"))
        if connection.nick.startswith(ANONYMOUS):
            await self.let_in(connection)
            return
        if token is None or "chat:read" not in token.scopes:
            well_formed = connection.password.startswith("oauth:")
            why = (
                "Login authentication failed"
                if well_formed
                else "Improperly formatted auth"
            )
            await connection.send(notice(why))
        await super().sign_in(connection)

    async def join(self, connection: irc_server.Connection, channel: str) -> None:
        if channel != self.world.owner.login:
            if not self.silent_unknown:
                why = "This channel does not exist or has been suspended."
                await connection.send(
                    notice(why, channel=channel, msg_id="msg_channel_suspended")
                )
        elif connection.user is not None and connection.user.id in self.world.banned:
            why = f"You are permanently banned from talking in {channel}."
            await connection.send(notice(why, channel=channel, msg_id="msg_banned"))
        else:
            await super().join(connection, channel)

    def room_state(self) -> str:
        modes = {
            "emote-only": int(self.world.emote_only),
            "followers-only": 0 if self.world.followers_only else -1,
            "r9k": 0,
            "slow": self.world.slow_s,
            "subs-only": int(self.world.subscribers_only),
        }
        tags = {**modes, "room-id": self.world.room_id}
        return tagged(tags, f":{HOST} ROOMSTATE #{self.world.owner.login}")

    async def clear_message(self, message_id: str) -> None:
        self.world.deleted.add(message_id)
        await super().clear_message(message_id)
