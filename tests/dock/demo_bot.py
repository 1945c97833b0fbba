"""A demo's memory that was played once, and a bot with its dock on a copy of it, on a loopback Twitch."""

import asyncio
import contextlib
import shutil
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path

import browser
import msgspec
from playwright.async_api import Browser, ConsoleMessage, Page, async_playwright, expect

from forgetmenot.app.bot import Bot
from forgetmenot.clock import DAY, ManualClock
from forgetmenot.demo.show import STREAMER, bot_on
from forgetmenot.dock import feed
from forgetmenot.settings.schema import DockSettings, Settings
from forgetmenot.store import streams
from forgetmenot.store.database import open_database
from tests.loopback_servers.twitch import TwitchSim

BROWSER = browser.find()
WITHIN_MS = 40_000  # for what must come: a machine that is busy with other tests takes its time
expect.set_options(timeout=WITHIN_MS)
feed.LOOK_EVERY_S, feed.LOOK_ANYWAY = 0.1, 8
# The page gathers changes before it draws them, and looks every second: cut short.
SOON = """for (const name of ["setTimeout", "setInterval"]) {
  const wait = window[name];
  window[name] = (call, ms) => wait(call, ms === 1000 || ms === 3000 ? 50 : ms);
}"""
EXPECTED = tuple(
    f"Failed to load resource: the server responded with a status of {status}" for status in (401, 404, 409)
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
        await self.hear("frank", "@ForgetMeNot time me out please, I have ladders on the brain")

    async def id_of(self, login: str) -> str:
        """Twitch's id of somebody who is known."""
        return str(await self.bot.db.value("SELECT id FROM viewers WHERE login = ?", (login,)))


@contextlib.asynccontextmanager
async def opened(memory: Path, folder: Path, **dock: object) -> AsyncIterator[DemoBot]:
    """A bot on a copy of that memory."""
    here = shutil.copytree(memory.parent, folder / "demo", ignore=shutil.ignore_patterns("logs")) / memory.name
    async with open_database(here) as db:
        last = await streams.last_heard(db)
    clock = ManualClock(last + DAY // 2)
    told: list[str] = []
    settings = msgspec.structs.replace(Settings(), dock=msgspec.convert({"port": free_port()} | dock, DockSettings))
    sim = TwitchSim(channel=STREAMER, now=clock.now)
    async with sim, bot_on(sim, here, clock, settings, told.append) as bot:
        sim.go_live(title="Ladders of Ash: the mines", game="Ladders of Ash", at=clock.now())
        await bot.tasks.catch_up()
        address = next(word for line in told for word in line.split() if word.startswith("http"))
        yield DemoBot(bot, sim, clock, address)


@contextlib.asynccontextmanager
async def chromium() -> AsyncIterator[Browser]:
    """A headless browser of its own."""
    assert BROWSER is not None
    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=BROWSER, args=list(browser.ARGUMENTS))
        try:
            yield running
        finally:
            await running.close()


@contextlib.asynccontextmanager
async def page_on(
    running: Browser, address: str, width: int = 420, height: int = 900, *, restarts: bool = False
) -> AsyncIterator[Page]:
    """A page that has the address open; at its end no error stands in its console but of a bot that `restarts`."""
    expected = (*EXPECTED, *(RESTARTING if restarts else ()))
    errors: list[str] = []

    def note(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"} and not message.text.startswith(expected):
            errors.append(message.text)

    context = await running.new_context(viewport={"width": width, "height": height}, accept_downloads=True)
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
    async with asyncio.timeout(8):
        while not await page.evaluate(condition):  # noqa: ASYNC110  # another process's state
            await asyncio.sleep(0.05)


async def go(page: Page, place: str) -> None:
    await page.evaluate("place => { location.hash = place }", place)
    await until(page, f"document.querySelector('main').classList.contains('{place.split('/', maxsplit=1)[0]}')")
    await until(page, "document.querySelector('.content').childElementCount > 0")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
