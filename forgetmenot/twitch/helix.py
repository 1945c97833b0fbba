"""What the bot does on Twitch, through Helix: it speaks, moderates, and asks how the channel is.

Fills ports.ChatOut and ports.Moderation.

- Twitch's "no" to an action is an Outcome of kind REFUSED.
- A log-in that lacks a right raises TwitchLoginNeeded, a network that fails TwitchUnavailable.
- A message whose answer was lost is UNKNOWN: it may have been sent, so it must not be sent again.
- No action is repeated.
"""

import asyncio
import contextlib
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, TypeVar

import aiohttp

from forgetmenot.domain import ChannelState, Outcome, OutcomeKind, Video
from forgetmenot.durations import DAY
from forgetmenot.errors import (
    TwitchLoginNeeded,
    TwitchRateLimited,
    TwitchRefused,
    TwitchUnavailable,
)
from forgetmenot.languages import reason
from forgetmenot.network import web_session
from forgetmenot.secret_store import Account, Token
from forgetmenot.settings.schema import Settings
from forgetmenot.startup import load_off_the_loop
from forgetmenot.text.mentions import login_of
from forgetmenot.twitch.errors import (
    DROPS,
    TOO_FAST,
    AnswerLost,
    dropped,
    from_status,
    translated,
)
from forgetmenot.twitch.login import Login

if TYPE_CHECKING:
    import twitchio

_ANSWER_WITHIN = aiohttp.ClientTimeout(total=10, sock_connect=5)
_MAX_WAIT_S = 120.0
_SILENCED_S = 30.0
# How long Twitch keeps videos, by kind of account. With Prime or Turbo, which nobody can ask for,
# it is 60 days as well.
VIDEOS_KEPT = {"partner": 60 * DAY, "affiliate": 14 * DAY, "": 7 * DAY}
_TOKEN_INVALID = re.compile(r"invalid[^\"]*token", re.IGNORECASE)
Result = TypeVar("Result")


class Api:
    """A twitchio client for one account, built when it is first needed. Close it with `aclose`.

    The token is added, and renewed after a 401, in the aiohttp session below twitchio, so that one
    renewal serves all calls. There a 429 also keeps the wait that Twitch asks for, and a 5xx is
    raised at once: twitchio would wait three seconds and repeat the call.
    """

    def __init__(self, login: Login, settings: Callable[[], Settings]) -> None:
        self.login = login
        self._settings = settings
        self._session: aiohttp.ClientSession | None = None
        self._client: twitchio.Client | None = None
        self._build_lock = asyncio.Lock()

    async def client(self) -> "twitchio.Client":
        """Return the client. Raises TwitchLoginNeeded if `client_id` is not set."""
        async with self._build_lock:
            if self._client is None:
                self._client = await self._build()
            return self._client

    async def _build(self) -> "twitchio.Client":
        twitch = self._settings().twitch
        if not twitch.client_id:
            raise TwitchLoginNeeded("`client_id` in the table [twitch] is not set.")
        await load_off_the_loop("twitchio")
        import twitchio
        from twitchio.eventsub import websockets
        from twitchio.http import Route

        # Its warning advertises an extra that is not needed.
        logging.getLogger("twitchio.client").setLevel(logging.ERROR)
        # twitchio has one server for all its clients.
        Route.BASE = twitch.helix_url
        Route.ID_BASE = twitch.id_url
        if twitch.server:
            websockets.WSS = twitch.irc_url.removesuffix("irc") + "eventsub"
        self._session = web_session(_ANSWER_WITHIN, (self._authorised,))
        return twitchio.Client(client_id=twitch.client_id, session=self._session)

    async def user_id(self) -> str:
        """Return the id of the account. Raises TwitchError."""
        token = await self.login.token()
        # A log-in that was just made does not know yet whose it is.
        if not token.user_id:
            token = await self.login.validate()
        return token.user_id

    async def aclose(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def _authorised(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        """Make a request with the account's token, and once more with a renewed one if Twitch says that it is invalid.

        Raises TwitchError, also for a limit and a fault of Twitch's.
        """
        with _nothing_done():
            token = await self.login.token()
        _authorise(request, token)
        answer = await handler(request)
        # A 401 may also mean a missing right or another app's id, which a new token would not help.
        if answer.status == 401 and _TOKEN_INVALID.search(await answer.text()):
            answer.release()
            with _nothing_done():
                token = await self.login.renew(token)
            _authorise(request, token)
            answer = await handler(request)
        if answer.status == 429 or answer.status >= 500:
            answer.close()
            wait_s = _wait_s(answer)
            raise from_status(answer.status, "", "do that now", wait_s)
        return answer


def _authorise(request: aiohttp.ClientRequest, token: Token) -> None:
    request.headers["Authorization"] = f"Bearer {token.access}"


@contextlib.contextmanager
def _nothing_done() -> Iterator[None]:
    """Turn a lost answer of the block into TwitchUnavailable.

    The block renews the log-in, before the request itself goes out: so nothing was done on Twitch, and the caller must
    not take the action for one that may have been carried out.
    """
    try:
        yield
    except AnswerLost as error:
        raise TwitchUnavailable(str(error)) from None


def _wait_s(answer: aiohttp.ClientResponse) -> float:
    """Return the seconds until Twitch's rate limit is lifted.

    Both times are Twitch's own, so a wrong PC clock makes no long wait.
    """
    try:
        sent = parsedate_to_datetime(answer.headers["Date"])
        lifted_at = float(answer.headers["Ratelimit-Reset"])
    except (KeyError, ValueError, TypeError):
        return 1.0
    wait_s = lifted_at - sent.timestamp()
    return min(max(wait_s, 1.0), _MAX_WAIT_S)


class Helix:
    """What the bot does on Twitch.

    What only the broadcaster may do is done with the broadcaster's log-in, or with the bot's if it
    is the channel's own account.

    `chat_room` returns the id of the channel whose chat is read, empty until it is known. Nothing
    is done in another one. `moderates` returns whether chat shows that the bot moderates it; None
    until that is known.
    """

    def __init__(
        self,
        *,
        settings: Callable[[], Settings],
        bot: Login,
        broadcaster: Login | None = None,
        chat_room: Callable[[], str] = str,
        moderates: Callable[[], bool | None] = lambda: None,
    ) -> None:
        self._settings = settings
        self._chat_room = chat_room
        self._moderates = moderates
        self._bot = Api(bot, settings)
        self._broadcaster: Api | None = None
        if broadcaster is not None:
            self._broadcaster = Api(broadcaster, settings)
        # The channel's id, once Twitch was asked for it.
        self._room = ""

    @property
    def _channel(self) -> str:
        """Return the channel's login."""
        return login_of(self._settings().twitch.channel)

    async def aclose(self) -> None:
        """Give back the connections."""
        await self._bot.aclose()
        if self._broadcaster is not None:
            await self._broadcaster.aclose()

    async def room_id(self) -> str:
        """Return the channel's id.

        Raises TwitchRefused if there is no such channel, or chat is read in another one.
        """
        if not self._room:
            self._room = await self._id_by_name(self._channel)
        chat_room = self._chat_room()
        # A channel can be renamed, and its old name taken by somebody else, while the bot runs.
        if chat_room and chat_room != self._room:
            # The name may belong to another account now: it is looked up again next time.
            self._room = ""
            raise TwitchRefused(reason("other_channel"))
        return self._room

    async def _id_by_name(self, channel: str) -> str:
        client = await self._bot.client()
        own_id = await self._bot.user_id()
        with translated("look up a name"):
            users = await client.fetch_users(logins=[channel], token_for=own_id)
        if not users:
            raise TwitchRefused(reason("chat_no_channel", channel=channel))
        return users[0].id

    async def channel_state(self) -> ChannelState:
        """Return title, category and whether the channel is live. Raises TwitchError."""
        client = await self._bot.client()
        own_id = await self._bot.user_id()
        room = await self.room_id()
        with translated("ask how the channel is"):
            info = await client.fetch_channel(room, token_for=own_id)
            streams = await client.fetch_streams(
                user_ids=[room], token_for=own_id, first=1
            )
            title = info.title if info is not None else ""
            category = info.game_name if info is not None else ""
            if not streams:
                return ChannelState(live=False, title=title, category=category)
            stream = streams[0]
            return ChannelState(
                live=True,
                title=stream.title or title,
                category=stream.game_name or category,
                started_at=_ms(stream.started_at),
                stream_id=stream.id,
            )

    async def videos(self) -> list[Video]:
        """Return the channel's newest broadcasts, and until when Twitch keeps them.

        Raises TwitchError.
        """
        client = await self._bot.client()
        own_id = await self._bot.user_id()
        room = await self.room_id()
        videos = []
        with translated("look up videos"):
            users = await client.fetch_users(ids=[room], token_for=own_id)
            account_kind = users[0].broadcaster_type if users else ""
            # A kind that Twitch has since invented: the shortest time promises nothing false.
            kept_ms = VIDEOS_KEPT.get(account_kind, VIDEOS_KEPT[""])
            archive = client.fetch_videos(
                user_id=room,
                type="archive",
                first=20,
                max_results=20,
                token_for=own_id,
            )
            async for video in archive:
                created_at = _ms(video.created_at)
                videos.append(Video(int(video.id), created_at, created_at + kept_ms))
        return videos

    async def lacks(self, scopes: Mapping[Account, Collection[str]]) -> str:
        """Return what is missing for an action that needs these rights, as a reason; "" if nothing.

        Twitch is not asked.
        """
        if not await self._bot.login.exists():
            return reason("bot_not_in")
        bot_token = await self._bot.login.token()
        bot_scopes = scopes.get(Account.BOT, ())
        needs_moderator = any(scope.startswith("moderator:") for scope in bot_scopes)
        # A broadcaster has every right of a moderator, without that badge.
        is_own_channel = bot_token.login == self._channel
        if needs_moderator and not is_own_channel and self._moderates() is False:
            return reason("not_moderator", name=bot_token.login)
        streamer_token = bot_token if is_own_channel else None
        if self._broadcaster is not None and await self._broadcaster.login.exists():
            streamer_token = await self._broadcaster.login.token()
        streamer_scopes = scopes.get(Account.BROADCASTER, ())
        if streamer_scopes and streamer_token is None:
            return reason("needs_streamer")
        missing_scope = _missing_scope(bot_scopes, bot_token)
        if not missing_scope and streamer_token is not None:
            missing_scope = _missing_scope(streamer_scopes, streamer_token)
        if not missing_scope:
            return ""
        return reason("needs_right", scope=missing_scope)

    async def is_immune(self, user_id: str) -> bool:
        """Return whether this viewer is the broadcaster, a moderator or a VIP.

        Needs the broadcaster's log-in. Raises TwitchError.
        """
        # A broadcaster is in neither of Twitch's two lists.
        if user_id == await self.room_id():
            return True
        streamer = await self._streamer()
        _, channel = await self._actor_and_channel(streamer)
        with translated("look up moderators"):
            moderators = await channel.fetch_moderators(user_ids=[user_id])
            if moderators:
                return True
            vips = await channel.fetch_vips(user_ids=[user_id])
        return bool(vips)

    async def say(self, text: str, reply_to: str | None = None) -> Outcome:
        """Send one message of at most 500 characters. The outcome says why it was not shown.

        Raises TwitchError.
        """
        me, channel = await self._actor_and_channel(self._bot)
        # twitchio would raise ValueError, which looks like a broken answer: the message may be out.
        if len(text) > 500:
            return dropped("msg_too_long")
        from twitchio.exceptions import MessageRejectedError

        try:
            with translated("send a message"):
                try:
                    sent = await channel.send_message(
                        text, me, token_for=me, reply_to_message_id=reply_to
                    )
                except MessageRejectedError as error:
                    # As a rate limit: the message is kept, and nothing else is sent meanwhile.
                    if DROPS.get(error.code or "") == TOO_FAST:
                        raise TwitchRateLimited(TOO_FAST, _SILENCED_S) from None
                    return dropped(error.code, error.message)
                if not sent.sent:
                    return dropped(None)
                return Outcome(OutcomeKind.DONE, "", sent.id)
        except TwitchRefused as error:
            return Outcome(OutcomeKind.REFUSED, str(error))
        except AnswerLost as error:
            return Outcome(OutcomeKind.UNKNOWN, str(error))

    async def announce(self, text: str) -> Outcome:
        """Post an announcement."""
        return await self._act(
            "announce that",
            lambda me, channel: channel.send_announcement(
                moderator=me,
                message=text,
                color="primary",
                token_for=me,
            ),
        )

    async def timeout(
        self,
        user_id: str,
        seconds: int,
        reason: str,
    ) -> Outcome:
        """Time a viewer out."""
        return await self._act(
            "time a viewer out",
            lambda me, channel: channel.timeout_user(
                moderator=me,
                user=user_id,
                duration=seconds,
                reason=reason or None,
                token_for=me,
            ),
        )

    async def untimeout(self, user_id: str) -> Outcome:
        """Lift a timeout or a ban."""
        return await self._act(
            "lift a timeout",
            lambda me, channel: channel.unban_user(
                moderator=me, user_id=user_id, token_for=me
            ),
        )

    async def ban(self, user_id: str, reason: str) -> Outcome:
        """Ban a viewer until somebody lifts it."""
        return await self._act(
            "ban a viewer",
            lambda me, channel: channel.ban_user(
                moderator=me,
                user=user_id,
                reason=reason or None,
                token_for=me,
            ),
        )

    async def delete_message(self, event_id: str) -> Outcome:
        """Delete one message. Never more: without an id Twitch would clear the whole chat."""
        if not event_id:
            return Outcome(OutcomeKind.REFUSED, "No message was named.")
        return await self._act(
            "delete a message",
            lambda me, channel: channel.delete_chat_messages(
                moderator=me, message_id=event_id, token_for=me
            ),
        )

    async def set_slow_mode(self, seconds: int | None) -> Outcome:
        """Switch slow mode on (3–120 s between messages), or off with None."""
        return await self._act(
            "change slow mode",
            lambda me, channel: channel.update_chat_settings(
                me,
                slow_mode=seconds is not None,
                slow_mode_wait_time=seconds,
                token_for=me,
            ),
        )

    async def set_emote_only(self, *, on: bool) -> Outcome:
        """Switch emote-only mode."""
        return await self._act(
            "change emote-only mode",
            lambda me, channel: channel.update_chat_settings(
                me, emote_mode=on, token_for=me
            ),
        )

    async def pin_message(self, message_id: str) -> Outcome:
        """Pin a message until the stream ends, in the place of the one that is pinned."""
        return await self._act(
            "pin a message",
            lambda me, channel: channel.pin_message(
                message_id=message_id, moderator=me, token_for=me
            ),
        )

    async def shoutout(self, user_id: str) -> Outcome:
        """Give a shoutout to another broadcaster."""
        return await self._act(
            "give a shoutout",
            lambda me, channel: channel.send_shoutout(
                to_broadcaster=user_id, moderator=me, token_for=me
            ),
        )

    async def create_marker(self, description: str) -> Outcome:
        """Mark this moment of the stream. Needs the broadcaster's log-in."""
        api = await self._streamer()
        # Twitch takes no more, and no empty one.
        shortened = description[:140] or None
        return await self._act(
            "set a marker",
            lambda me, channel: channel.create_stream_marker(
                token_for=me, description=shortened
            ),
            api=api,
        )

    async def create_clip(self) -> Outcome:
        """Clip the last moments of the stream; the outcome's `twitch_id` is the clip's."""
        return await self._act(
            "make a clip",
            lambda me, channel: channel.create_clip(token_for=me),
            lambda clip: clip.id,
        )

    async def set_channel(
        self, *, title: str | None = None, category: str | None = None
    ) -> Outcome:
        """Change the title or the category. Needs the broadcaster's log-in."""
        api = await self._streamer()
        game_id = None
        if category is not None:
            client = await api.client()
            own_id = await api.user_id()
            with translated("look up a category"):
                game = await client.fetch_game(name=category, token_for=own_id)
                if game is None:
                    return Outcome(
                        OutcomeKind.REFUSED, "Twitch has no category with that name."
                    )
                game_id = game.id
        # twitchio takes no account here: it is always the channel's own.
        return await self._act(
            "change the channel",
            lambda _, channel: channel.modify_channel(game_id=game_id, title=title),
            api=api,
        )

    async def _streamer(self) -> Api:
        """Return the client of the channel's own account. Raises TwitchLoginNeeded."""
        if self._broadcaster is not None and await self._broadcaster.login.exists():
            return self._broadcaster
        if await self._bot.user_id() == await self.room_id():
            return self._bot
        command = "forgetmenot login --as broadcaster"
        raise TwitchLoginNeeded(
            reason("nobody_in", account=reason("broadcaster"), command=command)
        )

    async def _act(
        self,
        doing: str,
        call: Callable[[str, "twitchio.PartialUser"], Awaitable[Result]],
        id_of: Callable[[Result], str] = lambda _result: "",
        *,
        api: Api | None = None,
    ) -> Outcome:
        """Return the outcome of one call in the channel, by the bot if no `api` is passed.

        `id_of` takes the id of what was made from the call's result. Raises TwitchError.
        """
        me, channel = await self._actor_and_channel(api or self._bot)
        try:
            # Never repeated: a second timeout or clip would be a second action. An answer that was
            # lost is raised, and the executor notes "unknown".
            with translated(doing):
                result = await call(me, channel)
                return Outcome(OutcomeKind.DONE, "", id_of(result))
        except TwitchRefused as error:
            return Outcome(OutcomeKind.REFUSED, str(error))

    async def _actor_and_channel(self, api: Api) -> tuple[str, "twitchio.PartialUser"]:
        """Return the id of the account that acts, and the channel to act in."""
        own_id = await api.user_id()
        room = await self.room_id()
        client = await api.client()
        return own_id, client.create_partialuser(room)


def _ms(moment: datetime) -> int:
    return int(moment.timestamp() * 1_000)


def _missing_scope(scopes: Collection[str], token: Token) -> str:
    """Return the first of these rights that a log-in lacks; "" if it lacks none.

    A log-in whose rights Twitch has not reported yet lacks none.
    """
    if not token.scopes:
        return ""
    for scope in scopes:
        if scope not in token.scopes:
            return scope
    return ""
