"""Processes that die inside one operation on a memory, and what doing it again makes of that: a part of chaos.py.

A restore, an import, a sweep, a backup and an erasure; each dies at every point that it passes: before and
after a commit, a file that is replaced or deleted and a wipe.
"""

import asyncio
import json
import logging
import os
import random
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from chaos_world import ERASED, MARK, MUST_BE_ZERO, NOON, SETTINGS, Bomb, Figures, broken_promises, die, imported, line

from forgetmenot.app.bot import SWEEP, open_bot
from forgetmenot.clock import DAY, ManualClock
from forgetmenot.logs import set_up
from forgetmenot.memory import backups, transfer
from forgetmenot.memory.erasure import Eraser
from forgetmenot.store.backup import copies_of
from forgetmenot.store.database import open_database

WHO = f"10000{ERASED[6:]}"
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
    bombs.set()
    asyncio.run(OPERATIONS[sys.argv[2]](Path(sys.argv[1])))  # type: ignore[arg-type]  # they are coroutines
    os._exit(0)
