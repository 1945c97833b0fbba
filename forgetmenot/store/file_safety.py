"""Protects the memory's files, and holds the instance lock.

The database has mode 0600 (SQLite gives its write-ahead log the same); on Windows the user's own folder keeps others
out. A file system without permissions is no error.
"""

import contextlib
import errno
import os
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from forgetmenot.errors import StoreError, StoreFull, StoreLocked
from forgetmenot.files import make_own
from forgetmenot.languages import reason

# What SQLite's header says of a memory of ours: "FMN1".
APPLICATION_ID = 0x464D4E31


def protect(path: Path) -> None:
    """Restrict the database's files to their owner before anything is written; creates a missing database."""
    with contextlib.suppress(OSError):  # whoever opens the file reports the error
        if not path.exists():
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        if not may_be_ours(path):
            return
    for ending in ("", ".requests", "-wal", "-shm", "-journal"):  # the last three only where a crash left them
        with contextlib.suppress(OSError):
            file = path.with_name(path.name + ending)
            if os.name != "nt" and file.stat().st_uid == os.getuid() and file.stat().st_mode & 0o077:
                file.chmod(0o600)


def may_be_ours(path: Path) -> bool:
    """Whether it is empty or a memory, by SQLite's header: other programs' files keep their permissions."""
    with path.open("rb") as file:
        head = file.read(72)
    return not head or (head.startswith(b"SQLite format 3\0") and head[68:72] == APPLICATION_ID.to_bytes(4))


def incoming_folder(database: Path) -> Path:
    """Where chat of past streams lies that was dropped on the dock."""
    return database.with_name(f"{database.name}.incoming")


def make_folder(database: Path) -> None:
    """Make a private folder for a memory. Raises StoreError if the memory cannot be a file; OSError."""
    make_own(database.parent)
    if database.is_dir():
        example = database / "memory.sqlite3"
        raise StoreError(f"{database} is a folder. Use a file in it with --db, for example {example}.")


def cannot_open(path: Path, error: OSError) -> StoreError:
    """The error for a memory whose place cannot be used."""
    if error.errno == errno.ENOSPC:
        return StoreFull(reason("disk_full", path=str(path)))
    return StoreError(f"{path} cannot be opened: {error.strerror}. Check the folder, or choose another file with --db.")


# One bot per memory. The lock is the operating system's, so a killed process leaves none behind. The command line may
# write beside a running bot, as SQLite allows; a second bot may not.


@contextlib.contextmanager
def instance_lock(database: Path) -> Iterator[None]:
    """Hold the database for this process. Raises StoreLocked where another one does, or StoreError."""
    try:
        make_folder(database)
        lock = FileLock(database.with_name(database.name + ".lock"), mode=0o600)
        lock.acquire(timeout=0)
    except Timeout:
        other = "is in use by another ForgetMeNot. Stop that one first, or choose another file with --db."
        raise StoreLocked(f"{database} {other}") from None
    except OSError as error:
        raise cannot_open(database, error) from error
    try:
        yield
    finally:
        lock.release()


def is_locked(database: Path) -> bool:
    """Whether a bot runs on this database now. Leaves no file behind."""
    file = database.with_name(database.name + ".lock")
    if not file.exists():
        return False
    lock = FileLock(file)
    try:
        lock.acquire(timeout=0)
    except (Timeout, OSError):
        return True
    lock.release()
    return False
