"""What the demo does not ask of Helix: announcements, chat's modes, bans, titles, videos; and whom it refuses.

The wording of refusals follows Twitch's documentation and was not checked against the real service. Twitch does not
document its drop codes and changes them; those here have been seen.
"""

from collections import deque
from uuid import uuid4

from aiohttp import web

from forgetmenot.sim import twitch
from forgetmenot.sim.irc import CLIENT_ID, HOST, SimToken, Tokens, User, tagged
from forgetmenot.sim.twitch import PICTURE, Call, Refused, ban_data, ok, stamp
from tests.loopback_servers.twitch_irc import FOREVER, IrcServer, World

WINDOW = 30_000  # ms
PER_WINDOW, PER_WINDOW_MODERATOR = 20, 100
SCOPES = {
    ("PATCH", "channels"): ("channel:manage:broadcast",),
    ("POST", "streams/markers"): ("channel:manage:broadcast",),
    ("POST", "clips"): ("clips:edit",),
    ("POST", "chat/messages"): ("user:write:chat",),
    ("POST", "chat/announcements"): ("moderator:manage:announcements",),
    ("POST", "chat/shoutouts"): ("moderator:manage:shoutouts",),
    ("PATCH", "chat/settings"): ("moderator:manage:chat_settings",),
    ("POST", "moderation/bans"): ("moderator:manage:banned_users",),
    ("DELETE", "moderation/bans"): ("moderator:manage:banned_users",),
    ("DELETE", "moderation/chat"): ("moderator:manage:chat_messages",),
    ("GET", "moderation/moderators"): ("moderation:read", "channel:manage:moderators"),
    ("GET", "channels/vips"): ("channel:read:vips", "channel:manage:vips"),
}
MODERATOR = {path for _, path in SCOPES if path.startswith(("moderation/bans", "moderation/chat", "chat/s", "chat/a"))}
BROADCASTER = {("GET", "moderation/moderators"), ("GET", "channels/vips"), ("PATCH", "channels")}
GAMES = {"Just Chatting": "509658", "Minecraft": "27471", "Celeste": "504461"}


class HelixServer(twitch.HelixServer):
    """All that the bot asks. `forced`: codes that the next messages are dropped with; `breaches`: of the rate limit."""

    def __init__(self, world: World, tokens: Tokens, irc: IrcServer) -> None:
        super().__init__(world, tokens, irc)
        self.world: World = world
        self.irc: IrcServer = irc
        self.forced: deque[str] = deque()
        self.breaches = 0
        self.videos: dict[int, int] = {}  # when each begins (ms)
        self.routes |= {
            ("PATCH", "channels"): self._change_channel,
            ("GET", "games"): self._games,
            ("GET", "videos"): self._videos,
            ("POST", "chat/announcements"): self._announce,
            ("POST", "chat/shoutouts"): self._shout_out,
            ("PATCH", "chat/settings"): self._change_settings,
            ("POST", "moderation/bans"): self._ban_and_note,
            ("DELETE", "moderation/bans"): self._lift,
            ("DELETE", "moderation/chat"): self._delete,
        }

    def token_of(self, request: web.Request) -> SimToken:
        token = super().token_of(request)
        if request.headers.get("Client-Id", "") != CLIENT_ID:
            raise Refused(401, "Client ID and OAuth token do not match")
        return token

    async def answer(self, call: Call) -> web.Response:
        """Rank, then scope, then the call itself."""
        if call.path in MODERATOR:
            self._in_channel(call.param("from_broadcaster_id" if call.path == "chat/shoutouts" else "broadcaster_id"))
            _as_self(call, call.param("moderator_id"), "moderator_id")
            if not self._moderates(call.token.user_id):
                raise Refused(403, "The user in moderator_id is not one of the broadcaster's moderators.")
        elif (call.method, call.path) in BROADCASTER:
            _as_self(call, self._in_channel(call.param("broadcaster_id")), "broadcaster_id")
        elif call.path == "streams/markers":
            _as_self(call, self._in_channel(call.text("user_id")), "user_id")
        elif call.path == "chat/messages":
            self._in_channel(call.text("broadcaster_id"))
            _as_self(call, call.text("sender_id"), "sender_id")
        needed = SCOPES.get((call.method, call.path), ())
        if needed and not set(needed) & set(call.token.scopes):
            raise Refused(401, f"Missing scope: {' or '.join(needed)}")
        return await super().answer(call)

    def _in_channel(self, broadcaster_id: str) -> str:
        if broadcaster_id != self.world.room_id:
            raise Refused(404, "The broadcaster was not found.")
        return broadcaster_id

    def _moderates(self, user_id: str) -> bool:
        return user_id == self.world.owner.id or user_id in self.world.moderators

    async def send(self, call: Call) -> web.Response:
        code = self.forced.popleft() if self.forced else self._dropped(self.user(call.token.user_id), call)
        if not code:
            return await super().send(call)
        reason = {"code": code, "message": "Your message was not sent."}
        return ok([{"message_id": "", "is_sent": False, "drop_reason": reason}])

    def _dropped(self, user: User, call: Call) -> str:
        """The code of Twitch's reason to drop this message, or nothing."""
        if left := self.world.ban_left(user.id):
            return "msg_banned" if left == FOREVER else "msg_timedout"
        since = self.world.now() - WINDOW
        recent = [
            one for one in self.irc.said[-500:] if one.user.id == user.id and one.at > since and one.via != "chat"
        ]
        if len(recent) >= (PER_WINDOW_MODERATOR if self._moderates(user.id) else PER_WINDOW):
            self.breaches += 1
            return "msg_ratelimit"
        return "msg_duplicate" if any(one.text == call.text("message") for one in recent) else ""

    async def _change_channel(self, call: Call) -> web.Response:
        here = self.world
        here.title = str(call.body.get("title", here.title))
        if game_id := call.body.get("game_id"):
            here.game_id, here.game = str(game_id), next(name for name, key in GAMES.items() if key == game_id)
        return web.Response(status=204)

    async def _games(self, call: Call) -> web.Response:
        names = {name.casefold() for name in call.query.get("name", [])}
        found = [{"id": key, "name": name} for name, key in GAMES.items() if name.casefold() in names]
        return ok([{**one, "box_art_url": PICTURE, "igdb_id": ""} for one in found], pagination={})

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

    async def _change_settings(self, call: Call) -> web.Response:
        here = self.world
        here.emote_only = bool(call.body.get("emote_mode", here.emote_only))
        if "slow_mode" in call.body:
            here.slow_s = int(str(call.body.get("slow_mode_wait_time") or 30)) if call.body["slow_mode"] else 0
        await self.irc.broadcast(self.irc.room_state())
        return ok([_modes(here)])

    async def _ban_and_note(self, call: Call) -> web.Response:
        wanted = ban_data(call)
        user = self.user(str(wanted.get("user_id", "")))
        if self._moderates(user.id):
            raise Refused(400, "The user specified in the user_id field may not be banned.")
        self.world.ban(user.id, wanted.get("duration"))
        return await self._ban(call)

    async def _lift(self, call: Call) -> web.Response:
        if self.world.bans.pop(self.user(call.param("user_id")).id, None) is None:
            raise Refused(400, "The user in the user_id query parameter is not banned.")
        return web.Response(status=204)

    async def _delete(self, call: Call) -> web.Response:
        message_id = call.param("message_id")
        if message_id not in self.world.messages or message_id in self.world.deleted:
            raise Refused(404, "The message was not found.")
        await self.irc.clear_message(message_id)
        return web.Response(status=204)


def _modes(world: World) -> dict[str, object]:
    return {
        "broadcaster_id": world.room_id, "emote_mode": world.emote_only, "follower_mode": False,
        "follower_mode_duration": None, "slow_mode": bool(world.slow_s), "slow_mode_wait_time": world.slow_s or None,
        "subscriber_mode": False, "unique_chat_mode": False,
    }  # fmt: skip


def _as_self(call: Call, user_id: str, name: str) -> None:
    if user_id != call.token.user_id:
        raise Refused(401, f"The ID in {name} must match the user ID found in the request's OAuth token.")
