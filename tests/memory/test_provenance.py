"""Where a note comes from, in words that a person can follow from end to end."""

import json

import pytest

from forgetmenot.clock import DAY, HOUR, MINUTE
from forgetmenot.domain import NoteStatus, Video
from forgetmenot.memory import edits
from forgetmenot.memory.provenance import chain, in_words, moment
from forgetmenot.store import notes, streams
from forgetmenot.store.notes import Stance
from tests.notes_world import World, change
from tests.rows import put


async def words(world: World, note_id: int) -> str:
    note = await notes.get(world.db, note_id)
    assert note is not None
    return "\n".join(in_words(note, await chain(world.db, note_id, 0)))


async def used_in_a_reply(world: World, note_id: int, of: str = "notes") -> int:
    prompt = {"sections": [{"rows": [[of, note_id]]}]}
    async with world.db.write() as tx:
        return await put(tx, "bot_messages", at=world.clock.now(), text="x", prompt_json=json.dumps(prompt))


async def test_the_whole_chain_is_told(world: World) -> None:
    first, second = await world.stream(), await world.stream()
    start = world.clock.now()
    await world.learn(change(fact="lives in Oslo"), summary="<@1> told the bot of Oslo.", stream_id=first)
    await world.clock.advance(DAY)
    await world.learn(
        change(fact="lives in Bergen"),
        summary="<@1> moved to Bergen, says <@2>.",
        stream_id=second,
        people={"1": (5, 0), "2": (3, 0)},
    )
    old, new = await notes.of_subject(world.db, "1", list(NoteStatus))
    reply = await used_in_a_reply(world, new.id)
    day, after = moment(start), moment(start + DAY)
    assert (await words(world, new.id)).splitlines() == [
        f"#{new.id} Alice: lives in Bergen",
        "  active; said it themselves; kept permanently; medium importance; confidence 0.80",
        f"  {after}, stream {second}, 24 h 0 min into it: Alice said (summary 2)",
        "    Alice moved to Bergen, says Bob.",
        f"  it replaced #{old.id}: lives in Oslo (`forgetmenot memory undo {new.id}` undoes that)",
        f"  {after}: written",
        f"  in the prompts of the replies {reply} (`forgetmenot why NUMBER` shows more)",
    ]
    told = await words(world, old.id)
    assert f"{day}, stream {first}: Alice said to the bot (summary 1)" in told
    assert f"  replaced by #{new.id}: lives in Bergen\n" in told
    assert "active → superseded: something else was said" in told
    await edits.undo(world.db, new.id, at=world.clock.now())
    assert "superseded → active: undone" in await words(world, old.id)


async def test_who_asked_for_a_note_and_who_took_it_back_is_told_by_name(world: World) -> None:
    note = await edits.remember(world.db, "1", "plays drums", by="9", at=world.clock.now())
    await edits.retract(world.db, note.id, at=world.clock.now(), cause="removed by <@2>")
    told = await words(world, note.id)
    assert "outside a stream: Carol said to the bot (summary 1)\n    Carol asked to remember about Alice: plays" in told
    assert "active → retracted: removed by Bob" in told


@pytest.mark.parametrize(
    ("after", "now", "shown"),
    [
        (72 * MINUTE + 5_000, DAY, "https://www.twitch.tv/videos/2134?t=1h12m5s"),
        (-1_000, DAY, ""),
        (HOUR, 7 * DAY, ""),
    ],
)
async def test_evidence_has_a_link_to_its_second_while_twitch_keeps_the_video(
    world: World, after: int, now: int, shown: str
) -> None:
    stream, began = await world.stream(), world.clock.now()
    note, episode = await world.note("plays drums"), await world.episode("They talked.", {"1": (3, 0)}, stream)
    async with world.db.write() as tx:
        await streams.set_video(tx, stream, Video(2134, began, began + 7 * DAY))
        await notes.add_evidence(tx, Stance(note, episode, "stated", "1", False, began + after))
    [found] = (await chain(world.db, note, began + now))["evidence"]
    assert found["video"] == (shown, began + 7 * DAY if shown else 0)
