"""Opens text files as editors write them, makes private files, and guards a memory's files.

The database has mode 0600 (SQLite gives its write-ahead log the same); on Windows the user's own
folder keeps others out. A file system without permissions is no error.
"""

import codecs
import contextlib
import errno
import glob
import gzip
import io
import os
import tempfile
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TextIO

from filelock import FileLock, Timeout

from forgetmenot.errors import InputError, StoreError, StoreFull, StoreLocked
from forgetmenot.languages import reason

# What SQLite's header says of a memory of ours: "FMN1".
APPLICATION_ID = 0x464D4E31
_GZIP = b"\x1f\x8b"
# No file is written for longer; another process may be at it until then.
UNFINISHED_AFTER_S = 60
# Windows refuses to replace or delete a file that a virus scanner or a sync program looks at: for
# moments.
REFUSED_FOR_S = 2.0
# ERROR_ACCESS_DENIED, ERROR_SHARING_VIOLATION, ERROR_LOCK_VIOLATION: the attribute `winerror`
# exists on Windows alone.
_REFUSALS = frozenset({5, 32, 33})
# Windows alone has the first; the second refuses a link.
_OPEN_FLAGS = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)


def open_text(
    path: Path,
    *,
    errors: str = "strict",
    newline: str | None = None,
    packed: bool = False,
) -> io.TextIOWrapper:
    """Open a file of UTF-8, with or without a byte order mark, or of UTF-16 with one (PowerShell).

    It is opened once and looked at without moving on: what a pipe has given does not come again.
    `packed`: also what gzip has packed (`is_cut_off`). Raises InputError for what is no text at
    all, OSError.
    """
    file = path.open("rb")
    if packed and file.peek(2).startswith(_GZIP):
        file.close()
        file = io.BufferedReader(_PackedFile(path))
    try:
        return io.TextIOWrapper(file, _encoding_of(path, file.peek()), errors, newline)
    except BaseException:
        file.close()
        raise


class _PackedFile(io.RawIOBase):
    """What gzip has packed, read as far as it goes.

    `is_cut_off`: its end is missing, or damaged.
    """

    def __init__(self, path: Path) -> None:
        self._file = gzip.open(path, "rb")  # noqa: SIM115  # `close` does
        self.is_cut_off = False

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def readinto(self, buffer: Any) -> int:  # noqa: ANN401  # a writable buffer of any kind
        try:
            # One step at a time: what was unpacked before a fault is good.
            data = self._file.read1(len(buffer))
        except (EOFError, zlib.error, gzip.BadGzipFile):
            self.is_cut_off = True
            data = b""
        buffer[: len(data)] = data
        return len(data)

    def close(self) -> None:
        self._file.close()
        super().close()


def is_cut_off(file: TextIO) -> bool:
    """Return whether the end of a packed file is missing, once all of it was read."""
    raw = getattr(getattr(file, "buffer", None), "raw", None)
    return isinstance(raw, _PackedFile) and raw.is_cut_off


def _encoding_of(path: Path, head: bytes) -> str:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    # The last character may be cut through; a zero is text only if all is.
    if b"\0" in head and "\ufffd" in codecs.getincrementaldecoder("utf-8")(
        "replace"
    ).decode(head):
        raise InputError(f"{path.name} is no text file.")
    return "utf-8-sig"


def lines_of(file: TextIO, max_length: int) -> Iterator[str]:
    """Yield the lines of a file; of a longer one its beginning, so that none fills the memory."""
    line = file.readline(max_length)
    while line:
        yield line
        # The rest of a longer line is no line of its own.
        while len(line) == max_length and not line.endswith("\n"):
            line = file.readline(max_length)
        line = file.readline(max_length)


def make_own(folder: Path) -> None:
    """Make a folder and what is missing above it, each with mode 0700. Raises OSError.

    A folder that exists stays as it is.

    `mkdir(parents=True)` gives its mode to the last folder alone, and leaves the data folder above
    it open.
    """
    missing = [parent for parent in (folder, *folder.parents) if not parent.exists()]
    for parent in reversed(missing):
        parent.mkdir(mode=0o700, exist_ok=True)
    # A file in its place is an error.
    folder.mkdir(exist_ok=True)


def replace_file(
    path: Path,
    text: str,
    *,
    mode: int = 0o600,
) -> None:
    """Put a whole new file in the place of the old one, or change nothing.

    Line ends stay as given. Raises OSError.

    What a crash in the middle of it left goes with the next one: it may hold a token, or what
    somebody exported.
    """
    for unfinished in path.parent.glob(f".{glob.escape(path.name)}-*.new"):
        with contextlib.suppress(OSError):
            if time.time() - unfinished.stat().st_mtime > UNFINISHED_AFTER_S:
                unfinished.unlink()
    # Made with mode 0600.
    handle, name = tempfile.mkstemp(
        dir=path.parent, prefix=f".{path.name}-", suffix=".new"
    )
    new = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if mode != 0o600:
            new.chmod(mode)
        move_into_place(new, path)
    finally:
        with contextlib.suppress(OSError):
            delete(new)


def move_into_place(new: Path, path: Path) -> None:
    """Put a finished file in the place of another one.

    Windows may refuse it for 2 seconds. Raises OSError.
    """
    _retry_refused(lambda: new.replace(path))


def delete(path: Path) -> None:
    """Delete a file, if there is one. Windows may refuse it for 2 seconds. Raises OSError."""
    _retry_refused(lambda: path.unlink(missing_ok=True))


def _retry_refused(change: Callable[[], object]) -> None:
    """Change a file, again while Windows refuses it because another program looks at it.

    Raises OSError.
    """
    deadline = time.monotonic() + REFUSED_FOR_S
    while True:
        try:
            change()
        except PermissionError as error:
            is_refused_for_now = getattr(error, "winerror", None) in _REFUSALS
            if not is_refused_for_now or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        else:
            return


def append_own(path: Path, data: bytes) -> None:
    """Add to a file of its owner alone, made if there is none; it is on disk when this returns.

    Raises OSError.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | _OPEN_FLAGS
    descriptor = os.open(path, flags, 0o600)
    with os.fdopen(descriptor, "ab") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


# ── the files of a memory ───────────────────────────────────────────────────────────────────

# POSIX drops all locks that a process has on a file as soon as the process closes any descriptor of
# it. The next program would take the memory for unused and delete its write-ahead log, while the
# bot writes on into deleted files. So a file is opened once in a process, read through that
# descriptor, and closed after SQLite's last connection to it.

# Device and inode; on a file system without inodes the path.
FileId = tuple[object, ...]


def file_id(path: Path) -> FileId | None:
    """Return what tells a file from every other one, whatever its path; None if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return _id_of(status, path)


def _id_of(status: os.stat_result, path: Path) -> FileId:
    if status.st_ino == 0:
        return (str(path.resolve()),)
    return (status.st_dev, status.st_ino)


class OpenFile:
    """A file that this process has open, for all who read it or have SQLite open it.

    Made by `opened_once`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.users = 0
        self.in_use_as_memory = False
        self._descriptor: int | None = None
        if hasattr(os, "pread"):
            self._descriptor = os.open(path, os.O_RDONLY)
            self.id = _id_of(os.fstat(self._descriptor), path)
        # On Windows a lock belongs to the handle that took it: any other one may be closed.
        else:
            self.id = _id_of(path.stat(), path)

    def read(self, size: int, offset: int) -> bytes:
        """Return some of its bytes; none behind its end. Raises OSError."""
        if self._descriptor is not None:
            return os.pread(self._descriptor, size, offset)
        with self.path.open("rb") as file:
            file.seek(offset)
            return file.read(size)

    def close(self) -> None:
        """Give the descriptor back."""
        if self._descriptor is not None:
            os.close(self._descriptor)


_open_files: dict[FileId, OpenFile] = {}
_open_files_lock = threading.Lock()


def _acquire(path: Path) -> OpenFile:
    with _open_files_lock:
        file = _open_files.get(_id_of(path.stat(), path))
        if file is None:
            file = OpenFile(path)
            _open_files[file.id] = file
        file.users += 1
        return file


def _release(file: OpenFile) -> None:
    with _open_files_lock:
        file.users -= 1
        if file.users == 0:
            del _open_files[file.id]
            file.close()


@contextlib.contextmanager
def opened_once(path: Path) -> Iterator[OpenFile]:
    """Have a file open, together with whoever else in this process has. Raises OSError.

    Whoever connects SQLite to a file does it within this: nobody closes the file meanwhile.
    """
    file = _acquire(path)
    try:
        yield file
    finally:
        _release(file)


def read_blocks(path: Path, size: int) -> Iterator[bytes]:
    """Yield a file's bytes, `size` at a time; of a memory that is in use as well.

    Raises OSError.
    """
    offset = 0
    with opened_once(path) as file:
        block = file.read(size, offset)
        while block:
            yield block
            offset += len(block)
            block = file.read(size, offset)


class MemoryFiles:
    """The files of the memory that a `Database` has open: itself, its log and the log's index."""

    def __init__(self, path: Path) -> None:
        """Take the file before SQLite connects to it.

        Raises StoreError if it is in use already, OSError.
        """
        self.path = path
        self._files: dict[Path, OpenFile] = {}
        memory = _acquire(path)
        if memory.in_use_as_memory:
            _release(memory)
            raise StoreError(
                f"{path} is already open in this program, which may open a memory only once."
                " Close it first, or use the one that is open."
            )
        memory.in_use_as_memory = True
        self._files[path] = memory

    def add_logs(self) -> None:
        """Take the log and its index, once SQLite has made them."""
        for ending in ("-wal", "-shm"):
            path = self.path.with_name(self.path.name + ending)
            # There are none if SQLite cannot share memory.
            with contextlib.suppress(OSError):
                self._files[path] = _acquire(path)

    def are_displaced(self) -> bool:
        """Return whether another program removed or replaced one: what is written would be lost."""
        return any(file_id(path) != file.id for path, file in self._files.items())

    def own(self, path: Path) -> bool:
        """Return whether one of them is at this path."""
        return any(file_id(path) == file.id for file in self._files.values())

    def release(self) -> None:
        """Release the files; after the last connection is closed."""
        self._files[self.path].in_use_as_memory = False
        for file in self._files.values():
            _release(file)
        self._files.clear()


def cannot_be_written(path: Path) -> bool:
    """Return whether a memory, or the folder in which SQLite keeps its log, refuses writes."""
    return not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def is_open(path: Path) -> bool:
    """Return whether this process has a file open as a memory, or reads it as one of a memory's."""
    return file_id(path) in _open_files


def protect(path: Path) -> None:
    """Restrict the database's files to their owner before anything is written.

    Makes a missing database. Whoever opens the file reports an error.
    """
    with contextlib.suppress(OSError):
        if not path.exists():
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
            os.close(os.open(path, flags, 0o600))
        if not may_be_ours(path):
            return
    # A crash may have left the last three.
    for ending in ("", ".requests", "-wal", "-shm", "-journal"):
        with contextlib.suppress(OSError):
            _close_to_others(path.with_name(path.name + ending))


def _close_to_others(file: Path) -> None:
    if os.name == "nt":
        return
    status = file.stat()
    if status.st_uid == os.getuid() and status.st_mode & 0o077:
        file.chmod(0o600)


def may_be_ours(path: Path) -> bool:
    """Return whether a file is empty or a memory, by SQLite's header.

    Other programs' files keep their permissions.
    """
    with opened_once(path) as file:
        head = file.read(72, 0)
    if not head:
        return True
    is_sqlite = head.startswith(b"SQLite format 3\0")
    return is_sqlite and head[68:72] == APPLICATION_ID.to_bytes(4)


def incoming_folder(database: Path) -> Path:
    """Return the folder for chat of past streams that was dropped on the dock."""
    return database.with_name(f"{database.name}.incoming")


def make_folder(database: Path) -> None:
    """Make a private folder for a memory.

    Raises StoreError if the memory cannot be a file; OSError.
    """
    make_own(database.parent)
    if database.is_dir():
        example = database / "memory.sqlite3"
        raise StoreError(
            f"{database} is a folder. Use a file in it with --db, for example {example}."
        )


def cannot_open(path: Path, error: OSError) -> StoreError:
    """Return the error for a memory whose place cannot be used."""
    if error.errno == errno.ENOSPC:
        return StoreFull(reason("disk_full", path=str(path)))
    return StoreError(
        f"{path} cannot be opened: {error.strerror}."
        " Check the folder, or choose another file with --db."
    )


# One bot per memory. The lock is the operating system's, so a killed process leaves none behind.
# The command line may write beside a running bot, as SQLite allows; a second bot may not.


# The path of a memory stands before it.
IN_USE = "is in use by another ForgetMeNot."


@contextlib.contextmanager
def instance_lock(database: Path) -> Iterator[None]:
    """Lock the database for this process.

    Raises StoreLocked if another process has locked it, or StoreError.
    """
    try:
        make_folder(database)
        lock = FileLock(database.with_name(database.name + ".lock"), mode=0o600)
        lock.acquire(timeout=0)
    except Timeout:
        raise StoreLocked(
            f"{database} {IN_USE} Stop that one first, or choose another file with --db."
        ) from None
    except OSError as error:
        raise cannot_open(database, error) from error
    try:
        yield
    finally:
        lock.release()


def is_locked(database: Path) -> bool:
    """Return whether a bot runs on this database now. Leaves no file behind."""
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
