"""How long an erasure takes in a large memory, and how long replies take meanwhile; and what it searched.

One of the best-known viewers goes, who also stands in other people's summaries, and then some others. Afterwards every
byte of the folder is searched for the first one's id, names and a word that only they used.
"""

import asyncio
import random
from pathlib import Path
from time import perf_counter

from forgetmenot.app.live import short_pauses
from forgetmenot.memory.erasure import Eraser, ErasureReport
from forgetmenot.store import channel_state
from forgetmenot.store.database import Database
from speed.figures import Figure, percentile
from speed.invented import viewer_id
from speed.replies import COMMON, Memory, memory, regulars

GONE = COMMON  # one of the best known
OTHERS = (GONE + 1, 40, 400)
WORD = "quaggaflute"
MENTIONED_IN = 300
PAUSE_S, WRITE_PAUSE_S = 0.005, 0.1


def measure(folder: Path, notes: int) -> list[Figure]:
    """The figures in a memory with so many notes."""
    return asyncio.run(_measure(folder, notes))


async def _measure(folder: Path, notes: int) -> list[Figure]:
    path, viewers = folder / "memory.sqlite3", notes // 20
    async with memory(path, viewers, regulars(viewers)) as large:
        await _mention(large.db)
        held = int(await large.db.value("SELECT count(*) FROM semantic_notes"))
        summaries = int(await large.db.value("SELECT count(*) FROM episodes"))
        before = _found(folder)
        with short_pauses():
            report, took, times, waits = await _erase(large, viewers)
        left = _found(folder)
    return [
        Figure("notes before the erasure", held, ""),
        Figure("summaries before the erasure", summaries, ""),
        Figure("erasure of one viewer", took, "s", 5),
        Figure("viewers erased", 1 + len(OTHERS), ""),
        Figure("texts rewritten by it", sum(report.rewritten.values()), "", MENTIONED_IN, at_least=True),
        Figure("bytes searched", sum(file.stat().st_size for file in _files(folder)), ""),
        Figure("files with a trace, before", before, "", 1, at_least=True),
        Figure("files with a trace, afterwards", left, "", 0),
        Figure("replies meanwhile", len(times), "", 20, at_least=True),
        Figure("reply's prompt meanwhile, p99", percentile(times, 0.99), "ms", 50),
        Figure("writes meanwhile", len(waits), "", 20, at_least=True),
        Figure("write meanwhile, p50", percentile(waits, 0.5), "ms", 50),
        Figure("write meanwhile, longest", max(waits), "ms", 2_000),
        *_wiped(report),
    ]


async def _erase(large: Memory, viewers: int) -> tuple[ErasureReport, float, list[float], list[float]]:
    """Erase while the bot replies; what it did, the seconds it took, and the ms of each prompt and write meanwhile."""
    times: list[float] = []
    waits: list[float] = []
    busy = [asyncio.create_task(_reply(large, viewers, times)), asyncio.create_task(_write(large.db, waits))]
    eraser = Eraser(db=large.db, clock=large.clock)
    started = perf_counter()
    report = await eraser.erase(viewer_id(GONE))
    took = perf_counter() - started
    for other in OTHERS:
        await eraser.erase(viewer_id(other))
    for task in busy:
        task.cancel()
    await asyncio.gather(*busy, return_exceptions=True)
    return report, took, times, waits


async def _mention(db: Database) -> None:
    """The viewer stands in other people's summaries, and uses a word of their own."""
    other = viewer_id(GONE + 1)
    async with db.write() as tx:
        await tx.execute(
            "UPDATE episodes SET summary = summary || ? WHERE id IN (SELECT e.id FROM episodes e JOIN episode_people p"
            " ON p.episode_id = e.id WHERE p.viewer_id <> ? ORDER BY e.id LIMIT ?)",
            (f" <@{viewer_id(GONE)}> played the {WORD} with <@{other}>.", viewer_id(GONE), MENTIONED_IN),
        )


async def _reply(large: Memory, viewers: int, times: list[float]) -> None:
    """Prompts for people who were not seen before and for those who were, until it is over."""
    dice = random.Random(5)  # noqa: S311  # the same in every run
    while True:
        times.append((await large.prompt(dice.randrange(10, viewers), "what did i tell you about the level"))[1].whole)
        await asyncio.sleep(PAUSE_S)


async def _write(db: Database, waits: list[float]) -> None:
    """What a command writes, several times a second."""
    while True:
        started = perf_counter()
        async with db.write() as tx:
            await channel_state.put(tx, {"title": f"write {len(waits)}"}, len(waits))
        waits.append((perf_counter() - started) * 1_000)
        await asyncio.sleep(WRITE_PAUSE_S)


def _wiped(report: ErasureReport) -> list[Figure]:
    return [Figure("deleted bytes wiped", int(report.wiped), "", 1, at_least=True)]


def _files(folder: Path) -> list[Path]:
    return [file for file in folder.rglob("*") if file.is_file()]


def _found(folder: Path) -> int:
    """In how many files a trace of them stands."""
    traces = [viewer_id(GONE).encode(), f"viewer_{GONE} ".encode(), f"viewer_{GONE}\0".encode(), WORD.encode()]
    return sum(any(trace in file.read_bytes() for trace in traces) for file in _files(folder))
