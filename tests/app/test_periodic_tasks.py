"""Periodic work: on time, one failure at a time."""

import asyncio
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from forgetmenot.app.bot import Bot, BotIdentity, open_bot
from forgetmenot.app.periodic_tasks import PeriodicTask, PeriodicTasks, keep_going
from forgetmenot.clock import MINUTE, SECOND, ManualClock
from forgetmenot.domain import ChatEvent, Outcome
from forgetmenot.errors import ModelUnavailable
from forgetmenot.settings.schema import BotSettings, Mode, Settings
from tests.stage import RecordingAccount, said


class Bell:
    """A piece of work that counts, and fails while it has errors left."""

    def __init__(self, *errors: Exception) -> None:
        self.rung = 0
        self._errors = list(errors)

    async def ring(self) -> None:
        self.rung += 1
        if self._errors:
            raise self._errors.pop(0)


def task(bell: Bell) -> PeriodicTask:
    return PeriodicTask("bell", lambda: 3 * MINUTE, bell.ring)


@pytest.mark.parametrize("error", [ModelUnavailable("The model is away."), ZeroDivisionError()])
async def test_a_failure_is_told_once_tried_again_ever_later_and_stops_no_other(
    clock: ManualClock, error: Exception, capsys: pytest.CaptureFixture[str]
) -> None:
    bell, good = Bell(*[error] * 10), Bell()
    tasks = PeriodicTasks(clock, [task(bell), task(good)])
    waits = []
    for _ in range(10):
        await tasks.catch_up()
        waits.append(tasks.all[0].due_at - clock.now())
        await clock.move_to(tasks.all[0].due_at)
    assert tasks.all[0].trouble
    assert good.rung > 1
    assert waits == sorted(waits)
    assert (waits[0], waits[-1]) == (2 * SECOND, 3 * MINUTE), "never later than its period"
    assert capsys.readouterr().err.count("a task failed") <= 2
    await tasks.catch_up()
    assert not tasks.all[0].trouble


def test_a_clock_that_is_set_back_holds_up_no_chore() -> None:
    task = PeriodicTask("one", lambda: MINUTE, asyncio.Event().wait, due_at=5 * MINUTE)
    assert task.left(5 * MINUTE - 10) == 10
    assert task.left(-3 * 24 * 60 * MINUTE) == MINUTE


@pytest.mark.parametrize("error", [ModelUnavailable("The model is away."), ZeroDivisionError()])
async def test_a_part_that_fails_is_started_again(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    bell = Bell(error)
    part = asyncio.create_task(keep_going("bell", bell.ring, pause_s=0.001))
    while bell.rung < 3:  # noqa: ASYNC110  # the bell has no event
        await asyncio.sleep(0.001)
    part.cancel()
    with pytest.raises(asyncio.CancelledError):
        await part
    assert "part=bell" in capsys.readouterr().err


SETTINGS = Settings(bot=BotSettings(mode=Mode.MENTIONS, name="keeper"))


class Clumsy(RecordingAccount):
    """An account that stumbles over its first message."""

    stumbled = False

    async def say(self, text: str, reply_to: str | None = None) -> Outcome:
        """Said, or a bug."""
        if not self.stumbled:
            self.stumbled = True
            raise ZeroDivisionError
        return await super().say(text, reply_to)


def line(number: int, text: str, clock: ManualClock) -> ChatEvent:
    return said(clock, f"m{number}", f"{number}", f"viewer{number}", text)


@pytest.fixture
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """A part that failed is started again at once."""
    monkeypatch.setattr(keep_going, "__defaults__", (0.0,))


async def test_a_bug_in_sending_costs_one_message(tmp_path: Path, clock: ManualClock, no_pause: None) -> None:
    account = Clumsy()

    def opened() -> AbstractAsyncContextManager[Bot]:
        path, me = tmp_path / "m.sqlite3", BotIdentity("99", "keeper")
        return open_bot(path, settings=lambda: SETTINGS, clock=clock, account=account, me=me)

    async with opened() as bot:
        for number, asked in enumerate(("@keeper clip that!", "@keeper clip that!", "!privacy")):
            await bot.hear(line(number, asked, clock))
            await bot.settle()
            await clock.advance(MINUTE)  # the same words again sooner are not sent
    before = list(account.said)
    async with opened() as again:
        rows = await again.db.rows("SELECT status FROM bot_messages WHERE event_id NOT NULL ORDER BY id")
        assert [row[0] for row in rows] == ["unknown", "sent", "sent"]
        await again.hear(line(0, "@keeper clip that!", clock))
        await again.settle()
    assert account.said == before
