"""How long the bot needs for a day of chat that it has not read, at three seconds a call, and what that costs the loop.

Chat of 400 lines a minute is summarised and read for notes by a model that answers after a tenth of that time and names
NAMED people of each window. What is computed counts as it is, what is waited for ten times.
"""

import asyncio
import json
import random
import re
from pathlib import Path
from time import perf_counter, process_time

from msgspec.structs import replace

from forgetmenot.app.live import short_pauses
from forgetmenot.clock import ManualClock
from forgetmenot.domain import ModelAnswer, ModelRequest, Purpose, TokenUsage
from forgetmenot.durations import HOUR, MINUTE
from forgetmenot.llm.guarded import Limits
from forgetmenot.memory.compaction import Compactor
from forgetmenot.memory.extraction import Extractor
from forgetmenot.memory.ingest import Ingest
from forgetmenot.memory.stream_tracker import StreamTracker
from forgetmenot.settings.schema import Settings
from forgetmenot.store.database import Database, open_database
from speed.figures import Figure
from speed.invented import NOW, Invented
from speed.replies import loop_watched

LINES_A_MINUTE = 400
PEOPLE = 500
NAMED = 4
CALL_S = 3.0
FASTER = 10
# As often as the bot looks for summaries that were written meanwhile (app/bot).
LOOKS_EVERY_S = 20.0
_HANDLE = re.compile(r"^(P\d+):", re.MULTILINE)


class _Slow:
    """A model that takes its time. It writes of the people who stand in its prompt."""

    name = "slow"

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(Limits().at_once)
        self._invented = Invented(17)
        self._dice = random.Random(17)  # noqa: S311  # the same in every run

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer after as long as a real model takes."""
        async with self._places:
            await asyncio.sleep(CALL_S / FASTER)
        answer: object = self._summary(request.prompt)
        if request.purpose is Purpose.EXTRACT:
            answer = self._notes(request.prompt)
        return ModelAnswer(json.dumps(answer), self.name, TokenUsage())

    def _summary(self, prompt: str) -> dict[str, str]:
        """Invent a fact of some of the people who speak."""
        speakers = sorted(set(_HANDLE.findall(prompt)))
        handles = self._dice.sample(speakers, min(NAMED, len(speakers)))
        sentences = [f"{handle} {self._invented.fact()}." for handle in handles]
        return {"summary": " ".join(sentences)}

    def _notes(self, prompt: str) -> dict[str, list[dict[str, str]]]:
        """Invent a note of each of the first two people."""
        handles = sorted(set(re.findall(r"\bP\d+\b", prompt)))
        notes = []
        for handle in handles[:2]:
            fact = self._invented.fact()
            notes.append({"who": handle, "fact": fact, "lifetime": "permanent"})
        return {"notes": notes}

    async def aclose(self) -> None:
        """Nothing to close."""


async def measure(folder: Path, lines: int) -> list[Figure]:
    """The hours that a day would take, from so many lines of it."""
    clock = ManualClock(NOW)
    late_ms: list[float] = []
    async with open_database(folder / "behind.sqlite3") as db:
        await _take_in(db, clock, lines)
        began = perf_counter()
        began_cpu = process_time()
        with short_pauses():
            async with loop_watched(late_ms):
                summarised = await _read_all(db, clock)
        whole = perf_counter() - began
        computed = process_time() - began_cpu
        unread = await db.value("SELECT count(*) FROM events WHERE episode_id IS NULL")
        without_notes = await db.value(
            "SELECT count(*) FROM episodes WHERE kind <> 'chat' OR extracted_at IS NULL"
        )
    a_day = 24 * HOUR // MINUTE * LINES_A_MINUTE / lines / 3_600
    share_waited = max(0.0, whole - computed) / whole
    summarised *= share_waited * FASTER + 1 - share_waited
    whole *= share_waited * FASTER + 1 - share_waited
    name = "24 h at 400 lines a minute"
    return [
        Figure(f"{name}: summarised", summarised * a_day, "h", 4),
        Figure(f"{name}: read for notes", whole * a_day, "h", 4),
        Figure(f"{name}: lines left unread", unread, "", 0),
        Figure(f"{name}: windows counted or not read", without_notes, "", 0),
        Figure(f"{name}: event loop held, most", max(late_ms), "ms"),
    ]


async def _take_in(db: Database, clock: ManualClock, lines: int) -> None:
    """Store chat of so many lines, the last of which was said now."""
    ingest = Ingest(
        db=db,
        stream_tracker=StreamTracker(db),
        settings=Settings,
        clock=clock,
    )
    for number, event in enumerate(Invented(3).chat(lines, PEOPLE)):
        at = NOW - (lines - number) * MINUTE // LINES_A_MINUTE
        ingest.take(replace(event, at=at))
    await ingest.flush()


async def _read_all(db: Database, clock: ManualClock) -> float:
    """Summarise everything, and read it for notes meanwhile, as the bot does; the seconds until all was summarised."""
    model = _Slow()
    compactor = Compactor(
        db=db,
        model=model,
        settings=Settings,
        clock=clock,
        stream_tracker=StreamTracker(db),
    )
    extractor = Extractor(
        db=db,
        model=model,
        settings=Settings,
        clock=clock,
    )

    async def summarise() -> float:
        """Summarise all chat; return how many seconds that took."""
        began = perf_counter()
        await compactor.run_pass(everything=True)
        return perf_counter() - began

    compacting = asyncio.create_task(summarise())
    while not compacting.done():
        await asyncio.wait([compacting], timeout=LOOKS_EVERY_S / FASTER)
        if not compacting.done():
            await extractor.run_pass()
    await extractor.run_pass()
    return await compacting
