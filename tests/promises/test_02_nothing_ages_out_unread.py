"""Promise 2: before an event is pruned it is covered, redacted, or excluded by a rule that can be named."""

from collections.abc import Callable

import pytest

from forgetmenot.clock import DAY, HOUR, MINUTE, ManualClock
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.domain.model import ModelAnswer, ModelRequest
from forgetmenot.errors import ModelUnavailable
from forgetmenot.llm.offline.model import Offline
from forgetmenot.memory.compaction import Compactor
from forgetmenot.memory.hygiene import sweep
from forgetmenot.memory.ingest import Ingest
from forgetmenot.memory.streams import StreamBook
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import Settings
from forgetmenot.store import tally
from forgetmenot.store.database import Database

PER_MINUTE = 400


class Away:
    """A model that cannot be reached."""

    name = "away"

    async def generate(self, request: ModelRequest) -> ModelAnswer:  # noqa: ARG002  # a port's shape
        raise ModelUnavailable("The model cannot be reached.")

    async def aclose(self) -> None:
        """Nothing to give back."""


class Night:
    """A busy channel, its loops run by hand as the clock is moved."""

    def __init__(self, db: Database, clock: ManualClock, model: LanguageModel) -> None:
        settings = Settings()
        self.db, self.clock, self.settings = db, clock, lambda: settings
        self.book = StreamBook(db, self.settings)
        self.compactor = Compactor(db=db, model=model, settings=self.settings, clock=clock, book=self.book)
        self.lines = 0

    async def run(self, minutes: int) -> int:
        """Chat for so long, with a pass and a sweep every ten minutes; the run's id."""
        run_id = await tally.begin_run(self.db, "test", self.clock.now())
        ingest = Ingest(db=self.db, book=self.book, settings=self.settings, clock=self.clock, run_id=run_id)
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
        await sweep(db=self.db, compactor=self.compactor, settings=self.settings, clock=self.clock)


@pytest.mark.slow
@pytest.mark.parametrize("model", [Offline, Away])
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
    assert await tally.pruned_unread(db) == 0
    for run_id in runs:
        account = await tally.account(db, run_id)
        assert account.balanced
        assert account.events == account.covered == PER_MINUTE * 12
        assert account.uncovered == 0
    assert await db.value("SELECT count(*) FROM events") == 0


async def test_after_hours_without_a_model_it_reads_what_waited(db: Database, clock: ManualClock) -> None:
    night = Night(db, clock, Away())
    await night.run(10)
    await clock.advance(5 * HOUR)
    night = Night(db, clock, Offline())
    report = await night.compactor.run_pass()
    assert (report.counted, report.events, report.unread) == (0, PER_MINUTE * 10, 0)
