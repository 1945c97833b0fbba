"""Everything that can break a memory, and one check of all its promises after each: `python scripts/chaos.py`.

Kills at named and random points and inside operations, thirty ways in which a model fails, a disk that is full, slow,
read-only, locked or gone, flipped bits, wrong clocks. Seeded:
`--seed 7` does the same again. `--quick` is the part that the tests run. Prints a table; the exit code is 1 if anything
was lost, doubled, sent twice or left behind. Nothing leaves this machine, and nothing stays on it.
"""

import argparse
import asyncio
import contextlib
import json
import logging
import random
import shutil
import sqlite3
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

from chaos_world import (
    MUST_BE_ZERO,
    NOON,
    SETTINGS,
    Figures,
    broken_promises,
    imported,
    kills,
    line,
    operations,
    say,
)

from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.clock import DAY, HOUR, MINUTE, SECOND, ManualClock, SystemClock
from forgetmenot.domain import ModelAnswer, ModelRequest, TokenUsage
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
from forgetmenot.store.backup import copies_of
from forgetmenot.store.database import Database

# ── a model that fails ──────────────────────────────────────────────────────────────────────


def _raising(error: Exception) -> Callable[[ModelRequest], str]:
    def fail(_request: ModelRequest) -> str:
        raise error

    return fail


def _always(text: str) -> Callable[[ModelRequest], str]:
    return lambda _request: text


ODD = [{"who": "P1", "said_by": "P1", "fact": "plays", "confidence": "\ud800"}, {"replaces": 2**70}, 7, None]
MODES: tuple[Callable[[ModelRequest], str], ...] = (
    *map(_always, ("", " \n", "null", "[]", "{}", "42", '"summary"', "not JSON at all", "<html>502</html>")),
    *map(_always, ('{"summary": null}', '{"summary": 5}', '{"summary": ""}', '{"text": "P1 spoke."}')),
    *map(_always, ("<think>Let me see.</think>", '{"summary": "P1 sp', "[" * 50_000, "x" * 2_000_000)),
    *map(_always, ('{"summary": "\\ud800"}', '{"summary": "P99 won."}', '{"summary": "\u200b\u200b"}')),
    _always('```json\n{"notes": 1}\n```'),
    _always(json.dumps({"notes": ODD})),
    lambda request: json.dumps({"summary": request.prompt[:3_000]}),
    lambda request: json.dumps({"notes": [{"who": "P1", "fact": "plays", "repeats": -1}], "summary": request.system}),
    *map(
        _raising,
        (
            ModelBlocked("The prompt was blocked."),
            ModelUnavailable("The server is away."),
            ModelRateLimited("Too many calls.", 30.0),
            ModelRefused("The key is wrong."),
            ModelUnavailable("The model did not answer in time."),
            ValueError("a bug in an adapter"),
        ),
    ),
)


class Moody:
    """A model that fails in the mode of the moment; without one it answers as the offline model does."""

    name = "moody"

    def __init__(self) -> None:
        self.mode: Callable[[ModelRequest], str] | None = None
        self._well = Offline()

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer, or fail."""
        if self.mode is None:
            return await self._well.generate(request)
        return ModelAnswer(self.mode(request), self.name, TokenUsage())

    async def aclose(self) -> None:
        """Nothing to give back."""


@contextlib.asynccontextmanager
async def moody_bot(path: Path, clock: ManualClock) -> AsyncIterator[tuple[Bot, Moody]]:
    """A bot whose memory asks such a model, with a guard that lives in the clock's time."""
    model, slept = Moody(), [0.0]

    async def sleep(seconds: float) -> None:
        slept[0] += seconds

    async with open_bot(path, settings=lambda: SETTINGS, clock=clock) as bot:
        guard = bot.models.memory
        guard._inner = model  # noqa: SLF001  # the model alone is another, not its guard
        guard._pace = RetryClock(lambda: clock.now() / 1_000 + slept[0], sleep)  # noqa: SLF001
        yield bot, model


async def outage(folder: Path, dice: random.Random, *, hours: float, per_minute: int) -> Figures:
    """Chat through all modes, one after the other; then the model is well again for some hours.

    A window whose answer could be read and held nothing to keep is counted; what could not be read waits.
    """
    clock, path, said = ManualClock(NOON), folder / "memory.sqlite3", 0
    modes = dice.sample(MODES, len(MODES))
    minutes = round(hours * 60)
    async with moody_bot(path, clock) as (bot, model):
        for minute in range(minutes):
            model.mode = modes[minute * len(modes) // minutes]
            for number in range(per_minute):
                said += 1
                bot.ingest.take(line(said, clock.now() + number, f"viewer{dice.randint(0, 60)}"))
            await clock.advance(MINUTE)
            await bot.tasks.catch_up()
        model.mode = None
        for _ in range(round(20 * min(11, 3 * hours))):  # within the day that a line may be kept
            await clock.advance(3 * MINUTE)
            await bot.tasks.catch_up()
        counted = await bot.db.value("SELECT coalesce(sum(events), 0) FROM episodes WHERE kind = 'counted'")
        unread = await bot.db.value("SELECT count(*) FROM events WHERE episode_id IS NULL")
        stored = await bot.db.value("SELECT count(*) FROM events")
        broken = await broken_promises(bot.db, clock.now())
    figures = {"modes": len(MODES), "lines": said, "counted": counted, "unread": unread}
    return figures | {"lost": said - stored + unread, "promises broken": broken}


# ── a disk that fails ───────────────────────────────────────────────────────────────────────


DISKS = ("full", "read_only", "locked", "moved", "slow")


@dataclass
class Disk:
    """A memory, and a way to break its disk and to mend it again."""

    db: Database
    other: sqlite3.Connection | None = None

    async def full(self) -> None:
        """No page more."""
        pages = await self.db.value("PRAGMA page_count")
        await self.db._writer.execute_fetchall(f"PRAGMA max_page_count = {pages}")  # noqa: SLF001  # as a failing disk would

    async def read_only(self) -> None:
        """No write."""
        await self.db._writer.execute_fetchall("PRAGMA query_only = ON")  # noqa: SLF001  # as a failing disk would

    async def locked(self) -> None:
        """Another program writes, and does not end."""
        await self.db._writer.execute_fetchall("PRAGMA busy_timeout = 20")  # noqa: SLF001  # as a failing disk would
        self.other = sqlite3.connect(self.db.path, isolation_level=None)
        self.other.execute("BEGIN IMMEDIATE")

    async def moved(self) -> None:
        """The file is moved away under the bot."""
        self.db.path.rename(self.db.path.with_name("away"))

    async def slow(self) -> None:
        """Each commit takes a fifth of a second."""
        commit = self.db._writer.commit  # noqa: SLF001  # as a slow disk would

        async def slowly() -> None:
            await asyncio.sleep(0.2)
            await commit()

        self.db._writer.commit = slowly  # type: ignore[method-assign]  # noqa: SLF001

    def mend_file(self) -> None:
        """Put the file back and let go of it."""
        if self.other is not None:
            self.other.close()
        away = self.db.path.with_name("away")
        if away.exists():
            away.replace(self.db.path)

    async def mend(self) -> None:
        """Undo all of it."""
        self.mend_file()
        for pragma in ("max_page_count = 1000000000", "query_only = OFF"):
            await self.db._writer.execute_fetchall(f"PRAGMA {pragma}")  # noqa: SLF001


async def disks(folder: Path) -> Figures:
    """Chat while the disk fails: once it is well again nothing is missing, after a stop meanwhile nothing before."""
    figures: Figures = {"disks": 0, "lost": 0, "doubled": 0, "promises broken": 0}
    for name, mended in ((name, mended) for name in DISKS for mended in (True, False)):
        path, clock = folder / f"{name} {mended}" / "memory.sqlite3", ManualClock(NOON)
        async with open_bot(path, settings=lambda: SETTINGS, clock=clock) as bot:
            disk = Disk(bot.db)
            for number in range(100):
                if number == 50:
                    await bot.settle()
                    await getattr(disk, name)()
                bot.ingest.take(line(number, clock.now(), text=f"try {number} " + "of many levels " * 30))
            with contextlib.suppress(ForgetMeNotError):
                await bot.ingest.flush()
            if mended:
                await disk.mend()
                await bot.settle()
        if not mended:
            disk.mend_file()
        async with open_bot(path, settings=lambda: SETTINGS, clock=clock) as bot:
            await bot.settle()
            ids = [row[0] for row in await bot.db.rows("SELECT id FROM events")]
            figures["lost"] += (100 if mended else 50) - min(len(set(ids)), 100 if mended else 50)
            figures["doubled"] += len(ids) - len(set(ids))
            figures["promises broken"] += await broken_promises(bot.db, clock.now())
        figures["disks"] += 1
    return figures


async def flips(folder: Path, dice: random.Random, wanted: int) -> Figures:
    """One bit of the file is wrong: the start refuses with a sentence, or the bot works on; no copy goes."""
    path, clock = folder / "memory.sqlite3", ManualClock(NOON)
    async with open_bot(path, settings=lambda: SETTINGS, clock=clock) as bot:
        for number in range(400):
            await clock.advance(SECOND)
            await bot.hear(line(number, clock.now()))
        await bot.remember_all()
        await transfer.import_notes(bot.db, map(json.dumps, imported()), now=clock.now())
        await backups.make(bot.db, at=clock.now(), keep=3)
    whole, copies = path.read_bytes(), [(copy, copy.read_bytes()) for copy in copies_of(path)]
    figures: Figures = {"flips": wanted, "refused": 0, "crashes": 0, "lost": 0}
    for _ in range(wanted):
        await clock.advance(SECOND)
        held = bytearray(whole)
        held[dice.randrange(100, len(held))] ^= 1 << dice.randrange(8)
        for end in ("-wal", "-shm"):
            path.with_name(path.name + end).unlink(missing_ok=True)
        path.write_bytes(held)
        try:
            async with open_bot(path, settings=lambda: SETTINGS, clock=clock) as bot:
                await bot.tasks.catch_up()
                await backups.Backups(db=bot.db, settings=bot.settings, clock=clock).run_pass()
        except ForgetMeNotError:
            figures["refused"] += 1
        except Exception as error:  # noqa: BLE001  # what this looks for
            say(f"   {type(error).__name__}: {error}")
            figures["crashes"] += 1
        figures["lost"] += not any(copy.exists() and copy.read_bytes() == was for copy, was in copies)
        for copy in copies_of(path):
            if copy not in {one for one, _ in copies}:
                copy.unlink()
    return figures


async def clocks(folder: Path, dice: random.Random, wanted: int) -> Figures:
    """The PC's clock is days off at the start, and it sleeps for two days meanwhile."""
    figures: Figures = {"clocks": wanted, "lost": 0, "promises broken": 0}
    for number in range(wanted):
        path, real = folder / f"{number}.sqlite3", time.time_ns()
        async with open_bot(path, settings=lambda: SETTINGS, clock=ManualClock(real // 1_000_000)) as bot:
            for one in range(60):
                bot.ingest.take(line(one, real // 1_000_000 - one * MINUTE))
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
                figures["lost"] += 60 - int(await bot.db.value("SELECT count(*) FROM events"))
                figures["lost"] += int(await bot.db.value("SELECT count(*) FROM episodes WHERE kind = 'counted'"))
                figures["promises broken"] += await broken_promises(bot.db, clock.certain())
    return figures


# ── all of it ───────────────────────────────────────────────────────────────────────────────


async def chaos(folder: Path, seed: int, *, quick: bool) -> dict[str, Figures]:
    """Every part, each in a folder and with dice of its own."""
    parts: dict[str, Callable[[Path, random.Random], Awaitable[Figures]]] = {
        "kills": lambda place, dice: kills(place, dice, 1 if quick else 200),
        "deaths inside operations": lambda place, dice: operations(place, dice, 1 if quick else 60),
        "a model that fails": lambda place, dice: outage(
            place, dice, hours=1 if quick else 12, per_minute=20 if quick else 400
        ),
        "a disk that fails": lambda place, _dice: disks(place),
        "flipped bits": lambda place, dice: flips(place, dice, 20 if quick else 1_000),
        "wrong clocks": lambda place, dice: clocks(place, dice, 4 if quick else 100),
    }
    found: dict[str, Figures] = {}
    for name, part in parts.items():
        began, place = time.monotonic(), folder / name
        place.mkdir()
        found[name] = await part(place, random.Random(f"{seed} {name}"))  # noqa: S311  # the same again, not secrets
        say(f"{name}, {time.monotonic() - began:.0f} s: {on_one_line(found[name])}")
        await asyncio.to_thread(shutil.rmtree, place)
    return found


def on_one_line(figures: Figures) -> str:
    """The figures of a part on one line."""
    return ", ".join(f"{name} {figure:,g}" for name, figure in figures.items())


def bad(found: dict[str, Figures]) -> dict[str, float]:
    """What must be zero, and is not."""
    total = {name: sum(part.get(name, 0) for part in found.values()) for name in MUST_BE_ZERO}
    return {name: figure for name, figure in total.items() if figure}


def main() -> int:
    """Run it and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--quick", action="store_true", help="some seconds of it")
    wanted = parser.parse_args()
    set_up(console=False)
    logging.disable(logging.CRITICAL)  # the log of all those troubles would bury the figures
    with tempfile.TemporaryDirectory(prefix="forgetmenot-chaos-") as folder:
        found = asyncio.run(chaos(Path(folder), wanted.seed, quick=wanted.quick))
    total = {name: sum(part.get(name, 0) for part in found.values()) for name in MUST_BE_ZERO}
    print("\n".join(f"{name:18}{figure:>8,g}" for name, figure in total.items()))
    return 1 if bad(found) else 0


if __name__ == "__main__":
    sys.exit(main())
