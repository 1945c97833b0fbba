"""A memory on a medium that cannot be written: a disc, a backup's share, a stick with its switch on.

It can be listed, explained and exported; a change is refused with the way out.
"""

import contextlib
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path

import aiosqlite

from forgetmenot import errors, files
from forgetmenot.store.database import (
    Database,
    Transaction,
    connect,
    has_log,
    open_database,
    opened,
    refuse_foreign,
    translated_errors,
)
from forgetmenot.store.privacy_requests import PrivacyRequests


@contextlib.asynccontextmanager
async def open_existing(path: Path) -> AsyncIterator[Database]:
    """Open a memory that is there, only for reading where it cannot be written. Raises StoreError."""
    if not files.cannot_be_written(path):
        async with open_database(path) as db:
            yield db
        return
    # SQLite reads a log only with an index of it beside it, which it cannot make here.
    if has_log(path):
        raise errors.StoreError(
            f"{path} cannot be written, and its last changes are still in {path.name}-wal. "
            "Copy both into a folder where you may write, and use --db with the copy."
        )
    with translated_errors(path):
        db = ReadOnlyDatabase(path, PrivacyRequests(path))
        await db.connect()
        try:
            yield db
        finally:
            await db.close()


# No writer, which would want to make a log beside the file, and no check of who replaces it.
class ReadOnlyDatabase(Database):
    """A `Database` with the connection that reads, and no other."""

    async def connect(self) -> None:
        """Open the file. Raises StoreError."""
        async with contextlib.AsyncExitStack() as stack:
            reader = aiosqlite.Connection(
                partial(connect, self.path), iter_chunk_size=64
            )
            await stack.enter_async_context(opened(reader))
            await self._prepare_reader(reader)
            self._reader = reader
            # It may be a file of another program, or of another version.
            application = int(await self.value("PRAGMA application_id"))
            version = int(await self.value("PRAGMA user_version"))
            refuse_foreign(self.path, application, version)
            self._connections = stack.pop_all()

    async def close(self) -> None:
        """Close the connection."""
        await self._connections.aclose()

    @contextlib.asynccontextmanager
    async def write(self) -> AsyncIterator[Transaction]:
        """Refuse. Raises StoreError."""
        raise errors.StoreError(
            f"{self.path} cannot be written, so nothing can be changed in it. "
            "Copy it into a folder where you may write, and use --db with the copy."
        )
        yield  # a context manager needs one
