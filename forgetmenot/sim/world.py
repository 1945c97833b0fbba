"""The state of the loopback Twitch: people, one channel, its stream, who holds which token.

It has no network. Times are milliseconds since the epoch, by a time source that the owner may replace.
"""

import secrets
import uuid
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

CLIENT_ID = "simclientid"
_IDS_FROM, _IDS = 100_000_000, 900_000_000


@dataclass(frozen=True, slots=True)
class User:
    """Somebody on Twitch."""

    id: str
    login: str
    name: str


@dataclass(frozen=True, slots=True)
class SimMessage:
    """A chat message that was delivered. `via`: "chat" (a viewer) or "helix". `at`: ms."""

    id: str
    user: User
    text: str
    at: int
    via: str = "chat"
    badges: tuple[str, ...] = ()
    reply_to: "SimMessage | None" = None


@dataclass(frozen=True, slots=True)
class SimStream:
    """The channel's broadcast: live between `started_at` and the day somebody calls `sim.go_offline()`."""

    id: str
    started_at: int


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


class World:
    """One channel and everybody in it. `owner` is the streamer."""

    def __init__(self, channel: str, now: Callable[[], int]) -> None:
        self.now = now
        self.users: dict[str, User] = {}
        self.owner = self.user(channel)
        self.moderators: set[str] = set()  # user ids, as all sets here
        self.vips: set[str] = set()
        self.title = "A quiet evening"
        self.game_id, self.game = "509658", "Just Chatting"
        self.stream: SimStream | None = None
        self.messages: dict[str, SimMessage] = {}

    @property
    def room_id(self) -> str:
        """The channel's id, which is its owner's."""
        return self.owner.id

    def user(self, login: str) -> User:
        """The user of that login; made at the first call. The id follows from the login, the same in every run."""
        if login not in self.users:
            user_id = str(_IDS_FROM + zlib.crc32(login.encode()) % _IDS)
            self.users[login] = User(user_id, login, login.capitalize())
        return self.users[login]

    def by_id(self, user_id: str) -> User | None:
        """The user with that id, or None."""
        return next((user for user in self.users.values() if user.id == user_id), None)

    def moderator(self, login: str) -> None:
        """Make that user a moderator."""
        self.moderators.add(self.user(login).id)

    def vip(self, login: str) -> None:
        """Make that user a VIP."""
        self.vips.add(self.user(login).id)

    def badges_of(self, user: User) -> tuple[str, ...]:
        """What the chat shows beside the name."""
        roles = (
            ("broadcaster/1", user.id == self.owner.id),
            ("moderator/1", user.id in self.moderators),
            ("vip/1", user.id in self.vips),
        )
        return tuple(badge for badge, has in roles if has)

    def message(self, user: User, text: str, **more: Any) -> SimMessage:  # noqa: ANN401  # the other fields, by name
        """A message with an id of its own and its writer's badges."""
        return SimMessage(str(uuid.uuid4()), user, text, **{"at": self.now(), "badges": self.badges_of(user), **more})


class Tokens:
    """Who holds which token."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.issued: list[SimToken] = []

    def grant(self, login: str, scopes: tuple[str, ...]) -> SimToken:
        """Issue a pair of tokens to a user, who is created if needed."""
        user = self.world.user(login)
        token = SimToken(secrets.token_hex(15), secrets.token_hex(25), user.id, login, tuple(scopes))
        self.issued.append(token)
        return token

    def valid(self, access: str) -> SimToken | None:
        """The token that still works, or None."""
        return next((t for t in self.issued if t.access == access and not t.expired), None)
