"""Only what was said later changes what is known, whatever is read first: chat is read long after it was said."""

import json

import pytest

from forgetmenot.clock import MINUTE
from forgetmenot.memory import edits
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import notes
from tests.notes_world import World

ALICE = "1"
OLD, NEW = "favourite game is Celeste", "favourite game is Hades"


class Channel:
    """Lines that are said now and read later, as one window."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.said: list[tuple[int, str]] = []

    async def say(self, text: str) -> None:
        await self.world.clock.advance(MINUTE)
        self.said.append((self.world.clock.now(), text))

    async def read(self, *facts: str) -> dict[str, int]:
        """Summarise all that was said, and learn these facts from it; what was refused."""
        await self.world.clock.advance(MINUTE)
        await self.world.chat(*((ALICE, text, at) for at, text in self.said))
        self.said.clear()
        changes = [
            {"who": "P1", "said_by": "P1", "fact": fact, "confidence": 0.9, "lifetime": "permanent",
             "importance": "medium", "topics": [], "asked_with": []}
            for fact in facts
        ]  # fmt: skip
        extractor, _ = self.world.extractor(json.dumps({"notes": changes}))
        return dict((await extractor.run_pass()).refused)

    async def known(self) -> list[str]:
        return [note.fact for note in await notes.of_subject(self.world.db, ALICE)]

    async def remember(self, fact: str) -> int:
        await self.world.clock.advance(MINUTE)
        return (await edits.remember(self.world.db, ALICE, fact, by=ALICE, at=self.world.clock.now())).id

    async def correct(self, note_id: int, fact: str) -> None:
        await self.world.clock.advance(MINUTE)
        now = self.world.clock.now()
        await edits.edit(self.world.db, note_id, fact, by="9", at=now, privacy=PrivacySettings())


@pytest.fixture
def channel(world: World) -> Channel:
    return Channel(world)


@pytest.mark.parametrize("facts", [(OLD, NEW), (NEW, OLD)])
async def test_within_a_window_the_later_line_counts_whatever_order_a_model_gives(
    channel: Channel, facts: tuple[str, str]
) -> None:
    await channel.say("my favourite game is Celeste")
    await channel.say("wait no, my favourite game is Hades")
    await channel.read(*facts)
    assert await channel.known() == [NEW]


@pytest.mark.parametrize("before", [True, False])
async def test_what_was_retracted_comes_back_only_by_what_is_said_later(channel: Channel, *, before: bool) -> None:
    note_id = await channel.remember("lives in Oslo")
    if before:
        await channel.say("I live in Oslo")
    await channel.world.clock.advance(MINUTE)
    await edits.retract(channel.world.db, note_id, at=channel.world.clock.now(), cause="wrong")
    if not before:
        await channel.say("I live in Oslo")
    await channel.read("lives in Oslo")
    assert await channel.known() == ([] if before else ["lives in Oslo"])


async def test_a_replacement_that_was_undone_is_not_made_again_by_the_same_chat(channel: Channel) -> None:
    await channel.remember("lives in Oslo")
    await channel.say("I live in Rome")
    await channel.read("lives in Rome")
    [rome] = await notes.of_subject(channel.world.db, ALICE)
    await channel.world.clock.advance(MINUTE)
    await edits.undo(channel.world.db, rome.id, at=channel.world.clock.now())
    channel.said.append((channel.world.clock.now() - 3 * MINUTE, "I live in Rome"))
    assert (await channel.read("lives in Rome")).keys() == {"said_before"}
    assert await channel.known() == ["lives in Oslo"]
