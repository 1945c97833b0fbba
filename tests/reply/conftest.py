"""Fakes of the ports that the reply room speaks through, and a channel with people in it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.domain.action import Outcome, OutcomeKind
from forgetmenot.errors import ForgetMeNotError
from forgetmenot.reply.outbox import Outbox
from forgetmenot.settings.schema import BotSettings, Mode, Settings
from forgetmenot.store.database import Database

MENTIONS = Settings(bot=BotSettings(mode=Mode.MENTIONS))


@dataclass
class FakeChat:
    """A ChatOut that remembers what was said and answers as it was told."""

    clock: ManualClock
    said: list[tuple[int, str, str | None]] = field(default_factory=list)
    answers: list[Outcome | ForgetMeNotError] = field(default_factory=list)
    held: asyncio.Event | None = None

    async def say(self, text: str, reply_to: str | None = None) -> Outcome:
        self.said.append((self.clock.now(), text, reply_to))
        if self.held is not None:
            await self.held.wait()
        answer = self.answers.pop(0) if self.answers else Outcome(OutcomeKind.DONE, twitch_id=f"t{len(self.said)}")
        if isinstance(answer, ForgetMeNotError):
            raise answer
        return answer


@pytest.fixture
def chat(clock: ManualClock) -> FakeChat:
    return FakeChat(clock)


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
    """Move the clock in steps of a second, letting everything run in between."""

    async def moved(ms: int) -> None:
        for _ in range(max(1, ms // 1_000)):
            await clock.advance(min(ms, 1_000))
            await asyncio.sleep(0.002)

    return moved
