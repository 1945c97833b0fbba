"""A world of chat, and operations on a memory, played by processes that die, and what is left: a part of chaos.py.

Each process dies at a named point (before or after a commit, a message, a model's answer, a file that is replaced or
deleted, a wipe) or whenever its parent kills it; the next goes on where that one was known to have got to.
"""

import asyncio
import contextlib
import json
import logging
import os
import random
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from forgetmenot.app.bot import SWEEP, Bot, BotIdentity, NoAccount, open_bot
from forgetmenot.clock import DAY, MINUTE, ManualClock
from forgetmenot.domain import ChatEvent, EventKind, Outcome, OutcomeKind, Redaction
from forgetmenot.llm.offline import Offline
from forgetmenot.logs import set_up
from forgetmenot.memory import backups, transfer
from forgetmenot.memory.erasure import Eraser
from forgetmenot.memory.rights import carry_out
from forgetmenot.settings.schema import BotSettings, Mode, Settings
from forgetmenot.store import personal_data
from forgetmenot.store.backup import copies_of
from forgetmenot.store.database import Database, open_database
from forgetmenot.store.invariants import verify
from forgetmenot.store.rights import PrivacyRequests

Figures = dict[str, float]
NOON = 1_784_894_400_000
SETTINGS = Settings(bot=BotSettings(mode=Mode.MENTIONS))
MUST_BE_ZERO = ("lost", "doubled", "sent twice", "rights lost", "bytes left", "promises broken", "crashes")
OPTED_OUT, ERASED, MARK = "viewer3", "viewer5", "quillfrost"


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


def line(number: int, at: int, who: str = "", text: str = "") -> ChatEvent:
    """A line of chat by its number."""
    who = who or f"viewer{number % 12}"
    text = text or f"try {number} of level {number % 9} went well {MARK if who == ERASED else ''}".strip()
    return ChatEvent(f"m{number}", EventKind.MESSAGE, f"10000{who[6:]}", who, who.title(), text, at)


async def broken_promises(db: Database, now: int) -> int:
    """How many promises do not hold; each is printed."""
    found = await verify(db, now=now)
    for one in found:
        say(f"   {one}")
    return len(found)


def say(text: str) -> None:
    """Tell the person at the terminal."""
    print(text, file=sys.stderr, flush=True)


LINES = 330
EVERY = 5 * MINUTE  # so that the world is longer than a day, and chat ages out in it
POINTS = ("commit", "say", "answer", "replace", "unlink", "wipe", "request")


WITNESS_TABLE = "CREATE TABLE IF NOT EXISTS witness (id TEXT)"
WITNESS_TRIGGER = """CREATE TRIGGER IF NOT EXISTS witness_events AFTER INSERT ON events WHEN NOT new.from_bot
BEGIN INSERT INTO witness VALUES (new.id); END"""
"""Events are pruned: a table of the world's own knows which were ever stored."""


class Bomb:
    """Ends the process, as `kill -9` does, at the n-th passage of a named point, or of "any"."""

    def __init__(self, point: str, number: int) -> None:
        self.point, self.left, self.passed = point, number, Counter[str]()

    def pass_by(self, point: str) -> None:
        """A point is passed."""
        self.passed[point] += 1
        if self.point in {point, "any"}:
            self.left -= 1
            if self.left == 0:
                os._exit(9)

    def set(self) -> None:
        """Let the process die at any named point."""
        self.around(Database, "_commit", "commit")
        self.around(Database, "wipe_deleted", "wipe")
        self.around(Witness, "say", "say")
        self.around(Offline, "generate", "answer")
        self.around(Path, "replace", "replace")
        self.around(Path, "unlink", "unlink")
        self.around(PrivacyRequests, "add", "request")  # between writing a request and carrying it out

    def around(self, owner: Any, name: str, point: str) -> None:  # noqa: ANN401  # a class or an object
        """Pass by before and after a method, which may be async or not."""
        original = getattr(owner, name)

        async def waiting(*given: Any, **more: Any) -> Any:  # noqa: ANN401
            self.pass_by(point)
            result = await original(*given, **more)
            self.pass_by(point)
            return result

        def plain(*given: Any, **more: Any) -> Any:  # noqa: ANN401
            self.pass_by(point)
            result = original(*given, **more)
            self.pass_by(point)
            return result

        setattr(owner, name, waiting if asyncio.iscoroutinefunction(original) else plain)


async def play(folder: Path, bomb: Bomb) -> None:
    """Play what is left of the world."""
    progress, path = folder / "progress", folder / "memory.sqlite3"
    done = len(progress.read_text().split()) if progress.exists() else 0
    clock = ManualClock(NOON + done * EVERY)
    bomb.set()
    me = BotIdentity("99999999", "forgetmenot_bot")
    async with open_bot(path, settings=lambda: SETTINGS, clock=clock, account=Witness(folder), me=me) as bot:
        async with bot.db.write() as tx:
            await tx.execute(WITNESS_TABLE)
            await tx.execute(WITNESS_TRIGGER)
        keeper = backups.Backups(db=bot.db, settings=bot.settings, clock=clock)
        for number in range(done, LINES):
            await clock.move_to(NOON + number * EVERY)
            await step(bot, keeper, number)
            await bot.settle()
            await asyncio.to_thread(append, progress, str(number))
        await bot.tasks.catch_up()
        await bot.wind_down()


async def step(bot: Bot, keeper: backups.Backups, number: int) -> None:
    """What happens at one line of the world."""
    now = bot.clock.now()
    if number == LINES - 40:
        await transfer.import_notes(bot.db, map(json.dumps, imported()), now=now)
    elif is_wish(number):
        who, what = (OPTED_OUT, "!optout") if number % 12 == 3 else (ERASED, "!forgetme")
        if number < LINES // 2 + 13:
            await bot.hear(line(number, now, who, what))
            if who == ERASED:
                await bot.settle()
                await bot.hear(line(number + 10_000, now, who, "!forgetme confirm"))
    elif number % 15 == 7:
        await bot.hear(line(number, now, text=f"@ForgetMeNot what about level {number % 9}?"))
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
    return [{"scope": "channel", "fact": f"has finished game {number} of the series"} for number in range(30)]


async def kills(folder: Path, dice: random.Random, wanted: int) -> Figures:
    """Play worlds, each through many deaths, until so many processes have died."""
    figures: Figures = dict.fromkeys(("kills", "worlds", *MUST_BE_ZERO), 0)
    while figures["kills"] < wanted:
        place = folder / f"world{figures['worlds']:.0f}"
        place.mkdir()
        deaths = 0
        while True:
            enough = deaths >= 12 or figures["kills"] >= wanted
            point = "" if enough else dice.choice((*POINTS, "whenever"))
            at = dice.randint(1, 60 if point == "commit" else 8)
            within_s = dice.uniform(0.5, 3) if point == "whenever" else 120
            code = await asyncio.to_thread(die, place, point, at, within_s)
            if code == 0 and (enough or point != "whenever"):
                break
            if code not in {0, 9, -9}:
                figures["crashes"] += 1
                break
            deaths += code != 0
            figures["kills"] += code != 0
        figures["worlds"] += 1
        for name, count in (await world_account(place)).items():
            figures[name] += count
    return figures


def die(place: Path, point: str, number: int, within_s: float = 120) -> int:
    """Play the world or an operation in a process until its n-th passage of a point, or its end; how that ended."""
    words = [sys.executable, __file__, str(place), point, str(number)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(timeout=within_s)
        if process.poll() is None:
            process.kill()
        _, errors = process.communicate()
    if process.returncode not in {0, 9, -9}:
        say(errors[-2_000:])
    return process.returncode


def resident(pid: int | str = "self") -> int:
    """Bytes of memory that a process holds; 0 where nobody says."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * 4_096
    return 0


async def world_account(place: Path) -> Figures:
    """What became of a world that was played to its end."""
    path, now = place / "memory.sqlite3", NOON + (LINES - 1) * EVERY
    async with open_database(path) as db:
        counted = {row[0]: row[1] for row in await db.rows("SELECT name, sum(count) FROM tally GROUP BY name")}
        stored = Counter(row[0] for row in await db.rows("SELECT id FROM witness"))
        known = await db.rows("SELECT login, opted_out_at FROM viewers")
        notes = await db.value("SELECT count(*) FROM semantic_notes WHERE source_kind = 'import'")
        broken = await broken_promises(db, now)
    # Without the wishes: a death makes the world say them again, and an erasure keeps nothing that would know them.
    expected = {f"m{number}" for number in range(LINES) if number != LINES - 40 and not is_wish(number)}
    sent = Counter((place / "witness").read_text().split()) if (place / "witness").exists() else Counter()
    out = {row[0] for row in known if row[1] is not None}
    held = b"".join(file.read_bytes() for file in place.rglob("*") if file.is_file())
    return {
        "lost": counted.get("pruned_unread", 0) + max(0, 30 - notes) + len(expected - stored.keys()),
        "doubled": max(0, notes - 30) + sum(stored[one] - 1 for one in expected & stored.keys()),
        "sent twice": sum(sent[one] - 1 for one in expected & sent.keys()),
        "rights lost": (OPTED_OUT not in out) + (ERASED in {row[0] for row in known}),
        "bytes left": held.count(MARK.encode()),
        "promises broken": broken,
    }


# ── inside one operation ────────────────────────────────────────────────────────────────────
#
# A restore, an import, a sweep, a backup and an erasure; each dies at every point that it passes, and is done again.

WHO = f"10000{ERASED[6:]}"
MEMORY, COPY = Path("data") / "memory.sqlite3", Path("elsewhere") / "copy.sqlite3"


async def prepare(folder: Path) -> None:
    """A memory with chat, notes and somebody to erase, and a copy of it elsewhere."""
    clock = ManualClock(NOON)
    async with open_bot(folder / MEMORY, settings=lambda: SETTINGS, clock=clock) as bot:
        for number in range(60):
            await clock.advance(1_000)
            await bot.hear(line(number, clock.now()))
        await bot.remember_all()
        await transfer.import_notes(bot.db, map(json.dumps, imported()), now=clock.now())
        await backups.copy_to(bot.db, folder / COPY)


async def _restore(folder: Path) -> None:
    await backups.restore(folder / COPY, folder / MEMORY, now=NOON + DAY, keep=3)


async def _import(folder: Path) -> None:
    more = ({"scope": "channel", "fact": f"sang song {number} of the book"} for number in range(30))
    async with open_database(folder / MEMORY) as db:
        await transfer.import_notes(db, map(json.dumps, more), now=NOON + DAY)


async def _sweep(folder: Path) -> None:
    clock = ManualClock(NOON + 2 * DAY)
    async with open_bot(folder / MEMORY, settings=lambda: SETTINGS, clock=clock) as bot:
        await bot.tasks.do(SWEEP)


async def _back_up(folder: Path) -> None:
    async with open_database(folder / MEMORY) as db:
        await backups.make(db, at=NOON + DAY, keep=3)


async def _erase(folder: Path) -> None:
    async with open_database(folder / MEMORY) as db:
        await carry_out(db)  # as each start does
        eraser = Eraser(db=db, clock=ManualClock(NOON + DAY))
        if await db.value("SELECT count(*) FROM viewers WHERE id = ? AND erase_at IS NULL", (WHO,)):
            async with db.write() as tx:
                await personal_data.begin(tx, WHO, NOON + DAY)
            eraser.start(WHO)
            await eraser.idle()
        await eraser.erase_due()


OPERATIONS: dict[str, Callable[[Path], Awaitable[None]]] = {
    "restore": _restore,
    "import": _import,
    "sweep": _sweep,
    "backup": _back_up,
    "erasure": _erase,
}


async def ready(folder: Path, name: str) -> None:
    """What has to be so before an operation."""
    if name == "restore":  # what was asked for since the copy was made is to be carried out again
        await _erase(folder)


async def operations(folder: Path, dice: random.Random, wanted: int) -> Figures:
    """Die in each operation, at every point of it or at so many, and do it again."""
    figures: Figures = dict.fromkeys(("operations", "deaths", *MUST_BE_ZERO), 0)
    template = folder / "template"
    await prepare(template)
    names = list(OPERATIONS) if wanted > 1 else dice.sample(list(OPERATIONS), 1)
    for name in names:
        start = folder / name
        await asyncio.to_thread(shutil.copytree, template, start)
        await ready(start, name)
        points = range(1, wanted + 1) if wanted > 1 else [dice.randint(1, 6)]
        for number in points:
            place = folder / f"{name} {number}"
            await asyncio.to_thread(shutil.copytree, start, place)
            code = await asyncio.to_thread(die, place, name, number)
            figures["deaths"] += code == 9
            figures["crashes"] += code not in {0, 9}
            await OPERATIONS[name](place)
            for what, count in (await operation_account(place, name)).items():
                figures[what] += count
            await asyncio.to_thread(shutil.rmtree, place)
            if code == 0:  # it passes no more points
                break
        figures["operations"] += 1
    return figures


async def operation_account(place: Path, name: str) -> Figures:
    """What became of the memory."""
    expected = 60 if name == "import" else 30
    async with open_database(place / MEMORY) as db:
        notes = await db.value("SELECT count(*) FROM semantic_notes WHERE source_kind = 'import' AND status = 'active'")
        there = await db.value("SELECT count(*) FROM viewers WHERE id = ?", (WHO,))
        unread = await db.value("SELECT coalesce(sum(count), 0) FROM tally WHERE name = 'pruned_unread'")
        broken = await broken_promises(db, NOON + (2 * DAY if name == "sweep" else DAY // 2))
    held = b"".join(file.read_bytes() for file in (place / "data").rglob("*") if file.is_file())
    gone = name in {"erasure", "restore"}
    return {
        "lost": max(0, expected - notes) + unread + (name == "backup" and not copies_of(place / MEMORY)),
        "doubled": max(0, notes - expected),
        "rights lost": int(gone and there),
        "bytes left": held.count(MARK.encode()) if gone else 0,
        "promises broken": broken,
    }


if __name__ == "__main__":
    set_up(console=False)
    logging.disable(logging.CRITICAL)
    where, what, number_ = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    if what in OPERATIONS:
        bombs = Bomb("any", number_)
        bombs.set()
        asyncio.run(OPERATIONS[what](where))  # type: ignore[arg-type]  # they are coroutines
        os._exit(0)
    asyncio.run(play(where, Bomb(what, number_)))
