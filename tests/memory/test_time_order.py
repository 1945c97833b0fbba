"""Only what was said later changes what is known, whatever is read first: chat is read long after it was said."""

import json

import pytest

from forgetmenot.durations import MINUTE
from forgetmenot.memory import edits
from tests.notes_world import World, live

OLD = "favourite game is Celeste"
NEW = "favourite game is Hades"


async def later(world: World) -> int:
    await world.clock.advance(MINUTE)
    return world.clock.now()


async def read(
    world: World, lines: list[tuple[int, str]], *facts: str
) -> dict[str, int]:
    """Summarise alice's lines, said then, and learn these facts from them; what was refused."""
    await later(world)
    await world.chat(*(("1", text, at) for at, text in lines))
    changes = [
        {"who": "P1", "said_by": "P1", "fact": fact, "lifetime": "permanent"}
        for fact in facts
    ]
    extractor, _ = world.extractor(json.dumps({"notes": changes}))
    return dict((await extractor.run_pass()).refused)


async def known(world: World) -> list[str]:
    return [note.fact for note in await live(world)]


async def remembered(world: World, fact: str) -> int:
    return (await edits.remember(world.db, "1", fact, by="1", at=await later(world))).id


@pytest.mark.parametrize("facts", [(OLD, NEW), (NEW, OLD)])
async def test_within_a_window_the_later_line_counts_whatever_order_a_model_gives(
    world: World, facts: tuple[str, str]
) -> None:
    lines = [
        (await later(world), f"well, my favourite game is {game}")
        for game in ("Celeste", "Hades")
    ]
    await read(world, lines, *facts)
    assert await known(world) == [NEW]


@pytest.mark.parametrize("before", [True, False])
async def test_what_was_retracted_comes_back_only_by_what_is_said_later(
    world: World, *, before: bool
) -> None:
    note_id = await remembered(world, "lives in Oslo")
    times = [await later(world) for _ in range(3)]
    await edits.retract(world.db, note_id, at=times[1], cause="wrong")
    await read(world, [(times[0 if before else 2], "I live in Oslo")], "lives in Oslo")
    assert await known(world) == ([] if before else ["lives in Oslo"])


async def test_a_replacement_that_was_undone_is_not_made_again_by_the_same_chat(
    world: World,
) -> None:
    await remembered(world, "lives in Oslo")
    lines = [(await later(world), "I live in Rome")]
    await read(world, lines, "lives in Rome")
    [rome] = await live(world)
    await edits.undo(world.db, rome.id, at=await later(world))
    assert (await read(world, lines, "lives in Rome")).keys() == {"said_before"}
    assert await known(world) == ["lives in Oslo"]
