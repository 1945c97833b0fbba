"""Who just came in: a card about those that the memory knows, and about nobody else."""

from typing import TYPE_CHECKING

import msgspec

from forgetmenot.clock import DAY, HOUR, MINUTE
from forgetmenot.domain import SourceKind
from forgetmenot.memory.arrivals import MOST, SHOWN_FOR, Card, arrivals
from forgetmenot.settings.schema import DockSettings, Earpiece, Settings
from forgetmenot.store import notes, streams

if TYPE_CHECKING:
    from tests.notes_world import World

EVERYONE = DockSettings(earpiece=Earpiece.EVERYONE_KNOWN)


async def came(world: "World", dock: DockSettings = EVERYONE) -> list[Card]:
    return await arrivals(world.db, msgspec.structs.replace(Settings(), dock=dock), world.clock.now())


async def hide(world: "World", column: str, at: int | None) -> None:
    async with world.db.write() as tx:
        await tx.execute(f"UPDATE viewers SET {column} = ? WHERE id = '1'", (at,))  # noqa: S608


async def stream_with(world: "World", *here: str) -> None:
    await world.clock.advance(DAY)
    stream = await world.stream()
    for viewer in here:
        await world.attends(viewer, stream)
    await world.clock.advance(HOUR)
    async with world.db.write() as tx:
        await streams.end(tx, stream, world.clock.now())


async def test_a_card_says_who_came_how_often_and_what_holds_these_days(world: "World") -> None:
    drums = await world.note("plays drums in a band")
    test = await world.note("has her driving test on Friday", expires_at=world.clock.now() + 6 * DAY)
    await world.note("cheats at cards", source_kind=SourceKind.REPORTED)
    await stream_with(world, "1")
    left = world.clock.now() - HOUR
    await world.clock.advance(DAY)
    await world.attends("1", await world.stream())
    assert await came(world) == [
        Card("1", "alice", "Alice", world.clock.now(), 2, left,
             "plays drums in a band", "has her driving test on Friday", (drums, test)),
    ]  # fmt: skip
    await world.clock.advance(SHOWN_FOR + MINUTE)
    assert await came(world) == []


async def test_nobody_has_a_card_of_whom_nothing_is_known_or_who_is_hidden(world: "World") -> None:
    stream = await world.stream()
    for viewer in ("1", "2", "9"):
        await world.attends(viewer, stream)
    assert await came(world) == []
    await world.note("plays drums")
    await world.note("streams every day", subject_id="9")  # the streamer knows who they are
    assert [card.name for card in await came(world)] == ["Alice"]
    assert await came(world, DockSettings(earpiece=Earpiece.OFF)) == []
    for typed in ("Alice", " @ALICE "):
        assert await came(world, DockSettings(earpiece=Earpiece.EVERYONE_KNOWN, earpiece_without=(typed,))) == []
    for column in ("opted_out_at", "banned_at"):
        await hide(world, column, 1)
        assert await came(world) == []
        await hide(world, column, None)
    assert [card.name for card in await came(world)] == ["Alice"]


async def test_what_is_never_mentioned_stands_on_no_card(world: "World") -> None:
    await world.note("plays drums")
    await world.attends("1", await world.stream())
    async with world.db.write() as tx:
        await notes.add_suppression(tx, "1", "drums", note_id=None, by_id=None, at=1)
    assert await came(world) == []
    await world.note("owns a canoe")
    assert [card.who for card in await came(world)] == ["owns a canoe"]


async def test_by_itself_a_card_is_about_regulars_and_there_are_three_at_most(world: "World") -> None:
    people = [await world.viewer(str(number), f"viewer{number}") for number in range(20, 25)]
    for viewer in people:
        await world.note("likes tea", subject_id=viewer)
    regulars = people[:4]
    for _ in range(5):
        await stream_with(world, *regulars)
    await world.clock.advance(DAY)
    stream = await world.stream()
    for viewer in people:
        await world.clock.advance(1)
        await world.attends(viewer, stream)
    shown = [card.id for card in await came(world, DockSettings())]
    assert shown == regulars[:0:-1]
    assert len(shown) == MOST
    assert [card.id for card in await came(world)] == people[:1:-1]


async def test_what_is_over_is_on_no_card(world: "World") -> None:
    await world.note("plays drums in a band")
    await world.note("has her driving test on Friday", expires_at=world.clock.now() + DAY)
    await world.clock.advance(3 * DAY)
    await world.attends("1", await world.stream())
    [card] = await came(world, DockSettings(earpiece=Earpiece.EVERYONE_KNOWN))
    assert (card.who, card.lately) == ("plays drums in a band", "")


async def test_a_raid_of_known_newcomers_hides_no_regular(world: "World") -> None:
    await world.note("plays drums")
    for _ in range(5):
        await stream_with(world, "1")
    await world.clock.advance(DAY)
    stream = await world.stream()
    await world.attends("1", stream)
    for number in range(100, 180):
        await world.note("likes tea", subject_id=await world.viewer(str(number), f"viewer{number}"))
        await world.clock.advance(1)
        await world.attends(str(number), stream)
    assert [card.id for card in await came(world, DockSettings())] == ["1"]
