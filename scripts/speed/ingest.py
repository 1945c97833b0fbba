"""How fast chat goes in: through the bot's own ingest into a new memory, by its batches, a commit each."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from time import process_time

from forgetmenot.app.live import short_pauses
from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChatEvent
from forgetmenot.memory.ingest import Ingest
from forgetmenot.memory.stream_tracker import StreamTracker
from forgetmenot.settings.schema import Settings
from forgetmenot.store.database import Database, open_database
from speed.figures import Figure
from speed.invented import NOW, Invented
from speed.yardsticks import bare_events

ROUNDS = 2
PEOPLE = 10_000
# No more wait in memory (memory/ingest.MAXIMUM_WAITING).
TAKEN_AT_ONCE = 20_000
# 30,000 lines a second where bare SQLite takes 60,000 to 79,000
SHARE_OF_BARE = 0.38
FLAT = 0.9


def measure(folder: Path, lines: int) -> list[Figure]:
    """Events a second of processor time, in all and while the last are taken in; the best of some rounds."""
    chat = list(Invented().chat(lines, PEOPLE))
    best = []
    best_of_first = []
    best_of_last = []
    for number in range(ROUNDS):
        took = asyncio.run(through_ingest(folder / f"{number}.sqlite3", chat))
        best.append(lines / sum(took))
        best_of_first.append(TAKEN_AT_ONCE / took[0])
        best_of_last.append(TAKEN_AT_ONCE / took[-1])
    bare = bare_events(folder / "bare.sqlite3", chat)
    unit = "events/CPU-s"
    beside = "of bare SQLite"
    last = f"ingest, the last {TAKEN_AT_ONCE:,}"
    return [
        Figure("bare SQLite, the same lines", bare, unit),
        Figure("ingest", max(best), unit),
        Figure(
            "ingest, beside", max(best) / bare, beside, SHARE_OF_BARE, at_least=True
        ),
        Figure(last, max(best_of_last), unit),
        Figure(
            f"{last}, beside the first",
            max(best_of_last) / max(best_of_first),
            "",
            FLAT,
            at_least=True,
        ),
    ]


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


async def through_ingest(path: Path, chat: list[ChatEvent]) -> list[float]:
    """The seconds of processor time of each TAKEN_AT_ONCE lines."""
    took = []
    async with open_database(path) as db:
        # as in the running bot: else the garbage collector walks over the chat that is not taken in yet
        with short_pauses():
            for first in range(0, len(chat), TAKEN_AT_ONCE):
                took.append(await take_in(db, chat[first : first + TAKEN_AT_ONCE]))
        stored = await db.value("SELECT count(*) FROM events")
    if stored != len(chat):
        raise SystemExit(f"{stored} of {len(chat)} events were stored")
    return took
