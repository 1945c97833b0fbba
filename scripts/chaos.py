"""Everything that can break a memory, and one check of all its promises after each: `python scripts/chaos.py`.

Kills at named and random points and inside operations, thirty ways in which a model fails, a disk that is full,
read-only, locked or gone, flipped bits, wrong clocks; every button and command of a bot whose file other programs take
away. Seeded: `--seed 7` does the same again. `--quick` is the part that the tests run. Prints a table; the exit code is
1 if anything was lost, doubled, sent twice or left behind. Nothing leaves this machine, and nothing stays on it.
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import logging
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine
from pathlib import Path
from typing import Any
from unittest import mock

import aiosqlite
from environment import say
from every_button import Presser
from speed.programs import started

from forgetmenot.app.bot import SWEEP, Bot, BotIdentity, NoAccount, open_bot
from forgetmenot.clock import ManualClock, SystemClock
from forgetmenot.domain import (
    ChatEvent,
    EventKind,
    ModelAnswer,
    ModelRequest,
    Outcome,
    OutcomeKind,
    Redaction,
    TokenUsage,
)
from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND
from forgetmenot.errors import (
    ForgetMeNotError,
    ModelBlocked,
    ModelRateLimited,
    ModelRefused,
    ModelUnavailable,
)
from forgetmenot.llm.guarded import RetryClock
from forgetmenot.llm.offline import Offline
from forgetmenot.logs import set_up
from forgetmenot.memory import backups, transfer
from forgetmenot.privacy.erasure import Eraser
from forgetmenot.privacy.requests import PrivacyService, carry_out
from forgetmenot.privacy.suppression import load_filter
from forgetmenot.privacy.suppression_list import suppress
from forgetmenot.settings.schema import BotSettings, Mode, Settings
from forgetmenot.store import privacy_choices, streams, viewers
from forgetmenot.store.backup import copies_of
from forgetmenot.store.database import Database, ThreadTransaction, open_database
from forgetmenot.store.invariants import verify
from forgetmenot.store.privacy_requests import (
    PrivacyRequest,
    PrivacyRequests,
    RequestKind,
)
from tests import proc
from tests.loopback_servers.twitch import TwitchSim

# ── a world of chat, played by processes that die ───────────────────────────────────────────
#
# Each process dies at a named point (before or after a commit, a message, a model's answer, a file that is replaced or
# deleted, a wipe) or whenever its parent kills it; the next goes on where that one was known to have got to.

Figures = dict[str, float]
NOON = 1_784_894_400_000
SETTINGS = Settings(bot=BotSettings(mode=Mode.MENTIONS))
MUST_BE_ZERO = (
    "lost",
    "locks lost",
    "doubled",
    "sent twice",
    "rights lost",
    "bytes left",
    "others changed",
    "promises broken",
    "crashes",
)
OPTED_OUT = "viewer3"
ERASED = "viewer5"
MARK = "quillfrost"
# Who is called like a word of everybody's lines, or of the imported notes.
WORDS = {"try": "1000071", "series": "1000072"}


class Witness(NoAccount):
    """An account that writes down, durably, what it was asked to send."""

    def __init__(self, folder: Path) -> None:
        self.file = folder / "witness"

    async def say(self, _text: str, _reply_to: str | None = None) -> Outcome:
        """Sent."""
        await asyncio.to_thread(append, self.file, _reply_to or "-")
        return Outcome(OutcomeKind.DONE, twitch_id=f"sent-{time.monotonic_ns()}")


def append(file: Path, line: str) -> None:
    """Add a line that no kill takes away."""
    with file.open("a", encoding="utf-8") as out:
        out.write(f"{line}\n")


def line(number: int, at: int, login: str = "", text: str = "") -> ChatEvent:
    """A line of chat by its number."""
    login = login or f"viewer{number % 12}"
    text = (
        text
        or f"try {number} of level {number % 9} went well {MARK if login == ERASED else ''}".strip()
    )
    viewer_id = WORDS.get(login, f"10000{login[6:]}")
    return ChatEvent(
        f"m{number}", EventKind.MESSAGE, viewer_id, login, login.title(), text, at
    )


async def broken_promises(db: Database, now: int) -> int:
    """How many promises do not hold; each is printed."""
    violations = await verify(db, now=now)
    for violation in violations:
        say(f"   {violation}")
    return len(violations)


LINES = 330
# this line of the world is an import instead
IMPORT_AT = LINES - 40
EVERY = 5 * MINUTE  # so that the world is longer than a day, and chat ages out in it
POINTS = (
    "commit",
    "statement",
    "say",
    "answer",
    "replace",
    "unlink",
    "wipe",
    "request",
)
OFTEN_PASSED = frozenset({"commit", "statement"})


# Events are pruned: a table of the world's own knows which were ever stored.
WITNESS_TABLE = "CREATE TABLE IF NOT EXISTS witness (id TEXT)"
WITNESS_TRIGGER = """CREATE TRIGGER IF NOT EXISTS witness_events AFTER INSERT ON events WHEN NOT new.from_bot
BEGIN INSERT INTO witness VALUES (new.id); END"""


class Bomb:
    """From when it is made on, ends the process as `kill -9` does, at the n-th passage of a point, or of "any"."""

    def __init__(self, point: str, number: int) -> None:
        self.point = point
        self.left = number
        self.around(aiosqlite.Connection, "commit", "commit")
        # of a batch of chat, which is written in the writer's thread
        self.around(ThreadTransaction, "many", "statement")
        self.around(Database, "wipe_deleted", "wipe")
        self.around(Witness, "say", "say")
        self.around(Offline, "generate", "answer")
        self.around(Path, "replace", "replace")
        self.around(Path, "unlink", "unlink")
        # between writing a request and carrying it out
        self.around(PrivacyRequests, "add", "request")

    def pass_by(self, point: str) -> None:
        """A point is passed."""
        if self.point in {point, "any"}:
            self.left -= 1
            if self.left == 0:
                os._exit(9)

    def around(self, owner: Any, name: str, point: str) -> None:  # noqa: ANN401  # a class or an object
        """Pass by before and after a method, which may be async or not."""
        original = getattr(owner, name)

        async def waiting(*arguments: Any, **more: Any) -> Any:  # noqa: ANN401
            self.pass_by(point)
            result = await original(*arguments, **more)
            self.pass_by(point)
            return result

        def plain(*arguments: Any, **more: Any) -> Any:  # noqa: ANN401
            self.pass_by(point)
            result = original(*arguments, **more)
            self.pass_by(point)
            return result

        setattr(
            owner, name, waiting if asyncio.iscoroutinefunction(original) else plain
        )


async def play(folder: Path) -> None:
    """Play what is left of the world."""
    progress = folder / "progress"
    path = folder / "memory.sqlite3"
    lines_done = len(progress.read_text().split()) if progress.exists() else 0
    clock = ManualClock(NOON + lines_done * EVERY)
    me = BotIdentity("99999999", "forgetmenot_bot")
    async with open_bot(
        path, settings=lambda: SETTINGS, clock=clock, account=Witness(folder), me=me
    ) as bot:
        async with bot.db.write() as tx:
            await tx.execute(WITNESS_TABLE)
            await tx.execute(WITNESS_TRIGGER)
        keeper = backups.Backups(db=bot.db, settings=bot.settings, clock=clock)
        for number in range(lines_done, LINES):
            await clock.move_to(NOON + number * EVERY)
            await step(bot, keeper, number)
            await bot.settle()
            await asyncio.to_thread(append, progress, str(number))
        await bot.tasks.catch_up()
        await bot.wind_down()


async def step(bot: Bot, keeper: backups.Backups, number: int) -> None:
    """What happens at one line of the world."""
    now = bot.clock.now()
    if number == IMPORT_AT:
        await transfer.import_notes(bot.db, map(json.dumps, imported()), now=now)
    elif is_wish(number):
        login = OPTED_OUT if number % 12 == 3 else ERASED
        command = "!optout" if login == OPTED_OUT else "!forgetme"
        # each asks once, in the first twelve lines after half of the world, and then says nothing
        if number < LINES // 2 + 13:
            await bot.hear(line(number, now, login, command))
            if login == ERASED:
                await bot.settle()
                await bot.hear(line(number + 10_000, now, login, "!forgetme confirm"))
    elif number % 15 == 7:
        await bot.hear(
            line(number, now, text=f"@ForgetMeNot what about level {number % 9}?")
        )
    else:
        await bot.hear(line(number, now))
    if number % 31 == 30:
        await bot.hear(Redaction(now, event_id=f"m{number - 3}"))
    if number % 20 == 19:
        await bot.tasks.catch_up()
        await keeper.run_pass()


def is_wish(number: int) -> bool:
    """Whether this is a line of those who are to be left alone from half of the world on."""
    return number > LINES // 2 and number % 12 in {3, 5}


def imported() -> list[dict[str, object]]:
    """The lines of the world's import."""
    return [
        {"scope": "channel", "fact": f"has finished game {number} of the series"}
        for number in range(30)
    ]


async def kills(folder: Path, dice: random.Random, rounds: int) -> Figures:
    """Play worlds, each through many deaths, until so many processes have died."""
    figures: Figures = dict.fromkeys(("kills", "worlds", *MUST_BE_ZERO), 0)
    while figures["kills"] < rounds:
        place = folder / f"world{figures['worlds']:.0f}"
        place.mkdir()
        deaths = 0
        while True:
            enough = deaths >= 12 or figures["kills"] >= rounds
            point = "" if enough else dice.choice((*POINTS, "whenever"))
            at = dice.randint(1, 60 if point in OFTEN_PASSED else 8)
            within_s = dice.uniform(0.5, 3) if point == "whenever" else 120
            code = await asyncio.to_thread(die, place, point, at, within_s)
            if code not in {9, -9}:
                figures["crashes"] += code != 0
                break
            deaths += 1
            figures["kills"] += 1
        figures["worlds"] += 1
        add(figures, await world_account(place))
    return figures


def add(figures: Figures, more: Figures) -> None:
    """Sum up."""
    for name, count in more.items():
        figures[name] += count


def die(place: Path, point: str, number: int, within_s: float = 120) -> int:
    """Play the world or an operation in a process until its n-th passage of a point, or its end; how that ended."""
    words = [sys.executable, __file__, "--die", str(place), point, str(number)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=within_s)
        if process.poll() is None:
            process.kill()
        _, errors = process.communicate()
    if process.returncode not in {0, 9, -9}:
        say(errors[-2_000:])
    return process.returncode


async def world_account(place: Path) -> Figures:
    """What became of a world that was played to its end."""
    path = place / "memory.sqlite3"
    now = NOON + (LINES - 1) * EVERY
    async with open_database(path) as db:
        counted = {
            row[0]: row[1]
            for row in await db.rows("SELECT name, sum(count) FROM tally GROUP BY name")
        }
        stored = Counter(row[0] for row in await db.rows("SELECT id FROM witness"))
        known = await db.rows("SELECT login, opted_out_at FROM viewers")
        notes = await db.value(
            "SELECT count(*) FROM semantic_notes WHERE source_kind = 'import'"
        )
        broken = await broken_promises(db, now)
    # Without the wishes: a death makes the world say them again, and an erasure keeps nothing that would know them.
    expected = {
        f"m{number}"
        for number in range(LINES)
        if number != IMPORT_AT and not is_wish(number)
    }
    sent = (
        Counter((place / "witness").read_text().split())
        if (place / "witness").exists()
        else Counter()
    )
    out = {row[0] for row in known if row[1] is not None}
    bytes_on_disk = b"".join(
        file.read_bytes() for file in place.rglob("*") if file.is_file()
    )
    return {
        "lost": counted.get("pruned_unread", 0)
        + max(0, 30 - notes)
        + len(expected - stored.keys()),
        "doubled": max(0, notes - 30)
        + sum(stored[line_id] - 1 for line_id in expected & stored.keys()),
        "sent twice": sum(sent[line_id] - 1 for line_id in expected & sent.keys()),
        "rights lost": (OPTED_OUT not in out) + (ERASED in {row[0] for row in known}),
        "bytes left": bytes_on_disk.count(MARK.encode()),
        "promises broken": broken,
    }


# ── inside one operation ────────────────────────────────────────────────────────────────────
#
# A restore, an import, a sweep, a backup and an erasure; each dies at every point that it passes, and is done again.

ERASED_IDS = (f"10000{ERASED[6:]}", *WORDS.values())
BANNED = "100001"
MUTED = "100002"
OUT = "100004"
MEMORY = Path("data") / "memory.sqlite3"
COPY = Path("elsewhere") / "copy.sqlite3"


async def prepare(folder: Path) -> None:
    """A memory with chat, notes and somebody to erase, and a copy of it elsewhere."""
    clock = ManualClock(NOON)
    async with open_bot(folder / MEMORY, settings=lambda: SETTINGS, clock=clock) as bot:
        for number in range(60):
            await clock.advance(1_000)
            await bot.hear(line(number, clock.now()))
        for number, login in enumerate(WORDS, 60):
            await bot.hear(line(number, clock.now(), login, "good evening"))
        await bot.remember_all()
        await transfer.import_notes(
            bot.db, map(json.dumps, imported()), now=clock.now()
        )
        await backups.copy_to(bot.db, folder / COPY)


async def decide(folder: Path) -> None:
    """What people and the channel decide about data after the copy was made; and a recap's file from back then."""
    now = NOON + HOUR
    recaps = folder / "recaps"
    recaps.mkdir()
    text = f"{ERASED} laughed about the {MARK}. It rained.\n"
    (recaps / "2026-07-24 20-00 stream 99.md").write_text(text, encoding="utf-8")
    async with open_database(folder / MEMORY) as db:
        clock = ManualClock(now)
        await PrivacyService(
            db=db, clock=clock, eraser=Eraser(db=db, clock=clock)
        ).opt_out(OUT)
        await suppress(db, MUTED, "their exams", by=MUTED, at=now)
        await suppress(db, None, "the election", by=None, at=now)
        async with db.write() as tx:
            await privacy_choices.ban(tx, {BANNED: now})
            [started_at] = await streams.start_times(tx)
            folder_line = PrivacyRequest(
                RequestKind.RECAP_FOLDER, "", now, folder=str(recaps)
            )
            await privacy_choices.write_request(
                tx, db.requests.posted(started_at, now), folder_line
            )


async def decisions_lost(folder: Path) -> int:
    """How many of these decisions a restored copy does not know."""
    async with open_database(folder / MEMORY) as db:
        hidden = await load_filter(db)
        posted = await db.value(
            "SELECT count(*) FROM streams WHERE posted_at IS NOT NULL"
        )
        decisions_known = (
            BANNED in await viewers.hidden(db, [BANNED]),
            OUT in await privacy_choices.opted_out(db),
            hidden.matches("passed the exam", [MUTED])
            and not hidden.matches("passed the exam", [OUT]),
            hidden.matches("the elections", []),
            posted == 1,
        )
    text = "".join(
        file.read_text(encoding="utf-8") for file in (folder / "recaps").iterdir()
    )
    return decisions_known.count(False) + (ERASED in text.lower() or MARK in text)


async def _restore(folder: Path) -> None:
    """Restore a copy that was made before some decisions of viewers and moderators."""
    await backups.restore(folder / COPY, folder / MEMORY, now=NOON + DAY, keep=3)


async def _import(folder: Path) -> None:
    """Import thirty notes more."""
    more = (
        {"scope": "channel", "fact": f"sang song {number} of the book"}
        for number in range(30)
    )
    async with open_database(folder / MEMORY) as db:
        await transfer.import_notes(db, map(json.dumps, more), now=NOON + DAY)


async def _sweep(folder: Path) -> None:
    """Run the sweep a day later, when chat is to be deleted."""
    clock = ManualClock(NOON + 2 * DAY)
    async with open_bot(folder / MEMORY, settings=lambda: SETTINGS, clock=clock) as bot:
        await bot.tasks.do(SWEEP)


async def _back_up(folder: Path) -> None:
    """Make a copy of the memory."""
    async with open_database(folder / MEMORY) as db:
        await backups.make(db, at=NOON + DAY, keep=3)


async def _erase(folder: Path) -> None:
    """Erase the viewers who asked for it, as a start of the bot does."""
    async with open_database(folder / MEMORY) as db:
        await carry_out(db)  # as each start does
        eraser = Eraser(db=db, clock=ManualClock(NOON + DAY))
        for viewer_id in ERASED_IDS:
            waits = "SELECT count(*) FROM viewers WHERE id = ? AND erase_at IS NULL"
            if await db.value(waits, (viewer_id,)):
                async with db.write() as tx:
                    await privacy_choices.begin_erasure(tx, viewer_id, NOON + DAY)
                eraser.start(viewer_id)
                await eraser.idle()
        await eraser.erase_due()


OPERATIONS: dict[str, Callable[[Path], Coroutine[Any, Any, None]]] = {
    "restore": _restore,
    "import": _import,
    "sweep": _sweep,
    "backup": _back_up,
    "erasure": _erase,
}


async def operations(folder: Path, dice: random.Random, rounds: int) -> Figures:
    """Die in each operation, at every point of it or at so many, and do it again."""
    figures: Figures = dict.fromkeys(("operations", "deaths", *MUST_BE_ZERO), 0)
    template = folder / "template"
    await prepare(template)
    names = list(OPERATIONS) if rounds > 1 else dice.sample(list(OPERATIONS), 1)
    for name in names:
        start = folder / name
        await asyncio.to_thread(shutil.copytree, template, start)
        if name == "restore":
            # what was asked for since the copy was made is to be carried out again
            await _erase(start)
        points = range(1, rounds + 1) if rounds > 1 else [dice.randint(1, 6)]
        for number in points:
            place = folder / f"{name} {number}"
            await asyncio.to_thread(shutil.copytree, start, place)
            if name == "restore":
                await decide(place)
            code = await asyncio.to_thread(die, place, name, number)
            figures["deaths"] += code == 9
            figures["crashes"] += code not in {0, 9}
            await OPERATIONS[name](place)
            add(figures, await operation_account(place, name))
            await asyncio.to_thread(shutil.rmtree, place)
            if code == 0:  # it passes no more points
                break
        figures["operations"] += 1
    return figures


async def operation_account(place: Path, name: str) -> Figures:
    """What became of the memory."""
    expected = 60 if name == "import" else 30
    async with open_database(place / MEMORY) as db:
        notes = await db.value(
            "SELECT count(*) FROM semantic_notes WHERE source_kind = 'import' AND status = 'active'"
        )
        erased = "id IN (SELECT value FROM json_each(?))"
        there = await db.value(
            f"SELECT count(*) FROM viewers WHERE {erased}",  # noqa: S608  # ours
            (ERASED_IDS,),
        )
        # nobody named anybody: whatever has "somebody" now had a word
        changed = 0
        for texts in (
            "text FROM events",
            "summary FROM episodes",
            "fact FROM semantic_notes",
        ):
            rows = await db.column(f"SELECT {texts}")
            changed += sum("somebody" in text.lower() for text in rows)
        unread = await db.value(
            "SELECT coalesce(sum(count), 0) FROM tally WHERE name = 'pruned_unread'"
        )
        broken = await broken_promises(
            db, NOON + (2 * DAY if name == "sweep" else DAY // 2)
        )
    lost_decisions = await decisions_lost(place) if name == "restore" else 0
    bytes_on_disk = b"".join(
        file.read_bytes() for file in (place / "data").rglob("*") if file.is_file()
    )
    is_erased = name in {"erasure", "restore"}
    return {
        "lost": max(0, expected - notes)
        + unread
        + (name == "backup" and not copies_of(place / MEMORY)),
        "doubled": max(0, notes - expected),
        "rights lost": (there if is_erased else 0) + lost_decisions,
        "bytes left": bytes_on_disk.count(MARK.encode()) if is_erased else 0,
        "others changed": changed,
        "promises broken": broken,
    }


# ── a model that fails ──────────────────────────────────────────────────────────────────────


ODD = [
    {"who": "P1", "said_by": "P1", "fact": "plays", "confidence": "\ud800"},
    {"replaces": 2**70},
    7,
    None,
]
MODES: tuple[str | Exception | Callable[[ModelRequest], str], ...] = (
    "",
    " \n",
    "null",
    "[]",
    "{}",
    "42",
    '"summary"',
    "not JSON at all",
    "<html>502</html>",
    '```json\n{"notes": 1}\n```',
    '{"summary": null}',
    '{"summary": 5}',
    '{"summary": ""}',
    '{"text": "P1 spoke."}',
    '{"summary": "P1 sp',
    '{"summary": "\\ud800"}',
    '{"summary": "P99 won."}',
    '{"summary": "\u200b\u200b"}',
    json.dumps({"notes": ODD}),
    "<think>Let me see.</think>",
    "[" * 50_000,
    "x" * 2_000_000,
    lambda request: json.dumps({"summary": request.prompt[:3_000]}),
    lambda request: json.dumps(
        {
            "notes": [{"who": "P1", "fact": "plays", "repeats": -1}],
            "summary": request.system,
        }
    ),
    ModelBlocked("The prompt was blocked."),
    ModelUnavailable("The server is away."),
    ModelRateLimited("Too many calls.", 30.0),
    ModelRefused("The key is wrong."),
    ModelUnavailable("The model did not answer in time."),
    ValueError("a bug in an adapter"),
)


class Moody(Offline):
    """A model that fails in the mode of the moment; without one it answers as the offline model does."""

    mode: str | Exception | Callable[[ModelRequest], str] | None = None

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer, or fail."""
        if self.mode is None:
            return await super().generate(request)
        if isinstance(self.mode, Exception):
            raise self.mode
        text = self.mode if isinstance(self.mode, str) else self.mode(request)
        return ModelAnswer(text, "moody", TokenUsage())


async def outage(
    folder: Path, dice: random.Random, *, hours: float, per_minute: int
) -> Figures:
    """Chat through all modes, one after the other; then the model is well again for some hours.

    A window whose answer could be read and held nothing to keep is counted; what could not be read waits.
    """
    clock = ManualClock(NOON)
    model = Moody()
    slept = [0.0]
    line_count = 0
    modes = dice.sample(MODES, len(MODES))
    minutes = round(hours * 60)

    async def sleep(seconds: float) -> None:
        slept[0] += seconds

    async with open_bot(
        folder / "memory.sqlite3", settings=lambda: SETTINGS, clock=clock
    ) as bot:
        guard = bot.models.memory
        guard._inner = model  # noqa: SLF001  # the model alone is another, not its guard
        guard._pace = RetryClock(lambda: clock.now() / 1_000 + slept[0], sleep)  # noqa: SLF001  # in the clock's time
        for minute in range(minutes):
            model.mode = modes[minute * len(modes) // minutes]
            for number in range(per_minute):
                line_count += 1
                bot.ingest.take(
                    line(
                        line_count, clock.now() + number, f"viewer{dice.randint(0, 60)}"
                    )
                )
            await clock.advance(MINUTE)
            await bot.tasks.catch_up()
        model.mode = None
        # within the day that a line may be kept
        for _ in range(round(20 * min(11, 3 * hours))):
            await clock.advance(3 * MINUTE)
            await bot.tasks.catch_up()
        counted = await bot.db.value(
            "SELECT coalesce(sum(events), 0) FROM episodes WHERE kind = 'counted'"
        )
        unread = await bot.db.value(
            "SELECT count(*) FROM events WHERE episode_id IS NULL"
        )
        stored = await bot.db.value("SELECT count(*) FROM events")
        broken = await broken_promises(bot.db, clock.now())
    figures = {"modes": len(MODES), "lines": line_count, "counted": counted}
    return figures | {"lost": line_count - stored + unread, "promises broken": broken}


# ── a disk that fails ───────────────────────────────────────────────────────────────────────


# What SQLite is told on the bot's own connection; "locked": another program writes, and does not end.
DISKS = {
    "full": "max_page_count = 1",
    "read_only": "query_only = ON",
    "locked": "busy_timeout = 20",
    "moved": "no_op",
}
MENDED = ("max_page_count = 1000000000", "query_only = OFF")
# lines before the disk fails, and as many after
HALF = 50


async def disks(folder: Path) -> Figures:
    """Chat while the disk fails: once it is well again nothing is missing, after a stop meanwhile nothing before."""
    figures: Figures = {"disks": 0, "lost": 0, "doubled": 0, "promises broken": 0}
    for name, mended in itertools.product(DISKS, (True, False)):
        path = folder / f"{name} {mended}" / "memory.sqlite3"
        clock = ManualClock(NOON)
        await _chat_on_failing_disk(path, clock, name, mended=mended)
        async with open_bot(path, settings=lambda: SETTINGS, clock=clock) as bot:
            await bot.settle()
            ids = [row[0] for row in await bot.db.rows("SELECT id FROM events")]
            expected = 2 * HALF if mended else HALF
            figures["lost"] += max(0, expected - len(set(ids)))
            figures["doubled"] += len(ids) - len(set(ids))
            figures["promises broken"] += await broken_promises(bot.db, clock.now())
        figures["disks"] += 1
    return figures


async def _chat_on_failing_disk(
    path: Path, clock: ManualClock, name: str, *, mended: bool
) -> None:
    """Say so many lines, let the disk fail, say as many again; it is mended before the bot stops, or after."""
    with contextlib.ExitStack() as damage:
        async with open_bot(path, settings=lambda: SETTINGS, clock=clock) as bot:
            for number in range(HALF):
                bot.ingest.take(_long_line(number, clock))
            await bot.settle()
            await _break_disk(bot, path, name, damage)
            for number in range(HALF, 2 * HALF):
                bot.ingest.take(_long_line(number, clock))
            with contextlib.suppress(ForgetMeNotError):
                await bot.ingest.flush()
            if mended:
                damage.close()
                # of the present connection: the file may have been put back
                for pragma in MENDED:
                    await bot.db._writer.execute_fetchall(f"PRAGMA {pragma}")  # noqa: SLF001
                await bot.settle()


async def _break_disk(
    bot: Bot, path: Path, name: str, damage: contextlib.ExitStack
) -> None:
    """Make the disk fail. What another program does to the file ends with `damage`."""
    writer = bot.db._writer  # noqa: SLF001  # as a failing disk would
    await writer.execute_fetchall(f"PRAGMA {DISKS[name]}")
    if name == "locked":
        other = damage.enter_context(
            contextlib.closing(sqlite3.connect(path, isolation_level=None))
        )
        other.execute("BEGIN IMMEDIATE")
    elif name == "moved":
        moved = path.rename(path.with_name("away"))
        damage.callback(moved.replace, path)


def _long_line(number: int, clock: ManualClock) -> ChatEvent:
    """Return a line so long that a few of them need a new page of the file."""
    text = f"try {number} " + "of many levels " * 30
    return line(number, clock.now(), text=text)


async def flips(folder: Path, dice: random.Random, rounds: int) -> Figures:
    """One bit of the file is wrong: the start refuses with a sentence, or the bot works on; no copy goes."""
    await prepare(folder)
    path = folder / MEMORY
    clock = ManualClock(NOON + DAY)
    await _back_up(folder)
    whole = path.read_bytes()
    copies = {copy: copy.read_bytes() for copy in copies_of(path)}
    figures: Figures = {"flips": rounds, "refused": 0, "crashes": 0, "lost": 0}
    for _ in range(rounds):
        await clock.advance(SECOND)
        damaged = bytearray(whole)
        # not in SQLite's header of a hundred bytes: without that it is no database at all
        damaged[dice.randrange(100, len(damaged))] ^= 1 << dice.randrange(8)
        path.with_name(path.name + "-wal").unlink(missing_ok=True)
        path.write_bytes(damaged)
        try:
            async with open_bot(path, settings=lambda: SETTINGS, clock=clock) as bot:
                await bot.tasks.catch_up()
                await backups.Backups(
                    db=bot.db, settings=bot.settings, clock=clock
                ).run_pass()
        except ForgetMeNotError:
            figures["refused"] += 1
        except Exception as error:  # noqa: BLE001  # what this looks for
            say(f"   {type(error).__name__}: {error}")
            figures["crashes"] += 1
        figures["lost"] += not any(
            copy.exists() and copy.read_bytes() == was for copy, was in copies.items()
        )
        for copy in set(copies_of(path)) - copies.keys():
            copy.unlink()
    return figures


async def clocks(folder: Path, dice: random.Random, rounds: int) -> Figures:
    """The PC's clock is days off at the start, and it sleeps for two days meanwhile."""
    figures: Figures = {"clocks": rounds, "lost": 0, "promises broken": 0}
    for number in range(rounds):
        path = folder / f"{number}.sqlite3"
        real = time.time_ns()
        async with open_bot(
            path, settings=lambda: SETTINGS, clock=ManualClock(real // 1_000_000)
        ) as bot:
            for minute in range(60):
                bot.ingest.take(line(minute, real // 1_000_000 - minute * MINUTE))
            await bot.settle()
        skew = dice.randint(-10 * DAY, 10 * DAY)
        with mock.patch.object(time, "time_ns", lambda: real + skew * 1_000_000):  # noqa: B023, PT008  # it moves
            clock = SystemClock()
            async with open_bot(path, settings=lambda: SETTINGS, clock=clock) as bot:
                await bot.tasks.catch_up()
                for _ in range(3):
                    clock.observe(real // 1_000_000 + 2 * HOUR)
                skew = 2 * DAY  # it slept, or was set
                await bot.tasks.do("sweep")
                figures["lost"] += 60 - int(
                    await bot.db.value("SELECT count(*) FROM events")
                )
                figures["lost"] += int(
                    await bot.db.value(
                        "SELECT count(*) FROM episodes WHERE kind = 'counted'"
                    )
                )
                figures["promises broken"] += await broken_promises(
                    bot.db, clock.certain()
                )
    return figures


# ── the file of a bot that is used ──────────────────────────────────────────────────────────


class Evening:
    """Chat to a bot in a process of its own. `said`: what must be in its memory, by Twitch's id."""

    def __init__(self, sim: TwitchSim, memory: Path) -> None:
        self.said: dict[str, str] = {}
        self.locks_lost = 0
        self.paused = False
        self._sim = sim
        self._memory = memory

    async def talk(self) -> None:
        """Some lines a second, by people of whom nobody asks for anything."""
        for number in itertools.count():
            await asyncio.sleep(0.1)
            if self.paused or not any(
                connection.channels for connection in self._sim.irc.connections
            ):
                continue
            text = f"the {number} run of level {number % 9} went well"
            self.said[await self._sim.say(f"viewer{number % 12}", text)] = text

    async def quiet(self) -> None:
        """Nobody says anything until what was said is on disk."""
        self.paused = True
        await asyncio.sleep(1)

    def count_locks(self, pid: int, after: str) -> None:
        """Count where the bot holds no lock on its memory any more, or has a deleted file open."""
        self.locks_lost += locks_lost(self._memory, pid, after)


def locks_lost(memory: Path, pid: int, after: str) -> bool:
    """Return whether a bot lost its locks, or has a file open that is deleted; what is missing is printed.

    On Linux alone: other systems do not say who holds a lock.
    """
    if not proc.LINUX:
        return False
    index = memory.with_name(f"{memory.name}-shm")
    missing = [file.name for file in (memory, index) if not proc.locks_on(file, pid)]
    missing += proc.deleted_files(memory.parent, pid)
    if missing:
        say(f"   after {after}: {missing}")
    return bool(missing)


def _log_removed(memory: Path) -> None:
    """Delete SQLite's log of recent changes."""
    memory.with_name(f"{memory.name}-wal").unlink()


def _file_removed(memory: Path) -> None:
    """Delete the memory."""
    memory.unlink()


def _file_replaced(memory: Path) -> None:
    """Put an older memory in place of the current one."""
    memory.with_name("older").replace(memory)


HARMS = (_log_removed, _file_removed, _file_replaced)


async def used_file(folder: Path, *, quick: bool) -> Figures:
    """A bot whose every button is pressed, whose file other programs take away, and that is killed: what is lost.

    `quick`: of the terminal's commands only some, and no other program.
    """
    place = folder / "bot"
    memory = place / "m.sqlite3"
    async with TwitchSim() as sim:
        evening = Evening(sim, memory)
        talking = asyncio.create_task(evening.talk())
        async with started(sim, place, bot='mode = "mentions"') as bot:
            presser = Presser(sim, place, bot)
            shutil.copyfile(memory, place / "older")
            for name, press in (
                ("the dock", presser.dock),
                ("chat", presser.chat),
                (
                    "the terminal",
                    lambda: presser.terminal(SOME_COMMANDS if quick else ()),
                ),
            ):
                await press()
                evening.count_locks(bot.pid, name)
            await evening.quiet()  # it leaves its channel and joins it again
            await presser.captions(memory)
            evening.count_locks(bot.pid, "captions")
            evening.paused = False
            for harm in () if quick else HARMS:
                await evening.quiet()
                before = memory.stat().st_ino
                harm(memory)
                evening.paused = False
                await sim.until(lambda: _is_another(memory, before), 20)  # noqa: B023  # asked at once
                await asyncio.sleep(1)
                evening.count_locks(bot.pid, harm.__name__)
                await presser.terminal(("memory list",))
            await asyncio.sleep(1)
            await evening.quiet()
            os.kill(bot.pid, signal.SIGKILL)
        talking.cancel()
        await asyncio.gather(talking, return_exceptions=True)
    for crash in presser.crashes:
        say(f"   {crash}")
    async with open_database(memory) as db:
        rows = await db.rows("SELECT id, text FROM events")
        broken = await broken_promises(db, SystemClock().now())
    stored = Counter(row["id"] for row in rows)
    texts = {row["id"]: row["text"] for row in rows}
    return {
        "pressed": presser.presses,
        "lines": len(evening.said),
        "lost": sum(
            texts.get(line_id) != text for line_id, text in evening.said.items()
        ),
        "doubled": sum(count - 1 for count in stored.values()),
        "locks lost": evening.locks_lost,
        "crashes": len(presser.crashes),
        "promises broken": broken,
    }


# Of each kind one: a check, a read, a change, and what is refused while a bot runs.
SOME_COMMANDS = ("doctor", "memory list", "viewer optout", "memory restore")


def _is_another(memory: Path, inode: int) -> bool:
    """Return whether the bot has opened a new file at this path."""
    return memory.exists() and memory.stat().st_ino != inode


# ── all of it ───────────────────────────────────────────────────────────────────────────────


async def chaos(folder: Path, seed: int, *, quick: bool) -> dict[str, Figures]:
    """Every part, each in a folder and with dice of its own."""
    parts: dict[str, Callable[[Path, random.Random], Awaitable[Figures]]] = {
        "kills": lambda place, dice: kills(place, dice, 1 if quick else 200),
        "deaths inside operations": lambda place, dice: operations(
            place, dice, 1 if quick else 60
        ),
        "a model that fails": lambda place, dice: outage(
            place, dice, hours=1 if quick else 12, per_minute=20 if quick else 400
        ),
        "a disk that fails": lambda place, _dice: disks(place),
        "flipped bits": lambda place, dice: flips(place, dice, 20 if quick else 1_000),
        "a file in use": lambda place, _dice: used_file(place, quick=quick),
        "wrong clocks": lambda place, dice: clocks(place, dice, 4 if quick else 100),
    }
    results: dict[str, Figures] = {}
    for name, part in parts.items():
        began = time.monotonic()
        place = folder / name
        place.mkdir()
        results[name] = await part(place, random.Random(f"{seed} {name}"))  # noqa: S311  # the same again, not secrets
        figures = ", ".join(
            f"{label} {figure:,g}" for label, figure in results[name].items()
        )
        say(f"{name}, {time.monotonic() - began:.0f} s: {figures}")
        await asyncio.to_thread(shutil.rmtree, place)
    return results


def bad(results: dict[str, Figures]) -> Figures:
    """What must be zero, and is not."""
    total = {
        name: sum(part.get(name, 0) for part in results.values())
        for name in MUST_BE_ZERO
    }
    return {name: figure for name, figure in total.items() if figure}


def main() -> int:
    """Run it and say what must be zero and is not."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="some seconds of it")
    # what a process of its own is to do, and when to die
    parser.add_argument("--die", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    set_up(console=False)
    # the log of all those troubles would bury the figures
    logging.disable(logging.CRITICAL)
    if options.die:
        place, subject, number = options.die
        Bomb("any" if subject in OPERATIONS else subject, int(number))
        asyncio.run(OPERATIONS.get(subject, play)(Path(place)))
        os._exit(0)
    with tempfile.TemporaryDirectory(prefix="forgetmenot-chaos-") as folder:
        failed = bad(
            asyncio.run(chaos(Path(folder), options.seed, quick=options.quick))
        )
    print("\n".join(f"{name:18}{failed.get(name, 0):>8,g}" for name in MUST_BE_ZERO))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
