"""Rows of notes, their history and their evidence."""

import pytest

from forgetmenot.domain import Note, NoteStatus, Scope, SourceKind
from forgetmenot.store import notes, viewers
from forgetmenot.store.database import Database
from forgetmenot.store.notes import NewNote


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
    assert await notes.ids_in_use(db, [note.id, note.id + 1]) == {note.id + 1}
