"""The SQLite file: one connection that writes, one that only reads, and nothing half done.

    async with open_database(path) as db:
        rows = await db.rows("SELECT …", (…,))
        async with db.write() as tx:
            await tx.execute("UPDATE …", (…,))

A write is a lock, BEGIN IMMEDIATE, and a commit or rollback that a cancellation cannot leave half done. A statement is
one trip to a connection's thread, several `together` are one too; no cursor lives across an await. Another process may
write too: the busy timeout waits for it, and caches look at `data_version()`.
"""

import asyncio
import contextlib
import itertools
import json
import os
import sqlite3
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Coroutine,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any, Protocol, TypeVar

import aiosqlite
import msgspec

from forgetmenot import errors, files
from forgetmenot.files import APPLICATION_ID, MemoryFiles
from forgetmenot.languages import Reason, reason
from forgetmenot.logs import log
from forgetmenot.startup import quoted
from forgetmenot.store import line_keys, name_keys, note_keys
from forgetmenot.store.privacy_requests import PrivacyRequests

SQLITE_VERSION = sqlite3.sqlite_version
# Of `schema.sql`. A file of another version is refused: there are no steps from one to the next.
SCHEMA_VERSION = 14
# What the schema's triggers and the queries call.
_SQL_FUNCTIONS = (
    line_keys.SQL_FUNCTIONS | name_keys.SQL_FUNCTIONS | note_keys.SQL_FUNCTIONS
)
BUSY_TIMEOUT_S = 5.0
_MANY: tuple[type, ...] = (
    list,
    tuple,
    set,
    frozenset,
    type({}.keys()),
    type({}.values()),
)
# What another program put in the memory's place lies beside it under this name and a number, until a backup is made.
ASIDE = ".other-"
# The name in channel_state of how many privacy requests were carried out, and the mark of their file.
CARRIED_OUT = "privacy_requests"


def _as_json(values: Iterable[object]) -> str:
    """Return values as a JSON list."""
    listed = list(values)
    try:
        return msgspec.json.encode(listed).decode()
    except (UnicodeEncodeError, TypeError):
        # a lone surrogate, which chat may hold, or a subclass of str: the slower writer takes both
        return json.dumps(listed)


# Values of these types may be parameters, so that no caller writes the JSON for json_each (?).
sqlite3.register_adapter(Reason, lambda reason: reason.row)
for _many in _MANY:
    sqlite3.register_adapter(_many, _as_json)
sqlite3.register_adapter(dict, json.dumps)

# What SQLite raises for a row that breaks a rule of the schema, or a value that it cannot store.
_ROW_REFUSED = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.InterfaceError)

Params = Sequence[Any] | Mapping[str, Any]
Row = sqlite3.Row
T = TypeVar("T")


def row_as(
    row: Row,
    cls: type[T],
    **more: object,
) -> T:
    """Return a row as an object of a class whose fields are named like its columns.

    `more`: values of fields that are no column, or that replace one.
    """
    # dict(row) would look for each column by its name, which takes three times as long
    columns = dict(zip(row.keys(), row, strict=True))
    return msgspec.convert(columns | more, cls, strict=False)


async def uninterrupted(work: Awaitable[T]) -> T:
    """Return the result of work that must finish even if the task is cancelled meanwhile.

    The cancellation is raised after the work has ended.
    """
    task = asyncio.ensure_future(work)
    cancelled = False
    while not task.done():
        try:
            await asyncio.shield(asyncio.wait([task]))
        except asyncio.CancelledError:
            cancelled = True
    result = task.result()
    if cancelled:
        raise asyncio.CancelledError
    return result


class Source(Protocol):
    """Whatever the functions of store/ can read from: the database, a transaction, a snapshot.

    A list, set or dict among the parameters of a query is read with `json_each (?)`.
    """

    requests: PrivacyRequests

    async def rows(self, sql: str, params: Params = ()) -> list[Row]:
        """Return all rows of a query."""

    async def row(self, sql: str, params: Params = ()) -> Row | None:
        """Return the first row, or None if there is none."""
        rows = await self.rows(sql, params)
        return rows[0] if rows else None

    async def value(self, sql: str, params: Params = ()) -> Any:  # noqa: ANN401  # whatever the column holds
        """Return the first column of the first row, or None if there is no row."""
        row = await self.row(sql, params)
        return row[0] if row else None

    async def column(self, sql: str, params: Params = ()) -> list[Any]:
        """Return the first column of all rows."""
        return [row[0] for row in await self.rows(sql, params)]

    async def pairs(self, sql: str, params: Params = ()) -> dict[Any, Any]:
        """Return the second column of all rows, by the first."""
        return {row[0]: row[1] for row in await self.rows(sql, params)}

    async def highest_id(self, table: str) -> int:
        """Return the highest id that a row of a table ever had; 0 if it never had a row.

        SQLite gives no id of these tables (AUTOINCREMENT) a second time, also when its row is deleted.
        """
        sql = "SELECT seq FROM sqlite_sequence WHERE name = ?"
        return int(await self.value(sql, (table,)) or 0)


# Methods reach into aiosqlite where its public ones would make two trips to the thread for one.
class Transaction(Source):
    """What may be done between BEGIN and COMMIT. Reads here see what was written here."""

    def __init__(
        self, connection: aiosqlite.Connection, requests: PrivacyRequests
    ) -> None:
        self._connection = connection
        self.requests = requests

    @contextlib.asynccontextmanager
    async def write(self) -> "AsyncIterator[Transaction]":
        """Give this transaction again, so that a function that takes a database writes as a part of it."""
        yield self

    async def rows(self, sql: str, params: Params = ()) -> list[Row]:
        """Return all rows of a query, or of a statement with RETURNING."""
        return list(await self._connection.execute_fetchall(sql, params))

    async def together(
        self, write: Callable[["Transaction"], Coroutine[Any, Any, T]]
    ) -> T:
        """Run several statements in one trip to the writer's thread, and return the result of `write`.

        `write` may await nothing but the transaction that it is given. What it computes does not hold the event loop.
        """
        connection = self._connection
        result: T = await connection._execute(  # type: ignore[no-untyped-call]  # noqa: SLF001
            _run_write,
            connection._conn,  # noqa: SLF001
            write,
            self.requests,
        )
        return result

    async def execute(self, sql: str, params: Params = ()) -> int:
        """Run one statement, and return the number of rows that it changed."""
        return await self._changed(self._connection._conn.execute, sql, params)  # noqa: SLF001

    async def insert(self, sql: str, params: Params = ()) -> int:
        """Run one INSERT, and return the id of the new row."""
        row = await self._connection.execute_insert(sql, params)
        assert row is not None  # noqa: S101  # last_insert_rowid() always has a row
        return int(row[0])

    @contextlib.asynccontextmanager
    async def part(self) -> AsyncIterator[None]:
        """Run a part of the transaction that is undone alone if it raises.

        Raises StoreRefused for a row that breaks a rule of the schema.
        """
        await self.rows("SAVEPOINT part")
        try:
            yield
        except BaseException as error:
            # a full disk may have rolled everything back already
            if self._is_open():
                await self.rows("ROLLBACK TO part")
                await self.rows("RELEASE part")
            if isinstance(error, _ROW_REFUSED):
                raise errors.StoreRefused(
                    f"A row cannot be stored: {error}."
                ) from error
            raise
        await self.rows("RELEASE part")

    def _is_open(self) -> bool:
        """Return whether the transaction is neither committed nor rolled back."""
        return self._connection.in_transaction

    async def many(self, sql: str, params: Iterable[Params]) -> int:
        """Run one statement for each set of parameters, and return the number of rows changed in all."""
        return await self._changed(self._connection._conn.executemany, sql, params)  # noqa: SLF001

    async def _changed(
        self,
        run: Callable[..., sqlite3.Cursor],
        sql: str,
        params: object,
    ) -> int:
        # in one trip to the writer's thread: a cursor of aiosqlite takes another one to be closed
        changed: int = await self._connection._execute(  # type: ignore[no-untyped-call]  # noqa: SLF001
            lambda: run(sql, params).rowcount
        )
        return changed


class ThreadTransaction(Transaction):
    """A transaction inside `Transaction.together`: already in the writer's thread, so no statement waits."""

    def __init__(
        self, connection: sqlite3.Connection, requests: PrivacyRequests
    ) -> None:
        self._in_thread = connection
        self.requests = requests

    async def together(
        self, write: Callable[[Transaction], Coroutine[Any, Any, T]]
    ) -> T:
        """Return the result of `write`, which runs as a part of this."""
        return await write(self)

    async def rows(self, sql: str, params: Params = ()) -> list[Row]:
        """Return all rows of a query, or of a statement with RETURNING."""
        return self._in_thread.execute(sql, params).fetchall()

    async def execute(self, sql: str, params: Params = ()) -> int:
        """Run one statement, and return the number of rows that it changed."""
        return self._in_thread.execute(sql, params).rowcount

    async def insert(self, sql: str, params: Params = ()) -> int:
        """Run one INSERT, and return the id of the new row."""
        row_id = self._in_thread.execute(sql, params).lastrowid
        assert row_id is not None  # noqa: S101  # it was an INSERT
        return row_id

    async def many(self, sql: str, params: Iterable[Params]) -> int:
        """Run one statement for each set of parameters, and return the number of rows changed in all."""
        return self._in_thread.executemany(sql, params).rowcount

    def _is_open(self) -> bool:
        return self._in_thread.in_transaction


class Snapshot(Source):
    """Reads of one moment, inside `Database.together`: already in the reader's thread, so none of them waits."""

    def __init__(
        self, connection: sqlite3.Connection, requests: PrivacyRequests
    ) -> None:
        self._connection = connection
        self.requests = requests

    async def rows(self, sql: str, params: Params = ()) -> list[Row]:
        """Return all rows of a query."""
        return self._connection.execute(sql, params).fetchall()


def _run_read(
    connection: sqlite3.Connection,
    read: Callable[[Snapshot], Coroutine[Any, Any, T]],
    requests: PrivacyRequests,
) -> T:
    """Return what `read` returns, whose reads all see the same moment. Runs in the reader's thread."""
    # With a log (WAL) all reads until COMMIT see the file as it is at the first of them.
    connection.execute("BEGIN")
    try:
        return _run_to_end(read(Snapshot(connection, requests)))
    finally:
        connection.execute("COMMIT")


def _run_write(
    connection: sqlite3.Connection,
    write: Callable[[Transaction], Coroutine[Any, Any, T]],
    requests: PrivacyRequests,
) -> T:
    """Return what `write` returns. Runs in the writer's thread, inside a transaction."""
    return _run_to_end(write(ThreadTransaction(connection, requests)))


def _run_to_end(coroutine: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that only awaits statements of this thread.

    These never suspend, so one step runs it to its end, without an event loop.
    """
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]  # the coroutine's
    finally:
        coroutine.close()
    raise RuntimeError("it waits for something else than the statements of its thread")


class Database(Source):
    """Two connections to one file. Made by `open_database`.

    `puts_back`: where another program removes or replaces the file, what is open takes its place again. Without that
    nothing is stored then.
    """

    def __init__(
        self,
        path: Path,
        requests: PrivacyRequests,
        *,
        puts_back: bool = False,
    ) -> None:
        self.path = path
        self.requests = requests
        self.times_put_back = 0
        self._puts_back = puts_back
        # All tasks share the writer's connection: without the lock the statements of one would
        # stand in the transaction of another.
        self._write_lock = asyncio.Lock()
        # Closed for a moment while no read may begin: the log is emptied, or the file replaced.
        self._read_gate = asyncio.Event()
        self._read_gate.set()

    async def connect(self) -> None:
        """Open the file and both connections. Raises StoreError, OSError."""
        async with contextlib.AsyncExitStack() as stack:
            memory_files = MemoryFiles(self.path)
            stack.callback(memory_files.release)
            # isolation_level None: sqlite3 would begin transactions by itself, before the first
            # INSERT.
            writer = aiosqlite.connect(
                self.path, isolation_level=None, timeout=BUSY_TIMEOUT_S
            )
            await stack.enter_async_context(opened(writer))
            await _prepare(writer, self.path)
            reader = aiosqlite.Connection(
                partial(connect, self.path), iter_chunk_size=64
            )
            await stack.enter_async_context(opened(reader))
            writer.row_factory = sqlite3.Row
            await self._prepare_reader(reader)
            # the log's index is there from the first read on
            await reader.execute_fetchall("SELECT count(*) FROM sqlite_master")
            memory_files.add_logs()
            self._files = memory_files
            self._writer = writer
            self._reader = reader
            self._connections = stack.pop_all()

    async def _prepare_reader(self, reader: aiosqlite.Connection) -> None:
        """Give the reader rows by name, and a `casefold` that knows all letters."""
        reader.row_factory = sqlite3.Row
        await reader.execute_fetchall("PRAGMA temp_store = MEMORY")
        # SQLite's own functions know no capitals but those of ASCII
        await reader.create_function(
            "casefold", 1, lambda text: (text or "").casefold(), deterministic=True
        )

    async def close(self) -> None:
        """Put the file back if it was taken away, then close the connections and the file."""
        try:
            if self._puts_back:
                await self.stay_in_place()
        except errors.StoreError as error:
            log.error("the memory's file could not be put back", reason=str(error))
        finally:
            await self._connections.aclose()

    async def rows(self, sql: str, params: Params = ()) -> list[Row]:
        """Return all rows of a query, as of the last commit."""
        await self._read_gate.wait()
        with translated_errors(self.path):
            return list(await self._reader.execute_fetchall(sql, params))

    async def together(self, read: Callable[[Snapshot], Coroutine[Any, Any, T]]) -> T:
        """Run several reads as of one moment, in one trip to the reader's thread, and return their result.

        `read` may await nothing but its snapshot. The trip costs more than most queries, so a reply, which reads
        much, makes it once.
        """
        await self._read_gate.wait()
        with translated_errors(self.path):
            reader = self._reader
            # aiosqlite has no public way to run a function in a connection's thread
            connection = reader._conn  # noqa: SLF001
            result: T = await reader._execute(  # type: ignore[no-untyped-call]  # noqa: SLF001
                _run_read, connection, read, self.requests
            )
            return result

    @contextlib.asynccontextmanager
    async def write(self) -> AsyncIterator[Transaction]:
        """Open a transaction, which is committed whole or not at all. Must not be nested."""
        async with self._write_lock:
            await self._stay_in_place()
            with translated_errors(self.path):
                try:
                    # IMMEDIATE takes SQLite's lock now, and waits for it. A plain BEGIN takes it at
                    # the first write, and fails there at once if another process wrote since the
                    # first read.
                    await self._writer.execute_fetchall("BEGIN IMMEDIATE")
                    yield Transaction(self._writer, self.requests)
                    await uninterrupted(self._writer.commit())
                except BaseException:
                    # all coroutines share this connection: what stays open is committed by whoever writes next
                    await uninterrupted(self._writer.rollback())
                    raise

    async def data_version(self) -> int:
        """Return a number that changes when another connection, also of another process, has committed."""
        # A new connection counts from the beginning: no number that was seen before may come again.
        since_connected = int(await self.value("PRAGMA data_version"))
        return self.times_put_back * 2**40 + since_connected

    async def bytes_used(self) -> int:
        """Return the size of what is stored, without the free pages that deleted rows leave in the file."""
        pages = int(await self.value("PRAGMA page_count"))
        free_pages = int(await self.value("PRAGMA freelist_count"))
        page_size = int(await self.value("PRAGMA page_size"))
        return (pages - free_pages) * page_size

    async def damage(self) -> str:
        """Return the first damage that SQLite finds in the file; "" if it finds none. Raises StoreError.

        It takes about a second for each 100 MB, on a connection of its own: no read waits for it.
        """
        return await uninterrupted(asyncio.to_thread(damage_of, self.path))

    async def stay_in_place(self) -> None:
        """Put the file back if another program removed or replaced it. Raises StoreError."""
        async with self._write_lock:
            await self._stay_in_place()

    async def _stay_in_place(self) -> None:
        """Put the file back if another program removed or replaced it; the caller holds the write lock.

        Called before every write: what is written to a removed file is lost when its last handle is closed.
        """
        if not self._files.are_displaced():
            return
        if not self._puts_back or not self.path.parent.is_dir():
            raise errors.StoreError(reason("file_gone", path=str(self.path)))
        log.error(
            "another program removed or replaced the memory's file; it is put back",
            file=self.path.name,
        )
        try:
            with translated_errors(self.path):
                await uninterrupted(self._put_back())
        except OSError as error:
            raise files.cannot_open(self.path, error) from error

    async def _put_back(self) -> None:
        """Copy what the open connections see to a new file, put that at the path, and go on with it.

        A kill on the way leaves at the path either what lay there, or the whole memory.
        """
        whole = self.path.with_name(f"{self.path.name}.whole.part")
        try:
            await asyncio.to_thread(_begin_anew, whole)
            await self._writer.execute_fetchall("VACUUM INTO ?", (str(whole),))
            damage = await asyncio.to_thread(damage_of, whole)
            # written by two programs that did not see each other's locks
            if damage:
                raise errors.StoreError(reason("file_gone", path=str(self.path)))
            if not self._files.own(self.path):
                # somebody may have moved the file, and put it back one day: it is whole without its log
                await self._writer.execute_fetchall("PRAGMA wal_checkpoint(PASSIVE)")
            await asyncio.to_thread(_take_place, whole, self.path, self._files)
        finally:
            whole.unlink(missing_ok=True)
        old_connections = self._connections
        self._read_gate.clear()
        try:
            await self.connect()
            self.times_put_back += 1
        finally:
            self._read_gate.set()
        # without a last checkpoint: SQLite sees that the file of these connections is no longer at its path
        await old_connections.aclose()

    async def wipe_deleted(self, *, thorough: bool = False) -> bool:
        """Overwrite deleted rows in the file and the write-ahead log; False if another process keeps reading the log.

        After a sweep, truncating the log is enough. `thorough` (for an erasure) also rebuilds the file; writes wait
        meanwhile, about a second for each 100 MB.
        """
        async with self._write_lock:
            await self._stay_in_place()
            if thorough:
                with translated_errors(self.path):
                    await uninterrupted(self._rebuild())
        return await self._truncate_log()

    async def _rebuild(self) -> None:
        """Write the file anew, without what was deleted.

        SQLite builds the new file in its temporary store: in memory that would be as much as the whole file. So it is
        a file beside the memory here, which has no name and is gone with its handle, also after a kill.
        """
        folder = str(self.path.absolute().parent)
        rows = list(await self._writer.execute_fetchall("PRAGMA temp_store_directory"))
        # it holds for the whole process: set once, for no other thread may look at it meanwhile
        if not rows or rows[0][0] != folder:
            quoted_folder = folder.replace("'", "''")
            await self._writer.execute_fetchall(
                f"PRAGMA temp_store_directory = '{quoted_folder}'"
            )
        await self._writer.execute_fetchall("PRAGMA temp_store = FILE")
        try:
            await self._writer.execute_fetchall("VACUUM")
        finally:
            await self._writer.execute_fetchall("PRAGMA temp_store = MEMORY")

    async def _truncate_log(self, tries: int = 20) -> bool:
        """Empty the write-ahead log; False if another process reads it during every try.

        Reads and writes of this process wait for single tries only.
        """
        with translated_errors(self.path):
            # most of the log is written back here, beside readers and writers
            await asyncio.to_thread(_checkpoint, self.path)
            for _ in range(tries):
                async with self._write_lock:
                    if await self._truncated():
                        return True
                await asyncio.sleep(0.05)
        return False

    async def _truncated(self) -> bool:
        """Try once to empty the write-ahead log; whether it is empty."""
        # a reader in another process may keep the log busy: waiting 5 s each time would hold up every write
        await self._writer.execute_fetchall("PRAGMA busy_timeout = 50")
        self._read_gate.clear()
        try:
            rows = list(
                await self._writer.execute_fetchall("PRAGMA wal_checkpoint(TRUNCATE)")
            )
        finally:
            self._read_gate.set()
            timeout_ms = int(BUSY_TIMEOUT_S * 1_000)
            restored = self._writer.execute_fetchall(
                f"PRAGMA busy_timeout = {timeout_ms}"
            )
            await uninterrupted(restored)
        # SQLite raises nothing when a reader keeps the log: the first column, "busy", says it
        busy = rows[0][0]
        return bool(busy == 0)


@contextlib.asynccontextmanager
async def open_database(
    path: Path,
    *,
    requests: PrivacyRequests | None = None,
    requests_lost: bool = False,
    puts_back: bool = False,
) -> AsyncIterator[Database]:
    """Open (or make) the database, and close it whatever happens. Raises StoreError, also if this process has it open.

    `requests`: those of another memory, for a copy. `requests_lost`: that their file is lost is no error.
    `puts_back`: for the one process that holds `files.instance_lock`.
    """
    try:
        files.make_folder(path)
        files.protect(path)
        with translated_errors(path):
            db = Database(path, requests or PrivacyRequests(path), puts_back=puts_back)
            await db.connect()
    except OSError as error:
        raise files.cannot_open(path, error) from error
    with translated_errors(path):
        try:
            if not requests_lost:
                await _check_requests(db)
            yield db
        finally:
            await db.close()


async def _check_requests(db: Database) -> None:
    """See that the file of requests has all that this memory has carried out. Raises StoreError."""
    state = await db.value(
        "SELECT value FROM channel_state WHERE name = ?", (CARRIED_OUT,)
    )
    if not state:
        return
    # The count alone would accept the file of another memory that has as many requests.
    count, mark = str(state).split()
    way_out = f"forgetmenot memory new-requests --db {quoted(db.path)}"
    db.requests.check(int(count), mark, way_out)


@contextlib.asynccontextmanager
async def opened(
    connection: aiosqlite.Connection,
) -> AsyncIterator[aiosqlite.Connection]:
    """Open a connection, and close it at the end.

    A task that is cancelled while it opens waits for the connection's thread, which would else go on unseen.
    """
    opening = asyncio.ensure_future(connection)
    try:
        await asyncio.shield(opening)
        yield connection
    finally:
        with contextlib.suppress(sqlite3.Error):
            await opening
        await connection.close()


def connect(
    path: Path,
    mode: str = "ro",
    timeout: float = BUSY_TIMEOUT_S,
) -> sqlite3.Connection:
    """Open an existing file in autocommit mode; `mode` is ro or rw, so that no file is made."""
    address = f"{path.absolute().as_uri()}?mode={mode}"
    if mode == "ro" and files.cannot_be_written(path) and not has_log(path):
        # SQLite would want to make a log beside a file that it may read: so it is one that nobody changes
        address += "&immutable=1"
    connection = sqlite3.connect(
        address, uri=True, isolation_level=None, timeout=timeout
    )
    for name, (arguments, function) in _SQL_FUNCTIONS.items():
        connection.create_function(name, arguments, function, deterministic=True)
    return connection


def has_log(path: Path) -> bool:
    """Return whether changes wait in a log beside a memory."""
    log_file = path.with_name(f"{path.name}-wal")
    return log_file.exists() and log_file.stat().st_size > 0


@contextlib.contextmanager
def separate_reader(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a connection for a thread that reads for long, so that no reply waits for it. Raises StoreError."""
    with connected(path) as connection:
        yield connection


@contextlib.contextmanager
def connected(
    path: Path,
    mode: str = "ro",
    timeout: float = BUSY_TIMEOUT_S,
) -> Iterator[sqlite3.Connection]:
    """Open a connection to an existing file, and close it at the end. Raises StoreError."""
    with (
        translated_errors(path),
        kept_open(path),
        contextlib.closing(connect(path, mode, timeout)) as connection,
    ):
        yield connection


@contextlib.contextmanager
def kept_open(path: Path) -> Iterator[None]:
    """Hold a file open, so that nothing in this process closes it while SQLite uses it. Raises StoreError."""
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(files.opened_once(path))
        except OSError as error:
            raise files.cannot_open(path, error) from error
        yield


def damage_of(path: Path) -> str:
    """Return the first damage that SQLite finds in a file; "" if it finds none. Raises StoreError."""
    with separate_reader(path) as connection:
        answer = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
    return "" if answer == "ok" else answer


def _checkpoint(path: Path) -> None:
    with connected(path, "rw", timeout=0) as connection:
        connection.execute("PRAGMA wal_checkpoint(PASSIVE)")


# ── a file that another program removed or replaced ──


def _begin_anew(part: Path) -> None:
    """Make an empty file that its owner alone can read; an unfinished earlier one is deleted. Raises OSError."""
    part.unlink(missing_ok=True)
    files.protect(part)


def _take_place(
    whole: Path,
    path: Path,
    own_files: MemoryFiles,
) -> None:
    """Move a whole memory to `path`. What another program put there is moved aside, with its log. Raises OSError."""
    with whole.open("r+b") as written:
        os.fsync(written.fileno())
    if path.exists():
        aside = unused_name(path)
        _add_name(path, aside)
        for ending in ("-wal", "-journal"):
            log_file = path.with_name(path.name + ending)
            if log_file.exists() and not own_files.own(log_file):
                log_file.replace(aside.with_name(aside.name + ending))
    # what lies here of a log must not be read with the new file
    for ending in ("-wal", "-shm", "-journal"):
        path.with_name(path.name + ending).unlink(missing_ok=True)
    whole.replace(path)


def unused_name(path: Path) -> Path:
    """Return an unused path beside the memory, for a file that another program put in its place."""
    numbers = itertools.count(1)
    names = (path.with_name(f"{path.name}{ASIDE}{number}") for number in numbers)
    return next(name for name in names if not name.exists())


def _add_name(path: Path, aside: Path) -> None:
    """Give a file a second name, so that there is always one at its path; move it on a drive without links."""
    try:
        os.link(path, aside)
    except OSError:
        path.replace(aside)


_PRAGMAS = {
    "journal_mode": "WAL",
    # a power cut may cost the last commits, never the file
    "synchronous": "NORMAL",
    # pages (16 MB): a checkpoint writes each page once, however many batches changed it meanwhile. At SQLite's 1,000
    # lines of a chat of 10,000 people cost a tenth to a quarter more processor time.
    "wal_autocheckpoint": "4000",
    # KiB: what a batch of lines changes in the indexes of a day of chat. At SQLite's 2,000 a tenth of the time goes
    # into reading pages again.
    "cache_size": "-8000",
    # no chat in a temporary file on disk
    "temp_store": "MEMORY",
    # the schema's triggers call functions of ours, which some builds of SQLite do not allow by themselves
    "trusted_schema": "ON",
    "foreign_keys": "ON",
    # deleted rows are overwritten with zeros
    "secure_delete": "ON",
}


async def _prepare(writer: aiosqlite.Connection, path: Path) -> None:
    """Set the writer up, and make the schema in a new file. Raises StoreError."""
    # SQLite takes a file of one byte for an empty database, and writes over it
    if path.stat().st_size == 1:
        raise errors.StoreForeign(
            f"{path} is not a readable SQLite database. Choose another file with --db."
        )
    is_new = await _first_number(writer, "SELECT count(*) FROM sqlite_master") == 0
    if not is_new:
        refuse_foreign(
            path,
            await _first_number(writer, "PRAGMA application_id"),
            await _first_number(writer, "PRAGMA user_version"),
        )
    for name, value in _PRAGMAS.items():
        await writer.execute_fetchall(f"PRAGMA {name} = {value}")
    if await _first_number(writer, "PRAGMA secure_delete") != 1:
        raise errors.StoreError(
            "This build of SQLite cannot erase what it deletes (secure_delete). Use Python from python.org."
        )
    for name, (arguments, function) in _SQL_FUNCTIONS.items():
        await writer.create_function(name, arguments, function, deterministic=True)
    if is_new:
        # in the script itself: `executescript` first commits any transaction that was begun outside of it
        await writer.executescript(f"BEGIN IMMEDIATE;\n{schema_sql()}\nCOMMIT;")


def schema_sql() -> str:
    """Return the schema with its version.

    In a wheel it lies in this package; in an editable install at the root of the checkout.
    """
    packaged = resources.files("forgetmenot.store") / "schema.sql"
    file = packaged if packaged.is_file() else Path(__file__).parents[2] / "schema.sql"
    marks = f"PRAGMA user_version = {SCHEMA_VERSION};\nPRAGMA application_id = {APPLICATION_ID};"
    return f"{file.read_text(encoding='utf-8')}\n{marks}"


def refuse_foreign(
    path: Path,
    application: int,
    version: int,
) -> None:
    """Raise StoreForeign for a database of another program, or of another version of this one."""
    if application != APPLICATION_ID:
        raise errors.StoreForeign(
            f"{path} is a database of another program. Choose another file with --db."
        )
    if version != SCHEMA_VERSION:
        raise errors.StoreForeign(
            f"{path} was written by another version of ForgetMeNot (schema {version}, this one has {SCHEMA_VERSION})."
            " Use that version for it, or choose another file with --db."
        )


async def _first_number(connection: aiosqlite.Connection, sql: str) -> int:
    """Return the first column of a query's first row."""
    rows = list(await connection.execute_fetchall(sql))
    return int(rows[0][0])


@contextlib.contextmanager
def translated_errors(path: Path) -> Iterator[None]:
    """Raise SQLite's errors as ours, each with what is wrong and how to fix it."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _store_error(error, path) from error
    except UnicodeDecodeError as error:
        # SQLite quotes a damaged schema in its error, so the damaged words cannot be decoded
        raise _store_error(sqlite3.DatabaseError("malformed"), path) from error


def _store_error(error: sqlite3.DatabaseError, path: Path) -> errors.StoreError:
    """Return our error for one of SQLite's, which are told apart by their English words alone."""
    words = str(error)
    if "not a database" in words or "malformed" in words:
        return errors.StoreForeign(
            f"{path} is not a readable SQLite database ({words}). Choose another file with --db, or bring back a copy: "
            "`forgetmenot memory restore BACKUP`."
        )
    if "locked" in words or "busy" in words:
        return errors.StoreLocked(reason("file_held", path=str(path)))
    if isinstance(error, sqlite3.IntegrityError | sqlite3.DataError):
        return errors.StoreRefused(
            f"{path} does not take what was to be stored: {words}."
        )
    if "disk I/O" in words:
        return errors.StoreError(
            f"{path} cannot be read or written ({words}). Check the disk and its free space."
        )
    if "full" in words:
        return errors.StoreFull(reason("disk_full", path=str(path)))
    if "unable to open" in words or "readonly" in words:
        return errors.StoreError(
            f"{path} cannot be opened for writing. Check the folder and its permissions, or use --db."
        )
    return errors.StoreError(f"The database {path} answered: {words}.")
