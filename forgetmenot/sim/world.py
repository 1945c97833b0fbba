"""The state of the loopback Twitch: people, one channel, its stream, its rules, bans, messages.

It has no network. Times are milliseconds since the epoch, by a time source that the owner may replace.
"""

import random
import secrets
import uuid
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

FOREVER = -1  # the end of a ban, as against a timeout
_IDS_FROM, _IDS = 100_000_000, 900_000_000


@dataclass(slots=True)
class User:
    """Somebody on Twitch. `badges` are those beside what the channel gives (broadcaster, moderator, vip)."""

    id: str
    login: str
    name: str
    badges: tuple[str, ...] = ()
    color: str = ""


@dataclass(frozen=True, slots=True)
class SimMessage:
    """A chat message that was delivered. `via`: "chat" (a viewer), "helix", or "irc". `at`: ms."""

    id: str
    user: User
    text: str
    at: int
    via: str = "chat"
    badges: tuple[str, ...] = ()
    reply_to: "SimMessage | None" = None
    me: bool = False
    bits: int = 0
    first: bool = False
    source_room: str = ""
    extra: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ban:
    """Who may not write: until when (ms; FOREVER for a ban, as against a timeout), since when, by whom, and why."""

    until: int
    since: int
    by: User
    reason: str = ""


@dataclass(slots=True)
class SimStream:
    """The channel's broadcast: live between `started_at` and the day somebody calls `sim.go_offline()`."""

    id: str
    started_at: int
    viewers: int = 42


@dataclass(slots=True)
class Rules:
    """The chat's settings, under Twitch's own names."""

    emote_mode: bool = False
    follower_mode: bool = False
    follower_mode_duration: int | None = None
    slow_mode: bool = False
    slow_mode_wait_time: int | None = None
    subscriber_mode: bool = False
    unique_chat_mode: bool = False
    non_moderator_chat_delay: bool = False
    non_moderator_chat_delay_duration: int | None = None


class World:
    """One channel and everybody in it. `owner` is the streamer."""

    def __init__(self, channel: str, now: Callable[[], int], *, seed: int | None = None) -> None:
        self.now = now
        self.users: dict[str, User] = {}
        self.owner = self.user(channel)
        self.moderators: set[str] = set()  # user ids, as all sets here
        self.vips: set[str] = set()
        self.bans: dict[str, Ban] = {}  # by user id
        self.title = "A quiet evening"
        self.game_id, self.game = "509658", "Just Chatting"
        self.games: dict[str, str] = {"509658": "Just Chatting", "27471": "Minecraft", "504461": "Celeste"}
        self.stream: SimStream | None = None
        self.rules = Rules()
        self.messages: dict[str, SimMessage] = {}
        self.deleted: set[str] = set()
        self._random = random.Random(seed)

    @property
    def room_id(self) -> str:
        """The channel's id, which is its owner's."""
        return self.owner.id

    def user(
        self,
        login: str,
        *,
        id: str | None = None,  # noqa: A002  # the word everybody uses here
        name: str | None = None,
        badges: tuple[str, ...] | None = None,
        color: str | None = None,
    ) -> User:
        """The user of that login; made at the first call (the id follows from the login), changed by later ones."""
        known = self.users.get(login)
        if known is None or (id is not None and id != known.id):
            known = self.users[login] = User(id or made_up_id(login), login, name or login.capitalize())
        known.name = known.name if name is None else name
        known.badges = known.badges if badges is None else tuple(badges)
        known.color = known.color if color is None else color
        return known

    def by_id(self, user_id: str) -> User | None:
        """The user with that id, or None."""
        return next((user for user in self.users.values() if user.id == user_id), None)

    def moderator(self, login: str) -> User:
        """That user, made a moderator."""
        user = self.user(login)
        self.moderators.add(user.id)
        return user

    def vip(self, login: str) -> User:
        """That user, made a VIP."""
        user = self.user(login)
        self.vips.add(user.id)
        return user

    def badges_of(self, user: User) -> tuple[str, ...]:
        """What the chat shows beside the name."""
        roles = (
            ("broadcaster/1", user.id == self.owner.id),
            ("moderator/1", user.id in self.moderators),
            ("vip/1", user.id in self.vips),
        )
        return tuple(badge for badge, has in roles if has and badge not in user.badges) + user.badges

    def ban_left(self, user_id: str) -> int:
        """FOREVER for a ban, the ms that are left of a timeout, 0 for neither."""
        ban = self.bans.get(user_id)
        until = ban.until if ban is not None else 0
        return until if until == FOREVER else max(0, until - self.now())

    def ban(self, user_id: str, seconds: int | None, by: User | None = None, reason: str = "") -> None:
        """Ban somebody, or time them out; chat is informed by `Chat.clear_person`. `by`: the streamer, unless named."""
        now = self.now()
        until = FOREVER if seconds is None else now + seconds * 1_000
        self.bans[user_id] = Ban(until, now, by or self.owner, reason)

    def reseed(self, seed: str) -> None:
        """Let the ids that come next follow from a seed: a script played twice says the same messages."""
        self._random.seed(seed)

    def new_id(self) -> str:
        """A fresh UUID."""
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))


def made_up_id(login: str) -> str:
    """An id for a login: the same in every run."""
    return str(_IDS_FROM + zlib.crc32(login.encode()) % _IDS)


CLIENT_ID = "simclientid"
LIFETIME = 14_400  # seconds


@dataclass(slots=True)
class SimToken:
    """A user's access token and the refresh token beside it."""

    access: str
    refresh: str
    user_id: str
    login: str
    scopes: tuple[str, ...]
    expired: bool = False  # the access token answers 401; the refresh token still works, once
    used: bool = False  # the refresh token has been used or revoked


class Tokens:
    """Who holds which token. `expires_in` is what validate says; `refreshes` counts the successful ones."""

    def __init__(self, world: World, client_id: str) -> None:
        self.world = world
        self.client_id = client_id
        self.expires_in = LIFETIME
        self.issued: list[SimToken] = []
        self.refreshes = 0
        self.refused_refreshes = 0

    def grant(self, login: str, scopes: tuple[str, ...]) -> SimToken:
        """Issue a pair of tokens to a user, who is created if needed."""
        user = self.world.user(login)
        token = SimToken(secrets.token_hex(15), secrets.token_hex(25), user.id, login, tuple(scopes))
        self.issued.append(token)
        return token

    def valid(self, access: str) -> SimToken | None:
        """The token that still works, or None."""
        return next((t for t in self.issued if t.access == access and not t.expired), None)

    def refresh(self, refresh: str) -> SimToken | None:
        """A new pair for a refresh token that was not used yet; None if there is none."""
        old = next((t for t in self.issued if t.refresh == refresh and not t.used), None)
        if old is None:
            self.refused_refreshes += 1
            return None
        old.used = True
        self.refreshes += 1
        return self.grant(old.login, old.scopes)

    def expire(self, login: str = "") -> None:
        """Let the access tokens of a user, or of all, answer 401 from now on."""
        for token in self.issued:
            token.expired = token.expired or login in ("", token.login)
