"""Personas: whose notes are shown, who writes for whom; switching loses nothing."""

from forgetmenot.domain import NoteStatus
from forgetmenot.memory.edits import remember
from forgetmenot.memory.recall import Recall
from forgetmenot.settings.schema import BotSettings, PersonaSettings, Settings
from forgetmenot.store import notes
from tests.notes_world import World, change

PERSONAS = {
    "pirate": PersonaSettings(persona="You are a pirate.", reply_language="pirate", own_notes=True),
    "parrot": PersonaSettings(),
    "cook": PersonaSettings(own_notes=True),
}


def speaks(name: str) -> Settings:
    return Settings(bot=BotSettings(speaks_as=name), personas=PERSONAS)


async def shown(recall: Recall) -> set[str]:
    return {one.note.fact for one in await recall.about(["1"], "")}


async def test_switching_changes_what_is_visible_and_loses_nothing(world: "World", recall: Recall) -> None:
    await world.note("likes tea")
    await world.note("buried a treasure", persona="pirate")
    await world.note("owes the cook a pan", persona="cook")
    seen = {}
    for name in ("", "pirate", "parrot", "cook", "nobody", ""):
        world.settings = speaks(name)
        seen[name] = await shown(recall)
    assert seen == {
        "": {"likes tea"},
        "nobody": {"likes tea"},
        "pirate": {"likes tea", "buried a treasure"},
        "parrot": {"likes tea"},
        "cook": {"likes tea", "owes the cook a pan"},
    }
    assert len(await notes.of_subject(world.db, "1")) == 3


async def test_what_is_learned_under_a_persona_with_its_own_notes_is_its_own(world: "World") -> None:
    for name, fact in (("pirate", "plays drums"), ("parrot", "likes green tea")):
        world.settings = speaks(name)
        await world.learn(change(fact=fact))
    assert [note.persona for note in await notes.of_subject(world.db, "1")] == ["pirate", ""]


async def test_what_somebody_tells_the_bot_is_for_every_persona_and_corrects_each(
    world: "World", recall: Recall
) -> None:
    await world.note("lives in Tortuga", persona="pirate")
    await world.note("owes the cook a pan", persona="cook")
    world.settings = speaks("pirate")
    told = await remember(world.db, "1", "lives in Oslo", by="1", at=world.clock.now())
    assert told.persona == ""
    for name in ("", "pirate", "parrot"):
        world.settings = speaks(name)
        assert await shown(recall) == {"lives in Oslo"}
    [old] = await notes.of_subject(world.db, "1", (NoteStatus.SUPERSEDED,))
    assert (old.fact, old.superseded_by) == ("lives in Tortuga", told.id)
