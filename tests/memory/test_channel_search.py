"""How many notes a question about anybody brings up, of how many people, and how much of its words each must have."""

from forgetmenot.memory.recall import Recall
from tests.notes_world import World


async def facts_about(world: World, question: str) -> list[str]:
    """The facts that a question about anybody brings up, best first."""
    recall = Recall(db=world.db, settings=lambda: world.settings, clock=world.clock)
    snapshot = await world.db.together(lambda source: recall.look(source, []))
    hits = await world.db.together(
        lambda source: recall.of_anybody(source, question, snapshot)
    )
    return [hit.note.fact for hit in hits]


async def people(world: World, count: int) -> list[str]:
    """Viewers who are known; their ids."""
    return [
        await world.viewer(f"7{number:02}", f"viewer{number}")
        for number in range(count)
    ]


async def test_of_many_people_eight_are_named(world: World) -> None:
    for viewer_id in await people(world, 10):
        await world.note("plays the cello", viewer_id)
    assert len(await facts_about(world, "who plays the cello?")) == 8


async def test_of_one_person_there_are_three_notes(world: World) -> None:
    for number in range(8):
        await world.note(f"plays cello number {number}", "9")
    assert len(await facts_about(world, "who plays the cello?")) == 3


async def test_somebody_is_found_beside_one_with_many_newer_notes(
    world: World,
) -> None:
    await world.note("plays the cello at home", "1")
    for number in range(12):
        await world.note(f"plays cello number {number}", "9")
    assert "plays the cello at home" in await facts_about(world, "who plays the cello?")


async def drummers(world: World) -> None:
    """Ten notes, of which three have a word of "who plays the oboe?" that is not rare."""
    for number, viewer_id in enumerate(await people(world, 10)):
        fact = "plays the drums" if number < 3 else f"keeps {number} lamps"
        await world.note(fact, viewer_id)


async def test_what_nobody_plays_is_not_answered_by_what_others_play(
    world: World,
) -> None:
    await drummers(world)
    assert await facts_about(world, "who plays the oboe?") == []


async def test_a_note_with_the_rarest_word_alone_is_found(world: World) -> None:
    await drummers(world)
    await world.note("owns an oboe", "1")
    assert await facts_about(world, "who plays the oboe?") == ["owns an oboe"]


async def test_the_rarest_word_of_a_long_question_is_enough(world: World) -> None:
    await drummers(world)
    await world.note("owns an oboe", "1")
    question = "who plays the oboe for the village orchestra?"
    assert await facts_about(world, question) == ["owns an oboe"]


async def test_a_note_with_most_of_the_question_stands_beside_one_with_all_of_it(
    world: World,
) -> None:
    await drummers(world)
    await world.note("plays the oboe for the orchestra", "1")
    await world.note("plays the oboe", "9")
    assert await facts_about(world, "who plays the oboe for the orchestra?") == [
        "plays the oboe for the orchestra",
        "plays the oboe",
    ]


async def test_a_note_with_little_of_the_question_is_left_out_beside_one_with_most(
    world: World,
) -> None:
    await drummers(world)
    await world.note("plays for the village orchestra on Sundays", "1")
    await world.note("owns an oboe", "9")
    question = "who plays the oboe for the village orchestra on Sundays?"
    assert await facts_about(world, question) == [
        "plays for the village orchestra on Sundays"
    ]


async def test_the_word_itself_counts_more_than_one_of_nearly_the_same_meaning(
    world: World,
) -> None:
    await drummers(world)
    await world.note("adopted a dog", "1")
    await world.note("adopted a puppy", "9")
    assert await facts_about(world, "who has a dog?") == [
        "adopted a dog",
        "adopted a puppy",
    ]
