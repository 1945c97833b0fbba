"""What the bot does on Twitch, through Helix: it speaks, moderates, and asks how the channel is.

Fills ports.ChatOut and ports.Moderation. Twitch's "no" to an action is an Outcome of kind REFUSED, also where the
log-in lacks a right it raises TwitchLoginNeeded, a network that fails raises TwitchUnavailable, and a message whose
answer was lost is UNKNOWN: it may have been sent, so it must not be sent again. Never repeats an action by itself.
"""

import asyncio
import contextlib
import logging
import re
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping
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
from forgetmenot.network import by_proxy, trusted
from forgetmenot.secret_store import Account, Token
from forgetmenot.settings.schema import Settings
from forgetmenot.startup import load_off_the_loop
from forgetmenot.twitch.errors import DROPS, TOO_FAST, AnswerLost, dropped, from_status, translated
from forgetmenot.twitch.login import Login

if TYPE_CHECKING:
    import twitchio

_ANSWER_WITHIN = aiohttp.ClientTimeout(total=10, sock_connect=5)
_LONGEST_WAIT_S = 120.0
_SILENCED_S = 30.0
# By kind of account; with Prime or Turbo, which nobody can ask for, 60 days as well.
VIDEOS_KEPT = {"partner": 60 * DAY, "affiliate": 14 * DAY, "": 7 * DAY}
_ABOUT_THE_TOKEN = re.compile(r"invalid[^\"]*token", re.IGNORECASE)
Result = TypeVar("Result")


class Api:
    """A twitchio client for one account, built when it is first needed. Close it with `aclose`.

    The token is added, and renewed after a 401, in the aiohttp session below twitchio, so that one renewal serves all
    calls. There a 429 also keeps the wait that Twitch asks for, and a 5xx is raised at once, where twitchio would wait
    three seconds and repeat the call.
    """

    def __init__(self, login: Login, settings: Callable[[], Settings]) -> None:
        self.login = login
        self._settings = settings
        self._session: aiohttp.ClientSession | None = None
        self._client: twitchio.Client | None = None
        self._building = asyncio.Lock()

    async def client(self) -> "twitchio.Client":
        """The client. Raises TwitchLoginNeeded if `client_id` is not set."""
        async with self._building:
            if self._client is not None:
                return self._client
            settings = self._settings()
            if not settings.twitch.client_id:
                raise TwitchLoginNeeded("`client_id` in the table [twitch] is not set.")
            await load_off_the_loop("twitchio")
            import twitchio
            from twitchio.eventsub import websockets
            from twitchio.http import Route

            logging.getLogger("twitchio.client").setLevel(
                logging.ERROR
            )  # it advertises an extra that is not needed
            # it knows only one place for all its clients
            Route.BASE, Route.ID_BASE = settings.twitch.helix_url, settings.twitch.id_url
            if settings.twitch.server:
                websockets.WSS = settings.twitch.irc_url.removesuffix("irc") + "eventsub"
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(ssl=trusted()),
                timeout=_ANSWER_WITHIN,
                middlewares=(self._authorised, by_proxy),
            )
            app = settings.twitch.client_id
            self._client = twitchio.Client(
                client_id=app, session=self._session, fetch_client_user=False
            )
            return self._client

    async def user_id(self) -> str:
        """The id of who is logged in. Raises TwitchError."""
        token = await self.login.token()
        return token.user_id or (await self.login.validate()).user_id

    async def aclose(self) -> None:
        """Close the connections."""
        if self._session is not None:
            await self._session.close()

    async def _authorised(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        with _nothing_done():
            token = await self.login.token()
        request.headers["Authorization"] = f"Bearer {token.access}"
        answer = await handler(request)
        # a 401 may also mean a missing right or another app's id, which a new token would not change
        if answer.status == 401 and _ABOUT_THE_TOKEN.search(await answer.text()):
            answer.release()
            with _nothing_done():
                token = await self.login.renew(token)
            request.headers["Authorization"] = f"Bearer {token.access}"
            answer = await handler(request)
        if answer.status == 429 or answer.status >= 500:
            answer.close()
            raise from_status(answer.status, "", "do that now", _asked_wait(answer))
        return answer


@contextlib.contextmanager
def _nothing_done() -> Iterator[None]:
    """The answer to a renewal was lost, not the one to the request: what was asked for was certainly not done."""
    try:
        yield
    except AnswerLost as error:
        raise TwitchUnavailable(str(error)) from None


def _asked_wait(answer: aiohttp.ClientResponse) -> float:
    """Seconds until Twitch's limit is lifted. Both times are Twitch's own, so a wrong PC clock makes no long wait."""
    try:
        now = parsedate_to_datetime(answer.headers["Date"]).timestamp()
        return min(max(float(answer.headers["Ratelimit-Reset"]) - now, 1.0), _LONGEST_WAIT_S)
    except (KeyError, ValueError, TypeError):
        return 1.0


class Helix:
    """What the bot does on Twitch. Where no broadcaster is logged in, the bot's own log-in is used if it is the same.

    `chat_room`: the id of the channel whose chat is read, empty until it is known. Nothing is done in another one.
    `moderates`: whether chat shows that the bot moderates it; None until that is known.
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
        self._broadcaster = Api(broadcaster, settings) if broadcaster is not None else None
        self._room = ""

    async def aclose(self) -> None:
        """Give back the connections."""
        await self._bot.aclose()
        if self._broadcaster is not None:
            await self._broadcaster.aclose()

    async def room_id(self) -> str:
        """The channel's id. Raises TwitchRefused if there is no such channel, or chat is read in another one."""
        if not self._room:
            channel = self._settings().twitch.channel.lower().lstrip("#")
            client, me = await self._bot.client(), await self._bot.user_id()
            with translated("look up a name"):
                users = await client.fetch_users(logins=[channel], token_for=me)
            if not users:
                raise TwitchRefused(reason("chat_no_channel", channel=channel))
            self._room = users[0].id
        heard = self._chat_room()
        # a channel can be renamed, and its old name taken by somebody else, while the bot runs
        if heard and heard != self._room:
            self._room = ""  # the name may belong to another account now: ask again next time
            raise TwitchRefused(reason("other_channel"))
        return self._room

    async def channel_state(self) -> ChannelState:
        """Title, category and whether it is live. Raises TwitchError."""
        client, me, room = await self._bot.client(), await self._bot.user_id(), await self.room_id()
        with translated("ask how the channel is"):
            info = await client.fetch_channel(room, token_for=me)
            streams = await client.fetch_streams(user_ids=[room], token_for=me, first=1)
            title, category = (info.title, info.game_name) if info is not None else ("", "")
            if not streams:
                return ChannelState(live=False, title=title, category=category)
            stream = streams[0]
            began = int(stream.started_at.timestamp() * 1_000)
            title, category = stream.title or title, stream.game_name or category
            return ChannelState(
                live=True, title=title, category=category, started_at=began, stream_id=stream.id
            )

    async def videos(self) -> list[Video]:
        """The channel's newest broadcasts, with how long its kind of account keeps them. Raises TwitchError."""
        client, me, room = await self._bot.client(), await self._bot.user_id(), await self.room_id()
        with translated("look up videos"):
            users = await client.fetch_users(ids=[room], token_for=me)
            kept = VIDEOS_KEPT.get(users[0].broadcaster_type if users else "", VIDEOS_KEPT[""])
            listed = client.fetch_videos(
                user_id=room, type="archive", first=20, max_results=20, token_for=me
            )
            begins = [
                (int(video.id), int(video.created_at.timestamp() * 1_000)) async for video in listed
            ]
        return [Video(number, at, at + kept) for number, at in begins]

    async def lacks(self, scopes: Mapping[Account, Collection[str]]) -> str:
        """What is missing for an action that needs these rights, as a reason; empty if nothing is. Asks nobody."""
        if not await self._bot.login.exists():
            return reason("bot_not_in")
        bot = await self._bot.login.token()
        is_own = bot.login == self._settings().twitch.channel.lower().lstrip("#")
        of_bot = scopes.get(Account.BOT, ())
        needs_moderator = any(scope.startswith("moderator:") for scope in of_bot)
        if needs_moderator and not is_own and self._moderates() is False:
            return reason("not_moderator", name=bot.login)
        of_streamer = scopes.get(Account.BROADCASTER, ())
        streamer = await self._streamers_token(bot, is_own=is_own)
        if of_streamer and streamer is None:
            return reason("needs_streamer")
        missing = _missing(of_bot, bot) or _missing(of_streamer, streamer or bot)
        return reason("needs_right", scope=missing) if missing else ""

    async def _streamers_token(self, bot: Token, *, is_own: bool) -> Token | None:
        """The token of the channel's own account: of the streamer's log-in, or the bot's where it is the same."""
        if self._broadcaster is not None and await self._broadcaster.login.exists():
            return await self._broadcaster.login.token()
        return bot if is_own else None

    async def is_immune(self, user_id: str) -> bool:
        """Whether this viewer is the broadcaster, a moderator or a VIP. Needs the broadcaster's log-in."""
        room = await self.room_id()
        # a broadcaster is in neither of Twitch's two lists
        if user_id == room:
            return True
        _, channel = await self._here(await self._streamer())
        with translated("look up moderators"):
            moderators = await channel.fetch_moderators(user_ids=[user_id])
            return bool(moderators) or bool(await channel.fetch_vips(user_ids=[user_id]))

    async def say(self, text: str, reply_to: str | None = None) -> Outcome:
        """Send one message of at most 500 characters; the outcome says why it was not shown. Raises TwitchError."""
        me, channel = await self._here(self._bot)
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
                    # as a rate limit: the message is kept, and nothing else is sent meanwhile
                    if DROPS.get(error.code or "") == TOO_FAST:
                        raise TwitchRateLimited(TOO_FAST, _SILENCED_S) from None
                    return dropped(error.code, error.message)
                return Outcome(OutcomeKind.DONE, "", sent.id) if sent.sent else dropped(None)
        except TwitchRefused as error:
            return Outcome(OutcomeKind.REFUSED, str(error))
        except AnswerLost as error:
            return Outcome(OutcomeKind.UNKNOWN, str(error))

    async def announce(self, text: str) -> Outcome:
        """Post an announcement."""
        return await self._act(
            "announce that",
            lambda me, here: here.send_announcement(
                moderator=me, message=text, color="primary", token_for=me
            ),
        )

    async def timeout(self, user_id: str, seconds: int, reason: str) -> Outcome:
        """Time a viewer out."""
        why = reason or None
        return await self._act(
            "time a viewer out",
            lambda me, here: here.timeout_user(
                moderator=me, user=user_id, duration=seconds, reason=why, token_for=me
            ),
        )

    async def untimeout(self, user_id: str) -> Outcome:
        """Lift a timeout or a ban."""
        return await self._act(
            "lift a timeout",
            lambda me, here: here.unban_user(moderator=me, user_id=user_id, token_for=me),
        )

    async def ban(self, user_id: str, reason: str) -> Outcome:
        """Ban a viewer until somebody lifts it."""
        return await self._act(
            "ban a viewer",
            lambda me, here: here.ban_user(
                moderator=me, user=user_id, reason=reason or None, token_for=me
            ),
        )

    async def delete_message(self, event_id: str) -> Outcome:
        """Delete one message. Never more: without an id Twitch would clear the whole chat."""
        if not event_id:
            return Outcome(OutcomeKind.REFUSED, "No message was named.")
        return await self._act(
            "delete a message",
            lambda me, here: here.delete_chat_messages(
                moderator=me, message_id=event_id, token_for=me
            ),
        )

    async def set_slow_mode(self, seconds: int | None) -> Outcome:
        """Switch slow mode on (3–120 s between messages), or off with None."""
        return await self._act(
            "change slow mode",
            lambda me, here: here.update_chat_settings(
                me, slow_mode=seconds is not None, slow_mode_wait_time=seconds, token_for=me
            ),
        )

    async def set_emote_only(self, *, on: bool) -> Outcome:
        """Switch emote-only mode."""
        return await self._act(
            "change emote-only mode",
            lambda me, here: here.update_chat_settings(me, emote_mode=on, token_for=me),
        )

    async def shoutout(self, user_id: str) -> Outcome:
        """Give a shoutout to another broadcaster."""
        return await self._act(
            "give a shoutout",
            lambda me, here: here.send_shoutout(to_broadcaster=user_id, moderator=me, token_for=me),
        )

    async def create_marker(self, description: str) -> Outcome:
        """Mark this moment of the stream. Needs the broadcaster's log-in."""
        api = await self._streamer()
        return await self._act(
            "set a marker",
            lambda me, here: here.create_stream_marker(
                token_for=me, description=description[:140] or None
            ),
            api=api,
        )

    async def create_clip(self) -> Outcome:
        """Clip the last moments of the stream; the outcome's `twitch_id` is the clip's."""
        return await self._act(
            "make a clip", lambda me, here: here.create_clip(token_for=me), lambda clip: clip.id
        )

    async def set_channel(
        self, *, title: str | None = None, category: str | None = None
    ) -> Outcome:
        """Change the title or the category. Needs the broadcaster's log-in."""
        api, game_id = await self._streamer(), None
        if category is not None:
            client, me = await api.client(), await api.user_id()
            with translated("look up a category"):
                game = await client.fetch_game(name=category, token_for=me)
                if game is None:
                    return Outcome(OutcomeKind.REFUSED, "Twitch has no category with that name.")
                game_id = game.id
        return await self._act(
            "change the channel",
            lambda _, here: here.modify_channel(game_id=game_id, title=title),
            api=api,
        )

    async def _streamer(self) -> Api:
        if self._broadcaster is not None and await self._broadcaster.login.exists():
            return self._broadcaster
        if await self._bot.user_id() == await self.room_id():
            return self._bot
        command = "forgetmenot login --as broadcaster"
        raise TwitchLoginNeeded(reason("nobody_in", account=reason("broadcaster"), command=command))

    async def _act(
        self,
        doing: str,
        call: Callable[[str, "twitchio.PartialUser"], Awaitable[Result]],
        made: Callable[[Result], str] = lambda _result: "",
        *,
        api: Api | None = None,
    ) -> Outcome:
        """One call by who acts in the channel. `made`: the id of what it made. Raises TwitchError."""
        me, channel = await self._here(api or self._bot)
        try:
            # never repeated: a second timeout or clip would be a second action
            with translated(doing):
                return Outcome(OutcomeKind.DONE, "", made(await call(me, channel)))
        except TwitchRefused as error:
            return Outcome(OutcomeKind.REFUSED, str(error))

    async def _here(self, api: Api) -> tuple[str, "twitchio.PartialUser"]:
        """Who acts, and the channel to act in."""
        me, room = await api.user_id(), await self.room_id()
        return me, (await api.client()).create_partialuser(room)


def _missing(scopes: Collection[str], token: Token) -> str:
    """The first of these rights that a log-in lacks; "" if none, or if Twitch has not been asked for its rights yet."""
    if not token.scopes:
        return ""
    return next((scope for scope in scopes if scope not in token.scopes), "")
