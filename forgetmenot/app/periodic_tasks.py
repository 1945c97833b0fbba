"""Periodic tasks that run independently: a failure of one does not affect the others.

A live bot runs each in an asyncio task (`start`). A replay or the demo calls `catch_up` after moving its clock, which
runs what is due, in order.
"""

import asyncio
from collections.abc import Awaitable, Callable

import structlog
from msgspec import Struct

from forgetmenot.clock import Clock
from forgetmenot.durations import MINUTE, SECOND
from forgetmenot.errors import ForgetMeNotError
from forgetmenot.logs import log

# Doubled so often (12 times: an hour) a backoff is longer than any period, and its number stays small.
_MOST_DOUBLINGS = 12
LONGEST_BACKOFF = 15 * MINUTE


class PeriodicTask(Struct):
    """A periodic task. `trouble` is a sentence about its last failure, or empty."""

    name: str
    every_ms: int
    work: Callable[[], Awaitable[object]]
    due_at: int = 0
    trouble: str = ""
    failures: int = 0

    async def do(self, now: int) -> None:
        """Run it once; errors are logged, not raised. What it logs names the task."""
        with structlog.contextvars.bound_contextvars(task=self.name):
            await self._do(now)

    async def _do(self, now: int) -> None:
        try:
            await self.work()
        except ForgetMeNotError as error:
            self._failed(str(error))
        except Exception as error:  # noqa: BLE001  # the supervisor: a bug in one task must not end the show
            sentence = f"{type(error).__name__} in {self.name}"
            # Once with its place; a bug that stays would fill the log.
            if sentence != self.trouble:
                log.exception("a task failed unexpectedly")
            self._failed(sentence)
        else:
            if self.failures:
                log.info("a task works again", failures=self.failures)
            self.trouble = ""
            self.failures = 0
        self.due_at = now + self._pause()

    def left(self, now: int) -> int:
        """Milliseconds until it is due; at most its period, because a clock that was set back would delay it."""
        wait = min(self.due_at - now, self._pause())
        return max(0, wait)

    def _failed(self, sentence: str) -> None:
        """Log the failure, once while it stays the same."""
        if sentence != self.trouble:
            log.warning("a task failed", reason=sentence)
        self.trouble = sentence
        self.failures += 1

    def _pause(self) -> int:
        """The wait: its period, or after failures a backoff of up to 15 minutes."""
        if not self.failures:
            return self.every_ms
        doublings = min(self.failures, _MOST_DOUBLINGS)
        backoff = (1 << doublings) * SECOND
        # never later than its period: a task that runs every second is not slowed down by a backoff
        return min(self.every_ms, backoff, LONGEST_BACKOFF)


class PeriodicTasks:
    """All of them."""

    def __init__(self, clock: Clock, tasks: list[PeriodicTask]) -> None:
        self._clock = clock
        self.all = tasks

    async def catch_up(self) -> None:
        """Run whatever is due, in order."""
        for task in self.all:
            now = self._clock.now()
            if now >= task.due_at:
                await task.do(now)

    async def do(self, name: str) -> None:
        """Run one of them now, due or not."""
        tasks_by_name = {task.name: task for task in self.all}
        task = tasks_by_name[name]
        await task.do(self._clock.now())

    def start(
        self,
        group: asyncio.TaskGroup,
        after: Callable[[], Awaitable[object]],
    ) -> list[asyncio.Task[None]]:
        """Run each in an asyncio task of its own, from when `after` has returned."""
        running = []
        for task in self.all:
            work = self._run_for_ever(task, after)
            asyncio_task = group.create_task(work, name=task.name)
            running.append(asyncio_task)
        return running

    async def _run_for_ever(
        self,
        task: PeriodicTask,
        after: Callable[[], Awaitable[object]],
    ) -> None:
        await after()
        while True:
            wait = task.left(self._clock.now())
            await self._clock.sleep(wait)
            await task.do(self._clock.now())


async def keep_going(
    name: str,
    work: Callable[[], Awaitable[object]],
    pause_s: float = 1.0,
    *,
    but: tuple[type[Exception], ...] = (),
) -> None:
    """Run an endless coroutine, again after a pause if it fails; `but`: errors that end it."""
    while True:
        await survived(name, work(), but=but)
        await asyncio.sleep(pause_s)


async def survived(
    name: str,
    work: Awaitable[object],
    *,
    but: tuple[type[Exception], ...] = (),
) -> None:
    """Await something; errors are logged, not raised, except for `but`."""
    try:
        await work
    # Such an error ends what runs: a channel that Twitch refuses, say.
    except but:
        raise
    except ForgetMeNotError as error:
        log.warning("a part of the bot failed", part=name, reason=str(error))
    except Exception:  # noqa: BLE001  # the supervisor
        log.exception("a part of the bot failed unexpectedly", part=name)
