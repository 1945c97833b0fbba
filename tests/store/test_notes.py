"""What queries of notes read, however many notes there are."""

from forgetmenot.store import notes
from forgetmenot.store.database import Database


async def test_what_every_reply_asks_of_notes_reads_the_retracted_ones_alone(
    db: Database,
) -> None:
    plan = await db.rows(f"EXPLAIN QUERY PLAN {notes._REVISION}")
    steps = [row["detail"] for row in plan]
    of_notes = [step for step in steps if "semantic_notes" in step]
    assert of_notes == ["SCAN semantic_notes USING INDEX notes_removed"]
