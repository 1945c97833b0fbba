"""Where the memory lies: its files are their owner's alone, and it is told when somebody else copies the folder.

Promises 0600 for the database (SQLite gives its write-ahead log the same); on Windows the user's own folder keeps
others out. A file system that knows no permissions is no error.
"""

import contextlib
import errno
import os
from pathlib import Path

from forgetmenot.errors import StoreError, StoreFull
from forgetmenot.folders import make_own

APPLICATION_ID = 0x464D4E31
"""What SQLite's header says of a memory of ours: "FMN1"."""
_SERVICES = {
    "onedrive": "OneDrive",
    "dropbox": "Dropbox",
    "icloud": "iCloud",
    "com~apple~clouddocs": "iCloud",
    "mobile documents": "iCloud",
    "google drive": "Google Drive",
    "googledrive": "Google Drive",
    "my drive": "Google Drive",
    "nextcloud": "Nextcloud",
    "pcloud": "pCloud",
    "megasync": "MEGA",
}


def protect(path: Path) -> None:
    """Make the database's files their owner's alone, before anything is written; a database not there is made."""
    with contextlib.suppress(OSError):  # what cannot be opened is told by whoever opens it
        if not path.exists():
            os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        if not may_be_ours(path):
            return
    for ending in ("", "-wal", "-shm", "-journal"):  # the last three only where a crash left them
        with contextlib.suppress(OSError):
            _close_to_others(path.with_name(path.name + ending))


def may_be_ours(path: Path) -> bool:
    """Whether it is empty or a memory, by SQLite's header: what somebody else uses is not to be closed to them."""
    with path.open("rb") as file:
        head = file.read(72)
    return not head or (head.startswith(b"SQLite format 3\0") and head[68:72] == APPLICATION_ID.to_bytes(4))


def _close_to_others(path: Path) -> None:
    if os.name != "nt" and path.stat().st_uid == os.getuid() and path.stat().st_mode & 0o077:
        path.chmod(0o600)


def synced_by(path: Path) -> str | None:
    """The service that copies a folder elsewhere, as far as its path and where that leads to tell; else None."""
    for part in (*path.absolute().parts, *Path(os.path.realpath(path)).parts):
        for sign, service in _SERVICES.items():
            if part.casefold().startswith(sign):
                return service
    return None


def warning_about(path: Path) -> str | None:
    """One sentence for the streamer if the memory lies in a synced folder: copies there are out of reach."""
    service = synced_by(path)
    if service is None:
        return None
    return (
        f"{path} is in a folder that {service} copies elsewhere: what is erased here stays in those copies, and the"
        " file can be damaged. Move it with --db."
    )


def make_room(database: Path) -> None:
    """Make the folder for a memory, its owner's alone. Raises StoreError if the memory cannot be a file; OSError."""
    make_own(database.parent)
    if database.is_dir():
        example = database / "memory.sqlite3"
        raise StoreError(f"{database} is a folder. Name a file in it with --db, for example {example}.")


def cannot_open(path: Path, error: OSError) -> StoreError:
    """What to tell when the place of a memory cannot be used."""
    if error.errno == errno.ENOSPC:
        return StoreFull(f"The disk that holds {path} is full. Free some space, or use --db.")
    return StoreError(f"{path} cannot be opened: {error.strerror}. Check the folder, or choose another file with --db.")
