"""The bot's account on Twitch: its log-ins, its hands, its ears, and what the channel is like.

Without a log-in, or after it has lapsed, the bot goes on listening anonymously; `trouble` says what to type.
"""

import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from pathlib import Path

from forgetmenot.app.bot import Bot, Myself
from forgetmenot.app.chores import Chore
from forgetmenot.clock import MINUTE, SECOND, Clock
from forgetmenot.domain.chat import Role
from forgetmenot.errors import TwitchError
from forgetmenot.memory.roles import role_of
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.auth import Login
from forgetmenot.twitch.connection import IrcConnection
from forgetmenot.twitch.helix import Helix
from forgetmenot.twitch.scopes import same_account, scopes_for
from forgetmenot.twitch.tokens import Account as Whose
from forgetmenot.twitch.tokens import Token, TokenStore

MANY_LINES = frozenset({Role.MODERATOR, Role.BROADCASTER})  # whom Twitch lets write more


@dataclass(frozen=True, slots=True)
class TwitchAccount:
    """What speaks, acts and reads. `login` validates itself by `keep_valid`, `streamer` by `keep_streamer_valid`."""

    login: Login
    streamer: Login
    helix: Helix
    ears: IrcConnection
    settings: Callable[[], Settings]

    @property
    def trouble(self) -> str:
        """What is wrong with the log-ins and what to type, or an empty text."""
        troubles = (self.login.trouble, self.streamer.trouble if self.needs_streamer() else "")
        return " ".join(trouble for trouble in troubles if trouble)

    def needs_streamer(self) -> bool:
        """Whether the settings need the streamer's account as well, and it is another one than the bot's."""
        settings = self.settings()
        one = same_account(settings) or self.login.name == settings.twitch.channel.lower().lstrip("#")
        return not one and bool(scopes_for(Whose.BROADCASTER, settings))

    async def keep_streamer_valid(self) -> None:
        """Look after the streamer's log-in for ever, while the settings need one."""
        await self.streamer.keep_valid(self.needs_streamer)

    async def myself(self) -> Myself:
        """Who is logged in; nobody, if nobody is or Twitch cannot say just now (`trouble` tells)."""
        try:
            return await self.recognised()
        except TwitchError as error:
            self.login.trouble = str(error)
            return Myself()

    async def recognised(self) -> Myself:
        """Who is logged in. Raises TwitchLoginNeeded, TwitchUnavailable."""
        token: Token = await self.login.token()
        if not token.login:
            token = await self.login.validate()
        return Myself(token.user_id, token.login)


def login_folder(database: Path) -> Path:
    """Where the log-ins of a memory's bot lie, unless the system's keyring has them."""
    return database.parent / "login"


@contextlib.asynccontextmanager
async def open_account(
    settings: Callable[[], Settings], folder: Path, clock: Clock, *, use_keyring: bool = True
) -> AsyncIterator[TwitchAccount]:
    """Build it; nothing is asked of Twitch yet. `folder` is where tokens lie that the keyring does not take."""
    store = TokenStore(folder, use_keyring=use_keyring)
    login = Login(account=Whose.BOT, store=store, settings=settings, clock=clock)
    streamer = Login(account=Whose.BROADCASTER, store=store, settings=settings, clock=clock)
    helix = Helix(settings=settings, bot=login, broadcaster=streamer)
    ears = IrcConnection(settings=settings, clock=clock, login=login.irc)
    try:
        yield TwitchAccount(login, streamer, helix, ears, settings)
    finally:
        await helix.aclose()


def watch_channel(bot: Bot, account: TwitchAccount) -> None:
    """Add the chores that need an account: who we are, and how the channel is; how much we may write."""
    bot.outbox.pace.wide = lambda: role_of(account.ears.own_badges or frozenset()) in MANY_LINES

    async def look() -> None:
        await bot.channel_is(await account.helix.channel_state())

    async def recognise() -> None:
        if not bot.me.user_id:
            bot.become(await account.recognised())

    def every() -> int:
        return bot.settings().twitch.channel_state_every_s * SECOND

    bot.chores.all.insert(0, Chore("account", lambda: MINUTE, recognise))
    bot.chores.all.insert(1, Chore("channel", every, look))
