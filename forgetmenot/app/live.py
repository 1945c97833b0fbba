"""A live bot: reads the channel for ever, does its chores, and stops cleanly within four seconds.

Ctrl-C and SIGTERM end it: no more replies, what was heard is on disk, and the remainder is summarised if the model
answers in time; else it is kept for the next start. What goes wrong with one line of chat ends that line only.
"""

import asyncio
import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

from forgetmenot.app.account import TwitchAccount, login_folder, open_account, watch_channel
from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.app.chores import Chore, keep_going, survived
from forgetmenot.app.control import Surroundings
from forgetmenot.app.ending import Ending, on_signals
from forgetmenot.app.gaps import begin_counting, keep_gap
from forgetmenot.app.interpreter import short_pauses
from forgetmenot.app.served import served
from forgetmenot.clock import MINUTE, SECOND, SystemClock
from forgetmenot.domain.chat import ChatEvent
from forgetmenot.errors import ForgetMeNotError, SettingsError, TwitchRefused
from forgetmenot.logs import log
from forgetmenot.memory.copies.backups import Backups
from forgetmenot.settings.live import LiveSettings
from forgetmenot.settings.schema import Settings
from forgetmenot.twitch.connection import Gap, IrcConnection

STOP_WITHIN_S = 3.6
LOOK_EVERY = 45 * SECOND  # less than the minute that it counts


async def run_live(settings: LiveSettings, path: Path, tell: Callable[[str], None]) -> None:
    """`forgetmenot run`. Raises what is expected to go wrong at start; later troubles are told and survived."""
    check_channel(settings())
    clock = SystemClock()
    with on_signals() as ending:
        async with open_account(settings, login_folder(path), clock) as account:
            me = await account.myself()
            hands = account.helix
            async with open_bot(path, "run", settings=settings, clock=clock, account=hands, me=me) as bot:
                keep_backups(bot)
                keep_looking_around(bot)
                if settings().twitch.client_id:
                    watch_channel(bot, account)
                tell(_greeting(bot, account))
                around = Surroundings("run", lambda: account.ears.state, lambda: account.trouble)
                async with served(bot, settings, around, tell):
                    await _live(bot, clock, ending, account.ears, account)


async def listen_live(settings: LiveSettings, path: Path, tell: Callable[[str], None]) -> None:
    """`forgetmenot listen`: anonymous, read-only."""
    check_channel(settings())
    clock = SystemClock()
    with on_signals() as ending:
        async with open_bot(path, "listen", settings=settings, clock=clock) as bot:
            tell(f"Listening to {settings().twitch.channel} without an account. Nothing is sent. Ctrl-C stops it.")
            ears = IrcConnection(settings=settings, clock=clock)
            async with served(bot, settings, Surroundings("listen", lambda: ears.state), tell):
                await _live(bot, clock, ending, ears)


async def _live(
    bot: Bot, clock: SystemClock, ending: Ending, ears: IrcConnection, account: TwitchAccount | None = None
) -> None:
    """Work until somebody asks for the end, or the channel cannot be read at all."""
    await begin_counting(bot)
    try:
        with _as_one_error(), short_pauses():
            async with asyncio.TaskGroup() as group:
                tasks = bot.chores.start(group)
                if account is not None:
                    for keep_valid in (account.login.keep_valid, account.keep_streamer_valid):
                        tasks.append(group.create_task(keep_going("log-in", keep_valid)))
                tasks.append(group.create_task(_reading(bot, clock, ears), name="reading"))
                await ending.asked()
                for task in tasks:
                    task.cancel()
    finally:
        await _wind_down(bot)


async def _reading(bot: Bot, clock: SystemClock, ears: IrcConnection) -> None:
    """Read for ever. Raises TwitchRefused: the channel cannot be read at all."""
    await keep_going("reading", lambda: _read(bot, clock, ears), but=(TwitchRefused,))


async def _read(bot: Bot, clock: SystemClock, ears: IrcConnection) -> None:
    async for item in ears.events():
        if isinstance(item, Gap):
            await survived("a gap", keep_gap(bot, item))
            continue
        if isinstance(item, ChatEvent):
            clock.observe(item.at)
        await survived("a line of chat", bot.hear(item))


@contextlib.contextmanager
def _as_one_error() -> Iterator[None]:
    """What ended the tasks, without the group around it."""
    try:
        yield
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None


async def _wind_down(bot: Bot) -> None:
    try:
        async with asyncio.timeout(STOP_WITHIN_S):
            await bot.wind_down()
    except (TimeoutError, ForgetMeNotError) as error:
        log.warning("stopped before everything was summarised; it is read at the next start", reason=str(error))


def keep_backups(bot: Bot) -> None:
    """Add the chore that copies the memory: not before the start, which it would hold up."""
    backups = Backups(db=bot.db, settings=bot.settings, clock=bot.clock)
    bot.chores.all.append(Chore("backups", lambda: MINUTE, backups.run_pass))


def keep_looking_around(bot: Bot) -> None:
    """Add the chore that sees who is around before a reply would have to."""
    bot.chores.all.append(Chore("people", lambda: LOOK_EVERY, bot.recall.crowd.look_again))


def check_channel(settings: Settings) -> None:
    """Raises SettingsError if no channel is named."""
    if not settings.twitch.channel:
        raise SettingsError(
            "No channel is named: fill in `channel` in the table [twitch] of your settings file, and name that file"
            " with --config."
        )


def _greeting(bot: Bot, account: TwitchAccount) -> str:
    mode = bot.settings().bot.mode.value
    if not bot.me.login:
        return f"Listening to {bot.settings().twitch.channel} without a log-in. {account.login.trouble}"
    return f"In {bot.settings().twitch.channel} as {bot.me.login}, mode {mode}. Ctrl-C stops it."
