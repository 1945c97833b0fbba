"""How many calls may be under way at once, and who goes first: a reply never queues behind the memory."""

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator


class Gate:
    """A semaphore with two queues. Urgent callers are let in first, and one place is always kept for them.

    (With a limit of one there is no place to keep; urgent callers then only jump the queue.)
    """

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._busy = 0
        self._urgent: deque[asyncio.Future[None]] = deque()
        self._patient: deque[asyncio.Future[None]] = deque()

    @contextlib.asynccontextmanager
    async def place(self, *, urgent: bool) -> AsyncIterator[None]:
        """Wait for a place and hold it."""
        await self._enter(urgent=urgent)
        try:
            yield
        finally:
            self._busy -= 1
            self._let_in()

    async def _enter(self, *, urgent: bool) -> None:
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue = self._urgent if urgent else self._patient
        queue.append(turn)
        self._let_in()
        try:
            await turn
        except asyncio.CancelledError:
            self._give_up(turn, queue)
            raise

    def _give_up(self, turn: asyncio.Future[None], queue: deque[asyncio.Future[None]]) -> None:
        if turn in queue:
            queue.remove(turn)
        else:  # it was let in and cancelled in the same breath
            self._busy -= 1
        self._let_in()

    def _let_in(self) -> None:
        self._admit(self._urgent, self._limit)
        self._admit(self._patient, max(1, self._limit - 1))

    def _admit(self, queue: deque[asyncio.Future[None]], places: int) -> None:
        while queue and self._busy < places:
            turn = queue.popleft()
            if not turn.done():
                self._busy += 1
                turn.set_result(None)
