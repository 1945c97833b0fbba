"""What the dock costs: how soon its page is painted, and the bot's processor time with nobody and with somebody there.

Two bots hear the same chat at the same time, each a process as its user starts it; one has no dock. What the other
spends more is the dock's. The page is opened in the Chromium that is on the machine; without one, nothing is measured.
"""

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import browser

from forgetmenot.dock.security import address, token_in
from forgetmenot.secret_store import TokenStore, login_folder
from speed.figures import Figure
from tests.loopback_servers.fixtures import log_in
from tests.loopback_servers.twitch import TwitchSim

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page

PROGRAM = (sys.executable, "-m", "forgetmenot")
PER_MINUTE = 400
PEOPLE = 60
MENTION_EVERY = 40
OPENINGS = 7
WARM_S = 8.0
WORDS = ("the", "lava", "boss", "is", "down", "again", "what", "a", "run", "who", "has", "map", "of", "second", "level")


@dataclass(frozen=True, slots=True)
class Running:
    """A bot in a process of its own. `address`: its dock's; empty without one."""

    pid: int
    address: str


def measure(folder: Path, watch_s: float) -> list[Figure]:
    """First paint, and the processor time while nobody looks and while somebody does, `watch_s` seconds each."""
    if reason := missing():
        print(f"the dock is not measured: {reason}", file=sys.stderr)
        return []
    return asyncio.run(_measure(folder, watch_s))


def missing() -> str:
    """Why nothing can be measured here, or an empty text."""
    if browser.find() is None:
        return "there is no Chromium here (FORGETMENOT_BROWSER names one)."
    if cpu_s(os.getpid()) is None:
        return "this system does not tell a process's time in /proc."
    try:
        import playwright  # noqa: F401  # a tool of development
    except ImportError:
        return "playwright is not installed (pip install -e .[dev])."
    return ""


async def _measure(folder: Path, watch_s: float) -> list[Figure]:
    async with (
        TwitchSim() as sim,
        started(sim, folder / "with") as seen,
        started(sim, folder / "without", port=0) as bare,
        talking(sim, PER_MINUTE),
        opened() as running,
    ):
        await asyncio.sleep(WARM_S)
        alone = await _spent_more(seen, bare, watch_s)
        paints = [await _painted(running, seen.address) for _ in range(OPENINGS)]
        async with page_on(running, seen.address):
            await asyncio.sleep(2)
            watched = await _spent_more(seen, bare, watch_s)
    return [
        Figure("dock, first paint of the page", median(first for first, _ in paints), "s", 0.5),
        Figure("dock, the page is whole", median(whole for _, whole in paints), "s"),
        Figure("dock, nobody looks, of a core", max(0.0, 100 * alone), "%", 1),
        Figure(f"dock, somebody looks, {PER_MINUTE} messages/min, of a core", max(0.0, 100 * watched), "%", 5),
    ]


async def _spent_more(one: Running, other: Running, seconds: float) -> float:
    """The share of a core that `one` spends more than `other`."""
    before = _spent(one) - _spent(other)
    await asyncio.sleep(seconds)
    return round((_spent(one) - _spent(other) - before) / seconds, 6)


def _spent(bot: Running) -> float:
    return cpu_s(bot.pid) or 0.0


async def _painted(running: "Browser", url: str) -> tuple[float, float]:
    """Seconds from asking for the page until something is painted, and until the feed of the Now panel is there."""
    async with page_on(running, url) as page:
        await page.wait_for_selector(".feed .item:visible")
        first, whole = await page.evaluate(
            "[performance.getEntriesByName('first-contentful-paint')[0].startTime, performance.now()]"
        )
    return first / 1_000, whole / 1_000


# ── what a longer run needs as well (soak_live.py, chaos.py) ────────────────────────────────


def cpu_s(pid: int) -> float | None:
    """Seconds of processor time that a process has used; None where the system does not say so in /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.asynccontextmanager
async def started(sim: TwitchSim, folder: Path, port: int | None = None, more: str = "") -> AsyncIterator[Running]:
    """A signed-in bot that has joined that Twitch. `port` 0: without a dock; None: a dock on a port that is free.

    `more`: further settings, as TOML.
    """
    folder.mkdir(parents=True, exist_ok=True)
    port = _free_port() if port is None else port
    memory, joined = folder / "m.sqlite3", sum(bool(one.channels) for one in sim.irc.connections)
    log_in(sim, TokenStore(login_folder(memory), use_keyring=False))
    words = ("start", "--no-browser", "--config", str(_settings(folder, sim, port, more)), "--db", str(memory))
    alone = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring", "HOME": str(folder)}
    process = await asyncio.create_subprocess_exec(
        *PROGRAM, *words, env={**os.environ, **alone, "XDG_DATA_HOME": str(folder)}, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        await sim.joined(joined + 1)
        yield Running(process.pid, address(port, token_in(folder)) if port else "")
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


def _settings(folder: Path, sim: TwitchSim, port: int, more: str = "") -> Path:
    path = folder / "config.toml"
    path.write_text(
        f'[twitch]\nchannel = "demo"\nclient_id = "{sim.client_id}"\nbot_login = "keeper"\n'
        f'server = "{sim.url}"\n[dock]\nport = {port}\n{more}',
        encoding="utf-8",
    )
    return path


def _free_port() -> int:
    import socket

    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextlib.asynccontextmanager
async def talking(sim: TwitchSim, per_minute: int) -> AsyncIterator[None]:
    """Chat at that rate meanwhile; now and then somebody speaks to the bot."""
    task = asyncio.create_task(_talk(sim, per_minute))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def _talk(sim: TwitchSim, per_minute: int) -> None:
    loop = asyncio.get_running_loop()
    began, number = loop.time(), 0
    while True:
        words = " ".join(WORDS[(number * 7 + place) % len(WORDS)] for place in range(4 + number % 9))
        to_it = "@keeper " if number % MENTION_EVERY == 0 else ""
        await sim.say(f"viewer_{number * 13 % PEOPLE}", f"{to_it}{words} {number}")
        number += 1
        await asyncio.sleep(max(0.0, began + number * 60 / per_minute - loop.time()))


@contextlib.asynccontextmanager
async def opened() -> AsyncIterator["Browser"]:
    """The machine's browser, without a window."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(executable_path=browser.find(), args=list(browser.ARGUMENTS))
        try:
            yield running
        finally:
            await running.close()


@contextlib.asynccontextmanager
async def page_on(running: "Browser", url: str) -> AsyncIterator["Page"]:
    """A page with nothing kept from before, as wide as OBS makes it."""
    context = await running.new_context(viewport={"width": 420, "height": 900})
    try:
        page = await context.new_page()
        await page.goto(url)
        yield page
    finally:
        await context.close()
