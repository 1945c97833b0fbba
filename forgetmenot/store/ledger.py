"""What people asked for, in a file beside the database, so that going back to an older copy does not undo it.

Promises that only keyed hashes stand here (store/keyed), one JSON object per line, and that lines are only ever added:
a backup notes which there were, and what follows is applied to it again when it is restored. A line is written
before its transaction commits; a wish that was then cut off is carried out at the next start anyway.
"""

import asyncio
import hashlib
import os
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from forgetmenot.errors import StoreError
from forgetmenot.store.keyed import HashKey


class Kind(StrEnum):
    """What was asked for."""

    ERASED = "erased"
    FORGOTTEN = "forgotten"
    ALLOWED = "allowed"
    OPTED_OUT = "opted_out"
    OPTED_IN = "opted_in"


class Entry(msgspec.Struct, frozen=True, omit_defaults=True):
    """One wish. `subject`: hash of the viewer's id; `words`: of a fact's words; `whole` as in the table `forgotten`."""

    kind: Kind
    subject: str
    at: int = 0
    words: tuple[str, ...] = ()
    whole: bool = False


def path_of(key: HashKey) -> Path:
    """Where the file lies: beside the key."""
    return key.path.with_name(key.path.name.removesuffix(".key") + ".asked")


async def note(key: HashKey, entries: Sequence[Entry]) -> None:
    """Add lines, on disk when this returns. Raises StoreError."""
    if entries:
        await asyncio.to_thread(_append, path_of(key), entries)


def _append(path: Path, entries: Sequence[Entry]) -> None:
    lines = b"".join(msgspec.json.encode(entry) + b"\n" for entry in entries)
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0), 0o600)
        with os.fdopen(descriptor, "ab") as file:
            file.write(lines)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}. Check its permissions and the disk.") from error


def read(path: Path) -> list[Entry]:
    """All lines, oldest first; one that was cut off by a crash counts for nothing. Raises StoreError."""
    return [_decoded(line) for line in _lines(path)]


def mark(path: Path) -> str:
    """Where the list ends now, for `after`. Raises StoreError."""
    lines = _lines(path)
    return f"{len(lines)}:{_digest(lines)}"


def size(key: HashKey) -> int:
    """How long the list is, in bytes: it only grows."""
    try:
        return path_of(key).stat().st_size
    except OSError:
        return 0


def after(path: Path, place: str) -> list[Entry]:
    """What was asked for after a mark was taken; everything, if it was not taken of this list. Raises StoreError."""
    lines = _lines(path)
    count, _, digest = place.partition(":")
    known = int(count) if count.isdecimal() and len(count) < 12 else 0
    since = known if digest == _digest(lines[:known]) else 0
    return [_decoded(line) for line in lines[since:]]


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}. Check its permissions.") from error


def _digest(lines: Sequence[bytes]) -> str:
    return hashlib.sha256(b"\n".join(lines)).hexdigest()[:32]


def _decoded(line: bytes) -> Entry:
    try:
        return msgspec.json.decode(line, type=Entry)
    except msgspec.MsgspecError:
        return Entry(Kind.ALLOWED, "")


def erased(path: Path) -> dict[str, int]:
    """When each subject was last erased, by hash."""
    return {entry.subject: entry.at for entry in read(path) if entry.kind is Kind.ERASED}
