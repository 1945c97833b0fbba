"""What time does to notes: they run out, go stale by streams attended, and fall to the caps."""

from typing import TYPE_CHECKING

from forgetmenot.clock import DAY
from forgetmenot.domain.memory import Importance, NoteStatus, Scope, SourceKind
from forgetmenot.memory.lifecycle import LifeReport, sweep_notes
from forgetmenot.settings.schema import MemorySettings
from forgetmenot.store import notes
from forgetmenot.store.notes import NewNote

if TYPE_CHECKING:
    from tests.notes_world import World


async def write(
    world: "World",
    fact: str,
    *,
    lasts: int | None = None,
    importance: Importance = Importance.MEDIUM,
    kind: SourceKind = SourceKind.SELF_CLAIM,
    pinned: bool = False,
) -> int:
    now = world.clock.now()
    expires_at = None if lasts is None else now + lasts
    new = NewNote(Scope.VIEWER, "1", fact, 0.8, kind, now, importance, expires_at=expires_at, pinned=pinned)
    async with world.db.write() as tx:
        return await notes.insert(tx, new, cause="said", now=now)


async def sweep(world: "World", memory: MemorySettings | None = None) -> LifeReport:
    return await sweep_notes(world.db, memory or MemorySettings(), world.clock.now())


async def status(world: "World", note_id: int) -> NoteStatus:
    note = await notes.get(world.db, note_id)
    assert note is not None
    return note.status


async def test_a_note_expires_when_its_time_is_up_and_its_history_says_so(world: "World") -> None:
    short, lasting = await write(world, "is away", lasts=DAY), await write(world, "lives in Oslo")
    pinned = await write(world, "is on holiday", lasts=DAY, pinned=True)
    assert await sweep(world) == LifeReport(0, 0, 0)
    await world.clock.advance(DAY)
    assert await sweep(world) == LifeReport(expired=1, stale=0, evicted=0)
    assert await status(world, short) is NoteStatus.EXPIRED
    assert await status(world, lasting) is NoteStatus.ACTIVE
    assert await status(world, pinned) is NoteStatus.ACTIVE
    last = (await notes.changes(world.db, short))[-1]
    assert (last.from_status, last.to_status, last.at) == ("active", "expired", world.clock.now())


async def test_absence_is_not_staleness(world: "World") -> None:
    note = await write(world, "lives in Oslo")
    await world.clock.advance(400 * DAY)
    assert await sweep(world) == LifeReport(0, 0, 0)
    assert await status(world, note) is NoteStatus.ACTIVE


async def test_twenty_streams_over_ninety_days_without_a_word_make_a_note_stale(world: "World") -> None:
    note = await write(world, "lives in Oslo")
    kept = [
        await write(world, "has a cat", kind=SourceKind.IMPORT),
        await write(world, "is a founder", pinned=True),
    ]
    for _ in range(19):
        await world.clock.advance(5 * DAY)
        await world.attends("1", await world.stream())
    assert await sweep(world) == LifeReport(0, 0, 0)
    await world.clock.advance(5 * DAY)
    await world.attends("1", await world.stream())
    assert await sweep(world) == LifeReport(expired=0, stale=1, evicted=0)
    assert await status(world, note) is NoteStatus.STALE
    assert [await status(world, other) for other in kept] == [NoteStatus.ACTIVE] * 2


async def test_twenty_streams_in_two_months_are_not_enough(world: "World") -> None:
    await write(world, "lives in Oslo")
    for _ in range(20):
        await world.clock.advance(3 * DAY)
        await world.attends("1", await world.stream())
    assert await sweep(world) == LifeReport(0, 0, 0)


async def test_over_the_cap_the_least_important_then_the_oldest_go(world: "World") -> None:
    memory = MemorySettings(permanent_notes_per_viewer=2, timed_notes_per_viewer=1)
    low = await write(world, "fact one", importance=Importance.LOW)
    await world.clock.advance(DAY)
    medium_old = await write(world, "fact two")
    await world.clock.advance(DAY)
    medium_new = await write(world, "fact three")
    high = await write(world, "fact four", importance=Importance.HIGH)
    imported = await write(world, "fact five", kind=SourceKind.IMPORT)
    timed = await write(world, "fact six", lasts=30 * DAY)
    report = await sweep(world, memory)
    assert report == LifeReport(expired=0, stale=0, evicted=2)
    evicted = [note.id for note in await notes.of_subject(world.db, "1", (NoteStatus.EVICTED,))]
    assert evicted == [low, medium_old]
    left = [note.id for note in await notes.of_subject(world.db, "1")]
    assert left == [medium_new, high, imported, timed]


async def test_many_changes_are_many_small_transactions(world: "World") -> None:
    for number in range(450):
        await write(world, f"fact {number}", lasts=DAY)
    await world.clock.advance(DAY)
    assert (await sweep(world)).expired == 450
