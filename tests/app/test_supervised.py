"""A bug in one part of the bot: told, survived, and the others never notice."""

import asyncio
from pathlib import Path

import pytest

from forgetmenot.app.bot import Bot, Myself, open_bot
from forgetmenot.app.no_account import NoAccount
from forgetmenot.clock import ManualClock
from forgetmenot.domain.action import Outcome, OutcomeKind
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.settings.schema import BotSettings, Mode, Settings

SETTINGS = Settings(bot=BotSettings(mode=Mode.MENTIONS, name="keeper"))


class Clumsy(NoAccount):
    """An account that stumbles over its first messages."""

    def __init__(self, stumbles: int) -> None:
        self.answers: list[str] = []
        self._stumbles = stumbles

    async def say(self, text: str, reply_to: str | None = None) -> Outcome:
        """Said, or a bug."""
        if self._stumbles:
            self._stumbles -= 1
            raise ZeroDivisionError
        if reply_to is not None:
            self.answers.append(text)
        return Outcome(OutcomeKind.DONE, twitch_id=f"t {text}")


class Mending:
    """Settings that cannot be read for a while."""

    def __init__(self) -> None:
        self.broken = False

    def __call__(self) -> Settings:
        """The settings, or a bug."""
        if self.broken:
            raise ZeroDivisionError
        return SETTINGS


def line(number: int, text: str, clock: ManualClock) -> ChatEvent:
    who = f"viewer{number}"
    return ChatEvent(f"m{number}", EventKind.MESSAGE, f"{number}", who, who.title(), text, clock.now())


async def until_stored(bot: Bot, count: int) -> None:
    async with asyncio.timeout(10):
        while await bot.db.value("SELECT count(*) FROM events") < count:  # noqa: ASYNC110  # the writer tells nobody
            await asyncio.sleep(0.02)


@pytest.mark.slow
async def test_a_bug_in_sending_costs_one_message(tmp_path: Path, clock: ManualClock) -> None:
    hands = Clumsy(1)
    me = Myself("99", "keeper")
    async with open_bot(
        tmp_path / "m.sqlite3", "test", settings=lambda: SETTINGS, clock=clock, account=hands, me=me
    ) as bot:
        for number in range(3):
            await bot.hear(line(number, "@keeper hello", clock))
            await bot.settle()
            await asyncio.sleep(1.1 if number == 0 else 0)
    assert len(hands.answers) == 2
    async with open_bot(
        tmp_path / "m.sqlite3", "test", settings=lambda: SETTINGS, clock=clock, account=hands, me=me
    ) as again:
        rows = await again.db.rows("SELECT status FROM bot_messages WHERE event_id NOT NULL ORDER BY id")
        assert [row[0] for row in rows] == ["unknown", "sent", "sent"]
        await again.hear(line(0, "@keeper hello", clock))
        await again.settle()
    assert len(hands.answers) == 2


@pytest.mark.slow
async def test_a_bug_in_writing_loses_no_line(tmp_path: Path, clock: ManualClock) -> None:
    settings = Mending()
    async with open_bot(tmp_path / "m.sqlite3", "test", settings=settings, clock=clock) as bot:
        settings.broken = True
        for number in range(5):
            bot.ingest.take(line(number, f"line {number}", clock))
        await asyncio.sleep(0.6)
        assert bot.ingest.waiting == 5
        settings.broken = False
        bot.ingest.take(line(5, "line 5", clock))
        await until_stored(bot, 6)
    assert bot.ingest.waiting == 0
