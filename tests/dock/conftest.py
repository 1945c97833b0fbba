"""A dock before a bot that is none: the real server, security, stream and store, over a fake ports.Control."""

# a fake takes what its port is given

import socket
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.dock.security import TOKEN_FILE, TOKEN_HEADER
from forgetmenot.dock.server import open_dock
from forgetmenot.errors import InputError
from forgetmenot.ports import BotState, Told
from forgetmenot.settings.live import LiveSettings
from forgetmenot.settings.schema import Settings
from forgetmenot.store.database import Database

STATE = BotState(
    command="run", login="forgetmenot_bot", phase="connected", phase_since=0, phase_trouble="", login_trouble="",
    reply_model="scripted", memory_model="scripted", model_trouble="", memory_trouble="", queued=0, thinking=0,
    chores=(), recall_ms=(), settings_file="",
)  # fmt: skip


@dataclass
class FakeControl:
    """A Control that remembers what was asked of it."""

    asked: list[tuple[object, ...]] = field(default_factory=list)
    now: BotState = STATE

    def _do(self, *what: object) -> Told:
        self.asked.append(what)
        return Told(ok=True, line="Done.")

    def state(self) -> BotState:
        return self.now

    async def why(self, reply_id: int) -> Mapping[str, object]:
        raise InputError(f"There is no reply {reply_id}.")

    async def chain(self, note_id: int) -> Mapping[str, object]:
        raise InputError(f"There is no note {note_id}.")

    async def try_out(self, login: str, text: str) -> Mapping[str, object]:
        return {"text": f"{login}: {text}"}

    async def switch(self, what: str, minutes: int = 0) -> Told:
        return self._do("switch", what, minutes)

    async def approve(self, action_id: int) -> Told:
        return self._do("approve", action_id)

    async def deny(self, action_id: int) -> Told:
        return self._do("deny", action_id)

    async def undo(self, action_id: int) -> Told:
        return self._do("undo", action_id)

    async def remember(self, viewer_id: str | None, fact: str, *, bit: bool = False) -> Told:
        return self._do("remember", viewer_id, fact, bit)

    async def edit(self, note_id: int, fact: str) -> Told:
        return self._do("edit", note_id, fact)

    async def pin(self, note_id: int, *, on: bool) -> Told:
        return self._do("pin", note_id, on)

    async def retract(self, note_id: int) -> Told:
        return self._do("retract", note_id)

    async def restore(self, note_id: int) -> Told:
        return self._do("restore", note_id)

    async def leave_alone(self, viewer_id: str | None, what: str) -> Told:
        return self._do("leave_alone", viewer_id, what)

    async def allow_again(self, row_id: int) -> Told:
        return self._do("allow_again", row_id)

    async def erase(self, viewer_id: str, progress: Callable[[float, str], None]) -> Told:
        progress(0.5, "rebuilding the file")
        return self._do("erase", viewer_id)

    async def export(self, viewer_id: str) -> Mapping[str, object]:
        return {"person": {"id": viewer_id}}

    async def opt_out(self, viewer_id: str, *, on: bool) -> Told:
        return self._do("opt_out", viewer_id, on)

    async def change_setting(self, table: str, key: str, value: object) -> Told:
        return self._do("set", table, key, value)


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

    async def enter(self) -> None:
        async with self.client.get(f"{self.origin}/?token={self.token}") as answer:
            assert answer.status == 200

    async def get(self, path: str, **headers: str) -> tuple[int, object]:
        async with self.client.get(self.origin + path, headers=headers) as answer:
            return answer.status, await answer.json(content_type=None)

    async def post(self, path: str, body: object, **headers: str) -> tuple[int, object]:
        sent = {"Origin": self.origin, TOKEN_HEADER: self.token, **{k.replace("_", "-"): v for k, v in headers.items()}}
        async with self.client.post(self.origin + path, json=body, headers=sent) as answer:
            return answer.status, await answer.json(content_type=None)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture
async def dock(db: Database, clock: ManualClock, tmp_path: Path) -> AsyncIterator[Served]:
    control, settings, port = FakeControl(), LiveSettings(Settings()), free_port()
    serving = open_dock(control=control, db=db, settings=settings, clock=clock, folder=tmp_path, port=port)
    jar = aiohttp.CookieJar(unsafe=True)  # cookies of an address, not of a name
    async with serving, aiohttp.ClientSession(cookie_jar=jar) as client:
        token = (tmp_path / TOKEN_FILE).read_text()
        yield Served(control, settings, port, token, client)
