"""Promise 2: before an event is pruned it is covered, redacted, or excluded by a rule that can be named."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from forgetmenot.app.bot import open_bot
from forgetmenot.clock import DAY, HOUR, MINUTE, ManualClock, SystemClock
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.errors import ModelUnavailable
from forgetmenot.llm.offline import Offline
from forgetmenot.memory.compaction import Compactor
from forgetmenot.memory.ingest import Ingest
from forgetmenot.memory.retention import sweep_chat
from forgetmenot.memory.stream_tracker import StreamTracker
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import Settings
from forgetmenot.store import run_stats
from forgetmenot.store.database import Database
from tests.notes_world import Scripted

PER_MINUTE = 400


def away() -> Scripted:
    """A model that cannot be reached."""
    return Scripted(ModelUnavailable("The model cannot be reached."))


class Night:
    """A busy channel, its loops run by hand as the clock is moved."""

    def __init__(self, db: Database, clock: ManualClock, model: LanguageModel) -> None:
        settings = Settings()
        self.db, self.clock, self.settings = db, clock, lambda: settings
        self.stream_tracker = StreamTracker(db, self.settings)
        self.compactor = Compactor(
            db=db, model=model, settings=self.settings, clock=clock, stream_tracker=self.stream_tracker
        )
        self.lines = 0

    async def run(self, minutes: int) -> int:
        """Chat for so long, with a pass and a sweep every ten minutes; the run's id."""
        run_id = await run_stats.begin_run(self.db, "test", self.clock.now())
        ingest = Ingest(
            db=self.db, stream_tracker=self.stream_tracker, settings=self.settings, clock=self.clock, run_id=run_id
        )
        await ingest.open()
        for minute in range(minutes):
            for i in range(PER_MINUTE):
                self.lines += 1
                at = self.clock.now() + i
                who = f"{self.lines % 60}"
                text = "KEKW" if self.lines % 3 else f"line {self.lines}"
                ingest.take(
                    ChatEvent(f"m{self.lines}", EventKind.MESSAGE, who, f"viewer{who}", who, text, at), addressed=False
                )
            await self.clock.advance(MINUTE)
            await ingest.flush()
            if minute % 10 == 9:
                await self.compactor.run_pass()
                await self.sweep()
        return run_id

    async def sweep(self) -> None:
        await sweep_chat(db=self.db, compactor=self.compactor, settings=self.settings, clock=self.clock)


@pytest.mark.slow
@pytest.mark.parametrize("model", [Offline, away])
async def test_a_busy_night_and_days_away_lose_nothing(
    db: Database, clock: ManualClock, model: Callable[[], LanguageModel]
) -> None:
    """400 lines a minute, a restart with unread lines, then the program is off for three days."""
    runs: list[int] = []
    for _ in range(2):
        night = Night(db, clock, model())
        night.lines = len(runs) * 100_000
        runs.append(await night.run(12))
    await clock.advance(3 * DAY)
    await Night(db, clock, model()).sweep()
    assert await run_stats.pruned_unread(db) == 0
    for run_id in runs:
        account = await run_stats.line_counts(db, run_id)
        assert account.balanced
        assert account.events == account.covered == PER_MINUTE * 12
        assert account.uncovered == 0
    assert await db.value("SELECT count(*) FROM events") == 0


async def test_after_hours_without_a_model_it_reads_what_waited(db: Database, clock: ManualClock) -> None:
    night = Night(db, clock, away())
    await night.run(10)
    await clock.advance(5 * HOUR)
    night = Night(db, clock, Offline())
    report = await night.compactor.run_pass()
    assert (report.counted, report.events, report.unread) == (0, PER_MINUTE * 10, 0)


async def test_a_clock_that_is_ahead_at_start_costs_no_chat_and_no_note(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The PC is three days ahead, and Twitch has not yet said what time it is."""
    path = tmp_path / "m.sqlite3"
    real = time.time_ns() // 1_000_000
    await clock.move_to(real)
    async with open_bot(path, "test", settings=Settings, clock=clock) as bot:
        bot.ingest.take(ChatEvent("m1", EventKind.MESSAGE, "1", "alice", "Alice", "what a level", clock.now()))
        await bot.ingest.flush()
        async with bot.db.write() as tx:
            await tx.execute(
                "INSERT INTO semantic_notes (scope, fact, confidence, source_kind, created_at, last_confirmed_at,"
                " expires_at) VALUES ('channel', 'plays a level', 0.9, 'observed', ?, ?, ?)",
                (real, real, real + DAY),
            )
            await tx.execute("UPDATE viewers SET banned_at = ?", (real - 6 * DAY,))
    monkeypatch.setattr(time, "time_ns", lambda: (real + 3 * DAY) * 1_000_000)
    ahead = SystemClock()
    async with open_bot(path, "test", settings=Settings, clock=ahead) as bot:
        for task in bot.tasks.all:
            await bot.tasks.do(task.name)
        assert [row[0] for row in await bot.db.rows("SELECT text FROM events")] == ["what a level"]
        assert await bot.db.value("SELECT count(*) FROM episodes WHERE kind = 'counted'") == 0
        assert await bot.db.value("SELECT status FROM semantic_notes") == "active"
        for _ in range(15):
            ahead.observe(real + 3 * DAY)  # it was right after all
        for task in bot.tasks.all:
            await bot.tasks.do(task.name)
        assert await bot.db.value("SELECT count(*) FROM events") == 0
        assert await bot.db.value("SELECT status FROM semantic_notes") == "expired"
