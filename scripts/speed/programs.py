"""What bots cost as their users start them: one with its dock, one that is idle, and twenty on one machine.

- The dock: two bots hear the same chat at the same time, and one has no dock; what the other spends more is the
  dock's. The page is opened in the Chromium that is on the machine; without one, nothing is measured.
- Twenty bots: each has a dock, a Twitch of its own and 100 lines of chat a minute, of which ten speak to it.
  One model on loopback answers all of them at once. The time of a prompt is taken from outside: from the line in chat
  until the model has the question, and so holds reading, writing to disk and recall.
"""

import asyncio
import contextlib
import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

import browser

from forgetmenot.dock.security import address, token_in
from speed.figures import Figure, percentile
from speed.invented import Invented
from tests import program
from tests.dock.demo_bot import free_port
from tests.loopback_servers.openai import SimOpenAI
from tests.loopback_servers.twitch import TwitchSim

if TYPE_CHECKING:
    from playwright.async_api import Browser, Page


PER_MINUTE, PEOPLE = 400, 60
OPENINGS, STARTS = 7, 7
BOTS, PER_MINUTE_EACH = 20, 100
_ASKED = re.compile(r"what of (bot\d+line\d+)\?")


@dataclass(frozen=True, slots=True)
class Running:
    """A bot in a process of its own. `address`: its dock's; empty without one."""

    pid: int
    address: str


def dock(folder: Path, watch_s: float) -> list[Figure]:
    """First paint, and the processor time while nobody looks and while somebody does, `watch_s` seconds each."""
    if reason := missing():
        print(f"the dock is not measured: {reason}", file=sys.stderr)
        return []
    return asyncio.run(_dock(folder, watch_s))


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


async def _dock(folder: Path, watch_s: float) -> list[Figure]:
    async with (
        TwitchSim() as sim,
        started(sim, folder / "with") as seen,
        started(sim, folder / "without", dock=False) as bare,
        talking(sim, PER_MINUTE, Invented(3), 40),
        opened() as running,
    ):
        await asyncio.sleep(8)
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


def _spent(*bots: Running) -> float:
    return sum(cpu_s(bot.pid) or 0.0 for bot in bots)


async def _painted(running: "Browser", url: str) -> tuple[float, float]:
    """Seconds from asking for the page until something is painted, and until the feed of the Now panel is there."""
    async with page_on(running, url) as page:
        await page.wait_for_selector(".feed .item:visible")
        first, whole = await page.evaluate(
            "[performance.getEntriesByName('first-contentful-paint')[0].startTime, performance.now()]"
        )
    return first / 1_000, whole / 1_000


# ── a bot, its chat and its page ────────────────────────────────────────────────────────────


def cpu_s(pid: int) -> float | None:
    """Seconds of processor time that a process has used; None where the system does not say so in /proc."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    except OSError:
        return None
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(pid: int) -> int:
    """Bytes of memory that a process holds; 0 where nobody says."""
    with contextlib.suppress(OSError):
        return int(Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[1]) * 4_096
    return 0


@contextlib.asynccontextmanager
async def started(sim: TwitchSim, folder: Path, *, dock: bool = True, **more: str) -> AsyncIterator[Running]:
    """A signed-in bot that has joined that Twitch. `more`: whole tables of its settings, as TOML."""
    folder.mkdir(parents=True, exist_ok=True)
    port = free_port() if dock else 0
    memory, joined = folder / "m.sqlite3", sum(bool(one.channels) for one in sim.irc.connections)
    program.log_in(folder, sim)
    config = program.write_settings(folder, sim, **{"bot": "", "dock": f"port = {port}", **more})
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
async def talking(
    sim: TwitchSim, per_minute: int, made_up: Invented, ask_every: int, question: Callable[[int], str] | None = None
) -> AsyncIterator[None]:
    """Chat at that rate meanwhile; each n-th line speaks to the bot. `question`: what it asks, by its number."""

    async def talk() -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        for number in itertools.count():
            text = made_up.line()
            if number % ask_every == 0:
                text = f"@keeper {question(number) if question else text}"
            await sim.say(f"viewer_{number * 13 % PEOPLE}", text)
            await asyncio.sleep(max(0.0, began + (number + 1) * 60 / per_minute - loop.time()))

    task = asyncio.create_task(talk())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


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


# ── how soon it is there, and what it weighs ────────────────────────────────────────────────


def process(folder: Path) -> list[Figure]:
    """`--version` and the way to chat (the best of some starts), and the memory of a bot in a channel that is quiet."""
    joined = min(asyncio.run(_start(folder / f"start_{number}")) for number in range(STARTS))
    figures = [
        Figure("forgetmenot --version", min(_version() for _ in range(STARTS)), "s", 0.25),
        Figure("forgetmenot start, in the channel", joined, "s", 0.6),
    ]
    if held := asyncio.run(_idle(folder)):
        return [*figures, Figure("idle process, resident", held / 1_000_000, "MB", 70)]
    print("the memory of a process is not measured on this system", file=sys.stderr)
    return figures


def _version() -> float:
    began = perf_counter()
    subprocess.run(program.command("--version"), check=True, capture_output=True)
    return perf_counter() - began


async def _start(folder: Path) -> float:
    """Seconds from the start of a signed-in bot until it is in its channel."""
    async with TwitchSim() as sim:
        began = perf_counter()
        async with started(sim, folder):
            return perf_counter() - began


async def _idle(folder: Path) -> int:
    """Bytes, some seconds after a signed-in bot has joined and heard some lines."""
    async with TwitchSim() as sim, started(sim, folder) as bot:
        for number in range(60):
            await sim.say(f"viewer_{number % 12}", f"line number {number} of a quiet channel")
        await asyncio.sleep(6)
        return resident(bot.pid)


# ── many bots ───────────────────────────────────────────────────────────────────────────────


class Model(SimOpenAI):
    """Answers everything, and notes when it was asked what. `said`: when each question was said."""

    def __init__(self) -> None:
        super().__init__()
        self.said: dict[str, float] = {}
        self.took: list[float] = []

    def _write(self, sent: dict[str, Any], *, obey: bool) -> str:  # noqa: ARG002  # it obeys
        message = sent["messages"][-1]["content"].rpartition("<message>")[2]
        if (asked := _ASKED.search(message)) and (said := self.said.pop(asked[1], None)) is not None:
            self.took.append(1_000 * (perf_counter() - said))
        return json.dumps({"action": None, "say": f"About {len(self.seen)}.", "summary": "Chat talked.", "notes": []})

    def ask(self, bot: int, number: int) -> str:
        """A bot's question; the time is noted."""
        key = f"bot{bot}line{number}"
        self.said[key] = perf_counter()
        return f"what of {key}?"


def channels(folder: Path, watch_s: float) -> list[Figure]:
    """Watch them for so long. Nothing where the system does not tell a process's time and memory in /proc."""
    if not Path("/proc/self/smaps_rollup").exists():
        print("many bots are not measured: this system has no /proc/PID/smaps_rollup.", file=sys.stderr)
        return []
    return asyncio.run(_channels(folder, watch_s))


async def _channels(folder: Path, watch_s: float) -> list[Figure]:
    async with contextlib.AsyncExitStack() as stack, Model() as model:
        bots = list[Running]()
        settings = f'provider = "openai_compatible"\nbase_url = "{model.url}"'
        for number in range(BOTS):
            sim = await stack.enter_async_context(TwitchSim())
            mode = 'mode = "mentions"'
            bots.append(await stack.enter_async_context(started(sim, folder / str(number), bot=mode, model=settings)))
            ask = partial(model.ask, number)
            await stack.enter_async_context(talking(sim, PER_MINUTE_EACH, Invented(number), 10, ask))
        await asyncio.sleep(45)
        before, began = _spent(*bots), perf_counter()
        model.took.clear()
        await asyncio.sleep(watch_s)
        spent = (_spent(*bots) - before) / (perf_counter() - began)
        held = [dict(_memory(bot.pid)) for bot in bots]
        late = sum(perf_counter() - said > 10 for said in model.said.values())
    return [
        Figure(f"{BOTS} bots, memory of one, resident, the largest", max(one["Rss"] for one in held), "MB"),
        Figure(f"{BOTS} bots, memory of one, its share", median(one["Pss"] for one in held), "MB"),
        Figure(f"{BOTS} bots, memory of all", sum(one["Pss"] for one in held), "MB"),
        Figure(f"{BOTS} bots, {PER_MINUTE_EACH} lines/min each, of a core", 100 * spent, "%"),
        Figure(f"{BOTS} bots, line to prompt at the model, median of {len(model.took)}", median(model.took), "ms"),
        Figure(f"{BOTS} bots, line to prompt at the model, p99", percentile(model.took, 0.99), "ms"),
        Figure(f"{BOTS} bots, questions that never came", late, "", 0),
    ]


def _memory(pid: int) -> Iterator[tuple[str, float]]:
    """What a process holds, and its share of what several hold, in MB."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]:
        name, value = line.split()[:2]
        yield name.rstrip(":"), int(value) / 1_000
