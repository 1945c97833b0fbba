"""What the demo does not ask of Helix: announcements, chat's modes, bans, titles, videos; and whom it refuses.

A call that names another channel or another asker than it may is a fault of ours, and an assertion. The wording of
refusals follows Twitch's documentation and was not checked against the real service. Twitch does not document its drop
codes and changes them; those here have been seen.
"""

from collections import deque
from uuid import uuid4

from aiohttp import web

from forgetmenot.demo import twitch_server
from forgetmenot.demo.irc_server import CLIENT_ID, HOST, SimToken, Tokens, tagged
from forgetmenot.demo.twitch_server import Call, Refused, ban_data, ok, stamp
from tests.loopback_servers.twitch_irc import IrcServer, World

WINDOW = 30_000  # ms
PER_WINDOW = 20
PER_WINDOW_MODERATOR = 100
SCOPES = {
    ("PATCH", "channels"): ("channel:manage:broadcast",),
    ("POST", "streams/markers"): ("channel:manage:broadcast",),
    ("POST", "clips"): ("clips:edit",),
    ("POST", "chat/messages"): ("user:write:chat",),
    ("POST", "chat/announcements"): ("moderator:manage:announcements",),
    ("POST", "chat/shoutouts"): ("moderator:manage:shoutouts",),
    ("PUT", "chat/pins"): ("moderator:manage:chat_messages",),
    ("PATCH", "chat/settings"): ("moderator:manage:chat_settings",),
    ("POST", "moderation/bans"): ("moderator:manage:banned_users",),
    ("DELETE", "moderation/bans"): ("moderator:manage:banned_users",),
    ("DELETE", "moderation/chat"): ("moderator:manage:chat_messages",),
    ("GET", "moderation/moderators"): ("moderation:read", "channel:manage:moderators"),
    ("GET", "channels/vips"): ("channel:read:vips", "channel:manage:vips"),
}
MODERATOR = {
    path
    for _, path in SCOPES
    if path.startswith(
        ("moderation/bans", "moderation/chat", "chat/s", "chat/a", "chat/p")
    )
}
BROADCASTER = {
    ("GET", "moderation/moderators"),
    ("GET", "channels/vips"),
    ("PATCH", "channels"),
}


class HelixServer(twitch_server.HelixServer):
    """All that the bot asks. `forced`: codes that the next messages are dropped with; `breaches`: of the rate limit."""

    def __init__(self, world: World, tokens: Tokens, irc: IrcServer) -> None:
        super().__init__(world, tokens, irc)
        self.world: World = world
        self.irc: IrcServer = irc
        self.forced: deque[str] = deque()
        self.breaches = 0
        self.videos: dict[int, int] = {}  # when each begins (ms)
        self.pinned = ""  # the words of the message that is pinned
        self.routes |= {
            ("PATCH", "channels"): self._change_channel,
            ("GET", "videos"): self._videos,
            ("POST", "chat/announcements"): self._announce,
            ("POST", "chat/shoutouts"): self._shout_out,
            ("PUT", "chat/pins"): self._pin,
            ("PATCH", "chat/settings"): self._change_settings,
            ("POST", "moderation/bans"): self._ban_and_note,
            ("DELETE", "moderation/bans"): self._lift,
            ("DELETE", "moderation/chat"): self._delete,
        }

    def token_of(self, request: web.Request) -> SimToken:
        assert (
            request.headers["Client-Id"] == CLIENT_ID
        )  # without it Twitch answers 401 to everything
        return super().token_of(request)

    async def answer(self, call: Call) -> web.Response:
        """Channel and asker, then scope, then the call itself."""
        params = {
            **{name: values[0] for name, values in call.query.items()},
            **call.body,
        }
        room_id = self.world.room_id
        user_id = call.token.user_id
        assert {
            params.get("broadcaster_id", room_id),
            params.get("from_broadcaster_id", room_id),
        } == {room_id}
        assert {
            params.get("moderator_id", user_id),
            params.get("sender_id", user_id),
        } == {user_id}
        if call.path in MODERATOR:
            assert params["moderator_id"]
            assert self._moderates(user_id)
        elif (call.method, call.path) in BROADCASTER or call.path == "streams/markers":
            assert user_id == room_id
        needed = SCOPES.get((call.method, call.path), ())
        if needed and not set(needed) & set(call.token.scopes):
            raise Refused(401, f"Missing scope: {' or '.join(needed)}")
        return await super().answer(call)

    def _moderates(self, user_id: str) -> bool:
        return user_id == self.world.owner.id or user_id in self.world.moderators

    async def send(self, call: Call) -> web.Response:
        code = self.forced.popleft() if self.forced else self._dropped(call)
        if not code:
            return await super().send(call)
        reason = {"code": code, "message": "Your message was not sent."}
        return ok([{"message_id": "", "is_sent": False, "drop_reason": reason}])

    def _dropped(self, call: Call) -> str:
        """The code of Twitch's reason to drop this message, or nothing."""
        user_id = call.token.user_id
        barred = self._barred(user_id)
        if barred:
            return barred
        since = self.world.now() - WINDOW
        recent = [
            message
            for message in self.irc.said[-500:]
            if message.user.id == user_id
            and message.at > since
            and message.via != "chat"
        ]
        if len(recent) >= (
            PER_WINDOW_MODERATOR if self._moderates(user_id) else PER_WINDOW
        ):
            self.breaches += 1
            return "msg_ratelimit"
        return (
            "msg_duplicate"
            if any(message.text == call.text("message") for message in recent)
            else ""
        )

    def _barred(self, user_id: str) -> str:
        """The code of why somebody may not write in this chat at all, or nothing. Nobody here is a subscriber."""
        world = self.world
        if user_id in world.banned:
            return "msg_banned"
        if world.now() < world.timed_out.get(user_id, 0):
            return "msg_timedout"
        return "" if self._moderates(user_id) else self._barred_by_mode(user_id)

    def _barred_by_mode(self, user_id: str) -> str:
        world = self.world
        if world.emote_only:
            return "msg_emoteonly"
        if user_id in world.vips:
            return ""
        if world.subscribers_only:
            return "msg_subsonly"
        if world.followers_only and user_id not in world.followers:
            return "msg_followersonly"
        written = [
            message.at for message in self.irc.said[-500:] if message.user.id == user_id
        ]
        waits = (
            world.slow_s
            and written
            and world.now() - written[-1] < world.slow_s * 1_000
        )
        return "msg_slowmode" if waits else ""

    async def _pin(self, call: Call) -> web.Response:
        message = self.world.messages.get(call.param("message_id"))
        if message is None:
            raise Refused(404, "The message was not found.")
        self.pinned = message.text
        return web.Response(status=204)

    async def _change_channel(self, call: Call) -> web.Response:
        self.world.title = call.text("title")
        return web.Response(status=204)

    async def _videos(self, call: Call) -> web.Response:
        assert (call.param("user_id"), call.param("type")) == (
            self.world.owner.id,
            "archive",
        )
        plain = dict.fromkeys(
            (
                "title",
                "description",
                "thumbnail_url",
                "language",
                "user_login",
                "user_name",
            ),
            "",
        )
        plain |= {
            "stream_id": "1",
            "user_id": self.world.owner.id,
            "viewable": "public",
            "type": "archive",
        }
        rows = [
            {
                **plain,
                "id": str(number),
                "created_at": stamp(at),
                "published_at": stamp(at),
                "view_count": 3,
                "url": f"https://www.twitch.tv/videos/{number}",
                "duration": "3h8m33s",
                "muted_segments": None,
            }
            for number, at in sorted(self.videos.items(), reverse=True)
        ]
        return ok(rows, pagination={})

    async def _announce(self, call: Call) -> web.Response:
        user = self.user(call.token.user_id)
        color = str(call.body.get("color", "primary")).upper()
        tags = {
            "login": user.login,
            "user-id": user.id,
            "msg-id": "announcement",
            "msg-param-color": color,
        }
        notice = f":{HOST} USERNOTICE #{self.world.owner.login} :{call.text('message')[:500]}"
        await self.irc.broadcast(
            tagged({"id": str(uuid4()), "room-id": self.world.room_id, **tags}, notice)
        )
        return web.Response(status=204)

    async def _shout_out(self, call: Call) -> web.Response:
        self.user(call.param("to_broadcaster_id"))
        return web.Response(status=204)

    async def _change_settings(self, call: Call) -> web.Response:
        world = self.world
        world.emote_only = bool(call.body.get("emote_mode", world.emote_only))
        if "slow_mode" in call.body:
            world.slow_s = (
                int(str(call.body.get("slow_mode_wait_time") or 30))
                if call.body["slow_mode"]
                else 0
            )
        await self.irc.broadcast(self.irc.room_state())
        modes = dict.fromkeys(
            ("follower_mode", "subscriber_mode", "unique_chat_mode"), False
        )
        now = {
            "emote_mode": world.emote_only,
            "slow_mode": bool(world.slow_s),
            "slow_mode_wait_time": world.slow_s or None,
        }
        return ok(
            [
                {
                    **modes,
                    **now,
                    "broadcaster_id": world.room_id,
                    "follower_mode_duration": None,
                }
            ]
        )

    async def _ban_and_note(self, call: Call) -> web.Response:
        user_id = str(ban_data(call).get("user_id", ""))
        if self._moderates(user_id):
            raise Refused(
                400, "The user specified in the user_id field may not be banned."
            )
        self.world.banned.add(user_id)
        return await self._ban(call)

    async def _lift(self, call: Call) -> web.Response:
        self.world.banned.remove(call.param("user_id"))
        return web.Response(status=204)

    async def _delete(self, call: Call) -> web.Response:
        await self.irc.clear_message(call.param("message_id"))
        return web.Response(status=204)
