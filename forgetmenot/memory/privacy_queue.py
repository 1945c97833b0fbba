"""Requests of viewers (opt out, opt in, be erased, have a fact forgotten) that wait until the memory can be written.

- A request is on disk before anything else is tried: in a file beside the database that is its owner's alone and is
  reserved in advance, so that a full disk keeps no request out; where that cannot be written, in one of the user's own
  folder; where neither can, in memory, and the log says so.
- It has the viewer's id, the time, the id of the line to answer and, to forget a fact or never to mention a topic, the
  words that were typed. It is overwritten as soon as it is carried out, or the person erased.
- It is carried out first thing when the memory can be written, and answered then; until then whoever opted out already
  counts as opted out for what is stored.
"""

import asyncio
import contextlib
import hashlib
import threading
from collections.abc import Awaitable, Callable
from enum import StrEnum
from pathlib import Path

import msgspec
import platformdirs

from forgetmenot.clock import Clock
from forgetmenot.domain.operation import OperationResult
from forgetmenot.errors import ODD_INPUT, StoreError
from forgetmenot.files import end_of_lines, make_own, write_own
from forgetmenot.logs import log
from forgetmenot.store import opt_outs, personal_data
from forgetmenot.store.database import Database

RESERVED = 16_384


class DeferredKind(StrEnum):
    """What a viewer asks for."""

    OPT_OUT = "opt_out"
    OPT_IN = "opt_in"
    ERASE = "erase"
    FORGET = "forget"
    NEVER_MENTION = "never_mention"


_CHOICES = (DeferredKind.OPT_OUT, DeferredKind.OPT_IN)


class DeferredRequest(msgspec.Struct, frozen=True, omit_defaults=True):
    """One request. `own`: the viewer typed it; else a moderator did. `line_id`: the line of chat that is answered.

    `what`: the words of an operation that is run again as it was typed; `moderates`: by a moderator.
    """

    kind: DeferredKind
    viewer_id: str
    at: int
    own: bool = True
    line_id: str = ""
    what: str = ""
    moderates: bool = False


def path_of(database: Path) -> Path:
    """Where requests wait."""
    return database.with_name(database.name + ".wishes")


def spare_path_of(database: Path) -> Path:
    """Where they wait if that folder cannot be written."""
    name = hashlib.sha256(str(database.absolute()).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return Path(platformdirs.user_state_dir("forgetmenot", appauthor=False)) / f"{name}.wishes"


def file_of(database: Path) -> "DeferredFile":
    """The file of a memory, with the one that takes its place."""
    return DeferredFile(path_of(database), spare_path_of(database))


class DeferredFile:
    """Lines in a file of a fixed size; `spare` takes what it cannot.

    Nothing here raises: what cannot be written stays in memory and is said.
    """

    def __init__(self, path: Path, *spare: Path) -> None:
        self._paths = (path, *spare)
        self._one_at_a_time = threading.Lock()  # each is called in a thread

    def load(self) -> list[DeferredRequest]:
        """The requests in the file, each once, oldest first. A line that cannot be read is left out."""
        found: dict[DeferredRequest, None] = {}
        for line in b"\n".join(_held(path) or b"" for path in self._paths).splitlines():
            with contextlib.suppress(msgspec.MsgspecError, UnicodeError, RecursionError):
                found[msgspec.json.decode(line, type=DeferredRequest)] = None
        return sorted(found, key=lambda request: request.at)

    def reserve(self) -> None:
        """Take the space that requests may need while there is some."""
        held = _held(self._paths[0])
        if held is not None:
            self._write(self._paths[0], len(held), b"\n" * (RESERVED - len(held)))

    def add(self, request: DeferredRequest) -> None:
        """Write a request; it is on disk when this returns, if there is a disk that takes it."""
        line = msgspec.json.encode(request) + b"\n"
        with self._one_at_a_time:
            for path in self._paths:
                held = _held(path)
                if held is None:
                    continue  # what cannot be read would be written over
                at, before = end_of_lines(held)
                if self._write(path, at, before + line):
                    return

    def remove(self, request: DeferredRequest) -> None:
        """Overwrite a request that was carried out, so that nothing of it is left; a failure is only logged.

        The file keeps its size: its space is what a full disk cannot take away.
        """
        line = msgspec.json.encode(request)
        with self._one_at_a_time:
            for path in self._paths:
                while (at := (_held(path) or b"").find(line)) >= 0 and self._write(path, at, b" " * len(line)):
                    pass

    def forget(self, viewer_id: str) -> bool:
        """Overwrite the requests of an erased person; returns whether the last one was an opt-out."""
        theirs = [request for request in self.load() if request.viewer_id == viewer_id]
        for request in theirs:
            self.remove(request)
        choices = [request.kind for request in theirs if request.kind in _CHOICES]
        return choices[-1:] == [DeferredKind.OPT_OUT]

    def _write(self, path: Path, at: int, data: bytes) -> bool:
        try:
            if path != self._paths[0]:  # the memory's own folder is there
                make_own(path.parent)
            write_own(path, data, at=at)
        except OSError as error:
            alone = " and is lost with a stop: it is kept in memory alone" if path == self._paths[-1] else ""
            log.error(f"a privacy request cannot be written{alone}", file=str(path), reason=error.strerror)
            return False
        return True


def _held(path: Path) -> bytes | None:
    """What is in a file; None if it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""
    except OSError as error:
        log.error("privacy requests cannot be read", file=str(path), reason=error.strerror)
        return None


class Fulfilled(msgspec.Struct, frozen=True):
    """What came of it. `changed`: False if they were in already, are not known, or are erased later.

    `receipt`: the code of an erasure (memory/receipts); `result`: that of an operation that was run.
    """

    changed: bool = True
    receipt: str = ""
    result: OperationResult | None = None


class PrivacyQueue:
    """The requests of one memory. `open` it at the start; call `work_off` every second.

    `late` answers requests of an earlier run; who submitted one in this run waits for it. `flush` makes lines readable
    that were just heard, `erase` begins an erasure (memory/erasure.Eraser), `run` an operation of the table.
    """

    def __init__(
        self,
        *,
        db: Database,
        clock: Clock,
        late: Callable[[DeferredRequest, Fulfilled], None],
        flush: Callable[[], Awaitable[object]],
        erase: Callable[[str], Awaitable[tuple[bool, str]]],
        run: Callable[[DeferredRequest], Awaitable[OperationResult]],
    ) -> None:
        self._db, self._clock, self._late = db, clock, late
        self._flush, self._begin_erasure, self._run = flush, erase, run
        self._file = file_of(db.path)
        self._waiting: dict[DeferredRequest, asyncio.Future[Fulfilled] | None] = {}
        self._working = asyncio.Lock()

    async def open(self) -> None:
        """Take up what an earlier run left, and carry it out if that is possible now."""
        for request in await asyncio.to_thread(self._file.load):
            self._take(request, None)
        await asyncio.to_thread(self._file.reserve)
        with contextlib.suppress(StoreError):
            await self.work_off()

    async def submit(
        self,
        kind: DeferredKind,
        viewer_id: str,
        *,
        own: bool = True,
        line_id: str = "",
        what: str = "",
        moderates: bool = False,
    ) -> Fulfilled:
        """Keep a request, and return once it is carried out, however long that takes."""
        request = DeferredRequest(kind, viewer_id, self._clock.now(), own, line_id, what, moderates)
        # typed twice in one millisecond it is one request, for which both wait
        done = self._waiting.get(request) or asyncio.get_running_loop().create_future()
        self._take(request, done)
        await asyncio.to_thread(self._file.add, request)
        with contextlib.suppress(StoreError):
            await self.work_off()
        if not done.done():
            log.warning("a privacy request waits until the memory can be written", kind=kind)
        # whoever asked may give up waiting; the request may not be given up
        return await asyncio.shield(done)

    def _take(self, request: DeferredRequest, done: asyncio.Future[Fulfilled] | None) -> None:
        self._waiting[request] = done
        if request.kind is DeferredKind.OPT_OUT:
            self._db.pending_opt_outs.add(request.viewer_id)
        elif request.kind is DeferredKind.OPT_IN:
            self._db.pending_opt_outs.discard(request.viewer_id)

    async def work_off(self) -> None:
        """Carry out what waits, in the order in which it was asked for. Raises StoreError."""
        async with self._working:
            while self._waiting:
                request, done = next(iter(self._waiting.items()))
                try:
                    fulfilled = await self._carry_out(request)
                except ODD_INPUT as error:  # it must not hold up the others
                    log.error("a privacy request is set aside", kind=request.kind, error=type(error).__name__)
                    fulfilled = Fulfilled(changed=False)
                del self._waiting[request]
                self._db.pending_opt_outs.intersection_update(
                    {one.viewer_id for one in self._waiting if one.kind is DeferredKind.OPT_OUT}
                )
                await asyncio.to_thread(self._file.remove, request)
                if done is None:
                    self._late(request, fulfilled)
                elif not done.done():
                    done.set_result(fulfilled)

    async def _carry_out(self, request: DeferredRequest) -> Fulfilled:
        if request.kind is DeferredKind.ERASE:
            await self._flush()  # who just came is known then
            if not await personal_data.is_known(self._db, request.viewer_id):
                return Fulfilled(changed=False)
            at_once, receipt = await self._begin_erasure(request.viewer_id)
            return Fulfilled(changed=at_once, receipt=receipt)
        if request.kind not in _CHOICES:
            return Fulfilled(result=await self._run(request))
        async with self._db.write() as tx:
            if request.kind is DeferredKind.OPT_IN:
                return Fulfilled(changed=await opt_outs.opt_in(tx, request.viewer_id))
            await opt_outs.opt_out(tx, request.viewer_id, request.at)
        await self._db.wipe_deleted()
        return Fulfilled()
