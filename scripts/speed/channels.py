"""Many bots on one machine: memory of each, processor time of all, and how soon a reply's prompt is at the model.

Each is a process as its user starts it, with a dock, a Twitch of its own on loopback and 100 lines of chat a minute, of
which ten speak to it. One model on loopback answers all of them at once, summaries too. The time of a prompt is taken
from outside: from the line in chat until the model has the question, and so holds reading, writing to disk and recall.
"""

import asyncio
import contextlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from speed.dock import PEOPLE, Running, cpu_s, started
from speed.figures import Figure, percentile
from speed.invented import Invented
from tests.loopback_servers.openai import SimOpenAI
from tests.loopback_servers.twitch import TwitchSim

BOTS = 20
PER_MINUTE = 100
MENTION_EVERY = 10
WARM_S = 45.0
_ASKED = re.compile(r"what of (bot\d+line\d+)\?")


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


def measure(folder: Path, watch_s: float) -> list[Figure]:
    """Watch them for so long. Nothing where the system does not tell a process's time and memory in /proc."""
    if not Path("/proc/self/smaps_rollup").exists():
        print("many bots are not measured: this system has no /proc/PID/smaps_rollup.", file=sys.stderr)
        return []
    return asyncio.run(_measure(folder, watch_s))


async def _measure(folder: Path, watch_s: float) -> list[Figure]:
    async with contextlib.AsyncExitStack() as stack, Model() as model:
        bots = list[Running]()
        settings = f'[bot]\nmode = "mentions"\n[model]\nprovider = "openai_compatible"\nbase_url = "{model.url}"\n'
        for number in range(BOTS):
            sim = await stack.enter_async_context(TwitchSim())
            bots.append(await stack.enter_async_context(started(sim, folder / str(number), more=settings)))
            talk = asyncio.create_task(_talk(sim, number, model))
            stack.callback(talk.cancel)
        await asyncio.sleep(WARM_S)
        before, began = _spent(bots), perf_counter()
        model.took.clear()
        await asyncio.sleep(watch_s)
        spent = (_spent(bots) - before) / (perf_counter() - began)
        resident = [dict(_memory(bot.pid)) for bot in bots]
        late = sum(perf_counter() - said > 10 for said in model.said.values())
    return [
        Figure(f"{BOTS} bots, memory of one, resident, the largest", max(one["Rss"] for one in resident), "MB"),
        Figure(f"{BOTS} bots, memory of one, its share", median(one["Pss"] for one in resident), "MB"),
        Figure(f"{BOTS} bots, memory of all", sum(one["Pss"] for one in resident), "MB"),
        Figure(f"{BOTS} bots, {PER_MINUTE} lines/min each, of a core", 100 * spent, "%"),
        Figure(f"{BOTS} bots, line to prompt at the model, median of {len(model.took)}", median(model.took), "ms"),
        Figure(f"{BOTS} bots, line to prompt at the model, p99", percentile(model.took, 0.99), "ms"),
        Figure(f"{BOTS} bots, questions that never came", late, "", 0),
    ]


async def _talk(sim: TwitchSim, bot: int, model: Model) -> None:
    loop, made_up = asyncio.get_running_loop(), Invented(bot)
    began, number = loop.time(), 0
    while True:
        text = made_up.line()
        if number % MENTION_EVERY == 0:
            key = f"bot{bot}line{number}"
            text, model.said[key] = f"@keeper what of {key}?", perf_counter()
        await sim.say(f"viewer_{number * 13 % PEOPLE}", text)
        number += 1
        await asyncio.sleep(max(0.0, began + number * 60 / PER_MINUTE - loop.time()))


def _spent(bots: list[Running]) -> float:
    return sum(cpu_s(bot.pid) or 0.0 for bot in bots)


def _memory(pid: int) -> Iterator[tuple[str, float]]:
    """What a process holds, and its share of what several hold, in MB."""
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii").splitlines()[1:]:
        name, value = line.split()[:2]
        yield name.rstrip(":"), int(value) / 1_000
