"""A damaged or emptied memory pushes no good copy out."""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from forgetmenot.app.bot import open_bot
from forgetmenot.clock import HOUR, ManualClock
from forgetmenot.errors import StoreDamaged, StoreForeign
from forgetmenot.memory.backups import Backups, restore
from forgetmenot.memory.transfer import import_notes
from forgetmenot.settings.schema import Settings
from forgetmenot.store.backup import copies_of
from forgetmenot.store.database import Database

NO_SETTINGS = Settings()


async def _notes(db: Database, what: str, count: int) -> None:
    lines = [json.dumps({"scope": "channel", "fact": f"{what} {number}"}) for number in range(count)]
    assert (await import_notes(db, lines, now=0)).imported == count


EMPTIED = {
    "nothing": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
    "no rows": lambda path: _sql(path, "DELETE FROM note_evidence; DELETE FROM semantic_notes;"),
    "rubbish": lambda path: path.write_bytes(path.read_bytes()[:8_192] + b"\x5a" * (path.stat().st_size - 8_192)),
    "one bit of the schema": lambda path: path.write_bytes(
        path.read_bytes().replace(b"CREATE TABLE attendance", b"CREATE \xd4ABLE attendance")
    ),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:20_480]),
}


def _sql(path: Path, script: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.executescript(f"PRAGMA foreign_keys = OFF; {script}")


@pytest.mark.parametrize("damage", EMPTIED.values(), ids=EMPTIED)
async def test_a_damaged_or_emptied_memory_is_refused_and_pushes_no_copy_out(
    tmp_path: Path, clock: ManualClock, damage: Callable[[Path], object]
) -> None:
    path = tmp_path / "memory.sqlite3"

    async def start() -> int:
        async with open_bot(path, settings=lambda: NO_SETTINGS, clock=clock) as bot:
            await Backups(db=bot.db, settings=bot.settings, clock=clock).run_pass()
            return int(await bot.db.value("SELECT count(*) FROM semantic_notes"))

    async with open_bot(path, settings=lambda: NO_SETTINGS, clock=clock) as bot:
        await _notes(bot.db, "plays level", 40)
    await start()
    copies = [(copy, copy.read_bytes()) for copy in copies_of(path)]
    assert copies
    damage(path)
    for _ in range(4):
        await clock.advance(HOUR)
        with pytest.raises((StoreDamaged, StoreForeign), match="forgetmenot memory restore"):
            await start()
    assert [(copy, copy.read_bytes()) for copy in copies_of(path)] == copies
    await restore(copies[0][0], path, now=clock.now(), keep=3)
    assert await start() == 40
