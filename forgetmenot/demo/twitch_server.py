"""A Twitch on loopback: chat over IRC, and Helix, on one port, with people who say what they are told to say.

    async with TwitchSim(channel="demo") as sim:
        token = sim.grant("bot")
        …                                                # a bot at sim.url
        await sim.joined()                               # until somebody reads
        message_id = await sim.say("alice", "hello")

It does what the demo needs, in the shapes that twitchio 3.3.2 reads. The rest of Helix, the log-in, what Twitch refuses
and what goes wrong on a network are in tests/loopback_servers.
"""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from http import HTTPStatus
from typing import Any, Self

from aiohttp import web
from aiohttp.typedefs import Middleware

from forgetmenot.demo.irc_server import (
    CLIENT_ID,
    HOST,
    IrcServer,
    SimStream,
    SimToken,
    Tokens,
    User,
    World,
)

# What the demo's log-ins may do: whatever the bot can ask for.
ALL_SCOPES = (
    "chat:read",
    "user:read:chat",
    "user:write:chat",
    "user:read:moderated_channels",
    "clips:edit",
    "moderation:read",
    "channel:read:vips",
    "channel:manage:broadcast",
    "moderator:manage:banned_users",
    "moderator:manage:chat_messages",
    "moderator:manage:chat_settings",
    "moderator:manage:shoutouts",
    "moderator:manage:announcements",
)
PICTURE = "https://static-cdn.jtvnw.net/jtv_user_pictures/none.png"


class Refused(Exception):
    """Helix refuses a call: a status and Twitch's sentence."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class Call:
    """A call with its token already checked. `query` holds every value of a parameter, in order."""

    method: str
    path: str
    token: SimToken
    query: Mapping[str, list[str]]
    body: Mapping[str, object] = field(default_factory=dict)

    def param(self, name: str) -> str:
        """Return a query parameter that must be there."""
        values = self.query.get(name, [""])
        return self._there(name, values[0])

    def text(self, name: str) -> str:
        """Return a field of the body that must be there, as text (numbers are taken as Twitch takes them)."""
        return self._there(name, self.body.get(name))

    @staticmethod
    def _there(name: str, value: object) -> str:
        # Zero is a value.
        if value in (None, ""):
            raise Refused(400, f'Missing required parameter "{name}"')
        return str(value)


Handler = Callable[[Call], Awaitable[web.Response]]


class HelixServer:
    """api.twitch.tv/helix: answers the calls of `routes`, and refuses those without a good token."""

    def __init__(
        self,
        world: World,
        tokens: Tokens,
        irc: IrcServer,
    ) -> None:
        self.world = world
        self.tokens = tokens
        self.irc = irc
        # clips and markers
        self.made = 0
        self.routes: dict[tuple[str, str], Handler] = {
            ("GET", "users"): self._users,
            ("GET", "channels"): self._channels,
            ("GET", "streams"): self._streams,
            ("GET", "videos"): self._no_videos,
            ("POST", "chat/messages"): self.send,
            ("POST", "moderation/bans"): self._ban,
            ("POST", "streams/markers"): self._mark,
            ("POST", "clips"): self._clip,
            ("GET", "moderation/moderators"): partial(self._people, world.moderators),
            ("GET", "channels/vips"): partial(self._people, world.vips),
        }

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer one call over HTTP."""
        # A parameter may stand there several times: `id=1&id=2` asks for two users.
        query = {key: request.query.getall(key) for key in request.query}
        try:
            call = Call(
                method=request.method,
                path=request.match_info["path"].strip("/"),
                token=self.token_of(request),
                query=query,
                body=await json_body(request),
            )
            return await self.answer(call)
        except Refused as refused:
            body = error_body(refused.status, refused.message)
            return web.json_response(body, status=refused.status)

    def token_of(self, request: web.Request) -> SimToken:
        """Return the token of a call."""
        header = request.headers.get("Authorization", "")
        token = self.tokens.valid(header.removeprefix("Bearer "))
        if token is None:
            raise Refused(401, "Invalid OAuth token")
        return token

    async def answer(self, call: Call) -> web.Response:
        """Carry a call out."""
        # A call that the bot learns to make has to be answered here first.
        handler = self.routes.get((call.method, call.path))
        if handler is None:
            raise Refused(404, "Not Found")
        return await handler(call)

    def user(self, user_id: str) -> User:
        """Return the user with that ID. Refuses with 400 if there is none."""
        user = self.world.by_id(user_id)
        if user is None:
            raise Refused(400, f"The user ID {user_id} is not valid.")
        return user

    async def _users(self, call: Call) -> web.Response:
        ids = call.query.get("id", [])
        # Whoever is unknown is left out of the answer, which is no error.
        logins = [login.lower() for login in call.query.get("login", [])]
        answers = []
        for user in self.world.users.values():
            if user.id in ids or user.login in logins:
                answers.append(_user_answer(user))
        return ok(answers)

    async def _channels(self, call: Call) -> web.Response:
        world = self.world
        if call.param("broadcaster_id") != world.room_id:
            return ok([])
        channel = {
            "broadcaster_id": world.owner.id,
            "broadcaster_login": world.owner.login,
            "broadcaster_name": world.owner.name,
            "broadcaster_language": "en",
            "game_id": world.game_id,
            "game_name": world.game,
            "title": world.title,
            "delay": 0,
            # Fields that the bot does not read are there because twitchio reads them.
            "tags": [],
            "content_classification_labels": [],
            "is_branded_content": False,
        }
        return ok([channel])

    async def _streams(self, call: Call) -> web.Response:
        world = self.world
        owner = world.owner
        stream = world.stream
        wanted_ids = call.query.get("user_id", [])
        # A channel that is off is an empty list, too.
        if stream is None or owner.id not in wanted_ids:
            return ok([], pagination={})
        live = {
            "id": stream.id,
            "user_id": owner.id,
            "user_login": owner.login,
            "user_name": owner.name,
            "game_id": world.game_id,
            "game_name": world.game,
            "type": "live",
            "title": world.title,
            "viewer_count": 42,
            "started_at": stamp(stream.started_at),
            "language": "en",
            "thumbnail_url": PICTURE,
            "tag_ids": [],
            "tags": [],
            "is_mature": False,
        }
        return ok([live], pagination={})

    async def send(self, call: Call) -> web.Response:
        """Send a chat message."""
        text = call.text("message")
        user = self.user(call.token.user_id)
        world = self.world
        parent_id = call.body.get("reply_parent_message_id", "")
        parent = world.messages.get(str(parent_id))
        message = world.message(user, text, via="helix", reply_to=parent)
        await self.irc.deliver(message)
        # What Twitch drops is answered with 200 as well, and `is_sent` false.
        sent = {
            "message_id": message.id,
            "is_sent": True,
            "drop_reason": None,
        }
        return ok([sent])

    async def _ban(self, call: Call) -> web.Response:
        ban = ban_data(call)
        user = self.user(str(ban.get("user_id", "")))
        # One call does both: without a duration it is a ban.
        seconds = ban.get("duration")
        await self.irc.clear_person(user, seconds)
        now = self.world.now()
        end_time = None
        if seconds is not None:
            end_time = stamp(now + seconds * 1_000)
        answer = {
            "broadcaster_id": self.world.room_id,
            "moderator_id": call.token.user_id,
            "user_id": user.id,
            "created_at": stamp(now),
            "end_time": end_time,
        }
        return ok([answer])

    async def _no_videos(self, _call: Call) -> web.Response:
        return ok([], pagination={})

    async def _mark(self, call: Call) -> web.Response:
        self.made += 1
        marker = {
            "id": str(self.made),
            "description": str(call.body.get("description", "")),
            "created_at": stamp(self.world.now()),
            "position_seconds": 60,
        }
        return ok([marker])

    async def _clip(self, _call: Call) -> web.Response:
        self.made += 1
        clip_id = f"SimClip{self.made}"
        clip = {
            "id": clip_id,
            "edit_url": f"https://clips.twitch.tv/{clip_id}/edit",
        }
        # Accepted: the clip itself is made some seconds later.
        return ok([clip], 202)

    async def _people(self, ids: set[str], call: Call) -> web.Response:
        wanted_ids = call.query.get("user_id", [])
        people = []
        for user_id in sorted(ids):
            # None named means all of them.
            if not wanted_ids or user_id in wanted_ids:
                people.append(person(self.user(user_id)))
        return ok(people, pagination={})


def _real_time() -> int:
    """Return the time of the computer's clock (ms)."""
    return time.time_ns() // 1_000_000


class TwitchSim:
    """The whole of it. `now`: the time source (ms) of messages and streams."""

    client_id = CLIENT_ID
    middlewares: tuple[Middleware, ...] = ()

    def __init__(
        self, channel: str = "demo", *, now: Callable[[], int] | None = None
    ) -> None:
        self.now = now or _real_time
        self.build(channel)
        self._runner: web.AppRunner | None = None
        self.url = ""

    def build(self, channel: str) -> None:
        """Make the parts."""
        self.world = World(channel, lambda: self.now())  # noqa: PLW0108  # a test may change it
        self.tokens = Tokens(self.world)
        self.irc = IrcServer(self.world, self.tokens)
        self.helix = HelixServer(self.world, self.tokens, self.irc)

    async def __aenter__(self) -> Self:
        """Listen on the loopback interface."""
        app = web.Application(middlewares=self.middlewares)
        app.router.add_get("/irc", self.irc.handle)
        app.router.add_route("*", "/helix/{path:.*}", self.helix.handle)
        self.add_login(app.router)
        # Signals are for the program in whose process this runs.
        self._runner = web.AppRunner(
            app,
            handle_signals=False,
            access_log=None,
            shutdown_timeout=0.05,
        )
        await self._runner.setup()
        # At a port that the system chooses.
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        _, port = self._runner.addresses[0][:2]
        self.url = f"http://127.0.0.1:{port}/"
        return self

    def add_login(self, router: web.UrlDispatcher) -> None:
        """Answer what concerns tokens: nothing, since those of the demo stay good."""

    async def __aexit__(self, *_error: object) -> None:
        """Cut what is open and stop listening."""
        await self.drop()
        if self._runner is not None:
            await self._runner.cleanup()

    async def drop(self) -> None:
        """Cut every connection to chat without a closing handshake."""
        for connection in list(self.irc.connections):
            connection.abort()
        # Each connection's own task sees the end now.
        await asyncio.sleep(0)

    async def until(
        self, condition: Callable[[], object], seconds: float = 60.0
    ) -> None:
        """Wait until the condition holds. Raises TimeoutError; the limit is for what never comes, not for a slow PC."""
        async with asyncio.timeout(seconds):
            while not condition():  # noqa: ASYNC110  # the condition may look at anything
                await asyncio.sleep(0.002)

    async def joined(self, count: int = 1) -> None:
        """Wait until that many connections have joined the channel and read their welcome. Raises TimeoutError."""

        def have_joined() -> bool:
            return len(self.irc.readers()) >= count

        await self.until(have_joined)
        await self.settled()

    async def settled(self) -> None:
        """Wait until all who joined have read what was sent: each has answered a PING. Raises TimeoutError."""
        # Lines come in order, so whoever answers this one has read all before it.
        waiting = {reader: reader.pongs for reader in self.irc.readers()}
        await self.irc.broadcast(f"PING :{HOST}")

        def have_answered() -> bool:
            for reader, pongs in waiting.items():
                if reader.pongs == pongs and reader in self.irc.connections:
                    return False
            return True

        await self.until(have_answered)

    async def say(self, login: str, text: str) -> str:
        """Let a user write a message; returns its ID."""
        user = self.world.user(login)
        message = self.world.message(user, text)
        await self.irc.deliver(message)
        return message.id

    async def clear_message(self, message_id: str) -> None:
        """A moderator deletes a message. Raises KeyError for one that was never said."""
        await self.irc.clear_message(message_id)

    async def timeout(self, login: str, seconds: int) -> None:
        """The streamer times somebody out."""
        user = self.world.user(login)
        await self.irc.clear_person(user, seconds)

    def go_live(
        self,
        *,
        title: str = "",
        game: str = "",
        at: int | None = None,
    ) -> SimStream:
        """Begin the stream. `at`: ms."""
        started_at = self.now() if at is None else at
        # As many digits as Twitch's, and another one for each second.
        stream_id = str(40_000_000_000 + started_at // 1_000)
        stream = SimStream(stream_id, started_at)
        self.world.stream = stream
        self.world.title = title or self.world.title
        self.world.game = game or self.world.game
        return stream

    def go_offline(self) -> None:
        """The stream ends."""
        self.world.stream = None

    def grant(self, login: str, *scopes: str) -> SimToken:
        """Tokens without a log-in; without scopes, all that a bot may want."""
        return self.tokens.grant(login, scopes or ALL_SCOPES)


# ── the forms of Helix's answers ────────────────────────────────────────────────────────────


def _user_answer(user: User) -> dict[str, str]:
    """Return a user as `GET users` has them."""
    return {
        "id": user.id,
        "login": user.login,
        "display_name": user.name,
        "type": "",
        "broadcaster_type": "",
        "description": "",
        "offline_image_url": "",
        "profile_image_url": PICTURE,
        "created_at": "2016-12-14T20:32:28Z",
    }


def ok(
    data: object,
    status: int = 200,
    **more: object,
) -> web.Response:
    """Return an answer with data."""
    body = {"data": data, **more}
    return web.json_response(body, status=status)


def error_body(status: int, message: str) -> dict[str, object]:
    """Twitch's form of an error: {"error", "status", "message"}."""
    return {
        "error": HTTPStatus(status).phrase,
        "status": status,
        "message": message,
    }


def stamp(ms: int) -> str:
    """RFC 3339 in UTC, as Helix writes times."""
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


async def json_body(request: web.Request) -> dict[str, object]:
    """Return the body of a call; empty if there is none."""
    text = await request.text()
    return dict(json.loads(text or "{}"))


def ban_data(call: Call) -> Mapping[str, Any]:
    """Return who is to be banned, for how long, and why; empty if the body does not say."""
    data = call.body.get("data")
    return data if isinstance(data, dict) else {}


def person(user: User) -> dict[str, str]:
    """Return a user as lists of people have them."""
    return {
        "user_id": user.id,
        "user_login": user.login,
        "user_name": user.name,
    }
