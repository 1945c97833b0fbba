"""The stage (tests/stage.py), and a clock that is moved while tasks run."""

import asyncio
from collections.abc import Callable

import pytest

from forgetmenot.clock import ManualClock
from tests.notes_world import recall, world
from tests.stage import chat, stage

__all__ = ["chat", "recall", "stage", "world"]


@pytest.fixture
def settle(clock: ManualClock) -> Callable[[int], object]:
    """Move the clock in steps of a second, letting everything run in between, and on until those tasks are done."""

    async def moved(ms: int, *tasks: asyncio.Task[object]) -> None:
        for _ in range(max(1, ms // 1_000)):
            await clock.advance(min(ms, 1_000))
            await asyncio.sleep(0.002)
        while not all(task.done() for task in tasks):
            await clock.advance(1_000)
            await asyncio.sleep(0.002)

    return moved
