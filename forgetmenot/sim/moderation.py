"""Helix's moderation on loopback: bans and timeouts, deleting, chat settings, announcements, shoutouts, who moderates.

A call without `broadcaster_id`, `moderator_id`, scope or rank is refused as Twitch refuses it. A timeout of
somebody who is already timed out changes its length, as documented; a ban of the banned is 400.
"""

from dataclasses import asdict, replace

from aiohttp import web

from forgetmenot.sim.call import Call, Refused, as_broadcaster, as_moderator, in_channel, known_user, nothing, ok, stamp
from forgetmenot.sim.chat import Chat
from forgetmenot.sim.helix import Routes
from forgetmenot.sim.world import FOREVER, Said, User

LONGEST_TIMEOUT = 1_209_600  # seconds: two weeks
DELETABLE = 6 * 3_600_000  # ms
SHOUTOUT_EVERY, SHOUTOUT_SAME_EVERY = 120_000, 3_600_000  # ms


class Moderation:
    """The handlers. They act on the chat, so that everybody reads what was done."""

    def __init__(self, chat: Chat) -> None:
        self.chat = chat
        self.world = chat.world
        self.shoutouts: list[tuple[str, int]] = []  # whom, when

    def routes(self) -> Routes:
        """Method and path to handler."""
        return {
            ("POST", "moderation/bans"): self.ban,
            ("DELETE", "moderation/bans"): self.unban,
            ("GET", "moderation/banned"): self.banned,
            ("DELETE", "moderation/chat"): self.delete,
            ("GET", "moderation/moderators"): self.moderators,
            ("GET", "moderation/channels"): self.moderated,
            ("GET", "channels/vips"): self.vips,
            ("GET", "chat/settings"): self.settings,
            ("PATCH", "chat/settings"): self.change_settings,
            ("POST", "chat/announcements"): self.announce,
            ("POST", "chat/shoutouts"): self.shout_out,
        }

    async def ban(self, call: Call) -> web.Response:
        """POST moderation/bans: a timeout with a duration, a ban without."""
        as_moderator(self.world, call)
        call.scope("moderator:manage:banned_users")
        data = call.body.get("data")
        wanted = data if isinstance(data, dict) else {}
        user, seconds = self._bannable(str(wanted.get("user_id", ""))), _duration(wanted.get("duration"))
        reason = str(wanted.get("reason", ""))
        if len(reason) > 500:
            raise Refused(400, "The reason is too long.")
        await self.chat.clear_person(user, seconds, self.world.by_id(call.token.user_id), reason)
        now = self.world.now()
        end = None if seconds is None else stamp(now + seconds * 1_000)
        who = {"broadcaster_id": self.world.room_id, "moderator_id": call.token.user_id, "user_id": user.id}
        return ok([{**who, "created_at": stamp(now), "end_time": end}])

    def _bannable(self, user_id: str) -> User:
        if not user_id:
            raise Refused(400, 'Missing required parameter "user_id"')
        user = known_user(self.world, user_id)
        if self.world.is_privileged(user.id):
            raise Refused(400, "The user specified in the user_id field may not be banned.")
        if self.world.ban_left(user.id) == FOREVER:
            raise Refused(400, "The user specified in the user_id field is already banned.")
        return user

    async def unban(self, call: Call) -> web.Response:
        """DELETE moderation/bans: of a timeout, too."""
        as_moderator(self.world, call)
        call.scope("moderator:manage:banned_users")
        user = known_user(self.world, call.param("user_id"))
        if not self.world.ban_left(user.id):
            raise Refused(400, "The user in the user_id query parameter is not banned.")
        del self.world.bans[user.id]
        return nothing()

    async def banned(self, call: Call) -> web.Response:
        """GET moderation/banned: for the broadcaster only, whoever made the ban."""
        as_broadcaster(self.world, call)
        call.scope("moderation:read", "moderator:manage:banned_users")
        wanted = call.query.get("user_id", [])
        users = [user for user in self.world.users.values() if self.world.ban_left(user.id)]
        return ok([self._ban_of(user) for user in users if not wanted or user.id in wanted], pagination={})

    def _ban_of(self, user: User) -> dict[str, str]:
        ban = self.world.bans[user.id]
        end = "" if ban.until == FOREVER else stamp(ban.until)
        moderator = {"moderator_id": ban.by.id, "moderator_login": ban.by.login, "moderator_name": ban.by.name}
        return _person(user) | {"expires_at": end, "created_at": stamp(ban.since), "reason": ban.reason} | moderator

    async def delete(self, call: Call) -> web.Response:
        """DELETE moderation/chat: one message, or without an id the whole chat."""
        as_moderator(self.world, call)
        call.scope("moderator:manage:chat_messages")
        message_id = (call.query.get("message_id") or [""])[0]
        if message_id:
            self._check_deletable(message_id, call)
            await self.chat.clear_message(message_id)
        else:
            await self.chat.clear_all()
        return nothing()

    def _check_deletable(self, message_id: str, call: Call) -> None:
        said = self.world.messages.get(message_id)
        if said is None or message_id in self.world.deleted or said.at < self.world.now() - DELETABLE:
            raise Refused(404, "The message was not found.")
        user, own = said.user, said.user.id == call.token.user_id
        if user.id == self.world.owner.id and not own:
            raise Refused(400, "You cannot delete the broadcaster's messages.")
        if user.id in self.world.moderators and not own and call.token.user_id != self.world.owner.id:
            raise Refused(400, f"You cannot delete messages from another moderator {user.name}.")

    async def moderators(self, call: Call) -> web.Response:
        """GET moderation/moderators: for the broadcaster only."""
        as_broadcaster(self.world, call)
        call.scope("moderation:read", "channel:manage:moderators")
        return self._people(call, self.world.moderators)

    async def vips(self, call: Call) -> web.Response:
        """GET channels/vips: for the broadcaster only."""
        as_broadcaster(self.world, call)
        call.scope("channel:read:vips", "channel:manage:vips")
        return self._people(call, self.world.vips)

    def _people(self, call: Call, ids: set[str]) -> web.Response:
        wanted = call.query.get("user_id", [])
        chosen = sorted(user_id for user_id in ids if not wanted or user_id in wanted)
        first, after = int((call.query.get("first") or ["20"])[0]), int((call.query.get("after") or ["0"])[0])
        page = chosen[after : after + first]
        more = {"cursor": str(after + first)} if after + first < len(chosen) else {}
        return ok([_person(known_user(self.world, user_id)) for user_id in page], pagination=more)

    async def moderated(self, call: Call) -> web.Response:
        """GET moderation/channels: where the user is a moderator."""
        user_id = call.param("user_id")
        call.as_self(user_id, "user_id")
        call.scope("user:read:moderated_channels")
        owner = self.world.owner
        channel = {"broadcaster_id": owner.id, "broadcaster_login": owner.login, "broadcaster_name": owner.name}
        return ok([channel] if user_id in self.world.moderators else [], pagination={})

    async def settings(self, call: Call) -> web.Response:
        """GET chat/settings: anybody may; the delay is shown to moderators."""
        in_channel(self.world, call.param("broadcaster_id"))
        moderator = (call.query.get("moderator_id") or [""])[0]
        if moderator:
            as_moderator(self.world, call)
            call.scope("moderator:read:chat_settings", "moderator:manage:chat_settings")
        return ok([self._settings(moderator)])

    def _settings(self, moderator: str) -> dict[str, object]:
        rules = asdict(self.world.rules)
        if not moderator:
            rules = {key: value for key, value in rules.items() if not key.startswith("non_moderator")}
        return {"broadcaster_id": self.world.room_id} | ({"moderator_id": moderator} if moderator else {}) | rules

    async def change_settings(self, call: Call) -> web.Response:
        """PATCH chat/settings."""
        as_moderator(self.world, call)
        call.scope("moderator:manage:chat_settings")
        known = asdict(self.world.rules)
        changes = {key: value for key, value in call.body.items() if key in known}
        if not changes:
            raise Refused(400, "At least one chat setting must be specified.")
        _check_wait(changes.get("slow_mode_wait_time"))
        rules = replace(self.world.rules, **changes)  # type: ignore[arg-type]  # the wire's values, kept as they came
        rules.slow_mode_wait_time = (rules.slow_mode_wait_time or 30) if rules.slow_mode else None
        rules.follower_mode_duration = (rules.follower_mode_duration or 0) if rules.follower_mode else None
        self.world.rules = rules
        await self.chat.room_state()
        return ok([self._settings(call.token.user_id)])

    async def announce(self, call: Call) -> web.Response:
        """POST chat/announcements: everybody reads a USERNOTICE."""
        as_moderator(self.world, call)
        call.scope("moderator:manage:announcements")
        color = str(call.body.get("color", "primary"))
        if color not in ("blue", "green", "orange", "purple", "primary"):
            raise Refused(400, "The color is not valid.")
        user, world = known_user(self.world, call.token.user_id), self.world
        text = call.text("message")[:500]
        said = Said(world.new_id(), user, text, world.now(), via="helix", badges=world.badges_of(user))
        await self.chat.notice(said, "announcement", "", {"color": color.upper()})
        return nothing()

    async def shout_out(self, call: Call) -> web.Response:
        """POST chat/shoutouts: while live, one every 2 minutes, the same person once an hour."""
        as_moderator(self.world, call, "from_broadcaster_id")
        call.scope("moderator:manage:shoutouts")
        to = known_user(self.world, call.param("to_broadcaster_id"))
        if to.id == self.world.room_id:
            raise Refused(400, "The broadcaster may not give themselves a Shoutout.")
        if self.world.stream is None:
            raise Refused(400, "The broadcaster is not streaming live or does not have one or more viewers.")
        now = self.world.now()
        if any(now - at < (SHOUTOUT_SAME_EVERY if who == to.id else SHOUTOUT_EVERY) for who, at in self.shoutouts):
            raise Refused(429, "The broadcaster exceeded the number of Shoutouts they may send within a given window.")
        self.shoutouts.append((to.id, now))
        return nothing()


def _person(user: User) -> dict[str, str]:
    return {"user_id": user.id, "user_login": user.login, "user_name": user.name}


def _duration(given: object) -> int | None:
    if given is None:
        return None
    if not isinstance(given, int) or not 1 <= given <= LONGEST_TIMEOUT:
        raise Refused(400, "The value in the duration field is not valid.")
    return given


def _check_wait(given: object) -> None:
    if given is not None and (not isinstance(given, int) or not 3 <= given <= 120):
        raise Refused(400, "The value in the slow_mode_wait_time field is not valid.")
