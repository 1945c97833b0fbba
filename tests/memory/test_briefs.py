"""Who a regular is, made in the background: from notes first, not twice from the same, and never kept too long."""

import json

import pytest

from forgetmenot.domain import Purpose, SourceKind
from forgetmenot.durations import DAY, HOUR
from forgetmenot.memory import edits
from forgetmenot.memory.briefs import BriefWriter
from forgetmenot.privacy import suppression_list
from forgetmenot.privacy.erasure import erase_rows
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import episodes
from forgetmenot.text.days import written_days
from forgetmenot.text.mentions import fenced_texts
from tests.notes_world import World, change, live

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
        {
            "briefs": [
                {"person": f"P{n}", "text": text} for n, text in enumerate(texts, 1)
            ]
        }
    )


async def test_a_regular_gets_one_from_what_lasts_and_matters_with_its_day(
    world: World,
) -> None:
    await regular(world, "lives in Rome", "has a cat with <@2>")
    for number in range(80):
        await world.clock.advance(HOUR)
        await world.note(
            f"won round {number}", "1", expires_at=world.clock.now() + 30 * DAY
        )
    made, model = world.writer(
        BriefWriter, answer("P1 lives in Rome and has a cat with P2.")
    )
    assert [await made.run_pass() for _ in range(2)] == [1, 0]  # it is asked for once
    assert await brief(world) == "<@1> lives in Rome and has a cat with <@2>."
    [request] = model.asked
    assert request.purpose is Purpose.BRIEF
    assert request.prompt.startswith(
        f"Today is {written_days(world.clock.now(), world.clock.now(), '')}."
    )
    assert "<@" not in request.prompt + request.system
    rows = request.prompt.splitlines()
    assert [row for row in rows if row.endswith(("Rome.", "cat with P2."))] == rows[3:5]
    assert any(row.endswith("July 2026] P1 lives in Rome.") for row in rows)
    assert sum("won round" in row for row in rows) == 18


@pytest.mark.parametrize("change", ["status = 'retracted' WHERE id = 1", "fact = 'x'"])
async def test_it_is_used_only_while_what_it_rests_on_stands(
    world: World, change: str
) -> None:
    await regular(world, *FACTS)
    await world.writer(BriefWriter, answer("P1 drums."))[0].run_pass()
    async with world.db.write() as tx:
        await tx.execute(f"UPDATE semantic_notes SET {change}")  # noqa: S608
    assert await brief(world) == ""
    assert await world.db.value("SELECT count(*) FROM briefs") == (
        "retracted" in change
    )


async def test_no_hearsay_and_nothing_sensitive_or_suppressed_is_in_it(
    world: World,
) -> None:
    await regular(world, *FACTS, "had a divorce")
    await world.note("cheats at chess", "1", source_kind=SourceKind.REPORTED)
    await suppression_list.suppress(world.db, "1", "divorces", by="9", at=0)
    made, model = world.writer(
        BriefWriter, answer("P1 drums. P1 had a divorce. P1 has diabetes. P2 bakes.")
    )
    await made.run_pass()
    assert await brief(world) == "<@1> drums."
    assert [
        word for word in ("cheats", "divorce") if word in model.asked[0].prompt
    ] == []


async def test_a_brief_that_lost_a_source_while_the_model_was_thinking_is_not_stored(
    world: World,
) -> None:
    await regular(world, *FACTS)
    made, model = world.writer(
        BriefWriter, answer("P1 drums in Oslo and has a cat with P2.")
    )

    async def erased() -> None:
        await erase_rows(world.db, "2", world.clock.now())

    model.meanwhile = erased
    assert await made.run_pass() == 0
    assert not await world.db.column("SELECT text FROM briefs WHERE text <> ''")


async def again(world: World, *texts: str) -> str:
    """Another stream with alice, after which the briefs that are due are made; what the model was asked."""
    await world.over("1", recap="")
    made, model = world.writer(BriefWriter, answer(*texts))
    await made.run_pass()
    return "\n".join(request.prompt for request in model.asked)


async def test_a_brief_is_made_of_the_last_one_and_of_what_changed_since(
    world: World,
) -> None:
    await regular(world, *FACTS, "plays chess", "likes tea", "owns a boat")
    await world.writer(BriefWriter, answer("P1 drums in Oslo and has a cat with P2."))[
        0
    ].run_pass()
    await world.learn(change(fact="lives in Rome", replaces=2), people={"1": (3, 0)})
    prompt = await again(world, "P1 drums in Rome and has a cat with P2.")
    rows = fenced_texts(prompt)["p1"].splitlines()
    assert rows[0].startswith("So far, written on ")
    assert rows[0].endswith(": P1 drums in Oslo and has a cat with P2.")
    assert [row.partition("] ")[2] for row in rows[1:]] == [
        "P1 lives in Rome.",
        "no longer so: P1 lives in Oslo.",
    ]
    assert await brief(world) == "<@1> drums in Rome and has a cat with <@2>."
    # used while everything that it rests on stands, also what the first one was made of
    async with world.db.write() as tx:
        await tx.execute(
            "UPDATE semantic_notes SET status = 'retracted' WHERE fact = 'likes tea'"
        )
    assert await brief(world) == ""


@pytest.mark.parametrize("change", ["status = 'retracted'", "fact = 'likes cocoa'"])
async def test_what_was_taken_back_is_not_handed_on_from_brief_to_brief(
    world: World, change: str
) -> None:
    await regular(world, *FACTS, "likes tea", "owns a boat", "plays chess")
    await world.writer(BriefWriter, answer("P1 likes tea."))[0].run_pass()
    async with world.db.write() as tx:
        await tx.execute(f"UPDATE semantic_notes SET {change} WHERE fact = 'likes tea'")  # noqa: S608
    await world.note("collects stamps")
    prompt = await again(world, "P1 drums.")
    assert "likes tea" not in prompt
    assert "plays drums" in prompt


async def test_a_stream_without_news_about_somebody_costs_no_brief(
    world: World,
) -> None:
    """Also where they have more notes than a brief is made of, whose order changes from day to day."""
    await regular(world, "lives in Rome")
    for number in range(80):
        await world.clock.advance(HOUR)
        end = world.clock.now() + 30 * DAY
        await world.note(
            f"won round {number}", expires_at=end, confidence=0.5 + number / 200
        )
    await world.writer(BriefWriter, answer("P1 lives in Rome."))[0].run_pass()
    async with world.db.write() as tx:  # another of them is the sixtieth now
        await tx.execute(
            "UPDATE semantic_notes SET importance = 'low' WHERE fact = 'won round 79'"
        )
    assert await again(world, "P1 sings.") == ""
    assert await brief(world) == "<@1> lives in Rome."


async def test_a_brief_of_a_note_that_was_corrected_since_is_not_used(
    world: World,
) -> None:
    await regular(world, *FACTS)
    await world.writer(BriefWriter, answer("P1 lives in Oslo."))[0].run_pass()
    [note] = [note for note in await live(world) if note.fact == "lives in Oslo"]
    await world.clock.advance(HOUR)
    await edits.edit(
        world.db,
        note.id,
        "lives in Rome",
        by="1",
        at=world.clock.now(),
        privacy=PrivacySettings(),
    )
    assert await brief(world) == ""


async def test_what_is_learnt_while_the_model_writes_is_in_the_next_brief(
    world: World,
) -> None:
    await regular(world, *FACTS, "plays chess", "likes tea")
    made, model = world.writer(BriefWriter, answer("P1 drums."))

    async def learnt() -> None:
        await world.clock.advance(HOUR)
        await world.note("collects stamps")
        await world.clock.advance(HOUR)

    model.meanwhile = learnt
    await made.run_pass()
    assert "P1 collects stamps." in await again(world, "P1 drums and collects stamps.")


async def test_a_viewer_who_opted_out_has_no_brief_and_none_is_due(
    world: World,
) -> None:
    await regular(world, *FACTS)
    made, model = world.writer(BriefWriter, answer("P1 plays drums."))
    await made.run_pass()
    assert await brief(world)
    async with world.db.write() as tx:
        await tx.execute("UPDATE viewers SET opted_out_at = 1 WHERE id = '1'")
    assert await brief(world) == ""
    await world.over("1")
    assert await made.run_pass() == 0
    assert len(model.asked) == 1


async def test_a_brief_of_a_viewer_who_opted_out_meanwhile_is_not_stored(
    world: World,
) -> None:
    await regular(world, *FACTS)

    async def opt_out() -> None:
        async with world.db.write() as tx:
            await tx.execute("UPDATE viewers SET opted_out_at = 1 WHERE id = '1'")

    made, model = world.writer(BriefWriter, answer("P1 plays drums."))
    model.meanwhile = opt_out
    await made.run_pass()
    assert await world.db.value("SELECT count(*) FROM briefs") == 0
