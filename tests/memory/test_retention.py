"""What time does to notes: they run out, go stale by streams attended, and fall to the caps."""

from collections import Counter
from datetime import UTC, datetime

import pytest

from forgetmenot.domain import Importance, NoteStatus, Scope, SourceKind
from forgetmenot.durations import DAY, HOUR
from forgetmenot.memory import retention
from forgetmenot.memory.recall import Recall
from forgetmenot.memory.retention import sweep_notes
from forgetmenot.settings.schema import MemorySettings
from forgetmenot.store import notes
from forgetmenot.store.counts import all_counts
from tests.memory.conftest import Channel
from tests.notes_world import World, prompt_for, section
from tests.rows import put


async def sweep(world: World, memory: MemorySettings | None = None) -> Counter[str]:
    return await sweep_notes(world.db, memory or MemorySettings(), world.clock.now())


async def status(world: World, note_id: int) -> NoteStatus:
    note = await notes.get(world.db, note_id)
    assert note is not None
    return note.status


@pytest.mark.parametrize(
    ("streams", "days", "stale"),
    [(1, 400, False), (20, 3, False), (19, 5, False), (20, 5, True)],
)
async def test_twenty_streams_over_ninety_days_without_a_word_make_a_note_stale(
    world: World, streams: int, days: int, *, stale: bool
) -> None:
    """Neither absence nor many streams in two months do. Of the channel all streams count, and pinned ones stay."""
    ids = [
        await world.note("lives in Oslo"),
        await world.note("subs get stickers", subject_id=None),
    ]
    await world.note("has a cat", source_kind=SourceKind.IMPORT)
    await world.note("is a founder", pinned=True)
    await world.note("movie night is on Friday", subject_id=None, pinned=True)
    for _ in range(streams):
        await world.clock.advance(days * DAY)
        await world.attends("1", await world.stream())
    assert await sweep(world) == Counter(stale=2 if stale else 0)
    stored_notes = [
        *await notes.of_subject(world.db, "1"),
        *await notes.of_subject(world.db, None),
    ]
    assert [note.id for note in stored_notes if note.stale] == (ids if stale else [])
    assert len(stored_notes) == 5


async def test_a_stale_note_is_found_by_its_words_and_lives_again_when_a_reply_used_it(
    world: World, recall: Recall
) -> None:
    stale = await world.note("plays the cello")
    fresh = await world.note("lives in Oslo")
    async with world.db.write() as tx:
        await notes.set_stale(tx, "1", before=world.clock.now(), streams=0)
        await notes.set_used(tx, [fresh], world.clock.now())

    async def recalled_ids(text: str) -> list[int]:
        return [recalled.note.id for recalled in await recall.about(["1"], text)]

    assert await recalled_ids("what's up?") == [fresh]
    assert (await recalled_ids("do you play the cello?"))[0] == stale
    async with world.db.write() as tx:
        await notes.set_used(tx, [stale], world.clock.now())
    assert sorted(await recalled_ids("")) == [stale, fresh]


async def test_what_was_to_last_a_month_is_past_for_a_year_and_found_by_its_words_with_its_month(
    world: World, recall: Recall
) -> None:
    said_at = world.clock.now()
    month = await world.note("hosts a dance competition", expires_at=said_at + 30 * DAY)
    week = await world.note("hosts a dance party", expires_at=said_at + 7 * DAY)
    pinned = await world.note("is on holiday", expires_at=said_at + DAY, pinned=True)
    assert await sweep(world) == Counter()
    await world.clock.advance(31 * DAY)
    for swept in (False, True):
        assert [
            recalled.note.id
            for recalled in await recall.about(["1"], "where is the dance?")
        ] == [month], swept
        assert await recall.about(["1"], "") == []
        lore = section(
            await prompt_for(world, "1", "alice", "when was the dance?"), "lore"
        )
        assert (
            f"in {datetime.fromtimestamp(said_at / 1_000, UTC):%B %Y}: hosts a dance competition"
            in lore
        )
        assert await sweep(world) == Counter(over=0 if swept else 2)
    expected = [NoteStatus.PAST, NoteStatus.EXPIRED, NoteStatus.ACTIVE]
    assert [
        await status(world, note_id) for note_id in (month, week, pinned)
    ] == expected
    await world.clock.advance(365 * DAY)
    await sweep(world)
    assert await status(world, month) is NoteStatus.EXPIRED
    assert await recall.about(["1"], "where is the dance?") == []


async def test_over_the_cap_the_least_important_then_the_oldest_go(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    low = await world.note("fact one", importance=Importance.LOW)
    bits = []
    for name in ("ladder", "duck", "crown"):
        await world.clock.advance(DAY)
        bits.append(
            await world.note(
                f"the {name} falls", subject_id=None, scope=Scope.RUNNING_BIT
            )
        )
    medium = [
        await world.note("fact two"),
        await world.note("fact three", at=world.clock.now() + 1),
    ]
    high = await world.note("fact four", importance=Importance.HIGH)
    imported = await world.note("fact five", source_kind=SourceKind.IMPORT)
    timed = await world.note("fact six", expires_at=world.clock.now() + 30 * DAY)
    monkeypatch.setattr(retention, "CHANNEL_NOTES_LIMIT", 2)
    assert await sweep(world, MemorySettings(notes_per_viewer=2)) == Counter(evicted=3)
    evicted = [
        note.id for note in await notes.of_subject(world.db, "1", (NoteStatus.EVICTED,))
    ]
    assert evicted == [low, medium[0]]
    note_ids = [note.id for note in await notes.of_subject(world.db, "1")]
    assert note_ids == [medium[1], high, imported, timed]
    assert [note.id for note in await notes.of_subject(world.db, None)] == bits[1:]


@pytest.mark.parametrize("kind", ["timed", "permanent"])
async def test_the_cap_of_a_viewer_is_found_among_their_notes_alone(
    world: World, kind: str
) -> None:
    """By the index of what ends it took a minute at a start, with 800 people and 100,000 notes."""
    values = {"now": 0, "limit": 1, "viewer": "1", "timed": 0, "permanent": 0}
    query = f"SELECT 1 FROM semantic_notes n WHERE {notes._DUE[kind]}"  # noqa: S608  # ours
    assert (
        "notes_by_subject"
        in (await world.db.rows(f"EXPLAIN QUERY PLAN {query}", values))[0]["detail"]
    )


async def test_what_is_kept_for_looking_back_goes_after_its_days_but_not_what_is_still_to_do(
    channel: Channel,
) -> None:
    now = channel.clock.now()
    async with channel.db.write() as tx:
        for at in (now - 31 * DAY, now - 29 * DAY):
            for table in ("bot_messages", "model_calls"):
                await put(tx, table, at=at)
        await put(tx, "bot_messages", at=now - 31 * DAY, status="sending")
        await put(
            tx,
            "episodes",
            kind="command",
            summary="",
            key="line:m1",
            ended_at=now - 25 * HOUR,
        )
        for key, more in (
            ("done", {}),
            ("due", {"revert_at": now + DAY}),
            ("waits", {"status": "waiting"}),
        ):
            await put(
                tx,
                "action_logs",
                **({"key": key, "status": "done", "at": now - 31 * DAY} | more),
            )
    await channel.sweep()
    remaining_sql = (
        "SELECT at FROM bot_messages UNION ALL SELECT at FROM model_calls ORDER BY at"
    )
    assert await channel.db.column(remaining_sql) == [
        now - 31 * DAY,
        now - 29 * DAY,
        now - 29 * DAY,
    ]
    assert await channel.db.column("SELECT key FROM action_logs ORDER BY key") == [
        "due",
        "waits",
    ]
    assert await channel.db.column("SELECT key FROM episodes") == [
        None
    ]  # the id of the line that told it


async def test_all_that_are_too_many_go_at_once_also_after_the_limit_was_lowered(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "NOTES_AT_ONCE", 2)
    for number in range(30):
        await world.note(f"owns boat number {number}")
    assert await sweep(world, MemorySettings(notes_per_viewer=20)) == Counter(
        evicted=10
    )


async def test_of_notes_that_end_by_themselves_a_viewer_keeps_a_quarter_of_the_limit(
    world: World,
) -> None:
    ends_at = world.clock.now() + 30 * DAY
    timed = [
        await world.note(f"is at trial {number}", expires_at=ends_at)
        for number in range(4)
    ]
    permanent = [await world.note(f"owns boat number {number}") for number in range(4)]
    assert await sweep(world, MemorySettings(notes_per_viewer=8)) == Counter(evicted=2)
    active = [note.id for note in await notes.of_subject(world.db, "1")]
    assert active == [*timed[2:], *permanent]


async def test_chat_past_its_hours_is_deleted_in_parts_and_newer_chat_stays(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "LINES_AT_ONCE", 2)
    old_lines = await channel.chat(5)
    await channel.clock.advance(24 * HOUR)
    new_lines = await channel.chat(3)
    await channel.sweep()
    ids = set(await channel.db.column("SELECT id FROM events"))
    assert ids == {line.id for line in new_lines}
    assert (await all_counts(channel.db))["pruned_covered"] == len(old_lines)


async def test_old_replies_are_deleted_in_parts(
    channel: Channel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "LOGS_AT_ONCE", 2)
    async with channel.db.write() as tx:
        for _ in range(5):
            await put(tx, "bot_messages", at=channel.clock.now() - 31 * DAY)
    await channel.sweep()
    assert await channel.db.value("SELECT count(*) FROM bot_messages") == 0


async def test_the_history_says_why_a_note_ended(world: World) -> None:
    ended = await world.note("is at a fair", expires_at=world.clock.now() + DAY)
    evicted = await world.note("fact one", importance=Importance.LOW)
    await world.note("fact two")
    await world.clock.advance(2 * DAY)
    await sweep(world, MemorySettings(notes_per_viewer=1))
    last_changes = [
        (await notes.changes(world.db, note_id))[-1] for note_id in (ended, evicted)
    ]
    assert [change.cause for change in last_changes] == [
        "its time was up",
        "too many notes",
    ]
    assert [change.to_status for change in last_changes] == ["expired", "evicted"]
