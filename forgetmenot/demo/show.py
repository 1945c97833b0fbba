"""The demo: two evenings of a small channel on a loopback Twitch, through the real parts of the bot.

Real are the IRC connection, twitchio's Helix calls, SQLite, the memory and the policy; the clock is moved.
Each showing begins with an empty memory. Shown is a highlight that a newcomer follows; the dock shows everything.

A line of a script (first_stream.txt, second_stream.txt) is `mm:ss name: text`, or a command of a moderator about that
person:

    !delete NAME          deletes their last line
    !timeout NAME SECONDS times them out

A line with a + after its time is part of the highlight. `== TEXT` is the caption of what follows in it.
"""

import asyncio
import re
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import resources
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.app.account import open_account, watch_channel
from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.app.control import ConnectionStatus
from forgetmenot.app.live import DOCK_ADDRESS, StopSignal, on_signals, serve_dock
from forgetmenot.app.replay import begin_summary
from forgetmenot.clock import ManualClock, SystemClock
from forgetmenot.demo.irc_server import SimMessage
from forgetmenot.demo.past_streams import add_past_streams, with_price
from forgetmenot.demo.recorded_replies import REPLIES, build_demo_models
from forgetmenot.demo.twitch_server import TwitchSim
from forgetmenot.dock.server import usable_port
from forgetmenot.domain import NoteStatus
from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND
from forgetmenot.errors import InputError
from forgetmenot.files import instance_lock
from forgetmenot.memory.merge import LIVE
from forgetmenot.secret_store import Account, Token, TokenStore
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import ActionSettings, ClassMode, Mode, Settings
from forgetmenot.store import action_logs, dock_rows, viewers
from forgetmenot.store.counts import highest_ids
from forgetmenot.store.database import Database
from forgetmenot.text.mentions import ids_in, with_names
from forgetmenot.twitch.connection import Gap, IrcConnection

BOT = "forgetmenot"
STREAMER = "streamer"
MODERATORS = frozenset({"alice"})
VIPS = frozenset({"carol"})
EVENING = 20 * HOUR
STREAMS = (
    ("first_stream", "the clock tower", -2 * DAY),
    ("second_stream", "the lighthouse", 0),
)
# Changes of notes that are read at a time.
MOST_CHANGES = 1_000
_LINE = re.compile(r"(\d\d):(\d\d)(\+?) (?:!(\w+) (\w+) ?(\d*)|(\w+): (.+))")

# Takes a style (plain, caption, chat, bot, memory, refused, faint; the command line has colours for them) and a line.
Out = Callable[[str, str], None]


class Cue(Struct, frozen=True):
    """One thing to happen. `at` is milliseconds after the stream began; `verb` is "say" or a command's name.

    `shown`: it is part of the highlight; `caption`: what the highlight says before it.
    """

    at: int
    verb: str
    name: str
    text: str
    number: int
    shown: bool
    caption: str


def load(name: str) -> list[Cue]:
    """Return the cues of a script beside this file, in order. Raises ValueError for a line that is none."""
    file = resources.files("forgetmenot.demo").joinpath(f"{name}.txt")
    cues = list[Cue]()
    caption = ""
    script = file.read_text(encoding="utf-8")
    for line in script.splitlines():
        if not line or line.startswith("#"):
            continue
        if line.startswith("== "):
            caption = line.removeprefix("== ")
            continue
        cues.append(_cue(line, caption))
        caption = ""
    return cues


def _cue(line: str, caption: str) -> Cue:
    """Return the cue of a line of a script. Raises ValueError."""
    match = _LINE.fullmatch(line)
    if match is None:
        raise ValueError(line)
    minutes, seconds, plus, command, target, number, speaker, text = match.groups()
    return Cue(
        at=int(minutes) * MINUTE + int(seconds) * SECOND,
        verb=command or "say",
        name=target or speaker,
        text=text or "",
        number=int(number or 0),
        shown=bool(plus),
        caption=caption,
    )


class Highlight:
    """Shows the marked lines under their captions, and what the bot did about them.

    `messages`: chat as Twitch delivered it, since an erasure also takes the bot's own words about a person from the
    memory. `pace`: 0 for no pauses.
    """

    def __init__(
        self,
        db: Database,
        messages: Sequence[SimMessage],
        out: Out,
        pace: float,
    ) -> None:
        self._db = db
        self._messages = messages
        self._out = out
        self._pace = pace
        # The names of those whose lines were shown.
        self._shown: set[str] = set()
        self._lines = 0
        # How many of the messages were looked at.
        self._heard = 0
        # The highest id of each table: at the last cue, and when the stream began.
        self._seen: dict[str, int] = {}
        self._began: dict[str, int] = {}

    async def begin(self) -> None:
        """Show only what comes from now on."""
        self._seen = await highest_ids(self._db)
        self._began = self._seen

    async def report(self, cue: Cue) -> None:
        """Show a marked cue and what it led to; a caption stands before its lines."""
        self._lines += 1
        if cue.caption:
            self._out("plain", "")
            self._out("caption", cue.caption)
            await self._pause(1.2)
        before = self._seen
        self._seen = await highest_ids(self._db)
        answers = self._new_answers()
        if not cue.shown:
            return
        self._shown.add(cue.name)
        self._out("chat", f"   {cue.name}: {cue.text}")
        await self._pause(1.2)
        await self._show_changes(before["note_changes"])
        for text in answers:
            mark = _recorded_mark(text)
            self._out("bot", f"   ForgetMeNot: {text}{mark}")
        # A reply that was made and not sent has a row as well.
        has_made_reply = self._seen["bot_messages"] > before["bot_messages"]
        if has_made_reply and not answers:
            self._out("refused", "      ForgetMeNot stays silent and does nothing.")
        await self._show_refusals(before["action_logs"])
        await self._pause(1.4 if answers else 0)

    def _new_answers(self) -> list[str]:
        """Return what the bot has said since the last cue."""
        new_messages = self._messages[self._heard :]
        self._heard = len(self._messages)
        # What the bot says comes by Helix, what people say over IRC.
        return [message.text for message in new_messages if message.via == "helix"]

    async def _show_changes(self, last_id: int) -> None:
        """Show which notes were made or replaced after the change of this id."""
        changes = await dock_rows.changes(self._db, last_id, MOST_CHANGES)
        for change in changes:
            verb = "remembered:"
            if NoteStatus(change.after) is NoteStatus.SUPERSEDED:
                verb = "replaced:"
            fact = await _named(self._db, change.fact)
            self._out("memory", f"      {verb} {fact}")

    async def _show_refusals(self, last_id: int) -> None:
        """Show which actions the policy refused after the one of this id."""
        newest_first = await action_logs.latest(self._db, MOST_CHANGES)
        for action in reversed(newest_first):
            if action.id > last_id and action.verdict == "deny":
                line = f"      refused by code: {action.name} ({action.reason})"
                self._out("refused", line)

    async def stream_ended(self) -> None:
        """Show what is left of the stream: notes about those who were shown."""
        began = self._began
        changes = await dock_rows.changes(self._db, began["note_changes"], MOST_CHANGES)
        # Of several changes of a note the last one counts.
        last_changes = {change.note_id: change for change in changes}
        live_notes = []
        for change in last_changes.values():
            if change.after in LIVE:
                live_notes.append(change)
        ids = await highest_ids(self._db)
        summaries = ids["episodes"] - began["episodes"]
        self._out("plain", f"   … {self._lines} lines in all. The stream ends.")
        self._out(
            "memory",
            f"   What stays: {summaries} short summaries and {len(live_notes)} notes, such as",
        )
        for note in live_notes:
            subject = "the channel"
            if note.subject_id:
                subject = await _named(self._db, f"<@{note.subject_id}>")
                # Who was not in the highlight is nobody to whoever watches it.
                if subject.lower() not in self._shown:
                    continue
            fact = await _named(self._db, note.fact)
            self._out("memory", f"      {subject}: {fact}")
        self._out("faint", "   The chat itself is permanently deleted after 24 hours.")
        await self._pause(2.5)

    async def _pause(self, seconds: float) -> None:
        await asyncio.sleep(seconds * self._pace)


def _recorded_mark(text: str) -> str:
    """Return the mark behind a reply that is a recorded one; "" for any other."""
    if any(recorded.reply in text for recorded in REPLIES):
        return " (recorded)"
    return ""


async def _named(db: Database, text: str) -> str:
    """Return a text with names in place of mentions."""
    names = await viewers.names(db, ids_in(text))
    return with_names(text, names)


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
    """Play both evenings into the memory at `path`, and clean up, also when a signal asks for the end.

    Raises InputError for a file of somebody's, KeyboardInterrupt where the evenings were broken off.
    """
    with on_signals() as ending:
        await _play(path, show, ending)
        return
    # Only a start that was broken off comes here.
    raise KeyboardInterrupt


async def _play(path: Path, show: Show, ending: StopSignal) -> None:
    begin_anew(path, ours=show.ours)
    now = SystemClock().now()
    started = now - now % DAY + EVENING
    # never ahead of now: the dock would show such a time as "in 3 h"
    if started > now:
        started -= DAY
    _, _, first_offset = STREAMS[0]
    clock = ManualClock(started + first_offset)
    sim = TwitchSim(channel=STREAMER, now=clock.now)
    settings = show.settings
    if show.stay:
        settings = with_price(settings)

    def report(line: str) -> None:
        # The address of a dock that closes in a moment leads nowhere.
        if show.stay or not line.startswith(DOCK_ADDRESS):
            show.report(line)

    async with sim, bot_on(sim, path, clock, settings, report, show.opened) as bot:
        if show.stay:
            await add_past_streams(bot, sim, clock.now())
        summary = await begin_summary(bot.db)
        pace = 0 if show.fast else 1
        highlight = Highlight(bot.db, sim.irc.said, show.out, pace)
        await highlight.begin()
        for name, part, offset in STREAMS:
            began = started + offset
            await clock.move_to(began)
            sim.go_live(
                title=f"Ladders of Ash: {part}",
                game="Ladders of Ash",
                at=began,
            )
            await bot.tasks.catch_up()
            await _evening(sim, bot, clock, highlight, load(name), began)
            # The second evening shows what this is good for.
            if offset == first_offset:
                await highlight.stream_ended()
        show.finished(await summary())
        if show.stay:
            await _go_on(bot, clock, ending)


async def _evening(
    sim: TwitchSim,
    bot: Bot,
    clock: ManualClock,
    highlight: Highlight,
    cues: list[Cue],
    began: int,
) -> None:
    """Play the cues of one stream that began at a time (ms), until its recap is written."""
    last_message_ids: dict[str, str] = {}
    for cue in cues:
        await clock.move_to(began + cue.at)
        if cue.verb == "say":
            message_id = await sim.say(cue.name, cue.text)
            last_message_ids[cue.name] = message_id
        elif cue.verb == "delete":
            await sim.clear_message(last_message_ids[cue.name])
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
    # after half an hour the stream counts as over, and its last lines are summarised
    for _ in range(6):
        await clock.advance(5 * MINUTE)
        await bot.tasks.catch_up()
    # the notes are made now: the next evening must not wait for a timer
    await bot.remember_all()


async def _go_on(
    bot: Bot,
    clock: ManualClock,
    ending: StopSignal,
) -> None:
    """Let time pass as it does, for whoever looks at the dock, until Ctrl-C or SIGTERM."""
    ended = asyncio.create_task(ending.asked())
    # The clock of the demo moves by hand, second by second.
    while not ended.done():
        await asyncio.wait([ended], timeout=1.0)
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
    """Give a bot that is logged in on that Twitch and reads it, with its dock."""
    for login in (*MODERATORS, BOT):
        sim.world.moderator(login)
    for login in VIPS:
        sim.world.vip(login)
    live_settings = LiveSettings(_demo_settings(sim, settings))
    # a log-in is renewed in real time, however fast the evening is played
    real_clock = SystemClock()
    async with AsyncExitStack() as stack:
        # the log-ins of the played Twitch must not get among those of a real bot
        temporary = tempfile.TemporaryDirectory(prefix="forgetmenot-demo-")
        folder = Path(stack.enter_context(temporary))
        _save_logins(sim, folder)
        twitch = await stack.enter_async_context(
            open_account(live_settings, folder, real_clock, use_keyring=False)
        )
        opening = open_bot(
            path,
            settings=live_settings,
            clock=clock,
            account=twitch.helix,
            me=await twitch.myself(),
            models=build_demo_models,
        )
        bot = await stack.enter_async_context(opening)
        await bot.tasks.catch_up()
        watch_channel(bot, twitch)
        await stack.enter_async_context(_reading(bot, twitch.chat))
        await sim.joined()
        status = ConnectionStatus(lambda: twitch.chat.state, lambda: twitch.broken)
        dock = serve_dock(bot, live_settings, status, report, opened=opened)
        await stack.enter_async_context(dock)
        yield bot


def _demo_settings(sim: TwitchSim, settings: Settings) -> Settings:
    """Return settings that point at the played Twitch, with a bot that answers when it is asked."""
    twitch = replace(
        settings.twitch,
        channel=STREAMER,
        client_id=sim.client_id,
        bot_login=BOT,
        server=sim.url,
    )
    # Moderation waits for an approval, which the dock then shows.
    actions = ActionSettings(class_b=ClassMode.ASK, newcomer_protection=False)
    # The dock of a bot that runs beside the demo keeps its port.
    port = usable_port(settings.dock.port)
    return replace(
        settings,
        twitch=twitch,
        bot=replace(settings.bot, mode=Mode.MENTIONS),
        actions=actions,
        dock=replace(settings.dock, port=port),
    )


def _save_logins(sim: TwitchSim, folder: Path) -> None:
    """Log the bot and the streamer in, as if they had typed their codes."""
    store = TokenStore(folder, use_keyring=False)
    for account, login in ((Account.BOT, BOT), (Account.BROADCASTER, STREAMER)):
        granted = sim.grant(login)
        token = Token(granted.access, granted.refresh, granted.user_id, login)
        store.save(account, token)


@asynccontextmanager
async def _reading(bot: Bot, chat: IrcConnection) -> AsyncIterator[None]:
    """Let the bot hear chat while the block runs."""
    reading = asyncio.create_task(_read(bot, chat))
    try:
        yield
    finally:
        reading.cancel()
        # Before the connection that it reads is closed.
        await asyncio.gather(reading, return_exceptions=True)


async def _read(bot: Bot, chat: IrcConnection) -> None:
    """Let the bot hear chat until this is cancelled."""
    async for item in chat.events():
        if not isinstance(item, Gap):
            await bot.hear(item)


def begin_anew(path: Path, *, ours: bool) -> None:
    """Delete the memory of an earlier demo. Raises InputError for a file that may be somebody's memory."""
    if not path.exists():
        return
    if not ours:
        raise InputError(
            f"{path} exists already. Use another file for the demo with --db."
        )
    with instance_lock(path):
        for ending in ("", "-wal", "-shm", ".requests"):
            file = path.with_name(path.name + ending)
            file.unlink(missing_ok=True)
