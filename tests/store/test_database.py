"""The file: whole transactions, separate reads, nothing foreign touched, nothing deleted left behind."""

import asyncio
import contextlib
import sqlite3
import sys
from pathlib import Path

import pytest

from forgetmenot import errors
from forgetmenot.store.database import SCHEMA_VERSION, Database, open_database, schema_sql

INSERT = "INSERT INTO streams (started_at, last_event_at, title) VALUES (?1, ?1, ?2)"


async def count(db: Database) -> int:
    return int(await db.value("SELECT count(*) FROM streams"))


@pytest.mark.parametrize("turns", range(12))
async def test_cancelled_at_any_moment_it_is_all_or_nothing(db: Database, turns: int) -> None:
    async def both() -> None:
        async with db.write() as tx:
            await tx.insert(INSERT, (1, "a"))
            await tx.insert(INSERT, (2, "b"))

    task = asyncio.create_task(both())
    for _ in range(turns):
        await asyncio.sleep(0.0005)
    task.cancel()
    await asyncio.wait([task])
    assert await count(db) in (0, 2)
    async with db.write() as tx:
        await tx.insert(INSERT, (3, "next"))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows moves no file that is open")
async def test_a_file_that_was_moved_away_or_replaced_is_told_of_and_not_written_to(
    db: Database,
) -> None:
    away = db.path.with_name("away")
    db.path.rename(away)
    with pytest.raises(errors.StoreError):
        await db.wipe_deleted()
    assert not db.path.exists()
    for _ in range(2):
        with pytest.raises(errors.StoreError, match="was moved or replaced"):
            async with db.write() as tx:
                await tx.insert(INSERT, (1, "lost"))
        db.path.write_bytes(away.read_bytes())
    db.path.unlink()
    away.rename(db.path)
    async with db.write() as tx:
        await tx.insert(INSERT, (1, "kept"))
    assert await count(db) == 1


async def test_a_memory_of_another_version_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    with contextlib.closing(sqlite3.connect(path)) as old:
        old.executescript(f"{schema_sql()} PRAGMA user_version = 3;")
    before = path.read_bytes()
    with pytest.raises(errors.StoreForeign, match=f"schema 3, this one has {SCHEMA_VERSION}"):
        async with open_database(path):
            pass
    assert path.read_bytes() == before


async def test_no_time_can_be_a_text(db: Database) -> None:
    """Times as texts of two formats were once compared, and gates never fired."""
    tables = await db.rows(
        "SELECT name, strict FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
    )
    ours = [row["name"] for row in tables if not row["name"].startswith("sqlite_")]
    assert all(row["strict"] for row in tables if row["name"] in ours)
    kinds = [
        row
        for one in ours
        for row in await db.rows("SELECT name, type FROM pragma_table_info(?)", (one,))
    ]
    times = {
        row["name"]: row["type"]
        for row in kinds
        if row["name"] == "at" or row["name"].endswith(("_at", "_until"))
    }
    assert len(times) > 20
    assert set(times.values()) == {"INTEGER"}
