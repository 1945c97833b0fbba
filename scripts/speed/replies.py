"""How long recall and the prompt of one reply take, in a small memory and in one 200 times its size.

And whether the event loop is held meanwhile. Both memories are open at once and asked in turn, so that whatever else
the machine does falls on both. The viewers compared are known equally well (19 notes each); among those not seen
before are also some about whom as much is known as the settings allow. Every call counts, each with words not asked
before; a percentile is over all of them.
"""

import asyncio
import contextlib
import json
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import median
from time import perf_counter

from forgetmenot.app.interpreter import short_pauses
from forgetmenot.clock import ManualClock
from forgetmenot.domain.model import Prompt
from forgetmenot.memory.copies.notes_in import import_notes
from forgetmenot.memory.ingest import Ingest
from forgetmenot.memory.recall import Recall
from forgetmenot.memory.streams import StreamBook
from forgetmenot.prompt.assemble import assemble
from forgetmenot.prompt.material import Prefix
from forgetmenot.reply.gather import Gatherer
from forgetmenot.reply.prefix import PrefixKeeper
from forgetmenot.reply.triggers import Conversations, Identity, trigger_of
from forgetmenot.settings.schema import Settings
from forgetmenot.store import tally
from forgetmenot.store.database import Database, open_database
from speed.figures import Figure, percentile
from speed.invented import NOTES_AT_MOST, NOTES_EACH, NOW, Invented
from speed.loop import LoopWatch

BOT = Identity("1", "keeper", "Keeper")
CHANNEL_NOTES = 40
WARM_VIEWERS = 40
WARM_ROUNDS = 15
LINES = 10_000


@dataclass(frozen=True, slots=True)
class Memory:
    """One memory with what answers from it."""

    db: Database
    clock: ManualClock
    settings: Settings
    recall: Recall
    gatherer: Gatherer
    prefix: Prefix

    async def forgetful(self) -> "Memory":
        """The same memory with nothing kept of anybody's notes; who is around is known."""
        recall = Recall(db=self.db, settings=lambda: self.settings, clock=self.clock)
        await recall.people_in("hello")
        return replace(self, recall=recall, gatherer=Gatherer(db=self.db, recall=recall, clock=self.clock))

    async def prompt(self, who: int, text: str) -> tuple[Prompt, float]:
        """The prompt for what somebody says to the bot now, and the ms it took."""
        event = _dice.event(who, self.clock.now(), f"@keeper {text}")
        trigger = trigger_of(event, BOT, Conversations({}), self.settings, event.at)
        assert trigger is not None  # noqa: S101  # it is a mention
        started = perf_counter()
        material = await self.gatherer.tail(trigger, self.settings, nonce="abcd", bot_id=BOT.user_id)
        prompt = assemble(self.prefix, material, self.settings)
        return prompt, (perf_counter() - started) * 1_000


_dice = Invented(11)


@contextlib.asynccontextmanager
async def memory(path: Path, viewers: int, regulars: int, lines: int) -> AsyncIterator[Memory]:
    """A memory of that many viewers, with a day of chat in it."""
    settings, clock, made = Settings(), ManualClock(NOW), Invented()
    async with open_database(path) as db:
        channel = ({"scope": "channel", "fact": made.fact()} for _ in range(CHANNEL_NOTES))
        known = (json.dumps(line) for notes in (made.notes(viewers, regulars), channel) for line in notes)
        report = await import_notes(db, known, now=NOW, filtered=False)
        if report.refused:
            raise SystemExit(f"an invented note was refused: {report.refused[0]}")
        await _chat(db, clock, settings, lines, viewers)
        recall = Recall(db=db, settings=lambda: settings, clock=clock)
        keeper = PrefixKeeper(db=db, recall=recall, settings=lambda: settings, clock=clock, model="bench")
        gatherer = Gatherer(db=db, recall=recall, clock=clock)
        yield Memory(db, clock, settings, recall, gatherer, await keeper.current())


async def _chat(db: Database, clock: ManualClock, settings: Settings, lines: int, viewers: int) -> None:
    book = StreamBook(db, lambda: settings)
    run_id = await tally.begin_run(db, "bench", clock.now())
    ingest = Ingest(db=db, book=book, settings=lambda: settings, clock=clock, run_id=run_id)
    await ingest.open()
    for event in Invented(5).day(lines, viewers):
        ingest.take(event)
    await ingest.flush()


def measure(folder: Path, notes: int) -> list[Figure]:
    """The times of replies in a memory with so many notes, and beside it in one with 1,000."""
    return asyncio.run(_measure(folder, notes))


async def _measure(folder: Path, notes: int) -> list[Figure]:
    viewers = notes // 20
    async with (
        memory(folder / "small.sqlite3", 50, 0, LINES) as small,
        memory(folder / "large.sqlite3", viewers, _regulars(viewers), LINES) as large,
    ):
        with short_pauses():
            return await _figures(small, large, viewers)


async def _figures(small: Memory, large: Memory, viewers: int) -> list[Figure]:
    count = await large.db.value("SELECT count(*) FROM semantic_notes")
    cold = await _cold(large, viewers)
    first, then = await _warm(small, large, viewers)
    async with LoopWatch() as watch:
        await _cold(large, viewers)
    return [
        Figure("notes in the large memory", count, ""),
        Figure("replies asked for, warm", len(then), ""),
        Figure("reply's prompt, warm, p50", median(then), "ms"),
        Figure("reply's prompt, warm, p99", percentile(then, 0.99), "ms", 5),
        Figure("reply's prompt, viewer not seen before, p50", median(cold), "ms"),
        Figure("reply's prompt, viewer not seen before, p99", percentile(cold, 0.99), "ms", 60),
        Figure("large memory / 1,000 notes, warm", median(then) / median(first), "", 1.3),
        Figure("event loop held, most", watch.most_ms, "ms", 10),
    ]


async def _cold(large: Memory, viewers: int) -> list[float]:
    """Everybody who is known best, and a hundred others."""
    dice = random.Random(3)  # noqa: S311  # the same in every run
    regulars = _regulars(viewers)
    times: list[float] = []
    for who in (*range(regulars), *dice.sample(range(regulars, viewers), 100)):
        nobody_known = await large.forgetful()
        times.append((await nobody_known.prompt(who, _dice.line()))[1])
    return times


async def _warm(small: Memory, large: Memory, viewers: int) -> tuple[list[float], list[float]]:
    """The same people over and over, in both memories in turn; everybody once beforehand."""
    first: list[float] = []
    then: list[float] = []
    people = [(number, viewers // 2 + number) for number in range(WARM_VIEWERS)]
    for in_small, in_large in people:
        await small.prompt(in_small, "hello")
        await large.prompt(in_large, "hello")
    for _ in range(WARM_ROUNDS):
        for in_small, in_large in people:
            text = _dice.line()
            first.append((await small.prompt(in_small, text))[1])
            then.append((await large.prompt(in_large, text))[1])
    return first, then


def _regulars(viewers: int) -> int:
    """How many have as many notes as may be, where one in twenty notes is theirs."""
    return viewers // (NOTES_AT_MOST - NOTES_EACH)
