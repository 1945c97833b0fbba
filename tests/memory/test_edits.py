"""What people change by hand: remember, pin, correct, remove and undo; names become ids before a text is stored."""

import pytest

from forgetmenot.domain import NoteStatus, Scope, SourceKind
from forgetmenot.durations import DAY
from forgetmenot.errors import FactRefused
from forgetmenot.memory.edits import VIEWER_TRUST, edit, remember, undo, with_mentions
from forgetmenot.memory.merge import ClaimSource, merge_claim
from forgetmenot.settings.schema import PrivacySettings
from forgetmenot.store import notes, viewers
from forgetmenot.store.invariants import verify
from forgetmenot.store.notes import NewNote
from tests.notes_world import World
from tests.rows import put


async def test_one_viewer_is_kept_ten_notes_in_one_stream(world: World) -> None:
    await world.stream()
    words = (
        "drums",
        "chess",
        "tennis",
        "violin",
        "poker",
        "darts",
        "golf",
        "harp",
        "go",
        "rugby",
    )
    for word in words:
        await remember(
            world.db,
            "1",
            f"plays {word} at the weekend",
            by="1",
            at=world.clock.now(),
            trust=VIEWER_TRUST,
        )
    with pytest.raises(FactRefused, match="enough_this_stream"):
        await remember(
            world.db,
            "1",
            "has two cats",
            by="1",
            at=world.clock.now(),
            trust=VIEWER_TRUST,
        )
    await remember(
        world.db, "2", "has two cats", by="2", at=world.clock.now(), trust=VIEWER_TRUST
    )
    await remember(world.db, "1", "has two dogs", by="1", at=world.clock.now())
    await world.clock.advance(DAY)
    await world.stream()
    await remember(
        world.db,
        "1",
        "has three hens",
        by="1",
        at=world.clock.now(),
        trust=VIEWER_TRUST,
    )


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("plays in bob's band", "plays in <@2>'s band"),
        ("knows @Bob, and <@1> too", "knows <@2>, and <@1> too"),
        ("<@2> owes bob a coffee", "<@2> owes <@2> a coffee"),
        ("knows @nobody", "knows somebody"),
        ("drinks tea", "drinks tea"),
        ("<@1>", "<@1>"),
        ("", ""),
    ],
)
async def test_names_become_ids_once_and_for_all(
    world: World, typed: str, stored: str
) -> None:
    assert await with_mentions(world.db, typed) == stored
    assert await with_mentions(world.db, stored) == stored


async def test_a_chosen_name_as_the_dock_shows_it_is_the_person(world: World) -> None:
    async with world.db.write() as tx:
        await tx.execute("UPDATE viewers SET called = 'Deb' WHERE id = '2'")
    typed = "Deb (bob) plays drums, Deb sings (bob dances)"
    stored = await with_mentions(world.db, typed)
    assert stored == "<@2> plays drums, Deb sings (<@2> dances)"


async def test_a_chosen_name_that_is_a_login_as_well_names_nobody_else(
    world: World,
) -> None:
    async with world.db.write() as tx:
        await tx.execute("UPDATE viewers SET called = 'Deb' WHERE id = '2'")
        await put(tx, "viewers", id="77", login="deb", display_name="Deb")
    shown = await viewers.names_as_asked(world.db, ["2", "77"])
    stored = await with_mentions(world.db, f"{shown['2']} beat {shown['77']}")
    assert stored == "<@2> beat <@77>"


@pytest.mark.parametrize("said_again", [False, True])
async def test_what_was_undone_can_be_undone_and_never_do_both_stand(
    world: World, *, said_again: bool
) -> None:
    at = world.clock.now()
    oslo = await remember(world.db, "1", "lives in Oslo", by="1", at=at)
    rome = await remember(world.db, "1", "lives in Rome", by="1", at=at + DAY)
    # each undo brings the other note back
    brought_back = (oslo, rome)
    if said_again:
        assert (
            await remember(world.db, "1", "lives in Oslo", by="1", at=at + 2 * DAY)
        ).id == oslo.id
        brought_back = (rome, oslo)
    for turn in range(3):
        back = brought_back[turn % 2]
        undone = brought_back[(turn + 1) % 2]
        assert (await undo(world.db, back.id, at=at + (3 + turn) * DAY)).id == back.id
        assert [note.id for note in await notes.of_subject(world.db, "1")] == [back.id]
        was = await notes.get(world.db, undone.id)
        assert was is not None
        assert was.status in {NoteStatus.SUPERSEDED, NoteStatus.RETRACTED}


async def test_a_notes_number_is_its_own_through_edits_and_undos(world: World) -> None:
    note = await remember(world.db, "1", "has a dog called Rex", by="1", at=1)
    for at, fact in ((2, "has a dog called Max"), (3, "has a dog called Moss")):
        edited = await edit(
            world.db, note.id, fact, by="9", at=at, privacy=PrivacySettings()
        )
        assert (edited.id, edited.fact) == (note.id, fact)
    chain = [older.fact for older in await notes.predecessors(world.db, note.id)]
    assert chain == ["has a dog called Max"]
    back = await undo(world.db, note.id, at=4)
    assert (back.id, back.fact, back.status) == (
        note.id,
        "has a dog called Max",
        NoteStatus.ACTIVE,
    )
    assert [older.fact for older in await notes.predecessors(world.db, note.id)] == [
        "has a dog called Rex"
    ]
    assert await world.db.value("SELECT count(*) FROM pragma_foreign_key_check") == 0
    assert await verify(world.db, now=4) == []


async def test_undoing_a_replacement_keeps_a_note_that_was_there_before(
    world: World,
) -> None:
    """A note written long ago, which once replaced another, was repeated in the place of a third."""
    at = world.clock.now()
    await remember(world.db, "1", "lives in Oslo", by="1", at=at)
    rome = await remember(world.db, "1", "lives in Rome", by="1", at=at + DAY)
    cat = await remember(world.db, "1", "has a cat", by="1", at=at + 2 * DAY)
    episode = await world.chat(("1", "I live in Rome"))
    repeated_at = at + 3 * DAY
    repeated = NewNote(
        scope=Scope.VIEWER,
        subject_id="1",
        fact="lives in Rome",
        confidence=0.8,
        source_kind=SourceKind.SELF_CLAIM,
        at=repeated_at,
    )
    source = ClaimSource(episode, "1", addressed=False)
    async with world.db.write() as tx:
        await merge_claim(tx, repeated, source, now=repeated_at, instead_of=cat.id)
    await undo(world.db, cat.id, at=at + 4 * DAY)
    stored_rome = await notes.get(world.db, rome.id)
    assert stored_rome is not None
    assert stored_rome.status is NoteStatus.ACTIVE
    stored_facts = [note.fact for note in await notes.of_subject(world.db, "1")]
    assert sorted(stored_facts) == ["has a cat", "lives in Rome"]
