"""The demo: two evenings of a small channel, played through the whole bot in the place of Twitch.

Real are the pipeline of chat, SQLite, the memory and the policy; the clock is moved.
A demo that was killed goes on where it stopped; a finished one begins anew.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import msgspec

from forgetmenot.app.bot import Bot, BotIdentity, open_bot
from forgetmenot.app.control import ConnectionStatus
from forgetmenot.app.dock_service import serve_dock
from forgetmenot.app.live import on_signals
from forgetmenot.app.replay import RunSummary, summarise
from forgetmenot.app.scenario_player import RecordingAccount
from forgetmenot.clock import DAY, HOUR, MINUTE, SECOND, ManualClock, SystemClock
from forgetmenot.demo import script
from forgetmenot.demo.narration import Highlight, Narrator, Out
from forgetmenot.demo.script import Cue
from forgetmenot.domain.chat import ChannelState, ChatEvent, EventKind, Redaction
from forgetmenot.errors import InputError
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import ActionSettings, ClassMode, Mode, Settings
from forgetmenot.store import channel_state, run_stats, streams
from forgetmenot.store.database import Database, open_database
from forgetmenot.store.file_safety import instance_lock
from forgetmenot.twitch.chat_lines import ChatItem, OtherRoom
from forgetmenot.twitch.connection import ConnectionState, Phase

BOT = "forgetmenot"
GAME = "Ladders of Ash"
PACE_S = 0.3
EVENING = 20 * HOUR
STREAMS = (("first_stream", "the clock tower", -2 * DAY), ("second_stream", "the lighthouse", 0))
STARTED, FINISHED = "demo_started", "demo_finished"
EVENTS: Mapping[str, tuple[EventKind, str]] = {
    "say": (EventKind.MESSAGE, ""),
    "cheer": (EventKind.CHEER, ""),
    "announce": (EventKind.ANNOUNCEMENT, ""),
    "sub": (EventKind.SUB, "{name} subscribed at Tier 1. They've subscribed for {number} months!"),
    "gift": (EventKind.GIFT, "{name} is gifting {number} Tier 1 Subs to the community!"),
    "raid": (EventKind.RAID, "{number} raiders from {name} have joined!"),
}
"""What a cue is in chat, with Twitch's own sentence about it."""
BADGES = {
    script.STREAMER: frozenset({"broadcaster"}),
    **dict.fromkeys(script.MODERATORS, frozenset({"moderator"})),
    **dict.fromkeys(script.VIPS, frozenset({"vip"})),
}


def user_id(login: str) -> str:
    """The Twitch id of somebody in the scripts."""
    return f"id-{login}"


def item_of(cue: Cue, event_id: str, at: int, last: Mapping[str, ChatEvent]) -> ChatItem:
    """What Twitch would send for a cue. `last`: what each person said last."""
    match cue.verb:
        case "delete":
            return Redaction(at, event_id=last[cue.name].id)
        case "timeout":
            return Redaction(at, user_id=user_id(cue.name), duration_s=cue.number)
        case "again":
            return last[cue.name]
        case "shared":
            return OtherRoom()
    kind, sentence = EVENTS[cue.verb]
    return ChatEvent(
        event_id,
        kind,
        user_id(cue.name),
        cue.name,
        cue.name.title(),
        f"Cheer{cue.number} {cue.text}" if kind is EventKind.CHEER else cue.text,
        at,
        badges=BADGES.get(cue.name, frozenset()),
        bits=cue.number if kind is EventKind.CHEER else 0,
        system_text=sentence.format(name=cue.name.title(), number=cue.number),
    )


@dataclass(slots=True)
class Player:
    """One showing. What lies before `resume_at` (ms) was played before."""

    bot: Bot
    clock: ManualClock
    narrator: Narrator | Highlight
    pace_s: float = 0.0
    resume_at: int = 0

    async def evening(self, cues: list[Cue], began: int, title: str) -> None:
        """Play one stream from its beginning to its recap; `began`: when, in ms."""
        ends = began + cues[-1].at + MINUTE
        if ends < self.resume_at:
            return
        await self.narrator.stream_begins(title)
        await self.clock.move_to(began)
        await self.bot.channel_is(
            ChannelState(live=True, title=title, category=GAME, started_at=began, stream_id=f"s{began}")
        )
        await self.bot.tasks.catch_up()
        await self._play(cues, began)
        await self.clock.move_to(ends)
        await self.narrator.stream_ends()
        # half an hour: the stream counts as over, and what is left of it is summarised
        for _ in range(6):
            await self.bot.channel_is(ChannelState(live=False, title=title, category=GAME))
            await self.clock.advance(5 * MINUTE)
            await self.bot.tasks.catch_up()
        await self.bot.remember_all()
        await self.narrator.stream_ended()

    async def _play(self, cues: list[Cue], began: int) -> None:
        last: dict[str, ChatEvent] = {}
        for number, cue in enumerate(cues):
            at = began + cue.at
            # an id follows from the place in the script, so a demo that goes on knows its old lines again
            item = item_of(cue, f"{began}-{number}", at, last)
            if cue.verb in {"say", "cheer"} and isinstance(item, ChatEvent):
                last[cue.name] = item
            if at < self.resume_at:
                continue
            await self.clock.move_to(at)
            await heard(self.bot, item)
            await self.narrator.report(cue)
            await asyncio.sleep(self.pace_s)


async def heard(bot: Bot, item: ChatItem) -> None:
    """Give the bot one thing, and wait until it has answered it and done what is due."""
    await bot.hear(item)
    await bot.settle()
    await bot.tasks.catch_up()
    await bot.settle()


@dataclass(frozen=True, slots=True)
class Show:
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
    account = RecordingAccount(f"sent-{resume_at}")  # another one in each turn of a demo that goes on
    async with demo_bot(path, clock, account, show.settings, show.report, show.opened) as bot:
        before = await run_stats.totals(bot.db)
        await _mark(bot.db, clock.now(), {STARTED: str(started), FINISHED: ""})
        pace = 0 if show.fast else 1
        narrator: Narrator | Highlight = Narrator(bot.db, clock, show.out)
        if not show.verbose:
            narrator = Highlight(bot.db, account.said, show.out, pace)
        await narrator.begin()
        player = Player(bot, clock, narrator, pace * PACE_S if show.verbose else 0, resume_at)
        for name, category, offset in STREAMS:
            await player.evening(script.load(name), started + offset, f"{GAME}: {category}")
        await narrator.finish()
        await _mark(bot.db, clock.now(), {FINISHED: "1"})
        show.finished(await summarise(bot.db, bot.run_id, before))
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


@asynccontextmanager
async def demo_bot(
    path: Path,
    clock: ManualClock,
    account: RecordingAccount,
    settings: Settings,
    report: Callable[[str], None],
    opened: Callable[[str], None] = lambda _address: None,
) -> AsyncIterator[Bot]:
    """A bot in the demo's channel, with its dock; `account` takes what it says and does."""
    account.immune = {user_id(login) for login in (*BADGES, BOT)}
    replace = msgspec.structs.replace
    here = LiveSettings(
        replace(
            settings,
            twitch=replace(settings.twitch, channel=script.STREAMER, bot_login=BOT),
            bot=replace(settings.bot, mode=Mode.MENTIONS),
            actions=ActionSettings(class_b=ClassMode.ASK, newcomer_protection=False),
        )
    )
    me = BotIdentity(user_id(BOT), BOT)
    async with open_bot(path, "demo", settings=here, clock=clock, account=account, me=me) as bot:
        await bot.tasks.catch_up()
        around = ConnectionStatus("demo", lambda: ConnectionState(Phase.CONNECTED, login=BOT))
        async with serve_dock(bot, here, around, report, any_port=True, opened=opened):
            yield bot


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
            for end in ("", "-wal", "-shm", ".asked", ".counts", ".key", ".unsaved", ".wishes"):
                path.with_name(path.name + end).unlink(missing_ok=True)
    now = SystemClock().now()
    tonight = now - now % DAY + EVENING
    return (tonight if tonight <= now else tonight - DAY), 0


async def _mark(db: Database, now: int, values: dict[str, str]) -> None:
    async with db.write() as tx:
        await channel_state.put(tx, values, now)
