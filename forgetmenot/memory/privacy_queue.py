"""Requests of viewers (opt out, opt in, be erased) that wait until the memory can be written.

- A request is on disk (memory/deferred_requests) before anything else is tried.
- It is carried out first thing when the memory can be written, and answered then; until then whoever opted out already
  counts as opted out for what is stored.
"""

import asyncio
import contextlib
from collections.abc import Callable

import msgspec

from forgetmenot.clock import Clock
from forgetmenot.errors import StoreError
from forgetmenot.logs import log
from forgetmenot.memory.deferred_requests import DeferredFile, DeferredKind, DeferredRequest, path_of
from forgetmenot.memory.erasure import Eraser
from forgetmenot.store import opt_outs, personal_data
from forgetmenot.store.database import Database


class Fulfilled(msgspec.Struct, frozen=True):
    """What came of it. `changed`: False if they were in already, are not known, or are erased later.

    `receipt`: the code of an erasure (memory/receipts).
    """

    changed: bool = True
    receipt: str = ""


class PrivacyQueue:
    """The requests of one memory. `open` it at the start; call `work_off` every second.

    `late` answers requests of an earlier run; who submitted one in this run waits for it.
    """

    def __init__(
        self, *, db: Database, eraser: Eraser, clock: Clock, late: Callable[[DeferredRequest, Fulfilled], None]
    ) -> None:
        self._db = db
        self._eraser = eraser
        self._clock = clock
        self._late = late
        self._file = DeferredFile(path_of(db.path))
        self._waiting: dict[DeferredRequest, asyncio.Future[Fulfilled] | None] = {}
        self._working = asyncio.Lock()

    async def open(self) -> None:
        """Take up what an earlier run left, and carry it out if that is possible now."""
        for request in await asyncio.to_thread(self._file.load):
            self._take(request, None)
        await asyncio.to_thread(self._file.reserve)
        with contextlib.suppress(StoreError):
            await self.work_off()

    async def submit(self, kind: DeferredKind, viewer_id: str, *, own: bool = True, line_id: str = "") -> Fulfilled:
        """Keep a request, and return once it is carried out, however long that takes."""
        request = DeferredRequest(kind, viewer_id, self._clock.now(), own, line_id)
        done = self._waiting.get(request) or asyncio.get_running_loop().create_future()
        self._take(request, done)
        await asyncio.to_thread(self._file.add, request)
        with contextlib.suppress(StoreError):
            await self.work_off()
        if not done.done():
            log.warning("a privacy request waits until the memory can be written", kind=kind)
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
                fulfilled = await self._carry_out(request)
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
            return await self._erase(request)
        async with self._db.write() as tx:
            if request.kind is DeferredKind.OPT_IN:
                return Fulfilled(changed=await opt_outs.opt_in(tx, request.viewer_id))
            await opt_outs.opt_out(tx, request.viewer_id, request.at)
        await self._db.wipe_deleted()
        return Fulfilled()

    async def _erase(self, request: DeferredRequest) -> Fulfilled:
        await self._eraser.flush()  # who just came is known then
        if not await personal_data.is_known(self._db, request.viewer_id):
            return Fulfilled(changed=False)
        at_once, receipt = await self._eraser.begin(request.viewer_id)
        return Fulfilled(changed=at_once, receipt=receipt)
