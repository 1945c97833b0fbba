"""Deletes the rows of a person who is erased: their actions, their lines with the bot's answers, and the person.

privacy/erasure calls it, step by step; what texts of others say of them is rewritten in store/personal_data.
"""

from forgetmenot.store.counts import add_counts
from forgetmenot.store.database import Transaction
from forgetmenot.store.privacy_choices import write_request
from forgetmenot.store.privacy_requests import RequestKind

# Rows that one transaction of an erasure deletes.
LINES_AT_ONCE = 200
NOTES_AT_ONCE = 40


async def delete_chat(tx: Transaction, viewer_id: str) -> tuple[int, bool]:
    """Delete a viewer's actions, and a part of their lines and of the bot's answers to them.

    Returns how many lines were deleted, and whether there may be more. Answers are deleted before their lines. An
    action that is running or must still be undone stays, without the viewer.
    """
    is_settled = "revert_at IS NULL AND status != 'running'"
    sql = f"DELETE FROM action_logs WHERE (asked_by = ?1 OR target_id = ?1) AND {is_settled}"
    await tx.execute(sql, (viewer_id,))
    values = {"viewer": viewer_id, "limit": LINES_AT_ONCE}
    lines = """
        SELECT seq, id
        FROM events
        WHERE viewer_id = :viewer OR target_id = :viewer
        ORDER BY seq
        LIMIT :limit
    """
    # An OR for each index: `:viewer IN (viewer_id, about_id)` would read a month of answers, for each
    # part of the lines.
    answers = await tx.rows(
        f"""
        SELECT id, text
        FROM bot_messages
        WHERE viewer_id = :viewer
            OR about_id = :viewer
            OR event_id IN (SELECT id FROM ({lines}))
        LIMIT :limit
        """,
        values,
    )
    texts = {answer["text"] for answer in answers if answer["text"]}
    if texts:
        await tx.execute(
            """
            UPDATE events
            SET text = '', system_text = '', redacted_at = coalesce(redacted_at, at)
            WHERE from_bot = 1 AND text IN (SELECT value FROM json_each(?))
            """,
            (texts,),
        )
    answer_ids = [answer["id"] for answer in answers]
    deleted_answers = await tx.execute(
        "DELETE FROM bot_messages WHERE id IN (SELECT value FROM json_each(?))",
        (answer_ids,),
    )
    # there may be more answers to the same lines
    if deleted_answers == LINES_AT_ONCE:
        return 0, True
    # The key of an episode holds the id of a line: it goes while the line is still there to say
    # which.
    keys = f"SELECT 'line:' || id FROM ({lines})"
    await tx.execute(f"UPDATE episodes SET key = NULL WHERE key IN ({keys})", values)
    deleted_lines = await tx.execute(
        f"DELETE FROM events WHERE seq IN (SELECT seq FROM ({lines}))", values
    )
    # counted as redacted, so that the counts of lines still add up
    await add_counts(tx, {"pruned_redacted": deleted_lines})
    return deleted_lines, deleted_lines == LINES_AT_ONCE


async def delete_person(
    tx: Transaction,
    viewer_id: str,
    now: int,
) -> None:
    """Delete a viewer's row and what the schema deletes with it. An opt-out is kept as a request."""
    opted_out_at = await tx.value(
        "SELECT opted_out_at FROM viewers WHERE id = ?", (viewer_id,)
    )
    if opted_out_at is not None and not tx.requests.is_out(viewer_id):
        await write_request(tx, tx.requests.of(RequestKind.OPT_OUT, viewer_id, now))
    await tx.execute("DELETE FROM viewers WHERE id = ?", (viewer_id,))
