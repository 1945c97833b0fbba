"""Where a note comes from, in words that a person can follow from end to end."""

import json

from forgetmenot.clock import DAY
from forgetmenot.domain import NoteStatus
from forgetmenot.memory import edits
from forgetmenot.memory.provenance import explain, in_words, moment
from forgetmenot.store import notes
from forgetmenot.store.counts import all_counts
from tests.notes_world import Change, Learn, World
from tests.rows import put


async def words(world: World, note_id: int) -> str:
    told = await explain(world.db, note_id)
    assert told is not None
    return in_words(told)


async def used_in_a_reply(world: World, note_id: int, section: str) -> int:
    prompt = {"sections": [{"name": section, "rows": [note_id]}]}
    async with world.db.write() as tx:
        return await put(tx, "bot_messages", at=world.clock.now(), text="x", prompt_json=json.dumps(prompt))


async def test_the_whole_chain_is_told(world: World, learn: Learn, change: Change) -> None:
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
    day, after = moment(start), moment(start + DAY)
    assert (await words(world, new.id)).splitlines() == [
        f"#{new.id} about Alice: lives in Bergen",
        "  active; said it themselves; kept permanently; medium importance; confidence 0.80",
        "Where it comes from",
        f"  {after}, stream {second}: Alice said (summary 2)",
        "    Alice moved to Bergen, says Bob.",
        "Replaced notes",
        f"  #{old.id}: lives in Oslo",
        f"  `forgetmenot memory undo {new.id}` undoes that.",
        "History",
        f"  {after}: written, in the place of another note",
        "Replies whose prompt had it (`forgetmenot why NUMBER` shows more)",
        f"  {reply} ({after})",
    ]
    told = await words(world, old.id)
    assert f"{day}, stream {first}: Alice said to the bot (summary 1)" in told
    assert f"{after}, stream {second}: Alice said otherwise (summary 2)" in told
    assert "  replaced; said it themselves; " in told
    assert f"Replaced by\n  #{new.id}: lives in Bergen\n" in told
    assert "active → superseded: something else was said" in told
    await edits.undo(world.db, new.id, at=world.clock.now())
    assert "superseded → active: somebody took the change back" in await words(world, old.id)


async def test_who_took_a_note_back_is_told_by_name(world: World, learn: Learn, change: Change) -> None:
    await learn(change(fact="lives in Oslo"))
    [note] = await notes.of_subject(world.db, "1")
    await edits.retract(world.db, note.id, at=world.clock.now(), cause="removed by <@2>")
    told = await words(world, note.id)
    assert "active → retracted: removed by Bob" in told
    assert "  removed; " in told


async def test_a_note_that_was_told_says_who_asked(world: World) -> None:
    note = await edits.remember(world.db, "1", "plays drums", by="9", at=world.clock.now())
    told = await words(world, note.id)
    assert "; asked to remember; " in told
    assert "outside a stream: Carol said to the bot (summary 1)\n    Carol asked to remember about Alice: plays" in told


async def test_every_section_that_shows_notes_counts_as_a_use(world: World, learn: Learn, change: Change) -> None:
    await learn(change(who="bit", said_by="", fact="the cat causes every crash"), stream_id=await world.stream())
    await learn(change(who="bit", said_by="P2", fact="the cat causes every crash"), stream_id=await world.stream())
    [bit] = await notes.of_subject(world.db, None)
    sections = ("lore", "others", "brief", "channel_notes", "channel_notes_more")
    used = [await used_in_a_reply(world, bit.id, name) for name in sections]
    await used_in_a_reply(world, bit.id, "chat")
    told = await words(world, bit.id)
    assert f"#{bit.id} a running bit: the cat causes every crash" in told
    assert "; in 2 streams" in told
    assert "chat said (summary 1)" in told
    assert "Bob said again (summary 2)" in told
    assert told.count("Replies whose prompt had it") == 1
    assert [f"  {reply} (" in told for reply in used] == [True] * len(used)


async def test_of_many_replies_the_last_are_named(world: World, learn: Learn, change: Change) -> None:
    await learn(change())
    [note] = await notes.of_subject(world.db, "1")
    used = [await used_in_a_reply(world, note.id, "lore") for _ in range(8)]
    told = (await words(world, note.id)).splitlines()
    assert told[-6].startswith(f"  {used[-1]} (")
    assert told[-1] == "  and 3 before"


async def test_what_was_refused_since_the_start_is_told_by_rule(world: World, learn: Learn, change: Change) -> None:
    await learn(change(fact="abc"), change(who="P9"), change(fact="xyz"))
    counted = await all_counts(world.db)
    assert (counted["note_refused:length"], counted["note_refused:not_there"]) == (2, 1)
