"""What happens on the stream besides chat: Twitch's EventSub WebSocket, through twitchio.

The bot's own log-in hears when the stream begins, ends and changes its title. The streamer's hears
everything.

- Only what the granted rights allow is subscribed. What Twitch refuses or revokes is logged and
  left out.
- Each event has an ID made of what happened, so what Twitch sends twice is stored once.
- An event of another channel is left out, and so is a state of the channel that is older than the
  last one. One that is hours old changes nothing: Twitch is only asked how the channel is now.
- twitchio reconnects, also where the server names another address. What it could not subscribe
  again is noticed within CHECK_EVERY_S, and everything is built anew. Until then the channel's
  state is polled as without EventSub.
"""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct

from forgetmenot.clock import Clock
from forgetmenot.domain import ChatEvent, EventKind
from forgetmenot.durations import HOUR
from forgetmenot.errors import TwitchError, TwitchRefused
from forgetmenot.logs import log
from forgetmenot.secret_store import Token
from forgetmenot.settings.schema import Settings
from forgetmenot.text.clean import clean
from forgetmenot.twitch.errors import translated
from forgetmenot.twitch.helix import Api
from forgetmenot.twitch.login import Login

if TYPE_CHECKING:
    import twitchio

CHECK_EVERY_S = 300.0
FIRST_PAUSE_S = 5.0
MAX_PAUSE_S = 300.0
# Twitch repeats what it could not deliver, minutes later at most.
OLD = HOUR


class Redemption(Struct, frozen=True):
    """Channel points spent: which reward, and what the viewer typed.

    The event is stored like any other.
    """

    event: ChatEvent
    reward: str


# Fields of a ChannelState, as they are from now on; without any, Twitch is only to be asked.
StateChanges = dict[str, Any]
StreamReport = ChatEvent | Redemption | StateChanges


class _Kind(NamedTuple):
    """One subscription: twitchio's class and event, how it is read, and the right that it needs.

    `state` is the part of the channel's state that it reports. `right` and `state` may be empty.
    """

    subscription: str
    event: str
    read: Callable[[Any], StreamReport | None]
    right: str = ""
    state: str = ""


def _ms(moment: Any) -> int:  # noqa: ANN401  # twitchio's payloads have no common type
    return int(moment.timestamp() * 1_000)


def _event_of(
    user: Any,  # noqa: ANN401
    kind: EventKind,
    key: object,
    at: Any,  # noqa: ANN401
    sentence: str,
    typed: str = "",
) -> ChatEvent:
    """Return something that a person did, with a sentence on it for the memory."""
    return ChatEvent(
        id=f"{kind.value}:{key}",
        kind=kind,
        user_id=user.id,
        login=user.name,
        display_name=user.display_name or user.name,
        text=clean(typed),
        at=_ms(at),
        system_text=clean(sentence),
    )


def _channel_event(
    payload: Any,  # noqa: ANN401
    name: str,
    at: Any,  # noqa: ANN401
    sentence: str,
) -> ChatEvent:
    """Return something that happened to the whole channel, once at a time."""
    return _event_of(
        payload.broadcaster, EventKind.STREAM, f"{name}:{_ms(at)}", at, sentence
    )


def _stream_online(payload: Any) -> StateChanges:  # noqa: ANN401
    return {
        "live": True,
        "started_at": _ms(payload.started_at),
        "stream_id": payload.id,
    }


def _stream_offline(_payload: Any) -> StateChanges:  # noqa: ANN401
    return {"live": False, "started_at": None, "stream_id": ""}


def _channel_update(payload: Any) -> StateChanges:  # noqa: ANN401
    title = clean(payload.title)
    category = clean(payload.category_name)
    return {"title": title, "category": category}


def _follow(payload: Any) -> ChatEvent:  # noqa: ANN401
    user = payload.user
    key = f"{user.id}:{_ms(payload.followed_at)}"
    sentence = f"{user.display_name} followed the channel."
    return _event_of(user, EventKind.FOLLOW, key, payload.followed_at, sentence)


def _redemption(payload: Any) -> Redemption:  # noqa: ANN401
    user = payload.user
    title = clean(payload.reward.title)
    sentence = f"{user.display_name} redeemed the reward “{title}”."
    typed = payload.user_input
    event = _event_of(
        user, EventKind.REDEMPTION, payload.id, payload.redeemed_at, sentence, typed
    )
    return Redemption(event, title)


def _hype_train(payload: Any) -> ChatEvent:  # noqa: ANN401
    sentence = f"Chat finished a level-{payload.level} hype train."
    return _channel_event(payload, "hype", payload.ended_at, sentence)


def _poll(payload: Any) -> ChatEvent | None:  # noqa: ANN401
    # The streamer ended the poll and hid its result: nothing is reported of it.
    if payload.status == "archived":
        return None
    results = [(choice.votes or 0, choice.title) for choice in payload.choices]
    votes, winner = max(results, default=(0, ""))
    if votes == 0:
        return None
    sentence = f"The poll “{payload.title}” ended: “{winner}” won with {votes} votes."
    return _channel_event(payload, "poll", payload.ended_at, sentence)


def _prediction(payload: Any) -> ChatEvent | None:  # noqa: ANN401
    # Cancelled: the points went back.
    if payload.winning_outcome is None:
        return None
    winner = payload.winning_outcome.title
    sentence = f"The prediction “{payload.title}” ended: “{winner}” was right."
    return _channel_event(payload, "prediction", payload.ended_at, sentence)


def _ad_break(payload: Any) -> ChatEvent:  # noqa: ANN401
    sentence = f"An ad break of {payload.duration} s began."
    return _channel_event(payload, "ads", payload.started_at, sentence)


def _shoutout(payload: Any) -> ChatEvent:  # noqa: ANN401
    broadcaster = payload.from_broadcaster
    key = f"{broadcaster.id}:{_ms(payload.started_at)}"
    sentence = f"{broadcaster.display_name} gave this channel a shoutout."
    return _event_of(broadcaster, EventKind.STREAM, key, payload.started_at, sentence)


# Those without a right come first: the bot's own log-in may subscribe them in any channel.
_KINDS = (
    _Kind("StreamOnlineSubscription", "stream_online", _stream_online, state="live"),
    _Kind("StreamOfflineSubscription", "stream_offline", _stream_offline, state="live"),
    _Kind(
        "ChannelUpdateSubscription", "channel_update", _channel_update, state="title"
    ),
    _Kind("ChannelFollowSubscription", "follow", _follow, "moderator:read:followers"),
    _Kind(
        "ChannelPointsRedeemAddSubscription",
        "custom_redemption_add",
        _redemption,
        "channel:read:redemptions",
    ),
    _Kind(
        "HypeTrainEndSubscription",
        "hype_train_end",
        _hype_train,
        "channel:read:hype_train",
    ),
    _Kind("ChannelPollEndSubscription", "poll_end", _poll, "channel:read:polls"),
    _Kind(
        "ChannelPredictionEndSubscription",
        "prediction_end",
        _prediction,
        "channel:read:predictions",
    ),
    _Kind("AdBreakBeginSubscription", "ad_break", _ad_break, "channel:read:ads"),
    _Kind(
        "ShoutoutReceiveSubscription",
        "shoutout_receive",
        _shoutout,
        "moderator:read:shoutouts",
    ),
)


STATE = frozenset(kind.event for kind in _KINDS if kind.state)
# What to ask the channel's own account for, so that every event may be subscribed.
RIGHTS = tuple(kind.right for kind in _KINDS if kind.right)


class StreamEvents:
    """Subscribes to events, and gives each to `happened`. `room` returns the channel's id."""

    def __init__(
        self,
        *,
        login: Login,
        settings: Callable[[], Settings],
        clock: Clock,
        room: Callable[[], Awaitable[str]],
        happened: Callable[[StreamReport], Awaitable[None]],
    ) -> None:
        self._login = login
        self._settings = settings
        self._clock = clock
        self._room = room
        self._happened = happened
        self.subscribed: frozenset[str] = frozenset()
        # By part of the channel's state: when Twitch sent its newest report (ms).
        self._newest_state: dict[str, int] = {}

    @property
    def reports_state(self) -> bool:
        """Return whether everything that the channel's state is made of is reported."""
        return self.subscribed >= STATE

    async def run(self) -> None:
        """Keep the subscriptions and never return; failures are logged and tried again."""
        pause = FIRST_PAUSE_S
        while True:
            try:
                await self._one_client()
                pause = FIRST_PAUSE_S
            except TwitchError as error:
                log.warning("no events from Twitch", reason=str(error))
                pause = min(2 * pause, MAX_PAUSE_S)
            finally:
                self.subscribed = frozenset()
            await asyncio.sleep(pause)

    async def _one_client(self) -> None:
        """Subscribe to everything, and return when something is missing. Raises TwitchError."""
        api = Api(self._login, self._settings)
        room = await self._room()
        client = await api.client()
        try:
            with translated("subscribe to events"):
                granted_count = await self._subscribe(client, await api.user_id(), room)
            if not granted_count:
                raise TwitchRefused("Twitch grants none of its events.")
            # Asked every few minutes, because twitchio has no event for a lost subscription.
            while len(client.websocket_subscriptions()) >= granted_count:  # noqa: ASYNC110
                await asyncio.sleep(CHECK_EVERY_S)
        finally:
            # A connection that is gone cannot be closed politely. Tokens are kept by the store,
            # not in the file that twitchio would write into the working folder.
            with contextlib.suppress(Exception):
                await client.close(save_tokens=False)
            await api.aclose()

    async def _subscribe(
        self,
        client: "twitchio.Client",
        own_id: str,
        room: str,
    ) -> int:
        """Return how many subscriptions Twitch granted.

        What it refuses, for example for want of a right, is left out.
        """
        from twitchio import eventsub
        from twitchio.exceptions import HTTPException

        _accept_an_end_without_id()
        token = await self._login.token()
        granted: set[str] = set()
        for kind in _KINDS:
            if not _may_subscribe(kind, token, is_own_channel=own_id == room):
                continue
            self._listen(client, kind, room)
            condition = {"broadcaster_user_id": room}
            # Of what only moderators hear Twitch wants to know which one listens.
            if kind.right.startswith("moderator:"):
                condition["moderator_user_id"] = own_id
            payload = getattr(eventsub, kind.subscription)(**condition)
            try:
                # The connection is lost if nothing is subscribed within 10 s of its welcome.
                await client.subscribe_websocket(
                    payload, token_for=own_id, as_bot=False
                )
            except HTTPException as error:
                if not 400 <= error.status < 500:
                    raise
                log.info("an event was refused", what=kind.event, status=error.status)
            else:
                granted.add(kind.event)
        self.subscribed = frozenset(granted)
        log.info("listening to events", events=sorted(granted))
        return len(granted)

    def _listen(
        self,
        client: "twitchio.Client",
        kind: _Kind,
        room: str,
    ) -> None:
        async def take(payload: Any) -> None:  # noqa: ANN401
            # Twitch adds and drops fields without notice: one event is lost, not the connection.
            try:
                if payload.broadcaster.id != room:
                    return
                event = kind.read(payload)
            except (AttributeError, TypeError, ValueError) as error:
                log.warning(
                    "an event could not be read",
                    what=kind.event,
                    error=type(error).__name__,
                )
                return
            if kind.state:
                sent_at = _sent_at(payload, self._clock.now())
                event = self._current(kind, event, sent_at)
            if event is not None:
                await self._happened(event)

        client.add_listener(take, event=f"event_{kind.event}")

    def _current(
        self,
        kind: _Kind,
        event: StreamReport | None,
        sent_at: int,
    ) -> StreamReport | None:
        """Return a state of the channel if it is the newest, else None.

        An old one is without changes, so that Twitch is asked.
        """
        newest = self._newest_state.get(kind.state, 0)
        if sent_at < newest:
            return None
        self._newest_state[kind.state] = sent_at
        age = self._clock.now() - sent_at
        return {} if age > OLD else event


def _may_subscribe(
    kind: _Kind,
    token: Token,
    *,
    is_own_channel: bool,
) -> bool:
    if kind.right and kind.right not in token.scopes:
        return False
    # Twitch refuses the events of "channel:" to all but the channel's own account.
    return is_own_channel or not kind.right.startswith("channel:")


def _sent_at(payload: Any, now: int) -> int:  # noqa: ANN401
    """Return when Twitch sent an event (ms); now if the event does not say so."""
    timestamp = payload.timestamp
    return _ms(timestamp) if timestamp is not None else now


@cache
def _accept_an_end_without_id() -> None:
    """Have twitchio read a `stream.offline` without the stream's id, which Twitch may leave out.

    twitchio 3.3.2 raises KeyError over it, and the event is lost. Nobody needs the id, so a class
    of the same type takes the place of twitchio's.
    """
    from twitchio.models.eventsub_ import StreamOffline

    class EndOfStream(StreamOffline):
        subscription_type = "stream.offline"

        def __init__(self, payload: Any, *, http: Any) -> None:  # noqa: ANN401
            payload_with_id: Any = {"id": "", **payload}
            super().__init__(payload_with_id, http=http)
