"""The past in a prompt: the newest episodes, and the older one that a message speaks of."""

import pytest

from forgetmenot.memory.past_episodes import LOOKED_AT, fitting, newest, spoken_of
from forgetmenot.memory.ranking import query_of
from forgetmenot.memory.suppression import SuppressionFilter
from tests.notes_world import World


async def test_the_episode_that_a_message_is_about(world: World) -> None:
    raid = await world.episode("A raid of 80 people came in while <@1> beat the fire dragon.", {"1": (9, 0)})
    await world.episode("People talked about dinner.", {"2": (9, 0)})
    found = await spoken_of(world.db, query_of("remember the raid during that dragon fight?"), SuppressionFilter(), 1)
    assert [one.id for one in found] == [raid]
    assert (
        await spoken_of(
            world.db, query_of("remember the raid during that dragon fight?"), SuppressionFilter(), 1, without=[raid]
        )
        == []
    )
    assert await spoken_of(world.db, query_of("dragon fruit smoothie recipes anyone?"), SuppressionFilter(), 1) == []
    assert await spoken_of(world.db, query_of("???"), SuppressionFilter(), 1) == []


@pytest.mark.parametrize(
    "text", ['"', "a AND b", "NEAR(x y)", "summary:raid", "raid*", "^raid -dragon", "(((", "'; --"]
)
async def test_the_full_text_search_takes_any_text(world: World, text: str) -> None:
    await world.episode("A raid came.", {"1": (9, 0)})
    assert len(await fitting(world.db, query_of(text))) <= 1


async def test_the_newest_episodes_and_the_last_streams_recap(world: World) -> None:
    last = await world.stream()
    await world.episode("Last stream.", {"1": (1, 0)}, last)
    async with world.db.write() as tx:
        await tx.execute("UPDATE streams SET recap = 'A good one.'")
    now = await world.stream()
    for number in range(4):
        await world.clock.advance(60_000)
        await world.episode(f"Part {number}.", {"1": (1, 0)}, now)
    found = await newest(world.db, SuppressionFilter())
    assert [episode.summary for episode in found.this_stream] == ["Part 2.", "Part 3."]
    assert (found.last_stream.summary if found.last_stream else "", found.recap) == ("Last stream.", "A good one.")


async def test_what_an_episode_is_about_counts_and_decides(world: World) -> None:
    for summary in ("<@1> fell into a pit while <@2> sang.", "Chat planned a pumpkin contest.", "<@1> cooked pumpkin."):
        await world.episode(summary, {"1": (9, 0)})
    topics = ("Ladders of Ash", "pumpkin contest", "cooking")
    async with world.db.write() as tx:
        await tx.many("UPDATE episodes SET topic = ? WHERE id = ?", [(t, n) for n, t in enumerate(topics, 1)])
    found = await spoken_of(world.db, query_of("who sang in ladders of ash?"), SuppressionFilter(), 1)
    assert [one.id for one in found] == [1]
    assert [one.id for one in await spoken_of(world.db, query_of("the pumpkin thing"), SuppressionFilter(), 1)] == [2]


async def test_one_word_is_enough_where_few_speak_of_it(world: World) -> None:
    raids = [await world.episode(f"<@2> raided with {number} people.", {"2": (1, 0)}) for number in range(LOOKED_AT)]
    assert [one.id for one in await spoken_of(world.db, query_of("who raided us?"), SuppressionFilter(), 1)] == raids[
        -1:
    ]
    await world.episode("<@1> raided too.", {"1": (1, 0)})
    assert await spoken_of(world.db, query_of("who raided us?"), SuppressionFilter(), 1) == []


@pytest.mark.parametrize("column", ["opted_out_at", "banned_at"])
async def test_of_who_is_hidden_nothing_is_told_and_of_the_others_the_rest(world: World, column: str) -> None:
    """A regular who opts out does not take the channel's past along."""
    told = "<@1> fell off the lighthouse. She blamed the lantern. <@2> won the pumpkin race."
    await world.episode(told, {"1": (9, 0), "2": (9, 0)})
    assert [
        one.summary for one in await spoken_of(world.db, query_of("that pumpkin race?"), SuppressionFilter(), 1)
    ] == [told]
    async with world.db.write() as tx:
        await tx.execute(f"UPDATE viewers SET {column} = 1 WHERE id = '1'")  # noqa: S608  # a column of ours
    found = await spoken_of(world.db, query_of("that pumpkin race?"), SuppressionFilter(), 1)
    assert [one.summary for one in found] == ["<@2> won the pumpkin race."]
    assert await spoken_of(world.db, query_of("who fell off that lighthouse?"), SuppressionFilter(), 1) == []
    assert await spoken_of(world.db, query_of("the lantern by the lighthouse"), SuppressionFilter(), 1) == []
