"""Who has a handle in the calls that write memory: the streamer always, a raid never in a regular's place."""

import json
import re
from typing import Any

import pytest

from forgetmenot.domain import EventKind, ModelRequest, Purpose
from forgetmenot.memory.extraction import Extractor
from forgetmenot.store import channel_state, notes
from forgetmenot.text.mentions import fenced_texts
from tests.memory.conftest import Channel, answer
from tests.rows import put

INSTRUMENTS = (
    "cello", "banjo", "oboe", "tuba", "harp", "flute", "viola", "bugle", "lute", "fiddle", "drums", "organ",
)  # fmt: skip


def writes_down_every_fact(request: ModelRequest) -> str:
    """A capable model: every "I play the …" of a window, and every sentence of a summary as a note."""
    blocks = fenced_texts(request.prompt)
    if request.purpose is Purpose.SUMMARY:
        facts = re.findall(r"^(P\d+): i play the (\w+)$", blocks["chat"], re.MULTILINE)
        return answer(
            " ".join(f"{subject} plays the {thing}." for subject, thing in facts)
        )
    facts = re.findall(r"(P\d+) (plays the \w+)\.", blocks["episode"])
    listed = [
        {"who": subject, "fact": fact, "lifetime": "permanent"}
        for subject, fact in facts
    ]
    return json.dumps({"notes": listed})


async def extract(channel: Channel) -> None:
    extractor = Extractor(
        db=channel.db,
        model=channel.model,
        settings=lambda: channel.settings,
        clock=channel.clock,
    )
    await extractor.run_pass()


@pytest.mark.parametrize(
    "cheer", ["OX RAID OX RAID", "hello from raider {}, nice stream"]
)
async def test_a_raid_of_sixty_costs_no_regular_their_fact(
    channel: Channel, cheer: str
) -> None:
    channel.model.reply = writes_down_every_fact
    for number in range(60):
        channel.say(f"raider{number}", cheer.format(number))
    for number, instrument in enumerate(INSTRUMENTS):
        channel.say(f"regular{number}", f"i play the {instrument}")
    await channel.summarise()
    await extract(channel)
    facts = [
        [
            note.fact
            for note in await notes.of_subject(channel.db, f"id-regular{number}")
        ]
        for number in range(len(INSTRUMENTS))
    ]
    assert facts == [[f"plays the {instrument}"] for instrument in INSTRUMENTS]


async def test_people_of_a_line_that_many_say_take_no_handle(channel: Channel) -> None:
    for number in range(60):
        channel.say(f"raider{number}", "OX RAID")
    channel.say("alice", "i play the tuba, thanks raider7 for the raid")
    await channel.summarise()
    [request] = channel.model.asked
    blocks = fenced_texts(request.prompt)
    assert "people" not in blocks
    assert blocks["chat"].splitlines() == [
        "OX RAID ×60, 60 people",
        "P2: i play the tuba, thanks P1 for the raid",
    ]
    assert await channel.db.value("SELECT count(*) FROM episode_people") == 61


async def _owned(channel: Channel, **state: str) -> None:
    """The channel is carol's, as Twitch says, and on a stream of hers."""
    async with channel.db.write() as tx:
        values = {"id": "id-carol", "login": "carol", **state}
        await channel_state.put(tx, values, channel.clock.now())


@pytest.mark.parametrize("present", [True, False])
async def test_the_streamer_has_the_first_handle_there_or_not(
    channel: Channel, *, present: bool
) -> None:
    await _owned(channel)
    if present:
        channel.say("carol", "evening all", badges=frozenset({"broadcaster"}))
    channel.say("alice", "@carol what a jump, carol")
    channel.say("bob", "the streamer sings well, The Streamer!")
    channel.model.reply = lambda _: answer("P3 says that the streamer sings well.")
    await channel.summarise()
    [request] = channel.model.asked
    blocks = fenced_texts(request.prompt)
    assert blocks["stream"].splitlines()[0] == "channel: carol, streamer: P1"
    assert "people" not in blocks
    assert blocks["chat"].splitlines()[-2:] == [
        "P2: P1 what a jump, P1",
        "P3: P1 sings well, P1!",
    ]
    assert await channel.db.column("SELECT summary FROM episodes") == [
        "<@id-bob> says that <@id-carol> sings well."
    ]
    there = await channel.db.pairs("SELECT viewer_id, lines FROM episode_people")
    assert there["id-carol"] == int(present)


async def test_a_streamer_who_never_typed_is_learnt_about(channel: Channel) -> None:
    await _owned(channel)
    channel.say("alice", "carol did you know that i play the lute")

    def reply(request: ModelRequest) -> str:
        if request.purpose is Purpose.SUMMARY:
            return answer("P2 says that P1 plays chess on Sundays.")
        assert "P2 is the streamer." in request.prompt
        note = {"who": "P2", "said_by": "P1", "fact": "plays chess on Sundays"}
        return json.dumps({"notes": [{**note, "lifetime": "permanent"}]})

    channel.model.reply = reply
    await channel.summarise()
    await extract(channel)
    [note] = await notes.of_subject(channel.db, "id-carol")
    assert note.fact == "plays chess on Sundays"


async def test_a_streamer_who_opted_out_has_no_handle(channel: Channel) -> None:
    await _owned(channel)
    async with channel.db.write() as tx:
        await put(tx, "viewers", id="id-carol", login="carol", opted_out_at=1)
    channel.say("alice", "@carol the streamer sings well")
    await channel.summarise()
    chat = fenced_texts(channel.model.asked[0].prompt)["chat"]
    assert chat == "P1: somebody the streamer sings well"


async def test_a_summary_knows_the_moderators_of_its_window(channel: Channel) -> None:
    channel.say("alice", "I play the cello")
    channel.say("dan", "no links here please", badges=frozenset({"moderator"}))
    await channel.summarise()
    blocks = fenced_texts(channel.model.asked[0].prompt)
    assert blocks["people"] == "P1 (moderator)"
    assert "P1: no links here please" in blocks["chat"]


async def test_a_summary_knows_channel_title_and_game(channel: Channel) -> None:
    await _owned(channel)
    channel.say("alice", "this level again")
    await channel.ingest.flush()
    async with channel.db.write() as tx:
        await tx.execute(
            "UPDATE streams SET title = 'Any% with <@1>', category = 'Celeste'"
        )
    channel.model.reply = lambda _: answer("P2 plays this level of carol again.")
    await channel.summarise()
    stream_block = fenced_texts(channel.model.asked[0].prompt)["stream"]
    assert stream_block.splitlines() == [
        "channel: carol, streamer: P1",
        "title: Any% with (@somebody)",
        "game: Celeste",
    ]
    # the name that the model was shown does not stay in what is stored
    assert await channel.db.column("SELECT summary FROM episodes") == [
        "<@id-alice> plays this level of <@id-carol> again."
    ]


async def test_a_raid_event_shows_who_raided(channel: Channel) -> None:
    event: dict[str, Any] = {
        "kind": EventKind.RAID,
        "system_text": "30 raiders from dan joined!",
    }
    channel.say("dan", "", **event)
    await channel.summarise()
    assert (
        fenced_texts(channel.model.asked[0].prompt)["chat"]
        == "* 30 raiders from P1 joined!"
    )
