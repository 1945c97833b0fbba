"""Twitch chat's IRC over WebSocket, as far as a bot that reads a channel needs it: its lines and the server.

The server speaks CAP, PASS, NICK, JOIN, PING and PONG. What is sent to a stalled connection is lost, as on a half-open
TCP connection. Tags follow Twitch's documentation and recorded lines; nothing was checked against the real service.
"""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from forgetmenot.sim.world import FOREVER, SimMessage, Tokens, User, World

HOST = "tmi.twitch.tv"
_ESCAPES = str.maketrans({";": r"\:", " ": r"\s", "\\": "\\\\", "\r": r"\r", "\n": r"\n"})


def tagged(tags: Mapping[str, object], rest: str) -> str:
    """A line with its tags in front, values escaped as IRCv3 has it."""
    joined = ";".join(f"{key}={str(value).translate(_ESCAPES)}" for key, value in tags.items())
    return f"@{joined} {rest}" if joined else rest


def prefix(login: str) -> str:
    """`:login!login@login.tmi.twitch.tv`."""
    return f":{login}!{login}@{login}.{HOST}"


def welcome(login: str) -> list[str]:
    """What Twitch says to a connection that is let in."""
    texts = {
        "001": "Welcome, GLHF!",
        "002": f"Your host is {HOST}",
        "003": "This server is rather new",
        "004": "-",
        "375": "-",
        "372": "You are in a maze of twisty passages, all alike.",
        "376": ">",
    }
    return [f":{HOST} {number} {login} :{text}" for number, text in texts.items()]


def global_user_state(user: User) -> str:
    """GLOBALUSERSTATE of who has signed in."""
    tags = {"badge-info": "", "badges": "", "color": user.color, "display-name": user.name}
    return tagged(tags | {"emote-sets": "0", "user-id": user.id, "user-type": ""}, f":{HOST} GLOBALUSERSTATE")


def user_state(world: World, user: User) -> str:
    """USERSTATE of who has joined."""
    badges = world.badges_of(user)
    mod = int("moderator/1" in badges)
    tags = {"badge-info": "", "badges": ",".join(badges), "color": user.color, "display-name": user.name}
    tags |= {"emote-sets": "0", "mod": str(mod), "subscriber": "0", "user-type": "mod" if mod else ""}
    return tagged(tags, f":{HOST} USERSTATE #{world.owner.login}")


def room_state(world: World) -> str:
    """ROOMSTATE in full."""
    rules = world.rules
    followers = (rules.follower_mode_duration or 0) if rules.follower_mode else -1
    tags = {
        "emote-only": int(rules.emote_mode),
        "followers-only": followers,
        "r9k": int(rules.unique_chat_mode),
        "room-id": world.room_id,
        "slow": (rules.slow_mode_wait_time or 30) if rules.slow_mode else 0,
        "subs-only": int(rules.subscriber_mode),
    }
    return tagged(tags, f":{HOST} ROOMSTATE #{world.owner.login}")


def joined(login: str, channel: str) -> list[str]:
    """What follows a JOIN, before the states."""
    return [
        f"{prefix(login)} JOIN #{channel}",
        f":{login}.{HOST} 353 {login} = #{channel} :{login}",
        f":{login}.{HOST} 366 {login} #{channel} :End of /NAMES list",
    ]


def notice(text: str, *, channel: str = "*", msg_id: str = "") -> str:
    """NOTICE; the server's own when the channel is "*"."""
    target = channel if channel == "*" else f"#{channel}"
    return tagged({"msg-id": msg_id} if msg_id else {}, f":{HOST} NOTICE {target} :{text}")


def _person_tags(world: World, user: User, badges: tuple[str, ...]) -> dict[str, object]:
    names = {badge.partition("/")[0]: badge.partition("/")[2] for badge in badges}
    subscriber = "subscriber" in names or "founder" in names
    tags: dict[str, object] = {
        "badge-info": f"subscriber/{names['subscriber']}" if "subscriber" in names else "",
        "badges": ",".join(badges),
        "color": user.color,
        "display-name": user.name,
        "emotes": "",
        "flags": "",
        "mod": int("moderator" in names),
        "room-id": world.room_id,
        "subscriber": int(subscriber),
        "turbo": 0,
        "user-id": user.id,
        "user-type": "mod" if "moderator" in names else "",
    }
    return tags | ({"vip": 1} if "vip" in names else {})


def privmsg(world: World, said: SimMessage) -> str:
    """PRIVMSG with all the tags of a viewer's client."""
    tags = _person_tags(world, said.user, said.badges)
    tags |= {"first-msg": int(said.first), "id": said.id, "returning-chatter": 0, "tmi-sent-ts": said.at}
    if said.bits:
        tags["bits"] = said.bits
    text = said.text
    if said.reply_to is not None:
        tags |= _reply_tags(said.reply_to)
        # Twitch puts the name of the one who is answered in front of the text
        text = f"@{said.reply_to.user.name} {text}"
    if said.source_room:
        tags |= {"source-room-id": said.source_room, "source-id": f"{said.id}-source", "source-badges": ""}
    tags |= said.extra
    text = f"\x01ACTION {text}\x01" if said.me else text
    return tagged(tags, f"{prefix(said.user.login)} PRIVMSG #{world.owner.login} :{text}")


def _reply_tags(parent: SimMessage) -> dict[str, object]:
    root = parent.reply_to or parent
    return {
        "reply-parent-display-name": parent.user.name,
        "reply-parent-msg-body": parent.text,
        "reply-parent-msg-id": parent.id,
        "reply-parent-user-id": parent.user.id,
        "reply-parent-user-login": parent.user.login,
        "reply-thread-parent-msg-id": root.id,
        "reply-thread-parent-user-login": root.user.login,
    }


def user_notice(world: World, said: SimMessage, kind: str, system: str, parameters: Mapping[str, object]) -> str:
    """USERNOTICE: a sub, a gift, a raid, an announcement. `said.text` is what the person added, if anything."""
    tags = _person_tags(world, said.user, said.badges)
    tags |= {"id": said.id, "login": said.user.login, "msg-id": kind, "system-msg": system, "tmi-sent-ts": said.at}
    tags |= {f"msg-param-{key}": value for key, value in parameters.items()} | dict(said.extra)
    text = f" :{said.text}" if said.text else ""
    return tagged(tags, f":{HOST} USERNOTICE #{world.owner.login}{text}")


def clear_message(world: World, said: SimMessage) -> str:
    """CLEARMSG: one message is gone."""
    # `room-id` is empty in Twitch's own CLEARMSG as well
    tags = {"login": said.user.login, "room-id": "", "target-msg-id": said.id, "tmi-sent-ts": world.now()}
    return tagged(tags, f":{HOST} CLEARMSG #{world.owner.login} :{said.text}")


def clear_chat(world: World, user: User | None, seconds: int | None) -> str:
    """CLEARCHAT: a timeout (seconds), a ban (None), or the whole chat (no user)."""
    tags: dict[str, object] = {"room-id": world.room_id, "tmi-sent-ts": world.now()}
    if user is None:
        return tagged(tags, f":{HOST} CLEARCHAT #{world.owner.login}")
    tags = ({"ban-duration": seconds} if seconds is not None else {}) | tags | {"target-user-id": user.id}
    return tagged(tags, f":{HOST} CLEARCHAT #{world.owner.login} :{user.login}")


# The server.

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

    def __init__(self, world: World, tokens: Tokens) -> None:
        self.world = world
        self.tokens = tokens
        self.connections: list[Connection] = []
        self.silent_unknown = False

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one connection until it ends."""
        socket = web.WebSocketResponse(autoping=False, autoclose=False, compress=False)
        await socket.prepare(request)
        connection = Connection(socket, request, stalled=bool(request.get("stalled")))
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
            await connection.send(f":{HOST} CAP * ACK :{' '.join(names)}")
        else:
            await connection.send(f":{HOST} CAP * NAK :{' '.join(names)}")

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
        await connection.send(notice(why))
        await connection.socket.close()

    async def _let_in(self, connection: Connection) -> None:
        connection.let_in = True
        if connection.user is not None:
            connection.nick = connection.user.login
        await connection.send(*welcome(connection.nick))
        if connection.user is not None and "twitch.tv/commands" in connection.caps:
            await connection.send(global_user_state(connection.user))

    async def join(self, connection: Connection, rest: str) -> None:
        """JOIN of one or several channels."""
        for name in rest.removeprefix(":").split(","):
            if connection.let_in:
                await self._join(connection, name.strip().removeprefix("#").lower())

    async def _join(self, connection: Connection, channel: str) -> None:
        if channel != self.world.owner.login:
            if not self.silent_unknown:
                why = "This channel does not exist or has been suspended."
                await connection.send(notice(why, channel=channel, msg_id="msg_channel_suspended"))
            return
        user = connection.user
        if user is not None and self.world.ban_left(user.id) == FOREVER:
            why = f"You are permanently banned from talking in {channel}."
            await connection.send(notice(why, channel=channel, msg_id="msg_banned"))
            return
        connection.channels.add(channel)
        await connection.send(*joined(connection.nick, channel))
        if "twitch.tv/commands" in connection.caps:
            states = [user_state(self.world, user)] if user is not None else []
            await connection.send(*states, room_state(self.world))

    async def ping(self, connection: Connection, rest: str) -> None:
        """PING is answered."""
        await connection.send(f":{HOST} PONG {HOST} :{rest.removeprefix(':')}")

    async def pong(self, connection: Connection, _rest: str) -> None:
        """PONG is counted."""
        connection.pongs += 1

    async def broadcast(self, line: str) -> None:
        """Send a line to every connection that has joined."""
        for connection in list(self.connections):
            if connection.channels:
                await connection.send(line)


def _untagged(line: str) -> str:
    return line.partition(" ")[2] if line.startswith("@") else line


_COMMANDS = {
    "CAP": IrcServer.cap,
    "PASS": IrcServer.take_password,
    "NICK": IrcServer.take_nick,
    "JOIN": IrcServer.join,
    "PING": IrcServer.ping,
    "PONG": IrcServer.pong,
}
