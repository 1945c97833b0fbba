"""The loopback Twitch's people, channel and tokens, and its chat: IRC over WebSocket, as far as the demo needs it.

The server speaks CAP, PASS, NICK, JOIN, PART, PING and PONG. Tags follow Twitch's documentation and recorded lines;
nothing was checked against the real service. Times are milliseconds since the epoch, by a time source that may be
replaced.
"""

import contextlib
import secrets
import uuid
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import WSMsgType, web

HOST = "tmi.twitch.tv"
# A tag ends with a semicolon and a line with a space or a line end: IRCv3 escapes them in values.
_ESCAPES = str.maketrans(
    {
        ";": r"\:",
        " ": r"\s",
        "\\": "\\\\",
        "\r": r"\r",
        "\n": r"\n",
    }
)
CLIENT_ID = "simclientid"
# Ids have nine digits, as most of Twitch's.
_IDS_FROM = 100_000_000
_IDS = 900_000_000


@dataclass(frozen=True, slots=True)
class User:
    """Somebody on Twitch."""

    id: str
    login: str
    name: str
    color: str = ""


@dataclass(frozen=True, slots=True)
class SimMessage:
    """A chat message that was delivered. `via`: "chat" (a viewer) or "helix". `at`: ms."""

    id: str
    user: User
    text: str
    at: int
    via: str = "chat"
    badges: tuple[str, ...] = ()
    reply_to: "SimMessage | None" = None


@dataclass(frozen=True, slots=True)
class SimStream:
    """The channel's broadcast: live between `started_at` and the day somebody calls `sim.go_offline()`."""

    id: str
    started_at: int


@dataclass(slots=True)
class SimToken:
    """A user's access token and the refresh token beside it."""

    access: str
    refresh: str
    user_id: str
    login: str
    scopes: tuple[str, ...]
    # the access token answers 401; the refresh token still works, once
    expired: bool = False
    # the refresh token has been used or revoked
    used: bool = False


class World:
    """One channel and everybody in it. `owner` is the streamer."""

    def __init__(self, channel: str, now: Callable[[], int]) -> None:
        self.now = now
        self.users: dict[str, User] = {}
        self.owner = self.user(channel)
        # both sets hold user ids
        self.moderators: set[str] = set()
        self.vips: set[str] = set()
        self.title = "A quiet evening"
        self.game_id = "509658"
        self.game = "Just Chatting"
        self.stream: SimStream | None = None
        self.messages: dict[str, SimMessage] = {}

    @property
    def room_id(self) -> str:
        """Return the channel's id, which is its owner's."""
        return self.owner.id

    def user(self, login: str) -> User:
        """Return the user of that login; made at the first call.

        The id follows from the login, the same in every run.
        """
        if login not in self.users:
            # Not `hash`, which differs from run to run.
            number = zlib.crc32(login.encode()) % _IDS
            user_id = str(_IDS_FROM + number)
            self.users[login] = User(user_id, login, login.capitalize())
        return self.users[login]

    def by_id(self, user_id: str) -> User | None:
        """Return the user with that id, or None."""
        for user in self.users.values():
            if user.id == user_id:
                return user
        return None

    def moderator(self, login: str) -> None:
        """Make that user a moderator."""
        self.moderators.add(self.user(login).id)

    def vip(self, login: str) -> None:
        """Make that user a VIP."""
        self.vips.add(self.user(login).id)

    def badges_of(self, user: User) -> tuple[str, ...]:
        """Return what the chat shows beside the name."""
        roles = {
            "broadcaster/1": {self.owner.id},
            "moderator/1": self.moderators,
            "vip/1": self.vips,
        }
        return tuple(badge for badge, people in roles.items() if user.id in people)

    def message(
        self,
        user: User,
        text: str,
        **more: Any,  # noqa: ANN401  # the other fields, by name
    ) -> SimMessage:
        """Return a message with an id of its own and its writer's badges."""
        # A test may set time and badges.
        fields = {"at": self.now(), "badges": self.badges_of(user), **more}
        return SimMessage(str(uuid.uuid4()), user, text, **fields)


class Tokens:
    """Who holds which token."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.issued: list[SimToken] = []

    def grant(self, login: str, scopes: tuple[str, ...]) -> SimToken:
        """Issue a pair of tokens to a user, who is created if needed."""
        user = self.world.user(login)
        token = SimToken(
            access=secrets.token_hex(15),
            refresh=secrets.token_hex(25),
            user_id=user.id,
            login=login,
            scopes=scopes,
        )
        self.issued.append(token)
        return token

    def valid(self, access: str) -> SimToken | None:
        """Return the token that still works, or None."""
        for token in self.issued:
            if token.access == access and not token.expired:
                return token
        return None


# ── chat ────────────────────────────────────────────────────────────────────────────────────────────


def tagged(tags: Mapping[str, object], rest: str) -> str:
    """Return a line with its tags in front, values escaped as IRCv3 has it."""
    pairs = []
    for key, value in tags.items():
        escaped = str(value).translate(_ESCAPES)
        pairs.append(f"{key}={escaped}")
    if not pairs:
        return rest
    return f"@{';'.join(pairs)} {rest}"


def prefix(login: str) -> str:
    """Return whom a line is from: `:login!login@login.tmi.twitch.tv`."""
    return f":{login}!{login}@{login}.{HOST}"


def privmsg(world: World, message: SimMessage) -> str:
    """Return PRIVMSG with all the tags of a viewer's client."""
    user = message.user
    is_moderator = "moderator/1" in message.badges
    # Twitch sends them all, also those without a value.
    tags: dict[str, object] = {
        "badge-info": "",
        "badges": ",".join(message.badges),
        "color": user.color,
        "display-name": user.name,
        "emotes": "",
        "first-msg": 0,
        "flags": "",
        "id": message.id,
        "mod": int(is_moderator),
        "returning-chatter": 0,
        "room-id": world.room_id,
        "subscriber": 0,
        "tmi-sent-ts": message.at,
        "turbo": 0,
        "user-id": user.id,
        "user-type": "mod" if is_moderator else "",
    }
    if "vip/1" in message.badges:
        tags["vip"] = 1
    text = message.text
    parent = message.reply_to
    if parent is not None:
        tags["reply-parent-msg-id"] = parent.id
        tags["reply-parent-msg-body"] = parent.text
        tags["reply-parent-display-name"] = parent.user.name
        tags["reply-parent-user-id"] = parent.user.id
        tags["reply-parent-user-login"] = parent.user.login
        # Twitch puts the name of the one who is answered in front of the text
        text = f"@{parent.user.name} {text}"
    return tagged(tags, f"{prefix(user.login)} PRIVMSG #{world.owner.login} :{text}")


@dataclass(slots=True, eq=False)
class Connection:
    """One WebSocket. `user`: who has signed in."""

    socket: web.WebSocketResponse
    request: web.Request
    nick: str = ""
    password: str = ""
    user: User | None = None
    channels: set[str] = field(default_factory=set)
    # How many PINGs it has answered, and so what it has read.
    pongs: int = 0

    async def send(self, *texts: str) -> None:
        """Send lines; nothing happens if the connection is gone."""
        lines = [f"{text}\r\n" for text in texts]
        with contextlib.suppress(ConnectionError, RuntimeError):
            await self.socket.send_str("".join(lines))

    def abort(self) -> None:
        """Cut the cable: no closing handshake."""
        if self.request.transport is not None:
            self.request.transport.abort()


class IrcServer:
    """All connections to chat, and chat as it was: `said` is all that was delivered."""

    def __init__(self, world: World, tokens: Tokens) -> None:
        self.world = world
        self.tokens = tokens
        self.connections: list[Connection] = []
        self.said: list[SimMessage] = []

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one connection until it ends."""
        # When it is closed is for `end` to say.
        socket = web.WebSocketResponse(autoclose=False, compress=False)
        await socket.prepare(request)
        connection = self.connected(socket, request)
        self.connections.append(connection)
        try:
            async for message in socket:
                # One message of the WebSocket may hold several lines.
                if message.type is not WSMsgType.TEXT:
                    continue
                for line in str(message.data).splitlines():
                    await self.take(connection, line)
            await self.end(connection)
        finally:
            self.connections.remove(connection)
        return socket

    def readers(self) -> list[Connection]:
        """Return the connections that have joined the channel."""
        return [connection for connection in self.connections if connection.channels]

    def connected(
        self, socket: web.WebSocketResponse, request: web.Request
    ) -> Connection:
        """Return a new connection."""
        return Connection(socket, request)

    async def end(self, connection: Connection) -> None:
        """The other side has hung up."""
        await connection.socket.close()

    async def take(self, connection: Connection, line: str) -> None:
        """Do what a line asks for."""
        command, _, rest = line.partition(" ")
        rest = rest.removeprefix(":").strip()
        match command.upper():
            case "CAP":
                await self.acknowledge(connection, rest)
            case "PASS":
                connection.password = rest
            case "NICK":
                connection.nick = rest.lower()
                await self.sign_in(connection)
            case "JOIN":
                await self.join(connection, rest.removeprefix("#").lower())
            case "PART":
                connection.channels.discard(rest.removeprefix("#").lower())
            case "PING":
                await connection.send(f":{HOST} PONG {HOST} :{rest}")
            case "PONG":
                connection.pongs += 1

    async def acknowledge(self, connection: Connection, rest: str) -> None:
        """CAP REQ: all that is wanted is given."""
        wanted = rest.removeprefix("REQ :")
        await connection.send(f":{HOST} CAP * ACK :{wanted}")

    async def sign_in(self, connection: Connection) -> None:
        """Let in whoever has a token that is good; nobody else."""
        token = self.tokens.valid(connection.password.removeprefix("oauth:"))
        if token is None:
            await connection.socket.close()
            return
        connection.user = self.world.by_id(token.user_id)
        connection.nick = token.login
        await self.let_in(connection)

    async def let_in(self, connection: Connection) -> None:
        """Welcome a connection."""
        await connection.send(f":{HOST} 001 {connection.nick} :Welcome, GLHF!")

    async def join(self, connection: Connection, channel: str) -> None:
        """JOIN of the channel."""
        connection.channels.add(channel)
        await connection.send(f"{prefix(connection.nick)} JOIN #{channel}")
        user = connection.user
        if user is not None:
            tags = {
                "badges": ",".join(self.world.badges_of(user)),
                "display-name": user.name,
                "user-id": user.id,
            }
            await connection.send(tagged(tags, f":{HOST} USERSTATE #{channel}"))
        await connection.send(self.room_state())

    def room_state(self) -> str:
        """ROOMSTATE in full, of a chat without a mode."""
        modes = {
            "emote-only": 0,
            # Off: 0 would be followers of any age.
            "followers-only": -1,
            "r9k": 0,
            "slow": 0,
            "subs-only": 0,
        }
        return tagged(
            {**modes, "room-id": self.world.room_id},
            f":{HOST} ROOMSTATE #{self.world.owner.login}",
        )

    async def broadcast(self, line: str) -> None:
        """Send a line to every connection that has joined."""
        for connection in self.readers():
            await connection.send(line)

    # What happens in chat: every change is sent to all who read.

    async def deliver(self, message: SimMessage) -> None:
        """Send a message to everybody."""
        self.world.messages[message.id] = message
        self.said.append(message)
        await self.broadcast(privmsg(self.world, message))

    async def clear_message(self, message_id: str) -> None:
        """Delete one message. Raises KeyError for a message that was never said."""
        world = self.world
        message = world.messages[message_id]
        # `room-id` is empty in Twitch's own CLEARMSG as well
        tags = {
            "login": message.user.login,
            "room-id": "",
            "target-msg-id": message.id,
            "tmi-sent-ts": world.now(),
        }
        line = f":{HOST} CLEARMSG #{world.owner.login} :{message.text}"
        await self.broadcast(tagged(tags, line))

    async def clear_person(self, user: User, seconds: int | None) -> None:
        """Time somebody out, or ban them (None)."""
        world = self.world
        tags: dict[str, object] = {
            "room-id": world.room_id,
            "tmi-sent-ts": world.now(),
            "target-user-id": user.id,
        }
        # What tells a timeout from a ban.
        if seconds is not None:
            tags["ban-duration"] = seconds
        line = f":{HOST} CLEARCHAT #{world.owner.login} :{user.login}"
        await self.broadcast(tagged(tags, line))
