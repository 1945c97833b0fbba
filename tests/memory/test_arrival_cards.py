"""Who just came in: a card about those that the memory knows, and about nobody else."""

from typing import TYPE_CHECKING

import msgspec
import pytest

from forgetmenot.domain import SourceKind
from forgetmenot.durations import DAY, HOUR, MINUTE
from forgetmenot.memory.arrival_cards import SHOWN_FOR, Card, arrivals, card
from forgetmenot.settings.schema import DockSettings, Earpiece, Settings
from forgetmenot.store import notes, viewers

if TYPE_CHECKING:
    from tests.notes_world import World

EVERYONE = DockSettings(earpiece=Earpiece.EVERYONE_KNOWN)


async def came(world: "World", dock: DockSettings = EVERYONE) -> list[Card]:
    return await arrivals(
        world.db, msgspec.structs.replace(Settings(), dock=dock), world.clock.now()
    )


async def test_a_card_says_who_came_how_often_and_what_holds_these_days(
    world: "World",
) -> None:
    drums = await world.note("plays drums in a band")
    test = await world.note(
        "has her driving test on Friday", expires_at=world.clock.now() + 6 * DAY
    )
    await world.note("cheats at cards", source_kind=SourceKind.REPORTED)
    await world.note("is the owner of this channel", source_kind=SourceKind.COMMAND)
    await world.over("1", recap=None)
    left_at = world.clock.now() - HOUR
    await world.clock.advance(DAY)
    await world.attends("1", await world.stream())
    assert await came(world) == [
        Card(
            "1",
            "alice",
            "Alice",
            world.clock.now(),
            2,
            left_at,
            "plays drums in a band",
            "has her driving test on Friday",
            (drums, test),
        ),
    ]
    await world.clock.advance(SHOWN_FOR + MINUTE)
    assert await came(world) == []


async def test_nobody_has_a_card_who_is_hidden_or_of_whom_nothing_may_be_said(
    world: "World",
) -> None:
    stream = await world.stream()
    for viewer in ("1", "2", "9"):
        await world.attends(viewer, stream)
    assert await came(world) == []
    await world.note("plays drums")
    await world.note(
        "streams every day", subject_id="9"
    )  # the streamer knows who they are
    assert [card.name for card in await came(world)] == ["Alice"]
    for fewer in (
        DockSettings(earpiece=Earpiece.OFF),
        DockSettings(),
    ):  # by itself it is about regulars
        assert await came(world, fewer) == []
    for typed in ("Alice", " @ALICE "):
        assert (
            await came(
                world,
                DockSettings(
                    earpiece=Earpiece.EVERYONE_KNOWN, earpiece_without=(typed,)
                ),
            )
            == []
        )
    for hidden in ("opted_out_at = 1", "opted_out_at = NULL, banned_at = 1"):
        async with world.db.write() as tx:
            await tx.execute(f"UPDATE viewers SET {hidden} WHERE id = '1'")  # noqa: S608
        assert await came(world) == []
    async with world.db.write() as tx:
        await viewers.set_banned(tx, "1", None)
    assert [card.name for card in await came(world)] == ["Alice"]
    async with world.db.write() as tx:
        await notes.add_suppression(tx, "1", "drums", note_id=None, by_id=None, at=1)
    assert await came(world) == []
    await world.note("owns a canoe")
    assert [card.who for card in await came(world)] == ["owns a canoe"]


@pytest.mark.parametrize("hidden", ["opted_out_at = 1", "banned_at = 1"])
async def test_nobody_gets_the_card_of_a_hidden_viewer(
    world: "World", hidden: str
) -> None:
    await world.note("plays drums")
    now = world.clock.now()
    assert await card(world.db, "1", now, now, Settings()) is not None
    async with world.db.write() as tx:
        await tx.execute(f"UPDATE viewers SET {hidden} WHERE id = '1'")  # noqa: S608
    assert await card(world.db, "1", now, now, Settings()) is None


async def test_a_stale_note_is_on_no_card(world: "World") -> None:
    await world.note("plays drums")
    now = world.clock.now()
    async with world.db.write() as tx:
        await notes.set_stale(tx, "1", before=now, streams=0)
    assert await card(world.db, "1", now, now, Settings()) is None


async def test_nobody_is_welcomed_back_when_the_channel_itself_paused(
    world: "World",
) -> None:
    await world.note("plays drums in a band")
    for _ in range(3):
        await world.over("1")
    await world.clock.advance(41 * DAY)
    await world.attends("1", await world.stream())
    # three streams make nobody a regular
    assert await came(world, DockSettings()) == []
    [alice] = await came(world)
    assert alice.together == "4 streams in a row"
