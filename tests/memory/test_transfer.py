"""Notes in and out as JSON lines: a bad line is refused by its number, the others go in."""

import asyncio
import json

import pytest

from forgetmenot.clock import iso, parse_iso
from forgetmenot.memory import edits
from forgetmenot.memory.transfer import (
    ERASED,
    NO_NOTE,
    OPTED_OUT,
    PRIVACY,
    ImportReport,
    export_notes,
    import_notes,
)
from forgetmenot.privacy.erasure import Eraser
from forgetmenot.store import episodes, notes, privacy_choices, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.invariants import verify
from tests.notes_world import World, live

NOW = parse_iso("2026-11-20T12:00:00Z")


async def take_in(db: Database, *lines: object) -> ImportReport:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return await import_notes(db, texts, now=NOW, privacy=PRIVACY)


async def test_the_same_file_twice_changes_nothing(world: World) -> None:
    episode = {"key": "session 1", "summary": "Alice talked about music."}
    lines = [
        {"viewer": "alice", "fact": "likes jazz a lot", "episode": episode},
        {"viewer": "zoe", "fact": "bakes bread"},
        {"scope": "channel", "fact": "plays chess on Fridays"},
        {"id": 7, "viewer": "bob", "fact": "keeps bees"},
    ]
    assert (await take_in(world.db, *lines)).imported == 4
    before = [tuple(row) for row in await world.db.rows("SELECT * FROM semantic_notes")]
    again = await take_in(world.db, *lines)
    assert (again.imported, again.episodes, again.viewers, len(again.refused)) == (
        0,
        0,
        0,
        4,
    )
    assert [
        tuple(row) for row in await world.db.rows("SELECT * FROM semantic_notes")
    ] == before
    assert (
        await take_in(world.db, {"id": 7, "viewer": "bob", "fact": "sings"})
    ).imported == 1, "by another number"


JAZZ = {"viewer": "alice", "fact": "likes jazz"}
BAD = [
    json.dumps(JAZZ)[:-1] + ', "x": ' + "[" * 50_000 + "]" * 50_000 + "}",
    '{"viewer": "alice", "fact": "\udc80 jazz"}',
    "{",
    "[]",
    "null",
    {"fact": "x y z"},
    {"viewer": "alice"},
    *(
        JAZZ | odd
        for odd in (
            {"topics": ["x" * 100_000]},
            {"episode": {"key": "k", "summary": "x" * 100_000}},
            {"fact": ""},
            {"fact": "\u200b"},
            {"confidence": 2},
            {"confidence": "high"},
            {"observed_at": "yesterday"},
            {"scope": "planet"},
            {"scope": "channel"},
            {"viewer": "al ice"},
            {"viewer": "<@1>"},
            {"topics": "music"},
            {"episode": {"summary": "no key"}},
            {"id": -1},
            {"id": "5"},
            # numbers that would leave none for later notes
            {"id": 2**62},
            {"id": 2**41},
            {"status": "superseded", "superseded_by": 2**70},
        )
    ),
]


@pytest.mark.parametrize("bad", BAD)
async def test_a_bad_line_is_refused_by_number_and_the_others_go_in(
    world: World, bad: object
) -> None:
    report = await take_in(
        world.db,
        JAZZ | {"fact": "likes tea"},
        "",
        bad,
        {"viewer": "bob", "fact": "naps"},
    )
    assert report.imported == 2
    [refused] = report.refused
    assert refused.line == 3
    assert refused.reason


async def test_a_summary_and_words_pass_the_same_gate_as_a_fact(world: World) -> None:
    summary = "Alice sang. Her card is 4111 1111 1111 1111. It rained."
    words = ["music", "her card is 4111 1111 1111 1111"]
    line = {
        "viewer": "alice",
        "fact": "sings in a choir",
        "topics": words,
        "asked_with": words,
    }
    await take_in(world.db, line | {"episode": {"key": "a", "summary": summary}})
    [note] = await live(world)
    episode = await episodes.get(world.db, note.episode_ids[0])
    assert episode is not None
    assert (episode.summary, note.topics, note.asked_with) == (
        "Alice sang. It rained.",
        ("music",),
        ("music",),
    )


async def test_whoever_a_line_mentions_is_known_or_nobody(world: World) -> None:
    fact = "is a cousin of <@77>, <@login:zoe>, <@zoe> and <@1>"
    await take_in(
        world.db,
        {
            "viewer": "bob",
            "fact": fact,
            "episode": {"key": "a", "summary": "<@78> and <@x> sang."},
        },
    )
    [note] = await live(world, "2")
    assert note.fact == fact.replace("<@zoe>", "somebody")
    assert (
        await viewers.hidden_or_gone(world.db, ["77", "78", "login:zoe"]) == frozenset()
    )
    assert [str(violation) for violation in await verify(world.db, now=NOW)] == []


async def test_who_is_hidden_does_not_move_along(world: World) -> None:
    """Elsewhere nobody would know that they opted out or were banned."""
    await take_in(
        world.db,
        *(
            {"viewer": login, "fact": "likes jazz"}
            for login in ("alice", "bob", "carol")
        ),
    )
    async with world.db.write() as tx:
        await privacy_choices.opt_out(tx, "1", NOW)
        await viewers.set_banned(tx, "2", NOW)
    assert [line["login"] async for line in export_notes(world.db)] == ["carol"]
    assert [line["login"] async for line in export_notes(world.db, subject_id="1")] == [
        "alice"
    ]


async def test_an_import_brings_back_nobody_who_was_erased_or_opted_out(
    world: World,
) -> None:
    """Of who came back only what is newer is taken."""
    await world.viewer("771", "gina")
    await world.viewer("772", "hugo")
    episode = {"key": "k", "summary": "<@771> won. <@1> cheered."}
    old = [
        {
            "viewer": "771",
            "fact": "plays the oboe",
            "observed_at": "2026-11-01T00:00:00Z",
        },
        {"viewer": "gina", "fact": "plays the oboe"},
        {"viewer": "hugo", "fact": "plays the horn"},
        {"viewer": "alice", "fact": "is a friend of <@771>", "episode": episode},
    ]
    await Eraser(db=world.db, clock=world.clock).erase("771")
    async with world.db.write() as tx:
        await privacy_choices.opt_out(tx, "772", world.clock.now())
    report = await take_in(world.db, *old)
    assert [(refusal.line, refusal.reason) for refusal in report.refused] == [
        (1, ERASED),
        (2, ERASED),
        (3, OPTED_OUT),
    ]
    assert (
        await world.db.value(
            "SELECT count(*) FROM viewers WHERE id IN ('771', 'login:gina')"
        )
        == 0
    )
    assert [note.fact for note in await notes.of_subject(world.db, "1")] == [
        "is a friend of somebody"
    ]
    assert (
        await world.db.value("SELECT summary FROM episodes WHERE key = 'k'")
        == "<@1> cheered."
    )
    await world.viewer("771", "gina")
    ages = ("2020-01-01T00:00:00Z", iso(world.clock.now() + 1_000))
    again = await take_in(
        world.db, *({"viewer": "771", "fact": "naps", "observed_at": at} for at in ages)
    )
    assert [refusal.line for refusal in again.refused] == [1]


async def test_an_import_keeps_words_that_are_the_name_of_somebody_erased(
    world: World,
) -> None:
    for viewer_id, login in (("771", "valorant"), ("772", "kuromi_87")):
        await world.viewer(viewer_id, login)
        await Eraser(db=world.db, clock=world.clock).erase(viewer_id)
    facts = ("plays valorant", "likes @valorant", "met kuromi_87")
    await take_in(world.db, *({"viewer": "alice", "fact": fact} for fact in facts))
    stored = [note.fact for note in await notes.of_subject(world.db, "1")]
    assert sorted(stored) == ["likes somebody", "met somebody", "plays valorant"]


async def test_an_export_holds_everything_and_its_notes_come_in_again(
    world: World,
) -> None:
    line = {
        "viewer": "alice",
        "fact": "lives in Oslo",
        "source_kind": "self_claim",
        "importance": "high",
    }
    timed = {
        "fact": "is on holiday",
        "expires_at": "2026-12-01T00:00:00Z",
        "pinned": True,
        "asked_with": ["Trip"],
    }
    await take_in(world.db, {"id": 4, **line}, {"id": 5, **line, **timed})
    await edits.retract(world.db, 4, at=NOW, cause="test")
    out = [line async for line in export_notes(world.db)]
    assert [(exported["id"], exported["status"]) for exported in out] == [
        (4, "retracted"),
        (5, "active"),
    ]
    async with world.db.write() as tx:
        await tx.execute("DELETE FROM semantic_notes")
    again = await take_in(world.db, *out)
    assert [(refusal.line, refusal.reason) for refusal in again.refused] == [
        (1, NO_NOTE)
    ]
    assert [exported async for exported in export_notes(world.db)] == [out[1]]


@pytest.mark.slow
async def test_others_may_write_while_lines_come_in(world: World) -> None:
    """A reply, a command or a wish waits for a slice, not for the file."""
    lines = [
        json.dumps({"viewer": "alice", "fact": f"owns {number} boats"})
        for number in range(200)
    ]
    importing = asyncio.create_task(import_notes(world.db, lines, now=NOW))
    stored = []
    while not importing.done():
        async with world.db.write() as tx:
            stored.append(await tx.value("SELECT count(*) FROM semantic_notes"))
    assert any(0 < number < 200 for number in stored)
    assert (await importing).imported == 200
