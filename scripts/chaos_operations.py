"""Processes that die inside one operation on a memory, and what doing it again makes of that: a part of chaos.py.

A migration, a restore, an import, a sweep, a backup and an erasure; each dies at every point that it passes: before and
after a commit, a file that is replaced or deleted and a wipe, and every so many steps of SQLite in a migration.
"""

import asyncio
import json
import logging
import os
import random
import shutil
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import aiosqlite
from chaos_world import ERASED, MARK, MUST_BE_ZERO, NOON, SETTINGS, Bomb, Figures, broken_promises, die, imported, line

from forgetmenot.app.bot import SWEEP, open_bot
from forgetmenot.clock import DAY, ManualClock
from forgetmenot.logs import set_up
from forgetmenot.memory import backups, transfer
from forgetmenot.memory.erasure import Eraser
from forgetmenot.store import database, migrations
from forgetmenot.store.backup import copies_of
from forgetmenot.store.database import open_database
from forgetmenot.store.file_safety import APPLICATION_ID

SCHEMA_1 = Path(__file__).parents[1] / "tests" / "store" / "schema_1.sql"
STEPS = 20  # of SQLite's machine, between two points of a migration
WHO = f"10000{ERASED[6:]}"
PARTS = ("main", "new")
MEMORY, COPY = Path("data") / "memory.sqlite3", Path("elsewhere") / "copy.sqlite3"


async def prepare(folder: Path) -> None:
    """A memory with chat, notes and somebody to erase, and a copy of it elsewhere."""
    clock = ManualClock(NOON)
    async with open_bot(folder / MEMORY, "chaos", settings=lambda: SETTINGS, clock=clock) as bot:
        for number in range(60):
            await clock.advance(1_000)
            await bot.hear(line(number, clock.now()))
        await bot.remember_all()
        await transfer.import_notes(bot.db, map(json.dumps, imported()), now=clock.now())
        await backups.copy_to(bot.db, folder / COPY)


async def _migrate(folder: Path) -> None:
    async with open_database(folder / MEMORY):
        pass


async def _restore(folder: Path) -> None:
    await backups.restore(folder / COPY, folder / MEMORY, now=NOON + DAY, keep=3)


async def _import(folder: Path) -> None:
    more = ({"scope": "channel", "fact": f"sang song {number} of the book"} for number in range(30))
    async with open_database(folder / MEMORY) as db:
        await transfer.import_notes(db, map(json.dumps, more), now=NOON + DAY)


async def _sweep(folder: Path) -> None:
    clock = ManualClock(NOON + 2 * DAY)
    async with open_bot(folder / MEMORY, "chaos", settings=lambda: SETTINGS, clock=clock) as bot:
        await bot.tasks.do(SWEEP)


async def _back_up(folder: Path) -> None:
    async with open_database(folder / MEMORY) as db:
        await backups.make(db, at=NOON + DAY, keep=3)


async def _erase(folder: Path) -> None:
    async with open_database(folder / MEMORY) as db:
        eraser = Eraser(db=db, clock=ManualClock(NOON + DAY))
        if await db.value("SELECT count(*) FROM viewers WHERE id = ? AND erase_at IS NULL", (WHO,)):
            await eraser.begin(WHO)
            await eraser.idle()
        await eraser.erase_due()


OPERATIONS: dict[str, Callable[[Path], Awaitable[None]]] = {
    "migration": _migrate,
    "restore": _restore,
    "import": _import,
    "sweep": _sweep,
    "backup": _back_up,
    "erasure": _erase,
}


def _columns(db: sqlite3.Connection, part: str, table: str) -> list[str]:
    return [row[1] for row in db.execute(f"PRAGMA {part}.table_info({table})")]


def take_back(folder: Path) -> None:
    """The memory as the first version of the program would have kept it."""
    path, new = folder / MEMORY, folder / "new"
    path.rename(new)
    with sqlite3.connect(path) as old:
        old.executescript(SCHEMA_1.read_text(encoding="utf-8"))
        old.executescript(f"PRAGMA user_version = 1; PRAGMA application_id = {APPLICATION_ID};")
        old.execute("PRAGMA foreign_keys = OFF")
        old.execute("ATTACH ? AS new", (str(new),))
        for (table,) in old.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
            both = set.intersection(*map(set, (_columns(old, part, table) for part in PARTS)))
            if both and "fts" not in table:
                columns = ", ".join(sorted(both))
                old.execute(f"INSERT OR REPLACE INTO main.{table} ({columns}) SELECT {columns} FROM new.{table}")  # noqa: S608
    old.close()
    new.unlink()


async def ready(folder: Path, name: str) -> None:
    """What has to be so before an operation."""
    if name == "migration":
        await asyncio.to_thread(take_back, folder)
    if name == "restore":  # what was asked for since the copy was made is to be carried out again
        await _erase(folder)


def set_bombs(bomb: Bomb) -> None:
    """Let the process die at any point."""
    bomb.set()
    migrate = migrations.bring_to_latest

    async def in_steps(writer: aiosqlite.Connection) -> None:
        await writer.set_progress_handler(lambda: bomb.pass_by("step"), STEPS)
        await migrate(writer)
        await writer.set_progress_handler(None, 0)  # type: ignore[arg-type]  # as sqlite3 takes it

    setattr(database, "bring_to_latest", in_steps)  # noqa: B010  # where it is called


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
            code = await asyncio.to_thread(die, __file__, place, name, number)
            figures["deaths"] += code == 9
            figures["crashes"] += code not in {0, 9}
            await OPERATIONS[name](place)
            for what, count in (await account(place, name)).items():
                figures[what] += count
            await asyncio.to_thread(shutil.rmtree, place)
            if code == 0:  # it passes no more points
                break
        figures["operations"] += 1
    return figures


async def account(place: Path, name: str) -> Figures:
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
    bombs = Bomb("any", int(sys.argv[3]))
    set_bombs(bombs)
    asyncio.run(OPERATIONS[sys.argv[2]](Path(sys.argv[1])))  # type: ignore[arg-type]  # they are coroutines
    os._exit(0)
