"""What happens on the stream besides chat: Twitch's EventSub WebSocket, through twitchio, with anybody's log-in.

The bot's own log-in hears when the stream begins, ends and changes its title; the streamer's hears everything.

- Only what the granted rights allow is subscribed; what Twitch refuses or revokes is logged and left out.
- Each event has an ID made of what happened, so what Twitch sends twice is stored once.
- An event of another channel is left out, and so is a state of the channel that is older than the last one. One that is
  hours old changes nothing: it only has Twitch asked how the channel is now.
- twitchio reconnects, also where the server names another address. What it could not subscribe again is noticed within
  CHECK_EVERY_S, and everything is built anew. Until then the channel's state is polled as without EventSub.
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
from forgetmenot.settings.schema import Settings
from forgetmenot.text.clean import clean
from forgetmenot.twitch.errors import translated
from forgetmenot.twitch.helix import Api
from forgetmenot.twitch.login import Login

if TYPE_CHECKING:
    import twitchio

CHECK_EVERY_S = 300.0
FIRST_PAUSE_S, LONGEST_PAUSE_S = 5.0, 300.0
OLD = HOUR  # Twitch repeats what it could not deliver, minutes later at most


class Redemption(Struct, frozen=True):
    """Channel points spent: which reward, and what the viewer typed. The event is kept like any other."""

    event: ChatEvent
    reward: str


# Fields of a ChannelState, as they are from now on; without any, Twitch is only to be asked.
Changes = dict[str, Any]
Happened = ChatEvent | Redemption | Changes


class _Kind(NamedTuple):
    """One subscription: twitchio's class and event, how it is read, and the right that it needs, if any.

    `state`: which part of the channel's state it reports, if it reports any.
    """

    subscription: str
    event: str
    read: Callable[[Any], Happened | None]
    right: str = ""
    state: str = ""


def _ms(moment: Any) -> int:  # noqa: ANN401  # twitchio's payloads have no common type
    return int(moment.timestamp() * 1_000)


def _by(
    user: Any,  # noqa: ANN401
    kind: EventKind,
    key: object,
    at: Any,  # noqa: ANN401
    sentence: str,
    typed: str = "",
) -> ChatEvent:
    """Something that a person did, with Twitch's word on it as a sentence for the memory."""
    return ChatEvent(
        f"{kind.value}:{key}", kind, user.id, user.name, user.display_name or user.name, clean(typed), _ms(at),
        system_text=clean(sentence),
    )  # fmt: skip


def _follow(payload: Any) -> ChatEvent:  # noqa: ANN401
    who, at = payload.user, payload.followed_at
    return _by(
        who,
        EventKind.FOLLOW,
        f"{who.id}:{_ms(at)}",
        at,
        f"{who.display_name} followed the channel.",
    )


def _redemption(payload: Any) -> Redemption:  # noqa: ANN401
    title, who = clean(payload.reward.title), payload.user
    sentence = f"{who.display_name} redeemed the reward “{title}”."
    event = _by(
        who, EventKind.REDEMPTION, payload.id, payload.redeemed_at, sentence, payload.user_input
    )
    return Redemption(event, title)


def _on_stream(payload: Any, what: str, at: Any, sentence: str) -> ChatEvent:  # noqa: ANN401
    """Something that happened to the whole channel, once at a time."""
    return _by(payload.broadcaster, EventKind.STREAM, f"{what}:{_ms(at)}", at, sentence)


def _poll(payload: Any) -> ChatEvent | None:  # noqa: ANN401
    votes, title = max(
        ((choice.votes or 0, choice.title) for choice in payload.choices), default=(0, "")
    )
    if payload.status == "archived" or not votes:
        return None
    sentence = f"The poll “{payload.title}” ended: “{title}” won with {votes} votes."
    return _on_stream(payload, "poll", payload.ended_at, sentence)


def _prediction(payload: Any) -> ChatEvent | None:  # noqa: ANN401
    if payload.winning_outcome is None:
        return None
    sentence = (
        f"The prediction “{payload.title}” ended: “{payload.winning_outcome.title}” was right."
    )
    return _on_stream(payload, "prediction", payload.ended_at, sentence)


def _shoutout(payload: Any) -> ChatEvent:  # noqa: ANN401
    who, at = payload.from_broadcaster, payload.started_at
    return _by(
        who,
        EventKind.STREAM,
        f"{who.id}:{_ms(at)}",
        at,
        f"{who.display_name} gave this channel a shoutout.",
    )


_KINDS = (
    _Kind(
        "StreamOnlineSubscription", "stream_online",
        lambda it: {"live": True, "started_at": _ms(it.started_at), "stream_id": it.id}, state="live",
    ),
    _Kind(
        "StreamOfflineSubscription", "stream_offline",
        lambda _: {"live": False, "started_at": None, "stream_id": ""}, state="live",
    ),
    _Kind(
        "ChannelUpdateSubscription", "channel_update",
        lambda it: {"title": clean(it.title), "category": clean(it.category_name)}, state="title",
    ),
    _Kind("ChannelFollowSubscription", "follow", _follow, "moderator:read:followers"),
    _Kind("ChannelPointsRedeemAddSubscription", "custom_redemption_add", _redemption, "channel:read:redemptions"),
    _Kind(
        "HypeTrainEndSubscription", "hype_train_end",
        lambda it: _on_stream(it, "hype", it.ended_at, f"Chat finished a level-{it.level} hype train."),
        "channel:read:hype_train",
    ),
    _Kind("ChannelPollEndSubscription", "poll_end", _poll, "channel:read:polls"),
    _Kind("ChannelPredictionEndSubscription", "prediction_end", _prediction, "channel:read:predictions"),
    _Kind(
        "AdBreakBeginSubscription", "ad_break",
        lambda it: _on_stream(it, "ads", it.started_at, f"An ad break of {it.duration} s began."), "channel:read:ads",
    ),
    _Kind("ShoutoutReceiveSubscription", "shoutout_receive", _shoutout, "moderator:read:shoutouts"),
)  # fmt: skip


STATE = frozenset(kind.event for kind in _KINDS if kind.state)
# What to ask the channel's own account for, so that every event may be subscribed.
RIGHTS = tuple(kind.right for kind in _KINDS if kind.right)


class StreamEvents:
    """Subscribes and reports."""

    def __init__(
        self,
        *,
        login: Login,
        settings: Callable[[], Settings],
        clock: Clock,
        room: Callable[[], Awaitable[str]],
        happened: Callable[[Happened], Awaitable[None]],
    ) -> None:
        self._login = login
        self._settings = settings
        self._clock = clock
        self._room = room
        self._happened = happened
        self.subscribed: frozenset[str] = frozenset()
        self._newest: dict[
            str, int
        ] = {}  # by part of the channel's state: when it was last reported

    @property
    def reports_state(self) -> bool:
        """Whether everything that the channel's state is made of is reported."""
        return self.subscribed >= STATE

    async def run(self) -> None:
        """Keep the subscriptions for ever; failures are logged and tried again."""
        pause = FIRST_PAUSE_S
        while True:
            try:
                await self._one_client()
                pause = FIRST_PAUSE_S
            except TwitchError as error:
                log.warning("no events from Twitch", reason=str(error))
                pause = min(2 * pause, LONGEST_PAUSE_S)
            finally:
                self.subscribed = frozenset()
            await asyncio.sleep(pause)

    async def _one_client(self) -> None:
        """Subscribe to everything, and return when something is missing. Raises TwitchError."""
        api, room = Api(self._login, self._settings), await self._room()
        client = await api.client()
        try:
            with translated("subscribe to events"):
                wanted = await self._subscribe(client, await api.user_id(), room)
            if not wanted:
                raise TwitchRefused("Twitch grants none of its events.")
            while len(client.websocket_subscriptions()) >= wanted:  # noqa: ASYNC110  # twitchio has no event for it
                await asyncio.sleep(CHECK_EVERY_S)
        finally:
            with contextlib.suppress(
                Exception
            ):  # a connection that is gone cannot be closed politely
                await client.close(save_tokens=False)
            await api.aclose()

    async def _subscribe(self, client: "twitchio.Client", me: str, room: str) -> int:
        """How many subscriptions Twitch granted. What it refuses, for want of a right say, is left out."""
        from twitchio import eventsub
        from twitchio.exceptions import HTTPException

        _accept_an_end_without_id()
        token = await self._login.token()
        granted: set[str] = set()
        for kind in _KINDS:
            if kind.right and kind.right not in token.scopes:
                continue
            # what only the channel's own account may hear; another one would be refused
            if kind.right.startswith("channel:") and me != room:
                continue
            self._listen(client, kind, room)
            condition = {"broadcaster_user_id": room}
            if kind.right.startswith("moderator:"):
                condition["moderator_user_id"] = me
            payload = getattr(eventsub, kind.subscription)(**condition)
            try:
                # the connection is lost if nothing is subscribed within 10 s of its welcome
                await client.subscribe_websocket(payload, token_for=me, as_bot=False)
            except HTTPException as error:
                if not 400 <= error.status < 500:
                    raise
                log.info("an event was refused", what=kind.event, status=error.status)
            else:
                granted.add(kind.event)
        self.subscribed = frozenset(granted)
        log.info("listening to events", events=sorted(granted))
        return len(granted)

    def _listen(self, client: "twitchio.Client", kind: _Kind, room: str) -> None:
        async def take(payload: Any) -> None:  # noqa: ANN401
            try:
                if payload.broadcaster.id != room:
                    return
                happened = kind.read(payload)
            except (AttributeError, TypeError, ValueError) as error:
                log.warning(
                    "an event could not be read", what=kind.event, error=type(error).__name__
                )
                return
            if kind.state:
                happened = self._current(kind, happened, _sent_at(payload, self._clock.now()))
            if happened is not None:
                await self._happened(happened)

        client.add_listener(take, event=f"event_{kind.event}")

    def _current(self, kind: _Kind, happened: Happened | None, sent_at: int) -> Happened | None:
        """A state of the channel if it is the newest; an old one changes nothing, but has Twitch asked."""
        if sent_at < self._newest.get(kind.state, 0):
            return None
        self._newest[kind.state] = sent_at
        if self._clock.now() - sent_at > OLD:
            return {}
        return happened


def _sent_at(payload: Any, now: int) -> int:  # noqa: ANN401
    """When Twitch sent an event (ms); now, where it does not say so."""
    sent = payload.timestamp
    return _ms(sent) if sent is not None else now


@cache
def _accept_an_end_without_id() -> None:
    """Have twitchio read a `stream.offline` without the stream's id, which Twitch may leave out; nobody needs it.

    twitchio 3.3.2 raises KeyError over it, and the event is lost. A class of the same type takes the other's place.
    """
    from twitchio.models.eventsub_ import StreamOffline

    class EndOfStream(StreamOffline):
        subscription_type = "stream.offline"

        def __init__(self, payload: Any, *, http: Any) -> None:  # noqa: ANN401
            whole: Any = {"id": "", **payload}
            super().__init__(whole, http=http)
