"""The demo: two evenings of a small channel on a loopback Twitch, through the real parts of the bot.

Real are the IRC connection, twitchio's log-in and Helix calls, SQLite, the memory and the policy; the clock is moved.
A demo that was killed goes on where it stopped; a finished one begins anew.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from forgetmenot.app.account import open_account, watch_channel
from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.app.control import Surroundings
from forgetmenot.app.ending import on_signals
from forgetmenot.app.report import Summary, summarise
from forgetmenot.app.served import served
from forgetmenot.clock import DAY, HOUR, MINUTE, SECOND, ManualClock, SystemClock
from forgetmenot.demo import script
from forgetmenot.demo.narrator import Narrator
from forgetmenot.demo.player import Player
from forgetmenot.errors import InputError
from forgetmenot.settings.live import LiveSettings
from forgetmenot.settings.schema import ActionSettings, ClassMode, Mode, Settings
from forgetmenot.sim.twitch import TwitchSim
from forgetmenot.store import channel_state, report, streams
from forgetmenot.store.database import Database, open_database
from forgetmenot.store.lock import held
from forgetmenot.twitch.connection import Gap, IrcConnection
from forgetmenot.twitch.tokens import Account, Token, TokenStore

BOT = "forgetmenot"
PACE_S = 0.3
EVENING = 20 * HOUR
STREAMS = (
    ("first_stream", "the clock tower", -2 * DAY),
    ("second_stream", "the lighthouse", 0),
)
STARTED, FINISHED = "demo_started", "demo_finished"


@dataclass(frozen=True, slots=True)
class Show:
    """How to show it. `out` takes one line of the show, `tell` one about the program."""

    settings: Settings
    out: Callable[[str], None]
    tell: Callable[[str], None] = lambda _line: None
    fast: bool = False
    stay: bool = False  # keep the dock open afterwards, until somebody ends the program


async def play(path: Path, show: Show) -> Summary:
    """Play both evenings into the memory at `path`."""
    started, resume_at = await _where_it_stopped(path)
    clock = ManualClock(max(started + STREAMS[0][2], resume_at))
    sim = TwitchSim(channel=script.STREAMER, now=clock.now)
    async with sim, bot_on(sim, path, clock, show.settings, show.tell) as bot:
        before = await report.totals(bot.db)
        await _mark(bot.db, clock.now(), {STARTED: str(started), FINISHED: ""})
        narrator = Narrator(bot.db, clock, show.out)
        await narrator.begin()
        player = Player(sim, bot, clock, narrator.tell, 0 if show.fast else PACE_S, resume_at)
        for name, category, offset in STREAMS:
            await _evening(player, narrator, script.load(name), started + offset, f"Ladders of Ash: {category}")
        await _mark(bot.db, clock.now(), {FINISHED: "1"})
        if show.stay:
            await go_on(bot, clock)
        return await summarise(bot.db, bot.run_id, before)


async def go_on(bot: Bot, clock: ManualClock) -> None:
    """Let time pass as it does, for whoever looks at the dock, until Ctrl-C or SIGTERM."""
    with on_signals() as ending:
        asked = asyncio.create_task(ending.asked())
        while not asked.done():
            await asyncio.wait([asked], timeout=1.0)
            await clock.advance(SECOND)
            await bot.chores.catch_up()


async def _evening(player: Player, narrator: Narrator, cues: list[script.Cue], began: int, title: str) -> None:
    ends = began + cues[-1].at + MINUTE
    if ends < player.resume_at:
        return
    sim, bot, clock = player.sim, player.bot, player.clock
    narrator.title(f"stream “{title}” begins")
    await clock.move_to(began)
    sim.go_live(title=title, game="Ladders of Ash", at=began, stream_id=str(began))
    await bot.chores.catch_up()
    await player.play(cues, began)
    await clock.move_to(ends)
    sim.go_offline()
    narrator.title("the stream is over: the remainder is summarised, then the stream is recapped")
    for _ in range(6):
        await clock.advance(5 * MINUTE)
        await bot.chores.catch_up()
    await bot.remember_all()
    await narrator.tell_news()


@asynccontextmanager
async def bot_on(
    sim: TwitchSim, path: Path, clock: ManualClock, settings: Settings, tell: Callable[[str], None]
) -> AsyncIterator[Bot]:
    """A bot that is logged in on that Twitch and reads it, with its dock."""
    for login in (*script.MODERATORS, BOT):
        sim.world.moderator(login)
    for login in script.VIPS:
        sim.world.vip(login)
    here = LiveSettings(_on(sim, settings))
    with tempfile.TemporaryDirectory(prefix="forgetmenot-demo-") as folder:
        store = TokenStore(Path(folder), use_keyring=False)
        for account, login in ((Account.BOT, BOT), (Account.BROADCASTER, script.STREAMER)):
            granted = sim.grant(login)
            store.save(account, Token(granted.access, granted.refresh, granted.user_id, login))
        real = SystemClock()
        async with open_account(here, Path(folder), real, use_keyring=False) as twitch:
            me = await twitch.myself()
            async with open_bot(path, "demo", settings=here, clock=clock, account=twitch.helix, me=me) as bot:
                await bot.chores.catch_up()
                watch_channel(bot, twitch)
                reading = asyncio.create_task(_read(bot, twitch.ears))
                try:
                    await sim.joined()
                    around = Surroundings("demo", lambda: twitch.ears.state, lambda: twitch.trouble)
                    async with served(bot, here, around, tell, any_port=True):
                        yield bot
                finally:
                    reading.cancel()
                    await asyncio.gather(reading, return_exceptions=True)


async def _read(bot: Bot, ears: IrcConnection) -> None:
    async for item in ears.events():
        if not isinstance(item, Gap):
            await bot.hear(item)


def _on(sim: TwitchSim, settings: Settings) -> Settings:
    replace = msgspec.structs.replace
    twitch = replace(
        settings.twitch,
        channel=script.STREAMER,
        client_id=sim.client_id,
        bot_login=BOT,
        irc_url=sim.irc_url,
        helix_url=sim.helix_url,
        id_url=sim.id_url,
    )
    bot = replace(settings.bot, mode=Mode.MENTIONS)
    return replace(
        settings, twitch=twitch, bot=bot, actions=ActionSettings(class_b=ClassMode.ASK, newcomer_protection=False)
    )


async def _where_it_stopped(path: Path) -> tuple[int, int]:
    """When this showing began (ms), and up to where it was played: 0 if it begins now.

    A finished demo is taken away first. Raises InputError for a memory that is not a demo's.
    """
    with held(path, "demo"):
        async with open_database(path) as db:
            started = await channel_state.read(db, STARTED)
            finished = await channel_state.read(db, FINISHED)
            heard = await streams.last_heard(db)
        if not started and heard:
            raise InputError(f"{path} holds the memory of a real channel. Name another file for the demo with --db.")
        if started and not finished:
            return int(started), heard
        if finished:
            for end in ("", "-wal", "-shm"):
                path.with_name(path.name + end).unlink(missing_ok=True)
    now = SystemClock().now()
    tonight = now - now % DAY + EVENING
    return (tonight if tonight <= now else tonight - DAY), 0


async def _mark(db: Database, now: int, values: dict[str, str]) -> None:
    async with db.write() as tx:
        await channel_state.put(tx, values, now)
