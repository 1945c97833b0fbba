"""The dock's page open through a very busy chat: `python scripts/soak_dock.py [--minutes 10] [--json]`.

1,000 messages a minute on a loopback Twitch, a bot in a process of its own, its page in the Chromium that is on the
machine. Once a minute all panels are walked through, then the page's memory is measured after its garbage was
collected. The exit code is 1 if the page's memory grew after the first two minutes, if it kept ever more elements, if
a panel took longer than a second to come, or if its console told an error. Nothing leaves this machine.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from speed import dock

from tests.loopback_servers.twitch import TwitchSim

if TYPE_CHECKING:
    from playwright.async_api import CDPSession, ConsoleMessage, Page

PER_MINUTE = 1_000
SETTLED_AFTER = 2  # minutes: the feed is full, and each panel was open
MAY_GROW = 1.10  # of what it was then: the rest is the collector's mood
PANEL_WITHIN_S = 1.0
PANELS = ("memory", "approvals", "figures", "health", "rights", "settings", "now")


@dataclass(frozen=True, slots=True)
class Minute:
    """The page after so many minutes. `slowest_s`: of the panels; `shown`: the newest line stood in the feed."""

    minutes: int
    heap_mb: float
    elements: int
    listeners: int
    slowest_s: float
    shown: bool
    bot_cpu: float


async def soak(folder: Path, minutes: int) -> tuple[list[Minute], list[str]]:
    """A line for each minute, and what the console told."""
    found: list[Minute] = []
    errors: list[str] = []

    def note(message: "ConsoleMessage") -> None:
        if message.type in {"error", "warning"}:
            errors.append(message.text)

    async with (
        TwitchSim() as sim,
        dock.started(sim, folder / "bot") as bot,
        dock.opened() as running,
        dock.talking(sim, PER_MINUTE),
        dock.page_on(running, bot.address) as page,
    ):
        page.on("console", note)
        page.on("pageerror", lambda error: errors.append(str(error)))
        inside = await page.context.new_cdp_session(page)
        await inside.send("Performance.enable")
        for number in range(1, minutes + 1):
            before, began = dock.cpu_s(bot.pid) or 0.0, time.monotonic()
            await asyncio.sleep(60 - 10)
            slowest = max([await _visit(page, panel) for panel in PANELS])
            await asyncio.sleep(max(0.0, began + 60 - time.monotonic()))
            used = ((dock.cpu_s(bot.pid) or 0.0) - before) / (time.monotonic() - began)
            found.append(await _looked(page, inside, number, slowest, used))
            print(_line(found[-1]), file=sys.stderr, flush=True)
    return found, errors


async def _visit(page: "Page", panel: str) -> float:
    """Seconds from choosing a panel until it shows something."""
    began = time.monotonic()
    await page.locator(f"#nav a[href='#{panel}']").click()
    here = page.locator(f"main.{panel} .room :is(.item, .card, .chart, .empty, fieldset):visible").first
    await here.wait_for()  # keeps no handle, which would keep the panel it is in
    return time.monotonic() - began


async def _looked(page: "Page", inside: "CDPSession", minutes: int, slowest: float, used: float) -> Minute:
    for _ in range(2):
        await inside.send("HeapProfiler.collectGarbage")
    measured = await inside.send("Performance.getMetrics")
    figures = {one["name"]: one["value"] for one in measured["metrics"]}
    newest = await page.locator(".item.line time").first.text_content()
    return Minute(
        minutes,
        round(figures["JSHeapUsedSize"] / 1e6, 2),
        int(figures["Nodes"]),
        int(figures["JSEventListeners"]),
        round(slowest, 2),
        newest == "just now",
        round(100 * used, 1),
    )


def _line(one: Minute) -> str:
    return (
        f"{one.minutes:3} min  {one.heap_mb:6.2f} MB  {one.elements:6,} elements  {one.listeners:5,} listeners  "
        f"slowest panel {one.slowest_s:.2f} s  {'up to date' if one.shown else 'BEHIND'}  bot {one.bot_cpu:.1f} %"
    )


def troubles(found: list[Minute], errors: list[str]) -> list[str]:
    """What was not as it should be, a sentence each. Pure."""
    faults = [f"The console told: {error}" for error in errors]
    faults += [f"After {one.minutes} min the page was behind." for one in found if not one.shown]
    faults += [
        f"After {one.minutes} min a panel took {one.slowest_s} s." for one in found if one.slowest_s > PANEL_WITHIN_S
    ]
    if len(settled := found[SETTLED_AFTER - 1 :]) > 1:
        first, last = settled[0], settled[-1]
        if last.heap_mb > first.heap_mb * MAY_GROW:
            faults.append(f"Its memory grew from {first.heap_mb} to {last.heap_mb} MB.")
        if last.elements > first.elements * MAY_GROW:
            faults.append(f"Its elements grew from {first.elements} to {last.elements}.")
    return faults


def verdict(found: list[Minute], faults: list[str]) -> str:
    """What it comes to, in words. Pure."""
    if faults:
        return "\n".join(faults)
    if len(found) <= SETTLED_AFTER:
        least = SETTLED_AFTER + 1
        return f"Every panel came at once. Whether the page's memory grows can be told after at least {least} minutes."
    return "The page's memory stayed flat, and every panel came at once."


def main() -> int:
    """Run it and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=int, default=10, help="how long (default: 10)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    wanted = parser.parse_args()
    if reason := dock.missing():
        print(f"Not possible here: {reason}", file=sys.stderr)
        return 0
    with tempfile.TemporaryDirectory(prefix="forgetmenot-soak-") as folder:
        found, errors = asyncio.run(soak(Path(folder), wanted.minutes))
    faults = troubles(found, errors)
    if wanted.json:
        print(json.dumps({"minutes": [asdict(one) for one in found], "troubles": faults}))
    else:
        print(verdict(found, faults))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
