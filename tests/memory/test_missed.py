"""What somebody missed: stored sentences alone, of the time that they were away, about people who may be named."""

import random
from typing import TYPE_CHECKING

from forgetmenot.clock import DAY, HOUR, MINUTE
from forgetmenot.memory import rights
from forgetmenot.memory.recall import Missed, missed
from forgetmenot.store import streams, viewers
from forgetmenot.text.mentions import show
from forgetmenot.text.words import sentences_of

if TYPE_CHECKING:
    from tests.notes_world import World

NAMES = {"1": "Alice", "2": "Bob", "9": "Carol"}


async def asked(world: "World", viewer: str = "1", most: int = 400) -> Missed:
    return await missed(world.db, viewer, world.clock.now(), most)


async def stream_with(world: "World", recap: str, *here: str) -> int:
    """A stream of two hours with a recap; it ends before the next one begins."""
    await world.clock.advance(DAY)
    stream = await world.stream()
    for viewer in here:
        await world.attends(viewer, stream)
    await world.clock.advance(2 * HOUR)
    async with world.db.write() as tx:
        await streams.end(tx, stream, world.clock.now())
        if recap:
            await streams.set_recap(tx, stream, recap, world.clock.now())
    return stream


async def test_a_missed_stream_is_told_by_its_recap(world: "World") -> None:
    assert (await asked(world)).since is None
    await stream_with(world, "Alice was here for this one.", "1")
    away = await stream_with(world, "<@2> beat the dragon. Chat chose the red banner.")
    await world.stream()
    assert (await asked(world))[1:] == (
        ("Bob beat the dragon.", "Chat chose the red banner."),
        (("stream", away), ("stream", away)),
    )


async def test_of_a_stream_that_is_on_what_came_before_them_and_after_they_left_is_told(world: "World") -> None:
    await stream_with(world, "", "1")
    stream = await world.stream()
    await world.clock.advance(MINUTE)
    before = await world.episode("<@2> opened the vault.", {"2": (9, 0)}, stream)
    await world.clock.advance(HOUR)
    await world.attends("1", stream)
    assert (await asked(world))[1:] == (("Bob opened the vault.",), (("episode", before),))


async def test_hidden_people_and_what_is_left_alone_stay_out(world: "World") -> None:
    await stream_with(world, "", "1")
    await stream_with(
        world, "<@2> won the race. They cheered for an hour. Chat voted on the election. <@9> baked bread."
    )
    async with world.db.write() as tx:
        await viewers.set_banned(tx, "2", world.clock.now())
    await rights.suppress(world.db, None, "election", by="9", at=0)
    assert (await asked(world)).sentences == ("Carol baked bread.",)


async def test_every_sentence_is_a_stored_one_and_all_of_it_fits(world: "World") -> None:
    """200 questions on scripted streams: supported = 1.0."""
    dice, stored = random.Random(7), set()
    deeds = ("found the key", "lost to the dragon twice", "told the story of the ladder", "sang " + "la " * 90)
    for number in range(40):
        lines = [
            f"<@{dice.choice('29')}> {dice.choice(deeds)} in round {number}-{i}." for i in range(dice.randint(1, 6))
        ]
        stored |= {show(line, NAMES) for line in lines}
        here = [viewer for viewer in "129" if dice.random() < 0.3]
        stream = await stream_with(world, " ".join(lines) if number % 3 else "", *here)
        if not number % 3:
            await world.episode(" ".join(lines), {}, stream)
        for _ in range(5):
            found = await asked(world, dice.choice("129"), most := dice.randint(50, 400))
            assert len(found.sentences) == len(found.evidence) <= 3
            assert set(found.sentences) <= stored
            assert len(" ".join(found.sentences)) <= most
            assert all(sentences_of(sentence) == [sentence] for sentence in found.sentences)
