"""The file in which privacy requests (opt out, opt in, erase) survive a stop of the program.

- It lies beside the database, is its owner's alone, and is reserved in advance: a full disk keeps no request out.
- A request in it has the viewer's id, the time and the id of the line to answer: no name and no text. It is overwritten
  as soon as the request is carried out, or the person erased.
"""

import contextlib
import os
from enum import StrEnum
from pathlib import Path

import msgspec

from forgetmenot.logs import log

RESERVED = 16_384


class DeferredKind(StrEnum):
    """What a viewer asks for."""

    OPT_OUT = "opt_out"
    OPT_IN = "opt_in"
    ERASE = "erase"


class DeferredRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request. `own`: the viewer typed it; else a moderator did. `line_id`: the line of chat that is answered."""

    kind: DeferredKind
    viewer_id: str
    at: int
    own: bool = True
    line_id: str = ""


def path_of(database: Path) -> Path:
    """Where requests wait."""
    return database.with_name(database.name + ".wishes")


class DeferredFile:
    """Lines in a file of a fixed size. Nothing here raises: what cannot be written stays in memory and is said."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._places: dict[DeferredRequest, tuple[int, int]] = {}
        self._end = 0

    def load(self) -> list[DeferredRequest]:
        """The requests in the file, oldest first. A line that cannot be read is left out."""
        self._places, self._end = {}, 0
        try:
            held = self._path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            log.error("privacy requests cannot be read", file=str(self._path), reason=error.strerror)
            return []
        at = 0
        for line in held.splitlines(keepends=True):
            with contextlib.suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
                request = msgspec.json.decode(line, type=DeferredRequest)
                self._places[request] = (at, len(line))
                self._end = at + len(line)
            at += len(line)
        return list(self._places)

    def reserve(self) -> None:
        """Take the space that requests may need while there is some."""
        self._write(self._end, b"\n" * max(0, RESERVED - self._end))

    def add(self, request: DeferredRequest) -> None:
        """Write a request; it is on disk when this returns."""
        line = msgspec.json.encode(request) + b"\n"
        if self._write(self._end, line):
            self._places[request] = (self._end, len(line))
            self._end += len(line)

    def remove(self, request: DeferredRequest) -> None:
        """Overwrite a request."""
        at, length = self._places.pop(request, (0, 0))
        self._write(at, b" " * (length - 1) + b"\n" if length else b"")
        self._end = self._end if self._places else 0

    def forget(self, viewer_id: str) -> bool:
        """Overwrite the requests of an erased person; returns whether the last one was an opt-out."""
        theirs = [request for request in self.load() if request.viewer_id == viewer_id]
        for request in theirs:
            self.remove(request)
        choices = [request.kind for request in theirs if request.kind is not DeferredKind.ERASE]
        return choices[-1:] == [DeferredKind.OPT_OUT]

    def _write(self, at: int, data: bytes) -> bool:
        if not data:
            return True
        try:
            descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
            with os.fdopen(descriptor, "wb") as file:
                file.seek(at)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            log.error("a privacy request is kept in memory alone", file=str(self._path), reason=error.strerror)
            return False
        return True
