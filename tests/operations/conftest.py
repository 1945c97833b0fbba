"""A channel with a few people in it, an account that notes what it is asked to do, and an executor on both."""

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

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
from forgetmenot.settings.schema import (
    ActionSettings,
    BotSettings,
    ClassMode,
    MemorySettings,
    Mode,
    Settings,
)
from forgetmenot.store import channel_state
from forgetmenot.store.database import Database
from tests.rows import put
from tests.stage import RecordingAccount

PEOPLE = (
    ("1", "alice", "Alice", "viewer", 9), ("2", "bob", "Bob", "viewer", 9), ("3", "newbie", "Newbie", "viewer", 1),
    ("4", "vera", "Vera", "vip", 9), ("9", "carol", "Carol", "moderator", 9),
    ("100", "streamer", "Streamer", "broadcaster", 9), ("555", "othersbot", "OthersBot", "viewer", 9),
)  # fmt: skip


LIVE = Settings(
    bot=BotSettings(mode=Mode.MENTIONS),
    actions=ActionSettings(class_a=ClassMode.LIVE, class_b=ClassMode.LIVE),
    memory=MemorySettings(known_bots=("othersbot",)),
)


@dataclass
class Room:
    """The whole of it. `settings` may be replaced at any time. `line`: for which line memory was last changed."""

    db: Database
    clock: ManualClock
    account: RecordingAccount = field(default_factory=RecordingAccount)
    settings: Settings = LIVE
    proposals: int = 0
    line: str = ""

    def __post_init__(self) -> None:
        self.executor = Executor(
            db=self.db,
            ports=ActionPorts(self.account, self._run, self._run_effect),
            settings=lambda: self.settings,
            clock=self.clock,
            timeout_s=0.05,
        )

    async def _run(
        self, name: str, params: Mapping[str, object], asker: Asker
    ) -> OperationResult:
        """Stands for operations/run: what the model asks of the memory."""
        self.line = asker.line_id
        outcome = await self.account.act(
            name, *params.values(), f"by {asker.viewer_id}"
        )
        return OperationResult(ok=outcome.kind is OutcomeKind.DONE, code=outcome.detail)

    async def _run_effect(self, name: str) -> Outcome:
        return await self.account.act("effect", name)

    async def set_state(self, **values: str) -> None:
        async with self.db.write() as tx:
            await channel_state.put(tx, values, self.clock.now())

    async def speak(self) -> None:
        """Everybody says something again."""
        async with self.db.write() as tx:
            await tx.execute("UPDATE events SET at = ?", (self.clock.now(),))

    def event(self, asker: str, text: str) -> ChatEvent:
        user_id, login, display_name, role, _ = next(
            person for person in PEOPLE if person[1] == asker
        )
        self.proposals += 1
        made = (
            f"trigger-{self.proposals}",
            EventKind.MESSAGE,
            user_id,
            login,
            display_name,
            text,
            self.clock.now(),
        )
        return ChatEvent(
            *made, badges=frozenset({"moderator", "broadcaster", "vip"} & {role})
        )

    async def propose(
        self,
        name: str,
        params: dict[str, str] | None = None,
        *,
        asker: str = "alice",
        text: str = "",
    ) -> ExecutedProposal:
        event = self.event(asker, text or ("clip that" if name == "clip" else "please"))
        context = ActionContext(
            event=event, key=f"{event.id}:n", question=event.text.removeprefix("@bot ")
        )
        return await self.executor.carry_out(Proposal(name, params or {}), context)

    async def timeout_alice(self, seconds: str = "30") -> ExecutedProposal:
        return await self.propose(
            "timeout",
            {"target": "alice", "seconds": seconds},
            text="@bot time me out please",
        )


@pytest.fixture
async def room(db: Database, clock: ManualClock) -> Room:
    """A live stream in which everybody of PEOPLE spoke a minute ago; class B is live."""
    now = clock.now()
    async with db.write() as tx:
        for stream in range(1, 10):
            await put(tx, "streams", id=stream, started_at=now, last_event_at=now)
        for viewer_id, login, display_name, role, streams in PEOPLE:
            await put(
                tx,
                "viewers",
                id=viewer_id,
                login=login,
                display_name=display_name,
                role=role,
                first_seen_at=now,
            )
            for stream in range(1, streams + 1):
                there = {
                    "stream_id": stream,
                    "first_at": now,
                    "last_at": now,
                    "lines": 1,
                }
                await put(tx, "attendance", viewer_id=viewer_id, **there)
            line_id = f"said-{viewer_id}"
            await put(
                tx,
                "events",
                id=line_id,
                viewer_id=viewer_id,
                text="hello",
                role=role,
                at=now - 60_000,
            )
    room = Room(db, clock)
    await room.set_state(
        live="1", id="100", bot_id="777", bot_login="forgetmenot", started_at=str(now)
    )
    return room
