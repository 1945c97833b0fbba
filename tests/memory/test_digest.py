"""The last seven days in 500 characters: written when a stream closes, and never in between."""

import pytest

from forgetmenot.clock import DAY, HOUR
from forgetmenot.memory import rights
from forgetmenot.memory.stream_recap import CHARACTERS, RecapWriter
from forgetmenot.store import channel_state, streams
from tests.notes_world import Scripted, World


@pytest.fixture
def recaps(world: World) -> RecapWriter:
    return RecapWriter(db=world.db, model=Scripted(), settings=lambda: world.settings, clock=world.clock)


async def close(world: World, recap: str | None) -> int:
    """One more stream, which is over; None: its recap is still to be written."""
    stream = await world.stream()
    await world.clock.advance(HOUR)
    async with world.db.write() as tx:
        await streams.end(tx, stream, world.clock.now())
        if recap is not None:
            await streams.set_recap(tx, stream, recap, world.clock.now())
    return stream


async def digest(world: World) -> str:
    return await channel_state.read(world.db, "digest")


async def test_it_is_written_once_per_closed_stream_when_its_recap_is_there(world: World, recaps: RecapWriter) -> None:
    await close(world, "Long ago.")
    await world.clock.advance(8 * DAY)
    await close(world, "<@1> beat the boss. Chat cheered.")
    stream = await close(world, None)
    assert not await recaps.write_digest()
    async with world.db.write() as tx:
        await streams.set_recap(tx, stream, "<@2> raided.", world.clock.now())
    assert await recaps.write_digest()
    assert await digest(world) == "<@2> raided. <@1> beat the boss. Chat cheered."
    assert not await recaps.write_digest()


async def test_it_is_cut_at_a_sentence(world: World, recaps: RecapWriter) -> None:
    await close(world, " ".join(f"Sentence number {i} of the recap." for i in range(40)))
    assert await recaps.write_digest()
    assert CHARACTERS / 2 < len(await digest(world)) <= CHARACTERS
    assert (await digest(world)).endswith(".")


async def test_what_is_left_alone_is_not_in_it(world: World, recaps: RecapWriter) -> None:
    await close(world, "<@1> talked about the divorce. <@2> sang.")
    await rights.suppress(world.db, None, "divorce", by="9", at=0)
    await recaps.write_digest()
    assert await digest(world) == "<@2> sang."


async def test_a_recap_that_goes_takes_the_digest_along(world: World, recaps: RecapWriter) -> None:
    stream = await close(world, "Secret.")
    await recaps.write_digest()
    async with world.db.write() as tx:
        await tx.execute("UPDATE streams SET recap = '', recapped_at = NULL WHERE id = ?", (stream,))
    assert await digest(world) == ""
