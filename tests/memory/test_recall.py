"""A subject's own notes and the past episodes for what was just said: in time, never about people who opted out."""

from collections.abc import Sequence

import pytest

from forgetmenot.clock import DAY
from forgetmenot.domain import Episode, NoteStatus
from forgetmenot.memory.ranking import query_of
from forgetmenot.memory.recall import CHANNEL, LOOKED_AT, EpisodeIndex, Recall, fitting, newest, spoken_of
from forgetmenot.memory.rights import SuppressionFilter
from forgetmenot.store import notes
from tests.notes_world import World


async def test_what_changes_is_seen_at_once(world: World, recall: Recall) -> None:
    first = await world.note("plays drums")
    await recall.about(["1"], "drums")
    await world.note("bought new drums")
    assert len(await recall.about(["1"], "drums")) == 2
    note = await notes.get(world.db, first)
    assert note is not None
    async with world.db.write() as tx:
        await notes.set_pinned(tx, first, pinned=True)
    assert (await recall.about(["1"], "new drums"))[0].note.id == first
    async with world.db.write() as tx:
        await notes.set_status(tx, note, NoteStatus.RETRACTED, at=0, cause="wrong")
    assert [one.note.fact for one in await recall.about(["1"], "drums")] == ["bought new drums"]


async def test_the_query_leaves_out_the_names_of_people(world: World, recall: Recall) -> None:
    assert recall.query("does Alice play drums?", names=["alice"]).words == {"play": 1.0, "drums": 1.0}
    await recall.active_viewers.look()
    assert recall.query("does alice play drums?").words == {"play": 1.0, "drums": 1.0}


async def test_what_is_known_about_those_who_chat_is_made_ready(world: World, recall: Recall) -> None:
    await world.note("plays drums")
    await world.note("plays chess", "2")
    async with world.db.write() as tx:
        await tx.execute("UPDATE viewers SET last_seen_at = ? WHERE id = '1'", (world.clock.now(),))
        await tx.execute("UPDATE viewers SET last_seen_at = ? WHERE id <> '1'", (world.clock.now() - DAY,))
    await recall.prepare()
    assert ("1",) in recall._kept
    assert ("2",) not in recall._kept
    recall.heard("2")
    await recall.prepare()
    assert ("2",) in recall._kept
    ready = recall._kept[("1",)]
    recall.heard("1")
    assert (await recall.about(["1"], "drums"))[0].note.fact == "plays drums"
    await recall.prepare()
    assert recall._kept[("1",)] is ready


async def test_the_channels_facts_are_ranked_by_the_message(world: World, recall: Recall) -> None:
    await world.note("movie night is on the first friday of the month", None)
    for number in range(12):
        await world.note(f"rule {number}: be kind to the {number}th mod", None)
    found = await recall.about([CHANNEL], recall.query("when is movie night?"), 3)
    assert found[0].note.fact.startswith("movie night")
    assert [one.note.id for one in fitting(found)] == [found[0].note.id]
    assert fitting(found, without=[found[0].note.id]) == ()
    assert fitting(await recall.about([CHANNEL], recall.query("which football club does she support"), 3)) == ()


async def test_twenty_that_share_something_are_offered_and_others_fill_up_to_ten(world: World, recall: Recall) -> None:
    for number in range(25):
        await world.note(f"plays the {number}th drum")
        await world.note(f"plays the {number}th drum" if number < 3 else f"likes cake number {number}", "2")
    assert len(await recall.about(["1"], "drums?")) == 20
    found = await recall.about(["2"], "drums?")
    assert (len(found), [one.asked_for for one in found]) == (10, [True] * 3 + [False] * 7)


async def test_episodes_are_read_beforehand_and_anew_after_something_was_removed(world: World, recall: Recall) -> None:
    for number in range(30):
        await world.episode(f"<@1> fell into pit {number}.", {"1": (9, 0)})
    pumpkin = await world.episode("<@2> won the pumpkin race.", {"2": (9, 0)})
    await recall.prepare()
    query = recall.query("that pumpkin race?")

    async def told() -> list[int]:
        found = await spoken_of(world.db, recall.episodes, query, SuppressionFilter(), 1)
        return [one.id for one in found]

    assert await told() == [pumpkin]
    before = recall.episodes
    recall.forget()
    await recall.prepare()
    assert recall.episodes is not before
    assert await told() == [pumpkin]


# ── past episodes ─────────────────────────────────────────────────────────────────────────────


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
