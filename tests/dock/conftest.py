"""A dock over a fake ports.Control, and a bot with its dock on a copy of the demo's memory, on a loopback Twitch."""

import asyncio
import contextlib
import json
import shutil
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import browser
import msgspec
import pytest
import pytest_asyncio
from playwright.async_api import Browser, ConsoleMessage, Page, async_playwright, expect

from forgetmenot.app.bot import Bot
from forgetmenot.clock import ManualClock
from forgetmenot.demo.show import STREAMER, bot_on
from forgetmenot.dock import feed
from forgetmenot.dock.security import TOKEN_FILE, TOKEN_HEADER
from forgetmenot.dock.server import open_dock
from forgetmenot.domain import OperationResult
from forgetmenot.durations import DAY
from forgetmenot.errors import InputError
from forgetmenot.languages import reason
from forgetmenot.ports import BotState, Check
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import DockSettings, Settings
from forgetmenot.store import streams
from forgetmenot.store.database import Database, open_database
from tests.loopback_servers.twitch import TwitchSim
from tests.played_demo import PlayedDemo
from tests.ports import unused_port

STATE = BotState(
    login="forgetmenot_bot", phase="connected", phase_trouble="", login_trouble="",
    reply_model="scripted", memory_model="scripted", model_trouble="", memory_trouble="", task_troubles=(),
    settings_file="",
)  # fmt: skip


@dataclass
class FakeControl:
    """A Control that remembers what was asked of it."""

    calls: list[tuple[str, Mapping[str, object]]] = field(default_factory=list)
    now: BotState = STATE

    def state(self) -> BotState:
        return self.now

    async def checks(self, *, everything: bool) -> list[Check]:
        return [
            Check("Chat", "ok", "Reading."),
            *([Check("Disk", "ok", "Free.")] if everything else []),
        ]

    async def why(self, reply_id: int) -> Mapping[str, object]:
        raise InputError(f"There is no reply {reply_id}.")

    async def chain(self, note_id: int) -> Mapping[str, object]:
        raise InputError(f"There is no note {note_id}.")

    def hear(self, text: str) -> bool:
        self.calls.append(("hear", {"text": text}))
        if self.now.hearing is None:
            raise InputError(reason("hearing_off"))
        return len(self.calls) <= 2

    async def run(self, name: str, params: Mapping[str, object]) -> OperationResult:
        self.calls.append((name, params))
        return OperationResult(ok=True, code="status", data={"status": "Done."})


class FakeSetup:
    """A Setup that does what it is asked for."""

    async def state(self) -> Mapping[str, object]:
        return {"channel": {"name": "demo"}}

    async def run(self, _step: str, _body: bytes) -> Mapping[str, object]:
        return {"ok": True, "line": "Done."}

    async def take_file(
        self, _name: str, _size: int | None, pieces: AsyncIterator[bytes]
    ) -> Mapping[str, object]:
        return {"ok": True, "line": str(sum([len(piece) async for piece in pieces]))}


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
            event = await answer.content.readuntil(b"\n\n")
        return dict(json.loads(event[event.index(b"{") :]))

    async def post(self, path: str, body: object, **headers: str) -> tuple[int, object]:
        sent = {
            "Origin": self.origin,
            TOKEN_HEADER: self.token,
            **{k.replace("_", "-"): v for k, v in headers.items()},
        }
        async with self.client.post(
            self.origin + path, json=body, headers=sent
        ) as answer:
            return answer.status, await answer.json(content_type=None)


def fake_dock(
    db: Database,
    clock: ManualClock,
    port: int,
    control: FakeControl | None = None,
    live: LiveSettings | None = None,
) -> AbstractAsyncContextManager[object]:
    """A dock in the folder of that memory."""
    control = control or FakeControl()
    settings = live or LiveSettings(Settings())
    folder = db.path.parent
    return open_dock(
        control=control,
        setup=FakeSetup(),
        db=db,
        settings=settings,
        clock=clock,
        folder=folder,
        port=port,
    )


@pytest.fixture
async def stranger(db: Database, clock: ManualClock) -> AsyncIterator[Served]:
    """The dock, asked without its token."""
    control = FakeControl()
    settings = LiveSettings(Settings())
    port = unused_port()
    async with (
        fake_dock(db, clock, port, control, settings),
        aiohttp.ClientSession() as client,
    ):
        token = (db.path.parent / TOKEN_FILE).read_text()
        yield Served(control, settings, port, token, client)


@pytest.fixture
def dock(stranger: Served) -> Served:
    """The dock, asked with its token."""
    stranger.client.headers[TOKEN_HEADER] = stranger.token
    return stranger


# ── a bot on the demo's memory ──────────────────────────────────────────────────────────────

BROWSER = browser.find()
WITHIN_MS = (
    40_000  # for what must come: a machine that is busy with other tests takes its time
)
expect.set_options(timeout=WITHIN_MS)
feed.LOOK_EVERY_S = 0.1
feed.LOOKS_UNTIL_UPDATE = 8
# The page gathers changes before it draws them, and looks every second: cut short.
SOON = """for (const name of ["setTimeout", "setInterval"]) {
  const wait = window[name];
  window[name] = (call, ms) => wait(call, ms === 1000 || ms === 3000 ? 50 : ms);
}"""
EXPECTED = tuple(
    f"Failed to load resource: the server responded with a status of {status}"
    for status in (401, 404, 409)
)

# A request under way when the bot restarts ends in any of Chromium's network errors.
RESTARTING = ("Failed to load resource: net::ERR_",)


@dataclass
class DemoBot:
    """A bot with its dock. `address` has the token."""

    bot: Bot
    sim: TwitchSim
    clock: ManualClock
    address: str

    async def settle(self) -> None:
        """Wait until what was said was heard, and answered."""
        await self.sim.settled()
        await self.bot.settle()

    async def hear(self, login: str, text: str) -> None:
        """Somebody says something, and it was heard and answered."""
        await self.sim.say(login, text)
        await self.settle()

    async def propose_timeout(self) -> None:
        """Frank asks for a timeout of his own, which has to be approved."""
        await self.hear(
            "frank", "@ForgetMeNot time me out please, I have ladders on the brain"
        )

    async def id_of(self, login: str) -> str:
        """Twitch's id of somebody who is known."""
        return str(
            await self.bot.db.value("SELECT id FROM viewers WHERE login = ?", (login,))
        )


@contextlib.asynccontextmanager
async def opened(memory: Path, folder: Path, **dock: object) -> AsyncIterator[DemoBot]:
    """A bot on a copy of that memory."""
    copy = (
        shutil.copytree(
            memory.parent, folder / "demo", ignore=shutil.ignore_patterns("logs")
        )
        / memory.name
    )
    async with open_database(copy) as db:
        last = await streams.last_heard(db)
    clock = ManualClock(last + DAY // 2)
    lines: list[str] = []
    settings = msgspec.structs.replace(
        Settings(), dock=msgspec.convert({"port": unused_port()} | dock, DockSettings)
    )
    sim = TwitchSim(channel=STREAMER, now=clock.now)
    async with sim, bot_on(sim, copy, clock, settings, lines.append) as bot:
        sim.go_live(
            title="Ladders of Ash: the mines", game="Ladders of Ash", at=clock.now()
        )
        await bot.tasks.catch_up()
        words = " ".join(lines).split()
        address = next(word for word in words if word.startswith("http"))
        yield DemoBot(bot, sim, clock, address)


@contextlib.asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A headless browser of its own."""
    assert BROWSER is not None
    async with async_playwright() as playwright:
        yield await playwright.chromium.launch(
            executable_path=BROWSER,
            args=list(browser.ARGUMENTS),
            ignore_default_args=[
                "--hide-scrollbars"
            ],  # they take their room, as with a mouse
        )


@contextlib.asynccontextmanager
async def page_on(
    running: Browser,
    address: str,
    width: int = 420,
    height: int = 900,
    *,
    restarts: bool = False,
) -> AsyncIterator[Page]:
    """A page that has the address open; at its end no error stands in its console but of a bot that `restarts`."""
    expected = (*EXPECTED, *(RESTARTING if restarts else ()))
    errors: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not message.text.startswith(
            expected
        ):
            errors.append(message.text)

    context = await running.new_context(
        viewport={"width": width, "height": height}, accept_downloads=True
    )
    await context.add_init_script(SOON)
    page = await context.new_page()
    page.on("console", note)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_default_timeout(WITHIN_MS)
    await page.goto(address)
    await page.wait_for_selector("#top .switches")
    yield page
    await context.close()
    assert errors == [], errors


async def until(page: Page, condition: str) -> None:
    """Wait until an expression holds (Playwright's own waiting needs eval, which the page forbids)."""
    async with asyncio.timeout(WITHIN_MS / 1_000):
        while not await page.evaluate(condition):  # noqa: ASYNC110  # another process's state
            await asyncio.sleep(0.05)


async def go(page: Page, place: str) -> None:
    await page.evaluate("place => { location.hash = place }", place)
    await until(
        page,
        f"document.querySelector('main').classList.contains('{place.split('/', maxsplit=1)[0]}')",
    )
    await until(page, "document.querySelector('.content').childElementCount > 0")


@pytest.fixture(scope="session")
def memory(played_demo: PlayedDemo) -> Path:
    return played_demo.folder / "memory.sqlite3"


@pytest_asyncio.fixture(loop_scope="session")
async def demo(memory: Path, tmp_path: Path) -> AsyncIterator[DemoBot]:
    async with opened(memory, tmp_path) as bot:
        yield bot


@pytest_asyncio.fixture(loop_scope="session")
async def page(demo: DemoBot, running: Browser) -> AsyncIterator[Page]:
    """A page that has the demo's dock open."""
    async with page_on(running, demo.address) as opened_page:
        yield opened_page


@pytest_asyncio.fixture(loop_scope="session", scope="session")
async def running() -> AsyncIterator[Browser]:
    """A headless browser for all tests of a loop."""
    async with chromium() as browser_process:
        yield browser_process
