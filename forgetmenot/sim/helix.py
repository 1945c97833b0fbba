"""The HTTP side of the loopback Twitch: id.twitch.tv (validate, refresh) and api.twitch.tv/helix.

It carries out what an ordinary bot asks and answers in the shapes that twitchio 3.3.2 reads. It checks the token and
the client ID, and nothing else: what the real service refuses is in tests/loopback_servers, which adds it as `checks`.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from aiohttp import web

from forgetmenot.sim import irc
from forgetmenot.sim.world import FOREVER, SimMessage, SimStream, SimToken, Tokens, User, World

_PICTURE = "https://static-cdn.jtvnw.net/jtv_user_pictures/none.png"
_JOINED = "2016-12-14T20:32:28Z"
_NAMES = {400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 422: "Unprocessable Entity"}
_NAMES |= {409: "Conflict", 429: "Too Many Requests", 500: "Internal Server Error", 503: "Service Unavailable"}


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
        """A query parameter that must be there."""
        values = self.query.get(name, [])
        if not values or not values[0]:
            raise Refused(400, f'Missing required parameter "{name}"')
        return values[0]

    def text(self, name: str) -> str:
        """A field of the body that must be there, as text (numbers are taken as Twitch takes them)."""
        value = self.body.get(name)
        if value in (None, ""):
            raise Refused(400, f'Missing required parameter "{name}"')
        return str(value)


Handler = Callable[[Call], Awaitable[web.Response]]
Check = Callable[[Call], None]


class Chat:
    """Chat as it was: `said` is all that was delivered. Every change is sent to all who read."""

    def __init__(self, world: World, server: irc.IrcServer) -> None:
        self.world = world
        self.irc = server
        self.said: list[SimMessage] = []
        self.on_said: Callable[[SimMessage], None] | None = None

    async def deliver(self, said: SimMessage) -> SimMessage:
        """Send a message to everybody."""
        self.world.messages[said.id] = said
        self.said.append(said)
        if self.on_said is not None:
            self.on_said(said)
        await self.irc.broadcast(irc.privmsg(self.world, said))
        return said

    async def clear_message(self, message_id: str) -> None:
        """Delete one message. Raises KeyError for a message that was never said."""
        said = self.world.messages[message_id]
        self.world.deleted.add(message_id)
        await self.irc.broadcast(irc.clear_message(self.world, said))

    async def clear_person(self, user: User, seconds: int | None, by: User | None = None, reason: str = "") -> None:
        """Time somebody out, or ban them (None); `by` the streamer, unless another moderator is named."""
        self.world.ban(user.id, seconds, by, reason)
        self.world.deleted.update(said.id for said in self.said if said.user.id == user.id)
        await self.irc.broadcast(irc.clear_chat(self.world, user, seconds))

    async def clear_all(self) -> None:
        """Clear the whole chat."""
        self.world.deleted.update(self.world.messages)
        await self.irc.broadcast(irc.clear_chat(self.world, None, None))

    async def notice(
        self, said: SimMessage, kind: str, system: str, parameters: Mapping[str, object] | None = None
    ) -> SimMessage:
        """Send a USERNOTICE to everybody."""
        self.world.messages[said.id] = said
        await self.irc.broadcast(irc.user_notice(self.world, said, kind, system, parameters or {}))
        return said


class HelixServer:
    """Answers the calls. `checks` may refuse one before it is carried out; `drop_code` may drop a chat message."""

    def __init__(self, world: World, tokens: Tokens, chat: Chat) -> None:
        self.world, self.tokens, self.chat = world, tokens, chat
        self.checks: dict[tuple[str, str], Check] = {}
        self.drop_code: Callable[[User, str], tuple[str, str] | None] = lambda _user, _text: None
        self.made = 0  # clips and markers
        self.routes: dict[tuple[str, str], Handler] = {
            ("GET", "users"): self._users,
            ("GET", "channels"): self._channels,
            ("PATCH", "channels"): self._change_channel,
            ("GET", "streams"): self._streams,
            ("POST", "streams/markers"): self._mark,
            ("POST", "clips"): self._clip,
            ("GET", "games"): self._games,
            ("POST", "chat/messages"): self._send,
            ("POST", "chat/announcements"): self._announce,
            ("POST", "chat/shoutouts"): self._shout_out,
            ("GET", "chat/settings"): self._settings,
            ("PATCH", "chat/settings"): self._change_settings,
            ("POST", "moderation/bans"): self._ban,
            ("DELETE", "moderation/bans"): self._unban,
            ("GET", "moderation/banned"): self._banned,
            ("DELETE", "moderation/chat"): self._delete,
            ("GET", "moderation/moderators"): partial(self._people, world.moderators),
            ("GET", "channels/vips"): partial(self._people, world.vips),
        }

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One call over HTTP."""
        query = {key: request.query.getall(key) for key in request.query}
        path = request.match_info["path"].strip("/")
        try:
            call = Call(request.method, path, self._token(request), query, await json_body(request))
            return await self._handler(call)(call)
        except Refused as refused:
            return web.json_response(error_body(refused.status, refused.message), status=refused.status)

    def _token(self, request: web.Request) -> SimToken:
        given = request.headers.get("Authorization", "")
        if not given:
            raise Refused(401, "OAuth token is missing")
        token = self.tokens.valid(given.removeprefix("Bearer "))
        if token is None:
            raise Refused(401, "Invalid OAuth token")
        client_id = request.headers.get("Client-Id", "")
        if not client_id:
            raise Refused(401, "Client ID is missing")
        if client_id != self.tokens.client_id:
            raise Refused(401, "Client ID and OAuth token do not match")
        return token

    def _handler(self, call: Call) -> Handler:
        handler = self.routes.get((call.method, call.path))
        if handler is None:
            raise Refused(404, "Not Found")
        check = self.checks.get((call.method, call.path))
        if check is not None:
            check(call)
        return handler

    def user(self, user_id: str) -> User:
        """The user with that ID. Refuses with 400 if there is none."""
        user = self.world.by_id(user_id)
        if user is None:
            raise Refused(400, f"The user ID {user_id} is not valid.")
        return user

    # The channel.

    async def _users(self, call: Call) -> web.Response:
        ids, logins = call.query.get("id", []), [login.lower() for login in call.query.get("login", [])]
        if not ids and not logins:
            ids = [call.token.user_id]
        users = [user for user in self.world.users.values() if user.id in ids or user.login in logins]
        return _ok([_user(user) for user in users])

    async def _channels(self, call: Call) -> web.Response:
        call.param("broadcaster_id")
        mine = self.world.room_id in call.query["broadcaster_id"]
        return _ok([self._channel()] if mine else [])

    def _channel(self) -> dict[str, object]:
        owner = self.world.owner
        return {
            "broadcaster_id": owner.id, "broadcaster_login": owner.login, "broadcaster_name": owner.name,
            "broadcaster_language": "en", "game_id": self.world.game_id, "game_name": self.world.game,
            "title": self.world.title, "delay": 0, "tags": [], "content_classification_labels": [],
            "is_branded_content": False,
        }  # fmt: skip

    async def _change_channel(self, call: Call) -> web.Response:
        world = self.world
        world.title = str(call.body.get("title", world.title))
        world.game_id = str(call.body.get("game_id", world.game_id))
        world.game = world.games.get(world.game_id, "") if "game_id" in call.body else world.game
        return web.Response(status=204)

    async def _streams(self, call: Call) -> web.Response:
        owner, stream = self.world.owner, self.world.stream
        ids, logins = call.query.get("user_id", []), call.query.get("user_login", [])
        asked = (not ids and not logins) or owner.id in ids or owner.login in [login.lower() for login in logins]
        return _ok([self._stream(stream)] if stream is not None and asked else [], pagination={})

    def _stream(self, stream: SimStream) -> dict[str, object]:
        owner = self.world.owner
        return {
            "id": stream.id, "user_id": owner.id, "user_login": owner.login, "user_name": owner.name,
            "game_id": self.world.game_id, "game_name": self.world.game, "type": "live", "title": self.world.title,
            "viewer_count": stream.viewers, "started_at": stamp(stream.started_at), "language": "en",
            "thumbnail_url": _PICTURE, "tag_ids": [], "tags": [], "is_mature": False,
        }  # fmt: skip

    async def _mark(self, call: Call) -> web.Response:
        now = self.world.now()
        since = self.world.stream.started_at if self.world.stream is not None else now
        self.made += 1
        marker = {"id": str(self.made), "created_at": stamp(now), "description": str(call.body.get("description", ""))}
        return _ok([marker | {"position_seconds": max(0, now - since) // 1_000}])

    async def _clip(self, _call: Call) -> web.Response:
        self.made += 1
        clip_id = f"SimClip{self.made}"
        return _ok([{"id": clip_id, "edit_url": f"https://clips.twitch.tv/{clip_id}/edit"}], 202)

    async def _games(self, call: Call) -> web.Response:
        ids, names = call.query.get("id", []), [name.lower() for name in call.query.get("name", [])]
        games = [
            {"id": key, "name": name, "box_art_url": _PICTURE, "igdb_id": ""}
            for key, name in self.world.games.items()
            if key in ids or name.lower() in names
        ]
        return _ok(games, pagination={})

    # Chat and moderation.

    async def _send(self, call: Call) -> web.Response:
        text, user, world = call.text("message"), self.user(call.token.user_id), self.world
        dropped = self.drop_code(user, text)
        if dropped is not None:
            reason = {"code": dropped[0], "message": dropped[1]}
            return _ok([{"message_id": "", "is_sent": False, "drop_reason": reason}])
        parent = world.messages.get(str(call.body.get("reply_parent_message_id", "")))
        badges = world.badges_of(user)
        said = SimMessage(world.new_id(), user, text, world.now(), via="helix", badges=badges, reply_to=parent)
        await self.chat.deliver(said)
        return _ok([{"message_id": said.id, "is_sent": True, "drop_reason": None}])

    async def _announce(self, call: Call) -> web.Response:
        user, world = self.user(call.token.user_id), self.world
        said = SimMessage(world.new_id(), user, call.text("message")[:500], world.now(), via="helix")
        color = str(call.body.get("color", "primary")).upper()
        await self.chat.notice(replace(said, badges=world.badges_of(user)), "announcement", "", {"color": color})
        return web.Response(status=204)

    async def _shout_out(self, call: Call) -> web.Response:
        self.user(call.param("to_broadcaster_id"))
        return web.Response(status=204)

    async def _settings(self, call: Call) -> web.Response:
        moderator = (call.query.get("moderator_id") or [""])[0]
        rules = asdict(self.world.rules)
        if not moderator:
            rules = {key: value for key, value in rules.items() if not key.startswith("non_moderator")}
        return _ok(
            [{"broadcaster_id": self.world.room_id} | ({"moderator_id": moderator} if moderator else {}) | rules]
        )

    async def _change_settings(self, call: Call) -> web.Response:
        known = asdict(self.world.rules)
        rules = replace(self.world.rules, **{key: value for key, value in call.body.items() if key in known})  # type: ignore[arg-type]  # as they came
        rules.slow_mode_wait_time = (rules.slow_mode_wait_time or 30) if rules.slow_mode else None
        rules.follower_mode_duration = (rules.follower_mode_duration or 0) if rules.follower_mode else None
        self.world.rules = rules
        await self.chat.irc.broadcast(irc.room_state(self.world))
        return await self._settings(call)

    async def _ban(self, call: Call) -> web.Response:
        data = call.body.get("data")
        wanted = data if isinstance(data, dict) else {}
        user, seconds = self.user(str(wanted.get("user_id", ""))), wanted.get("duration")
        by = self.world.by_id(call.token.user_id)
        await self.chat.clear_person(user, seconds, by, str(wanted.get("reason", "")))
        now = self.world.now()
        end = None if seconds is None else stamp(now + seconds * 1_000)
        people = {"broadcaster_id": self.world.room_id, "moderator_id": call.token.user_id, "user_id": user.id}
        return _ok([{**people, "created_at": stamp(now), "end_time": end}])

    async def _unban(self, call: Call) -> web.Response:
        self.world.bans.pop(self.user(call.param("user_id")).id, None)
        return web.Response(status=204)

    async def _banned(self, call: Call) -> web.Response:
        wanted = call.query.get("user_id", [])
        users = [user for user in self.world.users.values() if self.world.ban_left(user.id)]
        return _ok([self._ban_of(user) for user in users if not wanted or user.id in wanted], pagination={})

    def _ban_of(self, user: User) -> dict[str, str]:
        ban = self.world.bans[user.id]
        end = "" if ban.until == FOREVER else stamp(ban.until)
        moderator = {"moderator_id": ban.by.id, "moderator_login": ban.by.login, "moderator_name": ban.by.name}
        return _person(user) | {"expires_at": end, "created_at": stamp(ban.since), "reason": ban.reason} | moderator

    async def _delete(self, call: Call) -> web.Response:
        message_id = (call.query.get("message_id") or [""])[0]
        if not message_id:
            await self.chat.clear_all()
        elif message_id in self.world.messages and message_id not in self.world.deleted:
            await self.chat.clear_message(message_id)
        else:
            raise Refused(404, "The message was not found.")
        return web.Response(status=204)

    async def _people(self, ids: set[str], call: Call) -> web.Response:
        wanted = call.query.get("user_id", [])
        chosen = sorted(user_id for user_id in ids if not wanted or user_id in wanted)
        return _ok([_person(self.user(user_id)) for user_id in chosen], pagination={})


async def validate(tokens: Tokens, request: web.Request) -> web.Response:
    """GET oauth2/validate."""
    given = request.headers.get("Authorization", "")
    token = tokens.valid(given.removeprefix("OAuth ").removeprefix("Bearer "))
    if token is None:
        return web.json_response({"status": 401, "message": "invalid access token"}, status=401)
    body = {"client_id": tokens.client_id, "login": token.login, "scopes": list(token.scopes)}
    return web.json_response(body | {"user_id": token.user_id, "expires_in": tokens.expires_in})


async def refresh(tokens: Tokens, request: web.Request) -> web.Response:
    """POST oauth2/token with a refresh token, which is good once."""
    given = await parameters(request)
    if given.get("client_id") != tokens.client_id:
        return web.json_response(error_body(400, "invalid client"), status=400)
    if given.get("grant_type") != "refresh_token":
        return web.json_response(error_body(400, "invalid grant type"), status=400)
    token = tokens.refresh(given.get("refresh_token", ""))
    if token is None:
        return web.json_response(error_body(400, "Invalid refresh token"), status=400)
    return web.json_response(pair(token, tokens))


async def parameters(request: web.Request) -> dict[str, str]:
    """Parameters from the query or from a form: Twitch takes both."""
    form = await request.post()
    return dict(request.query) | {key: value for key, value in form.items() if isinstance(value, str)}


def pair(token: SimToken, tokens: Tokens) -> dict[str, object]:
    """A log-in as Twitch answers it."""
    body = {"access_token": token.access, "expires_in": tokens.expires_in, "refresh_token": token.refresh}
    return body | {"scope": list(token.scopes), "token_type": "bearer"}


def error_body(status: int, message: str) -> dict[str, object]:
    """Twitch's form of an error: {"error", "status", "message"}."""
    return {"error": _NAMES.get(status, "Error"), "status": status, "message": message}


def stamp(ms: int) -> str:
    """RFC 3339 in UTC, as Helix writes times."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


async def json_body(request: web.Request) -> Mapping[str, object]:
    """The body of a call; empty if it is no JSON object."""
    try:
        body = json.loads(await request.text() or "{}")
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def _ok(data: object, status: int = 200, **more: object) -> web.Response:
    return web.json_response({"data": data} | more, status=status)


def _person(user: User) -> dict[str, str]:
    return {"user_id": user.id, "user_login": user.login, "user_name": user.name}


def _user(user: User) -> dict[str, object]:
    return {
        "id": user.id, "login": user.login, "display_name": user.name, "type": "", "broadcaster_type": "",
        "description": "", "profile_image_url": _PICTURE, "offline_image_url": "", "view_count": 0,
        "created_at": _JOINED,
    }  # fmt: skip
