"""Who a regular is, made in the background: from notes first, not twice from the same, and never kept too long."""

import json
from collections.abc import Awaitable, Callable

import pytest

from forgetmenot.clock import DAY, HOUR, MINUTE, local_days
from forgetmenot.domain import Purpose, SourceKind
from forgetmenot.errors import ModelBlocked
from forgetmenot.memory import rights
from forgetmenot.memory.briefs import BriefWriter
from forgetmenot.memory.erasure import erase_rows
from forgetmenot.store import episodes, streams
from tests.notes_world import Scripted, World

Made = Callable[..., tuple[BriefWriter, Scripted]]
FACTS = ("plays drums", "lives in Oslo", "has a cat with <@2>")


@pytest.fixture
def maker(world: World) -> Made:
    def made(*answers: str | Exception) -> tuple[BriefWriter, Scripted]:
        model = Scripted(*answers)
        return BriefWriter(db=world.db, model=model, settings=lambda: world.settings, clock=world.clock), model

    return made


@pytest.fixture
async def regular(world: World) -> Callable[..., Awaitable[list[int]]]:
    """Alice came to five streams, all of which are over; what is known about her."""

    async def made(*facts: str, kind: SourceKind = SourceKind.SELF_CLAIM) -> list[int]:
        for _ in range(5):
            await over(world, "1")
        return await known(world, *facts, kind=kind)

    return made


async def over(world: World, *people: str, recap: str = "Chat cooked.") -> int:
    """One more stream of an hour, with its recap."""
    await world.clock.advance(MINUTE)
    stream = await world.stream()
    for viewer_id in people:
        await world.attends(viewer_id, stream)
    await world.clock.advance(HOUR)
    async with world.db.write() as tx:
        await streams.end(tx, stream, world.clock.now())
        await streams.set_recap(tx, stream, recap, world.clock.now())
    return stream


async def known(world: World, *facts: str, kind: SourceKind = SourceKind.SELF_CLAIM, of: str = "1") -> list[int]:
    return [await world.note(fact, of, source_kind=kind) for fact in facts]


async def brief(world: World, viewer_id: str = "1") -> str:
    return (await episodes.usable_brief(world.db, viewer_id))[0]


def answer(*texts: str) -> str:
    return json.dumps({"briefs": [{"person": f"P{n}", "text": text} for n, text in enumerate(texts, 1)]})


Regular = Callable[..., Awaitable[list[int]]]


@pytest.fixture
async def drummer(maker: Made, regular: Regular) -> tuple[BriefWriter, Scripted]:
    """Alice, who has a brief: who made it, with which model."""
    await regular(*FACTS)
    made, model = maker(answer("P1 drums."))
    assert await made.run_pass() == 1
    return made, model


Drummer = tuple[BriefWriter, Scripted]


async def test_a_regular_gets_one_from_their_notes(world: World, maker: Made, regular: Regular) -> None:
    await regular(*FACTS)
    made, model = maker(answer("P1 drums in Oslo and has a cat with P2."))
    assert await made.run_pass() == 1
    assert await brief(world) == "<@1> drums in Oslo and has a cat with <@2>."
    [request] = model.asked
    assert request.purpose is Purpose.BRIEF
    assert "P1 has a cat with P2" in request.prompt
    assert "<@" not in request.prompt + request.system


async def test_what_lasts_and_matters_is_read_first_with_its_day(world: World, maker: Made, regular: Regular) -> None:
    await regular("lives in Rome", "was a banker")
    for number in range(80):
        await world.clock.advance(HOUR)
        await world.note(f"won round {number}", "1", expires_at=world.clock.now() + 30 * DAY)
    made, model = maker(answer("P1 lives in Rome."))
    await made.run_pass()
    assert model.asked[0].prompt.startswith(f"Today is {local_days(world.clock.now())}.")
    rows = model.asked[0].prompt.splitlines()
    assert [row for row in rows if row.endswith(("Rome.", "banker."))] == rows[3:5]
    assert any(row.endswith("July 2026] P1 lives in Rome.") for row in rows)
    assert sum("won round" in row for row in rows) == 58


async def test_one_call_is_for_many_and_every_changed_one_is_rebuilt(world: World, maker: Made) -> None:
    """With 14 regulars, whose briefs no pass may leave out."""
    people = [await world.viewer(str(number), f"viewer_{number}") for number in range(100, 114)]
    for _ in range(5):
        await over(world, *people)
    for viewer_id in people:
        await known(world, "plays drums", "lives in Oslo", "owns a boat", of=viewer_id)
    made, model = maker(answer(*(f"P{number} plays drums." for number in range(1, 11))))
    assert await made.run_pass() == 14
    assert len(model.asked) == 2
    assert [await brief(world, viewer_id) for viewer_id in people] == [f"<@{one}> plays drums." for one in people]
    await known(world, "sold the boat", of="107")
    assert await made.run_pass() == 0
    await over(world, *people)
    assert await made.run_pass() == 1
    assert len(model.asked) == 3


async def test_who_is_left_out_of_an_answer_comes_next(world: World, maker: Made, regular: Regular) -> None:
    await regular(*FACTS)
    for _ in range(5):
        await over(world, "2")
    await known(world, "bakes bread", "keeps bees", "sings tenor", of="2")
    cut_off = answer("P1 plays drums.")[:-2] + ', {"person": "P2", "text": "P2 bak'
    made, model = maker(cut_off, answer("P1 bakes bread."))
    assert [await made.run_pass(), await made.run_pass(), await made.run_pass()] == [1, 1, 0]
    assert (await brief(world), await brief(world, "2")) == ("<@1> plays drums.", "<@2> bakes bread.")
    assert len(model.asked) == 2


@pytest.mark.parametrize(
    "change",
    ["UPDATE semantic_notes SET status = 'retracted' WHERE id = 1", "UPDATE semantic_notes SET fact = 'x'"],
)
async def test_it_is_used_only_while_what_it_rests_on_stands(
    world: World, maker: Made, regular: Regular, change: str
) -> None:
    await regular(*FACTS)
    made, _ = maker(answer("P1 drums."))
    await made.run_pass()
    async with world.db.write() as tx:
        await tx.execute(change)
    assert await brief(world) == ""
    assert await world.db.value("SELECT count(*) FROM briefs") == ("retracted" in change)


async def test_no_hearsay_and_nothing_sensitive_or_suppressed_is_in_it(
    world: World, maker: Made, regular: Regular
) -> None:
    await regular(*FACTS, "had a divorce")
    await known(world, "cheats at chess", kind=SourceKind.REPORTED)
    await rights.suppress(world.db, "1", "divorces", by="9", at=0)
    made, model = maker(answer("P1 drums. P1 had a divorce. P1 has diabetes."))
    await made.run_pass()
    assert await brief(world) == "<@1> drums."
    assert "cheats" not in model.asked[0].prompt
    assert "divorce" not in model.asked[0].prompt


async def test_a_block_leaves_the_others_theirs(world: World, maker: Made, regular: Regular) -> None:
    await regular(*FACTS)
    for _ in range(5):
        await over(world, "2")
    await known(world, "bakes bread", "keeps bees", "sings tenor", of="2")
    made, model = maker(ModelBlocked("no"), ModelBlocked("no"), answer("P1 bakes bread."))
    assert [await made.run_pass(), await made.run_pass()] == [1, 0]
    assert (await brief(world), await brief(world, "2")) == ("", "<@2> bakes bread.")
    assert len(model.asked) == 3


async def test_a_brief_that_lost_a_source_while_the_model_was_thinking_is_not_stored(
    world: World, maker: Made, regular: Regular
) -> None:
    await regular("plays drums", "lives in Oslo", "has a cat with <@2>")
    made, model = maker(answer("P1 drums in Oslo and has a cat with P2."))

    async def erased() -> None:
        await erase_rows(world.db, "2", world.clock.now())

    model.meanwhile = erased
    assert await made.run_pass() == 0
    assert not await world.db.column("SELECT text FROM briefs WHERE text <> ''")
