"""The stage (tests/stage.py), and an outbox by itself."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.reply.outbox import Outbox
from forgetmenot.settings.schema import BotSettings, Mode, Settings
from forgetmenot.store.database import Database
from tests.notes_world import world
from tests.stage import FakeChat, chat, stage

__all__ = ["chat", "stage", "world"]

MENTIONS = Settings(bot=BotSettings(mode=Mode.MENTIONS))


@pytest.fixture
async def outbox(db: Database, clock: ManualClock, chat: FakeChat) -> AsyncIterator[Outbox]:
    """An outbox that is being worked off."""
    box = Outbox(db=db, out=chat, clock=clock, settings=lambda: MENTIONS)
    worker = asyncio.create_task(box.run())
    yield box
    worker.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await worker


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
