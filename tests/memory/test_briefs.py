"""Who a regular is, made in the background: from notes first, not twice from the same, and never kept too long."""

import json

import pytest

from forgetmenot.clock import DAY, HOUR, local_days
from forgetmenot.domain import Purpose, SourceKind
from forgetmenot.memory import suppression
from forgetmenot.memory.briefs import BriefWriter
from forgetmenot.memory.erasure import erase_rows
from forgetmenot.store import episodes
from tests.notes_world import World

FACTS = ("plays drums", "lives in Oslo", "has a cat with <@2>")


async def regular(world: World, *facts: str) -> None:
    """Somebody who came to five streams, and what is known about them."""
    await world.regulars("1")
    for fact in facts:
        await world.note(fact)


async def brief(world: World) -> str:
    return (await episodes.usable_brief(world.db, "1"))[0]


def answer(*texts: str) -> str:
    return json.dumps(
        {"briefs": [{"person": f"P{n}", "text": text} for n, text in enumerate(texts, 1)]}
    )


async def test_a_regular_gets_one_from_what_lasts_and_matters_with_its_day(world: World) -> None:
    await regular(world, "lives in Rome", "has a cat with <@2>")
    for number in range(80):
        await world.clock.advance(HOUR)
        await world.note(f"won round {number}", "1", expires_at=world.clock.now() + 30 * DAY)
    made, model = world.writer(BriefWriter, answer("P1 lives in Rome and has a cat with P2."))
    assert [await made.run_pass() for _ in range(2)] == [1, 0]  # it is asked for once
    assert await brief(world) == "<@1> lives in Rome and has a cat with <@2>."
    [request] = model.asked
    assert request.purpose is Purpose.BRIEF
    assert request.prompt.startswith(f"Today is {local_days(world.clock.now())}.")
    assert "<@" not in request.prompt + request.system
    rows = request.prompt.splitlines()
    assert [row for row in rows if row.endswith(("Rome.", "cat with P2."))] == rows[3:5]
    assert any(row.endswith("July 2026] P1 lives in Rome.") for row in rows)
    assert sum("won round" in row for row in rows) == 58


@pytest.mark.parametrize("change", ["status = 'retracted' WHERE id = 1", "fact = 'x'"])
async def test_it_is_used_only_while_what_it_rests_on_stands(world: World, change: str) -> None:
    await regular(world, *FACTS)
    await world.writer(BriefWriter, answer("P1 drums."))[0].run_pass()
    async with world.db.write() as tx:
        await tx.execute(f"UPDATE semantic_notes SET {change}")  # noqa: S608
    assert await brief(world) == ""
    assert await world.db.value("SELECT count(*) FROM briefs") == ("retracted" in change)


async def test_no_hearsay_and_nothing_sensitive_or_suppressed_is_in_it(world: World) -> None:
    await regular(world, *FACTS, "had a divorce")
    await world.note("cheats at chess", "1", source_kind=SourceKind.REPORTED)
    await suppression.suppress(world.db, "1", "divorces", by="9", at=0)
    made, model = world.writer(
        BriefWriter, answer("P1 drums. P1 had a divorce. P1 has diabetes. P2 bakes.")
    )
    await made.run_pass()
    assert await brief(world) == "<@1> drums."
    assert [word for word in ("cheats", "divorce") if word in model.asked[0].prompt] == []


async def test_a_brief_that_lost_a_source_while_the_model_was_thinking_is_not_stored(
    world: World,
) -> None:
    await regular(world, *FACTS)
    made, model = world.writer(BriefWriter, answer("P1 drums in Oslo and has a cat with P2."))

    async def erased() -> None:
        await erase_rows(world.db, "2", world.clock.now())

    model.meanwhile = erased
    assert await made.run_pass() == 0
    assert not await world.db.column("SELECT text FROM briefs WHERE text <> ''")
