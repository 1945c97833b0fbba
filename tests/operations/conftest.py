"""A channel with a few people in it, ports that write down what they were asked to do, and an executor on both."""

import re
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from msgspec.structs import replace

from forgetmenot.clock import ManualClock
from forgetmenot.domain import (
    Asker,
    ChatEvent,
    EventKind,
    OperationResult,
    Outcome,
    OutcomeKind,
    Proposal,
)
from forgetmenot.operations.executor import ExecutedProposal, Executor
from forgetmenot.operations.facts import ActionContext
from forgetmenot.operations.types import ActionPorts
from forgetmenot.settings.schema import ActionSettings, BotSettings, ClassMode, MemorySettings, Mode, Settings
from forgetmenot.store import channel_state
from forgetmenot.store.database import Database
from tests.rows import put

DONE = Outcome(OutcomeKind.DONE)


@dataclass
class RecordingPorts:
    """Fills Moderation, and runs operations. `answer` is what each call gives back, or raises."""

    calls: list[tuple[str, ...]] = field(default_factory=list)
    answer: Outcome | Exception = DONE
    immune: set[str] = field(default_factory=set)
    immunity_error: Exception | None = None
    before: Callable[[], Awaitable[object]] | None = None
    line: str = ""

    def __getattr__(self, name: str) -> Callable[..., Coroutine[Any, Any, Outcome]]:
        """A deed that is written down with what it is given, but for the reason."""

        async def act(*given: object, **named: object) -> Outcome:
            shown = (name, *given[: {"timeout": 2, "ban": 1}.get(name)], *named.values())
            self.calls.append(tuple(re.sub(r"\A(?:create|set|run)_", "", str(one)) for one in shown))
            if self.before is not None:
                await self.before()
            if isinstance(self.answer, Exception):
                raise self.answer
            return self.answer

        return act

    async def is_immune(self, user_id: str) -> bool:
        if self.immunity_error is not None:
            raise self.immunity_error
        return user_id in self.immune

    async def run(self, name: str, params: Mapping[str, object], asker: Asker) -> OperationResult:
        """Stands for operations/run: what the model asks of the memory."""
        self.line = asker.line_id
        outcome = await self.__getattr__(name)(*params.values(), asker.viewer_id)
        return OperationResult(ok=outcome.kind is OutcomeKind.DONE, code=outcome.detail)


PEOPLE = (
    ("1", "alice", "Alice", "viewer", 9), ("2", "bob", "Bob", "viewer", 9), ("3", "newbie", "Newbie", "viewer", 1),
    ("4", "vera", "Vera", "vip", 9), ("9", "carol", "Carol", "moderator", 9),
    ("100", "streamer", "Streamer", "broadcaster", 9), ("555", "othersbot", "OthersBot", "viewer", 9),
)  # fmt: skip


@dataclass
class Room:
    """The whole of it. `settings` may be replaced at any time."""

    db: Database
    clock: ManualClock
    ports: RecordingPorts
    executor: Executor
    current: list[Settings]
    proposals: int = 0

    async def set_state(self, **values: str) -> None:
        async with self.db.write() as tx:
            await channel_state.put(tx, values, self.clock.now())

    async def speak(self) -> None:
        """Everybody says something again."""
        async with self.db.write() as tx:
            await tx.execute("UPDATE events SET at = ?", (self.clock.now(),))

    def event(self, who: str, text: str, badges: frozenset[str] = frozenset()) -> ChatEvent:
        person = next(one for one in PEOPLE if one[1] == who)
        role = {"moderator", "broadcaster", "vip"} & {person[3]}
        self.proposals += 1
        return ChatEvent(
            id=f"trigger-{self.proposals}",
            kind=EventKind.MESSAGE,
            user_id=person[0],
            login=person[1],
            display_name=person[2],
            text=text,
            at=self.clock.now(),
            badges=frozenset(role) | badges,
        )

    async def propose(
        self, name: str, params: dict[str, str] | None = None, *, who: str = "alice", text: str = "", **more: object
    ) -> ExecutedProposal:
        text = text or ("clip that" if name == "clip" else "please")
        event = self.event(who, text)
        context = ActionContext(event=event, key=f"{event.id}:n", question=text.removeprefix("@bot "))
        context = replace(context, **{key: value for key, value in more.items() if key != "if_refused"})
        return await self.executor.carry_out(Proposal(name, params or {}, str(more.get("if_refused", ""))), context)

    async def timeout_alice(self, seconds: str = "30") -> ExecutedProposal:
        return await self.propose("timeout", {"target": "alice", "seconds": seconds}, text="@bot time me out please")


@pytest.fixture
async def room(db: Database, clock: ManualClock) -> Room:
    """A live stream in which everybody of PEOPLE spoke a minute ago; class B is live."""
    await _fill(db, clock.now())
    ports = RecordingPorts()
    fake: Any = ports
    current = [
        Settings(
            bot=BotSettings(mode=Mode.MENTIONS),
            actions=ActionSettings(class_a=ClassMode.LIVE, class_b=ClassMode.LIVE),
            memory=MemorySettings(known_bots=("othersbot",)),
        )
    ]
    executor = Executor(
        db=db,
        ports=ActionPorts(moderation=fake, run=ports.run, run_effect=fake.run_effect),
        settings=lambda: current[0],
        clock=clock,
        timeout_s=0.05,
    )
    room = Room(db, clock, ports, executor, current)
    await room.set_state(live="1", id="100", bot_id="777", bot_login="forgetmenot", started_at=str(clock.now()))
    return room


async def _fill(db: Database, now: int) -> None:
    async with db.write() as tx:
        for stream in range(1, 10):
            await put(tx, "streams", id=stream, started_at=now, last_event_at=now)
        for viewer_id, login, shown, role, streams in PEOPLE:
            seen = {"first_seen_at": now, "last_seen_at": now}
            await put(tx, "viewers", id=viewer_id, login=login, display_name=shown, role=role, **seen)
            for stream in range(1, streams + 1):
                there = {"stream_id": stream, "first_at": now, "last_at": now, "lines": 1}
                await put(tx, "attendance", viewer_id=viewer_id, **there)
            said = f"said-{viewer_id}"
            await put(tx, "events", id=said, viewer_id=viewer_id, text="hello", role=role, at=now - 60_000)
