"""Copies of the memory: no chat in them, and no way round what people asked for since."""

import asyncio
import contextlib
import json
import shutil
import sqlite3
import stat
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from forgetmenot.app.bot import open_bot
from forgetmenot.app.control import BotControl, ConnectionStatus
from forgetmenot.app.live import start_live
from forgetmenot.app.replay import replay
from forgetmenot.app.setup import SetupService
from forgetmenot.clock import ManualClock
from forgetmenot.domain import Note, Redaction
from forgetmenot.durations import DAY, HOUR
from forgetmenot.errors import InputError, StoreDamaged, StoreForeign, StoreRequestsLost
from forgetmenot.memory.backups import Backups, Restored, copy_to, restore
from forgetmenot.memory.edits import remember, retract, undo
from forgetmenot.memory.transfer import import_notes
from forgetmenot.privacy.erasure import Eraser
from forgetmenot.privacy.requests import PrivacyService, start_new_requests
from forgetmenot.privacy.suppression import load_filter
from forgetmenot.privacy.suppression_list import suppress, unlisted_of, unsuppress
from forgetmenot.settings.live_settings import LiveSettings
from forgetmenot.settings.schema import DockSettings, Settings
from forgetmenot.store import (
    backup,
    bot_messages,
    notes,
    privacy_choices,
    streams,
    viewers,
)
from forgetmenot.store.backup import Copied, copies_of
from forgetmenot.store.database import ASIDE, connect, open_database, schema_sql
from forgetmenot.store.privacy_requests import PrivacyRequests, RequestKind
from tests.memory.conftest import Channel
from tests.rows import put

pytestmark = pytest.mark.slow

ALICE = "id-viewer0"
BOB = "id-viewer1"
CAROL = "id-viewer2"
NO_SETTINGS = Settings()


@pytest.fixture
async def filled(channel: Channel) -> Channel:
    """Raw chat, a reply, and a note about each of two people."""
    await channel.chat(10)
    channel.say("viewer0", "the zitherbloom stands in the garden of my aunt")
    await channel.ingest.flush()
    now = channel.clock.now()
    await remember(channel.db, ALICE, "plays the glockenfern", by=ALICE, at=now)
    await remember(channel.db, BOB, "plays the marimbaglow", by=BOB, at=now)
    async with channel.db.write() as tx:
        reply = await bot_messages.begin(
            tx, at=now, event_id="e1", viewer_id=ALICE, trigger="mention", mode="live"
        )
        await bot_messages.record_sending(tx, reply, "a zitherbloom, you say", now)
    return channel


@pytest.fixture
async def made(filled: Channel, tmp_path: Path) -> Copied:
    """A copy elsewhere."""
    return await copy_to(filled.db, tmp_path / "elsewhere" / "copy.sqlite3")


@pytest.fixture
async def other(tmp_path: Path) -> Path:
    """Another memory."""
    path = tmp_path / "other" / "memory.sqlite3"
    async with open_database(path) as db, db.write() as tx:
        await put(
            tx,
            "semantic_notes",
            scope="channel",
            fact="is somebody else's memory",
            source_kind="observed",
        )
    return path


async def facts(path: Path) -> set[str]:
    async with open_database(path) as db:
        return {note.fact for note in await notes.page(db)}


def _sql(path: Path, script: str) -> None:
    with closing(connect(path, "rw")) as db:
        db.executescript(f"PRAGMA foreign_keys = OFF; {script}")


async def go_back(
    channel: Channel, source: Path, folder: Path
) -> tuple[Restored, Path]:
    """Restore beside the file of requests, as after a loss of the memory's own file."""
    path = folder / "restored.sqlite3"
    folder.mkdir()
    requests_file = channel.db.requests.path
    if requests_file.exists():
        path.with_name(path.name + ".requests").write_bytes(requests_file.read_bytes())
    return await restore(source, path, now=channel.clock.now(), keep=3), path


# raw chat and its account, what may quote chat, and what is made again
LEFT_OUT = {"events", "tally", "bot_messages", "action_logs", "model_calls", "briefs"}


def test_every_table_is_kept_or_left_out_for_a_reason(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x")) as db:
        db.executescript(schema_sql())
        name_rows = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        tables = sorted(row[0] for row in name_rows if not row[0].startswith("sqlite_"))
    assert tables == sorted([*backup.KEPT, *LEFT_OUT])


async def test_a_copy_is_the_memory_with_its_numbers_and_no_byte_of_chat_of_replies_or_of_the_key(
    filled: Channel, made: Copied
) -> None:
    copied_bytes = made.path.read_bytes()
    assert b"glockenfern" in copied_bytes
    assert b"zitherbloom" not in copied_bytes
    assert filled.db.requests.digest("viewer", ALICE).encode() not in copied_bytes
    lines = await filled.db.column("SELECT text FROM events")
    assert [
        text
        for text in lines
        if "glockenfern" not in text and text.encode() in copied_bytes
    ] == []
    assert [file.name for file in made.path.parent.iterdir()] == ["copy.sqlite3"]
    if sys.platform != "win32":
        assert stat.S_IMODE(made.path.stat().st_mode) == 0o600
    async with open_database(made.path) as copied:
        for table in backup.KEPT:
            sql = f"SELECT * FROM {table} ORDER BY 1, 2"  # noqa: S608  # tables of ours
            mine, theirs = [
                [tuple(row) for row in await db.rows(sql)] for db in (filled.db, copied)
            ]
            assert theirs == mine
        next_one = await remember(
            copied, BOB, "likes jazz", by=BOB, at=filled.clock.now()
        )
        assert next_one.id > made.notes == 2


async def test_a_bot_makes_one_at_its_start_every_day_and_when_the_others_had_to_go(
    filled: Channel,
) -> None:
    keeper = Backups(db=filled.db, settings=lambda: NO_SETTINGS, clock=filled.clock)
    made = []
    for day in range(5):
        await remember(
            filled.db, BOB, f"owns {day} kites", by=BOB, at=filled.clock.now()
        )
        await keeper.run_pass()
        await filled.clock.advance(DAY - HOUR)
        await keeper.run_pass()
        made.append(copies_of(filled.db.path)[0])
        await filled.clock.advance(HOUR)
    assert len(set(made)) == 5
    assert copies_of(filled.db.path) == made[:1:-1]
    assert ALICE.encode() in made[-1].read_bytes()
    await Eraser(db=filled.db, clock=filled.clock).erase(ALICE)
    assert copies_of(filled.db.path) == []
    await keeper.run_pass()
    [anew] = copies_of(filled.db.path)
    assert ALICE.encode() not in anew.read_bytes()
    assert b"marimbaglow" in anew.read_bytes()


# ── whether another copy is made ──────────────────────────────────────────────────────────────


async def copies_after_a_start(channel: Channel) -> list[Path]:
    """An hour later the bot starts; its copies, the newest first."""
    await channel.clock.advance(HOUR)
    keeper = Backups(db=channel.db, settings=lambda: NO_SETTINGS, clock=channel.clock)
    await keeper.run_pass()
    return copies_of(channel.db.path)


async def _says_something(channel: Channel) -> None:
    channel.say("viewer0", "hello again")
    await channel.ingest.flush()


async def _is_remembered(channel: Channel) -> None:
    now = channel.clock.now()
    await remember(channel.db, BOB, "owns a kite", by=BOB, at=now)


async def _is_summarised(channel: Channel) -> None:
    await channel.summarise()


async def _is_never_mentioned(channel: Channel) -> None:
    [note] = await notes.of_subject(channel.db, BOB)
    now = channel.clock.now()
    await suppress(channel.db, BOB, f"#{note.id}", by=BOB, at=now)


async def _opts_out(channel: Channel) -> None:
    eraser = Eraser(db=channel.db, clock=channel.clock)
    privacy = PrivacyService(db=channel.db, clock=channel.clock, eraser=eraser)
    await privacy.opt_out(BOB)


async def _newest_copy_is_damaged(channel: Channel) -> None:
    copies_of(channel.db.path)[0].write_bytes(b"not a memory")


async def test_equal_copies_do_not_push_out_the_older_ones(filled: Channel) -> None:
    """As when somebody starts the bot ten times a day."""
    first = await copies_after_a_start(filled)
    assert len(first) == 1
    assert await copies_after_a_start(filled) == first


async def test_a_line_of_chat_is_no_change_for_a_copy(filled: Channel) -> None:
    first = await copies_after_a_start(filled)
    await _says_something(filled)
    assert await copies_after_a_start(filled) == first


@pytest.mark.parametrize(
    "change",
    [
        _is_remembered,
        _is_summarised,
        _is_never_mentioned,
        _opts_out,
        _newest_copy_is_damaged,
    ],
)
async def test_a_change_is_copied_once(
    filled: Channel, change: Callable[[Channel], Awaitable[None]]
) -> None:
    [first] = await copies_after_a_start(filled)
    await change(filled)
    changed = await copies_after_a_start(filled)
    assert changed[0] != first
    assert await copies_after_a_start(filled) == changed


async def test_a_copy_is_made_where_all_were_deleted(filled: Channel) -> None:
    [first] = await copies_after_a_start(filled)
    first.unlink()
    assert len(await copies_after_a_start(filled)) == 1


@pytest.mark.parametrize("stopped", [False, True])
async def test_a_cleared_request_takes_the_copies_along_that_know_its_note(
    channel: Channel, stopped: bool
) -> None:
    """Also where the bot stops before the copies are looked at, and starts again days later."""
    line = channel.say("viewer0", "!remember I own a zitherbloom")
    await channel.ingest.flush()
    await remember(
        channel.db,
        ALICE,
        "owns a zitherbloom",
        by=ALICE,
        at=channel.clock.now(),
        line_id=line.id,
    )
    keeper = Backups(db=channel.db, settings=lambda: NO_SETTINGS, clock=channel.clock)
    await keeper.run_pass()
    await channel.clock.advance(HOUR)
    channel.ingest.take(Redaction(channel.clock.now(), event_id=line.id))
    await channel.ingest.flush()
    if stopped:
        async with channel.db.write() as tx:
            await tx.execute("DELETE FROM events")
        keeper = Backups(
            db=channel.db, settings=lambda: NO_SETTINGS, clock=channel.clock
        )
    await channel.compactor.run_pass(everything=True)
    await keeper.run_pass()
    assert b"zitherbloom" not in b"".join(
        copy.read_bytes() for copy in copies_of(channel.db.path)
    )


async def test_who_talked_again_before_the_copy_was_made_stays(
    filled: Channel, tmp_path: Path
) -> None:
    await Eraser(db=filled.db, clock=filled.clock).erase(ALICE)
    await filled.clock.advance(HOUR)
    filled.say("viewer0", "hello again")
    await filled.ingest.flush()
    made = await copy_to(filled.db, tmp_path / "copy.sqlite3")
    report, path = await go_back(filled, made.path, tmp_path / "data")
    assert report.erased == 0
    async with open_database(path) as db:
        assert await viewers.get(db, ALICE) is not None


async def test_opting_out_and_in_count_again_in_their_order(
    filled: Channel, made: Copied, tmp_path: Path
) -> None:
    privacy = PrivacyService(
        db=filled.db,
        clock=filled.clock,
        eraser=Eraser(db=filled.db, clock=filled.clock),
    )
    for viewer_id in (ALICE, BOB, "new"):
        await privacy.opt_out(viewer_id)
    assert await privacy.opt_in(BOB)
    report, path = await go_back(filled, made.path, tmp_path / "data")
    again = await restore(made.path, path, now=filled.clock.now(), keep=3)
    assert report.opted_out == again.opted_out == 1
    async with open_database(path) as db:
        out = await privacy_choices.opted_out(db)
        assert [viewer_id in out for viewer_id in (ALICE, BOB, "new")] == [
            True,
            False,
            True,
        ]


# ── what was decided since the copy was made ────────────────────────────────────────────────


async def shown_facts(path: Path) -> list[str]:
    """What a reply may know."""
    async with open_database(path) as db:
        hidden = await load_filter(db)
        known = await notes.page(db, status="active")
        return sorted(note.fact for note in known if hidden.allows(note))


@dataclass
class NeverMentioned:
    """A copy that is older than three requests: a topic of alice, one of the channel, and bob's note by its number.

    `channel_note`: a note that the topic of the channel hides, which only `newer` has.
    """

    channel: Channel
    older: Path
    newer: Path
    channel_note: Note


@pytest.fixture
async def never_mentioned(
    filled: Channel, made: Copied, tmp_path: Path
) -> NeverMentioned:
    db = filled.db
    now = filled.clock.now()
    channel_note = await remember(db, None, "won the zitherbloom cup", by=ALICE, at=now)
    newer = await copy_to(db, tmp_path / "later.sqlite3")
    [bobs_note] = await notes.of_subject(db, BOB)
    await suppress(db, ALICE, "glockenferns", by=ALICE, at=now)
    await suppress(db, None, "the zitherbloom", by=None, at=now)
    await suppress(db, BOB, f"#{bobs_note.id}", by=BOB, at=now)
    return NeverMentioned(filled, made.path, newer.path, channel_note)


async def test_what_is_never_mentioned_is_shown_by_no_older_copy(
    never_mentioned: NeverMentioned, tmp_path: Path
) -> None:
    channel = never_mentioned.channel
    report, path = await go_back(channel, never_mentioned.older, tmp_path / "first")
    assert (report.notes, await shown_facts(path)) == (2, [])
    report, path = await go_back(channel, never_mentioned.newer, tmp_path / "second")
    assert (report.notes, await shown_facts(path)) == (3, [])


async def test_the_file_of_requests_has_no_word_of_what_is_never_mentioned(
    never_mentioned: NeverMentioned,
) -> None:
    content = never_mentioned.channel.db.requests.path.read_bytes()
    words = (b"glockenf", b"zither", b"marimba")
    assert [word for word in words if word in content] == []


async def test_in_an_older_copy_a_topic_hides_texts_about_its_viewer_alone(
    never_mentioned: NeverMentioned, tmp_path: Path
) -> None:
    channel = never_mentioned.channel
    _done, path = await go_back(channel, never_mentioned.newer, tmp_path / "restored")
    async with open_database(path) as db:
        hidden = await load_filter(db)
    assert hidden.matches("Alice plays the glockenfern", [ALICE])
    assert not hidden.matches("Bob plays the glockenfern", [BOB])
    summary = f"<@{ALICE}> hid her glockenfern. It rained."
    assert hidden.without(summary) == "It rained."
    assert hidden.without_topics("Your glockenfern! Hello.", [ALICE]) == "Hello."


async def test_in_an_older_copy_a_topic_of_the_channel_hides_texts_about_anybody(
    never_mentioned: NeverMentioned, tmp_path: Path
) -> None:
    channel = never_mentioned.channel
    _done, path = await go_back(channel, never_mentioned.newer, tmp_path / "restored")
    async with open_database(path) as db:
        hidden = await load_filter(db)
        note = await notes.get(db, never_mentioned.channel_note.id)
    assert hidden.matches("the zitherbloom", [])
    assert not hidden.matches("a cup of tea", [ALICE, BOB])
    assert note is not None
    assert not hidden.allows(note)


async def test_what_may_be_mentioned_again_may_be_in_an_older_copy(
    filled: Channel, tmp_path: Path
) -> None:
    now = filled.clock.now()
    [bobs_note] = await notes.of_subject(filled.db, BOB)
    entries = [
        await suppress(filled.db, ALICE, "glockenferns", by=ALICE, at=now),
        await suppress(filled.db, BOB, f"#{bobs_note.id}", by=BOB, at=now),
    ]
    made = await copy_to(filled.db, tmp_path / "copy.sqlite3")
    for entry in entries:
        assert await unsuppress(filled.db, entry, now)
    _, path = await go_back(filled, made.path, tmp_path / "data")
    assert await shown_facts(path) == ["plays the glockenfern", "plays the marimbaglow"]


async def test_a_topic_that_only_the_file_of_requests_knows_can_be_lifted_and_asked_for_anew(
    filled: Channel, made: Copied, tmp_path: Path
) -> None:
    now = filled.clock.now()
    await suppress(filled.db, ALICE, "glockenferns", by=ALICE, at=now)
    _, path = await go_back(filled, made.path, tmp_path / "data")
    async with open_database(path) as db:
        assert await notes.suppressions(db) == []
        [topic] = await unlisted_of(db, ALICE)
        assert await unlisted_of(db, BOB) == await unlisted_of(db, None) == []
        entry = await suppress(db, ALICE, "a glockenfern", by=ALICE, at=now)
        assert await unlisted_of(db, ALICE) == []
        assert await unsuppress(db, entry, now)
        assert (await load_filter(db)).allows((await notes.of_subject(db, ALICE))[0])
    _, path = await go_back(filled, made.path, tmp_path / "again")
    async with open_database(path) as db:
        assert [listed.id for listed in await unlisted_of(db, ALICE)] == [topic.id]
        assert await unsuppress(db, topic.id, now)
        assert await unlisted_of(db, ALICE) == []
        assert not await unsuppress(db, topic.id, now)
        assert await privacy_choices.carried_out(db) == len(db.requests.lines)
    assert await shown_facts(path) == ["plays the glockenfern", "plays the marimbaglow"]


async def test_a_note_that_was_removed_stays_removed_in_an_older_copy(
    filled: Channel, tmp_path: Path
) -> None:
    """By its subject; not by the streamer, nor one that was brought back, or said again before the copy was made."""
    db = filled.db
    now = filled.clock.now()
    await remember(db, None, "won the zitherbloom cup", by=ALICE, at=now)
    made = await copy_to(db, tmp_path / "copy.sqlite3")
    await filled.clock.advance(HOUR)
    later = filled.clock.now()
    ids = {note.fact: note.id for note in await notes.page(db)}
    for fact, note_id in ids.items():
        await retract(
            db, note_id, at=later, cause="wrong", own="zitherbloom" not in fact
        )
    await undo(db, ids["plays the marimbaglow"], at=later)
    report, path = await go_back(filled, made.path, tmp_path / "first")
    assert report.removed == 1
    assert await shown_facts(path) == [
        "plays the marimbaglow",
        "won the zitherbloom cup",
    ]
    async with open_database(path) as copied:
        again = await undo(copied, ids["plays the glockenfern"], at=later)
        assert again.fact == "plays the glockenfern"
    await filled.clock.advance(HOUR)
    await remember(db, ALICE, "plays the glockenfern", by=ALICE, at=filled.clock.now())
    newer = await copy_to(db, tmp_path / "newer.sqlite3")
    _, path = await go_back(filled, newer.path, tmp_path / "second")
    assert await shown_facts(path) == ["plays the glockenfern", "plays the marimbaglow"]


async def test_who_is_banned_stays_so_in_an_older_copy_until_they_write_again(
    filled: Channel, made: Copied, tmp_path: Path
) -> None:
    await filled.clock.advance(HOUR)
    for viewer_id in (ALICE, BOB, "id-stranger"):
        await filled.clear(user_id=viewer_id)
    await filled.clear(user_id=CAROL, duration_s=600)
    await filled.clock.advance(HOUR)
    filled.say("viewer1", "I am back")
    await filled.ingest.flush()
    banned_copy = await copy_to(filled.db, tmp_path / "banned.sqlite3")
    report, path = await go_back(filled, made.path, tmp_path / "data")
    assert report.banned == 1
    async with open_database(path) as db:
        assert await viewers.hidden(db, [ALICE, BOB, CAROL]) == {ALICE}
    filled.say("viewer0", "I am back too")
    await filled.ingest.flush()
    for number, copy in enumerate((made, banned_copy)):
        report, path = await go_back(filled, copy.path, tmp_path / f"later {number}")
        assert report.banned == 0
        async with open_database(path) as db:
            assert await viewers.hidden(db, [ALICE, BOB]) == set()


async def test_who_was_banned_a_week_ago_is_erased_from_an_older_copy(
    filled: Channel, made: Copied, tmp_path: Path
) -> None:
    await filled.clear(user_id=ALICE)
    await filled.clock.advance(8 * DAY)
    _, path = await go_back(filled, made.path, tmp_path / "data")
    assert await facts(path) == {"plays the marimbaglow"}
    assert b"glockenfern" not in path.read_bytes()


async def test_a_new_file_of_requests_knows_what_the_memory_knows(
    filled: Channel, tmp_path: Path
) -> None:
    now = filled.clock.now()
    copied = await copy_to(filled.db, tmp_path / "copy.sqlite3")
    await filled.clear(user_id=BOB)
    await suppress(filled.db, ALICE, "glockenferns", by=ALICE, at=now)
    PrivacyRequests(filled.db.path).path.unlink()
    async with filled.db.write() as tx:
        await streams.claim_post(tx, 1, now, again=False)
        await streams.set_recap_file(tx, 1, str(tmp_path / "recaps" / "one.md"))
    await start_new_requests(filled.db, now)
    _, path = await go_back(filled, copied.path, tmp_path / "data")
    assert "plays the glockenfern" not in await shown_facts(path)
    async with open_database(path) as db:
        assert await viewers.hidden(db, [ALICE, BOB]) == {BOB}
        assert (await streams.sharing_of(db, 1))["posted_at"] == now
        assert await streams.recap_folders(db) == {str(tmp_path / "recaps")}


async def test_what_was_there_is_saved_and_what_is_no_memory_is_refused(
    made: Copied, other: Path, tmp_path: Path
) -> None:
    report = await restore(made.path, other, now=0, keep=3)
    assert report.saved is not None
    assert await facts(report.saved) == {"is somebody else's memory"}
    (tmp_path / "junk").write_bytes(b"junk" * 2_000)
    for source, error, why in (
        (tmp_path / "junk", StoreForeign, "not a"),
        (tmp_path / "nothing", InputError, "no file"),
        (other, InputError, "itself"),
    ):
        with pytest.raises(error, match=why):
            await restore(source, other, now=0, keep=3)
    assert await facts(other) == {"plays the glockenfern", "plays the marimbaglow"}


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, '' AS words FROM n"
STRANGE = {
    "endless view": f"DROP TABLE never_mention; CREATE VIEW never_mention AS {ENDLESS}",
    "row that points nowhere": "INSERT INTO attendance VALUES ('nobody', 7, 1, 1, 1)",
}


@pytest.mark.timeout(10)
@pytest.mark.parametrize("strange", STRANGE)
async def test_what_somebody_built_into_a_copy_is_not_run(
    made: Copied, other: Path, strange: str
) -> None:
    _sql(made.path, STRANGE[strange])
    with pytest.raises(StoreForeign, match="Nothing was changed"):
        await restore(made.path, other, now=0, keep=3)
    assert await facts(other) == {"is somebody else's memory"}


async def test_triggers_that_somebody_built_into_a_copy_are_not_run(
    made: Copied, other: Path
) -> None:
    _sql(
        made.path,
        "CREATE TRIGGER t AFTER INSERT ON viewers BEGIN DELETE FROM semantic_notes; END",
    )
    assert (await restore(made.path, other, now=0, keep=3)).notes == 2
    with closing(sqlite3.connect(other)) as db:
        assert (
            db.execute("SELECT 1 FROM sqlite_master WHERE name = 't'").fetchone()
            is None
        )


@pytest.mark.parametrize(
    "says", ["", "INSERT INTO channel_state VALUES ('privacy_requests', '99 abc', 0)"]
)
async def test_a_copy_gets_all_requests_whatever_it_says(
    filled: Channel, tmp_path: Path, says: str
) -> None:
    """A copy from another PC, or one that was tampered with."""
    async with filled.db.write() as tx:
        await privacy_choices.opt_out(tx, CAROL, filled.clock.now())
    made = await copy_to(filled.db, tmp_path / "copy.sqlite3")
    _sql(made.path, says)
    await Eraser(db=filled.db, clock=filled.clock).erase(BOB)
    await Eraser(db=filled.db, clock=filled.clock).erase(ALICE)
    report, path = await go_back(filled, made.path, tmp_path / "data")
    assert report.erased == 2
    assert await facts(path) == set()


async def test_a_plain_copy_of_the_file_is_restored_without_its_chat(
    filled: Channel, tmp_path: Path
) -> None:
    await filled.db.wipe_deleted()
    plain = tmp_path / "plain.sqlite3"
    plain.write_bytes(filled.db.path.read_bytes())
    assert b"zitherbloom" in plain.read_bytes()
    report = await restore(
        plain, tmp_path / "data" / "m.sqlite3", now=filled.clock.now(), keep=3
    )
    assert report.notes == 2
    assert not any(
        b"zitherbloom" in file.read_bytes()
        for file in (tmp_path / "data").rglob("*")
        if file.is_file()
    )
    assert {file.name for file in (tmp_path / "data").iterdir()} == {
        "m.sqlite3",
        "backups",
    }


async def test_a_copy_made_while_somebody_is_erased_is_made_again(
    filled: Channel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copying = backup.copy
    times: list[Copied] = []

    def slow(source: Path, target: Path) -> Copied:
        made = copying(source, target)
        if not times:
            filled.db.requests.add(filled.db.requests.of(RequestKind.ERASE, "x", 1))
        times.append(made)
        return made

    monkeypatch.setattr(backup, "copy", slow)
    await copy_to(filled.db, tmp_path / "copy.sqlite3")
    assert len(times) == 2


async def test_without_its_requests_nothing_is_put_in_the_place_of_a_memory(
    filled: Channel, made: Copied, tmp_path: Path
) -> None:
    _, path = await go_back(filled, made.path, tmp_path / "data")
    async with open_database(path) as db:
        await Eraser(db=db, clock=filled.clock).erase(ALICE)
    PrivacyRequests(path).path.unlink()
    with pytest.raises(StoreRequestsLost):
        await restore(made.path, path, now=filled.clock.now(), keep=3)


async def test_a_restore_after_one_that_was_killed_carries_everything_out(
    filled: Channel, made: Copied, tmp_path: Path
) -> None:
    """What that one left, with its write-ahead log, says that all requests were carried out."""
    await Eraser(db=filled.db, clock=filled.clock).erase(ALICE)
    async with filled.db.write() as tx:  # the log holds a page of each of these tables
        await privacy_choices.count_carried_out(tx, len(filled.db.requests.lines) + 1)
        await tx.execute("UPDATE viewers SET last_seen_at = last_seen_at + 1")
    path = tmp_path / "data" / "restored.sqlite3"
    path.parent.mkdir()
    shutil.copyfile(filled.db.requests.path, path.with_name(path.name + ".requests"))
    for end in ("", "-wal"):
        source = filled.db.path.with_name(filled.db.path.name + end)
        shutil.copyfile(source, path.with_name(f"{path.name}.restoring{end}"))
    assert path.with_name(f"{path.name}.restoring-wal").stat().st_size > 0
    assert (await restore(made.path, path, now=filled.clock.now(), keep=3)).erased == 1
    assert await facts(path) == {"plays the marimbaglow"}


EMPTIED_ROWS = (
    "DELETE FROM note_evidence; DELETE FROM note_changes; DELETE FROM semantic_notes;"
)
EMPTIED = {
    "nothing": lambda path: path.write_bytes(b""),
    "gone": lambda path: path.unlink(),
    "no rows": lambda path: _sql(path, EMPTIED_ROWS),
    "rubbish": lambda path: path.write_bytes(
        path.read_bytes()[:8_192] + b"\x5a" * (path.stat().st_size - 8_192)
    ),
    "one bit of the schema": lambda path: path.write_bytes(
        path.read_bytes().replace(
            b"CREATE TABLE attendance", b"CREATE \xd4ABLE attendance"
        )
    ),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[:20_480]),
}


@contextlib.asynccontextmanager
async def keeping(path: Path, clock: ManualClock) -> AsyncIterator[Backups]:
    """A bot's own copies of its memory, of which one is due at its start."""
    async with open_bot(path, settings=lambda: NO_SETTINGS, clock=clock) as bot:
        keeper = Backups(db=bot.db, settings=bot.settings, clock=clock)
        await keeper.run_pass()
        yield keeper


@pytest.fixture
async def forty(tmp_path: Path, clock: ManualClock) -> Path:
    """A memory with forty notes."""
    async with open_database(tmp_path / "memory.sqlite3") as db:
        lines = [
            json.dumps({"scope": "channel", "fact": f"plays level {number}"})
            for number in range(40)
        ]
        await import_notes(db, lines, now=0)
    return tmp_path / "memory.sqlite3"


@pytest.fixture
async def copied_once(forty: Path, clock: ManualClock) -> Path:
    """The first copy of that memory."""
    async with keeping(forty, clock):
        pass
    [copy] = copies_of(forty)
    return copy


@pytest.mark.parametrize("damage", EMPTIED.values(), ids=EMPTIED)
async def test_a_damaged_or_emptied_memory_is_refused_and_pushes_no_copy_out(
    forty: Path,
    clock: ManualClock,
    copied_once: Path,
    damage: Callable[[Path], object],
) -> None:
    content = copied_once.read_bytes()
    damage(forty)
    for _ in range(4):
        await clock.advance(HOUR)
        with pytest.raises(
            (StoreDamaged, StoreForeign), match="forgetmenot memory restore"
        ):
            async with keeping(forty, clock):
                pass
    assert copies_of(forty) == [copied_once]
    assert copied_once.read_bytes() == content


@pytest.mark.parametrize("damage", EMPTIED.values(), ids=EMPTIED)
async def test_a_damaged_or_emptied_memory_is_restored_from_its_copy(
    forty: Path,
    clock: ManualClock,
    copied_once: Path,
    damage: Callable[[Path], object],
) -> None:
    damage(forty)
    await restore(copied_once, forty, now=clock.now(), keep=3)
    assert len(await facts(forty)) == 40


def _damage_a_table(path: Path) -> None:
    """Overwrite the first page of a table that a start does not read."""
    with contextlib.closing(sqlite3.connect(path)) as db:
        page = db.execute(
            "SELECT rootpage FROM sqlite_master WHERE name = 'moments'"
        ).fetchone()[0]
        page_size = db.execute("PRAGMA page_size").fetchone()[0]
    with path.open("r+b") as file:
        file.seek((page - 1) * page_size)
        file.write(b"\x5a" * page_size)


async def test_a_large_memory_is_checked_beside_the_start_and_damage_ends_it(
    forty: Path, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "CHECKED_BESIDE_THE_START", 0)
    async with open_bot(forty, settings=lambda: NO_SETTINGS, clock=clock) as bot:
        await bot.file_check.passed()
    _damage_a_table(forty)
    async with open_bot(forty, settings=lambda: NO_SETTINGS, clock=clock) as bot:
        with pytest.raises(StoreDamaged, match="no backup"):
            await bot.file_check.passed()
        with pytest.raises(StoreDamaged, match="no backup"):
            await bot.file_check.passed()
    settings = LiveSettings(Settings(dock=DockSettings(port=0)))
    with pytest.raises(StoreDamaged, match="no backup"):
        await asyncio.wait_for(start_live(settings, lambda _channel: forty, print), 60)
    assert copies_of(forty) == []


async def test_a_large_memory_that_was_emptied_is_refused_before_it_is_used(
    forty: Path,
    clock: ManualClock,
    copied_once: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with contextlib.closing(sqlite3.connect(forty)) as db:
        [page_size] = db.execute("PRAGMA page_size").fetchone()
    pages = forty.stat().st_size // page_size
    # the pages of a large table, which stay in the file when its rows are deleted
    _sql(
        forty,
        "INSERT INTO never_mention (words, at) VALUES (hex(zeroblob(1000000)), 1)",
    )
    _sql(forty, EMPTIED_ROWS)
    _sql(forty, "DELETE FROM never_mention")
    limit = (pages + 10) * page_size
    assert forty.stat().st_size > 2 * limit
    monkeypatch.setattr(backup, "CHECKED_BESIDE_THE_START", limit)
    with pytest.raises(StoreDamaged, match="forgetmenot memory restore"):
        async with keeping(forty, clock):
            pass
    assert copies_of(forty) == [copied_once]


async def test_a_large_memory_is_compared_with_the_copy_that_was_there_at_the_start(
    forty: Path,
    clock: ManualClock,
    copied_once: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And not with what lay in its place when the bot was killed, which becomes a copy at once."""
    monkeypatch.setattr(backup, "CHECKED_BESIDE_THE_START", 0)
    _sql(forty, EMPTIED_ROWS)
    async with open_database(forty.with_name(f"{forty.name}{ASIDE}1")):
        pass
    await clock.advance(HOUR)
    async with open_bot(forty, settings=lambda: NO_SETTINGS, clock=clock) as bot:
        await bot.file_watch.run_pass()
        assert len(copies_of(forty)) == 2
        with pytest.raises(StoreDamaged, match=copied_once.name):
            await bot.file_check.passed()


async def test_a_recording_is_not_played_into_a_large_memory_that_was_emptied(
    forty: Path, copied_once: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backup, "CHECKED_BESIDE_THE_START", 0)
    _sql(forty, EMPTIED_ROWS)
    with pytest.raises(StoreDamaged, match="forgetmenot memory restore"):
        await replay([], forty, NO_SETTINGS)
    assert copies_of(forty) == [copied_once]


async def test_a_copy_by_hand_waits_until_a_large_memory_is_found_whole(
    forty: Path,
    clock: ManualClock,
    copied_once: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Else the memory would be compared with a copy that has lost as much."""
    monkeypatch.setattr(backup, "CHECKED_BESIDE_THE_START", 0)
    _sql(forty, EMPTIED_ROWS)
    settings = LiveSettings(NO_SETTINGS)
    setup = SetupService(settings, forty.parent, use_keyring=False)
    await clock.advance(HOUR)
    async with (
        open_bot(forty, settings=settings, clock=clock) as bot,
        setup.attached(BotControl(bot, settings, ConnectionStatus())),
    ):
        with pytest.raises(StoreDamaged, match="forgetmenot memory restore"):
            await setup.run("backup", b"{}")
        with pytest.raises(StoreDamaged, match="forgetmenot memory restore"):
            await bot.file_check.passed()
    assert copies_of(forty) == [copied_once]


async def test_a_memory_that_is_emptied_while_it_runs_keeps_its_last_full_copy(
    forty: Path, clock: ManualClock
) -> None:
    async with keeping(forty, clock) as keeper:
        [full] = copies_of(forty)
        _sql(forty, EMPTIED_ROWS)
        for _ in range(8):
            await clock.advance(DAY)
            _sql(forty, "INSERT INTO never_mention (words, at) VALUES ('kites', 1)")
            await keeper.run_pass()
    *newest, oldest = copies_of(forty)
    assert (len(newest), oldest) == (NO_SETTINGS.privacy.keep_backups, full)
    assert len(await facts(oldest)) == 40
