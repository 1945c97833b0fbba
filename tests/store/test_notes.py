"""Rows of notes, their history and their evidence."""

import pytest

from forgetmenot.domain.memory import EpisodeKind, Importance, Note, NoteStatus, Scope, SourceKind
from forgetmenot.errors import StoreError
from forgetmenot.store import episodes, notes, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.episodes import OwnEpisode
from forgetmenot.store.notes import NewNote, Stance


@pytest.fixture
async def alice(db: Database) -> str:
    """Somebody who is known."""
    async with db.write() as tx:
        await viewers.add_unseen(tx, {"login:alice": "alice"}, 1)
    return "login:alice"


async def write(db: Database, subject: str | None, fact: str = "plays drums", **fields: object) -> Note:
    scope = Scope.VIEWER if subject is not None else Scope.CHANNEL
    plain: dict[str, object] = {"confidence": 0.8, "source_kind": SourceKind.SELF_CLAIM, "at": 5}
    new = NewNote(scope, subject, fact, **(plain | fields))  # type: ignore[arg-type]  # the test's own fields
    async with db.write() as tx:
        note_id = await notes.insert(tx, new, cause="said", now=7)
    note = await notes.get(db, note_id)
    assert note is not None
    return note


async def test_a_note_reads_as_it_was_written(db: Database, alice: str) -> None:
    note = await write(db, alice, importance=Importance.HIGH, topics=("é", '"'), asked_with=("x",), expires_at=99)
    assert note == Note(
        id=note.id,
        scope=Scope.VIEWER,
        subject_id=alice,
        fact="plays drums",
        confidence=0.8,
        status=NoteStatus.ACTIVE,
        source_kind=SourceKind.SELF_CLAIM,
        importance=Importance.HIGH,
        topics=("é", '"'),
        asked_with=("x",),
        created_at=7,
        last_confirmed_at=5,
        expires_at=99,
        superseded_by=None,
        pinned=False,
        episode_ids=(),
    )
    assert await notes.get(db, 404) is None


async def test_the_fingerprint_differs_when_the_notes_differ(db: Database, alice: str) -> None:
    seen = [await notes.fingerprint(db, alice)]
    first = await write(db, alice)
    seen.append(await notes.fingerprint(db, alice))
    await write(db, alice, "lives in Oslo")
    seen.append(await notes.fingerprint(db, alice))
    async with db.write() as tx:
        await notes.set_pinned(tx, first.id, pinned=True)
    seen.append(await notes.fingerprint(db, alice))
    async with db.write() as tx:
        await notes.set_status(tx, first, NoteStatus.RETRACTED, at=9, cause="wrong")
    seen.append(await notes.fingerprint(db, alice))
    assert len(set(seen)) == 5
    assert all(one[-1] for one in seen)
    assert not (await notes.fingerprint(db, "nobody"))[-1]


async def test_every_change_of_status_is_in_the_history(db: Database, alice: str) -> None:
    old, new = await write(db, alice), await write(db, alice, "no longer plays drums")
    async with db.write() as tx:
        await notes.set_status(tx, old, NoteStatus.SUPERSEDED, at=8, cause="conflict", superseded_by=new.id)
    assert [tuple(one) for one in await notes.changes(db, old.id)] == [
        (old.id, 7, None, "active", "said"),
        (old.id, 8, "active", "superseded", "conflict"),
    ]
    assert [note.id for note in await notes.superseded_by(db, new.id)] == [old.id]
    assert await notes.changed_since(db, [old.id, new.id], "conflict", 8)
    assert not await notes.changed_since(db, [old.id, new.id], "conflict", 9)


async def test_evidence_is_written_once_and_names_who_said_it(db: Database, alice: str) -> None:
    note = await write(db, alice)
    async with db.write() as tx:
        own = OwnEpisode(EpisodeKind.COMMAND, "<@login:alice> said so", 5, (alice,), spoke=alice)
        episode = await episodes.insert_own(tx, own, 7)
        for _ in range(2):
            await notes.add_evidence(tx, Stance(note.id, episode, "stated", alice, addressed=True, at=5))
    [word] = await notes.evidence_of(db, note.id)
    assert (word.stance, word.speaker_id, word.episode.summary) == ("stated", alice, "<@login:alice> said so")
    assert await notes.speakers(db, note.id) == [(alice, episode)]
    found = await notes.get(db, note.id)
    assert found is not None
    assert found.episode_ids == (episode,)
    [person] = await episodes.participants(db, episode)
    assert (person.lines, person.addressed, person.hidden) == (1, 1, False)


async def test_evidence_needs_its_note_and_episode(db: Database) -> None:
    with pytest.raises(StoreError):
        async with db.write() as tx:
            await notes.add_evidence(tx, Stance(1, 1, "stated", None, addressed=False, at=5))


async def test_only_their_own_wish_deletes_the_notes_about_somebody(db: Database, alice: str) -> None:
    channel, old, new = await write(db, None), await write(db, alice), await write(db, alice, "stopped")
    async with db.write() as tx:
        await notes.set_status(tx, old, NoteStatus.SUPERSEDED, at=8, cause="conflict", superseded_by=new.id)
    async with db.write() as tx:
        assert await notes.delete_of_subject(tx, alice, [channel.id, old.id, new.id]) == 2
    assert await notes.page(db) == [channel]
    assert await db.value("SELECT count(*) FROM note_changes") == 1


async def test_ids_are_never_used_twice(db: Database, alice: str) -> None:
    note = await write(db, alice)
    async with db.write() as tx:
        await notes.delete_of_subject(tx, alice, [note.id])
    assert await db.highest_id("semantic_notes") == note.id
    assert (await write(db, alice)).id == note.id + 1
    assert set(await notes.facts_of(db, [note.id, note.id + 1])) == {note.id + 1}
