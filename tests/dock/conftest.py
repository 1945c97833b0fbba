"""A dock before a bot that is none: the real server, security, stream and store, over a fake ports.Control."""

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from forgetmenot.clock import ManualClock
from forgetmenot.dock.security import TOKEN_FILE, TOKEN_HEADER
from forgetmenot.dock.server import open_dock
from forgetmenot.domain import OperationResult
from forgetmenot.errors import InputError
from forgetmenot.languages import reason
from forgetmenot.ports import BotState, Check
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import Settings
from forgetmenot.store.database import Database
from tests.dock.demo_bot import DemoBot, chromium, free_port, opened, page_on
from tests.played_demo import Seen

# a fake takes what its port is given


STATE = BotState(
    login="forgetmenot_bot", phase="connected", phase_trouble="", login_trouble="",
    reply_model="scripted", memory_model="scripted", model_trouble="", memory_trouble="", task_troubles=(),
    settings_file="",
)  # fmt: skip


@dataclass
class FakeControl:
    """A Control that remembers what was asked of it."""

    asked: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)
    now: BotState = STATE

    def state(self) -> BotState:
        return self.now

    async def checks(self, *, everything: bool) -> list[Check]:
        return [Check("Chat", "ok", "Reading."), *([Check("Disk", "ok", "Free.")] if everything else [])]

    async def why(self, reply_id: int) -> Mapping[str, object]:
        raise InputError(f"There is no reply {reply_id}.")

    async def chain(self, note_id: int) -> Mapping[str, object]:
        raise InputError(f"There is no note {note_id}.")

    def hear(self, text: str) -> bool:
        self.asked.append(("hear", {"text": text}))
        if self.now.hearing is None:
            raise InputError(reason("hearing_off"))
        return len(self.asked) <= 2

    async def run(self, name: str, params: Mapping[str, object]) -> OperationResult:
        self.asked.append((name, params))
        return OperationResult(ok=True, code="status", data={"status": "Done."})


@dataclass
class FakeSetup:
    """A Setup that remembers what was asked of it."""

    asked: list[tuple[str, bytes]] = field(default_factory=list)

    async def state(self) -> Mapping[str, object]:
        return {"channel": {"name": "demo"}}

    async def run(self, step: str, body: bytes) -> Mapping[str, object]:
        self.asked.append((step, body))
        return {"ok": True, "line": "Done."}

    async def take_file(self, name: str, size: int | None, pieces: AsyncIterator[bytes]) -> Mapping[str, object]:
        self.asked.append((f"{name} {size}", b"".join([piece async for piece in pieces])))
        return {"ok": True, "line": ""}


@dataclass
class Served:
    """A dock that is served, and somebody who has its address."""

    control: FakeControl
    settings: LiveSettings
    port: int
    token: str
    client: aiohttp.ClientSession

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    async def get(self, path: str, **headers: str) -> tuple[int, object]:
        async with self.client.get(self.origin + path, headers=headers) as answer:
            return answer.status, await answer.json(content_type=None)

    async def now(self) -> dict[str, Any]:
        """How things stand, as each page is told first."""
        async with self.client.get(f"{self.origin}/api/events") as answer:
            while await answer.content.readline() != b"event: now\n":
                pass
            told = await answer.content.readuntil(b"\n\n")
        return dict(json.loads(told[told.index(b"{") :]))

    async def post(self, path: str, body: object, **headers: str) -> tuple[int, object]:
        sent = {"Origin": self.origin, TOKEN_HEADER: self.token, **{k.replace("_", "-"): v for k, v in headers.items()}}
        async with self.client.post(self.origin + path, json=body, headers=sent) as answer:
            return answer.status, await answer.json(content_type=None)


def fake_dock(
    db: Database, clock: ManualClock, port: int, control: FakeControl | None = None, live: LiveSettings | None = None
) -> AbstractAsyncContextManager[object]:
    """A dock in the folder of that memory."""
    control, settings, folder = control or FakeControl(), live or LiveSettings(Settings()), db.path.parent
    return open_dock(
        control=control, setup=FakeSetup(), db=db, settings=settings, clock=clock, folder=folder, port=port
    )


@pytest.fixture
async def stranger(db: Database, clock: ManualClock) -> AsyncIterator[Served]:
    """The dock, asked without its token."""
    control, settings, port = FakeControl(), LiveSettings(Settings()), free_port()
    async with fake_dock(db, clock, port, control, settings), aiohttp.ClientSession() as client:
        token = (db.path.parent / TOKEN_FILE).read_text()
        yield Served(control, settings, port, token, client)


@pytest.fixture
def dock(stranger: Served) -> Served:
    """The dock, asked with its token."""
    stranger.client.headers[TOKEN_HEADER] = stranger.token
    return stranger


@pytest.fixture(scope="session")
def memory(seen: Seen) -> Path:
    return seen.folder / "memory.sqlite3"


@pytest_asyncio.fixture(loop_scope="session")
async def demo(memory: Path, tmp_path: Path) -> AsyncIterator[DemoBot]:
    async with opened(memory, tmp_path) as here:
        yield here


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def unchanged(memory: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[DemoBot]:
    """A bot for tests that change nothing and say nothing."""
    async with opened(memory, tmp_path_factory.mktemp("unchanged")) as here:
        yield here


@pytest_asyncio.fixture(loop_scope="session")
async def page(demo: DemoBot, running: Browser) -> AsyncIterator[Page]:
    """A page that has the demo's dock open."""
    async with page_on(running, demo.address) as one:
        yield one


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def running() -> AsyncIterator[Browser]:
    async with chromium() as one:
        yield one
