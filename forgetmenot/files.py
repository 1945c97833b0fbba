"""Opens text files in the encodings that editors write, and makes private folders and files."""

import codecs
import contextlib
import glob
import io
import os
import tempfile
import time
from pathlib import Path

from forgetmenot.errors import InputError

# No file is written for longer; another process may be at it until then.
UNFINISHED_AFTER_S = 60
_NEEDED = getattr(os, "O_BINARY", 0) | getattr(os, "O_NOFOLLOW", 0)  # Windows has the first; never through a link


def open_text(path: Path, *, errors: str = "strict", newline: str | None = None) -> io.TextIOWrapper:
    """Open UTF-8, with or without the mark that Windows' editors put first; UTF-16 where its mark says so (PowerShell).

    It is opened once and looked at without moving on: what a pipe has given does not come again. Raises InputError for
    what is no text at all, OSError.
    """
    file = path.open("rb")
    try:
        return io.TextIOWrapper(file, _encoding_of(path, file.peek()), errors, newline)
    except BaseException:
        file.close()
        raise


def _encoding_of(path: Path, head: bytes) -> str:
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    # the last character may be cut through; a zero is text only where all is
    if b"\0" in head and "\ufffd" in codecs.getincrementaldecoder("utf-8")("replace").decode(head):
        raise InputError(f"{path} is no text file.")
    return "utf-8-sig"


def make_own(folder: Path) -> None:
    """Make a folder and what is missing above it, each 0700; one that is there already stays as it is. Raises OSError.

    `mkdir(parents=True)` gives its mode to the last folder alone, and leaves the data folder above it open.
    """
    for missing in reversed([place for place in (folder, *folder.parents) if not place.exists()]):
        missing.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(exist_ok=True)  # a file in its place is an error


def replace_file(path: Path, text: str, *, mode: int = 0o600) -> None:
    """Put a whole new file in the place of the old one, or change nothing. Line ends stay as given. Raises OSError.

    What a crash in the middle of it left goes with the next one: it may hold a token, or what somebody exported.
    """
    for left in path.parent.glob(f".{glob.escape(path.name)}-*.new"):
        with contextlib.suppress(OSError):
            if time.time() - left.stat().st_mtime > UNFINISHED_AFTER_S:
                left.unlink()
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-", suffix=".new")  # made with mode 0600
    new = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if mode != 0o600:
            new.chmod(mode)
        new.replace(path)
    finally:
        with contextlib.suppress(OSError):
            new.unlink(missing_ok=True)


def write_own(path: Path, data: bytes, flags: int = 0, *, at: int = 0) -> None:
    """Write to a file of its owner alone, made if there is none; it is on disk when this returns. Raises OSError.

    `flags`: os.O_EXCL, os.O_TRUNC or os.O_APPEND; `at`: where the bytes go in a file that is there.
    """
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | _NEEDED | flags, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.seek(at)
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
