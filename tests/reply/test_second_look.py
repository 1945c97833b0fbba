"""A model that does not find the answer may look it up once with words of its own."""

import json

import pytest

from forgetmenot.domain import EpisodeKind, Participation, Scope
from forgetmenot.errors import ModelUnavailable
from forgetmenot.privacy.suppression_list import suppress
from forgetmenot.store import bot_messages, episodes
from forgetmenot.store.episodes import NewEpisode
from tests.stage import Stage
from tests.wishes import erase

QUESTION = "@forgetmenot_bot what is alice's symbol for patience?"


def wants(
    words: str, say: str = "I do not remember.", notes: tuple[int, ...] = ()
) -> str:
    return json.dumps({"action": None, "notes": notes, "look_up": words, "say": say})


async def plants_a_tree(stage: Stage, viewer: str = "1") -> int:
    """A note about a bonsai that no word of the question finds, behind thirty newer ones."""
    note = await stage.know("grows a bonsai tree", viewer)
    for number in range(30):
        await stage.clock.advance(1_000)
        await stage.know(f"beat level {number} of Celeste", viewer)
    return note


async def test_what_it_looks_up_stands_in_a_second_prompt_and_answers(
    stage: Stage,
) -> None:
    note = await plants_a_tree(stage)
    # its words may be those of a line that is gone in a day: nothing of them is kept
    stage.model.answers = [
        wants("zitherbloom plant tree growth"),
        wants("", "Your bonsai, of course.", (note,)),
    ]
    reply = await stage.reply(QUESTION)
    assert stage.said == ["Your bonsai, of course."]
    first, second = (request.prompt for request in stage.model.asked)
    assert "What you found when you looked it up:" in second
    assert second.startswith(first.split("Alice's message")[0]), (
        "so that a cache serves what both have"
    )
    row = await stage.row(reply.id)
    assert row.used == (note,)
    assert row.prompt["looked_up"] is True
    assert b"zitherbloom" not in b"".join(
        file.read_bytes() for file in stage.db.path.parent.iterdir()
    )


async def test_it_looks_once_and_has_an_answer_if_that_fails(stage: Stage) -> None:
    await plants_a_tree(stage)
    stage.model.answers = [wants("plant tree"), wants("bonsai", "Still no idea.")]
    await stage.ask(QUESTION)
    assert len(stage.model.asked) == 2
    assert "look_up" not in json.dumps(stage.model.asked[1].schema)
    await stage.clock.advance(60_000)
    stage.model.answers = [
        wants("plant tree", "No idea, sorry."),
        ModelUnavailable("down"),
    ]
    await stage.ask(QUESTION)
    assert stage.said == ["Still no idea.", "No idea, sorry."]


@pytest.mark.parametrize(
    ("words", "line", "whose", "waited"),
    [
        ("xylophone quark", QUESTION, "1", 0),
        ("bonsai tree", "@forgetmenot_bot hello", "1", 0),  # small talk
        ("bonsai tree", QUESTION, "2", 0),  # Bob's notes are nobody's answer here
        ("bonsai secret", QUESTION, "1", 0),  # never to be mentioned
        ("bonsai tree", QUESTION, "1", 28_500),  # no time for another call
    ],
)
async def test_where_nothing_is_to_be_found_the_first_answer_stands(
    stage: Stage, words: str, line: str, whose: str, waited: int
) -> None:
    await plants_a_tree(stage, whose)
    if "secret" in words:
        await suppress(stage.db, "1", "bonsai", by=None, at=stage.clock.now())
    stage.model.answers = [wants(words, "I do not know that.")]
    event = await stage.hear(line)
    await stage.clock.advance(waited)
    await stage.engine.consider(event)
    assert (stage.said, len(stage.model.asked)) == (["I do not know that."], 1)
    assert ("look_up" in json.dumps(stage.model.asked[0].schema)) is (line == QUESTION)


async def test_a_reply_is_known_by_the_notes_it_looked_up_or_was_asked_for_and_leaves_with_who_they_are_of(
    stage: Stage,
) -> None:
    """Whatever section of the prompt they stood in."""
    tree = await plants_a_tree(stage)
    stage.model.answers = [wants("plant tree"), "A bonsai, of course.", "On Fridays."]
    looked_up = await stage.reply(QUESTION, "2")
    cake = await stage.know("eats dragon cake on Fridays", None, Scope.CHANNEL)
    asked_for = await stage.reply("@forgetmenot_bot which day is dragon cake?", "3")
    for reply, section, note in (
        (looked_up, "looked_up", tree),
        (asked_for, "channel_notes_asked", cake),
    ):
        rows = {
            part["name"]: part["rows"]
            for part in (await stage.row(reply.id)).prompt["sections"]
        }
        assert ["notes", note] in rows[section]
        assert [
            had for had, _at in await bot_messages.prompted_with_note(stage.db, note)
        ] == [reply.id]
    await erase(stage.db, "1", now=stage.clock.now())
    assert [(await stage.row(reply.id)).text for reply in (looked_up, asked_for)] == [
        "",
        "On Fridays.",
    ]


@pytest.mark.parametrize(
    ("line", "finds"),
    [
        ("@forgetmenot_bot is there a gardener around?", True),
        ("@forgetmenot_bot what do I grow at home?", False),
        ("@forgetmenot_bot what does carol grow at home?", False),
    ],
)
async def test_where_nobody_is_named_it_looks_among_everybody(
    stage: Stage, line: str, *, finds: bool
) -> None:
    note = await plants_a_tree(stage, "2")
    stage.model.answers = [
        wants("plant tree growth"),
        wants("", "Bob grows a bonsai.", (note,)),
    ]
    await stage.ask(line)
    assert (len(stage.model.asked) == 2) is finds
    if finds:
        assert f"Bob: [id:{note};" in stage.model.asked[1].prompt


async def test_one_of_its_words_and_the_person_find_a_past_stream(stage: Stage) -> None:
    """Its words are other words for one thing: an episode seldom has more than one of them."""
    now = stage.clock.now()
    thrill = "<@1> calls each ride an adrenaline rush."
    for summary in (
        thrill,
        *(f"<@1> drove through level {number}." for number in range(9)),
    ):
        async with stage.db.write() as tx:
            new = NewEpisode(
                EpisodeKind.CHAT, 1, now, now, summary, {"1": Participation(1, 0)}, []
            )
            await episodes.insert(tx, new, now)
    stage.model.answers = [
        wants("adrenaline thrill excitement behind wheel drive"),
        wants("", "Pure adrenaline."),
    ]
    await stage.ask("@forgetmenot_bot how does alice feel in that new car?", "2")
    assert stage.said == ["Pure adrenaline."]
    assert "an adrenaline rush" in stage.model.asked[1].prompt
