"""What extraction leaves alone: counted episodes, people erased meanwhile, orders in a summary."""

import json

import pytest

from forgetmenot.clock import HOUR
from forgetmenot.store import episodes, notes
from tests.notes_world import Change, World


async def test_a_counted_episode_and_one_without_people_cost_no_call(world: World) -> None:
    await world.episode("Nobody that may be named.", {})
    counted = await world.episode("<@1> wrote 300 lines about cats.", {"1": (300, 0)})
    async with world.db.write() as tx:
        await tx.execute("UPDATE episodes SET kind = 'counted' WHERE id = ?", (counted,))
    extractor, model = world.extractor('{"notes": []}')
    assert (await extractor.run_pass()).episodes == 2
    assert model.requests == []


async def test_an_episode_that_was_erased_meanwhile_leaves_nothing(world: World, change: Change) -> None:
    episode = await world.episode("<@1> plays drums.", {"1": (5, 0)})
    extractor, model = world.extractor(json.dumps({"notes": [change()]}))

    async def erased() -> None:
        async with world.db.write() as tx:
            await tx.execute("DELETE FROM episodes WHERE id = ?", (episode,))

    model.meanwhile = erased
    assert (await extractor.run_pass()).episodes == 0
    assert await notes.page(world.db) == []


@pytest.mark.parametrize(("answer", "unread"), [('{"notes": []}', 0), ("KEKW KEKW KEKW", 1)])
async def test_what_people_plainly_say_of_themselves_is_learned_whatever_a_model_makes_of_it(
    world: World, answer: str, unread: int
) -> None:
    """A small model proposes nothing, or no list at all: rules read the lines, and it is asked again later."""
    await world.chat(("1", "I play the cello in a band"), ("2", "what do you play?"))
    extractor, _ = world.extractor(answer)
    report = await extractor.run_pass()
    await world.clock.advance(HOUR)
    assert len(await episodes.unread(world.db)) == unread
    await extractor.run_pass()
    assert (report.added, [note.fact for note in await notes.of_subject(world.db, "1")]) == (
        1, ["plays the cello in a band"],
    )  # fmt: skip
    assert await notes.of_subject(world.db, "2") == []
