"""What the program weighs and how soon it is there: real processes, as its user starts them, on a loopback Twitch."""

import asyncio
import subprocess
import sys
from pathlib import Path
from time import perf_counter

from speed.dock import PROGRAM, started
from speed.figures import Figure
from tests.loopback_servers.twitch import TwitchSim

STARTS = 7
IDLE_S = 6.0
LINES = 60


def measure(folder: Path) -> list[Figure]:
    """`--version` and the way to chat (the best of some starts), and the memory of a bot in a channel that is quiet."""
    joined = min(asyncio.run(_start(folder / f"start_{number}")) for number in range(STARTS))
    figures = [
        Figure("forgetmenot --version", min(_version() for _ in range(STARTS)), "s", 0.25),
        Figure("forgetmenot start, in the channel", joined, "s", 0.6),
    ]
    resident = asyncio.run(_idle(folder))
    if resident is None:
        print("the memory of a process is not measured on this system", file=sys.stderr)
        return figures
    return [*figures, Figure("idle process, resident", resident, "MB", 70)]


def _version() -> float:
    started = perf_counter()
    subprocess.run([*PROGRAM, "--version"], check=True, capture_output=True)
    return perf_counter() - started


async def _start(folder: Path) -> float:
    """Seconds from the start of a signed-in bot until it is in its channel."""
    async with TwitchSim() as sim:
        began = perf_counter()
        async with started(sim, folder):
            return perf_counter() - began


async def _idle(folder: Path) -> float | None:
    """MB, some seconds after a signed-in bot has joined and heard some lines."""
    async with TwitchSim() as sim, started(sim, folder) as bot:
        for number in range(LINES):
            await sim.say(f"viewer_{number % 12}", f"line number {number} of a quiet channel")
        await asyncio.sleep(IDLE_S)
        return _resident(bot.pid)


def _resident(pid: int) -> float | None:
    """Megabytes of memory that a process holds; None where the system does not say so in /proc."""
    status = Path(f"/proc/{pid}/status")
    if not status.exists():
        return None
    line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1_000
