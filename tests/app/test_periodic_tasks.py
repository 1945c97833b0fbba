"""Periodic work: on time, one failure at a time."""

import asyncio

import pytest

from forgetmenot.app.periodic_tasks import PeriodicTask, PeriodicTasks, keep_going
from forgetmenot.clock import ManualClock
from forgetmenot.durations import MINUTE, SECOND
from forgetmenot.errors import ModelUnavailable


class Bell:
    """A piece of work that counts, and fails while it has errors left."""

    def __init__(self, *errors: Exception) -> None:
        self.rung = 0
        self._errors = list(errors)

    async def ring(self) -> None:
        self.rung += 1
        if self._errors:
            raise self._errors.pop(0)


def task(bell: Bell) -> PeriodicTask:
    return PeriodicTask("bell", 3 * MINUTE, bell.ring)


@pytest.mark.parametrize(
    "error", [ModelUnavailable("The model is away."), ZeroDivisionError()]
)
async def test_a_failure_is_told_once_tried_again_ever_later_and_stops_no_other(
    clock: ManualClock, error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    bell = Bell(*[error] * 10)
    good = Bell()
    tasks = PeriodicTasks(clock, [task(bell), task(good)])
    waits = []
    for _ in range(10):
        await tasks.catch_up()
        waits.append(tasks.all[0].due_at - clock.now())
        await clock.move_to(tasks.all[0].due_at)
    assert tasks.all[0].trouble
    assert good.rung > 1
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (2 * SECOND, 3 * MINUTE), (
        "never later than its period"
    )
    assert capsys.readouterr().err.count("a task failed") <= 2
    await tasks.catch_up()
    assert not tasks.all[0].trouble


async def test_no_task_runs_before_what_comes_first() -> None:
    bell = Bell()
    joined = asyncio.Event()
    async with asyncio.timeout(10), asyncio.TaskGroup() as group:
        tasks = PeriodicTasks(ManualClock(), [task(bell), task(bell)])
        running = tasks.start(group, after=joined.wait)
        for _ in range(20):
            await asyncio.sleep(0)
        assert bell.rung == 0
        joined.set()
        for _ in range(20):
            await asyncio.sleep(0)
        assert bell.rung == 2
        for each in running:
            each.cancel()


def test_a_clock_that_is_set_back_holds_up_no_chore() -> None:
    task = PeriodicTask("one", MINUTE, asyncio.Event().wait, due_at=5 * MINUTE)
    assert task.left(5 * MINUTE - 10) == 10
    assert task.left(-3 * 24 * 60 * MINUTE) == MINUTE


@pytest.mark.parametrize(
    "error", [ModelUnavailable("The model is away."), ZeroDivisionError()]
)
async def test_a_part_that_fails_is_started_again(
    error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    bell = Bell(error)
    part = asyncio.create_task(keep_going("bell", bell.ring, pause_s=0.001))
    while bell.rung < 3:  # noqa: ASYNC110  # the bell has no event
        await asyncio.sleep(0.001)
    part.cancel()
    with pytest.raises(asyncio.CancelledError):
        await part
    assert "part=bell" in capsys.readouterr().err
