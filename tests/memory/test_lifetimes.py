"""How long a note lives, from what a model says of it to the end of its year as a past one."""

import pytest

from forgetmenot.domain import Note, NoteStatus, SourceKind
from forgetmenot.durations import DAY, HOUR, WEEK
from forgetmenot.memory.lifetimes import becomes_past, extended_end
from forgetmenot.memory.retention import sweep_notes
from forgetmenot.settings.schema import MemorySettings
from forgetmenot.store import notes
from tests.notes_world import NOW, World, change, live, note


async def learned(world: World, **fields: object) -> Note:
    """The note that a model's proposal became."""
    await world.learn(change(**fields))
    [learned_note] = await live(world)
    return learned_note


@pytest.mark.parametrize(
    ("lifetime", "length"),
    [
        ("1d", DAY),
        ("3d", 3 * DAY),
        ("7d", 7 * DAY),
        ("30d", 30 * DAY),
        ("permanent", None),
        ("for ever", WEEK),
        (None, WEEK),
    ],
)
async def test_a_note_is_good_for_as_long_as_the_model_says_and_else_for_a_week(
    world: World, lifetime: str | None, length: int | None
) -> None:
    said_at = world.clock.now()
    learned_note = await learned(world, lifetime=lifetime)
    expected = None if length is None else said_at + length
    assert learned_note.expires_at == expected


async def test_what_is_said_again_lives_for_its_own_time_once_more(
    world: World,
) -> None:
    first = await learned(world, lifetime="7d")
    await world.clock.advance(6 * DAY)
    again = await learned(world, lifetime="1d")
    assert again.id == first.id
    assert again.expires_at == world.clock.now() + 7 * DAY
    longer = await learned(world, lifetime="30d")
    assert longer.expires_at == world.clock.now() + 30 * DAY
    permanent = await learned(world, lifetime="permanent")
    assert permanent.expires_at is None
    assert (await learned(world, lifetime="1d")).expires_at is None


@pytest.mark.parametrize(
    ("said_at", "claimed_end", "end"),
    [
        (NOW + DAY, NOW + 2 * DAY, NOW + 4 * DAY),
        (NOW + DAY, NOW + 8 * DAY, NOW + 8 * DAY),
        (NOW - DAY, NOW, NOW + 3 * DAY),
        (NOW + DAY, None, None),
    ],
    ids=["its own span", "a later end", "said before it was known", "permanently"],
)
def test_a_repeat_never_shortens_a_life(
    said_at: int, claimed_end: int | None, end: int | None
) -> None:
    stored = note(1, "is at a fair", last_confirmed_at=NOW, expires_at=NOW + 3 * DAY)
    assert extended_end(stored, said_at, claimed_end) == end


@pytest.mark.parametrize(
    ("expires_at", "is_past"),
    [(None, False), (NOW + WEEK, False), (NOW + WEEK + 1, True)],
)
def test_what_was_to_last_longer_than_a_week_becomes_past(
    expires_at: int | None, *, is_past: bool
) -> None:
    stored = note(1, "is at a fair", last_confirmed_at=NOW, expires_at=expires_at)
    assert becomes_past(stored) is is_past


async def test_the_sweep_goes_by_the_same_week_and_keeps_what_is_past_for_a_year(
    world: World,
) -> None:
    now = world.clock.now()
    week = await world.note("is at a fair", expires_at=now + WEEK)
    longer = await world.note("is on a tour", expires_at=now + WEEK + HOUR)

    async def statuses() -> list[NoteStatus]:
        await sweep_notes(world.db, MemorySettings(), world.clock.now())
        stored = [await notes.get(world.db, note_id) for note_id in (week, longer)]
        return [note.status for note in stored if note is not None]

    await world.clock.advance(WEEK)
    assert await statuses() == [NoteStatus.EXPIRED, NoteStatus.ACTIVE]
    await world.clock.advance(HOUR)
    assert await statuses() == [NoteStatus.EXPIRED, NoteStatus.PAST]
    await world.clock.advance(364 * DAY)
    assert await statuses() == [NoteStatus.EXPIRED, NoteStatus.PAST]
    await world.clock.advance(DAY)
    assert await statuses() == [NoteStatus.EXPIRED, NoteStatus.EXPIRED]


async def test_pinned_and_imported_notes_neither_end_nor_go_stale(
    world: World,
) -> None:
    await world.note("has a cat", source_kind=SourceKind.IMPORT)
    await world.note("is a founder", pinned=True, expires_at=world.clock.now() + DAY)
    for _ in range(21):
        await world.clock.advance(30 * DAY)
        await world.attends("1", await world.stream())
    await sweep_notes(world.db, MemorySettings(), world.clock.now())
    live_notes = [(stored.fact, stored.stale) for stored in await live(world)]
    assert live_notes == [("has a cat", False), ("is a founder", False)]
