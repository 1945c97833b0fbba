"""Work that comes round: each chore by itself, every so often, and a failure that does not take the others along.

A live bot gives each chore a task (`start`). Whoever drives the clock (a replay, the demo) calls `catch_up` after
moving it: the same chores, in order, in one place.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from forgetmenot.clock import MINUTE, SECOND, Clock
from forgetmenot.errors import ForgetMeNotError
from forgetmenot.logs import log


@dataclass(slots=True)
class Chore:
    """One piece of periodic work. `trouble` is a sentence about its last failure, or empty."""

    name: str
    every_ms: Callable[[], int]
    work: Callable[[], Awaitable[object]]
    due_at: int = 0
    trouble: str = ""
    failures: int = field(default=0)

    async def do(self, now: int) -> None:
        """Do it once; what goes wrong is told, not raised."""
        try:
            await self.work()
        except ForgetMeNotError as error:
            self._failed(str(error))
        except Exception as error:  # noqa: BLE001  # the supervisor: a bug in one chore must not end the show
            sentence = f"{type(error).__name__} in {self.name}"
            if sentence != self.trouble:
                log.exception("a chore failed unexpectedly", chore=self.name)
            self._failed(sentence)
        else:
            self._succeeded()
        self.due_at = now + self._pause()

    def _failed(self, sentence: str) -> None:
        """Tell it, but not again and again while it stays as it is."""
        if sentence != self.trouble:
            log.warning("a chore failed", chore=self.name, reason=sentence)
        self.trouble, self.failures = sentence, self.failures + 1

    def _succeeded(self) -> None:
        if self.failures:
            log.info("a chore works again", chore=self.name, failures=self.failures)
        self.trouble, self.failures = "", 0

    def _pause(self) -> int:
        """Its period; after failures sooner at first, then ever later, up to 15 minutes."""
        if not self.failures:
            return self.every_ms()
        return min(self.every_ms(), 15 * MINUTE, (1 << min(self.failures, 12)) * SECOND)


class Chores:
    """All of them."""

    def __init__(self, clock: Clock, chores: list[Chore]) -> None:
        self._clock = clock
        self.all = chores

    async def catch_up(self) -> None:
        """Do whatever is due by now, in order."""
        for chore in self.all:
            if self._clock.now() >= chore.due_at:
                await chore.do(self._clock.now())

    async def do(self, name: str) -> None:
        """Do one of them now, due or not."""
        await next(chore for chore in self.all if chore.name == name).do(self._clock.now())

    def start(self, group: asyncio.TaskGroup) -> list[asyncio.Task[None]]:
        """Give each chore its own task."""
        return [group.create_task(self._run_for_ever(chore), name=chore.name) for chore in self.all]

    async def _run_for_ever(self, chore: Chore) -> None:
        while True:
            await self._clock.sleep(max(0, chore.due_at - self._clock.now()))
            await chore.do(self._clock.now())


async def keep_going(
    name: str,
    work: Callable[[], Awaitable[object]],
    pause_s: float = 1.0,
    *,
    but: tuple[type[Exception], ...] = (),
) -> None:
    """Run something that never ends by itself, again after a pause if it fails; `but`: what does end it."""
    while True:
        await survived(name, work(), but=but)
        await asyncio.sleep(pause_s)


async def survived(name: str, work: Awaitable[object], *, but: tuple[type[Exception], ...] = ()) -> None:
    """Await a piece of work; what goes wrong in it is told, not raised, except for `but`."""
    try:
        await work
    except but:
        raise
    except ForgetMeNotError as error:
        log.warning("a part of the bot failed", part=name, reason=str(error))
    except Exception:  # noqa: BLE001  # the supervisor
        log.exception("a part of the bot failed unexpectedly", part=name)
