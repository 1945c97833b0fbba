"""What Helix refuses: a call without a scope, a rank or a field, in another channel, or while nobody streams.

The wording follows Twitch's documentation and was not checked against the real service. A timeout of somebody who is
already timed out changes its length, as documented; a ban of the banned is 400.
"""

from functools import partial

from forgetmenot.sim.twitch import Call, Refused, ban_data
from tests.loopback_servers.twitch_helix import Check
from tests.loopback_servers.twitch_irc import FOREVER, World

LONGEST_TIMEOUT = 1_209_600  # seconds: two weeks
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
    ("GET", "moderation/banned"): ("moderation:read", "moderator:manage:banned_users"),
    ("DELETE", "moderation/chat"): ("moderator:manage:chat_messages",),
    ("GET", "moderation/moderators"): ("moderation:read", "channel:manage:moderators"),
    ("GET", "channels/vips"): ("channel:read:vips", "channel:manage:vips"),
}
MODERATOR = {path for _, path in SCOPES if path.startswith(("moderation/bans", "moderation/chat", "chat/s", "chat/a"))}
BROADCASTER = {"moderation/banned", "moderation/moderators", "channels/vips"}


def is_privileged(world: World, user_id: str) -> bool:
    """The broadcaster or a moderator."""
    return user_id == world.owner.id or user_id in world.moderators


class Rules:
    """The checks, by method and path."""

    def __init__(self, world: World) -> None:
        self.world = world

    def checks(self) -> dict[tuple[str, str], Check]:
        """What `Helix.checks` takes."""
        own: dict[tuple[str, str], Check] = {
            ("GET", "chat/settings"): self._settings,
            ("POST", "streams/markers"): self._mark,
            ("POST", "clips"): self._clip,
            ("POST", "chat/messages"): self._send,
            ("POST", "chat/shoutouts"): self._shout_out,
            ("POST", "moderation/bans"): self._ban,
            ("DELETE", "moderation/bans"): self._unban,
        }
        return {key: partial(self._check, own.get(key)) for key in {*own, *SCOPES}}

    def _check(self, more: Check | None, call: Call) -> None:
        """Rank, then scope, then what is particular to the call."""
        changes = call.method != "GET"
        if call.path in MODERATOR and (changes or call.query.get("moderator_id")):
            self._as_moderator(call)
        if call.path in BROADCASTER or (call.method, call.path) == ("PATCH", "channels"):
            _as_self(call, self._in_channel(call.param("broadcaster_id")), "broadcaster_id")
        needed = SCOPES.get((call.method, call.path), ())
        if needed and not set(needed) & set(call.token.scopes):
            raise Refused(401, f"Missing scope: {' or '.join(needed)}")
        if more is not None:
            more(call)

    def _as_moderator(self, call: Call) -> None:
        self._in_channel(call.param("from_broadcaster_id" if call.path == "chat/shoutouts" else "broadcaster_id"))
        moderator = call.param("moderator_id")
        _as_self(call, moderator, "moderator_id")
        if not is_privileged(self.world, moderator):
            raise Refused(403, "The user in moderator_id is not one of the broadcaster's moderators.")

    def _in_channel(self, broadcaster_id: str) -> str:
        if broadcaster_id != self.world.room_id:
            raise Refused(404, "The broadcaster was not found.")
        return broadcaster_id

    def _live(self, otherwise: str, status: int = 404) -> None:
        if self.world.stream is None:
            raise Refused(status, otherwise)

    def _mark(self, call: Call) -> None:
        _as_self(call, self._in_channel(call.text("user_id")), "user_id")
        self._live("The user is not streaming live.")

    def _clip(self, call: Call) -> None:
        self._in_channel(call.param("broadcaster_id"))
        self._live("Clipping is not possible for an offline channel.")

    def _send(self, call: Call) -> None:
        self._in_channel(call.text("broadcaster_id"))
        _as_self(call, call.text("sender_id"), "sender_id")

    def _shout_out(self, _call: Call) -> None:
        self._live("The broadcaster is not streaming live or does not have one or more viewers.", 400)

    def _settings(self, call: Call) -> None:
        self._in_channel(call.param("broadcaster_id"))

    def _ban(self, call: Call) -> None:
        wanted = ban_data(call)
        user_id, seconds = str(wanted.get("user_id", "")), wanted.get("duration")
        if not user_id:
            raise Refused(400, 'Missing required parameter "user_id"')
        if is_privileged(self.world, user_id):
            raise Refused(400, "The user specified in the user_id field may not be banned.")
        if self.world.ban_left(user_id) == FOREVER:
            raise Refused(400, "The user specified in the user_id field is already banned.")
        if seconds is not None and (not isinstance(seconds, int) or not 1 <= seconds <= LONGEST_TIMEOUT):
            raise Refused(400, "The value in the duration field is not valid.")

    def _unban(self, call: Call) -> None:
        if not self.world.ban_left(call.param("user_id")):
            raise Refused(400, "The user in the user_id query parameter is not banned.")


def _as_self(call: Call, user_id: str, name: str) -> None:
    if user_id != call.token.user_id:
        raise Refused(401, f"The ID in {name} must match the user ID found in the request's OAuth token.")
