"""Personas: whose notes are shown, who writes for whom; switching loses nothing."""

from forgetmenot.domain import NoteStatus
from forgetmenot.memory.edits import remember
from forgetmenot.memory.recall import Recall
from forgetmenot.settings.schema import BotSettings, PersonaSettings, Settings
from forgetmenot.store import notes
from tests.notes_world import World, change

PERSONAS = {
    "pirate": PersonaSettings(own_notes=True),
    "parrot": PersonaSettings(),
    "cook": PersonaSettings(own_notes=True),
}


async def test_each_sees_its_own_notes_and_what_somebody_tells_the_bot_is_for_all(
    world: World, recall: Recall
) -> None:
    async def recalled_facts(name: str) -> set[str]:
        world.settings = Settings(bot=BotSettings(speaks_as=name), personas=PERSONAS)
        return {recalled.note.fact for recalled in await recall.about(["1"], "")}

    for name, fact in (
        ("parrot", "likes tea"),
        ("pirate", "lives in Tortuga"),
        ("cook", "owns a pan"),
    ):
        await recalled_facts(name)
        await world.learn(change(fact=fact))
    for name, own in (
        ("", set()),
        ("pirate", {"lives in Tortuga"}),
        ("parrot", set()),
        ("cook", {"owns a pan"}),
    ):
        assert await recalled_facts(name) == {"likes tea"} | own
    await recalled_facts("cook")
    new = await remember(world.db, "1", "lives in Oslo", by="1", at=world.clock.now())
    for name in ("", "pirate", "parrot"):
        assert await recalled_facts(name) == {"likes tea", "lives in Oslo"}
    [old] = await notes.of_subject(world.db, "1", (NoteStatus.SUPERSEDED,))
    assert (old.fact, old.superseded_by) == ("lives in Tortuga", new.id)
