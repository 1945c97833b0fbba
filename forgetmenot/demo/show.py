"""The demo: two evenings of a small channel on a loopback Twitch, through the real parts of the bot.

Real are the IRC connection, twitchio's Helix calls, SQLite, the memory and the policy; the clock is moved.
Each showing begins with an empty memory.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from forgetmenot.app.account import open_account, watch_channel
from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.app.control import ConnectionStatus
from forgetmenot.app.live import on_signals, serve_dock
from forgetmenot.app.replay import begin_summary
from forgetmenot.clock import DAY, HOUR, MINUTE, SECOND, ManualClock, SystemClock
from forgetmenot.demo import script
from forgetmenot.demo.narration import Highlight, Out
from forgetmenot.dock.server import usable_port
from forgetmenot.errors import InputError
from forgetmenot.files import instance_lock
from forgetmenot.secret_store import Account, Token, TokenStore
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import ActionSettings, ClassMode, Mode, Settings
from forgetmenot.sim.twitch import TwitchSim
from forgetmenot.twitch.connection import Gap, IrcConnection

BOT = "forgetmenot"
EVENING = 20 * HOUR
STREAMS = (("first_stream", "the clock tower", -2 * DAY), ("second_stream", "the lighthouse", 0))


class Show(Struct, frozen=True):
    """How to show it. `out` takes a style and a line of the show; `report` a line about the program.

    `opened` gets the dock's address, `finished` the counts. `stay`: keep the dock open afterwards, until the program is
    ended; `ours`: the file is in the demo's own folder, and whatever is there may go.
    """

    settings: Settings
    out: Out
    report: Callable[[str], None] = lambda _line: None
    opened: Callable[[str], None] = lambda _address: None
    finished: Callable[[dict[str, int]], None] = lambda _summary: None
    fast: bool = False
    stay: bool = False
    ours: bool = False


async def play(path: Path, show: Show) -> None:
    """Play both evenings into the memory at `path`. Raises InputError for a file of somebody's."""
    begin_anew(path, ours=show.ours)
    now = SystemClock().now()
    tonight = now - now % DAY + EVENING
    started = tonight if tonight <= now else tonight - DAY
    clock = ManualClock(started + STREAMS[0][2])
    sim = TwitchSim(channel=script.STREAMER, now=clock.now)
    async with sim, bot_on(sim, path, clock, show.settings, show.report, show.opened) as bot:
        summary = await begin_summary(bot.db)
        highlight = Highlight(bot.db, sim.irc.said, show.out, 0 if show.fast else 1)
        await highlight.begin()
        for name, category, offset in STREAMS:
            cues, began = script.load(name), started + offset
            await clock.move_to(began)
            sim.go_live(title=f"Ladders of Ash: {category}", game="Ladders of Ash", at=began)
            await bot.tasks.catch_up()
            await _evening(sim, bot, clock, highlight, cues, began)
            if name == STREAMS[0][0]:
                await highlight.stream_ended()
        show.finished(await summary())
        if show.stay:
            await _go_on(bot, clock)


async def _evening(
    sim: TwitchSim, bot: Bot, clock: ManualClock, highlight: Highlight, cues: list[script.Cue], began: int
) -> None:
    last: dict[str, str] = {}  # the id of the last line of everybody
    for cue in cues:
        await clock.move_to(began + cue.at)
        if cue.verb == "say":
            last[cue.name] = await sim.say(cue.name, cue.text)
        elif cue.verb == "delete":
            await sim.clear_message(last[cue.name])
        else:
            await sim.timeout(cue.name, cue.number)
        # until the bot has read what was sent, has answered it, and has done what is due
        await sim.settled()
        await bot.settle()
        await bot.tasks.catch_up()
        await bot.settle()
        await highlight.report(cue)
    await clock.move_to(began + cues[-1].at + MINUTE)
    sim.go_offline()
    # half an hour: the stream counts as over, and what is left of it is summarised
    for _ in range(6):
        await clock.advance(5 * MINUTE)
        await bot.tasks.catch_up()
    # what is left is read by the model now: the next evening must not wait for a timer
    await bot.remember_all()


async def _go_on(bot: Bot, clock: ManualClock) -> None:
    """Let time pass as it does, for whoever looks at the dock, until Ctrl-C or SIGTERM."""
    with on_signals() as ending:
        asked = asyncio.create_task(ending.asked())
        while not asked.done():
            await asyncio.wait([asked], timeout=1.0)
            await clock.advance(SECOND)
            await bot.tasks.catch_up()


@asynccontextmanager
async def bot_on(
    sim: TwitchSim,
    path: Path,
    clock: ManualClock,
    settings: Settings,
    report: Callable[[str], None],
    opened: Callable[[str], None] = lambda _address: None,
) -> AsyncIterator[Bot]:
    """A bot that is logged in on that Twitch and reads it, with its dock."""
    for login in (*script.MODERATORS, BOT):
        sim.world.moderator(login)
    for login in script.VIPS:
        sim.world.vip(login)
    replace = msgspec.structs.replace
    app = replace(settings.twitch, channel=script.STREAMER, client_id=sim.client_id, bot_login=BOT, server=sim.url)
    actions = ActionSettings(class_b=ClassMode.ASK, newcomer_protection=False)
    bot_settings = replace(settings.bot, mode=Mode.MENTIONS)
    dock = replace(settings.dock, port=usable_port(settings.dock.port))
    here = LiveSettings(replace(settings, twitch=app, bot=bot_settings, actions=actions, dock=dock))
    with tempfile.TemporaryDirectory(prefix="forgetmenot-demo-") as folder:
        store = TokenStore(Path(folder), use_keyring=False)
        for account, login in ((Account.BOT, BOT), (Account.BROADCASTER, script.STREAMER)):
            granted = sim.grant(login)
            store.save(account, Token(granted.access, granted.refresh, granted.user_id, login))
        real = SystemClock()
        async with open_account(here, Path(folder), real, use_keyring=False) as twitch:
            me = await twitch.myself()
            async with open_bot(path, settings=here, clock=clock, account=twitch.helix, me=me) as bot:
                await bot.tasks.catch_up()
                watch_channel(bot, twitch)
                reading = asyncio.create_task(_read(bot, twitch.chat))
                try:
                    await sim.joined()
                    status = ConnectionStatus(lambda: twitch.chat.state, lambda: twitch.broken)
                    async with serve_dock(bot, here, status, report, opened=opened):
                        yield bot
                finally:
                    reading.cancel()
                    await asyncio.gather(reading, return_exceptions=True)


async def _read(bot: Bot, chat: IrcConnection) -> None:
    async for item in chat.events():
        if not isinstance(item, Gap):
            await bot.hear(item)


def begin_anew(path: Path, *, ours: bool) -> None:
    """Delete the memory of an earlier demo. Raises InputError for a file that may be somebody's memory."""
    if not path.exists():
        return
    if not ours:
        raise InputError(f"{path} exists already. Use another file for the demo with --db.")
    with instance_lock(path):
        for end in ("", "-wal", "-shm", ".requests"):
            path.with_name(path.name + end).unlink(missing_ok=True)
