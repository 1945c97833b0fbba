"""Periodic work: on time, one failure at a time."""

import asyncio

import pytest

from forgetmenot.app.chores import Chore, Chores, keep_going
from forgetmenot.clock import MINUTE, SECOND, ManualClock
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


def chore(bell: Bell) -> Chore:
    return Chore("bell", lambda: 3 * MINUTE, bell.ring)


async def test_a_chore_is_done_at_once_and_then_every_period(clock: ManualClock) -> None:
    bell = Bell()
    chores = Chores(clock, [chore(bell)])
    for _ in range(7):
        await chores.catch_up()
        await clock.advance(1 * MINUTE)
    assert bell.rung == 3


@pytest.mark.parametrize("error", [ModelUnavailable("The model is away."), ZeroDivisionError()])
async def test_a_failure_is_told_and_tried_again_sooner(clock: ManualClock, error: Exception) -> None:
    bell = Bell(error)
    chores = Chores(clock, [chore(bell)])
    await chores.catch_up()
    assert chores.all[0].trouble
    await clock.advance(2 * SECOND)
    await chores.catch_up()
    assert bell.rung == 2
    assert not chores.all[0].trouble


async def test_one_that_fails_does_not_stop_the_others(clock: ManualClock) -> None:
    good, bad = Bell(), Bell(ZeroDivisionError())
    await Chores(clock, [chore(bad), chore(good)]).catch_up()
    assert good.rung == 1


async def test_a_failing_chore_waits_ever_longer_but_never_longer_than_its_period(clock: ManualClock) -> None:
    bell = Bell(*[ModelUnavailable("away")] * 50)
    chores = Chores(clock, [chore(bell)])
    waits = []
    for _ in range(10):
        await chores.catch_up()
        waits.append(chores.all[0].due_at - clock.now())
        await clock.move_to(chores.all[0].due_at)
    assert waits == sorted(waits)
    assert waits[-1] == 3 * MINUTE


async def test_live_each_chore_runs_in_its_own_task(clock: ManualClock) -> None:
    slow_may_go_on = asyncio.Event()
    quick = Bell()

    async def slow() -> None:
        await slow_may_go_on.wait()

    chores = Chores(clock, [Chore("slow", lambda: MINUTE, slow), Chore("quick", lambda: MINUTE, quick.ring)])
    async with asyncio.TaskGroup() as group:
        tasks = chores.start(group)
        for _ in range(3):
            await asyncio.sleep(0.001)
            await clock.advance(MINUTE)
        await asyncio.sleep(0.01)
        for task in tasks:
            task.cancel()
    assert quick.rung >= 3


async def test_a_trouble_that_stays_is_told_once(clock: ManualClock, capsys: pytest.CaptureFixture[str]) -> None:
    bell = Bell(*[ModelUnavailable("The model is away.")] * 20)
    chores = Chores(clock, [chore(bell)])
    for _ in range(25):
        await chores.catch_up()
        await clock.move_to(chores.all[0].due_at)
    assert capsys.readouterr().err.count("The model is away.") == 1


@pytest.mark.parametrize("error", [ModelUnavailable("The model is away."), ZeroDivisionError()])
async def test_a_part_that_fails_is_started_again(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    bell = Bell(error)
    part = asyncio.create_task(keep_going("bell", bell.ring, pause_s=0.001))
    while bell.rung < 3:  # noqa: ASYNC110  # the bell has no event
        await asyncio.sleep(0.001)
    part.cancel()
    with pytest.raises(asyncio.CancelledError):
        await part
    assert "part=bell" in capsys.readouterr().err


async def test_what_is_meant_to_end_a_part_does() -> None:
    with pytest.raises(ModelUnavailable):
        await keep_going("bell", Bell(ModelUnavailable("away")).ring, but=(ModelUnavailable,))
