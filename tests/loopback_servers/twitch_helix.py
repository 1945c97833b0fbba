"""What the demo does not ask of Helix: markers, clips, announcements, chat's modes, bans, titles; and who may ask."""

from collections.abc import Callable
from dataclasses import asdict, replace
from uuid import uuid4

from aiohttp import web

from forgetmenot.sim import twitch
from forgetmenot.sim.irc import CLIENT_ID, HOST, SimToken, Tokens, User, tagged
from forgetmenot.sim.twitch import PICTURE, Call, Refused, ban_data, ok, person, stamp
from tests.loopback_servers.twitch_irc import FOREVER, IrcServer, World

Check = Callable[[Call], None]


class HelixServer(twitch.HelixServer):
    """All that the bot asks. `checks` may refuse a call; `drop_code` may drop a chat message."""

    def __init__(self, world: World, tokens: Tokens, irc: IrcServer) -> None:
        super().__init__(world, tokens, irc)
        self.world: World = world
        self.irc: IrcServer = irc
        self.checks: dict[tuple[str, str], Check] = {}
        self.drop_code: Callable[[User, str], tuple[str, str] | None] = lambda _user, _text: None
        self.videos: dict[int, int] = {}  # when each begins (ms)
        self.routes |= {
            ("PATCH", "channels"): self._change_channel,
            ("GET", "games"): self._games,
            ("GET", "videos"): self._videos,
            ("POST", "chat/announcements"): self._announce,
            ("POST", "chat/shoutouts"): self._shout_out,
            ("GET", "chat/settings"): self._settings,
            ("PATCH", "chat/settings"): self._change_settings,
            ("POST", "moderation/bans"): self._ban_and_note,
            ("DELETE", "moderation/bans"): self._lift,
            ("GET", "moderation/banned"): self._banned,
            ("DELETE", "moderation/chat"): self._delete,
        }

    def token_of(self, request: web.Request) -> SimToken:
        given, client_id = request.headers.get("Authorization", ""), request.headers.get("Client-Id", "")
        if not given:
            raise Refused(401, "OAuth token is missing")
        token = super().token_of(request)
        if client_id != CLIENT_ID:
            raise Refused(401, "Client ID and OAuth token do not match" if client_id else "Client ID is missing")
        return token

    async def answer(self, call: Call) -> web.Response:
        check = self.checks.get((call.method, call.path))
        if check is not None:
            check(call)
        return await super().answer(call)

    async def send(self, call: Call) -> web.Response:
        dropped = self.drop_code(self.user(call.token.user_id), call.text("message"))
        if dropped is None:
            return await super().send(call)
        reason = {"code": dropped[0], "message": dropped[1]}
        return ok([{"message_id": "", "is_sent": False, "drop_reason": reason}])

    async def _change_channel(self, call: Call) -> web.Response:
        here = self.world
        here.title = str(call.body.get("title", here.title))
        here.game_id = str(call.body.get("game_id", here.game_id))
        here.game = here.games.get(here.game_id, "") if "game_id" in call.body else here.game
        return web.Response(status=204)

    async def _games(self, call: Call) -> web.Response:
        ids, names = call.query.get("id", []), [name.lower() for name in call.query.get("name", [])]
        games = [
            {"id": key, "name": name, "box_art_url": PICTURE, "igdb_id": ""}
            for key, name in self.world.games.items()
            if key in ids or name.lower() in names
        ]
        return ok(games, pagination={})

    async def _videos(self, call: Call) -> web.Response:
        owner = self.world.owner
        if call.param("user_id") != owner.id or call.param("type") != "archive":
            return ok([], pagination={})
        rows = [
            {
                "id": str(number), "stream_id": "1", "user_id": owner.id, "user_login": owner.login,
                "user_name": owner.name, "title": "Boss", "description": "", "created_at": stamp(at),
                "published_at": stamp(at), "url": f"https://www.twitch.tv/videos/{number}",
                "thumbnail_url": "https://example.com/%{width}x%{height}.jpg", "viewable": "public", "view_count": 3,
                "language": "en", "type": "archive", "duration": "3h8m33s", "muted_segments": None,
            }
            for number, at in sorted(self.videos.items(), reverse=True)
        ]  # fmt: skip
        return ok(rows, pagination={})

    async def _announce(self, call: Call) -> web.Response:
        user = self.user(call.token.user_id)
        color = str(call.body.get("color", "primary")).upper()
        tags = {"login": user.login, "user-id": user.id, "msg-id": "announcement", "msg-param-color": color}
        notice = f":{HOST} USERNOTICE #{self.world.owner.login} :{call.text('message')[:500]}"
        await self.irc.broadcast(tagged({"id": str(uuid4()), "room-id": self.world.room_id, **tags}, notice))
        return web.Response(status=204)

    async def _shout_out(self, call: Call) -> web.Response:
        self.user(call.param("to_broadcaster_id"))
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

    async def _ban_and_note(self, call: Call) -> web.Response:
        wanted, by = ban_data(call), self.world.by_id(call.token.user_id)
        user = self.user(str(wanted.get("user_id", "")))
        self.world.ban(user.id, wanted.get("duration"), by, str(wanted.get("reason", "")))
        return await self._ban(call)

    async def _lift(self, call: Call) -> web.Response:
        self.world.bans.pop(self.user(call.param("user_id")).id, None)
        return web.Response(status=204)

    async def _banned(self, call: Call) -> web.Response:
        wanted = call.query.get("user_id", [])
        users = [user for user in self.world.users.values() if self.world.ban_left(user.id)]
        return ok([self._ban_of(user) for user in users if not wanted or user.id in wanted], pagination={})

    def _ban_of(self, user: User) -> dict[str, str]:
        ban = self.world.bans[user.id]
        end = "" if ban.until == FOREVER else stamp(ban.until)
        moderator = {"moderator_id": ban.by.id, "moderator_login": ban.by.login, "moderator_name": ban.by.name}
        return person(user) | {"expires_at": end, "created_at": stamp(ban.since), "reason": ban.reason} | moderator

    async def _delete(self, call: Call) -> web.Response:
        message_id = (call.query.get("message_id") or [""])[0]
        if not message_id:
            await self.irc.clear_all()
        elif message_id in self.world.messages and message_id not in self.world.deleted:
            await self.irc.clear_message(message_id)
        else:
            raise Refused(404, "The message was not found.")
        return web.Response(status=204)
