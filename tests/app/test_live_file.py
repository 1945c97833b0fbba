"""The memory's file while the bot runs: its locks stay, and nobody can take the file away unnoticed."""

import contextlib
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.app.control import BotControl, ConnectionStatus
from forgetmenot.app.periodic_tasks import PeriodicTask
from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChatEvent, EventKind
from forgetmenot.durations import HOUR, MINUTE, SECOND
from forgetmenot.errors import InputError
from forgetmenot.files import read_blocks
from forgetmenot.hearing.sources import CaptionFile
from forgetmenot.memory.backups import Backups
from forgetmenot.memory.edits import remember
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import Settings
from forgetmenot.store.backup import copies_of, files_put_aside
from tests import proc
from tests.stage import until

posix = pytest.mark.skipif(
    sys.platform == "win32", reason="Windows deletes no file that is open"
)
linux = pytest.mark.skipif(
    not proc.LINUX, reason="the system does not say who holds a lock"
)
ALICE = "1"


def line(number: int, at: int) -> ChatEvent:
    return ChatEvent(
        f"m{number}",
        EventKind.MESSAGE,
        ALICE,
        "alice",
        "Alice",
        f"run {number} went well",
        at,
    )


def control_of(bot: Bot) -> BotControl:
    return BotControl(bot, LiveSettings(Settings()), ConnectionStatus())


def locks(bot: Bot) -> tuple[int, int]:
    """Return the locks on the memory and on its index."""
    path = bot.db.path
    return proc.locks_on(path), proc.locks_on(path.with_name(f"{path.name}-shm"))


def rows_in(path: Path, sql: str) -> list[str]:
    """Return the first column of what another program sees."""
    with contextlib.closing(sqlite3.connect(path)) as other:
        return [str(row[0]) for row in other.execute(sql)]


@linux
async def test_checking_everything_from_the_dock_keeps_the_locks(bot: Bot) -> None:
    before = locks(bot)
    assert min(before) > 0
    checks = await control_of(bot).checks(everything=True)
    assert [check.state for check in checks if check.name == "Memory"] == ["ok"]
    assert locks(bot) == before


@linux
async def test_no_periodic_task_backup_or_erasure_takes_the_locks(
    bot: Bot, clock: ManualClock
) -> None:
    before = locks(bot)
    copies = Backups(db=bot.db, settings=Settings, clock=clock)
    bot.tasks.all.append(PeriodicTask("backups", MINUTE, copies.run_pass))
    bot.ingest.take(line(1, clock.now()))
    await bot.settle()
    await bot.privacy.erase(ALICE)
    await bot.eraser.idle()
    for task in bot.tasks.all:
        await task.do(clock.now())
        assert (task.name, task.trouble) == (task.name, "")
        # a connection that is reading has more for a moment; locks that were dropped do not come back
        await until(lambda: locks(bot) == before)
    assert len(copies_of(bot.db.path)) == 1


@linux
async def test_captions_that_are_named_as_the_memory_itself_are_not_opened(
    bot: Bot,
) -> None:
    before = locks(bot)
    for path in (bot.db.path, bot.db.path.with_name(f"{bot.db.path.name}-shm")):
        with pytest.raises(InputError, match="caption program"):
            CaptionFile(path).look()
    assert locks(bot) == before


def removed(path: Path) -> None:
    path.unlink()


def replaced_by_an_older_copy(path: Path) -> None:
    path.with_name("older").replace(path)


def without_its_log(path: Path) -> None:
    path.with_name(f"{path.name}-wal").unlink()


@posix
@pytest.mark.parametrize("harm", [removed, replaced_by_an_older_copy, without_its_log])
async def test_a_file_that_another_program_takes_away_is_put_back_and_reported(
    tmp_path: Path, clock: ManualClock, harm: Callable[[Path], None]
) -> None:
    path = tmp_path / "memory.sqlite3"
    async with open_bot(path, settings=Settings, clock=clock) as bot:
        bot.ingest.take(line(1, clock.now()))
        await bot.settle()
        await remember(bot.db, ALICE, "plays the harp", by=ALICE, at=clock.now())
        path.with_name("older").write_bytes(b"".join(read_blocks(path, 1 << 16)))
        bot.ingest.take(line(2, clock.now()))
        await bot.settle()
        harm(path)
        bot.ingest.take(line(3, clock.now()))
        await clock.advance(SECOND)
        await bot.tasks.do("memory file")
        await bot.settle()
        assert rows_in(path, "SELECT id FROM events ORDER BY seq") == ["m1", "m2", "m3"]
        state = control_of(bot).state()
        assert "put its own memory back" in state.file_trouble
        assert str(tmp_path) in state.file_trouble
        assert state.task_troubles == ()
        checks = await control_of(bot).checks(everything=False)
        assert [check.state for check in checks if check.name == "Memory file"] == [
            "bad"
        ]
        assert files_put_aside(path) == []
        assert rows_in(copies_of(path)[0], "SELECT fact FROM semantic_notes") == [
            "plays the harp"
        ]
        assert len(copies_of(path)) == (1 if harm is removed else 2)
        await clock.advance(HOUR + MINUTE)
        await bot.tasks.do("memory file")
        assert control_of(bot).state().file_trouble == ""


@posix
async def test_what_lay_in_its_place_is_kept_without_whoever_was_erased_since(
    tmp_path: Path, clock: ManualClock
) -> None:
    path = tmp_path / "memory.sqlite3"
    async with open_bot(path, settings=Settings, clock=clock) as bot:
        for number in range(2):
            bot.ingest.take(line(number, clock.now()))
        await bot.settle()
        await remember(bot.db, ALICE, "plays the glockenfern", by=ALICE, at=clock.now())
        await bot.db.wipe_deleted()
        path.with_name("older").write_bytes(b"".join(read_blocks(path, 1 << 16)))
        await clock.advance(MINUTE)
        await bot.privacy.erase(ALICE)
        await bot.eraser.idle()
        path.with_name("older").replace(path)
        await bot.tasks.do("memory file")
        assert len(copies_of(path)) == 2
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    names_with_trace = [
        file.name for file in files if b"glockenfern" in file.read_bytes()
    ]
    assert names_with_trace == []


@posix
async def test_a_file_that_is_no_memory_stays_until_its_owner_has_looked(
    tmp_path: Path, clock: ManualClock
) -> None:
    path = tmp_path / "memory.sqlite3"
    async with open_bot(path, settings=Settings, clock=clock) as bot:
        path.unlink()
        path.write_text("half of a download")
        await bot.tasks.do("memory file")
        aside = path.with_name("memory.sqlite3.other-1")
        assert aside.read_text() == "half of a download"
        trouble = control_of(bot).state().task_troubles
        assert any(str(aside) in sentence for sentence in trouble)
        aside.unlink()
        await bot.tasks.do("memory file")
        assert control_of(bot).state().task_troubles == ()
