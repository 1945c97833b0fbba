"""What SQLite raises, said as a StoreError that names the file and the way out: the one place where that happens."""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from forgetmenot import errors


@contextlib.contextmanager
def translating(path: Path) -> Iterator[None]:
    """Turn SQLite's errors into ours; each says what is wrong and the way out."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        raise _ours(error, path) from error


def _ours(error: sqlite3.DatabaseError, path: Path) -> errors.StoreError:
    words = str(error)
    if "not a database" in words or "malformed" in words:
        return errors.StoreForeign(
            f"{path} is not a readable SQLite database ({words}). Choose another file with --db, or bring back a copy: "
            "`forgetmenot memory restore BACKUP`."
        )
    if "locked" in words or "busy" in words:
        return errors.StoreLocked(
            f"{path} is held by another program. Close that program, or choose another file with --db."
        )
    if isinstance(error, sqlite3.IntegrityError | sqlite3.DataError):
        return errors.StoreRefused(f"{path} does not take what was to be stored: {words}.")
    if "disk I/O" in words:
        return errors.StoreError(f"{path} cannot be read or written ({words}). Check the disk and its free space.")
    if "full" in words:
        return errors.StoreFull(
            f"The disk that holds {path} is full. Free some space; nothing that was stored is lost."
        )
    if "unable to open" in words or "readonly" in words:
        return errors.StoreError(
            f"{path} cannot be opened for writing. Check the folder and its permissions, or use --db."
        )
    return errors.StoreError(f"The database {path} answered: {words}.")
