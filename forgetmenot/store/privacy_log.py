"""What people asked for, in a file beside the database, so that going back to an older copy does not undo it.

- Only keyed hashes stand here (`HashKey`), one JSON object per line, and lines are only ever added: a backup
  knows which was the last, and what follows is applied to it again when it is restored.
- A line is written before its transaction commits; a wish that was then cut off is carried out at the next start.
- Each line holds a keyed hash over itself and the line before it, and the database holds that of the last one: a line
  that was removed or changed shows (`broken_at`).
"""

import asyncio
import contextlib
import hashlib
import hmac
import os
import secrets
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from forgetmenot.errors import StoreError, StoreKeyLost
from forgetmenot.files import write_own

if TYPE_CHECKING:
    from forgetmenot.store.database import Database, Transaction

LOG_END = "privacy_log_end"
"""The name in channel_state of the chain of the last line; a copy has it as it was then."""
_LENGTH = 32


class HashKey:
    """The secret key of hashes, in one file beside the database that only its owner can read; no backup has it.

    With a keyed hash something is known again without anybody being able to tell what it was: plain hashes of Twitch
    ids hide nothing, since all of them can be tried in minutes. The key is made when it is first needed; where hashes
    exist that were made with one that is lost, `refuse_lost_key` refuses before that.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._key = b""

    @classmethod
    def beside(cls, database: Path) -> "HashKey":
        """The key of a memory."""
        return cls(database.with_name(database.name + ".key"))

    def exists(self) -> bool:
        """Whether there is a key."""
        return bool(self._key) or self.path.is_file()

    def digest(self, *parts: str) -> str:
        """32 hex digits that only the holder of the key can make of these texts. Raises StoreError."""
        if not self._key:
            self._key = self._read()
        return hmac.digest(self._key, "\0".join(parts).encode("utf-8", "surrogatepass"), "sha256").hex()[:32]

    def load(self) -> None:
        """Read the key, so that a file that is lost later is not replaced by a new one. Raises StoreError."""
        self._key = self._read()

    def replace(self) -> None:
        """Make a new key in the place of one that is lost or damaged. Raises StoreError."""
        fresh = self.path.with_name(self.path.name + ".part")
        try:
            fresh.unlink(missing_ok=True)
            write_own(fresh, secrets.token_bytes(_LENGTH), os.O_EXCL)
            fresh.replace(self.path)
        except OSError as error:
            raise self._unusable(error) from error
        self.load()

    def _read(self) -> bytes:
        try:
            # two processes may make the key at once: both then read the one that came first
            with contextlib.suppress(FileExistsError):
                self._make()
            key = self.path.read_bytes()
        except OSError as error:
            raise self._unusable(error) from error
        if len(key) != _LENGTH:
            raise StoreKeyLost(
                f"{self.path} is damaged. Put back the file as it was, or run `forgetmenot memory new-key`: who was"
                " erased has to ask again."
            )
        return key

    def _make(self) -> None:
        try:
            write_own(self.path, secrets.token_bytes(_LENGTH), os.O_EXCL)
        except FileExistsError:
            raise
        except OSError:  # a full disk: an empty file would be a damaged key
            self.path.unlink(missing_ok=True)
            raise

    def drop_unfinished(self) -> None:
        """Delete a key that was never written whole: nothing was made with it."""
        with contextlib.suppress(OSError):
            if self.path.stat().st_size < _LENGTH:
                self.path.unlink()

    def _unusable(self, error: OSError) -> StoreError:
        return StoreError(f"{self.path} cannot be read or written: {error.strerror}. Check its permissions.")


class PrivacyRequestKind(StrEnum):
    """What was asked for."""

    ERASED = "erased"
    FORGOTTEN = "forgotten"
    ALLOWED = "allowed"
    OPTED_OUT = "opted_out"
    OPTED_IN = "opted_in"
    RECEIPT = "receipt"
    NEW_KEY = "new_key"


class Trace(msgspec.Struct, frozen=True, omit_defaults=True):
    """A text that was erased, as the hash of its lower case. `inside`: it also counts inside a longer word.

    `start`: a short hash of its first three characters, without which a search would take minutes; 0: not ASCII.
    """

    hash: str
    length: int
    start: int = 0
    inside: bool = False


class PrivacyRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """One wish. `subject`: hash of the viewer's id; `words`: of a fact's words; `whole` as in the table `forgotten`.

    A receipt of an erasure has the `code` that was given to the viewer, what was searched for afterwards, in how many
    files and bytes, and how often it was found. `chain`: the keyed hash of this line and the one before it.
    """

    kind: PrivacyRequestKind
    subject: str
    at: int = 0
    words: tuple[str, ...] = ()
    whole: bool = False
    code: str = ""
    traces: tuple[Trace, ...] = ()
    files: int = 0
    bytes: int = 0
    found: int = 0
    chain: str = ""


def path_of(key: HashKey) -> Path:
    """Where the file lies: beside the key."""
    return key.path.with_name(key.path.name.removesuffix(".key") + ".asked")


async def note(tx: "Transaction", entries: Sequence[PrivacyRequest]) -> None:
    """Add lines, on disk when this returns; the transaction keeps other processes out meanwhile. Raises StoreError."""
    if entries:
        end = await asyncio.to_thread(_append, tx.key, entries)
        await _set_end(tx, end)


async def _set_end(tx: "Transaction", end: str) -> None:
    await tx.execute(
        "INSERT INTO channel_state (name, value, updated_at) VALUES (?, ?, 0)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        (LOG_END, end),
    )


def _append(key: HashKey, entries: Sequence[PrivacyRequest]) -> str:
    path = path_of(key)
    held = _bytes(path)
    last, end = (held.splitlines() or [b""])[-1], ""
    lines = [b""] if held and not held.endswith(b"\n") else []  # a crash cut the last line off
    for entry in entries:
        end = _chain(key, last, entry)
        last = msgspec.json.encode(msgspec.structs.replace(entry, chain=end))
        lines.append(last)
    try:
        write_own(path, b"\n".join([*lines, b""]), os.O_APPEND)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {error.strerror}. Check its permissions and the disk.") from error
    return end


def _chain(key: HashKey, before: bytes, entry: PrivacyRequest) -> str:
    # without its own hash, which is not known yet
    body = msgspec.json.encode(msgspec.structs.replace(entry, chain=""))
    return key.digest("chain", hashlib.sha256(before).hexdigest(), body.decode())


async def broken_at(db: "Database") -> int:
    """The number of the first line that was changed, or that follows a removed one; 0 if all is as it was written.

    Lines from before there was a chain, and a line that a crash cut off, are passed over. Raises StoreError.
    """
    end = await db.value("SELECT value FROM channel_state WHERE name = ?", (LOG_END,))
    return await asyncio.to_thread(_broken_at, db.key, end or "")


def _broken_at(key: HashKey, end: str) -> int:
    lines = _lines(path_of(key))
    chained = False
    for number, line in enumerate(lines, 1):
        entry = _decoded(line)
        if entry == _UNREADABLE:
            continue
        if entry.chain and entry.chain != _chain(key, lines[number - 2] if number > 1 else b"", entry):
            return number
        if chained and not entry.chain:
            return number
        chained = chained or bool(entry.chain)
        end = "" if entry.chain == end else end
    return len(lines) + 1 if end else 0


# ── the key ───────────────────────────────────────────────────────────────────────────────────


def refuse_lost_key(key: HashKey, database: Path, *, keyed_rows: bool | None) -> None:
    """See that the key is the one that the hashes were made with, where there are any. Raises StoreKeyLost, StoreError.

    `keyed_rows`: whether the database holds some, if that is known. With none anywhere a key that is missing, or was
    never written whole, is made when it is needed.
    """
    lines = _lines(path_of(key))
    if not (lines or keyed_rows):
        if keyed_rows is not None:
            key.drop_unfinished()
        return
    if not key.exists():
        raise _lost(key, database, "is missing")
    key.load()
    held = [(lines[at - 1] if at else b"", entry) for at, entry in enumerate(map(_decoded, lines)) if entry.chain]
    if held and not any(entry.chain == _chain(key, before, entry) for before, entry in held):
        raise _lost(key, database, "is not the key that was used before")


async def start_anew(tx: "Transaction", now: int) -> None:
    """Make a new key and a new list, which says so; the old list, which nobody can read, goes. Raises StoreError."""
    path = path_of(tx.key)
    tx.key.replace()
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be deleted: {error.strerror}. Check its permissions.") from error
    await note(tx, [PrivacyRequest(PrivacyRequestKind.NEW_KEY, "", now)])


async def set_end(tx: "Transaction") -> None:
    """Take the list as it is for whole: after a copy was restored, which knows an earlier end, or another list's."""
    lines = await asyncio.to_thread(_lines, path_of(tx.key))
    await _set_end(tx, next((entry.chain for entry in map(_decoded, reversed(lines)) if entry.chain), ""))


def predates_key(path: Path, end: str) -> bool:
    """Whether a copy with that end was made before the key was replaced: who was erased since then is not known."""
    held = read(path)
    return any(one.kind is PrivacyRequestKind.NEW_KEY for one in held[:1]) and all(one.chain != end for one in held)


def _lost(key: HashKey, database: Path, what: str) -> StoreKeyLost:
    return StoreKeyLost(
        f"{key.path} {what}: without it nobody knows who was erased or opted out, and their data would be stored again."
        f" Put the file back, or run `forgetmenot memory new-key --db {database}`, which keeps the opt-outs of the"
        " people in the memory; who was erased has to ask again."
    )


def read(path: Path) -> list[PrivacyRequest]:
    """All lines, oldest first; one that was cut off by a crash counts for nothing. Raises StoreError."""
    return [_decoded(line) for line in _lines(path)]


def size(key: HashKey) -> int:
    """How long the list is, in bytes: it only grows."""
    try:
        return path_of(key).stat().st_size
    except OSError:
        return 0


def after(path: Path, end: str) -> list[PrivacyRequest]:
    """What was asked for after the line with that chain; everything, if this list has none. Raises StoreError."""
    held = read(path)
    return held[next((number for number, one in enumerate(held, 1) if end and one.chain == end), 0) :]


def _lines(path: Path) -> list[bytes]:
    return _bytes(path).splitlines()


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}. Check its permissions.") from error


def _decoded(line: bytes) -> PrivacyRequest:
    try:
        return msgspec.json.decode(line, type=PrivacyRequest)
    except (msgspec.MsgspecError, UnicodeError):
        return _UNREADABLE


_UNREADABLE = PrivacyRequest(PrivacyRequestKind.ALLOWED, "")


def erased(path: Path) -> dict[str, int]:
    """When each subject was last erased, by hash."""
    return {entry.subject: entry.at for entry in read(path) if entry.kind is PrivacyRequestKind.ERASED}
