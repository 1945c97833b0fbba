"""The chat of the loopback Twitch: IRC over WebSocket, with anonymous readers, refusals, half-open connections.

The server speaks CAP, PASS, NICK, JOIN, PING and PONG. Tags follow Twitch's documentation and recorded lines; nothing
was checked against the real service. What is sent to a stalled connection is lost, as on a half-open TCP connection.
"""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from aiohttp import WSMsgType, web

from tests.loopback_servers.twitch_world import FOREVER, SimMessage, Tokens, User, World

HOST = "tmi.twitch.tv"
ANONYMOUS = "justinfan"
KNOWN = {"twitch.tv/tags", "twitch.tv/commands", "twitch.tv/membership"}
_ESCAPES = str.maketrans({";": r"\:", " ": r"\s", "\\": "\\\\", "\r": r"\r", "\n": r"\n"})
_GONE = (ConnectionError, RuntimeError)
_WELCOME = {
    "001": "Welcome, GLHF!",
    "002": f"Your host is {HOST}",
    "003": "This server is rather new",
    "004": "-",
    "375": "-",
    "372": "You are in a maze of twisty passages, all alike.",
    "376": ">",
}


def tagged(tags: Mapping[str, object], rest: str) -> str:
    """A line with its tags in front, values escaped as IRCv3 has it."""
    joined = ";".join(f"{key}={str(value).translate(_ESCAPES)}" for key, value in tags.items())
    return f"@{joined} {rest}" if joined else rest


def prefix(login: str) -> str:
    """`:login!login@login.tmi.twitch.tv`."""
    return f":{login}!{login}@{login}.{HOST}"


def privmsg(world: World, said: SimMessage) -> str:
    """PRIVMSG with all the tags of a viewer's client."""
    mod = "moderator/1" in said.badges
    text, tags = said.text, {
        "badge-info": "", "badges": ",".join(said.badges), "color": "", "display-name": said.user.name, "emotes": "",
        "flags": "", "id": said.id, "mod": int(mod), "room-id": world.room_id, "subscriber": 0, "tmi-sent-ts": said.at,
        "turbo": 0, "user-id": said.user.id, "user-type": "mod" if mod else "", "first-msg": 0, "returning-chatter": 0,
    }  # fmt: skip
    tags |= {"vip": 1} if "vip/1" in said.badges else {}
    if said.reply_to is not None:
        tags |= _reply_tags(said.reply_to)
        # Twitch puts the name of the one who is answered in front of the text
        text = f"@{said.reply_to.user.name} {text}"
    if said.source_room:
        tags |= {"source-room-id": said.source_room, "source-id": f"{said.id}-source", "source-badges": ""}
    return tagged(tags, f"{prefix(said.user.login)} PRIVMSG #{world.owner.login} :{text}")


def _reply_tags(parent: SimMessage) -> dict[str, str]:
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


def notice(text: str, *, channel: str = "*", msg_id: str = "") -> str:
    """NOTICE; the server's own when the channel is "*"."""
    target = channel if channel == "*" else f"#{channel}"
    return tagged({"msg-id": msg_id} if msg_id else {}, f":{HOST} NOTICE {target} :{text}")


@dataclass(slots=True, eq=False)
class Connection:
    """One WebSocket. `user`: who has signed in; `received`: every line that it sent but its password."""

    socket: web.WebSocketResponse
    request: web.Request
    stalled: bool = False
    nick: str = ""
    password: str = ""
    user: User | None = None
    channels: set[str] = field(default_factory=set)
    caps: set[str] = field(default_factory=set)
    received: list[str] = field(default_factory=list)
    pongs: int = 0

    async def send(self, *texts: str) -> None:
        """Send lines; nothing happens if the connection is gone."""
        if self.stalled or self.socket.closed or not texts:
            return
        try:
            await self.socket.send_str("".join(f"{text}\r\n" for text in texts))
        except _GONE:
            return

    def abort(self) -> None:
        """Cut the cable: no closing handshake."""
        if self.request.transport is not None:
            self.request.transport.abort()


class IrcServer:
    """All connections to chat, and chat as it was: `said` is all that was delivered.

    `silent_unknown`: a JOIN of a channel that does not exist gets no answer at all.
    """

    def __init__(self, world: World, tokens: Tokens) -> None:
        self.world, self.tokens = world, tokens
        self.connections: list[Connection] = []
        self.said: list[SimMessage] = []
        self.silent_unknown = False
        self.on_said: Callable[[SimMessage], None] = lambda _said: None

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one connection until it ends."""
        socket = web.WebSocketResponse(autoclose=False, compress=False)
        await socket.prepare(request)
        connection = Connection(socket, request, stalled=bool(request.get("stalled")))
        self.connections.append(connection)
        try:
            async for message in socket:
                for line in str(message.data).splitlines() if message.type is WSMsgType.TEXT else ():
                    if not connection.stalled:
                        await self._take(connection, line)
            while connection.stalled and request.transport is not None:  # noqa: ASYNC110  # no event tells of it
                await asyncio.sleep(0.02)  # a closing handshake is not answered either
            if not connection.stalled:
                await socket.close()
        finally:
            self.connections.remove(connection)
        return socket

    async def _take(self, connection: Connection, line: str) -> None:
        """Do what a line asks for."""
        connection.received.append("PASS ***" if line.startswith("PASS ") else line)
        command, _, rest = line.partition(" ")
        rest = rest.removeprefix(":").strip()
        match command.upper():
            case "CAP":
                connection.caps.update(rest.removeprefix("REQ :").split())
                assert connection.caps <= KNOWN
                await connection.send(f":{HOST} CAP * ACK :{rest.removeprefix('REQ :')}")
            case "PASS":
                connection.password = rest
            case "NICK":
                connection.nick = rest.lower()
                await self._sign_in(connection)
            case "JOIN":
                await self._join(connection, rest.removeprefix("#").lower())
            case "PING":
                await connection.send(f":{HOST} PONG {HOST} :{rest}")
            case "PONG":
                connection.pongs += 1

    async def _sign_in(self, connection: Connection) -> None:
        """Let in readers without an account, and whoever has a token that is good."""
        token, states = self.tokens.valid(connection.password.removeprefix("oauth:")), []
        if not connection.nick.startswith(ANONYMOUS):
            if token is None or "chat:read" not in token.scopes:
                well_formed = connection.password.startswith("oauth:")
                why = "Login authentication failed" if well_formed else "Improperly formatted auth"
                await connection.send(notice(why))
            if token is None:
                await connection.socket.close()
                return
            connection.user, connection.nick = self.world.user(token.login), token.login
            states = [self._own_state(connection.user, "GLOBALUSERSTATE", **{"user-id": token.user_id})]
        welcome = [f":{HOST} {number} {connection.nick} :{text}" for number, text in _WELCOME.items()]
        await connection.send(*welcome, *states)

    def _own_state(self, user: User, command: str, **more: str) -> str:
        tags = {"badge-info": "", "color": "", "display-name": user.name, "emote-sets": "0", "user-type": ""}
        return tagged(tags | more, f":{HOST} {command}")

    async def _join(self, connection: Connection, channel: str) -> None:
        user, login, world = connection.user, connection.nick, self.world
        if channel != world.owner.login:
            if not self.silent_unknown:
                why = "This channel does not exist or has been suspended."
                await connection.send(notice(why, channel=channel, msg_id="msg_channel_suspended"))
        elif user is not None and world.ban_left(user.id) == FOREVER:
            why = f"You are permanently banned from talking in {channel}."
            await connection.send(notice(why, channel=channel, msg_id="msg_banned"))
        else:
            connection.channels.add(channel)
            lines = [
                f"{prefix(login)} JOIN #{channel}",
                f":{login}.{HOST} 353 {login} = #{channel} :{login}",
                f":{login}.{HOST} 366 {login} #{channel} :End of /NAMES list",
            ]
            if user is not None:
                badges = ",".join(world.badges_of(user))
                lines.append(self._own_state(user, f"USERSTATE #{channel}", badges=badges))
            await connection.send(*lines, self.room_state())

    def room_state(self) -> str:
        """ROOMSTATE in full."""
        rules = self.world.rules
        tags = {
            "emote-only": int(rules.emote_mode),
            "followers-only": (rules.follower_mode_duration or 0) if rules.follower_mode else -1,
            "r9k": int(rules.unique_chat_mode),
            "room-id": self.world.room_id,
            "slow": (rules.slow_mode_wait_time or 30) if rules.slow_mode else 0,
            "subs-only": int(rules.subscriber_mode),
        }
        return tagged(tags, f":{HOST} ROOMSTATE #{self.world.owner.login}")

    async def broadcast(self, line: str) -> None:
        """Send a line to every connection that has joined."""
        for connection in list(self.connections):
            if connection.channels:
                await connection.send(line)

    # What happens in chat: every change is sent to all who read.

    async def deliver(self, said: SimMessage) -> None:
        """Send a message to everybody."""
        self.world.messages[said.id] = said
        self.said.append(said)
        self.on_said(said)
        await self.broadcast(privmsg(self.world, said))

    async def clear_message(self, message_id: str) -> None:
        """Delete one message. Raises KeyError for a message that was never said."""
        said, world = self.world.messages[message_id], self.world
        world.deleted.add(message_id)
        # `room-id` is empty in Twitch's own CLEARMSG as well
        tags = {"login": said.user.login, "room-id": "", "target-msg-id": said.id, "tmi-sent-ts": world.now()}
        await self.broadcast(tagged(tags, f":{HOST} CLEARMSG #{world.owner.login} :{said.text}"))

    async def clear_person(self, user: User, seconds: int | None) -> None:
        """Time somebody out, or ban them (None)."""
        self.world.deleted.update(said.id for said in self.said if said.user.id == user.id)
        tags = {"target-user-id": user.id} | ({"ban-duration": str(seconds)} if seconds is not None else {})
        await self._clear(tags, f" :{user.login}")

    async def clear_all(self) -> None:
        """A moderator clears the whole chat."""
        self.world.deleted.update(self.world.messages)
        await self._clear({}, "")

    async def _clear(self, tags: Mapping[str, str], whom: str) -> None:
        here = {"room-id": self.world.room_id, "tmi-sent-ts": self.world.now()}
        await self.broadcast(tagged({**here, **tags}, f":{HOST} CLEARCHAT #{self.world.owner.login}{whom}"))
