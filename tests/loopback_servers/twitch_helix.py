"""api.twitch.tv/helix of the loopback Twitch, in the shapes that twitchio 3.3.2 reads.

Which calls it refuses, and why, is in twitch_rules.
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import Any

from aiohttp import web

from tests.loopback_servers.twitch_irc import IrcServer
from tests.loopback_servers.twitch_world import CLIENT_ID, FOREVER, SimToken, Tokens, User, World

PICTURE = "https://static-cdn.jtvnw.net/jtv_user_pictures/none.png"
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
        return self._there(name, (self.query.get(name) or [""])[0])

    def text(self, name: str) -> str:
        """A field of the body that must be there, as text (numbers are taken as Twitch takes them)."""
        return self._there(name, self.body.get(name))

    @staticmethod
    def _there(name: str, value: object) -> str:
        if value in (None, ""):
            raise Refused(400, f'Missing required parameter "{name}"')
        return str(value)


Check = Callable[[Call], None]
Handler = Callable[[Call], Awaitable[web.Response]]


class HelixServer:
    """All that the bot asks. `checks` may refuse a call; `drop_code` may drop a chat message."""

    def __init__(self, world: World, tokens: Tokens, irc: IrcServer) -> None:
        self.world, self.tokens, self.irc = world, tokens, irc
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
            ("GET", "channels/vips"): partial(self._people, world.vips),
            ("GET", "moderation/moderators"): partial(self._people, world.moderators),
            ("POST", "moderation/bans"): self._ban,
            ("DELETE", "moderation/bans"): self._lift,
            ("GET", "moderation/banned"): self._banned,
            ("DELETE", "moderation/chat"): self._delete,
        }

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """One call over HTTP."""
        query = {key: request.query.getall(key) for key in request.query}
        where = request.method, request.match_info["path"].strip("/")
        try:
            call = Call(*where, self._token_of(request), query, await json_body(request))
            if where in self.checks:
                self.checks[where](call)
            return await self.routes.get(where, _unknown)(call)
        except Refused as refused:
            return web.json_response(error_body(refused.status, refused.message), status=refused.status)

    def _token_of(self, request: web.Request) -> SimToken:
        given, client_id = request.headers.get("Authorization", ""), request.headers.get("Client-Id", "")
        if not given:
            raise Refused(401, "OAuth token is missing")
        token = self.tokens.valid(given.removeprefix("Bearer "))
        if token is None:
            raise Refused(401, "Invalid OAuth token")
        if client_id != CLIENT_ID:
            raise Refused(401, "Client ID and OAuth token do not match" if client_id else "Client ID is missing")
        return token

    def _user(self, user_id: str) -> User:
        user = self.world.by_id(user_id)
        if user is None:
            raise Refused(400, f"The user ID {user_id} is not valid.")
        return user

    async def _users(self, call: Call) -> web.Response:
        ids, logins = call.query.get("id", []), [login.lower() for login in call.query.get("login", [])]
        users = [user for user in self.world.users.values() if user.id in ids or user.login in logins]
        texts = ("type", "broadcaster_type", "description", "offline_image_url")
        rest = {"profile_image_url": PICTURE, "view_count": 0, "created_at": stamp(0), **dict.fromkeys(texts, "")}
        return ok([{"id": user.id, "login": user.login, "display_name": user.name, **rest} for user in users])

    async def _channels(self, call: Call) -> web.Response:
        call.param("broadcaster_id")
        here, owner = self.world, self.world.owner
        channel = {
            "broadcaster_id": owner.id, "broadcaster_login": owner.login, "broadcaster_name": owner.name,
            "broadcaster_language": "en", "game_id": here.game_id, "game_name": here.game, "title": here.title,
            "delay": 0, "tags": [], "content_classification_labels": [], "is_branded_content": False,
        }  # fmt: skip
        return ok([channel] if here.room_id in call.query["broadcaster_id"] else [])

    async def _change_channel(self, call: Call) -> web.Response:
        here = self.world
        here.title = str(call.body.get("title", here.title))
        here.game_id = str(call.body.get("game_id", here.game_id))
        here.game = here.games.get(here.game_id, "") if "game_id" in call.body else here.game
        return web.Response(status=204)

    async def _streams(self, call: Call) -> web.Response:
        here, owner, stream = self.world, self.world.owner, self.world.stream
        if stream is None or owner.id not in call.query.get("user_id", []):
            return ok([], pagination={})
        live = {
            "id": stream.id, "user_id": owner.id, "user_login": owner.login, "user_name": owner.name,
            "game_id": here.game_id, "game_name": here.game, "type": "live", "title": here.title, "viewer_count": 42,
            "started_at": stamp(stream.started_at), "language": "en", "thumbnail_url": PICTURE, "tag_ids": [],
            "tags": [], "is_mature": False,
        }  # fmt: skip
        return ok([live], pagination={})

    async def _mark(self, call: Call) -> web.Response:
        now = self.world.now()
        since = self.world.stream.started_at if self.world.stream is not None else now
        self.made += 1
        marker = {"id": str(self.made), "created_at": stamp(now), "description": str(call.body.get("description", ""))}
        return ok([marker | {"position_seconds": max(0, now - since) // 1_000}])

    async def _clip(self, _call: Call) -> web.Response:
        self.made += 1
        clip_id = f"SimClip{self.made}"
        return ok([{"id": clip_id, "edit_url": f"https://clips.twitch.tv/{clip_id}/edit"}], 202)

    async def _games(self, call: Call) -> web.Response:
        ids, names = call.query.get("id", []), [name.lower() for name in call.query.get("name", [])]
        games = [
            {"id": key, "name": name, "box_art_url": PICTURE, "igdb_id": ""}
            for key, name in self.world.games.items()
            if key in ids or name.lower() in names
        ]
        return ok(games, pagination={})

    async def _send(self, call: Call) -> web.Response:
        text, user, world = call.text("message"), self._user(call.token.user_id), self.world
        dropped = self.drop_code(user, text)
        if dropped is not None:
            reason = {"code": dropped[0], "message": dropped[1]}
            return ok([{"message_id": "", "is_sent": False, "drop_reason": reason}])
        parent = world.messages.get(str(call.body.get("reply_parent_message_id", "")))
        said = world.message(user, text, via="helix", reply_to=parent)
        await self.irc.deliver(said)
        return ok([{"message_id": said.id, "is_sent": True, "drop_reason": None}])

    async def _announce(self, call: Call) -> web.Response:
        call.text("message")
        return web.Response(status=204)

    async def _shout_out(self, call: Call) -> web.Response:
        self._user(call.param("to_broadcaster_id"))
        return web.Response(status=204)

    async def _settings(self, call: Call) -> web.Response:
        moderator = (call.query.get("moderator_id") or [""])[0]
        named = {"moderator_id": moderator, "non_moderator_chat_delay": False} if moderator else {}
        return ok([{"broadcaster_id": self.world.room_id, **asdict(self.world.rules), **named}])

    async def _change_settings(self, call: Call) -> web.Response:
        known = asdict(self.world.rules)
        rules = replace(self.world.rules, **{key: value for key, value in call.body.items() if key in known})  # type: ignore[arg-type]  # as they came
        rules.slow_mode_wait_time = (rules.slow_mode_wait_time or 30) if rules.slow_mode else None
        rules.follower_mode_duration = (rules.follower_mode_duration or 0) if rules.follower_mode else None
        self.world.rules = rules
        await self.irc.broadcast(self.irc.room_state())
        return await self._settings(call)

    async def _people(self, ids: set[str], call: Call) -> web.Response:
        wanted = call.query.get("user_id", [])
        chosen = sorted(user_id for user_id in ids if not wanted or user_id in wanted)
        return ok([_person(self._user(user_id)) for user_id in chosen], pagination={})

    async def _ban(self, call: Call) -> web.Response:
        wanted, now = ban_data(call), self.world.now()
        user, seconds = self._user(str(wanted.get("user_id", ""))), wanted.get("duration")
        self.world.ban(user.id, seconds, self.world.by_id(call.token.user_id), str(wanted.get("reason", "")))
        await self.irc.clear_person(user, seconds)
        end = None if seconds is None else stamp(now + seconds * 1_000)
        people = {"broadcaster_id": self.world.room_id, "moderator_id": call.token.user_id, "user_id": user.id}
        return ok([{**people, "created_at": stamp(now), "end_time": end}])

    async def _lift(self, call: Call) -> web.Response:
        self.world.bans.pop(self._user(call.param("user_id")).id, None)
        return web.Response(status=204)

    async def _banned(self, call: Call) -> web.Response:
        wanted = call.query.get("user_id", [])
        users = [user for user in self.world.users.values() if self.world.ban_left(user.id)]
        return ok([self._ban_of(user) for user in users if not wanted or user.id in wanted], pagination={})

    def _ban_of(self, user: User) -> dict[str, str]:
        ban = self.world.bans[user.id]
        end = "" if ban.until == FOREVER else stamp(ban.until)
        moderator = {"moderator_id": ban.by.id, "moderator_login": ban.by.login, "moderator_name": ban.by.name}
        return _person(user) | {"expires_at": end, "created_at": stamp(ban.since), "reason": ban.reason} | moderator

    async def _delete(self, call: Call) -> web.Response:
        message_id = (call.query.get("message_id") or [""])[0]
        if not message_id:
            await self.irc.clear_all()
        elif message_id in self.world.messages and message_id not in self.world.deleted:
            await self.irc.clear_message(message_id)
        else:
            raise Refused(404, "The message was not found.")
        return web.Response(status=204)


def ok(data: object, status: int = 200, **more: object) -> web.Response:
    """An answer with data."""
    return web.json_response({"data": data} | more, status=status)


def error_body(status: int, message: str) -> dict[str, object]:
    """Twitch's form of an error: {"error", "status", "message"}."""
    return {"error": _NAMES.get(status, "Error"), "status": status, "message": message}


def stamp(ms: int) -> str:
    """RFC 3339 in UTC, as Helix writes times."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


async def _unknown(_call: Call) -> web.Response:
    raise Refused(404, "Not Found")


async def json_body(request: web.Request) -> Mapping[str, object]:
    """The body of a call; empty if it is no JSON object."""
    try:
        body = json.loads(await request.text() or "{}")
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def ban_data(call: Call) -> Mapping[str, Any]:
    """Who is to be banned, for how long, and why; empty if the body does not say."""
    data = call.body.get("data")
    return data if isinstance(data, dict) else {}


def _person(user: User) -> dict[str, str]:
    return {"user_id": user.id, "user_login": user.login, "user_name": user.name}
