"""What bots cost as their users start them: one that is idle, and one with its dock.

Start and memory are judged beside a Python that only imports packages that the bot stands on, in the same run.

Two bots hear the same chat at the same time, and one has no dock; what the other spends more is the dock's. The page is
opened in the Chromium that is on the machine; without one, the dock is not measured.
"""

import asyncio
import contextlib
import itertools
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import browser
from aiohttp.test_utils import unused_port

from forgetmenot.dock.security import address, token_in
from speed.figures import Figure
from speed.invented import Invented
from tests import program
from tests.loopback_servers.twitch import TwitchSim

PER_MINUTE = 400
PEOPLE = 60
STARTS = 7
PACKAGES = "import asyncio, sqlite3, ssl, aiohttp, aiosqlite, msgspec, structlog"
VERSION = """
import contextlib, runpy, sys
sys.argv = ["forgetmenot", "--version"]
with contextlib.suppress(SystemExit):
    runpy.run_module("forgetmenot", run_name="__main__")
"""


class WayToChat(NamedTuple):
    """Seconds from a start until the bot is in its channel; `computing_s` is None where nobody says."""

    wall_s: float
    computing_s: float | None


@dataclass(frozen=True, slots=True)
class Running:
    """A bot in a process of its own. `address`: its dock's; empty without one."""

    pid: int
    address: str


def dock(folder: Path, watch_s: float) -> list[Figure]:
    """The processor time while nobody looks and while somebody does, `watch_s` seconds each."""
    if browser.find() is None or cpu_s(os.getpid()) is None:
        print(
            "the dock is not measured: that needs a Chromium (FORGETMENOT_BROWSER names one) and /proc",
            file=sys.stderr,
        )
        return []
    return asyncio.run(_dock(folder, watch_s))


async def _dock(folder: Path, watch_s: float) -> list[Figure]:
    """Compare two bots in the same chat, one with a dock: what its processor does besides."""
    async with (
        TwitchSim() as sim,
        started(sim, folder / "with") as with_events,
        started(sim, folder / "without", dock=False) as bare,
        talking(sim),
    ):
        await asyncio.sleep(8)
        alone = await _spent_more(with_events, bare, watch_s)
        async with page_on(with_events.address):
            await asyncio.sleep(2)
            watched = await _spent_more(with_events, bare, watch_s)
    return [
        Figure("dock, nobody looks, of a core", 100 * alone, "%", 1),
        Figure(
            f"dock, somebody looks, {PER_MINUTE} messages/min, of a core",
            100 * watched,
            "%",
            5,
        ),
    ]


async def _spent_more(first: Running, other: Running, seconds: float) -> float:
    """Return the share of a core that the first spends more than the other."""

    def more() -> float:
        return (cpu_s(first.pid) or 0.0) - (cpu_s(other.pid) or 0.0)

    before = more()
    await asyncio.sleep(seconds)
    return max(0.0, more() - before) / seconds


# ── a bot, its chat and its page ────────────────────────────────────────────────────────────


def cpu_s(pid: int) -> float | None:
    """Seconds of processor time that a process has used; None where the system does not say so in /proc."""
    try:
        fields = (
            Path(f"/proc/{pid}/stat")
            .read_text(encoding="ascii")
            .rpartition(")")[2]
            .split()
        )
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> int:
    """Bytes of memory that a process holds; 0 where nobody says."""
    with contextlib.suppress(OSError):
        return (
            int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1])
            * 4_096
        )
    return 0


@contextlib.asynccontextmanager
async def started(
    sim: TwitchSim, folder: Path, *, dock: bool = True, **more: str
) -> AsyncIterator[Running]:
    """A signed-in bot that has joined that Twitch. `more`: whole tables of its settings, as TOML."""
    folder.mkdir(parents=True, exist_ok=True)
    port = unused_port() if dock else 0
    memory = folder / "m.sqlite3"
    joined = sum(bool(connection.channels) for connection in sim.irc.connections)
    program.log_in(folder, sim)
    config = program.write_settings(
        folder, sim, **{"bot": "", "dock": f"port = {port}", **more}
    )
    process = await asyncio.create_subprocess_exec(
        *program.command("start", "--no-browser", "--config", config, "--db", memory),
        env=program.environment(folder), stderr=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    try:
        await sim.joined(joined + 1)
        yield Running(process.pid, address(port, token_in(folder)) if port else "")
    finally:
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        await process.wait()


@contextlib.asynccontextmanager
async def talking(sim: TwitchSim) -> AsyncIterator[None]:
    """Chat meanwhile; now and then a line speaks to the bot."""

    async def talk() -> None:
        made_up = Invented(3)
        began = perf_counter()
        for number in itertools.count():
            await sim.say(
                f"viewer_{number * 13 % PEOPLE}",
                ("" if number % 40 else "@keeper ") + made_up.line(),
            )
            await asyncio.sleep(
                max(0.0, began + (number + 1) * 60 / PER_MINUTE - perf_counter())
            )

    task = asyncio.create_task(talk())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


@contextlib.asynccontextmanager
async def page_on(url: str) -> AsyncIterator[None]:
    """The page in the machine's browser, without a window, as wide as OBS makes it."""
    from playwright.async_api import async_playwright

    async with async_playwright() as playwright:
        running = await playwright.chromium.launch(
            executable_path=browser.find(), args=list(browser.ARGUMENTS)
        )
        try:
            page = await running.new_page(viewport={"width": 420, "height": 900})
            await page.goto(url)
            await page.wait_for_selector(".feed .item:visible")
            yield
        finally:
            await running.close()


# ── how soon it is there, and what it weighs ────────────────────────────────────────────────


def process(folder: Path) -> list[Figure]:
    """`--version`, the way to chat and the memory of a bot in a quiet channel, as multiples of bare Pythons."""
    empty_s = min(_processor_time("pass") for _ in range(STARTS))
    packages_s = time_of_packages()
    version_s = min(_processor_time(VERSION) for _ in range(STARTS))
    ways = [
        asyncio.run(way_to_chat(folder / f"start_{number}")) for number in range(STARTS)
    ]
    joined_s = min(way.wall_s for way in ways)
    figures = [
        Figure("bare Python with packages of the bot", packages_s, "CPU-s"),
        Figure(
            "forgetmenot --version", version_s / empty_s, "times an empty Python", 4
        ),
        Figure("forgetmenot start, in the channel", joined_s, "s"),
    ]
    computing_s = [way.computing_s for way in ways if way.computing_s is not None]
    resident_bytes = asyncio.run(_idle(folder))
    if not computing_s or not resident_bytes:
        print("a start's computing and memory are not measured here", file=sys.stderr)
        return figures
    bare = "times bare Python"
    return [
        *figures,
        Figure("its computing", min(computing_s) / packages_s, bare, 3),
        Figure("idle process, resident", resident_bytes / 1_000_000, "MB"),
        Figure("the same beside", resident_bytes / _resident_of_packages(), bare, 2),
    ]


def time_of_packages() -> float:
    """Return the seconds of processor time that a Python needs which only imports packages of the bot."""
    return min(_processor_time(PACKAGES) for _ in range(STARTS))


def _processor_time(program: str) -> float:
    """Return the seconds of processor time that a Python needs for a program."""
    code = f"{program}\nimport time\nprint(time.process_time())"
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, check=True, capture_output=True, text=True)
    return float(run.stdout.split()[-1])


def _resident_of_packages() -> int:
    """Return the bytes that a Python with the packages holds."""
    waits = f"{PACKAGES}\nprint(flush=True)\ninput()"
    with subprocess.Popen(
        [sys.executable, "-c", waits],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as python:
        assert python.stdout is not None  # noqa: S101  # it is a pipe
        python.stdout.readline()
        size = resident(python.pid)
        python.communicate("\n")
    return size


async def way_to_chat(folder: Path) -> WayToChat:
    """Start a signed-in bot and wait until it is in its channel."""
    async with TwitchSim() as sim:
        began = perf_counter()
        async with started(sim, folder) as bot:
            return WayToChat(perf_counter() - began, cpu_s(bot.pid))


async def _idle(folder: Path) -> int:
    """Bytes, some seconds after a signed-in bot has joined and heard some lines."""
    async with TwitchSim() as sim, started(sim, folder) as bot:
        for number in range(60):
            await sim.say(
                f"viewer_{number % 12}", f"line number {number} of a quiet channel"
            )
        await asyncio.sleep(6)
        return resident(bot.pid)
