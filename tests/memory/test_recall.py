"""A subject's own notes for what was just said: in time, never about people who opted out."""

from forgetmenot.clock import DAY
from forgetmenot.domain import NoteStatus, Scope, SourceKind
from forgetmenot.memory.recall import CHANNEL, Recall, fitting, spoken_of
from forgetmenot.memory.rights import SuppressionFilter
from forgetmenot.store import notes
from forgetmenot.store.notes import NewNote
from tests.notes_world import World


async def write(world: World, subject: str | None, *facts: str, scope: Scope = Scope.VIEWER) -> list[int]:
    async with world.db.write() as tx:
        return [
            await notes.insert(
                tx,
                NewNote(scope, subject, fact, 0.8, SourceKind.SELF_CLAIM, world.clock.now()),
                cause="said",
                now=world.clock.now(),
            )
            for fact in facts
        ]


async def test_what_changes_is_seen_at_once(world: World, recall: Recall) -> None:
    [first] = await write(world, "1", "plays drums")
    await recall.about(["1"], "drums")
    await write(world, "1", "bought new drums")
    assert len(await recall.about(["1"], "drums")) == 2
    note = await notes.get(world.db, first)
    assert note is not None
    async with world.db.write() as tx:
        await notes.set_status(tx, note, NoteStatus.RETRACTED, at=0, cause="wrong")
    assert [one.note.fact for one in await recall.about(["1"], "drums")] == ["bought new drums"]


async def test_the_query_leaves_out_the_names_of_people(world: World, recall: Recall) -> None:
    assert recall.query("does Alice play drums?", names=["alice"]).words == {"play": 1.0, "drums": 1.0}
    await recall.active_viewers.look()
    assert recall.query("does alice play drums?").words == {"play": 1.0, "drums": 1.0}


async def test_what_is_known_about_those_who_chat_is_made_ready(world: World, recall: Recall) -> None:
    await write(world, "1", "plays drums")
    await write(world, "2", "plays chess")
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
    await write(world, None, "movie night is on the first friday of the month", scope=Scope.CHANNEL)
    await write(world, None, *(f"rule {i}: be kind to the {i}th mod" for i in range(12)), scope=Scope.CHANNEL)
    found = await recall.about([CHANNEL], recall.query("when is movie night?"), 3)
    assert found[0].note.fact.startswith("movie night")
    assert [one.note.id for one in fitting(found)] == [found[0].note.id]
    assert fitting(found, without=[found[0].note.id]) == ()
    assert fitting(await recall.about([CHANNEL], recall.query("which football club does she support"), 3)) == ()


async def test_twenty_that_share_something_are_offered_and_others_fill_up_to_ten(world: World, recall: Recall) -> None:
    await write(world, "1", *(f"plays the {number}th drum" for number in range(25)))
    await write(world, "2", *(f"plays the {number}th drum" for number in range(3)))
    await write(world, "2", *(f"likes cake number {number}" for number in range(15)))
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
