"""The bot's Twitch account: log-ins, API client, chat connection and the state of the channel.

Without a valid log-in the bot keeps listening anonymously; `trouble` says how to log in.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from pathlib import Path

from msgspec import Struct

from forgetmenot.app.bot import Bot, BotIdentity
from forgetmenot.app.periodic_tasks import PeriodicTask
from forgetmenot.clock import Clock, SystemClock
from forgetmenot.domain import ChannelState, Role, Video
from forgetmenot.durations import DAY, MINUTE, SECOND
from forgetmenot.errors import TwitchError
from forgetmenot.languages import in_language, join_reasons
from forgetmenot.operations.actions import lacking, same_account, scopes_for
from forgetmenot.people.standing import role_of
from forgetmenot.secret_store import Account, Token, TokenStore
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import Settings
from forgetmenot.startup import load_off_the_loop
from forgetmenot.store import streams
from forgetmenot.twitch.connection import IrcConnection, Phase
from forgetmenot.twitch.helix import Helix
from forgetmenot.twitch.login import (
    DeviceCode,
    Login,
    begin_device_login,
    finish_device_login,
)

SIGN_IN_EVERY = 10 * SECOND
# How often the bot's badges are looked at while it may not write: the streamer may make it a moderator.
BADGES_EVERY = 30 * SECOND
# Twitch lets them write more messages.
ROLES_WITH_HIGH_LIMIT = frozenset({Role.MODERATOR, Role.BROADCASTER})


class TwitchAccount(Struct, frozen=True):
    """API client, chat connection and log-ins; `keep_valid` and `keep_streamer_valid` renew the log-ins."""

    login: Login
    streamer: Login
    helix: Helix
    chat: IrcConnection
    settings: Callable[[], Settings]

    @property
    def broken(self) -> str:
        """Return what is wrong with the log-ins and what to type; what was only never set up is a hint."""
        logins = [self.login]
        if self.needs_streamer():
            logins.append(self.streamer)
        troubles = [login.trouble for login in logins if not login.hint]
        return join_reasons(*troubles)

    @property
    def hint(self) -> str:
        """Return what was never set up, in words for the dock.

        What would need the streamer's own log-in is off without it.
        """
        return self.login.hint

    def needs_streamer(self) -> bool:
        """Return whether the settings need the streamer's account besides the bot's."""
        settings = self.settings()
        # Where the bot speaks as the streamer, its log-in has the streamer's rights.
        channel_login = settings.twitch.channel.lower().lstrip("#")
        if same_account(settings) or self.login.name == channel_login:
            return False
        return bool(scopes_for(Account.BROADCASTER, settings))

    async def keep_valid(self) -> None:
        """Keep the bot's log-in valid; never returns."""
        await self.login.keep_valid()

    async def keep_streamer_valid(self) -> None:
        """Keep the streamer's log-in valid while the settings need it; never returns."""
        await self.streamer.keep_valid(self.needs_streamer)

    async def sign_in_to_chat(self) -> None:
        """Sign in to chat once there is a log-in that chat has not refused. Raises TwitchError."""
        chat = self.chat
        if chat.state.phase is not Phase.CONNECTED or chat.state.login:
            return
        if not await self.login.exists():
            return
        token = await self.login.irc(chat.refused_token)
        # The same token again would be refused again.
        if token is not None and token.access != chat.refused_token:
            chat.sign_in()

    async def myself(self) -> BotIdentity:
        """Return who is logged in; an empty identity if nobody is or Twitch is unreachable (see `trouble`)."""
        try:
            return await self.recognised()
        except TwitchError as error:
            self.login.trouble = str(error)
            return BotIdentity()

    async def recognised(self) -> BotIdentity:
        """Return who is logged in. Raises TwitchLoginNeeded, TwitchUnavailable."""
        token: Token = await self.login.token()
        if not token.login:
            token = await self.login.validate()
        return BotIdentity(token.user_id, token.login)


@contextlib.asynccontextmanager
async def open_account(
    settings: Callable[[], Settings],
    folder: Path,
    clock: Clock,
    *,
    use_keyring: bool = True,
) -> AsyncIterator[TwitchAccount]:
    """Build the account without asking Twitch. `folder` holds tokens that the keyring does not take."""
    store = TokenStore(folder, use_keyring=use_keyring)

    def login_of(account: Account) -> Login:
        return Login(
            account=account,
            store=store,
            settings=settings,
            clock=clock,
            lacking=lacking,
        )

    login = login_of(Account.BOT)
    streamer = login_of(Account.BROADCASTER)
    chat = IrcConnection(
        settings=settings,
        clock=clock,
        login=login.irc,
    )
    helix = Helix(
        settings=settings,
        bot=login,
        broadcaster=streamer,
        chat_room=lambda: chat.room_id,
        moderates=lambda: _moderates(chat),
    )
    try:
        yield TwitchAccount(login, streamer, helix, chat, settings)
    finally:
        await asyncio.gather(login.aclose(), streamer.aclose())
        await helix.aclose()


def _own_role(chat: IrcConnection) -> Role | None:
    """Return what the bot's badges in chat make it; None until chat has shown them."""
    if chat.own_badges is None:
        return None
    return role_of(chat.own_badges)


def _moderates(chat: IrcConnection) -> bool | None:
    """Return whether the bot's badges in chat let it moderate; None until chat has shown them."""
    role = _own_role(chat)
    if role is None:
        return None
    return role.moderates


# How often videos of streams are looked for, for how long, and how near their begins are (ms).
VIDEOS_EVERY = 15 * MINUTE
VIDEO_WITHIN = 2 * DAY
SAME_BEGIN = 2 * MINUTE
# How often title, category and whether it is live are asked for, without and with Twitch's own reports of them.
CHANNEL_STATE_EVERY = 150 * SECOND
WHERE_REPORTED = 10 * MINUTE


def watch_channel(
    bot: Bot,
    account: TwitchAccount,
    *,
    reported: Callable[[], bool] = lambda: False,
    corrected: Callable[[ChannelState], ChannelState] = lambda state: state,
) -> None:
    """Add the tasks that need an account: own identity, channel state, send rate.

    `reported`: whether Twitch's events report the channel's state, which is asked for less often then. `corrected`:
    Twitch's answer with what was reported since.
    """

    def own_role() -> Role | None:
        return _own_role(account.chat)

    # the badges that Twitch gave the bot's own log-in in chat; before the first of them the lower limit holds
    bot.outbox.pace.moderates = lambda: own_role() in ROLES_WITH_HIGH_LIMIT
    bot.permission.role = own_role
    bot.permission.is_banned = lambda: account.chat.is_banned

    async def look() -> None:
        # Twitch's events may begin or end between two looks.
        looking.every_ms = WHERE_REPORTED if reported() else CHANNEL_STATE_EVERY
        if await account.login.exists():
            state = await account.helix.channel_state()
            await bot.channel_is(corrected(state))

    async def look_at_badges() -> None:
        if bot.permission.warning():
            account.chat.look_at_badges()

    async def recognise() -> None:
        if not await account.login.exists():
            return
        if not bot.me.user_id:
            me = await account.recognised()
            bot.become(me)
        await account.sign_in_to_chat()

    async def find_videos() -> None:
        await _find_videos(bot, account)

    looking = PeriodicTask("channel", CHANNEL_STATE_EVERY, look)
    # the first two at the beginning: the others ask who the bot is and whether the stream is on
    bot.tasks.all = [
        PeriodicTask("account", SIGN_IN_EVERY, recognise),
        looking,
        *bot.tasks.all,
        PeriodicTask("badges", BADGES_EVERY, look_at_badges),
        PeriodicTask("videos", VIDEOS_EVERY, find_videos),
    ]


async def _find_videos(bot: Bot, account: TwitchAccount) -> None:
    """Find the videos of streams, by the time at which both begin."""
    since = bot.clock.now() - VIDEO_WITHIN
    missing = await streams.without_video(bot.db, since)
    if not missing or not await account.login.exists():
        return
    videos = await account.helix.videos()
    async with bot.db.write() as tx:
        for stream_id, began_at in missing.items():
            nearest = _nearest(videos, began_at)
            if nearest is not None:
                await streams.set_video(tx, stream_id, nearest)


def _nearest(videos: list[Video], began_at: int) -> Video | None:
    """Return the video that began with a stream; None if there is none."""
    if not videos:
        return None

    def distance(video: Video) -> int:
        return abs(video.at - began_at)

    nearest = min(videos, key=distance)
    if distance(nearest) > SAME_BEGIN:
        return None
    return nearest


def login_rights(account: Account, settings: Settings) -> tuple[str, ...]:
    """Return what to ask an account for: what the settings need, and of the channel's own also Twitch's events.

    Events are subscribed as far as they were granted: nothing complains of one that is missing.
    """
    from forgetmenot.twitch.eventsub import RIGHTS

    rights = [*scopes_for(account, settings)]
    is_channels_own = account is Account.BROADCASTER or same_account(settings)
    if is_channels_own or not settings.twitch.bot_login:
        rights += RIGHTS
    return tuple(dict.fromkeys(rights))


# A log-in by code goes on while its user is elsewhere: on Twitch's page, or in another step of the set-up.


# Modules around a QR code.
BORDER = 2


async def finish_login(
    settings: Callable[[], Settings],
    store: TokenStore,
    account: Account,
    code: DeviceCode,
    scopes: tuple[str, ...],
) -> Token:
    """Wait until the code is typed, store the log-in, and return it with whose it is. Raises TwitchError, OSError."""
    token = await finish_device_login(settings(), code, scopes)
    # before anything else can go wrong: the code is spent
    await asyncio.to_thread(store.save, account, token)
    login = Login(
        account=account,
        store=store,
        settings=settings,
        clock=SystemClock(),
    )
    # an error at this point does not undo the log-in: whose it is, is asked again later
    with contextlib.suppress(TwitchError):
        return await login.validate()
    return token


class PendingLogin(Struct):
    """A log-in by code. `line`: what became of it, or empty while it waits; `until` in ms."""

    account: Account
    code: DeviceCode
    until: int
    line: str = ""
    ok: bool = False


class DeviceLogin:
    """At most one log-in at a time; the next one takes the place of the last."""

    def __init__(
        self,
        settings: LiveSettings,
        folder: Path,
        *,
        use_keyring: bool = True,
    ) -> None:
        self._settings = settings
        self._store = TokenStore(folder, use_keyring=use_keyring)
        self._login: PendingLogin | None = None
        self._waiting: asyncio.Task[None] | None = None
        self._beginning = asyncio.Lock()

    async def begin(self, account: Account, scopes: tuple[str, ...]) -> None:
        """Ask Twitch for a code, and wait for it to be typed. Raises TwitchError."""
        code = await begin_device_login(self._settings(), scopes)
        # pending() draws the code with it
        await load_off_the_loop("segno")
        # One after the other: two pages of the dock may begin at once, and only the code that is shown may log
        # somebody in.
        async with self._beginning:
            await self.aclose()
            now = SystemClock().now()
            expires_at = now + code.expires_in * SECOND
            self._login = PendingLogin(account, code, expires_at)
            work = self._finish(self._login, scopes)
            self._waiting = asyncio.create_task(work, name="log-in by code")

    async def aclose(self) -> None:
        """Wait no longer."""
        self._login = None
        waiting = self._waiting
        if waiting is not None:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)

    async def _finish(self, pending: PendingLogin, scopes: tuple[str, ...]) -> None:
        say = in_language(self._settings().bot.language)
        try:
            token = await finish_login(
                self._settings,
                self._store,
                pending.account,
                pending.code,
                scopes,
            )
        except TwitchError:
            pending.line = say("setup.code_expired")
        except OSError as error:
            pending.line = say("setup.not_saved", error=error.strerror)
        else:
            pending.ok = True
            pending.line = say("check.signed_in", login=token.login)

    def pending(self) -> dict[str, object] | None:
        """Return the log-in that waits or is done: its code, and a QR code. None if there is none."""
        login = self._login
        if login is None:
            return None
        code = login.code
        path, size = _qr_path(code.address)
        return {
            "account": login.account,
            "code": code.user_code,
            "address": code.address,
            "until": login.until,
            "qr": path,
            "size": size,
            "line": login.line,
            "ok": login.ok,
        }


def _qr_path(text: str) -> tuple[str, int]:
    """Return a QR code as an SVG path of one square for each dark module, and the modules of a side."""
    import segno

    # Not every phone reads a micro code.
    code = segno.make(text, micro=False)
    rows = list(code.matrix_iter(border=BORDER))
    squares = []
    for y, row in enumerate(rows):
        for x, is_dark in enumerate(row):
            if is_dark:
                squares.append(f"M{x} {y}h1v1h-1z")
    path = "".join(squares)
    return path, len(rows)
