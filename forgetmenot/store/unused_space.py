"""Overwrites what SQLite left of deleted rows in the unused space of its pages, without rebuilding the file.

SQLite (`secure_delete`) overwrites what it deletes, but not what it moves: when the rows of a full page are spread over
two, copies stay in the space of the old one that is not used any more. VACUUM would get rid of them, but it cannot be
cut into parts, and nobody can write meanwhile: half a second for 100 MB.

The unused space of a page of a table or index lies between its list of cells and the first cell
(https://sqlite.org/fileformat2.html, 1.6). It may be written while nobody else can write the file: `clear` is called
with SQLite's lock for writing and an empty write-ahead log, from which nothing can be copied into the file.
"""

import atexit
import contextlib
import os
from array import array
from collections.abc import Iterable, Iterator
from io import FileIO
from pathlib import Path
from typing import BinaryIO

_HEADERS = {2: 12, 5: 12, 10: 8, 13: 8}  # bytes, by the kind of page: of an index or a table, inside or leaf
_PAGES_READ = 64
_MOST_PAGES = 1 << 25  # of a larger file, the first byte of a page that is no table's may be one of these kinds
_ZEROS = bytes(1 << 16)

_free: dict[tuple[int, int], list[FileIO]] = {}


@contextlib.contextmanager
def opened(file: Path, *, in_use: bool = True) -> Iterator[BinaryIO]:
    """A file at its beginning, unbuffered. `in_use`: SQLite has it open in this process; our handle then stays open.

    On Unix, closing any handle of a file drops every lock that the process holds on it: another process would take the
    memory for unused, and delete its write-ahead log while the bot still writes.
    """
    if os.name != "posix" or not in_use:
        with file.open("r+b" if in_use else "rb", buffering=0) as own:
            yield own
        return
    there = file.stat()
    free = _free.setdefault((there.st_dev, there.st_ino), [])
    held = free.pop() if free else file.open("r+b", buffering=0)
    try:
        held.seek(0)
        yield held
    finally:
        free.append(held)


@atexit.register
def _close() -> None:
    for handles in _free.values():
        for held in handles:
            held.close()


def unclean_pages(file: BinaryIO) -> list[int]:
    """The places in the file of all pages whose unused space is not empty. Raises OSError, ValueError.

    The first page is not among them: it holds the schema and nothing of anybody.
    """
    size, maps = _layout(file)
    file.seek(0)
    found, at = [], 0
    while pages := file.read(_PAGES_READ * size):
        for start in range(0, len(pages), size):
            page = pages[start : start + size]
            unused = _unused(page)
            if unused and page[unused] != _ZEROS[: unused.stop - unused.start] and at // size not in maps:
                found.append(at)
            at += size
    return found


def clear(file: BinaryIO, places: Iterable[int]) -> None:
    """Overwrite the unused space of these pages with zeros. Nobody else may be able to write. Raises OSError."""
    size, _ = _layout(file)
    for at in places:
        file.seek(at)
        page = file.read(size)
        unused = _unused(page)
        if unused and min(_cells(page, unused), default=size) >= unused.stop:
            file.seek(at + unused.start)
            file.write(_ZEROS[: unused.stop - unused.start])
    os.fsync(file.fileno())


def _layout(file: BinaryIO) -> tuple[int, range]:
    """The size of a page, and which pages hold none but SQLite's own numbers. Raises ValueError for what is no file."""
    file.seek(0)
    head = file.read(100)
    if not head.startswith(b"SQLite format 3\0"):
        raise ValueError("not an SQLite file")
    size = 1 << 16 if head[16:18] == b"\0\1" else int.from_bytes(head[16:18])
    if os.fstat(file.fileno()).st_size > _MOST_PAGES * size:
        raise ValueError("too many pages")
    with_maps = head[52:56] != bytes(4)  # a build of SQLite whose files shrink by themselves
    return size, range(1, _MOST_PAGES, (size - head[20]) // 5 + 1) if with_maps else range(0)


def _unused(page: bytes) -> slice | None:
    """Where the unused space of a page is; None for a page of another kind, or where there is none."""
    if page[0] not in _HEADERS:
        return None
    first = _HEADERS[page[0]] + 2 * int.from_bytes(page[3:5])
    end = int.from_bytes(page[5:7]) or 1 << 16
    return slice(first, end) if first < end <= len(page) else None


def _cells(page: bytes, unused: slice) -> "array[int]":
    """Where the cells of a page are, by the list before its unused space."""
    cells = array("H", page[_HEADERS[page[0]] : unused.start])
    cells.byteswap()  # every machine that the bot runs on is little-endian
    return cells
