"""The past in a prompt: the newest episodes, and the older one that a message speaks of."""

from collections.abc import Sequence

import pytest

from forgetmenot.domain import Episode
from forgetmenot.memory.ranking import query_of
from forgetmenot.memory.recall import LOOKED_AT, EpisodeIndex, newest, spoken_of
from forgetmenot.memory.rights import SuppressionFilter
from tests.notes_world import World


async def about(world: World, text: str, without: Sequence[int] = ()) -> list[Episode]:
    return await spoken_of(world.db, EpisodeIndex(), query_of(text), SuppressionFilter(), 1, without=without)


async def test_the_episode_that_a_message_is_about(world: World) -> None:
    raid = await world.episode("A raid of 80 people came in while <@1> beat the fire dragon.", {"1": (9, 0)})
    await world.episode("People talked about dinner.", {"2": (9, 0)})
    found = await about(world, "remember the raid during that dragon fight?")
    assert [one.id for one in found] == [raid]
    assert await about(world, "remember the raid during that dragon fight?", without=[raid]) == []
    assert await about(world, "dragon fruit smoothie recipes anyone?") == []
    assert await about(world, "???") == []


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


async def test_one_word_is_enough_where_few_speak_of_it(world: World) -> None:
    raids = [await world.episode(f"<@2> raided with {number} people.", {"2": (1, 0)}) for number in range(LOOKED_AT)]
    assert [one.id for one in await about(world, "who raided us?")] == raids[-1:]
    await world.episode("<@1> raided too.", {"1": (1, 0)})
    assert await about(world, "who raided us?") == []


@pytest.mark.parametrize("column", ["opted_out_at", "banned_at"])
async def test_of_who_is_hidden_nothing_is_told_and_of_the_others_the_rest(world: World, column: str) -> None:
    """A regular who opts out does not take the channel's past along."""
    told = "<@1> fell off the lighthouse. She blamed the lantern. <@2> won the pumpkin race."
    await world.episode(told, {"1": (9, 0), "2": (9, 0)})
    assert [one.summary for one in await about(world, "that pumpkin race?")] == [told]
    async with world.db.write() as tx:
        await tx.execute(f"UPDATE viewers SET {column} = 1 WHERE id = '1'")  # noqa: S608  # a column of ours
    found = await about(world, "that pumpkin race?")
    assert [one.summary for one in found] == ["<@2> won the pumpkin race."]
    assert await about(world, "who fell off that lighthouse?") == []
    assert await about(world, "the lantern by the lighthouse") == []
