"""Runs a live bot: reads the channel, does its periodic tasks, and stops cleanly within four seconds.

At Ctrl-C or SIGTERM replies stop, all lines are written, and the rest is summarised if the model answers in time, else
at the next start. An error with one chat line affects that line only.

`start_live` runs what the settings allow (the dock alone, listening, or everything) and continues when more is set in
the dock.
"""

import asyncio
import contextlib
import gc
import signal
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec
from msgspec import Struct, field

from forgetmenot.app.account import TwitchAccount, open_account, watch_channel
from forgetmenot.app.bot import Bot, BotIdentity, open_bot
from forgetmenot.app.control import BotControl, ConnectionStatus
from forgetmenot.app.periodic_tasks import PeriodicTask, keep_going, survived
from forgetmenot.app.recap_sharing import RecapSharing
from forgetmenot.app.setup import SetupService
from forgetmenot.app.stream_input import StreamInput, Task
from forgetmenot.app.tray_icon import TrayIcon
from forgetmenot.clock import SystemClock
from forgetmenot.dock.server import open_dock
from forgetmenot.domain import ChatEvent
from forgetmenot.durations import MINUTE, SECOND
from forgetmenot.errors import (
    ForgetMeNotError,
    SettingsError,
    StoreError,
    TwitchRefused,
)
from forgetmenot.logs import log
from forgetmenot.memory.backups import Backups
from forgetmenot.secret_store import SecretStore, login_folder
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import ModelSettings, Settings
from forgetmenot.store import channel_state
from forgetmenot.twitch.chat_lines import RoomState
from forgetmenot.twitch.connection import Gap, IrcConnection

# How the line with the dock's address begins.
DOCK_ADDRESS = "The dock: "
_NAMES = ("SIGINT", "SIGTERM", "SIGBREAK")


class StopSignal:
    """The request to stop. Made in the task that starts the bot.

    During the start it breaks the start off; afterwards `asked` returns. Asking again changes nothing.
    """

    def __init__(self) -> None:
        self._requested = asyncio.Event()
        self._start = asyncio.current_task()

    def ask(self) -> None:
        """Request the stop."""
        if not self._requested.is_set() and self._start is not None:
            # before `asked` was called nobody waits for the event: the start itself has to be broken off
            self._start.cancel()
        self._requested.set()

    @property
    def is_asked(self) -> bool:
        """Return whether a stop was requested."""
        return self._requested.is_set()

    async def asked(self) -> None:
        """Mark the start as finished and wait for the stop request."""
        self._start = None
        await self._requested.wait()


@contextlib.contextmanager
def on_signals() -> Iterator[StopSignal]:
    """Turn signals into a stop request while the block runs. A start that is broken off ends the block quietly."""
    ending = StopSignal()
    loop = asyncio.get_running_loop()
    with contextlib.ExitStack() as stack:
        for name in _NAMES:
            number = getattr(signal, name, None)
            # SIGBREAK is Windows' alone.
            if number is None:
                continue
            try:
                loop.add_signal_handler(number, ending.ask)
                stack.callback(loop.remove_signal_handler, number)
            # Windows, where a handler runs between any two steps of the loop.
            except NotImplementedError:
                before = signal.signal(
                    number, lambda *_: loop.call_soon_threadsafe(ending.ask)
                )
                stack.callback(signal.signal, number, before)
        try:
            yield ending
        except asyncio.CancelledError:
            if not ending.is_asked:
                raise


# closing a console window on Windows leaves a program about 5 s
STOP_WITHIN_S = 3.6
# less than the minute that it counts
LOOK_EVERY = 45 * SECOND
# how long everything else waits until the channel is joined; it is there sooner, or Twitch cannot be reached
CHAT_FIRST_S = 3.0
# a change in the dock is seen while its user still looks at the button
LOOK_AT_SETTINGS_S = 0.5


class _Session(Struct, frozen=True):
    """What a bot is started with; it works until the end is asked for or what it is built from has changed."""

    settings: LiveSettings
    path: Path
    report: Callable[[str], None]
    opened: Callable[[str], None]
    setup: SetupService
    ending: StopSignal
    built_from: tuple[object, ...]
    clock: SystemClock = field(default_factory=SystemClock)

    async def until_changed(self) -> None:
        """Wait until the end is asked for, or until what the connection and the model are built from has changed."""
        while _built_from(self.settings) == self.built_from:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(LOOK_AT_SETTINGS_S):
                    return await self.ending.asked()
        return None


def _built_from(settings: LiveSettings) -> tuple[object, ...]:
    current = settings()
    return current.twitch, current.model, current.hearing, settings.generation


async def start_live(
    settings: LiveSettings,
    path_of: Callable[[str], Path],
    report: Callable[[str], None],
    opened: Callable[[str], None] = lambda _address: None,
    start_options: Sequence[str] = (),
    tray_command: Sequence[str] = (),
    show_again: Callable[[], None] = lambda: None,
) -> None:
    """`forgetmenot start`: the bot, a listener or the dock alone, as the settings allow; restarted when they change.

    `path_of` gives the memory's file for a channel; `opened` gets the dock's address; `start_options`: what starts it
    like this with the computer. `tray_command`: the process of the icon beside the clock, if there is to be one;
    `show_again` opens the dock from it. If Twitch refuses the channel, the dock stays open and says why.
    """
    with on_signals() as ending:
        setup = SetupService(
            settings,
            path_of("").parent,
            restarts=True,
            start_options=start_options,
            stop=ending.ask,
        )
        async with contextlib.AsyncExitStack() as stack:
            stack.push_async_callback(setup.login.aclose)
            if tray_command:
                icon = TrayIcon(tray_command, setup, show_again)
                await stack.enter_async_context(icon.shown())
            while not ending.is_asked:
                path = path_of(settings().twitch.channel)
                before = _built_from(settings)
                session = _Session(
                    settings, path, report, opened, setup, ending, before
                )
                try:
                    await _run(session)
                except (TwitchRefused, SettingsError) as error:
                    # Without a dock nobody could change it.
                    if not settings().dock.port:
                        raise
                    report(f"{error} Change it in the dock.")
                    await _run(session, trouble=str(error))
                # what this bot leaves must not be frozen with the next one (`short_pauses`)
                if not ending.is_asked:
                    gc.collect()


async def _run(session: _Session, trouble: str = "") -> None:
    """One turn. `trouble`: why nothing is read; without a channel nothing is either. Without an app it only listens."""
    settings = session.settings
    clock = session.clock
    folder = login_folder(session.path)
    reads = bool(settings().twitch.channel) and not trouble

    def built_from() -> Settings:
        if reads:
            return settings()
        # a key or model that was refused must not keep the dock, where it is corrected, from opening
        return msgspec.structs.replace(settings(), model=ModelSettings())

    async with contextlib.AsyncExitStack() as stack:
        account = None
        me = BotIdentity()
        chat = None
        if reads and settings().twitch.client_id:
            account = await stack.enter_async_context(
                open_account(settings, folder, clock)
            )
            me = await account.myself()
            chat = account.chat
        elif reads:
            chat = IrcConnection(settings=settings, clock=clock)
        helix = account.helix if account else None
        opening = open_bot(
            session.path,
            settings=built_from,
            clock=clock,
            account=helix,
            me=me,
        )
        bot = await stack.enter_async_context(opening)
        backups = Backups(
            db=bot.db,
            settings=settings,
            clock=clock,
        )
        recaps = RecapSharing(
            db=bot.db,
            settings=settings,
            clock=clock,
            secrets=SecretStore(folder),
        )

        async def back_up() -> None:
            # a copy of a damaged memory must not push out a good one
            await bot.file_check.passed()
            await backups.run_pass()

        # tasks that would delay the start: backups, and the viewers and notes that a reply will need
        bot.tasks.all += [
            PeriodicTask("backups", MINUTE, back_up),
            PeriodicTask("recaps", MINUTE, recaps.run_pass),
            PeriodicTask("people", LOOK_EVERY, bot.recall.active_viewers.look_again),
            PeriodicTask("recall", SECOND, bot.recall.prepare),
        ]
        stream = StreamInput(bot, settings, folder)
        status = ConnectionStatus(login_trouble=lambda: trouble)
        if chat is not None:
            status = ConnectionStatus(lambda: chat.state)
        if account is not None:
            watch_channel(
                bot,
                account,
                reported=lambda: stream.reports_state,
                corrected=stream.corrected,
            )
            status = ConnectionStatus(
                lambda: account.chat.state,
                lambda: account.broken,
                lambda: account.hint,
            )
        # A trouble was reported before this turn.
        if not trouble:
            session.report(_first_line(settings(), me, account))
        dock = serve_dock(
            bot,
            settings,
            status,
            session.report,
            opened=session.opened,
            setup=session.setup,
            stream=stream,
        )
        await stack.enter_async_context(dock)
        await _live(session, bot, stream, chat, account)


def _first_line(
    settings: Settings,
    me: BotIdentity,
    account: TwitchAccount | None,
) -> str:
    """Return what is reported of a bot that starts."""
    channel = settings.twitch.channel
    if me.login:
        return f"In {channel} as {me.login}, mode {settings.bot.mode}. Ctrl-C stops it."
    if not channel:
        return "No channel is set yet. Set it in the dock. Ctrl-C stops the bot."
    missing = "Nothing is sent. Ctrl-C stops it."
    if account is not None:
        missing = account.login.trouble
    return f"Listening to {channel} without a log-in. {missing}"


# The dock beside a running bot. If it cannot be opened, that is reported and the bot runs on.


@contextlib.asynccontextmanager
async def serve_dock(
    bot: Bot,
    settings: LiveSettings,
    status: ConnectionStatus,
    report: Callable[[str], None],
    *,
    opened: Callable[[str], None] = lambda _address: None,
    setup: SetupService | None = None,
    stream: StreamInput | None = None,
) -> AsyncIterator[str]:
    """Serve the dock while the block runs; yields its address or "".

    `opened` gets the address as soon as the dock answers there. `setup`: the one that outlives this bot, if any.
    `stream`: what the bot hears of the stream besides chat.
    """
    port = settings().dock.port
    if not port:
        yield ""
        return
    async with contextlib.AsyncExitStack() as stack:
        control = BotControl(bot, settings, status, stream)
        if setup is None:
            setup = SetupService(settings, bot.db.path.parent)
            stack.push_async_callback(setup.login.aclose)
        await stack.enter_async_context(setup.attached(control))
        dock = open_dock(
            control=control,
            setup=setup,
            db=bot.db,
            settings=settings,
            clock=bot.clock,
            folder=bot.db.path.parent,
            port=port,
        )
        try:
            address = await stack.enter_async_context(dock)
        except (SettingsError, StoreError) as error:
            report(f"The dock did not start. {error}")
            address = ""
        else:
            report(f"{DOCK_ADDRESS}{address}")
            opened(address)
        yield address


async def _live(
    session: _Session,
    bot: Bot,
    stream: StreamInput,
    chat: IrcConnection | None,
    account: TwitchAccount | None,
) -> None:
    """Run until a stop is requested, or the channel cannot be read at all."""
    now = bot.clock.now()
    # Counted per run; when the last one was stays.
    async with bot.db.write() as tx:
        await channel_state.put(tx, {"gaps": "0"}, now)
    try:
        with short_pauses():
            async with asyncio.TaskGroup() as group:
                tasks = []
                if chat is not None:
                    reading = keep_going(
                        "reading",
                        lambda: _read(bot, session.clock, chat),
                        but=(TwitchRefused,),
                    )
                    tasks.append(group.create_task(reading, name="reading"))
                chat_first = partial(_joined_or_late, chat)
                tasks += bot.tasks.start(group, after=chat_first)
                file_check = _after(chat_first, bot.file_check.passed)
                tasks.append(group.create_task(file_check, name="file check"))
                parts: list[Task] = []
                if account is not None:
                    parts.append(("log-in", account.keep_valid))
                    parts.append(("log-in", account.keep_streamer_valid))
                parts += stream.tasks(account)
                for name, work in parts:
                    part = _after(chat_first, partial(keep_going, name, work))
                    tasks.append(group.create_task(part))
                await session.until_changed()
                for task in tasks:
                    task.cancel()
    # The first error ends the others, which end without one.
    except BaseExceptionGroup as group_of_one:
        raise group_of_one.exceptions[0] from None
    finally:
        try:
            async with asyncio.timeout(STOP_WITHIN_S):
                # a bot that is built anew at once need not summarise what the next one will
                await bot.wind_down(summarise=session.ending.is_asked)
        except (TimeoutError, ForgetMeNotError) as error:
            log.warning(
                "stopped before everything was summarised",
                reason=str(error) or "the time for it was over",
            )


async def _joined_or_late(chat: IrcConnection | None) -> None:
    """Wait a little until the channel is joined for the first time.

    Whatever else a bot does at its start takes the processor from that: twitchio alone, which is imported for the first
    question to Twitch, a tenth of a second, and the check of a large memory seconds.
    """
    if chat is None:
        return
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(CHAT_FIRST_S):
            await chat.joined.wait()


async def _after(
    first: Callable[[], Awaitable[None]],
    work: Callable[[], Awaitable[None]],
) -> None:
    """Do some work when something else has ended."""
    await first()
    await work()


async def _read(
    bot: Bot,
    clock: SystemClock,
    chat: IrcConnection,
) -> None:
    """Read chat; never returns. Raises TwitchRefused if the channel cannot be read at all."""
    async for item in chat.events():
        if isinstance(item, Gap):
            await survived("a gap", keep_gap(bot, item))
            continue
        if isinstance(item, ChatEvent):
            # before the line is taken in: its age is judged by the clock that its own timestamp has corrected
            clock.observe(item.at)
        if isinstance(item, RoomState):
            # only the room state has the channel's Twitch id; a memory of another channel is refused here
            channel = bot.settings().twitch.channel
            now = bot.clock.now()
            await channel_state.claim(bot.db, item.room_id, channel, now)
        await survived("a line of chat", bot.hear(item))


def check_channel(settings: Settings) -> None:
    """Raise SettingsError if no channel is set."""
    if not settings.twitch.channel:
        raise SettingsError(
            "No channel is set. Set it in the dock, which `forgetmenot start` opens, or as `channel` in the table"
            " [twitch] of your settings file."
        )


SWITCH_S = 0.0005
# Objects made between two collections: a reply makes some thousand, and most are gone when it ends.
YOUNG = 5_000


@contextlib.contextmanager
def short_pauses() -> Iterator[None]:
    """Keep threads and garbage collection from holding the event loop.

    Otherwise a thread that builds postings holds the loop for 5 ms at a time, and a full collection, which walks every
    imported module, for 15 to 50 ms.
    """
    before = sys.getswitchinterval()
    thresholds = gc.get_threshold()
    sys.setswitchinterval(SWITCH_S)
    # what is imported and wired by now lives until the end: no later collection walks over it
    gc.freeze()
    gc.set_threshold(YOUNG, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
        sys.setswitchinterval(before)


# A connection made anew on purpose, as for a log-in, takes less.
SHORTEST_GAP = 3 * SECOND


async def keep_gap(bot: Bot, gap: Gap) -> None:
    """Store a stretch in which chat was not heard, for health and `!bot status`. Raises StoreError.

    One of less than three seconds is no more than logged.
    """
    length = gap.to_ms - gap.from_ms
    log.warning(
        "chat was not heard",
        seconds=length // SECOND,
        reason=gap.reason,
    )
    if length < SHORTEST_GAP:
        return
    earlier_gaps = await channel_state.read(bot.db, "gaps")
    gaps = int(earlier_gaps or 0) + 1
    values = {
        "gaps": str(gaps),
        "gap_from": str(gap.from_ms),
        "gap_to": str(gap.to_ms),
        "gap_reason": gap.reason,
    }
    async with bot.db.write() as tx:
        await channel_state.put(tx, values, bot.clock.now())
