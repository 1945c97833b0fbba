"""Promise 1: a raw message is gone after 24 h, byte for byte, and summaries do not quote."""

import re
from pathlib import Path

import pytest

from forgetmenot.clock import DAY, HOUR, ManualClock
from forgetmenot.domain.chat import ChatEvent, EventKind, Redaction
from forgetmenot.llm.offline.model import Offline
from forgetmenot.logs import set_up
from forgetmenot.memory.compaction import Compactor
from forgetmenot.memory.hygiene import sweep
from forgetmenot.memory.ingest import Ingest
from forgetmenot.memory.streams import StreamBook
from forgetmenot.settings.schema import Settings
from forgetmenot.store import tally
from forgetmenot.store.database import open_database

LINES = 10_000
START = 20_000 * DAY


def known_line(number: int) -> str:
    """Words that occur nowhere else, in a line of the usual length."""
    return f"marker{number:05}x zebra{number:05}y moved to quagga{number:05}z today"


def event(number: int, at: int) -> ChatEvent:
    who = number % 200
    return ChatEvent(
        f"id-{number}", EventKind.MESSAGE, str(who), f"viewer{who}", f"Viewer{who}", known_line(number), at
    )


@pytest.mark.slow
async def test_no_byte_of_chat_is_left_after_a_day(tmp_path: Path) -> None:
    """10,000 known lines, some of them cleared, summarised, swept; then every file of the folder is searched."""
    set_up(level="debug", folder=tmp_path, console=False)
    clock, settings = ManualClock(START), Settings()
    async with open_database(tmp_path / "memory.sqlite3") as db:
        book = StreamBook(db, lambda: settings)
        run_id = await tally.begin_run(db, "test", START)
        ingest = Ingest(db=db, book=book, settings=lambda: settings, clock=clock, run_id=run_id)
        compactor = Compactor(db=db, model=Offline(), settings=lambda: settings, clock=clock, book=book)
        for number in range(LINES):
            await clock.advance(100)
            ingest.take(event(number, clock.now()), addressed=False)
            if number % 100 == 0:
                ingest.take(Redaction(at=clock.now(), event_id=f"id-{number}"))
            if number % 1_000 == 999:
                await ingest.flush()
        await compactor.run_pass(everything=True)
        ends = await db.value("SELECT max(seq) FROM events")
        assert ends == LINES
        await clock.advance(24 * HOUR + 1)
        report = await sweep(db=db, compactor=compactor, settings=lambda: settings, clock=clock, ingest=ingest)
        assert (report.pruned, report.unread, report.wiped) == (LINES, 0, True)
        account = await tally.account(db, run_id)
        assert account.balanced
        summaries = " ".join(row[0] for row in await db.rows("SELECT summary FROM episodes"))
        found = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert not re.search(rb"marker\d{5}x zebra", found)
    kept = {word.decode() for word in re.findall(rb"(?:marker|zebra|quagga)\d{5}[xyz]", found)}
    assert all(word in summaries for word in kept)
