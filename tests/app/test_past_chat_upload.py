"""Dropped files with chat of past streams: learned from beside the live bot, and gone afterwards."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from forgetmenot.app import past_chat_upload
from forgetmenot.app.bot import Bot, open_bot
from forgetmenot.app.past_chat_upload import BYTES_LIMIT, PastChatUpload
from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChatEvent, EventKind
from forgetmenot.durations import DAY
from forgetmenot.errors import InputError, StoreError
from forgetmenot.files import incoming_folder
from forgetmenot.privacy.erasure import Eraser
from tests.full_disk import no_room
from tests.memory.test_learning import BEGAN, SETTINGS, log
from tests.stage import until


@pytest.fixture
async def bot(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Bot]:
    await clock.move_to(BEGAN + 30 * DAY)
    async with open_bot(
        tmp_path / "m.sqlite3", settings=lambda: SETTINGS, clock=clock
    ) as running:
        yield running


@pytest.fixture
async def files(bot: Bot) -> AsyncIterator[PastChatUpload]:
    upload = PastChatUpload(bot, lambda: SETTINGS)
    yield upload
    await upload.aclose()
    assert not incoming_folder(bot.db.path).exists()


async def in_pieces(data: bytes, size: int = 100) -> AsyncIterator[bytes]:
    for start in range(0, len(data), size):
        yield data[start : start + size]


async def finished_line(files: PastChatUpload) -> str:
    await until(lambda: not files.state["running"])
    return str(files.state["line"])


def chat(tmp_path: Path) -> bytes:
    return log(tmp_path / "chat.txt").read_bytes()


async def test_it_says_what_it_takes_learns_and_deletes_the_file(
    files: PastChatUpload, bot: Bot, tmp_path: Path
) -> None:
    data = chat(tmp_path)
    await files.take("../evil/..\\chat 2026-05-01.log", len(data), in_pieces(data))
    [stored_file] = [
        path for path in incoming_folder(bot.db.path).rglob("*") if path.is_file()
    ]
    assert stored_file.read_bytes() == data
    assert stored_file.name == "_evil_.._chat 2026-05-01.log"
    assert [
        path.stat().st_mode & 0o777
        for path in (stored_file, stored_file.parent, stored_file.parent.parent)
    ] == [
        0o600,
        0o700,
        0o700,
    ]
    question = str((await files.look())["line"])
    assert question.startswith(
        "24 lines, 2 streams, 2 days. It takes less than a minute and costs "
    )
    assert await bot.db.value("SELECT count(*) FROM episodes") == 0
    files.learn()
    assert files.state["running"]
    with pytest.raises(InputError, match="Wait until"):
        await files.take("b.log", 1, in_pieces(b"x"))
    assert "Learned from 24 lines (2 streams)" in await finished_line(files)
    assert files.state["files"] == []
    assert not stored_file.exists()
    assert await bot.db.value("SELECT count(*) FROM events") == 0
    await files.take("again.log", len(data), in_pieces(data))
    files.learn()
    assert "Known before: 24 lines." in await finished_line(files)


async def test_what_does_not_fit_or_breaks_off_leaves_nothing(
    files: PastChatUpload, bot: Bot
) -> None:
    async def breaks_off() -> AsyncIterator[bytes]:
        yield b"x" * 1000
        raise ConnectionResetError

    with pytest.raises(InputError, match="not enough room"):
        await files.take("chat.log", BYTES_LIMIT + 1, in_pieces(b""))
    with pytest.raises(ConnectionResetError):
        await files.take("chat.log", 5000, breaks_off())
    with no_room(), pytest.raises(StoreError, match="cannot be written"):
        await files.take("chat.log", 5000, in_pieces(b"x" * 5000))
    assert files.state["files"] == []
    assert [
        path for path in incoming_folder(bot.db.path).rglob("*") if path.is_file()
    ] == []


async def test_a_disk_that_fills_up_while_a_file_comes_keeps_its_spare_room(
    files: PastChatUpload, bot: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also of a file whose size was not announced."""
    monkeypatch.setattr(past_chat_upload, "LOOK_EVERY", 500)
    taken = 0

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal taken
        for _ in range(50):
            taken += 100
            if taken == 1_000:  # as if another program had written meanwhile
                monkeypatch.setattr(past_chat_upload, "SPARE_BYTES", 10**18)
            yield b"x" * 100

    with pytest.raises(InputError, match="not enough room"):
        await files.take("chat.log", None, pieces())
    assert taken <= 2_000
    assert [
        path for path in incoming_folder(bot.db.path).rglob("*") if path.is_file()
    ] == []


async def test_the_end_of_the_bot_ends_it_at_once_and_what_a_crash_left_goes_at_the_next_start(
    bot: Bot, tmp_path: Path, clock: ManualClock
) -> None:
    files = PastChatUpload(bot, lambda: SETTINGS)
    data = chat(tmp_path)
    await files.take("chat.log", len(data), in_pieces(data))
    files.learn()
    await asyncio.sleep(0)
    await files.aclose()
    assert not files.state["running"]
    assert not incoming_folder(bot.db.path).exists()
    leftover = incoming_folder(tmp_path / "other.sqlite3") / "chat.log"
    leftover.parent.mkdir()
    leftover.write_text("[20:15:03] alice: zitherbloom")
    async with open_bot(
        tmp_path / "other.sqlite3", settings=lambda: SETTINGS, clock=clock
    ):
        assert not leftover.parent.exists()


async def test_an_erasure_takes_somebody_out_of_the_dropped_files(
    files: PastChatUpload, bot: Bot, tmp_path: Path
) -> None:
    """Also who is called by a word, and where they are only spoken of; a file without them stays as it is."""
    people = {"77": "dora_77", "78": "drums"}
    for viewer_id, login in people.items():
        line = ChatEvent(
            login, EventKind.MESSAGE, viewer_id, login, login, "hello", bot.clock.now()
        )
        await bot.hear(line)
    await bot.settle()
    with_them = (
        "[20:15:03] bob: I play drums\n[20:15:04] drums: hi\n"
        "[20:15:05] dora_77: hi\n[20:15:06] bob: hi dora_77\n"
    )
    without = b"# Start logging at 2026-05-03 20:00:00 CEST\n[20:15:03] bob: hi\n"
    await files.take("chat 2026-05-01.log", None, in_pieces(with_them.encode()))
    await files.take("other.log", None, in_pieces(without))
    eraser = Eraser(db=bot.db, clock=bot.clock)
    for viewer_id in people:
        report = await eraser.erase(viewer_id)
        assert report.places == {}
        assert report.rewritten["dropped_files"] == 1
    [chat, other] = sorted(
        file for file in incoming_folder(bot.db.path).rglob("*") if file.is_file()
    )
    assert other.read_bytes() == without
    assert "dora" not in chat.read_text()
    assert '"name": "drums"' not in chat.read_text()
    files.learn()
    assert "Learned from 2 lines (2 streams)" in await finished_line(files)
    assert await bot.db.column("SELECT login FROM viewers WHERE login IS NOT NULL") == [
        "bob"
    ]


async def test_an_erasure_while_a_file_comes_leaves_nothing_of_it(
    files: PastChatUpload, bot: Bot
) -> None:
    """What came of it was written anew, and the rest would go nowhere."""
    line = ChatEvent(
        "m", EventKind.MESSAGE, "771234", "dora_77", "Dora", "hello", bot.clock.now()
    )
    await bot.hear(line)
    await bot.settle()
    eraser = Eraser(db=bot.db, clock=bot.clock)

    async def comes() -> AsyncIterator[bytes]:
        yield (
            b"[20:15:03] dora_77: hi\n" * 10_000
        )  # more than is kept before it is written
        await eraser.erase("771234")
        yield b"[20:15:04] bob: hi\n"

    with pytest.raises(InputError, match=r"chat 2026-05-01.log is gone"):
        await files.take("chat 2026-05-01.log", None, comes())
    assert files.state["files"] == []
    assert [
        path for path in incoming_folder(bot.db.path).rglob("*") if path.is_file()
    ] == []
