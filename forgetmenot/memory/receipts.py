"""Receipts of erasures: a short code, with which every file can be searched again for a person nobody can name.

- What was erased (the id, and every name) is kept as keyed hashes only. A search makes the hashes of the words of every
  file and compares. A short hash of the first three characters says where to look: whoever has the key file can make
  these three out, and could try whole names as well.
- The search runs after each erasure, when the file was rebuilt, and its result is a line of the privacy log.
- It cannot find what an erasure leaves on purpose: a name that is an everyday word, where no @ is before it.
"""

import asyncio
import atexit
import contextlib
import io
import itertools
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import msgspec

from forgetmenot import logs
from forgetmenot.errors import InputError, StoreError
from forgetmenot.languages import reason
from forgetmenot.logs import log
from forgetmenot.store import backup, channel_state, personal_data, privacy_log
from forgetmenot.store.database import Database, Source, Transaction
from forgetmenot.store.privacy_log import HashKey, PrivacyRequest, PrivacyRequestKind, Trace
from forgetmenot.text.removal import Names

RECEIPTS_DUE = "receipts_due"
"""The name in channel_state of the receipts whose search waits until the file was rebuilt, as JSON."""
_LETTERS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Those that nobody mixes up when they copy a code by hand."""
_READ_AS = str.maketrans("OIL", "011")
_CHUNK = 1 << 18
_LONGEST_WORD = 4_096
_LONGEST_NAME = 25
_REMEMBERED = 200_000
_START = 3
_FIRST, _NEXT = "@_0123456789abcdefghijklmnopqrstuvwxyz", "_0123456789abcdefghijklmnopqrstuvwxyz"
_FOREIGN_WORD = re.compile(r"@?\w*[^\W\x00-\x7f]\w*")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_PLAIN = rb"[ -\[\]-~]"
_CHARACTER = rb"(?:\\u[0-9a-f]{4}|[ -~]|[\xc2-\xf4][\x80-\xbf]{1,3})"  # in UTF-8, or a foreign one as JSON has it
_WORD_BYTES = re.compile(rb"[0-9A-Za-z_@\\\x80-\xff]*\Z")
_SUBFOLDERS = (backup.FOLDER, "logs", "login")


class _Due(msgspec.Struct, frozen=True):
    """An erasure whose receipt is still to be written."""

    code: str
    subject: str
    at: int
    traces: tuple[Trace, ...]


@dataclass(frozen=True, slots=True)
class FoundTrace:
    """Where a person was found again; `tables`: in which tables of the memory, and how often in each."""

    file: str
    count: int
    tables: dict[str, int]


@dataclass(frozen=True, slots=True)
class Search:
    """What was searched, and what was found."""

    files: int
    bytes: int
    places: tuple[FoundTrace, ...]

    @property
    def found(self) -> int:
        """How often the person was found in all."""
        return sum(place.count for place in self.places)


@dataclass(frozen=True, slots=True)
class Receipt:
    """A receipt and a new search for it. `known_again`: the person has talked here since, and is stored as new.

    `log_broken_at`: the number of the line of the privacy log that was changed or follows a removed one; 0 if none.
    """

    code: str
    erased_at: int
    files_then: int
    bytes_then: int
    found_then: int
    now: Search
    known_again: bool
    log_broken_at: int


def code_of(key: HashKey, viewer_id: str, erase_at: int) -> str:
    """The code of the erasure of a person that was asked for at a time: "K7Q2-9FHD". The same after a restart."""
    number = int(key.digest("receipt", viewer_id, str(erase_at)), 16)
    # five bits for each of eight letters: a million million codes
    letters = "".join(_LETTERS[number >> 5 * at & 31] for at in range(8))
    return f"{letters[:4]}-{letters[4:]}"


async def owe(tx: Transaction, code: str, who: Names, at: int) -> None:
    """Note that a receipt is to be written, in the transaction that deletes the person."""
    due = _Due(code, tx.key.digest("viewer", who.viewer_id), at, traces_of(tx.key, who))
    await _set_due(tx, [*await _due(tx), due], at)


async def _due(source: Source) -> list[_Due]:
    return msgspec.json.decode(await channel_state.read(source, RECEIPTS_DUE) or "[]", type=list[_Due])


async def _set_due(tx: Transaction, due: list[_Due], at: int) -> None:
    await channel_state.put(tx, {RECEIPTS_DUE: msgspec.json.encode(due).decode() if due else ""}, at)


async def write_due(db: Database) -> int:
    """Search for everybody who was erased, now that the file was rebuilt, and write their receipts; how many."""
    due = await _due(db)
    for one in due:
        done = await search(db, one.traces)
        result = {"files": done.files, "bytes": done.bytes, "found": done.found}
        line = PrivacyRequest(PrivacyRequestKind.RECEIPT, one.subject, one.at, code=one.code, traces=one.traces)
        async with db.write() as tx:
            await privacy_log.note(tx, [msgspec.structs.replace(line, **result)])
            await _set_due(tx, [other for other in await _due(tx) if other.code != one.code], one.at)
        log.info("an erasure has its receipt", **result)
    return len(due)


async def check(db: Database, code: str) -> Receipt:
    """Search every file again for whoever has this code. Raises InputError for an unknown code, StoreError."""
    wanted = code.upper().translate(_READ_AS).replace("-", "").strip()
    lines = await asyncio.to_thread(privacy_log.read, privacy_log.path_of(db.key))
    line = next((one for one in lines if one.code and one.code.replace("-", "") == wanted), None)
    if line is None and (changed := await privacy_log.broken_at(db)):
        raise InputError(reason("receipt_lost", code=code, n=changed))
    if line is None:
        raise InputError(reason("receipt_unknown", code=code))
    people = await personal_data.everybody(db)
    subjects = await asyncio.to_thread(lambda: {db.key.digest("viewer", one) for one in people})
    return Receipt(
        code=line.code,
        erased_at=line.at,
        files_then=line.files,
        bytes_then=line.bytes,
        found_then=line.found,
        now=await search(db, line.traces),
        known_again=line.subject in subjects,
        log_broken_at=await privacy_log.broken_at(db),
    )


# ── the search ────────────────────────────────────────────────────────────────────────────────


def traces_of(key: HashKey, who: Names) -> tuple[Trace, ...]:
    """What is to be found nowhere, as hashes: the same that an erasure takes out of texts (text/removal)."""
    found = []
    for name in dict.fromkeys(one.lower() for one in who.names):
        found.append(_trace(key, f"@{name}"))
        if who.hidden(name) != name:
            inside = f"q{name}q"
            found.append(_trace(key, name, inside=who.hidden(inside) != inside))
    if who.hidden(who.viewer_id) != who.viewer_id:
        found.append(_trace(key, who.viewer_id))
    return tuple(found)


def _trace(key: HashKey, text: str, *, inside: bool = False) -> Trace:
    start = text[:_START]
    return Trace(key.digest("trace", text), len(text), _start(key, start) if start.isascii() else 0, inside)


def _start(key: HashKey, text: str) -> int:
    return int(key.digest("start", text)[:4], 16) + 1


class TraceFinder:
    """Finds words by their hashes. `others`: names of other people, in which a shorter name may stand."""

    def __init__(self, key: HashKey, traces: Iterable[Trace], others: Iterable[str] = ()) -> None:
        self._key = key
        self._traces = {one.hash: one for one in traces}
        self._others = frozenset(others)
        self._seen: dict[str, Trace | None] = {}
        starts = {one.start: set[int]() for one in self._traces.values()}
        for one in self._traces.values():
            starts[one.start].add(one.length)
        self._foreign = starts.pop(0, set())
        possible = map("".join, itertools.product(_FIRST, _NEXT, _NEXT)) if starts else ()
        self._starts = {text: starts[found] for text in possible if (found := _start(key, text)) in starts}
        self._patterns = [
            (
                start[:begin],
                re.compile(b"%b(?=(%b(?:%b)))" % (*map(str.encode, (start[:begin], start[begin:])), rest)),
                set[bytes](),
            )
            for start, lengths in self._starts.items()
            for begin in (1 if start[0] == start[-1] else _START,)  # "anana" has "ana" twice
            for rest in (b"%b{%d}|%b{%d}" % (_PLAIN, more, _CHARACTER, more) for more in (n - _START for n in lengths))
        ]
        """How a trace may begin, a pattern for what may follow, and what has followed and was no trace."""

    def count_in(self, texts: BinaryIO) -> tuple[int, int]:
        """How often one of them stands in a text or file, and how many bytes it has. Raises OSError."""
        found = size = 0
        rest = b""
        while chunk := texts.read(_CHUNK):
            size += len(chunk)
            chunk = rest + chunk
            # a name may stand across two chunks, so the word at the end of one is read with the next
            cut = _WORD_BYTES.search(chunk, max(0, len(chunk) - _LONGEST_WORD))
            end = cut.start() if cut is not None and len(chunk) > _LONGEST_WORD else len(chunk)
            rest = chunk[end:]
            found += self._count(chunk[:end])
        return found + self._count(rest), size

    def _count(self, part: bytes) -> int:
        if not self._may_hold_one(part):
            return 0
        text = _text(part)
        places = {at for start, lengths in self._starts.items() for at in self._places(text, start, lengths)}
        if self._foreign and not text.isascii():
            words = [found.span() for found in _FOREIGN_WORD.finditer(text)]
            places |= {
                at
                for begin, end in words
                for at in range(begin, min(end, begin + _LONGEST_WORD))
                if any(self._stands(text, at, length) for length in self._foreign)
            }
        return len(places)

    def _may_hold_one(self, part: bytes) -> bool:
        """Whether it needs the closer look, which takes ten times as long; next to nothing does."""
        if self._foreign and (not part.isascii() or b"\\u" in part):
            return True
        low = part.lower()
        for begin, pattern, others in self._patterns:
            unknown = set(pattern.findall(low)) - others
            if any(self._trace_of(begin + _text(rest)) for rest in unknown):
                return True
            others.update(unknown)
        return False

    def _places(self, text: str, start: str, lengths: Iterable[int]) -> Iterator[int]:
        at = text.find(start)
        while at >= 0:
            if any(self._stands(text, at, length) for length in lengths):
                yield at + (text[at] == "@")
            at = text.find(start, at + 1)

    def _stands(self, text: str, at: int, length: int) -> bool:
        end = at + length
        part = text[at:end]
        trace = self._trace_of(part) if len(part) == length else None
        if trace is None:
            return False
        before, after = text[at - 1 : at], text[end : end + 1]
        if part.isdecimal():  # an id: no letters are looked at beside it
            return not (before.isdecimal() or after.isdecimal())
        if part[0] == "@" or not trace.inside:
            return not (_is_word(after) or (part[0] != "@" and _is_word(before)))
        return not self._is_anothers(text, at, end)

    def _is_anothers(self, text: str, at: int, end: int) -> bool:
        """Whether it is a part of somebody else's longer name; in SQLite's file texts stand side by side."""
        spans = itertools.product(range(max(0, at - _LONGEST_NAME), at + 1), range(end, end + _LONGEST_NAME))
        return any(text[begin:stop] in self._others for begin, stop in spans if (begin, stop) != (at, end))

    def _trace_of(self, part: str) -> Trace | None:
        if part not in self._seen:
            # the same words come again and again, and a keyed hash of each would be most of the work
            if len(self._seen) >= _REMEMBERED:
                self._seen.clear()
            self._seen[part] = self._traces.get(self._key.digest("trace", part))
        return self._seen[part]


def _text(part: bytes) -> str:
    """What stands there, in small letters, also where it was written as JSON."""
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)), part.decode("utf-8", "replace")).lower()


_kept_open: dict[tuple[int, int], BinaryIO] = {}


@contextlib.contextmanager
def _opened(file: Path, *, in_use: bool) -> Iterator[BinaryIO]:
    """A file to read from its beginning. `in_use`: by SQLite in this process; it then stays open until the end.

    On Unix, closing any handle of a file drops every lock that the process holds on it: another process would take the
    memory for unused, and delete its write-ahead log while the bot still writes.
    """
    if os.name != "posix" or not in_use:
        with file.open("rb") as held:
            yield held
        return
    there = file.stat()
    key = (there.st_dev, there.st_ino)
    if key not in _kept_open:
        _kept_open[key] = file.open("rb")
        atexit.register(_kept_open[key].close)
    _kept_open[key].seek(0)
    yield _kept_open[key]


def _is_word(character: str) -> bool:
    return character == "_" or character.isalnum()


async def search(db: Database, traces: Iterable[Trace]) -> Search:
    """Search every file of the data folder, and every text of the memory, where SQLite may have parted a word."""
    others = await personal_data.all_names(db)
    return await asyncio.to_thread(lambda: _search(db.path, TraceFinder(db.key, traces, others)))


def _search(path: Path, finder: TraceFinder) -> Search:
    tables: Counter[str] = Counter()
    for table, texts in personal_data.all_texts(path):
        tables[table] += finder.count_in(io.BytesIO(texts))[0]
    places, size, files = [], 0, files_of(path)
    for file in files:
        try:
            in_use = file.name in {path.name + ending for ending in ("", "-wal", "-shm", "-journal")}
            with _opened(file, in_use=in_use) as held:
                count, length = finder.count_in(held)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise StoreError(f"{file} cannot be searched: {error.strerror}. Check its permissions.") from error
        size += length
        inside = dict(+tables) if file == path else {}
        if count or inside:
            name = str(file.relative_to(path.parent))
            places.append(FoundTrace(name, max(count, sum(inside.values())), inside))
    return Search(len(files), size, tuple(places))


def files_of(database: Path) -> list[Path]:
    """Every file of the data folder: what lies beside the memory, its copies, its log, the log-ins."""
    folders = {database.parent, logs.beside(database), *(database.parent / name for name in _SUBFOLDERS)}
    return sorted(file for folder in folders if folder.is_dir() for file in folder.iterdir() if file.is_file())
