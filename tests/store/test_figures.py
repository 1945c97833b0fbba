"""What stays of spending, of chat by the minute, of a stream's moments and of replies when the rows behind it go."""

from datetime import UTC, datetime

import pytest

from forgetmenot.clock import ManualClock
from forgetmenot.domain import ChannelState, EventKind, Purpose, TokenUsage
from forgetmenot.durations import DAY, HOUR, MINUTE, SECOND
from forgetmenot.memory import retention
from forgetmenot.settings.schema import MemorySettings, Settings
from forgetmenot.store import (
    action_logs,
    data_export,
    figures,
    privacy_choices,
    reply_outcomes,
    streams,
)
from forgetmenot.store.action_logs import ActionStatus
from forgetmenot.store.counts import Meter, daily_bills
from forgetmenot.store.database import Database
from forgetmenot.store.reply_outcomes import ReplyOutcome, WeekCount
from tests.conftest import NOON
from tests.memory.conftest import SAID_SOMETHING, Channel, open_channel
from tests.notes_world import Scripted
from tests.rows import put
from tests.wishes import erase

BERLIN = "Europe/Berlin"
LATE = int(
    datetime(2026, 7, 24, 21, 50, tzinfo=UTC).timestamp() * 1_000
)  # ten to midnight there


@pytest.fixture
async def channel(db: Database, clock: ManualClock) -> Channel:
    settings = Settings(memory=MemorySettings(known_bots=("mybot",)))
    return await open_channel(db, clock, settings, Scripted(SAID_SOMETHING))


async def test_spending_is_added_up_by_the_channels_days_and_stays_when_calls_are_deleted(
    db: Database,
) -> None:
    clock = ManualClock(LATE)
    meter = Meter(db, clock, lambda: BERLIN)
    usage = TokenUsage(100, 40, 8, 2)
    await meter.record(Purpose.REPLY, "m", usage, 5, None)
    await meter.record(Purpose.REPLY, "m", TokenUsage(), 5, "ModelDown")
    await clock.advance(20 * MINUTE)  # still the 24th by UTC
    await meter.record(Purpose.REPLY, "m", usage, 5, None)
    async with db.write() as tx:
        await tx.execute("DELETE FROM model_calls")
    rows = [tuple(row) for row in await figures.spending(db, "2026-07-01")]
    assert rows == [
        ("2026-07-24", "reply", "m", 2, 100, 40, 10, 1),
        ("2026-07-25", "reply", "m", 1, 100, 40, 10, 0),
    ]
    assert len(await figures.spending(db, "2026-07-25")) == 1
    bills = await daily_bills(db, "2026-07-24")
    assert [(bill.group, bill.calls, bill.used.input) for bill in bills] == [
        ("2026-07-24", 2, 100),
        ("2026-07-25", 1, 100),
    ]


async def test_minutes_count_lines_and_people_once_and_do_not_shrink_when_chat_is_deleted(
    channel: Channel,
) -> None:
    first = NOON // MINUTE
    channel.say("alice", "hello")
    channel.say("mybot", "buy followers")
    await channel.ingest.flush()
    channel.say("alice", "@bot hi", addressed=True)
    channel.say("bob", "hi")
    channel.ingest.note_own_line("Hello.", event_id="own", at=channel.clock.now())
    await channel.ingest.flush()
    await channel.clock.advance(3 * MINUTE)
    channel.say("bob", "still there?")
    await channel.ingest.flush()
    stream = await streams.current_id(channel.db)
    assert stream is not None
    expected = [(first, 3, 2, 1), (first + 3, 1, 1, 0)]
    assert [
        tuple(row) for row in await figures.minutes_of(channel.db, stream)
    ] == expected
    await erase(channel.db, "id-alice", now=channel.clock.now())
    channel.say("bob", "and now?")
    await channel.ingest.flush()
    expected[1] = (first + 3, 2, 1, 0)
    channel.say("bob", "a line that comes late", at=NOON)
    await channel.ingest.flush()
    assert [
        tuple(row) for row in await figures.minutes_of(channel.db, stream)
    ] == expected
    await channel.clock.advance(25 * HOUR)
    await channel.sweep()
    assert await channel.db.value("SELECT count(*) FROM events") == 0
    assert [
        tuple(row) for row in await figures.minutes_of(channel.db, stream)
    ] == expected


async def test_lines_of_a_past_stream_are_counted_without_being_stored(
    db: Database,
) -> None:
    async with db.write() as tx:
        stream = await streams.add_past(tx, NOON)
        lines = [
            figures.PlacedLine("1", stream, NOON),
            figures.PlacedLine("2", stream, NOON + SECOND),
            figures.PlacedLine("1", stream, NOON + 2 * SECOND),
            figures.PlacedLine("1", None, NOON),
        ]
        await figures.count_past_minutes(tx, lines)
        await figures.count_past_minutes(tx, lines)  # the same file again
    rows = [tuple(row) for row in await figures.minutes_of(db, stream)]
    assert rows == [(NOON // MINUTE, 3, 2, 0)]


RAID = "61 raiders from Erin have joined!"
GIFTS = "Erin is gifting 5 Tier 1 Subs to the community! They've gifted a total of 812 in the channel!"
GIFT = "Erin gifted a Tier 1 sub to Bob!"


async def test_raids_and_gifts_are_kept_as_numbers_and_lose_who_it_was_with_them(
    channel: Channel,
) -> None:
    channel.say("erin", "hi from my stream", kind=EventKind.RAID, system_text=RAID)
    channel.say("erin", "", kind=EventKind.GIFT, system_text=GIFTS)
    for _ in range(2):
        channel.say("erin", "", kind=EventKind.GIFT, system_text=GIFT)
    await channel.clock.advance(MINUTE)
    channel.say(
        "frank",
        "",
        kind=EventKind.GIFT,
        system_text="Frank gifted a Tier 1 sub to Bob!",
    )
    await channel.ingest.flush()
    stream = await streams.current_id(channel.db)
    assert stream is not None
    rows = [tuple(row)[1:] for row in await figures.moments_of(channel.db, stream)]
    assert rows == [
        ("raid", "61", "id-erin"),
        ("gift", "5", "id-erin"),
        ("gift", "1", "id-frank"),
    ]
    exported = await data_export.export(channel.db, "id-erin")
    assert [row["text"] for row in exported["moments"]] == ["61", "5"]
    async with channel.db.write() as tx:
        await privacy_choices.opt_out(tx, "id-frank", channel.clock.now())
    await erase(channel.db, "id-erin", now=channel.clock.now())
    rows = [tuple(row)[1:] for row in await figures.moments_of(channel.db, stream)]
    assert rows == [("raid", "61", None), ("gift", "5", None), ("gift", "1", None)]
    viewer_ids = await channel.db.column("SELECT viewer_id FROM moments ORDER BY id")
    assert viewer_ids == [
        None,
        None,
        "id-frank",
    ]  # who opted out is hidden, and is theirs to erase


async def test_titles_and_games_are_kept_once_each_time_they_change(
    channel: Channel,
) -> None:
    tracker = channel.stream_tracker
    began = channel.clock.now() - 10 * MINUTE
    for minute, title, game in (
        (0, "Ladders", "Ladders of Ash"),
        (1, "Ladders", "Ladders of Ash"),
        (2, "", ""),
        (3, "Ladders, with Zelmira", "Chess"),
    ):
        state = ChannelState(live=True, title=title, category=game, started_at=began)
        await tracker.live(state, channel.clock.now() + minute * MINUTE)
    stream = await streams.current_id(channel.db)
    assert stream is not None
    later = channel.clock.now() + 3 * MINUTE
    rows = [tuple(row)[:3] for row in await figures.moments_of(channel.db, stream)]
    assert rows == [
        (began, "title", "Ladders"),
        (began, "game", "Ladders of Ash"),
        (later, "title", "Ladders, with Zelmira"),
        (later, "game", "Chess"),
    ]


async def test_a_title_that_names_somebody_loses_the_name_when_they_are_erased(
    channel: Channel,
) -> None:
    channel.say("zelmira_87", "hello")
    await channel.ingest.flush()
    state = ChannelState(
        live=True,
        title="Chess with @zelmira_87",
        category="",
        started_at=channel.clock.now(),
    )
    await channel.stream_tracker.live(state, channel.clock.now())
    await erase(channel.db, "id-zelmira_87", now=channel.clock.now())
    titles = await channel.db.column("SELECT text FROM moments WHERE kind = 'title'")
    assert titles == ["Chess with somebody"]


async def test_a_clip_is_a_moment_once_it_was_made(channel: Channel) -> None:
    channel.say("alice", "clip that")
    await channel.ingest.flush()
    address = "https://clips.twitch.tv/Abc"
    async with channel.db.write() as tx:
        for number, name, status in (
            (1, "clip", "done"),
            (2, "clip", "refused"),
            (3, "ban", "done"),
            (4, "marker", "done"),
        ):
            row = await put(
                tx,
                "action_logs",
                key=str(number),
                name=name,
                status="running",
                at=NOON,
                asked_by="id-alice",
            )
            await action_logs.settle(
                tx, row, ActionStatus(status), address, NOON + SECOND
            )
    stream = await streams.current_id(channel.db)
    assert stream is not None
    rows = [tuple(row) for row in await figures.moments_of(channel.db, stream)]
    # of a marker the words are somebody's own
    marker = (NOON, "marker", "", "id-alice")
    assert rows == [(NOON, "clip", address, "id-alice"), marker]


# ── how replies were taken ──────────────────────────────────────────────────────────────────

PROMPT = {
    "sections": [
        {"name": "lore", "rows": [["notes", 1], ["notes", 2], ["episodes", 1]]},
        {"name": "channel_lore", "rows": [["notes", 3], ["notes", 2]]},
    ]
}


async def put_replies(db: Database) -> None:
    """One reply of each outcome, and what does not count."""
    async with db.write() as tx:
        for viewer in ("1", "2", "3"):
            await put(tx, "viewers", id=viewer, login=f"viewer{viewer}")
        for note in (1, 2, 3):
            await put(
                tx, "semantic_notes", id=note, subject_id="1", fact=f"fact {note}"
            )
        replies = [
            ("1", 0, {"outcome": "good", "notes_json": "[2]"}),
            ("2", 0, {"outcome": "bad"}),
            ("3", 0, {"outcome": "deleted"}),
            (
                "1",
                HOUR,
                {"notes_json": "[3, 99]", "outcome": "asked_again"},
            ),  # corrected
            ("2", HOUR, {"outcome": "asked_again"}),
            ("2", HOUR + MINUTE, {}),  # nobody said anything
            ("3", HOUR, {"notes_json": "[2]"}),  # changed a minute too late
            ("3", HOUR, {"status": "shadow"}),
            ("3", HOUR, {"trigger": "command"}),
        ]
        for viewer, later, more in replies:
            await put(
                tx,
                "bot_messages",
                viewer_id=viewer,
                at=NOON + later,
                prompt_json=PROMPT,
                **more,
            )
        for note, later, status in (
            (3, 9 * MINUTE, "superseded"),
            (2, 11 * MINUTE, "retracted"),
            (3, 0, "active"),
        ):
            await put(
                tx,
                "note_changes",
                note_id=note,
                at=NOON + HOUR + later,
                to_status=status,
                cause="x",
            )


EXPECTED = [
    (ReplyOutcome.GOOD, (2,)),
    (ReplyOutcome.BAD, ()),
    (ReplyOutcome.DELETED, ()),
    (ReplyOutcome.CORRECTED, (1,)),
    (ReplyOutcome.ASKED_AGAIN, ()),
    (ReplyOutcome.SILENCE, (2,)),
    (ReplyOutcome.SILENCE, ()),
]


async def test_a_reply_is_judged_by_what_was_done_with_it_and_by_what_followed(
    db: Database,
) -> None:
    await put_replies(db)
    judged = await reply_outcomes.judged(db)
    assert [(reply.outcome, reply.ranks) for reply in judged] == EXPECTED
    assert {reply.shown for reply in judged} == {3}


async def test_weeks_keep_the_counts_of_replies_whose_rows_are_deleted(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        retention, "LOGS_AT_ONCE", 2
    )  # a week is deleted in several parts
    await put_replies(channel.db)
    before = reply_outcomes.by_week(await reply_outcomes.judged(channel.db), "")
    await channel.clock.advance(31 * DAY)
    await channel.sweep()
    assert await channel.db.value("SELECT count(*) FROM bot_messages") == 0
    stored_weeks = await reply_outcomes.kept_weeks(channel.db)
    assert stored_weeks == before
    assert WeekCount("2026-07-20", ReplyOutcome.CORRECTED, 1, 3, 1) in stored_weeks
    assert sum(week.replies for week in stored_weeks) == 7
