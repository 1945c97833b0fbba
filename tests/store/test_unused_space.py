"""The unused space of pages: deleted rows leave no byte in it, and the rows that are there stay as they are."""

import contextlib
import random
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from forgetmenot.store import unused_space
from forgetmenot.store.database import Database

NEEDLE = "quaggaflute"


def _fill(connection: sqlite3.Connection, seed: int) -> None:
    """Rows of all sizes in an order that splits pages, then deleted here and there."""
    dice = random.Random(seed)  # the same in every run
    connection.executescript("CREATE TABLE t (name TEXT, body TEXT); CREATE INDEX by_name ON t (name); BEGIN")
    for number in dice.sample(range(600), 600):
        word = NEEDLE if number % 5 == 0 else "other"
        row = (number, f"{dice.random()} {word} {number}", f"{word} " * dice.choice([1, 5, 40, 900]))
        connection.execute("INSERT INTO t (rowid, name, body) VALUES (?, ?, ?)", row)
    connection.execute("DELETE FROM t WHERE name LIKE ?", (f"%{NEEDLE}%",))
    connection.execute("COMMIT")


@contextlib.contextmanager
def _closed(path: Path, *, size: int, shrinks: str) -> Iterator[sqlite3.Connection]:
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for pragma in (f"page_size = {size}", f"auto_vacuum = {shrinks}", "secure_delete = ON"):
            connection.execute(f"PRAGMA {pragma}")
        yield connection


@pytest.mark.parametrize(("size", "seed"), [(1_024, 1_025), (4_096, 4_096), (65_536, 65_537)])
@pytest.mark.parametrize("shrinks", ["NONE", "FULL"])
def test_no_byte_of_deleted_rows_is_left_and_every_row_is(tmp_path: Path, size: int, seed: int, shrinks: str) -> None:
    path = tmp_path / "file"
    with _closed(path, size=size, shrinks=shrinks) as connection:
        _fill(connection, seed)
        rows = connection.execute("SELECT rowid, * FROM t").fetchall()
    assert NEEDLE.encode() in path.read_bytes()
    with path.open("r+b", buffering=0) as file:
        unclean = unused_space.unclean_pages(file)
        unused_space.clear(file, unclean)
        assert unclean
        assert not unused_space.unclean_pages(file)
    assert NEEDLE.encode() not in path.read_bytes()
    with _closed(path, size=size, shrinks=shrinks) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert connection.execute("SELECT rowid, * FROM t").fetchall() == rows


def test_what_is_no_memory_is_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"\r" * 9_000)
    with path.open("r+b", buffering=0) as file, pytest.raises(ValueError, match="not an SQLite file"):
        unused_space.unclean_pages(file)


@pytest.mark.parametrize("ours", [True, False])
async def test_a_page_that_was_read_before_does_not_bring_deleted_rows_back(
    db: Database, monkeypatch: pytest.MonkeyPatch, *, ours: bool
) -> None:
    """Each connection keeps pages as they were; what it writes next would put the old bytes back."""
    async with db.write() as tx:
        await tx.many(
            "INSERT INTO channel_state (name, value, updated_at) VALUES (?, ?, 0)",
            [(f"{number * 7 % 400:03}", f"{'keep' if number % 2 else NEEDLE} {number}" * 9) for number in range(400)],
        )
        await tx.execute("DELETE FROM channel_state WHERE value LIKE ?", (f"{NEEDLE}%",))
    assert await db.wipe_deleted()
    assert NEEDLE.encode() in db.path.read_bytes()
    clear, touch = unused_space.clear, "UPDATE channel_state SET updated_at = updated_at + 1"
    with contextlib.closing(sqlite3.connect(db.path, check_same_thread=False)) as other:

        def read_and_clear(file: BinaryIO, places: Iterable[int]) -> None:
            assert len(other.execute("SELECT * FROM channel_state").fetchall()) == 200  # at the last moment
            clear(file, places)

        monkeypatch.setattr(unused_space, "clear", read_and_clear)
        async with db.write() as tx:
            await tx.rows("SELECT * FROM channel_state")
        assert await db._clear_unused_space()
        if ours:
            async with db.write() as tx:
                await tx.execute(touch)
        else:
            with other:
                other.execute(touch)
    assert await db.wipe_deleted()
    assert NEEDLE.encode() not in db.path.read_bytes()
    assert await db.damage() == ""
