"""One call to Helix as its handlers see it, what they answer with, and the checks that they share."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from aiohttp import web

from forgetmenot.sim.faults import error_body
from forgetmenot.sim.oauth import Token
from forgetmenot.sim.world import User, World


class Refused(Exception):
    """Helix says no: a status and Twitch's sentence."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


@dataclass(frozen=True, slots=True)
class Call:
    """A call with its token already checked. `query` holds every value of a parameter, in order."""

    method: str
    path: str
    token: Token
    query: Mapping[str, list[str]]
    body: Mapping[str, object] = field(default_factory=dict)

    def scope(self, *any_of: str) -> None:
        """Refuse with 401 unless the token has one of the scopes."""
        if not set(any_of) & set(self.token.scopes):
            raise Refused(401, f"Missing scope: {' or '.join(any_of)}")

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

    def as_self(self, user_id: str, name: str) -> None:
        """Refuse with 401 unless the parameter `name` is the token's own user."""
        if user_id != self.token.user_id:
            raise Refused(401, f"The ID in {name} must match the user ID found in the request's OAuth token.")


def as_broadcaster(world: World, call: Call, name: str = "broadcaster_id") -> None:
    """Refuse unless the call is made by the streamer for their own channel."""
    call.as_self(in_channel(world, call.param(name)), name)


def as_moderator(world: World, call: Call, name: str = "broadcaster_id") -> None:
    """Refuse unless the call names the channel and a moderator of it who is the token's user."""
    in_channel(world, call.param(name))
    moderator = call.param("moderator_id")
    call.as_self(moderator, "moderator_id")
    if not world.is_privileged(moderator):
        raise Refused(403, "The user in moderator_id is not one of the broadcaster's moderators.")


def in_channel(world: World, broadcaster_id: str) -> str:
    """The channel's id. Refuses with 404 for a channel that is not here."""
    if broadcaster_id != world.room_id:
        raise Refused(404, "The broadcaster was not found.")
    return broadcaster_id


def known_user(world: World, user_id: str) -> User:
    """The user with that id; 400 if there is none."""
    user = world.by_id(user_id)
    if user is None:
        raise Refused(400, f"The user ID {user_id} is not valid.")
    return user


def ok(data: object, status: int = 200, **more: object) -> web.Response:
    """`{"data": …}`."""
    return web.json_response({"data": data} | more, status=status)


def nothing() -> web.Response:
    """204."""
    return web.Response(status=204)


def refusal(refused: Refused) -> web.Response:
    """The refusal as Twitch words it."""
    return web.json_response(error_body(refused.status, refused.message), status=refused.status)


def stamp(ms: int) -> str:
    """RFC 3339 in UTC, as Helix writes times."""
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


class Bucket:
    """Helix's points a minute: `limit` calls, then 429 until the minute is over. Real time, not the world's."""

    def __init__(self, limit: int = 800, clock: Callable[[], float] = time.time) -> None:
        self.limit = limit
        self._clock = clock
        self._reset = 0.0
        self._left = limit

    def take(self) -> bool:
        """Use one point; False if none is left."""
        if self._clock() >= self._reset:
            self._reset, self._left = self._clock() + 60, self.limit
        self._left -= 1
        return self._left >= 0

    def headers(self) -> dict[str, str]:
        """The three headers that every answer carries."""
        left = str(max(0, self._left))
        return {
            "Ratelimit-Limit": str(self.limit),
            "Ratelimit-Remaining": left,
            "Ratelimit-Reset": str(int(self._reset)),
        }
