"""The demo: two evenings of a small channel on a loopback Twitch, through the real parts of the bot.

Real are the IRC connection, twitchio's Helix calls, SQLite, the memory and the policy; the clock is moved.
A demo that was killed goes on where it stopped; a finished one begins anew.
"""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
from msgspec import Struct

from forgetmenot.app.account import open_account, watch_channel
from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.app.control import ConnectionStatus
from forgetmenot.app.live import on_signals, serve_dock
from forgetmenot.app.replay import RunSummary, begin_summary
from forgetmenot.clock import DAY, HOUR, MINUTE, SECOND, ManualClock, SystemClock
from forgetmenot.demo import script
from forgetmenot.demo.narration import Highlight, Narrator, Out
from forgetmenot.demo.script import Cue
from forgetmenot.errors import InputError
from forgetmenot.secret_store import Account, Token, TokenStore
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import ActionSettings, ClassMode, Mode, Settings
from forgetmenot.sim.twitch import TwitchSim
from forgetmenot.sim.world import SimMessage
from forgetmenot.store import channel_state, streams
from forgetmenot.store.database import Database, open_database
from forgetmenot.store.file_safety import instance_lock
from forgetmenot.twitch.connection import Gap, IrcConnection

SPOKEN = frozenset({"say", "cheer"})
HAPPENINGS: Mapping[str, Callable[[TwitchSim, Cue, str], Awaitable[object]]] = {
    "delete": lambda sim, _cue, last: sim.clear_message(last),
    "again": lambda sim, _cue, last: sim.repeat(last),
    "shared": lambda sim, cue, _last: sim.shared(cue.name, cue.text),
    "timeout": lambda sim, cue, _last: sim.timeout(cue.name, cue.number),
}
"""What a cue does to what is there, with the id of the last line of who is named; the others are NOTICES."""
CueHandler = Callable[[Cue], Awaitable[None]]


class Player(Struct):
    """One showing. `report` is called after each cue; what lies before `resume_at` (ms) was played before."""

    sim: TwitchSim
    bot: Bot
    clock: ManualClock
    report: CueHandler
    pace_s: float = 0.0
    resume_at: int = 0

    async def play(self, cues: list[Cue], began: int) -> None:
        """Play a stream's cues; `began`: when the stream began, in ms."""
        last: dict[str, str] = {}
        for number, cue in enumerate(cues):
            # the next ids follow from the place in the script, so a demo that goes on knows its old lines again
            self.sim.world.reseed(f"{began}:{number}")
            if began + cue.at < self.resume_at:
                self._recall(cue, began + cue.at, last)
                continue
            await self.clock.move_to(began + cue.at)
            await self._play(cue, last)
            await self.caught_up()
            await self.report(cue)
            await asyncio.sleep(self.pace_s)

    async def caught_up(self) -> None:
        """Wait until the bot has read what was sent, has answered it, and has done what is due."""
        await self.sim.settled()
        await self.bot.settle()
        await self.bot.tasks.catch_up()
        await self.bot.settle()

    def _recall(self, cue: Cue, at: int, last: dict[str, str]) -> None:
        """It was said before the demo was interrupted; under the same id, it can still be answered or deleted."""
        if cue.verb in SPOKEN:
            world = self.sim.world
            said = SimMessage(world.new_id(), world.user(cue.name), cue.text, at)
            world.messages[said.id] = said
            last[cue.name] = said.id

    async def _play(self, cue: Cue, last: dict[str, str]) -> None:
        if cue.verb in SPOKEN:
            words = f"Cheer{cue.number} {cue.text}" if cue.verb == "cheer" else cue.text
            last[cue.name] = await self.sim.say(cue.name, words, bits=cue.number)
        elif cue.verb in HAPPENINGS:
            await HAPPENINGS[cue.verb](self.sim, cue, last.get(cue.name, ""))
        else:
            await self.sim.notice(cue.verb, cue.name, cue.number, cue.text)


BOT = "forgetmenot"
PACE_S = 0.3
EVENING = 20 * HOUR
STREAMS = (("first_stream", "the clock tower", -2 * DAY), ("second_stream", "the lighthouse", 0))
STARTED, FINISHED = "demo_started", "demo_finished"


class Show(Struct, frozen=True):
    """How to show it. `out` takes a style and a line of the show; `report` a line about the program.

    `opened` gets the dock's address, `finished` the counts. `verbose`: every line, not only the highlight; `stay`: keep
    the dock open afterwards, until the program is ended.
    """

    settings: Settings
    out: Out
    report: Callable[[str], None] = lambda _line: None
    opened: Callable[[str], None] = lambda _address: None
    finished: Callable[[RunSummary], None] = lambda _summary: None
    fast: bool = False
    verbose: bool = False
    stay: bool = False


async def play(path: Path, show: Show) -> None:
    """Play both evenings into the memory at `path`."""
    started, resume_at = await _where_it_stopped(path)
    clock = ManualClock(max(started + STREAMS[0][2], resume_at))
    sim = TwitchSim(channel=script.STREAMER, now=clock.now)
    async with sim, bot_on(sim, path, clock, show.settings, show.report, show.opened) as bot:
        summary = await begin_summary(bot.db)
        await _mark(bot.db, clock.now(), {STARTED: str(started), FINISHED: ""})
        pace = 0 if show.fast else 1
        narrator: Narrator | Highlight = Narrator(bot.db, clock, show.out)
        if not show.verbose:
            narrator = Highlight(bot.db, sim.irc.said, show.out, pace)
        await narrator.begin()
        player = Player(sim, bot, clock, narrator.report, pace * PACE_S if show.verbose else 0, resume_at)
        for name, category, offset in STREAMS:
            await _evening(player, narrator, script.load(name), started + offset, f"Ladders of Ash: {category}")
        await _mark(bot.db, clock.now(), {FINISHED: "1"})
        show.finished(await summary())
        if show.stay:
            await go_on(bot, clock)


async def go_on(bot: Bot, clock: ManualClock) -> None:
    """Let time pass as it does, for whoever looks at the dock, until Ctrl-C or SIGTERM."""
    with on_signals() as ending:
        asked = asyncio.create_task(ending.asked())
        while not asked.done():
            await asyncio.wait([asked], timeout=1.0)
            await clock.advance(SECOND)
            await bot.tasks.catch_up()


async def _evening(
    player: Player, narrator: Narrator | Highlight, cues: list[script.Cue], began: int, title: str
) -> None:
    ends = began + cues[-1].at + MINUTE
    if ends < player.resume_at:
        return
    sim, bot, clock = player.sim, player.bot, player.clock
    await narrator.stream_begins(title)
    await clock.move_to(began)
    sim.go_live(title=title, game="Ladders of Ash", at=began)
    await bot.tasks.catch_up()
    await player.play(cues, began)
    await clock.move_to(ends)
    sim.go_offline()
    await narrator.stream_ends()
    # half an hour: the stream counts as over, and what is left of it is summarised
    for _ in range(6):
        await clock.advance(5 * MINUTE)
        await bot.tasks.catch_up()
    await bot.remember_all()
    await narrator.stream_ended()


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
                await bot.tasks.catch_up()
                watch_channel(bot, twitch)
                reading = asyncio.create_task(_read(bot, twitch.chat))
                try:
                    await sim.joined()
                    status = ConnectionStatus(lambda: twitch.chat.state, lambda: twitch.broken)
                    async with serve_dock(bot, here, status, report, any_port=True, opened=opened):
                        yield bot
                finally:
                    reading.cancel()
                    await asyncio.gather(reading, return_exceptions=True)


async def _read(bot: Bot, chat: IrcConnection) -> None:
    async for item in chat.events():
        if not isinstance(item, Gap):
            await bot.hear(item)


def _on(sim: TwitchSim, settings: Settings) -> Settings:
    replace = msgspec.structs.replace
    twitch = replace(
        settings.twitch,
        channel=script.STREAMER,
        client_id=sim.client_id,
        bot_login=BOT,
        server=sim.url,
    )
    bot = replace(settings.bot, mode=Mode.MENTIONS)
    return replace(
        settings, twitch=twitch, bot=bot, actions=ActionSettings(class_b=ClassMode.ASK, newcomer_protection=False)
    )


async def _where_it_stopped(path: Path) -> tuple[int, int]:
    """When this showing began (ms), and up to where it was played: 0 if it begins now.

    A finished demo is taken away first. Raises InputError for a memory that is not a demo's.
    """
    with instance_lock(path, "demo"):
        async with open_database(path) as db:
            started = await channel_state.read(db, STARTED)
            finished = await channel_state.read(db, FINISHED)
            heard = await streams.last_heard(db)
        if not started and heard:
            raise InputError(f"{path} holds the memory of a real channel. Use another file for the demo with --db.")
        if started and not finished:
            return int(started), heard
        if finished:
            for end in ("", "-wal", "-shm", ".requests"):
                path.with_name(path.name + end).unlink(missing_ok=True)
    now = SystemClock().now()
    tonight = now - now % DAY + EVENING
    return (tonight if tonight <= now else tonight - DAY), 0


async def _mark(db: Database, now: int, values: dict[str, str]) -> None:
    async with db.write() as tx:
        await channel_state.put(tx, values, now)
