"""Where a note comes from, in words that a person can follow from end to end."""

import msgspec

from forgetmenot.domain import NoteStatus, Video
from forgetmenot.durations import DAY
from forgetmenot.languages import reason
from forgetmenot.memory import edits
from forgetmenot.memory.provenance import chain, in_words, moment
from forgetmenot.store import notes, streams
from forgetmenot.text.mentions import mention
from tests.notes_world import World, change
from tests.rows import put


async def words(world: World, note_id: int) -> str:
    note = await notes.get(world.db, note_id)
    assert note is not None
    return "\n".join(in_words(note, await chain(world.db, note_id, 0)))


async def test_the_whole_chain_is_told(world: World) -> None:
    first = await world.stream()
    second = await world.stream()
    start = world.clock.now()
    await world.learn(
        change(fact="lives in Oslo"),
        summary="<@1> told the bot of Oslo.",
        stream_id=first,
    )
    await world.clock.advance(DAY)
    people = {"1": (5, 0), "2": (3, 0)}
    summary = "<@1> moved to Bergen, says <@2>."
    await world.learn(
        change(fact="lives in Bergen"), summary=summary, stream_id=second, people=people
    )
    old, new = await notes.of_subject(world.db, "1", list(NoteStatus))
    async with world.db.write() as tx:
        await streams.set_video(tx, second, Video(2134, start, start + 7 * DAY))
        sections = [{"rows": [["notes", new.id]]}]
        prompt = msgspec.json.encode({"sections": sections}).decode()
        reply = await put(
            tx, "bot_messages", at=world.clock.now(), text="x", prompt_json=prompt
        )
    day = moment(start)
    after = moment(start + DAY)
    assert (await words(world, new.id)).splitlines() == [
        f"#{new.id} Alice: lives in Bergen",
        "  active; said it themselves; kept permanently; medium importance; confidence 0.80",
        f"  {after}, stream {second}, 24 h 0 min into it: Alice said (summary 2)",
        "    Alice moved to Bergen, says Bob.",
        "    https://www.twitch.tv/videos/2134?t=24h0m0s (Twitch probably keeps it until 2026-07-31)",
        f"  it replaced #{old.id}: lives in Oslo (`forgetmenot memory undo {new.id}` undoes that)",
        f"  {after}: written",
        f"  in the prompts of the replies {reply} (`forgetmenot why NUMBER` shows more)",
    ]
    assert (await chain(world.db, new.id, start + 7 * DAY))["evidence"][0]["video"] == (
        "",
        0,
    )
    chain_text = await words(world, old.id)
    assert f"{day}, stream {first}: Alice said to the bot (summary 1)" in chain_text
    assert f"  replaced by #{new.id}: lives in Bergen\n" in chain_text
    assert "active → superseded: something else was said" in chain_text


async def test_the_chain_names_nobody_who_opted_out_since(world: World) -> None:
    """Neither the note's subject nor who said it, nor whom a summary or a removal names."""
    stream = await world.stream()
    people = {"1": (5, 0), "2": (3, 0)}
    summary = "<@1> moved to Bergen, says <@2>."
    await world.learn(
        change(fact="lives in Bergen with <@2>"),
        summary=summary,
        stream_id=stream,
        people=people,
    )
    [note] = await notes.of_subject(world.db, "1")
    cause = reason("removed_by", name=mention("2"))
    await edits.retract(world.db, note.id, at=world.clock.now(), cause=cause)
    assert "Alice" in await words(world, note.id)
    assert "Bob" in await words(world, note.id)
    async with world.db.write() as tx:
        await tx.execute("UPDATE viewers SET opted_out_at = 1 WHERE id IN ('1', '2')")
    chain = await words(world, note.id)
    assert [name for name in ("alice", "bob") if name in chain.lower()] == []


async def test_what_nobody_said_is_seen_in_chat(world: World) -> None:
    await world.learn(change(fact="seems to be from Poland", said_by="", observed=True))
    [note] = await notes.of_subject(world.db, "1")
    chain_lines = (await words(world, note.id)).splitlines()
    assert "seen in chat; kept" in chain_lines[1]
    assert chain_lines[2].endswith(": seen in chat (summary 1)")
    [word] = (await chain(world.db, note.id, 0))["evidence"]
    assert (word["speaker"], word["stance"]) == ("", "seen")
