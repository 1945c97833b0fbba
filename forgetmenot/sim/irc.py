"""Twitch chat's IRC over WebSocket, as far as a bot that reads a channel meets it.

Speaks CAP, PASS, NICK, JOIN, PART, PING, PONG and PRIVMSG. What a stalled connection is sent is lost, as on a
half-open TCP connection.
"""

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from aiohttp import WSMsgType, web

from forgetmenot.sim import lines
from forgetmenot.sim.faults import Faults, strike
from forgetmenot.sim.oauth import Tokens
from forgetmenot.sim.world import FOREVER, User, World

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

ANONYMOUS = "justinfan"
_GONE = (ConnectionError, RuntimeError)


@dataclass(slots=True, eq=False)
class Connection:
    """One WebSocket. `user` is None for an anonymous one; `received` is every line it sent but its password."""

    socket: web.WebSocketResponse
    request: web.Request
    nick: str = ""
    password: str = ""
    user: User | None = None
    let_in: bool = False
    caps: set[str] = field(default_factory=set)
    channels: set[str] = field(default_factory=set)
    received: list[str] = field(default_factory=list)
    pongs: int = 0
    stalled: bool = False

    async def send(self, *texts: str) -> None:
        """Send lines; nothing happens if the connection is stalled or gone."""
        if self.stalled or self.socket.closed or not texts:
            return
        shown = [text if "twitch.tv/tags" in self.caps else _untagged(text) for text in texts]
        try:
            await self.socket.send_str("".join(f"{text}\r\n" for text in shown))
        except _GONE:
            return

    def abort(self) -> None:
        """Cut the cable: no closing handshake."""
        if self.request.transport is not None:
            self.request.transport.abort()


class IrcServer:
    """All connections to chat. `silent_unknown`: a JOIN of a channel that does not exist gets no answer at all."""

    def __init__(self, world: World, tokens: Tokens, faults: Faults) -> None:
        self.world = world
        self.tokens = tokens
        self.faults = faults
        self.connections: list[Connection] = []
        self.opened = 0
        self.silent_unknown = False
        self.on_message: Callable[[Connection, str], Awaitable[None]] | None = None

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one connection until it ends."""
        fault = self.faults.take("irc", "GET", "")
        self.opened += 1
        if fault is not None and not fault.stall and (struck := await strike(fault, request)) is not None:
            return struck
        socket = web.WebSocketResponse(autoping=False, autoclose=False, compress=False)
        await socket.prepare(request)
        connection = Connection(socket, request, stalled=fault is not None and fault.stall)
        self.connections.append(connection)
        try:
            await self._read(connection)
            await self._end(connection)
        finally:
            self.connections.remove(connection)
        return socket

    async def _end(self, connection: Connection) -> None:
        while connection.stalled and connection.request.transport is not None:  # noqa: ASYNC110  # no event tells of it
            await asyncio.sleep(0.02)  # a closing handshake is not answered either
        if not connection.stalled:
            await connection.socket.close()

    async def _read(self, connection: Connection) -> None:
        async for message in connection.socket:
            if connection.stalled:
                continue
            if message.type is WSMsgType.PING:
                await connection.socket.pong(message.data)
            elif message.type is WSMsgType.TEXT:
                for line in str(message.data).splitlines():
                    await self._take(connection, line)

    async def _take(self, connection: Connection, line: str) -> None:
        command, _, rest = line.partition(" ")
        connection.received.append(line if command.upper() != "PASS" else "PASS ***")
        handler = _COMMANDS.get(command.upper())
        if handler is not None:
            await handler(self, connection, rest)

    async def cap(self, connection: Connection, rest: str) -> None:
        """CAP REQ: everything Twitch has is acknowledged, anything else refused."""
        verb, _, wanted = rest.partition(" ")
        names = wanted.removeprefix(":").split()
        known = {"twitch.tv/tags", "twitch.tv/commands", "twitch.tv/membership"}
        if verb.upper() != "REQ":
            return
        if known.issuperset(names):
            connection.caps.update(names)
            await connection.send(f":{lines.HOST} CAP * ACK :{' '.join(names)}")
        else:
            await connection.send(f":{lines.HOST} CAP * NAK :{' '.join(names)}")

    async def take_password(self, connection: Connection, rest: str) -> None:
        """PASS."""
        connection.password = rest.removeprefix(":")

    async def take_nick(self, connection: Connection, rest: str) -> None:
        """NICK: the connection is let in, or told why not and closed."""
        connection.nick = rest.removeprefix(":").strip().lower()
        if connection.nick.startswith(ANONYMOUS) and connection.nick[len(ANONYMOUS) :].isdigit():
            await self._let_in(connection)
            return
        if not connection.password.startswith("oauth:"):
            await self._refuse(connection, "Improperly formatted auth")
            return
        token = self.tokens.valid(connection.password.removeprefix("oauth:"))
        if token is None or "chat:read" not in token.scopes:
            await self._refuse(connection, "Login authentication failed")
            return
        connection.user = self.world.by_id(token.user_id)
        await self._let_in(connection)

    async def _refuse(self, connection: Connection, why: str) -> None:
        await connection.send(lines.notice(why))
        await connection.socket.close()

    async def _let_in(self, connection: Connection) -> None:
        connection.let_in = True
        if connection.user is not None:
            connection.nick = connection.user.login
        await connection.send(*lines.welcome(connection.nick))
        if connection.user is not None and "twitch.tv/commands" in connection.caps:
            await connection.send(lines.global_user_state(connection.user))

    async def join(self, connection: Connection, rest: str) -> None:
        """JOIN of one or several channels."""
        for name in rest.removeprefix(":").split(","):
            if connection.let_in:
                await self._join(connection, name.strip().removeprefix("#").lower())

    async def _join(self, connection: Connection, channel: str) -> None:
        if channel != self.world.owner.login:
            if not self.silent_unknown:
                why = "This channel does not exist or has been suspended."
                await connection.send(lines.notice(why, channel=channel, msg_id="msg_channel_suspended"))
            return
        user = connection.user
        if user is not None and self.world.ban_left(user.id) == FOREVER:
            why = f"You are permanently banned from talking in {channel}."
            await connection.send(lines.notice(why, channel=channel, msg_id="msg_banned"))
            return
        connection.channels.add(channel)
        await connection.send(*lines.joined(connection.nick, channel))
        if "twitch.tv/commands" in connection.caps:
            states = [lines.user_state(self.world, user)] if user is not None else []
            await connection.send(*states, lines.room_state(self.world))

    async def part(self, connection: Connection, rest: str) -> None:
        """PART."""
        channel = rest.strip().removeprefix(":").removeprefix("#").partition(" ")[0]
        connection.channels.discard(channel)
        await connection.send(f"{lines.prefix(connection.nick)} PART #{channel}")

    async def ping(self, connection: Connection, rest: str) -> None:
        """PING is answered."""
        await connection.send(f":{lines.HOST} PONG {lines.HOST} :{rest.removeprefix(':')}")

    async def pong(self, connection: Connection, _rest: str) -> None:
        """PONG is counted."""
        connection.pongs += 1

    async def privmsg(self, connection: Connection, rest: str) -> None:
        """PRIVMSG: handed on, unless the connection is anonymous or has not joined."""
        target, _, text = rest.partition(" ")
        if self.on_message is not None and target.removeprefix("#") in connection.channels:
            await self.on_message(connection, text.removeprefix(":"))

    async def broadcast(self, line: str, *, but: Connection | None = None) -> None:
        """Send a line to every connection that has joined."""
        for connection in list(self.connections):
            if connection is not but and connection.channels:
                await connection.send(line)


def _untagged(line: str) -> str:
    return line.partition(" ")[2] if line.startswith("@") else line


_COMMANDS = {
    "CAP": IrcServer.cap,
    "PASS": IrcServer.take_password,
    "NICK": IrcServer.take_nick,
    "JOIN": IrcServer.join,
    "PART": IrcServer.part,
    "PING": IrcServer.ping,
    "PONG": IrcServer.pong,
    "PRIVMSG": IrcServer.privmsg,
}
