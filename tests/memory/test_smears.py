"""What others say about somebody stays hearsay, however they go about it."""

import json

import msgspec
import pytest

from forgetmenot.domain import SourceKind
from forgetmenot.durations import DAY
from forgetmenot.errors import FactRefused
from forgetmenot.memory import edits
from forgetmenot.memory.retention import sweep_notes
from forgetmenot.settings.schema import MemorySettings
from tests.notes_world import World, change, live, prompt_for, section


async def test_a_smear_stays_hearsay_however_often_and_by_however_many_it_is_repeated(
    world: World,
) -> None:
    smear = {"fact": "loses at chess", "confidence": 1.0}
    people = {"1": (9, 0), "2": (5, 0), "9": (3, 0)}
    for _ in range(12):
        changes = (change(said_by=speaker, **smear) for speaker in ("P2", "P3"))
        await world.learn(*changes, people=people, stream_id=await world.stream())
        await world.clock.advance(DAY)
    [note] = await live(world)
    assert (note.source_kind, note.confidence) == (SourceKind.REPORTED, 0.5)
    assert "; said by others; 2026-07-24, again yesterday] loses at chess" in section(
        await prompt_for(world, "1", "alice", "chess?"), "lore"
    )


async def test_gossip_pushes_nothing_out_that_its_subject_said(world: World) -> None:
    world.settings = msgspec.structs.replace(
        world.settings, memory=MemorySettings(notes_per_viewer=2)
    )
    await world.learn(change(importance="low"))
    for number, word in enumerate(("liver", "maths", "winter")):
        await world.clock.advance(DAY * (number + 1))
        await world.learn(change(fact=f"hates {word}", said_by="P2", importance="high"))
    await sweep_notes(world.db, world.settings.memory, world.clock.now())
    assert {note.fact for note in await live(world)} == {
        "plays drums in a band",
        "hates winter",
    }


GOSSIP = [
    "has a friend, <@2>, who snores",
    "knows that <@2> secretly sings",
    "saw that <@2>'s car was sold",
    "was told by <@2> that she misses the streamer",
]


@pytest.mark.parametrize("fact", GOSSIP)
async def test_gossip_is_not_remembered_as_ones_own_note(
    world: World, fact: str
) -> None:
    with pytest.raises(FactRefused, match="not_yours"):
        await edits.remember(
            world.db, "1", fact, by="1", at=world.clock.now(), trust=edits.VIEWER_TRUST
        )
    stored_note = await edits.remember(
        world.db, "9", fact, by="9", at=world.clock.now()
    )  # a moderator answers for it
    assert stored_note.source_kind is SourceKind.COMMAND


@pytest.mark.parametrize(
    "fact",
    [
        *(
            "plays in <@2>'s band on Fridays",
            "plays chess with <@2>'s wife",
            "named a cat after <@2>",
            "<@1> plays the flute",
        ),
        *(
            "plays drums with <@2> and likes jazz",
            "met <@2>, likes them",
            "games with <@2> and <@9> most evenings",
        ),
    ],
)
async def test_who_others_are_to_somebody_is_theirs_to_tell(
    world: World, fact: str
) -> None:
    note = await edits.remember(
        world.db, "1", fact, by="1", at=world.clock.now(), trust=edits.VIEWER_TRUST
    )
    assert note.source_kind is SourceKind.COMMAND


@pytest.mark.parametrize(
    "fact", ["is married to <@2>", "is <@2>'s wife", "is the king here"]
)
async def test_nobody_is_somebody_by_their_own_word_but_by_a_moderators(
    world: World, fact: str
) -> None:
    now = world.clock.now()
    with pytest.raises(FactRefused, match="role"):
        await edits.remember(
            world.db, "1", fact, by="1", at=now, trust=edits.VIEWER_TRUST
        )
    assert (await edits.remember(world.db, "1", fact, by="9", at=now)).fact == fact


async def test_a_smear_replaces_nothing_that_was_said_by_its_subject(
    world: World,
) -> None:
    await world.learn(change(fact="loves her cats"))
    [own] = await live(world)
    report = await world.learn(
        change(fact="hates her cats", said_by="P2"),
        change(replaces=own.id, fact="hates her cats", said_by="P2"),
    )
    assert report.refused == {"weaker_word": 2}
    assert [note.fact for note in await live(world)] == ["loves her cats"]


@pytest.mark.parametrize("said_by", [{}, {"said_by": "P1"}])
async def test_whose_words_they_are_is_found_in_the_chat(
    world: World, said_by: dict[str, str]
) -> None:
    """P1 is alice, who spoke of her cider and was asked about her garden; bob spoke of her chess."""
    own = [
        ("1", "so I pressed cider from apples"),
        ("1", "gg"),
        ("1", "yes, the whole garden"),
    ]
    chat = [
        *own,
        ("2", "alice loses at chess"),
        ("2", "do you grow leeks in the garden alice?"),
    ]
    bare = {
        name: value for name, value in change().items() if name != "said_by"
    } | said_by
    facts = (
        "presses cider from apples",
        "loses at chess",
        "grows leeks in the garden",
        "is tired of Mondays",
    )
    extractor, _ = world.extractor(
        json.dumps({"notes": [bare | {"fact": fact} for fact in facts]})
    )
    await world.chat(*chat)
    assert (await extractor.run_pass()).added == 4
    sources = {note.fact: note.source_kind for note in await live(world)}
    own_words = (
        "presses cider from apples",
        "grows leeks in the garden",
        "is tired of Mondays",
    )
    assert sources == dict.fromkeys(own_words, SourceKind.SELF_CLAIM) | {
        "loses at chess": SourceKind.REPORTED
    }


@pytest.mark.parametrize("subject", ["channel", "bit"])
async def test_a_smear_stays_hearsay_as_a_fact_about_the_channel(
    world: World, subject: str
) -> None:
    smear = {"fact": "P1 loses at chess", "confidence": 1.0}
    await world.learn(
        change(who=subject, said_by="", **smear),
        change(who=subject, said_by="P2", **smear),
    )
    [note] = await live(world, None)
    assert (note.source_kind, note.confidence) == (SourceKind.REPORTED, 0.5)
    channel_notes = section(
        await prompt_for(world, "2", "bob", "chess?"), "channel_notes"
    )
    assert "said by others; 2026-07-24] Alice loses at chess" in channel_notes


async def test_the_streamer_and_moderators_speak_for_the_channel(world: World) -> None:
    people = {"9": (9, 0), "1": (5, 0)}
    statements = (
        ("P1", "P1 streams on Fridays"),
        ("P1", "P2 won the tournament in May"),
        ("P2", "P1 dances at 900 subs"),
    )
    await world.learn(
        *(change(who="channel", said_by=by, fact=fact) for by, fact in statements),
        people=people,
    )
    sources = {note.fact: note.source_kind for note in await live(world, None)}
    assert sources == {
        "<@9> streams on Fridays": SourceKind.OBSERVED,
        "<@1> won the tournament in May": SourceKind.OBSERVED,
        "<@9> dances at 900 subs": SourceKind.REPORTED,
    }
