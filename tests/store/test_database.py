"""The file: whole transactions, separate reads, nothing foreign touched, nothing deleted left behind."""

import asyncio
import contextlib
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from forgetmenot import errors
from forgetmenot.files import may_be_ours, protect, read_blocks
from forgetmenot.store import backup
from forgetmenot.store.database import (
    SCHEMA_VERSION,
    Database,
    Transaction,
    open_database,
    schema_sql,
)
from tests import proc
from tests.stage import until

INSERT = "INSERT INTO streams (started_at, last_event_at, title) VALUES (?1, ?1, ?2)"


async def count(db: Database) -> int:
    return int(await db.value("SELECT count(*) FROM streams"))


@pytest.mark.parametrize("turns", range(12))
async def test_cancelled_at_any_moment_it_is_all_or_nothing(
    db: Database, turns: int
) -> None:
    async def write_two_rows() -> None:
        async with db.write() as tx:
            await tx.insert(INSERT, (1, "a"))
            await tx.insert(INSERT, (2, "b"))

    task = asyncio.create_task(write_two_rows())
    for _ in range(turns):
        await asyncio.sleep(0.0005)
    task.cancel()
    await asyncio.wait([task])
    assert await count(db) in (0, 2)
    async with db.write() as tx:
        await tx.insert(INSERT, (3, "next"))


async def test_statements_that_run_together_are_written_whole_or_not_at_all(
    db: Database,
) -> None:
    async def insert_two(tx: Transaction) -> int:
        first_id = await tx.insert(INSERT, (1, "a"))
        assert await tx.many(INSERT, [(2, "b")]) == 1
        assert await tx.value("SELECT count(*) FROM streams") == 2
        return first_id

    async def insert_and_fail(tx: Transaction) -> None:
        await tx.execute(INSERT, (3, "c"))
        with pytest.raises(errors.StoreRefused):
            async with tx.part():
                await tx.execute(INSERT, (4, "d"))
                await tx.execute(INSERT, (None, "e"))
        assert await tx.value("SELECT count(*) FROM streams") == 3
        raise ValueError("after three rows")

    async with db.write() as tx:
        assert await tx.together(insert_two) == 1
    with pytest.raises(ValueError, match="after three rows"):
        async with db.write() as tx:
            await tx.together(insert_and_fail)
    assert await count(db) == 2


async def test_statements_that_run_together_wait_for_nothing_else(db: Database) -> None:
    async def insert_and_wait(tx: Transaction) -> None:
        await tx.insert(INSERT, (1, "a"))
        await asyncio.sleep(0)

    with pytest.raises(RuntimeError, match="waits for something else"):
        async with db.write() as tx:
            await tx.together(insert_and_wait)
    assert await count(db) == 0


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows moves no file that is open"
)
async def test_a_file_that_was_moved_away_or_replaced_is_told_of_and_not_written_to(
    db: Database,
) -> None:
    away = db.path.with_name("away")
    db.path.rename(away)
    with pytest.raises(errors.StoreError):
        await db.wipe_deleted()
    assert not db.path.exists()
    for _ in range(2):
        with pytest.raises(errors.StoreError, match="was moved, deleted or replaced"):
            async with db.write() as tx:
                await tx.insert(INSERT, (1, "lost"))
        db.path.write_bytes(away.read_bytes())
    db.path.unlink()
    away.rename(db.path)
    async with db.write() as tx:
        await tx.insert(INSERT, (1, "kept"))
    assert await count(db) == 1


async def test_a_process_opens_a_memory_once_by_whatever_name(db: Database) -> None:
    link = db.path.with_name("link.sqlite3")
    link.symlink_to(db.path)
    twin = db.path.with_name("twin.sqlite3")
    twin.hardlink_to(db.path)
    for name in (db.path, link, twin):
        with pytest.raises(errors.StoreError, match="already open in this program"):
            async with open_database(name):
                pass
    await db.close()
    async with open_database(link) as again:
        assert await count(again) == 0
    await db.connect()


@pytest.mark.skipif(not proc.LINUX, reason="the system does not say who holds a lock")
async def test_nothing_that_reads_the_file_takes_its_locks(db: Database) -> None:
    """A close of any of its descriptors would: the next program would delete the log under us."""
    logs = [db.path.with_name(db.path.name + ending) for ending in ("-wal", "-shm")]
    before = proc.locks_on(db.path), proc.locks_on(logs[1])
    assert min(before) > 0
    async with db.write() as tx:
        await tx.insert(INSERT, (1, "in the log"))
    assert may_be_ours(db.path)
    protect(db.path)
    assert b"in the log" in b"".join(read_blocks(logs[0], 1_000))
    for path in (db.path, *logs):
        assert sum(map(len, read_blocks(path, 5_000))) == path.stat().st_size
    assert await db.damage() == ""
    backup.copy(db.path, db.path.with_name("copy"))
    assert (proc.locks_on(db.path), proc.locks_on(logs[1])) == before


def deleted(path: Path) -> None:
    path.unlink()


def deleted_with_its_log(path: Path) -> None:
    for file in path.parent.glob(f"{path.name}*"):
        file.unlink()


def replaced_by_an_older_copy(path: Path) -> None:
    path.with_name("older").replace(path)


def replaced_by_something_else(path: Path) -> None:
    path.with_name("half").write_bytes(b"half of a download")
    path.with_name("half").replace(path)


def without_its_log(path: Path) -> None:
    path.with_name(f"{path.name}-wal").unlink()


def without_its_index(path: Path) -> None:
    path.with_name(f"{path.name}-shm").unlink()


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows deletes no file that is open"
)
@pytest.mark.parametrize(
    "harm",
    [
        deleted,
        deleted_with_its_log,
        replaced_by_an_older_copy,
        replaced_by_something_else,
        without_its_log,
        without_its_index,
    ],
)
async def test_what_another_program_takes_away_is_put_back_with_every_row(
    tmp_path: Path, harm: Callable[[Path], None]
) -> None:
    path = tmp_path / "memory.sqlite3"
    async with open_database(path, puts_back=True) as db:
        async with db.write() as tx:
            await tx.insert(INSERT, (1, "in the file"))
        await db.wipe_deleted()
        path.with_name("older").write_bytes(b"".join(read_blocks(path, 1 << 16)))
        async with db.write() as tx:
            await tx.insert(INSERT, (2, "in the log"))
        harm(path)
        first_version = await db.data_version()
        async with db.write() as tx:
            await tx.insert(INSERT, (3, "after it"))
        assert (await count(db), db.times_put_back) == (3, 1)
        assert await db.data_version() != first_version
        if proc.LINUX:
            # the new connections lock and look into the file for a moment when they open it
            await until(lambda: proc.locks_on(path) == 1)
            await until(lambda: proc.deleted_files(tmp_path) == [])
        # what another program sees, and what a kill leaves
        with contextlib.closing(sqlite3.connect(path)) as other:
            assert other.execute("SELECT count(*) FROM streams").fetchone() == (3,)
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert list(tmp_path.glob("*.part")) == []
    async with open_database(path) as db:
        assert await count(db) == 3
        assert await db.damage() == ""


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows deletes no file that is open"
)
async def test_a_file_that_is_taken_away_just_before_the_stop_is_put_back_as_well(
    tmp_path: Path,
) -> None:
    """Else the next start would read our log with the other file."""
    path = tmp_path / "memory.sqlite3"
    async with open_database(path, puts_back=True) as db:
        older = b"".join(read_blocks(path, 1 << 16))
        async with db.write() as tx:
            await tx.many(INSERT, [(number, "x" * 500) for number in range(99)])
        await db.wipe_deleted()  # from the log into the file
        async with db.write() as tx:
            await tx.insert(INSERT, (99, "in the log"))
        path.unlink()
        path.write_bytes(older)
    async with open_database(path) as db:
        assert await count(db) == 100
        assert await db.damage() == ""


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows moves no file that is open"
)
async def test_a_file_that_was_moved_away_is_whole_without_its_log(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.sqlite3"
    async with open_database(path, puts_back=True) as db:
        async with db.write() as tx:
            await tx.insert(INSERT, (1, "in the log"))
        path.rename(tmp_path / "away.sqlite3")
        await db.stay_in_place()
        async with db.write() as tx:
            await tx.insert(INSERT, (2, "after it"))
    for name, rows in (("away.sqlite3", 1), ("memory.sqlite3", 2)):
        async with open_database(tmp_path / name) as db:
            assert await count(db) == rows


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows deletes no file that is open"
)
async def test_what_lies_in_its_place_is_not_lost_either(tmp_path: Path) -> None:
    path = tmp_path / "memory.sqlite3"
    other = tmp_path / "other.sqlite3"
    async with open_database(other) as db, db.write() as tx:
        await tx.insert(INSERT, (7, "of another program"))
    async with open_database(path, puts_back=True) as db:
        other.replace(path)
        await db.stay_in_place()
        assert await count(db) == 0
    with contextlib.closing(sqlite3.connect(f"{path}.other-1")) as aside:
        assert aside.execute("SELECT title FROM streams").fetchall() == [
            ("of another program",)
        ]


async def test_a_memory_of_another_version_is_refused_and_not_touched(
    tmp_path: Path,
) -> None:
    path = tmp_path / "memory.sqlite3"
    with contextlib.closing(sqlite3.connect(path)) as old:
        old.executescript(f"{schema_sql()} PRAGMA user_version = 3;")
    before = path.read_bytes()
    with pytest.raises(
        errors.StoreForeign, match=f"schema 3, this one has {SCHEMA_VERSION}"
    ):
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
    times = {}
    for table in ours:
        sql = "SELECT name, type FROM pragma_table_info(?)"
        for row in await db.rows(sql, (table,)):
            if row["name"] == "at" or row["name"].endswith(("_at", "_until")):
                times[row["name"]] = row["type"]
    assert len(times) > 20
    assert set(times.values()) == {"INTEGER"}


REBUILT = """
import asyncio, resource, sys
from pathlib import Path
from forgetmenot.store.database import open_database

async def grow_and_rebuild(path):
    async with open_database(path) as db:
        async with db.write() as tx:
            rows = ((number, "x" * 1_000) for number in range(60_000))
            await tx.many(
                "INSERT INTO streams (started_at, last_event_at, title) VALUES (?1, ?1, ?2)", rows
            )
            await tx.execute("DELETE FROM streams WHERE id % 10 = 0")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert await db.wipe_deleted(thorough=True)
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        print((after - before) / 1024, path.stat().st_size / 2**20)

asyncio.run(grow_and_rebuild(Path(sys.argv[1])))
"""


@pytest.mark.skipif(not proc.LINUX, reason="elsewhere the unit of the peak is another")
@pytest.mark.slow
def test_rebuilding_the_file_takes_no_memory_of_its_size(tmp_path: Path) -> None:
    command = [sys.executable, "-c", REBUILT, str(tmp_path / "memory.sqlite3")]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    grown_mb, file_mb = map(float, output.split())
    assert file_mb > 50
    assert grown_mb < 10
    assert [
        path.name for path in tmp_path.iterdir() if path.name.startswith("etilqs")
    ] == []


@pytest.mark.parametrize("text", ["alice", "ä ü", 'a "quote"', "half \ud83d a pair"])
async def test_a_list_is_read_whatever_its_texts_hold(db: Database, text: str) -> None:
    class Login(str):
        """A text of another class."""

        __slots__ = ()

    values = [text, Login("bob"), 7, None]
    lengths = await db.column("SELECT length(value) FROM json_each(?)", (values,))
    assert lengths == [len(text), 3, 1, None]
