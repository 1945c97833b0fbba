"""How fast chat goes in: through the bot's own ingest into a new memory, by its batches, a commit each."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from time import process_time

from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChatEvent
from forgetmenot.memory.ingest import Ingest
from forgetmenot.memory.stream_tracker import StreamTracker
from forgetmenot.settings.schema import Settings
from forgetmenot.store.database import Database, open_database
from speed.figures import Figure
from speed.invented import NOW, Invented

ROUNDS = 2
PEOPLE = 10_000


def measure(folder: Path, lines: int) -> list[Figure]:
    """Events a second of processor time; the best of some rounds."""
    chat = list(Invented().chat(lines, PEOPLE))
    took = [
        asyncio.run(_through_ingest(folder / f"{number}.sqlite3", chat))
        for number in range(ROUNDS)
    ]
    return [Figure("ingest", lines / min(took), "events/CPU-s", 10_000, at_least=True)]


async def take_in(db: Database, chat: Iterable[ChatEvent]) -> float:
    """Store this chat in a run of its own; the seconds of processor time it took."""
    ingest = Ingest(
        db=db,
        stream_tracker=StreamTracker(db),
        settings=Settings,
        clock=ManualClock(NOW),
    )
    began = process_time()
    for event in chat:
        ingest.take(event)
    await ingest.flush()
    return process_time() - began


async def _through_ingest(path: Path, chat: list[ChatEvent]) -> float:
    async with open_database(path) as db:
        took = await take_in(db, chat)
        stored = await db.value("SELECT count(*) FROM events")
    if stored != len(chat):
        raise SystemExit(f"{stored} of {len(chat)} events were stored")
    return took
