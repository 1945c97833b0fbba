"""A channel whose chat is taken in and summarised, and models that a test can steer."""

import itertools
import json
from dataclasses import dataclass
from typing import Any

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChatEvent, EventKind, Redaction
from forgetmenot.memory.compaction import Compactor, PassReport
from forgetmenot.memory.ingest import Ingest
from forgetmenot.memory.retention import sweep_chat
from forgetmenot.memory.stream_tracker import StreamTracker
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import MemorySettings, Settings
from forgetmenot.store.database import Database
from tests.notes_world import Scripted, recall, world

__all__ = ["recall", "world"]  # the fixtures of the tests about notes

NUMBER = itertools.count(1)


def answer(summary: str) -> str:
    """A model's answer of the right shape."""
    return json.dumps({"summary": summary})


SAID_SOMETHING = answer("P1 said something.")


@dataclass
class Channel:
    """Everything between a line of chat and its episode."""

    db: Database
    clock: ManualClock
    model: Any
    settings: Settings
    stream_tracker: StreamTracker
    ingest: Ingest
    compactor: Compactor

    def say(
        self, name: str, text: str, *, addressed: bool = False, **more: object
    ) -> ChatEvent:
        """Somebody says something now; ids are made of names ("alice" is 1xx)."""
        event = line(name, text, **({"at": self.clock.now()} | more))  # type: ignore[arg-type]
        self.ingest.take(event, addressed)
        return event

    async def chat(
        self, lines: int, *, every_ms: int = 1_000, people: int = 5
    ) -> list[ChatEvent]:
        """Some lines, stored."""
        events = []
        for i in range(lines):
            await self.clock.advance(every_ms)
            events.append(self.say(f"viewer{i % people}", f"line number {i} of many"))
        await self.ingest.flush()
        return events

    async def summarise(self) -> PassReport:
        """What was said is stored, and all of it summarised."""
        await self.ingest.flush()
        return await self.compactor.run_pass(everything=True)

    async def clear(
        self,
        event: ChatEvent | None = None,
        *,
        user_id: str | None = None,
        duration_s: int | None = None,
    ) -> None:
        """A moderator clears a line, what somebody said, or the whole chat."""
        cleared = event.id if event is not None else None
        self.ingest.take(
            Redaction(
                self.clock.now(),
                event_id=cleared,
                user_id=user_id,
                duration_s=duration_s,
            )
        )
        await self.ingest.flush()

    async def sweep(self) -> None:
        await sweep_chat(
            db=self.db,
            compactor=self.compactor,
            settings=lambda: self.settings,
            clock=self.clock,
        )


def line(name: str, text: str, at: int, **more: object) -> ChatEvent:
    """A line of chat; the person's id is made of the name."""
    values: dict[str, object] = {
        "id": f"m{next(NUMBER)}",
        "kind": EventKind.MESSAGE,
        "user_id": f"id-{name}",
        "login": name.casefold(),
        "display_name": name,
        "text": text,
        "at": at,
    }
    return ChatEvent(**(values | more))  # type: ignore[arg-type]


@pytest.fixture
def settings() -> Settings:
    return Settings(
        memory=MemorySettings(known_bots=("mybot",), ignored_viewers=("ignored",))
    )


@pytest.fixture
async def channel(db: Database, clock: ManualClock, settings: Settings) -> Channel:
    """An empty channel."""
    return await open_channel(db, clock, settings, Scripted(SAID_SOMETHING))


async def open_channel(
    db: Database, clock: ManualClock, settings: Settings, model: LanguageModel
) -> Channel:
    """A channel in a run of its own."""
    stream_tracker = StreamTracker(db)
    ingest = Ingest(
        db=db, stream_tracker=stream_tracker, settings=lambda: settings, clock=clock
    )
    compactor = Compactor(
        db=db,
        model=model,
        settings=lambda: settings,
        clock=clock,
        stream_tracker=stream_tracker,
    )
    return Channel(db, clock, model, settings, stream_tracker, ingest, compactor)
