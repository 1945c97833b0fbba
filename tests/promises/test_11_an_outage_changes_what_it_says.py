"""Promise 11: an outage changes what the bot says, never what it keeps."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import NoReturn

import pytest

from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.app.control import BotControl, ConnectionStatus
from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChatEvent
from forgetmenot.errors import StoreError
from forgetmenot.languages import in_language, read_reason
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import ModelSettings, Provider, Settings
from tests.loopback_servers.model_server import raw
from tests.loopback_servers.openai import SimOpenAI
from tests.stage import said

LINES = 50
DOWN = raw("down for maintenance", status=503)


@pytest.fixture
async def server() -> AsyncIterator[SimOpenAI]:
    async with SimOpenAI() as running:
        yield running


def asking(server: SimOpenAI) -> Settings:
    """Settings whose model is that server, asked once."""
    return Settings(
        model=ModelSettings(
            provider=Provider.OPENAI_COMPATIBLE, base_url=server.url, memory_timeout_s=5
        )
    )


def line(clock: ManualClock, number: int, text: str) -> ChatEvent:
    return said(clock, f"m{number}", f"id-{number % 5}", f"viewer{number % 5}", text)


async def chat(bot: Bot, clock: ManualClock, lines: int = LINES) -> None:
    for number in range(lines):
        await clock.advance(1_000)
        await bot.hear(line(clock, number, f"what a level, try number {number}"))
    await bot.settle()


async def unread(bot: Bot) -> int:
    return int(
        await bot.db.value("SELECT count(*) FROM events WHERE episode_id IS NULL")
    )


@pytest.mark.slow
async def test_without_a_model_it_goes_quiet_with_a_reason_and_remembers_everything_for_later(
    tmp_path: Path, clock: ManualClock, server: SimOpenAI
) -> None:
    path = tmp_path / "m.sqlite3"
    settings = asking(server)
    async with open_bot(path, settings=lambda: settings, clock=clock) as bot:
        server.fail(DOWN, times=100)
        await chat(bot, clock)
        await bot.hear(line(clock, 99, "@ForgetMeNot how many tries was that?"))
        await bot.settle()
        row = await bot.db.row("SELECT status, text, detail FROM bot_messages")
        assert row is not None
        assert (row["status"], row["text"]) == ("silent", "")
        assert read_reason(row["detail"]) == "The model server is having trouble (503)."
        await bot.memory_pass()
        assert bot.memory_trouble
        assert await unread(bot) == LINES + 1
        await bot.wind_down()  # it does not answer to the end either
        assert await unread(bot) == LINES + 1
    async with open_bot(path, settings=Settings, clock=clock) as bot:
        await bot.remember_all()
        assert await unread(bot) == 0
        assert await bot.db.value("SELECT sum(events) FROM episodes") == LINES + 1


async def test_a_backlog_and_a_model_that_hangs_keep_no_bot_from_the_chat(
    tmp_path: Path, clock: ManualClock, server: SimOpenAI
) -> None:
    """What is said while the memory catches up would be lost: the bot is there first, and reads what is left then."""

    async def hang(_asked: object) -> NoReturn:
        await asyncio.Event().wait()
        raise AssertionError

    path = tmp_path / "m.sqlite3"
    settings = asking(server)
    async with open_bot(path, settings=lambda: settings, clock=clock) as bot:
        await chat(bot, clock)
    server.fail(hang, times=1_000)
    async with (
        asyncio.timeout(60),
        open_bot(path, settings=lambda: settings, clock=clock) as bot,
    ):
        await bot.hear(line(clock, 99, "is anybody there?"))
        await bot.settle()
        assert await unread(bot) == LINES + 1


@pytest.mark.parametrize("words", ["is full", "held by another program"])
async def test_without_a_disk_it_says_so_and_writes_later_what_it_heard_meanwhile(
    tmp_path: Path, clock: ManualClock, words: str
) -> None:
    async with open_bot(tmp_path / "m.sqlite3", settings=Settings, clock=clock) as bot:
        await chat(bot, clock, 3)
        async with no_disk(bot, full=words == "is full"):
            for number in range(3, 400):
                await bot.hear(line(clock, number, "x" * 400))
            with pytest.raises(StoreError, match=words):
                await bot.ingest.flush()
            assert words in bot.ingest.trouble
            trouble = (
                BotControl(bot, LiveSettings(Settings()), ConnectionStatus())
                .state()
                .memory_trouble
            )
            assert trouble == bot.ingest.trouble  # the dock's first line
            assert words not in in_language("de").reason(trouble)
            assert await bot.db.value("SELECT count(*) FROM events") == 3
        await bot.ingest.flush()
        assert bot.ingest.trouble == ""
        ids = [
            row[0] for row in await bot.db.rows("SELECT id FROM events ORDER BY seq")
        ]
        assert ids == [f"m{number}" for number in range(400)]


@asynccontextmanager
async def no_disk(bot: Bot, *, full: bool) -> AsyncIterator[None]:
    """A database that may not grow, or that another program holds and does not let go of."""
    writer = bot.db._writer
    connection = sqlite3.connect(
        bot.db.path, isolation_level=None, check_same_thread=False
    )
    with closing(connection) as other:
        if full:
            await writer.execute_fetchall(
                "PRAGMA max_page_count = 1"
            )  # SQLite makes it the present size
        else:
            await writer.execute_fetchall("PRAGMA busy_timeout = 10")
            # In a thread: the bot may be in the middle of a write, which ends only if the loop goes on.
            await asyncio.to_thread(other.execute, "BEGIN IMMEDIATE")
        yield
    await writer.execute_fetchall("PRAGMA max_page_count = 1000000")
