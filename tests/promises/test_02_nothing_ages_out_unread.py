"""Promise 2: before an event is pruned it is covered, redacted, or excluded by a rule that can be named."""

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from forgetmenot.app.bot import open_bot
from forgetmenot.clock import ManualClock, SystemClock
from forgetmenot.domain import ChatEvent, EventKind
from forgetmenot.durations import DAY, MINUTE
from forgetmenot.errors import ModelUnavailable
from forgetmenot.llm.offline import Offline
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import Settings
from forgetmenot.store.counts import line_counts
from forgetmenot.store.database import Database
from tests.memory.conftest import Channel, open_channel
from tests.notes_world import Scripted
from tests.rows import put

PER_MINUTE = 400


def away() -> Scripted:
    """A model that cannot be reached."""
    return Scripted(ModelUnavailable("The model cannot be reached."))


async def busy(channel: Channel, minutes: int) -> None:
    """Chat for so long, with a pass and a sweep every ten minutes."""
    for minute in range(minutes):
        for i in range(PER_MINUTE):
            text = "KEKW" if i % 3 else f"line {minute} {i}"
            channel.say(f"viewer{i % 60}", text, at=channel.clock.now() + i)
        await channel.clock.advance(MINUTE)
        await channel.ingest.flush()
        if minute % 10 == 9:
            await channel.compactor.run_pass()
            await channel.sweep()


@pytest.mark.slow
@pytest.mark.parametrize("model", [Offline, away])
async def test_a_busy_night_and_days_away_lose_nothing(
    db: Database, clock: ManualClock, model: Callable[[], LanguageModel]
) -> None:
    """400 lines a minute, a restart with unread lines, then the program is off for three days."""
    for _ in range(2):
        channel = await open_channel(db, clock, Settings(), model())
        await busy(channel, 12)
    await clock.advance(3 * DAY)
    await (await open_channel(db, clock, Settings(), model())).sweep()
    account = await line_counts(db)
    assert account.pruned_unread == 0
    assert account.balanced
    assert account.events == account.covered == 2 * PER_MINUTE * 12
    assert account.uncovered == 0
    assert await db.value("SELECT count(*) FROM events") == 0


async def test_a_clock_that_is_ahead_at_start_costs_no_chat_and_no_note(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The PC is three days ahead, and Twitch has not yet said what time it is."""
    path = tmp_path / "m.sqlite3"
    real = time.time_ns() // 1_000_000
    await clock.move_to(real)
    async with open_bot(path, settings=Settings, clock=clock) as bot:
        bot.ingest.take(
            ChatEvent(
                "m1",
                EventKind.MESSAGE,
                "1",
                "alice",
                "Alice",
                "what a level",
                clock.now(),
            )
        )
        await bot.ingest.flush()
        async with bot.db.write() as tx:
            note = {
                "scope": "channel",
                "fact": "plays a level",
                "source_kind": "observed",
                "created_at": real,
            }
            await put(
                tx,
                "semantic_notes",
                **note,
                last_confirmed_at=real,
                expires_at=real + DAY,
            )
            await tx.execute("UPDATE viewers SET banned_at = ?", (real - 6 * DAY,))
    monkeypatch.setattr(time, "time_ns", lambda: (real + 3 * DAY) * 1_000_000)
    ahead = SystemClock()
    async with open_bot(path, settings=Settings, clock=ahead) as bot:
        for task in bot.tasks.all:
            await bot.tasks.do(task.name)
        assert [row[0] for row in await bot.db.rows("SELECT text FROM events")] == [
            "what a level"
        ]
        assert (
            await bot.db.value("SELECT count(*) FROM episodes WHERE kind = 'counted'")
            == 0
        )
        assert await bot.db.value("SELECT status FROM semantic_notes") == "active"
        for _ in range(15):
            ahead.observe(real + 3 * DAY)  # it was right after all
        for task in bot.tasks.all:
            await bot.tasks.do(task.name)
        assert await bot.db.value("SELECT count(*) FROM events") == 0
        assert await bot.db.value("SELECT status FROM semantic_notes") == "expired"
