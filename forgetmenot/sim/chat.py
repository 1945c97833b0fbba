"""What happens in the channel's chat: delivering lines to everybody, clearing them, and Helix's ways to do so.

A message through Helix comes back to every reading connection. It is refused (`is_sent: false` with a drop reason)
for the reasons that the room gives. Twitch does not document its drop codes and changes them; these are the ones
that have been seen, the older IRC names among them, and "msg_rejected" may stand for any.
"""

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from aiohttp import web

from forgetmenot.sim import lines
from forgetmenot.sim.call import Call, Refused, in_channel, known_user, ok
from forgetmenot.sim.helix import Routes
from forgetmenot.sim.irc import Connection, IrcServer
from forgetmenot.sim.world import FOREVER, Said, User, World

LONGEST = 500
WINDOW = 30_000  # ms
PER_WINDOW, PER_WINDOW_MODERATOR = 20, 100
DROPS = {
    "msg_rejected": "Your message is being checked by mods and has not been sent.",
    "msg_rejected_mandatory": "Your message wasn't posted due to conflicts with the channel's moderation settings.",
    "msg_duplicate": "Your message was not sent because it is identical to the previous one you sent.",
    "msg_slowmode": "This room is in slow mode and you are sending messages too quickly.",
    "msg_followersonly": "This room is in followers-only mode.",
    "msg_subsonly": "This room is in subscribers only mode.",
    "msg_emoteonly": "This room is in emote-only mode.",
    "msg_banned": "You are permanently banned from talking in this channel.",
    "msg_timedout": "You are timed out.",
    "msg_ratelimit": "Your message was not sent because you are sending messages too quickly.",
    "msg_too_long": "Your message is too long.",
}


@dataclass(frozen=True, slots=True)
class Attempt:
    """A message that somebody tried to send through Helix; `dropped` is the code, or ""."""

    user: User
    text: str
    at: int
    dropped: str = ""


class Chat:
    """`said`: all that was delivered; `attempts`: all through Helix; `breaches`: sendings over the rate limit."""

    def __init__(self, world: World, irc: IrcServer) -> None:
        self.world = world
        self.irc = irc
        self.said: list[Said] = []
        self.attempts: list[Attempt] = []
        self.breaches = 0
        self.on_said: Callable[[Said], None] | None = None
        self.forced: deque[str] = deque()
        irc.on_message = self.from_irc

    async def deliver(self, said: Said, *, but: Connection | None = None) -> Said:
        """Show a message to everybody."""
        self.world.messages[said.id] = said
        self.said.append(said)
        if self.on_said is not None:
            self.on_said(said)
        await self.irc.broadcast(lines.privmsg(self.world, said), but=but)
        return said

    async def from_irc(self, connection: Connection, text: str) -> None:
        """A signed-in connection said something over IRC: the others see it, itself does not."""
        user = connection.user
        if user is not None and not self._reason(user, text):
            badges = self.world.badges_of(user)
            said = Said(self.world.new_id(), user, text, self.world.now(), via="irc", badges=badges)
            await self.deliver(said, but=connection)

    async def clear_message(self, message_id: str) -> None:
        """Delete one message. Raises KeyError for a message that was never said."""
        said = self.world.messages[message_id]
        self.world.deleted.add(message_id)
        await self.irc.broadcast(lines.clear_message(self.world, said))

    async def clear_person(self, user: User, seconds: int | None, by: User | None = None, reason: str = "") -> None:
        """Time somebody out, or ban them (None); `by` the streamer, unless another moderator is named."""
        self.world.ban(user.id, seconds, by, reason)
        self.world.deleted.update(said.id for said in self.said if said.user.id == user.id)
        await self.irc.broadcast(lines.clear_chat(self.world, user, seconds))

    async def room_state(self) -> None:
        """Tell everybody the room's rules."""
        await self.irc.broadcast(lines.room_state(self.world))

    async def clear_all(self) -> None:
        """Clear the whole chat."""
        self.world.deleted.update(self.world.messages)
        await self.irc.broadcast(lines.clear_chat(self.world, None, None))

    def routes(self) -> Routes:
        """What Helix answers of this."""
        return {("POST", "chat/messages"): self.send}

    async def send(self, call: Call) -> web.Response:
        """POST chat/messages."""
        call.scope("user:write:chat")
        in_channel(self.world, call.text("broadcaster_id"))
        call.as_self(call.text("sender_id"), "sender_id")
        text, user = call.text("message"), known_user(self.world, call.token.user_id)
        if len(text) > LONGEST:
            raise Refused(422, "The message is too large.")
        code = self.forced.popleft() if self.forced else self._reason(user, text)
        self.attempts.append(Attempt(user, text, self.world.now(), code))
        if code:
            drop = {"code": code, "message": DROPS.get(code, "Your message was not sent.")}
            return ok([{"message_id": "", "is_sent": False, "drop_reason": drop}])
        parent = self.world.messages.get(str(call.body.get("reply_parent_message_id", "")))
        said = await self.deliver(self._written(user, text, parent))
        return ok([{"message_id": said.id, "is_sent": True, "drop_reason": None}])

    def _written(self, user: User, text: str, parent: Said | None) -> Said:
        world = self.world
        badges = world.badges_of(user)
        return Said(world.new_id(), user, text, world.now(), via="helix", badges=badges, reply_to=parent)

    def _reason(self, user: User, text: str) -> str:
        left = self.world.ban_left(user.id)
        if left:
            return "msg_banned" if left == FOREVER else "msg_timedout"
        return self._too_much(user, text) or self._room_rule(user) or self._held(text)

    def _too_much(self, user: User, text: str) -> str:
        since = self.world.now() - WINDOW
        recent = [
            said for said in self.said[-500:] if said.user.id == user.id and said.via != "chat" and said.at > since
        ]
        limit = PER_WINDOW_MODERATOR if self.world.is_privileged(user.id) else PER_WINDOW
        if len(recent) >= limit:
            self.breaches += 1
            return "msg_ratelimit"
        return "msg_duplicate" if any(said.text == text for said in recent) else ""

    def _room_rule(self, user: User) -> str:
        world, rules = self.world, self.world.rules
        if world.is_privileged(user.id) or user.id in world.vips:
            return ""
        if rules.follower_mode and user.id not in world.followers:
            return "msg_followersonly"
        if rules.subscriber_mode:
            return "msg_subsonly"
        if rules.emote_mode:
            return "msg_emoteonly"
        return "msg_slowmode" if rules.slow_mode and self._spoke_lately(user) else ""

    def _spoke_lately(self, user: User) -> bool:
        since = self.world.now() - (self.world.rules.slow_mode_wait_time or 30) * 1_000
        return any(said.user.id == user.id and said.at > since for said in self.said[-500:])

    def _held(self, text: str) -> str:
        return "msg_rejected" if any(word in text.lower() for word in self.world.held_words) else ""

    async def notice(self, said: Said, kind: str, system: str, parameters: Mapping[str, object] | None = None) -> Said:
        """Show a USERNOTICE to everybody."""
        self.world.messages[said.id] = said
        await self.irc.broadcast(lines.user_notice(self.world, said, kind, system, parameters or {}))
        return said
