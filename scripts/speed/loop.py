"""Whether the event loop is held: a tick every millisecond that notes how late it comes."""

import asyncio
import contextlib
import time
from types import TracebackType
from typing import Self


class LoopWatch:
    """Ticks while it is open, which may be more than once. `most_ms`: the longest that the loop was kept from ticking.

    A tick that is late because the machine ran another program says nothing about ours: of each delay only as much
    counts as this process spent computing.
    """

    def __init__(self) -> None:
        self.most_ms = 0.0
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._tick())
        await asyncio.sleep(0)  # what comes next counts from its beginning
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _tick(self) -> None:
        while True:
            wall, cpu = time.perf_counter(), time.process_time()
            await asyncio.sleep(0.001)
            late = time.perf_counter() - wall - 0.001
            self.most_ms = max(self.most_ms, 1_000 * min(late, time.process_time() - cpu))
