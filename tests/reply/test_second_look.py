"""A model that does not find the answer may look it up once with words of its own."""

import json

import pytest

from forgetmenot.errors import ModelUnavailable
from forgetmenot.memory.rights import suppress
from tests.stage import Stage

QUESTION = "@forgetmenot_bot what is alice's symbol for patience?"


def wants(words: str, say: str = "I do not remember.") -> str:
    return json.dumps({"action": None, "notes": [], "look_up": words, "say": say})


def found(say: str, *notes: int) -> str:
    return json.dumps({"action": None, "notes": list(notes), "say": say})


async def plants_a_tree(stage: Stage, viewer: str = "1") -> int:
    """A note about a bonsai that no word of the question finds, behind thirty newer ones."""
    note = await stage.know("grows a bonsai tree", viewer)
    for number in range(30):
        await stage.clock.advance(1_000)
        await stage.know(f"beat level {number} of Celeste", viewer)
    return note


async def test_what_it_looks_up_stands_in_a_second_prompt_and_answers(stage: Stage) -> None:
    note = await plants_a_tree(stage)
    stage.model.answers = [wants("plant tree growth"), found("Your bonsai, of course.", note)]
    reply = await stage.engine.consider(await stage.hear(QUESTION))
    assert reply is not None
    assert stage.said == ["Your bonsai, of course."]
    first, second = (request.prompt for request in stage.model.asked)
    assert "What you found when you looked it up:" in second
    assert second.startswith(first.split("Alice's message")[0]), "so that a cache serves what both have"
    row = await stage.row(reply.id)
    assert row.used == (note,)
    assert row.prompt["looked_up"] is True


async def test_it_looks_once(stage: Stage) -> None:
    await plants_a_tree(stage)
    stage.model.answers = [wants("plant tree"), wants("bonsai", "Still no idea.")]
    await stage.engine.consider(await stage.hear(QUESTION))
    assert stage.said == ["Still no idea."]
    assert len(stage.model.asked) == 2
    assert "look_up" not in json.dumps(stage.model.asked[1].schema)


@pytest.mark.parametrize("words", ["", "xylophone quark", "the a of"])
async def test_where_nothing_is_found_the_first_answer_stands(stage: Stage, words: str) -> None:
    await plants_a_tree(stage)
    stage.model.answers = [wants(words, "I do not know that.")]
    await stage.engine.consider(await stage.hear(QUESTION))
    assert (stage.said, len(stage.model.asked)) == (["I do not know that."], 1)


async def test_small_talk_is_not_looked_up(stage: Stage) -> None:
    await plants_a_tree(stage)
    stage.model.answers = [wants("bonsai tree", "Hi there!")]
    await stage.engine.consider(await stage.hear("@forgetmenot_bot hello"))
    assert (stage.said, len(stage.model.asked)) == (["Hi there!"], 1)
    assert "look_up" not in json.dumps(stage.model.asked[0].schema)


async def test_a_model_that_fails_the_second_time_has_answered_the_first(stage: Stage) -> None:
    await plants_a_tree(stage)
    stage.model.answers = [wants("plant tree", "No idea, sorry."), ModelUnavailable("down")]
    await stage.engine.consider(await stage.hear(QUESTION))
    assert stage.said == ["No idea, sorry."]


async def test_only_those_who_are_talked_about_are_looked_up(stage: Stage) -> None:
    await plants_a_tree(stage, "2")
    stage.model.answers = [wants("bonsai tree", "I do not know that.")]
    await stage.engine.consider(await stage.hear(QUESTION))
    assert len(stage.model.asked) == 1, "Bob's notes are nobody's answer here"


async def test_of_the_words_it_looked_with_nothing_is_kept(stage: Stage) -> None:
    """They may be those of a line that is gone in a day, or of somebody of whom nothing is stored."""
    await plants_a_tree(stage)
    stage.model.answers = [wants("tree of the zitherbloom"), found("Your bonsai.")]
    await stage.engine.consider(await stage.hear(QUESTION))
    assert len(stage.model.asked) == 2
    assert b"zitherbloom" not in b"".join(file.read_bytes() for file in stage.db.path.parent.iterdir())


async def test_what_is_never_mentioned_is_not_looked_up(stage: Stage) -> None:
    await plants_a_tree(stage)
    await suppress(stage.db, "1", "bonsai", by=None, at=stage.clock.now())
    stage.model.answers = [wants("bonsai tree", "I do not know that.")]
    await stage.engine.consider(await stage.hear(QUESTION))
    assert (stage.said, len(stage.model.asked)) == (["I do not know that."], 1)
