"""Receipts of erasures and forgotten facts: what they say, what a second search finds, and that they reveal nobody."""

import contextlib
import hashlib
import hmac
import itertools
import json
import secrets
import sqlite3
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from forgetmenot.app.bot import Bot
from forgetmenot.clock import ManualClock
from forgetmenot.domain import Asker, Role, Surface
from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND
from forgetmenot.errors import StoreError
from forgetmenot.memory import backups
from forgetmenot.operations.commands import OPERATIONS
from forgetmenot.operations.run import run
from forgetmenot.operations.types import OperationContext
from forgetmenot.operations.wording import sentence
from forgetmenot.privacy.erasure import Eraser
from forgetmenot.privacy.receipt_search import (
    CODES_AN_HOUR,
    SearchResult,
    search_for_person,
)
from forgetmenot.privacy.requests import PrivacyService
from forgetmenot.settings.schema import BotSettings, Settings
from forgetmenot.store import leftovers, notes, privacy_choices
from forgetmenot.store.database import Database, connect, open_database
from forgetmenot.store.note_keys import key_of
from forgetmenot.store.receipts import (
    ALPHABET,
    CODE_LENGTH,
    KEPT_FOR,
    Receipt,
    ReceiptFile,
    ReceiptKind,
)
from forgetmenot.text.words import stem
from tests.notes_world import World
from tests.rows import put
from tests.stage import RecordingAccount, live_bot, said
from tests.wishes import erase, forget_fact

pytestmark = pytest.mark.slow

ZELMA = "771000005"
LOGIN = "zelma_9"
BOB = "771000006"
NOW = 1_784_894_400_000
TODAY = NOW - NOW % DAY
NUMBERS = itertools.count(1)


class Chat:
    """A bot on a stage, and what is typed to it."""

    def __init__(self, bot: Bot, account: RecordingAccount, clock: ManualClock) -> None:
        self.bot = bot
        self.account = account
        self.clock = clock

    @property
    def db(self) -> Database:
        return self.bot.db

    async def say(
        self, text: str, viewer_id: str = ZELMA, login: str = LOGIN, *badges: str
    ) -> str:
        """Somebody types a line; what the bot answers."""
        before = len(self.account.said)
        await self.clock.advance(20 * SECOND)
        line = said(self.clock, f"line{next(NUMBERS)}", viewer_id, login, text, *badges)
        await self.bot.hear(line)
        await self.bot.settle()
        return " ".join(self.account.said[before:])

    async def forgotten(self) -> str:
        """Somebody has everything erased; the code of the receipt."""
        await self.say("!forgetme")
        answer = await self.say("yes")
        assert len(answer) < 500
        assert "found 0 traces" in answer
        return answer.rpartition("!receipt ")[2]


@pytest.fixture
async def chat(tmp_path: Path, clock: ManualClock) -> AsyncIterator[Chat]:
    path = tmp_path / "data" / "memory.sqlite3"
    path.parent.mkdir()
    async with live_bot(path, clock, Settings) as (bot, account):
        made = Chat(bot, account, clock)
        await made.say("hello there")
        await made.say("hi all", BOB, "bob")
        yield made


def bytes_of(folder: Path) -> bytes:
    return b"\0".join(
        file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()
    )


# ── asked in chat ─────────────────────────────────────────────────────────────────────────────


async def test_who_asks_again_is_told_that_nothing_is_there_and_leaves_nothing(
    chat: Chat,
) -> None:
    code = await chat.forgotten()
    assert len(code) == CODE_LENGTH
    answer = await chat.say(f"!receipt {code}")
    assert code in answer
    assert "Nothing is there." in answer
    assert len(answer) < 500
    # as Twitch's reply button writes it, and in small letters
    answer = await chat.say(f"@forgetmenot_bot !receipt {code.lower()}")
    assert "Nothing is there." in answer
    assert (
        await chat.db.value("SELECT count(*) FROM viewers WHERE id = ?", (ZELMA,)) == 0
    )
    content = bytes_of(chat.db.path.parent).lower()
    assert LOGIN.encode() not in content
    assert ZELMA.encode() not in content
    # nor does the code stand beside a time of day
    file = ReceiptFile(chat.db.path).path
    assert code.lower().encode() in file.read_bytes()
    file.unlink()
    content = bytes_of(chat.db.path.parent).lower()
    assert code.lower().encode() not in content


async def test_it_finds_what_was_put_back(chat: Chat) -> None:
    code = await chat.forgotten()
    async with chat.db.write() as tx:
        await put(tx, "semantic_notes", subject_id=BOB, fact=f"met @{LOGIN}")
        await put(tx, "episodes", summary=f"<@{ZELMA}> won.")
    answer = await chat.say(f"!receipt {code}")
    assert "Found: notes 1, summaries 1." in answer
    assert "1 text mentions somebody of whom nothing else is stored." in answer


async def test_what_is_said_after_coming_back_is_told_apart(chat: Chat) -> None:
    code = await chat.forgotten()
    await chat.clock.advance(HOUR)
    await chat.say("hello again")
    answer = await chat.say(f"!receipt {code}")
    assert "Nothing is there." in answer
    assert "since you came back" in answer
    async with chat.db.write() as tx:
        await put(tx, "episodes", summary=f"<@{ZELMA}> won.", created_at=NOW - DAY)
    answer = await chat.say(f"!receipt {code}")
    assert "Found: summaries 1." in answer


async def test_somebody_elses_code_searches_for_who_typed_it(chat: Chat) -> None:
    code = await chat.forgotten()
    answer = await chat.say(f"!receipt {code}", BOB, "bob")
    assert "people 1" in answer
    assert LOGIN not in answer.lower()


async def test_a_receipt_of_somebody_who_is_everywhere_ends_with_a_whole_sentence(
    chat: Chat,
) -> None:
    code = await chat.forgotten()
    await chat.say("!remember I have a boat", BOB, "bob")
    await chat.say("!callme Bobby", BOB, "bob")
    async with chat.db.write() as tx:
        for at in range(1, 30):
            stream = await put(tx, "streams", recap=f"<@{BOB}> won.", started_at=at)
            raid = {"kind": "raid", "text": "12", "viewer_id": BOB, "at": at}
            await put(tx, "moments", stream_id=stream, **raid)
            first_and_last = {"first_at": at, "last_at": at}
            seen = {"viewer_id": BOB, "stream_id": stream, "lines": 1, **first_and_last}
            await put(tx, "attendance", **seen)
            episode = await put(tx, "episodes", summary=f"<@{BOB}> sang.")
            await put(tx, "episode_people", episode_id=episode, viewer_id=BOB, lines=1)
            quote = {"text": "Hello.", "line": f"old{at}", "said_at": at}
            await put(tx, "quotes", viewer_id=BOB, **quote)
    answer = await chat.say(f"!receipt {code}", BOB, "bob")
    assert answer.endswith(".")
    assert "elsewhere" in answer
    # nor is a table called as the database calls it
    assert "_" not in answer


async def test_a_viewer_may_type_few_codes(chat: Chat) -> None:
    code = await chat.forgotten()
    for _ in range(CODES_AN_HOUR):
        await chat.clock.advance(MINUTE)
        assert "no receipt" in await chat.say("!receipt bcdfgh", BOB, "bob")
    await chat.clock.advance(MINUTE)
    assert "A few receipts an hour" in await chat.say(f"!receipt {code}", BOB, "bob")
    assert "Nothing is there." in await chat.say(f"!receipt {code}")
    await chat.clock.advance(HOUR)
    assert "people 1" in await chat.say(f"!receipt {code}", BOB, "bob")


async def test_a_forgotten_fact_has_a_receipt_that_knows_it_again(chat: Chat) -> None:
    await chat.say("!remember I play the zither")
    async with chat.db.write() as tx:
        summary = f"<@{ZELMA}> plays the zither. It rained."
        row = await put(tx, "episodes", summary=summary)
        await put(tx, "episode_people", episode_id=row, viewer_id=ZELMA, lines=1)
    answer = await chat.say("!forget zither permanently")
    code = answer.rpartition("!receipt ")[2]
    [stored] = ReceiptFile(chat.db.path).all(chat.clock.now())
    assert stored.code == code.lower()
    assert stored.kind is ReceiptKind.FACT
    assert stored.removed["semantic_notes"] == 1
    # the summary, and the episode that `!remember` made
    assert stored.removed["episodes"] == 2
    assert stored.remaining == 0
    assert "zither" not in ReceiptFile(chat.db.path).path.read_text()
    assert "Nothing is there." in await chat.say(f"!receipt {code}")
    async with chat.db.write() as tx:
        await put(tx, "semantic_notes", subject_id=ZELMA, fact="plays a zither")
        await put(tx, "streams", recap=f"<@{ZELMA}> played the zither. It rained.")
        await put(tx, "episodes", summary=f"<@{BOB}> plays the zither.")
    answer = await chat.say(f"!receipt {code}")
    assert "Found: notes 1, streams 1." in answer


async def test_a_fact_in_a_copy_is_found_and_a_damaged_copy_counts(chat: Chat) -> None:
    await chat.say("!remember I play the zither")
    copy = chat.db.path.parent / "backups" / "memory-20260101-000000-000.sqlite3"
    await backups.copy_to(chat.db, copy)
    content = copy.read_bytes()
    code = (await chat.say("!forget zither permanently")).rpartition("!receipt ")[2]
    await chat.bot.eraser.erase_due()
    assert not copy.exists()
    assert "Nothing is there." in await chat.say(f"!receipt {code}")
    copy.write_bytes(content)
    assert "Found: files 2." in await chat.say(f"!receipt {code}")
    copy.write_bytes(b"no database")
    assert "Found: files 1." in await chat.say(f"!receipt {code}")
    # and a damaged copy does not hold up the next wish
    await chat.say("!remember I play the cello")
    assert "!receipt" in await chat.say("!forget cello permanently")


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        (
            "en",
            (
                "I forgot one fact, and for that I changed or deleted 1 entry. Only a coded mark stays, without names "
                "or words, so that I don't learn it again. A receipt doesn't say whose it is, so I searched for you "
                "now, in 1 file ("
            ),
        ),
        (
            "de",
            (
                "Ich habe eine Angabe vergessen und dafür 1 Eintrag geändert oder gelöscht. Es bleibt nur eine Kennung "
                "ohne Namen und Worte, damit ich sie nicht neu lerne. Ein Beleg sagt nicht, wem er gehört, also habe "
                "ich dich jetzt gesucht, in 1 Datei ("
            ),
        ),
    ],
)
async def test_a_receipt_is_in_plain_words_with_the_right_number(
    tmp_path: Path, clock: ManualClock, language: str, expected: str
) -> None:
    settings = Settings(bot=BotSettings(language=language))
    path = tmp_path / "memory.sqlite3"
    async with live_bot(path, clock, lambda: settings) as (bot, account):
        chat = Chat(bot, account, clock)
        await chat.say("hello there")
        note_id = await World(chat.db, clock).note("plays the zither", ZELMA)
        code = await bot.privacy.forget(note_id)
        answer = await chat.say(f"!receipt {code}")
    assert expected in answer


# ── what a saboteur puts back ─────────────────────────────────────────────────────────────────


def text_columns(path: Path) -> list[tuple[str, str]]:
    """Every column of the schema that has texts, with its table."""
    sql = "SELECT name FROM pragma_table_info(?) WHERE type = 'TEXT'"
    pairs = []
    with contextlib.closing(connect(path)) as connection:
        for table in leftovers.tables_of(path):
            names = connection.execute(sql, (table,)).fetchall()
            pairs += [(table, name) for (name,) in names]
    return pairs


def put_back(
    connection: sqlite3.Connection, table: str, column: str, piece: str
) -> None:
    """A row with a piece of the person in one column, and something plain in all others."""
    info = connection.execute("SELECT name, type FROM pragma_table_info(?)", (table,))
    row: dict[str, object] = {}
    for name, kind in info.fetchall():
        number = next(NUMBERS) + 1_000
        row[name] = f'["x{number}"]' if kind == "TEXT" else number
    row[column] = piece
    marks = ", ".join("?" for _ in row)
    sql = f"INSERT INTO {table} ({', '.join(row)}) VALUES ({marks})"  # noqa: S608
    connection.execute(sql, list(row.values()))


async def search(db: Database, day: int = TODAY) -> SearchResult:
    receipt = Receipt("bcdfgh", ReceiptKind.ERASURE, day)
    return await search_for_person(db, ZELMA, [LOGIN], receipt)


@pytest.mark.slow
async def test_a_piece_in_any_column_is_found(db: Database) -> None:
    pairs = text_columns(db.path)
    assert len(pairs) > 80
    expected: Counter[str] = Counter()
    with contextlib.closing(connect(db.path, "rw")) as connection:
        connection.execute("PRAGMA foreign_keys = OFF")
        for table, column in pairs:
            for piece in (ZELMA, f"hello @{LOGIN}", f"<@{ZELMA}> won"):
                # two rows cannot have the same key
                with contextlib.suppress(sqlite3.IntegrityError):
                    put_back(connection, table, column, piece)
                    expected[table] += 1
    result = await search(db)
    assert set(expected) == {table for table, _column in pairs}
    for table, count in expected.items():
        assert result.traces[table] + result.newer[table] >= count, table


@pytest.mark.slow
async def test_a_piece_in_any_file_is_found(db: Database, tmp_path: Path) -> None:
    folder = db.path.parent
    recaps = tmp_path / "recaps"
    recaps.mkdir()
    async with db.write() as tx:
        file = str(recaps / "2026-07-24 12-00 stream 1.md")
        await put(tx, "streams", recap_file=file)
    names = (
        "backups/memory-2026.sqlite3",
        "logs/forgetmenot.log",
        "logs/forgetmenot.log.1",
        "login/twitch-bot.json",
        "dock-token",
        "dock.html",
        "memory.sqlite3.requests",
        "memory.sqlite3.restoring",
        "memory.sqlite3.other-1",
        "memory.sqlite3.receipts",
        "memory.sqlite3.receipts.part",
        "memory.sqlite3.incoming/0/chat.log",
        "recaps/2026-07-24 12-00 stream 1.md",
    )
    assert (await search(db)).traces == {}
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        before = path.read_bytes() if path.exists() else b""
        path.write_bytes(
            before + b'{"kind": "note", "text": "@' + LOGIN.encode() + b'"}\n'
        )
        traces = (await search(db)).traces
        assert [place for place in traces if Path(place).name == path.name], name
        path.write_bytes(before)
    assert (await search(db)).traces == {}


async def test_deleted_bytes_that_were_not_wiped_are_found(db: Database) -> None:
    with contextlib.closing(connect(db.path, "rw")) as connection:
        connection.execute("PRAGMA secure_delete = OFF")
        text = f"@{LOGIN} " * 900
        connection.execute("INSERT INTO tally VALUES (?, 1)", (text,))
        connection.execute("DELETE FROM tally")
    traces = (await search(db)).traces
    assert set(traces) <= {"memory.sqlite3", "memory.sqlite3-wal"}
    assert traces.total() > 100


async def test_numbers_of_words_are_found(db: Database) -> None:
    key = key_of(stem(LOGIN))
    async with db.write() as tx:
        await tx.execute("INSERT INTO note_words VALUES (?, 0, x'0001')", (key,))
    assert (await search(db)).traces == {"note_words": 1}


# ── what an attacker has who has the disk ─────────────────────────────────────────────────────


async def receipt_of(path: Path, viewer_id: str, login: str) -> Receipt:
    """The receipt of one of two people in a memory, without its random code."""
    path.parent.mkdir()
    clock = ManualClock(NOW)
    async with open_database(path) as db:
        async with db.write() as tx:
            for person, name in ((viewer_id, login), (BOB, "bob_77")):
                await put(tx, "viewers", id=person, login=name)
                await put(tx, "semantic_notes", subject_id=person, fact="plays chess")
            await put(tx, "episodes", summary=f"<@{viewer_id}> met <@{BOB}>.")
        await Eraser(db=db, clock=clock).erase(viewer_id)
        [receipt] = ReceiptFile(path).all(NOW)
    return replace(receipt, code="")


async def test_receipts_of_different_people_are_the_same(tmp_path: Path) -> None:
    """A receipt depends on how much was stored, on the day and on chance; on nothing of the person."""
    people = [
        ("771000005", "zelma_9"),
        ("771999123", "quorn_4"),
        ("900000001", "abcde_1"),
    ]
    receipts = []
    for viewer_id, login in people:
        path = tmp_path / login / "memory.sqlite3"
        receipts.append(await receipt_of(path, viewer_id, login))
    assert receipts[0].removed
    assert receipts[0] == receipts[1] == receipts[2]


async def test_no_candidate_can_be_told_from_another_by_the_receipts(
    chat: Chat,
) -> None:
    """Whoever has the file and tries a thousand logins, the right one among them, learns nothing."""
    code = await chat.forgotten()
    content = ReceiptFile(chat.db.path).path.read_bytes()
    candidates = [f"viewer_{number}" for number in range(999)]
    matches = set()
    for login in [*candidates, LOGIN, ZELMA, f"login:{LOGIN}"]:
        if any(trace in content for trace in digests(chat.db.path, login, code)):
            matches.add(login)
    assert matches == set()
    # the attack works: a receipt with any of them would be seen
    for trace in digests(chat.db.path, LOGIN, code):
        assert trace not in content
    [stored] = json.loads(content)
    assert set(stored) <= {
        "code",
        "kind",
        "day",
        "removed",
        "tables",
        "files",
        "bytes",
        "is_finished",
    }
    # no time of day, by which it could be matched with a line of the file of requests
    assert stored["day"] % DAY == 0
    assert set(stored["removed"]) <= set(leftovers.tables_of(chat.db.path))


def digests(database: Path, login: str, code: str) -> Iterator[bytes]:
    """What a receipt could hold that is made from a login, with each key that is on the disk."""
    requests = database.with_name(f"{database.name}.requests")
    key = bytes.fromhex(json.loads(requests.read_bytes().splitlines()[0])["key"])
    text = login.encode()
    yield text
    for salt in (b"", code.encode(), code.lower().encode(), key):
        for name in ("md5", "sha1", "sha256"):
            for data in (salt + text, text + salt, b"viewer\0" + text):
                digest = hashlib.new(name, data).hexdigest()
                yield digest[:12].encode()
                yield hmac.new(salt, data, name).hexdigest()[:12].encode()


async def test_the_order_of_the_file_tells_nothing(tmp_path: Path) -> None:
    file = ReceiptFile(tmp_path / "memory.sqlite3")
    for number in range(20):
        file.begin(ReceiptKind.ERASURE, NOW + number * MINUTE)
    stored = json.loads(file.path.read_bytes())
    codes = [receipt["code"] for receipt in stored]
    assert codes == sorted(codes)
    assert {receipt["day"] for receipt in stored} == {TODAY}


async def test_the_log_has_no_numbers_to_match_a_receipt_with(chat: Chat) -> None:
    from forgetmenot import logs

    folder = logs.beside(chat.db.path)
    logs.set_up(level="info", folder=folder, console=False)
    await chat.forgotten()
    [line] = [
        line
        for line in (folder / logs.FILE).read_text().splitlines()
        if "a viewer was erased" in line
    ]
    assert "bytes" not in line
    assert "notes" not in line


# ── the file ──────────────────────────────────────────────────────────────────────────────────


def test_a_code_that_is_taken_is_not_given_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = ReceiptFile(tmp_path / "memory.sqlite3")
    letters = itertools.cycle("bbbbbb" + "bbbbbb" + "cccccc")
    monkeypatch.setattr(secrets, "choice", lambda _alphabet: next(letters))
    assert file.begin(ReceiptKind.ERASURE, NOW) == "bbbbbb"
    assert file.begin(ReceiptKind.ERASURE, NOW) == "cccccc"


def test_receipts_are_kept_for_a_year(tmp_path: Path) -> None:
    file = ReceiptFile(tmp_path / "memory.sqlite3")
    old_code = file.begin(ReceiptKind.ERASURE, NOW)
    assert file.all(NOW + KEPT_FOR) == []
    assert [receipt.code for receipt in file.all(NOW + KEPT_FOR - DAY)] == [old_code]
    file.begin(ReceiptKind.ERASURE, NOW + KEPT_FOR)
    assert old_code.encode() not in file.path.read_bytes()


def test_a_code_has_no_vowels_and_nothing_that_looks_like_a_digit() -> None:
    assert set(ALPHABET).isdisjoint("aeiouyl01")
    assert len(ALPHABET) ** CODE_LENGTH > 40_000_000


def test_a_damaged_file_says_what_to_do(tmp_path: Path) -> None:
    file = ReceiptFile(tmp_path / "memory.sqlite3")
    file.path.write_text("{", encoding="utf-8")
    with pytest.raises(StoreError, match="Delete it"):
        file.all(NOW)


async def test_an_erasure_does_not_wait_for_its_receipt(world: World) -> None:
    """A full disk or a damaged file costs the receipt, not the erasure."""
    await world.viewer(ZELMA, LOGIN)
    file = ReceiptFile(world.db.path)
    file.path.write_text("{", encoding="utf-8")
    report = await Eraser(db=world.db, clock=world.clock).erase(ZELMA)
    assert report.wiped
    assert report.receipt == ""
    await world.viewer(ZELMA, LOGIN)
    note_id = await world.note("plays the zither", ZELMA)
    await forget_fact(world.db, note_id, at=world.clock.now())
    assert await notes.get(world.db, note_id) is None


@pytest.mark.slow
async def test_the_code_is_told_while_an_erasure_is_under_way(chat: Chat) -> None:
    """Another program reads the memory: what was deleted cannot be wiped yet."""
    path = chat.db.path
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM events").fetchall()
        await chat.say("!forgetme")
        answer = await chat.say("yes")
        assert "Deleting everything now" in answer
        other.execute("COMMIT")
    code = answer.rpartition("!receipt ")[2]
    await chat.clock.advance(3 * MINUTE)
    await chat.bot.eraser.erase_due()
    assert "Nothing is there." in await chat.say(f"!receipt {code}")


async def test_a_receipt_that_a_stop_interrupted_says_so(chat: Chat) -> None:
    receipts = ReceiptFile(chat.db.path)
    code = receipts.begin(ReceiptKind.ERASURE, chat.clock.now())
    answer = await chat.say(f"!receipt {code}", "771000099", "quorn_4")
    assert "the program was stopped meanwhile" in answer
    assert "Nothing is there." in answer


async def test_a_banned_viewer_has_a_receipt_too(world: World) -> None:
    await world.viewer(ZELMA, LOGIN)
    async with world.db.write() as tx:
        await privacy_choices.ban(tx, {ZELMA: world.clock.now()})
    await world.clock.advance(8 * DAY)
    [report] = await Eraser(db=world.db, clock=world.clock).erase_due()
    [receipt] = ReceiptFile(world.db.path).all(world.clock.now())
    assert receipt.is_finished
    assert receipt.code == report.receipt


# ── restored, and asked elsewhere ─────────────────────────────────────────────────────────────


async def test_an_older_copy_that_is_restored_is_searched_as_it_is(
    tmp_path: Path, clock: ManualClock
) -> None:
    path = tmp_path / "data" / "memory.sqlite3"
    path.parent.mkdir()
    copy = tmp_path / "copy.sqlite3"
    async with live_bot(path, clock, Settings) as (bot, account):
        chat = Chat(bot, account, clock)
        await chat.say("hello there")
        await backups.copy_to(chat.db, copy)
        await clock.advance(DAY)
        code = await chat.forgotten()
    path.unlink()
    path.write_bytes(copy.read_bytes())
    async with open_database(path) as db:
        assert (await search(db, TODAY + DAY)).traces["viewers"] == 1
    path.unlink()
    await backups.restore(copy, path, now=clock.now(), keep=3)
    async with live_bot(path, clock, Settings) as (bot, account):
        await bot.tasks.catch_up()
        chat = Chat(bot, account, clock)
        assert "Nothing is there." in await chat.say(f"!receipt {code}")


async def test_the_streamer_searches_for_whom_they_name(world: World) -> None:
    """Without a name a receipt is its numbers, and a search for people of whom nothing else is stored."""
    await world.viewer(ZELMA, LOGIN)
    await erase(world.db, ZELMA, now=world.clock.now())
    [receipt] = ReceiptFile(world.db.path).all(world.clock.now())
    async with world.db.write() as tx:
        await put(tx, "episodes", summary=f"<@{ZELMA}> won.")
        await put(tx, "streams", title=f"with {LOGIN}")
    eraser = Eraser(db=world.db, clock=world.clock)
    context = OperationContext(
        db=world.db,
        settings=Settings,
        clock=world.clock,
        operations=OPERATIONS,
        eraser=eraser,
        privacy=PrivacyService(db=world.db, clock=world.clock, eraser=eraser),
    )
    asker = Asker(Surface.CLI, role=Role.BROADCASTER)
    params = {"code": receipt.code}
    result = await run(context, "receipt", params, asker)
    assert "1 text mentions somebody of whom nothing else is stored." in sentence(
        result
    )
    result = await run(context, "receipt", {**params, "viewer": LOGIN}, asker)
    assert "Found: streams 1." in sentence(result)
    assert "1 text mentions somebody of whom nothing else is stored." in sentence(
        result
    )
