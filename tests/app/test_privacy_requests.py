"""`!optout`, `!forgetme` and `!forget` hold whatever the disk does: they wait, outlive a stop, are answered then."""

import asyncio
import contextlib
import json
import sqlite3
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from forgetmenot.app.bot import Bot, BotIdentity, NoAccount, open_bot
from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChatEvent, EventKind, Outcome, OutcomeKind
from forgetmenot.languages import ENGLISH
from forgetmenot.memory import backups, transfer
from forgetmenot.settings.schema import Settings
from forgetmenot.store import database as database_module
from forgetmenot.store import personal_data, privacy_choices
from forgetmenot.store.privacy_requests import PrivacyRequests
from tests.full_disk import no_room
from tests.stage import until

pytestmark = pytest.mark.slow

ALICE = "1001"


class TalkingAccount(NoAccount):
    """An account that remembers what it said, and to which line. While `gate` is clear, Twitch does not answer."""

    def __init__(self) -> None:
        self.said: list[tuple[str, str | None]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def say(self, text: str, reply_to: str | None = None) -> Outcome:
        self.said.append((text, reply_to))
        await self.gate.wait()
        return Outcome(OutcomeKind.DONE, twitch_id=f"t{len(self.said)}")


@pytest.fixture(autouse=True)
def _short_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "BUSY_TIMEOUT_S", 0.5)


@contextlib.asynccontextmanager
async def locked(path: Path) -> AsyncIterator[None]:
    """Another program writes."""
    connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    with contextlib.closing(connection) as other:
        # In a thread: the bot may be in the middle of a write, which ends only if the loop goes on.
        await asyncio.to_thread(other.execute, "BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


@contextlib.asynccontextmanager
async def opened(
    path: Path, clock: ManualClock, account: TalkingAccount
) -> AsyncIterator[Bot]:
    me = BotIdentity("99", "forgetmenot_bot")
    async with open_bot(
        path, settings=Settings, clock=clock, account=account, me=me
    ) as bot:
        yield bot


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.sqlite3"


@pytest.fixture
def account() -> TalkingAccount:
    return TalkingAccount()


@pytest.fixture
async def bot(
    path: Path, clock: ManualClock, account: TalkingAccount
) -> AsyncIterator[Bot]:
    """A bot that has heard alice."""
    async with opened(path, clock, account) as bot:
        await say(bot, "hello")
        await bot.settle()
        yield bot


async def say(bot: Bot, text: str) -> None:
    kind = EventKind.MESSAGE
    line_id = f"m{text.split(maxsplit=1)[0]}"
    event = ChatEvent(line_id, kind, ALICE, "alice", "Alice", text, bot.clock.now())
    await asyncio.wait_for(bot.hear(event), 9)


async def written(path: Path, lines: int) -> None:
    """Wait until so many requests are on disk."""
    # a line each, below the key
    await until(lambda: PrivacyRequests(path).path.read_bytes().count(b"\n") > lines)


def bytes_on_disk(path: Path) -> bytes:
    return b"".join(
        file.read_bytes() for file in path.parent.rglob("*") if file.is_file()
    )


async def test_an_opt_out_waits_for_a_locked_memory_and_holds_from_the_moment_it_was_typed(
    bot: Bot, path: Path, account: TalkingAccount
) -> None:
    async with locked(path):
        await say(bot, "!optout")
        await written(path, 1)
        await say(bot, "my zitherbloom is blue")
        assert account.said == []
        assert ALICE in await privacy_choices.opted_out(bot.db)
    await bot.privacy.work_off()
    await bot.settle()
    assert [(text[:5], line) for text, line in account.said] == [("Done:", "m!optout")]
    assert (
        await bot.db.value(
            "SELECT count(*) FROM events WHERE text <> '' AND viewer_id = ?", (ALICE,)
        )
        == 0
    )
    assert b"zitherbloom" not in bytes_on_disk(path)


@pytest.mark.slow
async def test_a_command_waits_for_a_locked_memory_and_says_so_where_it_stays_locked(
    bot: Bot, path: Path, account: TalkingAccount, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forgetmenot.chat.router.TRIED_AGAIN_AFTER_S", (0.1, 0.1))
    async with locked(path):
        await say(bot, "!remember I play the zitherbloom")
        await until(lambda: account.said)
    assert account.said == [(ENGLISH("chat.not_now"), "m!remember")]
    # often enough that one of them comes after the lock, however slow this computer is
    monkeypatch.setattr("forgetmenot.chat.router.TRIED_AGAIN_AFTER_S", (0.1,) * 60)
    async with locked(path):
        await say(bot, "!edit I sail")
        await asyncio.sleep(0.6)  # longer than one write waits
    await until(lambda: len(account.said) > 1)
    assert "sails" in account.said[1][0]


@pytest.mark.slow
async def test_each_of_a_crowd_that_asks_is_answered(
    path: Path, clock: ManualClock, account: TalkingAccount
) -> None:
    """While the places of other commands' answers are taken."""
    async with opened(path, clock, account) as bot:
        people = [f"viewer{number}" for number in range(20)]
        for number, login in enumerate(people):
            for word in ("!help", "!privacy", "!optout"):
                line_id = f"{word} {login}"
                event = ChatEvent(
                    line_id,
                    EventKind.MESSAGE,
                    f"20{number}",
                    login,
                    login,
                    word,
                    clock.now(),
                )
                await bot.hear(event)

        def unanswered() -> list[str]:
            answered = {line for _text, line in account.said}
            return [login for login in people if f"!optout {login}" not in answered]

        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(60):
                while unanswered():
                    await asyncio.sleep(0.02)
                    await clock.advance(1_000)
        assert unanswered() == []


@pytest.mark.parametrize(
    "typed", ["!optout", "!forgetme confirm", "!forget zitherbloom permanently"]
)
async def test_a_request_outlives_a_stop(
    path: Path, clock: ManualClock, account: TalkingAccount, typed: str
) -> None:
    async with opened(path, clock, account) as bot:
        await say(bot, "!remember I play the zitherbloom")
        await bot.settle()
        assert b"zitherbloom" in bytes_on_disk(path)
        async with locked(path):
            await say(bot, typed)
            await written(path, 1)
    stays = typed == "!optout"  # what is known of them is kept, and not used
    async with opened(path, clock, account) as bot:
        await bot.eraser.idle()
        await bot.eraser.erase_due()
        await bot.settle()
        assert (ALICE in await privacy_choices.opted_out(bot.db)) is stays
        assert await personal_data.is_known(bot.db, ALICE) is (
            typed != "!forgetme confirm"
        )
        assert (
            await bot.db.value(
                "SELECT count(*) FROM semantic_notes WHERE fact LIKE '%zither%'"
            )
            == stays
        )
    assert (b"zitherbloom" in bytes_on_disk(path)) is stays


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
@pytest.mark.parametrize("typed", ["!optout", "!forgetme confirm"])
async def test_a_full_disk_keeps_no_request_out(
    path: Path,
    clock: ManualClock,
    account: TalkingAccount,
    capsys: pytest.CaptureFixture[str],
    typed: str,
) -> None:
    """Their lines wait for the disk as well, so the memory does not know them yet."""
    async with opened(path, clock, account) as bot:
        with no_room(PrivacyRequests(path).path.stat().st_size):
            await say(bot, "my zitherbloom rusts")
            await say(bot, typed)
            await until(lambda: bot.db.requests.waiting)
            assert (ALICE in await privacy_choices.opted_out(bot.db)) is (
                typed == "!optout"
            )
            assert "a stop would lose it" in capsys.readouterr().err
        await bot.privacy.work_off()
        await bot.settle()
        assert [(text[:5], line) for text, line in account.said] == [
            ("Done:", f"m{typed.split(maxsplit=1)[0]}")
        ]
        assert await personal_data.is_known(bot.db, ALICE) is (typed == "!optout")
    assert PrivacyRequests(path).is_out(ALICE) is (typed == "!optout")
    assert b"zitherbloom" not in bytes_on_disk(path)


async def test_an_answer_that_is_on_its_way_to_twitch_is_not_kept_of_who_was_erased(
    bot: Bot, path: Path, account: TalkingAccount
) -> None:
    await say(bot, "!remember I play the zitherbloom")
    await bot.settle()
    account.gate.clear()
    await say(bot, "!memory")
    await until(lambda: len(account.said) == 2)
    await bot.eraser.erase(ALICE)
    account.gate.set()
    await bot.settle()
    assert "zitherbloom" in account.said[1][0]
    assert b"zitherbloom" not in bytes_on_disk(path)


async def test_who_was_known_only_by_name_stays_erased_in_an_older_copy(
    tmp_path: Path, clock: ManualClock, account: TalkingAccount
) -> None:
    path = tmp_path / "data" / "memory.sqlite3"
    copy = tmp_path / "copy.sqlite3"
    async with opened(path, clock, account) as bot:
        notes = [
            {"viewer": "alice", "fact": "plays the zitherbloom"},
            {"scope": "channel", "fact": "met @alice once"},
        ]
        await transfer.import_notes(bot.db, map(json.dumps, notes), now=clock.now())
        await backups.copy_to(bot.db, copy)
        await say(bot, "!forgetme confirm")  # their first line
        await bot.settle()
    await backups.restore(copy, path, now=clock.now(), keep=3)
    assert b"zitherbloom" not in bytes_on_disk(path)
    assert b"alice" not in bytes_on_disk(path).lower()


async def test_what_crashes_left_half_written_goes_at_the_start(
    path: Path, clock: ManualClock, account: TalkingAccount
) -> None:
    for leftover in (
        "memory.sqlite3.restoring",
        ".dock.html-a1b2.new",
        ".alice.json-c3d4.new",
        "login/.x.json-e5.new",
    ):
        (path.parent / leftover).parent.mkdir(exist_ok=True)
        (path.parent / leftover).write_bytes(b"a crash cut it off: zitherbloom")
    async with opened(path, clock, account):
        assert b"zitherbloom" not in bytes_on_disk(path)
