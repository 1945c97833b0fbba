"""Rows of notes: only their subject's wish deletes them, and no number is given twice."""

from forgetmenot.store import notes
from forgetmenot.store.database import Database
from tests.rows import put


async def test_only_their_own_wish_deletes_the_notes_about_somebody(db: Database) -> None:
    async with db.write() as tx:
        await put(tx, "viewers", id="1", login="alice")
        channel = await put(tx, "semantic_notes", scope="channel", fact="plays chess")
        new = await put(tx, "semantic_notes", subject_id="1", fact="stopped")
        old = await put(
            tx, "semantic_notes", subject_id="1", fact="plays drums", status="superseded", superseded_by=new
        )
        assert await notes.delete_of_subject(tx, "1", [channel, old, new]) == 2
        assert await put(tx, "semantic_notes", subject_id="1", fact="sings") == old + 1
    assert [one.fact for one in await notes.page(db)] == ["plays chess", "sings"]
