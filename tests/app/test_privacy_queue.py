"""`!optout` and `!forgetme` hold whatever the disk does: they wait, outlive a stop, and are answered then."""

import asyncio
import contextlib
import os
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from forgetmenot.app.bot import Bot, BotIdentity, NoAccount, open_bot
from forgetmenot.clock import ManualClock
from forgetmenot.domain.action import Outcome, OutcomeKind
from forgetmenot.domain.chat import ChatEvent, EventKind
from forgetmenot.memory import privacy_queue
from forgetmenot.memory.erasure import Eraser
from forgetmenot.memory.privacy_queue import (
    RESERVED,
    DeferredFile,
    DeferredKind,
    DeferredRequest,
    file_of,
    path_of,
)
from forgetmenot.settings.schema import Settings
from forgetmenot.store import database as database_module
from forgetmenot.store import opt_outs, personal_data
from forgetmenot.store.database import Database, open_database

ALICE = "1001"


class TalkingAccount(NoAccount):
    """An account that remembers what it said, and to which line."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str | None]] = []

    async def say(self, text: str, reply_to: str | None = None) -> Outcome:
        self.said.append((text, reply_to))
        return Outcome(OutcomeKind.DONE, twitch_id=f"t{len(self.said)}")


@pytest.fixture(autouse=True)
def _short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "BUSY_TIMEOUT_S", 10.0)


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Another program writes."""
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextlib.asynccontextmanager
async def opened(path: Path, clock: ManualClock, account: TalkingAccount) -> AsyncIterator[Bot]:
    me = BotIdentity("99", "forgetmenot_bot")
    async with open_bot(path, "test", settings=Settings, clock=clock, account=account, me=me) as bot:
        yield bot


async def say(bot: Bot, text: str) -> None:
    kind, line_id = EventKind.MESSAGE, f"m{text.split(maxsplit=1)[0]}"
    event = ChatEvent(line_id, kind, ALICE, "alice", "Alice", text, bot.clock.now())
    await asyncio.wait_for(bot.hear(event), 9)  # less than a write waits: nothing holds up the reader of chat


async def on_disk(path: Path) -> bytes:
    """The file of wishes, once there is one in it."""
    async with asyncio.timeout(60):
        while ALICE.encode() not in path_of(path).read_bytes():  # noqa: ASYNC110  # a file has no event
            await asyncio.sleep(0.01)
    return path_of(path).read_bytes()


def held(path: Path) -> bytes:
    return b"".join(file.read_bytes() for file in path.parent.rglob("*") if file.is_file())


async def test_an_opt_out_waits_for_a_locked_memory_and_holds_from_the_moment_it_was_typed(
    tmp_path: Path, clock: ManualClock
) -> None:
    path, account = tmp_path / "memory.sqlite3", TalkingAccount()
    async with opened(path, clock, account) as bot:
        await say(bot, "hello")
        await bot.settle()
        with locked(path):
            await say(bot, "!optout")
            await say(bot, "my zitherbloom is blue")
            await on_disk(path)
            assert account.said == []
            assert ALICE in await opt_outs.opted_out(bot.db)
        await bot.privacy_queue.work_off()
        await bot.settle()
        assert [(text[:5], line) for text, line in account.said] == [("Done:", "m!optout")]
        assert await bot.db.value("SELECT count(*) FROM events WHERE text <> '' AND viewer_id = ?", (ALICE,)) == 0
        assert path_of(path).read_bytes().strip() == b""
        assert b"zitherbloom" not in held(path)


@pytest.mark.parametrize("typed", ["!optout", "!forgetme confirm"])
async def test_a_wish_outlives_a_stop(tmp_path: Path, clock: ManualClock, typed: str) -> None:
    path, account = tmp_path / "memory.sqlite3", TalkingAccount()
    for left in (
        "memory.sqlite3.restoring.older",
        ".dock.html-a1b2.new",
        ".alice.json-c3d4.new",
        "login/.x.json-e5.new",
    ):
        (path.parent / left).parent.mkdir(exist_ok=True)
        (path.parent / left).write_bytes(b"a crash cut it off: zitherbloom")
    async with opened(path, clock, account) as bot:
        assert b"zitherbloom" not in held(path)
        await say(bot, "my zitherbloom is blue")
        await bot.settle()
        assert b"zitherbloom" in held(path)
        with locked(path):
            await say(bot, typed)
            waiting = await on_disk(path)
    path_of(path).write_bytes(waiting)  # as a crash would have left it
    assert account.said == []
    async with opened(path, clock, account) as bot:
        await bot.settle()
        await bot.outbox.idle()
        assert [line for _, line in account.said] == [f"m{typed.split(maxsplit=1)[0]}"]
        assert ("Receipt: " in account.said[0][0]) is (typed != "!optout")
        assert (ALICE in await opt_outs.opted_out(bot.db)) is (typed == "!optout")
        assert await personal_data.is_known(bot.db, ALICE) is (typed == "!optout")
    assert b"zitherbloom" not in held(path)
    assert len(path_of(path).read_bytes()) == RESERVED


@pytest.mark.parametrize("stopped", [False, True])
async def test_what_is_to_be_forgotten_or_never_mentioned_waits_too(
    tmp_path: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch, stopped: bool
) -> None:
    path, account = tmp_path / "memory.sqlite3", TalkingAccount()
    monkeypatch.setattr(database_module, "BUSY_TIMEOUT_S", 0.5)  # of each of the writes that a stop gives up
    with contextlib.ExitStack() as another_program:
        async with opened(path, clock, account) as bot:
            await say(bot, "!remember I play the zitherbloom")
            await bot.settle()
            another_program.enter_context(locked(path))
            await say(bot, "!forget zitherbloom")
            await say(bot, "!nevermention my kazoo")
            async with asyncio.timeout(60):
                while b"kazoo" not in path_of(path).read_bytes():  # noqa: ASYNC110  # a file has no event
                    await asyncio.sleep(0.01)
            assert len(account.said) == 1
            if not stopped:
                another_program.close()
                await bot.privacy_queue.work_off()
                await bot.settle()
    async with opened(path, clock, account) as bot:
        await bot.settle()
        await bot.outbox.idle()
        assert {line for _, line in account.said} == {"m!remember", "m!forget", "m!nevermention"}
        assert await bot.db.value("SELECT count(*) FROM semantic_notes") == 0
        assert await bot.db.value("SELECT words FROM never_mention") == "my kazoo"
        assert path_of(path).read_bytes().strip() == b""


async def test_a_request_waits_elsewhere_where_the_data_folder_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no folder can be, it is kept in memory: told in the log, and lost with a stop."""
    database = tmp_path / "data" / "memory.sqlite3"
    monkeypatch.setattr(privacy_queue, "spare_path_of", lambda _: tmp_path / "state" / "spare.wishes")
    path_of(database).mkdir(parents=True)  # a folder where the file should be: no write succeeds, for any user
    request = DeferredRequest(DeferredKind.OPT_OUT, ALICE, 1)
    file_of(database).add(request)
    assert (tmp_path / "state" / "spare.wishes").stat().st_mode & 0o077 == 0 or os.name == "nt"
    again = file_of(database)
    assert again.load() == [request]
    path_of(database).rmdir()
    back = DeferredRequest(DeferredKind.OPT_IN, ALICE, 0)
    again.add(back)
    assert file_of(database).load() == [back, request]  # in the order in which they were asked for
    for one in (request, back):
        again.remove(one)
    assert (again.load(), file_of(database).load()) == ([], [])
    path_of(database).unlink()
    path_of(database).mkdir()
    (tmp_path / "state" / "spare.wishes").unlink()
    (tmp_path / "state" / "spare.wishes").mkdir()
    file_of(database).add(request)
    assert file_of(database).load() == []


async def test_a_file_that_cannot_be_read_for_a_moment_is_not_written_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As while a virus scanner has it: what waits in it would be lost."""
    file = DeferredFile(tmp_path / "memory.sqlite3.wishes", tmp_path / "spare" / "spare.wishes")
    first, second = (DeferredRequest(DeferredKind.OPT_OUT, ALICE, at) for at in (1, 2))
    file.add(first)
    read_bytes = Path.read_bytes

    def scanned(path: Path) -> bytes:
        if path.parent == tmp_path:
            raise PermissionError(13, "in use")
        return read_bytes(path)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", scanned)
        file.reserve()
        file.add(second)
    assert file.load() == [first, second]


async def test_a_full_disk_keeps_no_wish_out(tmp_path: Path) -> None:
    """What is reserved is written in place; beyond it a wish stays in memory."""
    file = DeferredFile(tmp_path / "memory.sqlite3.wishes")
    file.reserve()
    wishes = [DeferredRequest(DeferredKind.OPT_OUT, str(number), number) for number in range(150)]
    await asyncio.gather(*(asyncio.to_thread(file.add, wish) for wish in wishes))  # all at once: none over another
    assert path_of(tmp_path / "memory.sqlite3").stat().st_size == RESERVED
    assert set(DeferredFile(path_of(tmp_path / "memory.sqlite3")).load()) == set(wishes)
    for wish in wishes:
        file.remove(wish)
    assert file.load() == []
    path_of(tmp_path / "memory.sqlite3").write_bytes(b'{"kind":"opt_o')  # as a crash left it
    file.add(wishes[0])
    assert file.load() == [wishes[0]]


async def test_an_erasure_takes_waiting_wishes_along_but_keeps_an_opt_out(db: Database, clock: ManualClock) -> None:
    async with db.write() as tx:
        await opt_outs.opt_out(tx, ALICE, 1)
        await opt_outs.opt_in(tx, ALICE)
    file = DeferredFile(path_of(db.path))
    file.add(DeferredRequest(DeferredKind.ERASE, ALICE, 1))
    file.add(DeferredRequest(DeferredKind.OPT_OUT, ALICE, 2))
    file.add(DeferredRequest(DeferredKind.OPT_IN, "1002", 3))
    report = await Eraser(db=db, clock=clock).erase(ALICE)
    assert report.opted_out
    assert [wish.viewer_id for wish in file.load()] == ["1002"]
    async with open_database(db.path) as again:
        assert ALICE in await opt_outs.opted_out(again)
