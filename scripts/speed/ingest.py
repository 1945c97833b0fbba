"""How fast chat goes in, beside SQLite alone: the same rows, table and pragmas, bare executemany.

The bare rows go in by the same batches, a commit each: one transaction of all is faster, and keeps nothing if it is
killed.
"""

import asyncio
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from time import perf_counter

from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChatEvent
from forgetmenot.memory.ingest import BATCH, Ingest
from forgetmenot.memory.stream_tracker import StreamTracker
from forgetmenot.settings.schema import Settings
from forgetmenot.store import events
from forgetmenot.store.database import Database, open_database, schema_sql
from speed.figures import Figure
from speed.invented import NOW, Invented

ROUNDS = 3
PEOPLE = 1_000
PRAGMAS = "journal_mode = WAL", "synchronous = NORMAL", "temp_store = MEMORY", "foreign_keys = ON", "secure_delete = ON"


def measure(folder: Path, lines: int) -> list[Figure]:
    """Events a second, and the share of what SQLite alone does; the best of some rounds of each, in turn."""
    chat = list(Invented().chat(lines, PEOPLE))
    ours: list[float] = []
    bare: list[float] = []
    for number in range(ROUNDS):
        ours.append(asyncio.run(_through_ingest(folder / f"ingest-{number}.sqlite3", chat)))
        bare.append(_bare(folder / f"ingest-{number}.sqlite3", folder / f"bare-{number}.sqlite3"))
    return [
        Figure("ingest", lines / min(ours), "events/s", 10_000, at_least=True),
        Figure("bare executemany, same batches, a commit each", lines / min(bare), "rows/s"),
        Figure("ingest / bare executemany, same batches, a commit each", min(bare) / min(ours), "", 0.5, at_least=True),
    ]


async def take_in(db: Database, chat: Iterable[ChatEvent]) -> float:
    """Store this chat in a run of its own; the seconds it took."""
    clock, settings = ManualClock(NOW), Settings()
    stream_tracker = StreamTracker(db)
    ingest = Ingest(db=db, stream_tracker=stream_tracker, settings=lambda: settings, clock=clock)
    await ingest.open()
    started = perf_counter()
    for event in chat:
        ingest.take(event)
    await ingest.flush()
    return perf_counter() - started


async def _through_ingest(path: Path, chat: list[ChatEvent]) -> float:
    async with open_database(path) as db:
        took = await take_in(db, chat)
        stored = await db.value("SELECT count(*) FROM events")
    if stored != len(chat):
        raise SystemExit(f"{stored} of {len(chat)} events were stored")
    return took


def _bare(filled: Path, path: Path) -> float:
    """The seconds for the rows that `filled` holds, into a database with the same other tables and no events."""
    with closing(sqlite3.connect(filled)) as source, closing(sqlite3.connect(path, isolation_level=None)) as target:
        for pragma in PRAGMAS:
            target.execute(f"PRAGMA {pragma}")
        target.executescript(schema_sql())
        for table in ("viewers", "streams"):
            _copy(source, target, table, "*")
        return _copy(source, target, "events", ", ".join(events.NewEvent._fields))


def _copy(source: sqlite3.Connection, target: sqlite3.Connection, table: str, columns: str) -> float:
    """The rows of a table, a transaction for each batch; the seconds it took."""
    rows = source.execute(f"SELECT {columns} FROM {table}").fetchall()  # noqa: S608  # names of ours
    names = "" if columns == "*" else f"({columns})"
    insert = f"INSERT INTO {table} {names} VALUES ({', '.join('?' * len(rows[0]))})"  # noqa: S608  # likewise
    started = perf_counter()
    for first in range(0, len(rows), BATCH):
        target.execute("BEGIN IMMEDIATE")
        target.executemany(insert, rows[first : first + BATCH])
        target.execute("COMMIT")
    return perf_counter() - started
