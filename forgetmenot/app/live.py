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
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType

import msgspec

from forgetmenot.app.account import TwitchAccount, open_account, watch_channel
from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.app.control import BotControl, ConnectionStatus
from forgetmenot.app.periodic_tasks import PeriodicTask, keep_going, survived
from forgetmenot.app.setup import SetupService
from forgetmenot.app.stream_input import StreamInput
from forgetmenot.bridge import Bridge
from forgetmenot.clock import MINUTE, SECOND, SystemClock
from forgetmenot.dock.server import open_dock, usable_port
from forgetmenot.domain import ChatEvent
from forgetmenot.errors import ForgetMeNotError, SettingsError, StoreError, TwitchRefused
from forgetmenot.logs import log
from forgetmenot.memory.backups import Backups
from forgetmenot.secret_store import login_folder
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import ModelSettings, Settings
from forgetmenot.store import channel_state
from forgetmenot.twitch.chat_lines import RoomState
from forgetmenot.twitch.connection import Gap, IrcConnection

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
        """Whether a stop was requested."""
        return self._requested.is_set()

    async def asked(self) -> None:
        """Mark the start as finished and wait for the stop request."""
        self._start = None
        await self._requested.wait()


@contextlib.contextmanager
def on_signals() -> Iterator[StopSignal]:
    """Turn signals into a stop request while the block runs. A start that is broken off ends the block quietly."""
    ending, loop = StopSignal(), asyncio.get_running_loop()
    with contextlib.ExitStack() as stack:
        for name in _NAMES:
            number = getattr(signal, name, None)
            if number is not None:
                _handle_signal(number, ending, loop, stack)
        try:
            yield ending
        except asyncio.CancelledError:
            if not ending.is_asked:
                raise


def _handle_signal(
    number: signal.Signals, ending: StopSignal, loop: asyncio.AbstractEventLoop, stack: contextlib.ExitStack
) -> None:
    try:
        loop.add_signal_handler(number, ending.ask)
        stack.callback(loop.remove_signal_handler, number)
    except NotImplementedError:  # Windows

        def ask(_number: int, _frame: FrameType | None) -> None:
            # from the loop, because Python runs a signal handler between any two steps of it
            loop.call_soon_threadsafe(ending.ask)

        stack.callback(signal.signal, number, signal.signal(number, ask))


# closing a console window on Windows leaves a program about 5 s
STOP_WITHIN_S = 3.6
LOOK_EVERY = 45 * SECOND  # less than the minute that it counts
LOOK_AT_SETTINGS_S = 0.5


@dataclass(frozen=True, slots=True)
class _Session:
    """What a bot is started with. It works until `until` returns; `opened` gets the dock's address.

    `goes_on`: the bot is built anew at once, so nothing has to be summarised at its end.
    """

    settings: LiveSettings
    path: Path
    report: Callable[[str], None]
    until: Callable[[], Awaitable[None]]
    opened: Callable[[str], None] = lambda _address: None
    clock: SystemClock = field(default_factory=SystemClock)
    setup: SetupService | None = None
    goes_on: Callable[[], bool] = lambda: False


async def listen_live(settings: LiveSettings, path: Path, report: Callable[[str], None]) -> None:
    """`forgetmenot start CHANNEL`: reads without an account until it is ended; the dock shows the chat.

    Raises expected errors at start; later ones are reported and survived.
    """
    check_channel(settings())
    with on_signals() as ending:
        await _listen(_Session(settings, path, report, ending.asked))


async def start_live(
    settings: LiveSettings,
    path_of: Callable[[str], Path],
    report: Callable[[str], None],
    opened: Callable[[str], None],
    start_options: Sequence[str] = (),
) -> None:
    """`forgetmenot start`: the bot, a listener or the dock alone, as the settings allow; restarted when they change.

    `path_of` gives the memory's file for a channel; `start_options`: what starts it like this with the computer. If
    Twitch refuses the channel, the dock stays open and says why.
    """
    with on_signals() as ending:
        setup = SetupService(settings, path_of("").parent, restarts=True, start_options=start_options, stop=ending.ask)
        try:
            while not ending.is_asked:
                until = partial(_asked_or_changed, ending, settings, _built_from(settings))
                path = path_of(settings().twitch.channel)
                session = _Session(
                    settings, path, report, until, opened, setup=setup, goes_on=lambda: not ending.is_asked
                )
                await _as_far_as_set(session)
        finally:
            await setup.login.aclose()


async def _as_far_as_set(session: _Session) -> None:
    """One turn: until the end is asked for, or something that the bot is built from has changed."""
    twitch = session.settings().twitch
    if not twitch.channel:
        session.report("No channel is set yet. Set it in the dock. Ctrl-C stops the bot.")
        return await _only_dock(session)
    try:
        await (_run(session) if twitch.client_id else _listen(session))
    except (TwitchRefused, SettingsError) as error:
        if not session.settings().dock.port:  # nobody could change it
            raise
        session.report(f"{error} Change it in the dock.")
        await _only_dock(session, str(error))
    return None


def _built_from(settings: LiveSettings) -> tuple[object, ...]:
    """What the connection and the model are built from: they are built anew when it changes."""
    return settings().twitch, settings().model, settings().hearing, settings.generation


async def _asked_or_changed(ending: StopSignal, settings: LiveSettings, before: tuple[object, ...]) -> None:
    """Wait until the end is asked for, or what the bot is built from has changed."""
    while _built_from(settings) == before:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_AT_SETTINGS_S):
                return await ending.asked()
    return None


async def _run(session: _Session) -> None:
    settings, clock = session.settings, session.clock
    async with open_account(settings, login_folder(session.path), clock) as account:
        me = await account.myself()
        async with open_bot(
            session.path, "run", settings=settings, clock=clock, account=account.helix, me=me, effects=Bridge(settings)
        ) as bot:
            backups = Backups(db=bot.db, settings=settings, clock=clock)
            # tasks that would delay the start: backups, and the viewers and notes that a reply will need
            bot.tasks.all += [
                PeriodicTask("backups", lambda: MINUTE, backups.run_pass),
                PeriodicTask("people", lambda: LOOK_EVERY, bot.recall.active_viewers.look_again),
                PeriodicTask("recall", lambda: SECOND, bot.recall.prepare),
            ]
            stream = StreamInput(bot, settings, login_folder(session.path))
            if settings().twitch.client_id:
                watch_channel(bot, account, reported=lambda: stream.reports_state)
            session.report(_greeting(bot, account))
            status = ConnectionStatus("run", lambda: account.chat.state, lambda: account.broken, lambda: account.hint)
            async with _dock(session, bot, status, stream):
                await _live(session, bot, stream, account.chat, account)


async def _listen(session: _Session) -> None:
    settings, clock = session.settings, session.clock
    async with open_bot(session.path, "listen", settings=settings, clock=clock) as bot:
        channel = settings().twitch.channel
        session.report(f"Listening to {channel} without an account. Nothing is sent. Ctrl-C stops it.")
        chat = IrcConnection(settings=settings, clock=clock)
        status = ConnectionStatus("listen", lambda: chat.state)
        stream = StreamInput(bot, settings, login_folder(session.path))
        async with _dock(session, bot, status, stream):
            await _live(session, bot, stream, chat)


async def _only_dock(session: _Session, trouble: str = "") -> None:
    """The memory and its upkeep without a channel or a model. `trouble`: why there is none."""
    settings = session.settings

    def offline() -> Settings:
        # a key or model that was refused must not keep the dock, where it is corrected, from opening
        return msgspec.structs.replace(settings(), model=ModelSettings())

    async with open_bot(session.path, "start", settings=offline, clock=session.clock) as bot:
        status = ConnectionStatus("start", login_trouble=lambda: trouble)
        stream = StreamInput(bot, settings, login_folder(session.path))
        async with _dock(session, bot, status, stream):
            await _live(session, bot, stream)


def _dock(
    session: _Session, bot: Bot, status: ConnectionStatus, stream: StreamInput
) -> contextlib.AbstractAsyncContextManager[str]:
    return serve_dock(
        bot, session.settings, status, session.report, opened=session.opened, setup=session.setup, stream=stream
    )


# The dock beside a running bot. If it cannot be opened, that is reported and the bot runs on.


@contextlib.asynccontextmanager
async def serve_dock(
    bot: Bot,
    settings: LiveSettings,
    status: ConnectionStatus,
    report: Callable[[str], None],
    *,
    any_port: bool = False,
    opened: Callable[[str], None] = lambda _address: None,
    setup: SetupService | None = None,
    stream: StreamInput | None = None,
) -> AsyncIterator[str]:
    """Serve the dock while the block runs; yields its address or "". `any_port`: another port will do if it is taken.

    `opened` gets the address as soon as the dock answers there. `setup`: the one that outlives this bot, if any.
    `stream`: what the bot hears of the stream besides chat.
    """
    wanted = settings().dock
    if not wanted.port:
        yield ""
        return
    port = usable_port(wanted.port) if any_port else wanted.port
    async with contextlib.AsyncExitStack() as stack:
        control = BotControl(bot, settings, status, stream)
        if setup is None:
            setup = SetupService(settings, bot.db.path.parent)
            stack.push_async_callback(setup.login.aclose)
        stack.enter_context(setup.attached(bot, control))
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
            report(f"The dock: {address}")
            opened(address)
        yield address


async def _live(
    session: _Session,
    bot: Bot,
    stream: StreamInput,
    chat: IrcConnection | None = None,
    account: TwitchAccount | None = None,
) -> None:
    """Run until a stop is requested, or the channel cannot be read at all."""
    await begin_counting(bot)
    try:
        with _as_one_error(), short_pauses():
            async with asyncio.TaskGroup() as group:
                tasks = bot.tasks.start(group)
                if account is not None:
                    for keep_valid in (account.keep_valid, account.keep_streamer_valid):
                        tasks.append(group.create_task(keep_going("log-in", keep_valid)))
                for name, work in stream.tasks(account):
                    tasks.append(group.create_task(keep_going(name, work)))
                if chat is not None:
                    # last, so that the tasks that writing depends on run when the first line comes
                    reading = keep_going("reading", lambda: _read(bot, session.clock, chat), but=(TwitchRefused,))
                    tasks.append(group.create_task(reading, name="reading"))
                await session.until()
                for task in tasks:
                    task.cancel()
    finally:
        try:
            async with asyncio.timeout(STOP_WITHIN_S):
                await bot.wind_down(summarise=not session.goes_on())
        except (TimeoutError, ForgetMeNotError) as error:
            log.warning("stopped before everything was summarised", reason=str(error) or "the time for it was over")


async def _read(bot: Bot, clock: SystemClock, chat: IrcConnection) -> None:
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
            await channel_state.claim(bot.db, item.room_id, bot.settings().twitch.channel, bot.clock.now())
        await survived("a line of chat", bot.hear(item))


@contextlib.contextmanager
def _as_one_error() -> Iterator[None]:
    """The error that ended the tasks, without its exception group."""
    try:
        yield
    except BaseExceptionGroup as group:
        raise group.exceptions[0] from None


def check_channel(settings: Settings) -> None:
    """Raise SettingsError if no channel is set."""
    if not settings.twitch.channel:
        raise SettingsError(
            "No channel is set. Set it in the dock, which `forgetmenot start` opens, or as `channel` in the table"
            " [twitch] of your settings file."
        )


def _greeting(bot: Bot, account: TwitchAccount) -> str:
    mode = bot.settings().bot.mode.value
    if not bot.me.login:
        return f"Listening to {bot.settings().twitch.channel} without a log-in. {account.login.trouble}"
    return f"In {bot.settings().twitch.channel} as {bot.me.login}, mode {mode}. Ctrl-C stops it."


# Settings of the interpreter that keep it from holding the event loop. Made once, when everything is wired.


SWITCH_S = 0.0005
YOUNG = 5_000  # objects made between two collections: a reply makes some thousand, and most are gone when it ends


@contextmanager
def short_pauses() -> Iterator[None]:
    """Keep threads and garbage collection from holding the event loop.

    Otherwise a thread that builds postings holds the loop for 5 ms at a time, and a full collection, which walks every
    imported module, for 15 to 50 ms.
    """
    before, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(SWITCH_S)
    gc.collect()
    # what is imported and wired by now lives until the end: no later collection walks over it
    gc.freeze()
    gc.set_threshold(YOUNG, *thresholds[1:])
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.unfreeze()
        sys.setswitchinterval(before)


# The last stretch in which chat was not heard, and how many there were since the start.


async def begin_counting(bot: Bot) -> None:
    """Reset the number of gaps for a new run; the last gap is kept."""
    async with bot.db.write() as tx:
        await channel_state.put(tx, {"gaps": "0"}, bot.clock.now())


async def keep_gap(bot: Bot, gap: Gap) -> None:
    """Store a gap, for health and `!bot status`. Raises StoreError."""
    log.warning("chat was not heard", seconds=(gap.to_ms - gap.from_ms) // SECOND, reason=gap.reason)
    count = int(await channel_state.read(bot.db, "gaps") or 0) + 1
    values = {"gap_from": str(gap.from_ms), "gap_to": str(gap.to_ms), "gap_reason": gap.reason}
    async with bot.db.write() as tx:
        await channel_state.put(tx, {"gaps": str(count), **values}, bot.clock.now())
