"""Where a note comes from, in words that a person can follow from end to end."""

import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from forgetmenot.clock import DAY, iso
from forgetmenot.domain.memory import NoteStatus
from forgetmenot.memory.extraction import ExtractReport
from forgetmenot.memory.notes import remember
from forgetmenot.memory.notes.why import explain, in_words
from forgetmenot.store import notes

if TYPE_CHECKING:
    from tests.notes_world import World

Learn = Callable[..., Awaitable[ExtractReport]]
Change = Callable[..., dict[str, object]]


async def words(world: "World", note_id: int) -> str:
    told = await explain(world.db, note_id)
    assert told is not None
    return in_words(told)


async def used_in_a_reply(world: "World", note_id: int, section: str) -> int:
    prompt = {"sections": [{"name": section, "rows": [note_id]}]}
    async with world.db.write() as tx:
        return await tx.insert(
            "INSERT INTO bot_messages (at, trigger, mode, text, status, prompt_json) VALUES (?, 'mention', 'live', 'x',"
            " 'sent', ?)",
            (world.clock.now(), json.dumps(prompt)),
        )


async def test_the_whole_chain_is_told(world: "World", learn: Learn, change: Change) -> None:
    first, second = await world.stream(), await world.stream()
    start = world.clock.now()
    await learn(change(fact="lives in Oslo"), summary="<@1> told the bot of Oslo.", stream_id=first)
    await world.clock.advance(DAY)
    await learn(
        change(fact="lives in Bergen"),
        summary="<@1> moved to Bergen, says <@2>.",
        stream_id=second,
        people={"1": (5, 0), "2": (3, 0)},
    )
    old, new = await notes.of_subject(world.db, "1", list(NoteStatus))
    reply = await used_in_a_reply(world, new.id, "lore")
    assert (await words(world, new.id)).splitlines() == [
        f"#{new.id} Alice: lives in Bergen",
        "  active, confidence 0.80; they said it themselves",
        f"  {iso(start + DAY)} stated by Alice in chat (episode 2, stream {second}): Alice moved to Bergen, says Bob.",
        f"  replaced #{old.id}: lives in Oslo",
        f"  {iso(start + DAY)} new → active: supersedes",
        f"  {iso(start + DAY)} used in reply {reply}",
    ]
    told = await words(world, old.id)
    assert f"stated by Alice to the bot (episode 1, stream {first}): Alice told the bot of Oslo." in told
    assert "contradicted by Alice in chat" in told
    assert f"  replaced by #{new.id}: lives in Bergen" in told
    assert "active → superseded: conflict" in told
    await remember.undo(world.db, new.id, at=world.clock.now())
    assert "superseded → active: undone" in await words(world, old.id)


async def test_every_section_that_shows_notes_counts_as_a_use(world: "World", learn: Learn, change: Change) -> None:
    await learn(change(about="bit", said_by="", fact="the cat causes every crash"), stream_id=await world.stream())
    await learn(change(about="bit", said_by="P2", fact="the cat causes every crash"), stream_id=await world.stream())
    [bit] = await notes.of_subject(world.db, None)
    sections = ("lore", "others", "brief", "channel_notes", "channel_notes_more")
    used = [await used_in_a_reply(world, bit.id, name) for name in sections]
    await used_in_a_reply(world, bit.id, "chat")
    told = await words(world, bit.id)
    assert "a running bit: the cat causes every crash" in told
    assert "came up in 2 streams" in told
    assert "stated by nobody in particular" in told
    assert "confirmed by Bob in chat" in told
    assert told.count("used in reply") == len(used)


async def test_a_name_of_before_a_rename_is_never_shown(world: "World", learn: Learn, change: Change) -> None:
    await learn(change(fact="is P2's sister"))
    async with world.db.write() as tx:
        await tx.execute("UPDATE viewers SET login = 'robert', display_name = 'Robert' WHERE id = '2'")
    [note] = await notes.of_subject(world.db, "1")
    told = await words(world, note.id)
    assert "is Robert's sister" in told
    assert "Bob" not in told
