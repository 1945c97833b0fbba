"""What chat says, on its way to the disk."""

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from forgetmenot.domain import EventKind, Redaction
from forgetmenot.durations import HOUR, MINUTE
from forgetmenot.errors import StoreError
from forgetmenot.memory import ingest as ingest_module
from forgetmenot.store import person_deletion, privacy_choices, viewers
from forgetmenot.store.counts import LineCounts, all_counts, line_counts
from forgetmenot.store.database import Database
from tests.memory.conftest import Channel, line
from tests.rows import put


async def texts(db: Database) -> list[str]:
    return [row[0] for row in await db.rows("SELECT text FROM events ORDER BY seq")]


async def account(channel: Channel) -> LineCounts:
    counts = await line_counts(channel.db)
    assert counts.balanced
    return counts


async def test_every_line_is_accounted_for(channel: Channel) -> None:
    channel.say("alice", "hello")
    channel.say("nightbot", "I am a bot")
    channel.say("mybot", "so am I")
    channel.say("ignored", "psst")
    channel.say("badged", "beep", badges=frozenset({"bot-badge"}))
    channel.ingest.own_id = (
        "99"  # whose own lines are context, and whose echo is dropped
    )
    channel.ingest.note_own_line(
        "Hello.", event_id="own", at=channel.clock.now(), login="fmn"
    )
    channel.say("fmn", "Hello.", user_id="99")
    channel.ingest.note("other_room", 2)
    channel.ingest.note("unparsed")
    channel.ingest.take(Redaction(at=channel.clock.now(), event_id="elsewhere"))
    await channel.ingest.flush()
    line_totals = await account(channel)
    assert (
        line_totals.lines,
        line_totals.events,
        line_totals.excluded,
        line_totals.other_room,
        line_totals.unparsed,
        line_totals.other,
    ) == (
        11,
        2,
        5,
        2,
        1,
        1,
    )
    counts = await all_counts(channel.db)
    assert (counts["excluded_known_bot"], counts["excluded_ignored"]) == (3, 1)
    assert await channel.db.column("SELECT from_bot FROM events ORDER BY seq") == [0, 1]
    assert await channel.db.column("SELECT viewer_id FROM attendance") == ["id-alice"]


@pytest.mark.parametrize("kind", [EventKind.SPOKEN, EventKind.STREAM])
async def test_an_event_of_the_bots_own_making_keeps_the_streamers_name(
    channel: Channel, kind: EventKind
) -> None:
    """It has the login alone, in small letters."""

    async def names() -> list[str]:
        return await channel.db.column("SELECT display_name FROM viewers")

    async def happens() -> None:
        channel.say("carol", "", kind=kind, system_text="It began.")
        await channel.ingest.flush()

    await happens()
    assert await names() == ["carol"]
    channel.say("Carol", "hello", user_id="id-carol")
    await happens()
    assert await names() == ["Carol"]
    await happens()
    assert await names() == ["Carol"]
    history = "SELECT display_name FROM viewer_names"
    assert await channel.db.column(history) == ["Carol"]


@pytest.mark.parametrize("behind", [0, HOUR])
async def test_an_opted_out_viewer_leaves_nothing(
    channel: Channel, behind: int
) -> None:
    """A command goes by the clock of the PC, which may be behind, lines by that of Twitch."""
    channel.say("alice", "before")
    await channel.ingest.flush()
    async with channel.db.write() as tx:
        await privacy_choices.opt_out(tx, "id-alice", channel.clock.now() - behind)
    await channel.clock.advance(1_000)
    channel.say("alice", "after")
    await channel.ingest.flush()
    assert await texts(channel.db) == [""]
    assert (await account(channel)).excluded == 1


async def test_who_opted_out_by_name_and_was_erased_leaves_not_even_an_id(
    channel: Channel,
) -> None:
    now = channel.clock.now()
    async with channel.db.write() as tx:
        await privacy_choices.opt_out(tx, "login:alice", now)
        await person_deletion.delete_person(tx, "login:alice", now)
    channel.say("alice", "hello")
    await channel.ingest.flush()
    assert await channel.db.value("SELECT count(*) FROM viewers") == 0
    assert "id-alice" in await privacy_choices.opted_out(channel.db)
    assert (await account(channel)).excluded == 1


async def test_a_clear_may_come_before_its_line(channel: Channel) -> None:
    now = channel.clock.now()
    channel.ingest.take(Redaction(at=now, event_id="late"))
    channel.ingest.take(Redaction(at=now, user_id="id-bob", duration_s=60))
    await channel.ingest.flush()
    channel.say("alice", "cleared", id="late")
    channel.ingest.take(line("bob", "also cleared", now - 1), addressed=False)
    channel.ingest.take(line("bob", "later", now + 1), addressed=False)
    await channel.ingest.flush()
    assert await texts(channel.db) == ["", "", "later"]


@pytest.mark.parametrize(
    ("name", "stays"), [("timeout", True), ("long_timeout", False)]
)
async def test_a_joke_timeout_of_the_bot_takes_nothing_back(
    channel: Channel, name: str, stays: bool
) -> None:
    channel.say("alice", "time me out")
    await channel.ingest.flush()
    now = channel.clock.now()
    async with channel.db.write() as tx:
        await put(
            tx,
            "action_logs",
            at=now,
            key="k",
            target_id="id-alice",
            name=name,
            status="running",
        )
    channel.ingest.take(Redaction(at=now + 500, user_id="id-alice", duration_s=60))
    await channel.ingest.flush()
    assert await texts(channel.db) == ["time me out" if stays else ""]


async def test_what_waits_for_the_disk_is_stored_when_it_can_and_else_said_to_be_lost(
    channel: Channel, capsys: pytest.CaptureFixture[str]
) -> None:
    with closing(sqlite3.connect(channel.db.path, isolation_level=None)) as other:
        await channel.db._writer.execute_fetchall("PRAGMA busy_timeout = 1")
        other.execute("BEGIN IMMEDIATE")
        for _ in range(20):
            channel.say("alice", "hello")
        with pytest.raises(StoreError):
            await channel.ingest.flush()
        assert "is held" in channel.ingest.trouble
        channel.ingest.close()
        assert "lines=20" in capsys.readouterr().err.splitlines()[-1].split()
        other.execute("ROLLBACK")
    await channel.ingest.flush()
    assert (await account(channel)).events == 20
    assert channel.ingest.trouble == ""


async def test_memory_is_bounded(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ingest_module, "MAXIMUM_WAITING", 10)
    for _ in range(15):
        channel.say("alice", "hello")
    assert channel.ingest.waiting == 10
    await channel.ingest.flush()
    assert (await account(channel)).excluded == 5


async def test_killed_in_a_batch_an_event_is_stored_once(
    tmp_path: Path, channel: Channel
) -> None:
    """Cancelled anywhere, what was not committed is still waiting."""
    for hops in range(0, 30, 2):
        channel.say("alice", f"{hops}")
        task = asyncio.create_task(channel.ingest.flush())
        for _ in range(hops):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
    await channel.ingest.flush()
    assert await texts(channel.db) == [str(hops) for hops in range(0, 30, 2)]
    assert (await account(channel)).events == 15


async def test_half_characters_and_odd_times_do_not_stop_the_writer(
    channel: Channel,
) -> None:
    now = channel.clock.now()
    channel.say("alice", "half \ud800 a character", at=10**30)
    channel.say("bob", "early", at=-5)
    await channel.ingest.flush()
    assert await texts(channel.db) == ["half ? a character", "early"]
    assert [
        row[0] for row in await channel.db.rows("SELECT at FROM events ORDER BY seq")
    ] == [
        now,
        0,
    ]


async def test_no_text_has_a_nul_and_the_batch_is_stored(channel: Channel) -> None:
    """At a NUL a text of a JSON list ends in SQLite, so an id is not found again."""
    channel.say("bob", "before")
    channel.say("al\0ice", "h\0i", id="a\0b", user_id="1\0002")
    now = channel.clock.now()
    channel.ingest.note_own_line("Hel\0lo.", event_id="x\0y", at=now)
    channel.say("bob", "after")
    await channel.ingest.flush()
    assert await texts(channel.db) == ["before", "hi", "", "after"]
    ids = await channel.db.column("SELECT id || viewer_id FROM events")
    assert "ab12" in ids
    assert not [text for text in ids if "\0" in text]


async def test_a_line_that_no_database_takes_holds_up_nobody(channel: Channel) -> None:
    bad = (3, 4, 17, 39)
    async with channel.db.write() as tx:  # a rule of the schema that some rows break
        await tx.execute(
            f"CREATE TRIGGER bad BEFORE INSERT ON events WHEN new.text IN {tuple(map(str, bad))}"
            " BEGIN SELECT RAISE(ABORT, 'no'); END"
        )
    for number in range(40):
        channel.say("alice", f"{number}")
    channel.ingest.take(Redaction(channel.clock.now(), event_id="\ud800"))
    channel.ingest.take(Redaction(10**30, event_id="elsewhere"))
    await channel.ingest.flush()
    assert await texts(channel.db) == [
        f"{number}" for number in range(40) if number not in bad
    ]
    counts = await account(channel)
    assert (counts.lines, counts.events, counts.excluded, counts.other) == (
        42,
        36,
        4,
        2,
    )
    assert (await all_counts(channel.db))["excluded_unstorable"] == 4
    assert channel.ingest.trouble == ""


@pytest.mark.parametrize("whose", [None, "id-alice"])
async def test_a_clear_that_is_dated_far_ahead_covers_nothing_that_is_said_after_it(
    channel: Channel, whose: str | None
) -> None:
    """Also the second such, and a line that is stored together with it."""
    far = 10**14
    for number in range(2):
        channel.say("alice", f"take this away {number}")
        channel.ingest.take(Redaction(far, user_id=whose))
        channel.say("alice", f"keep this {number}", at=channel.clock.now() + 6_000)
        await channel.ingest.flush()
        await channel.clock.advance(MINUTE)
        channel.say("alice", f"and this {number}")
        await channel.ingest.flush()
        await channel.clock.advance(MINUTE)
        texts = await channel.db.column(
            "SELECT text FROM events WHERE text <> '' ORDER BY at"
        )
        assert texts == [f"keep this {number}", f"and this {number}"]
    assert not await viewers.hidden(channel.db, ["id-alice"])


async def test_a_clear_by_a_clock_ahead_of_ours_covers_the_lines_before_it(
    channel: Channel,
) -> None:
    ahead = channel.clock.now() + 10 * MINUTE
    channel.say("alice", "take this away", at=ahead)
    await channel.ingest.flush()
    channel.say("alice", "and this", at=ahead + 2)
    channel.ingest.take(Redaction(ahead + 3))
    await channel.ingest.flush()
    assert await channel.db.column("SELECT text FROM events WHERE text <> ''") == []
