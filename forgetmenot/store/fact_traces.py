"""Where a fact is written besides its note: in summaries and recaps, in what was said lately, in what the bot answered.

What of it says the fact is for memory/erasure to decide, which takes it out.
"""

from collections.abc import Collection
from typing import NamedTuple

from forgetmenot.store import bot_messages, episodes, notes
from forgetmenot.store.database import Transaction
from forgetmenot.text.mentions import mention


class TracedText(NamedTuple):
    """A summary or a recap, with its table and row."""

    table: str
    column: str
    id: int
    text: str


async def _traced(tx: Transaction, table: str, column: str, condition: str, *params: object) -> list[TracedText]:
    """The texts of the rows that a condition of ours picks."""
    rows = await tx.rows(f"SELECT rowid, {column} FROM {table} WHERE {condition}", params)  # noqa: S608
    return [TracedText(table, column, *row) for row in rows]


def _near(column: str, words: Collection[str]) -> tuple[str, list[str]]:
    """The condition that one of these stems may stand in a text, and its parameters."""
    found = " OR ".join(f"instr(lower({column}), ?) > 0" for _ in words) or "0"
    # a stem may end otherwise than the word: "stori" stands in no "story", and "stor" does
    return f"({found})", [word[: max(3, len(word) - 1)] for word in words]


async def texts(tx: Transaction, note_id: int, subject_id: str, words: Collection[str]) -> list[TracedText]:
    """The texts that may say a fact (given as stems): its evidence, and what else was written about its subject."""
    rests_on = "SELECT episode_id FROM note_evidence WHERE note_id = ?"
    their = "SELECT episode_id FROM episode_people WHERE viewer_id = ?"
    near, parts = _near("summary", words)
    wanted = f"id IN ({rests_on} UNION {their}) AND {near}"
    found = await _traced(tx, "episodes", "summary", wanted, note_id, subject_id, *parts)
    near, parts = _near("recap", words)
    return found + await _traced(tx, "streams", "recap", f"instr(recap, ?) AND {near}", mention(subject_id), *parts)


async def spoken(tx: Transaction, note_id: int, subject_id: str, words: Collection[str]) -> list[TracedText]:
    """What somebody said in the last hours, and what the bot said to them, in which one of these stems stands.

    What it said to others counts where it named a note by its number, or had it in its prompt.
    """
    near, parts = _near("text", words)
    used = [reply_id for reply_id, _at in await bot_messages.with_note(tx, note_id, limit=-1)]  # all of them
    quoting = "(viewer_id = ? OR instr(text, ?) > 0 OR id IN (SELECT value FROM json_each(?)))"
    replies = (subject_id, f"#{note_id} ", used, *parts)
    found = await _traced(tx, "bot_messages", "text", f"{quoting} AND {near}", *replies)
    return found + await _traced(
        tx, "events", "text", f"(viewer_id = ? OR from_bot = 1) AND {near}", subject_id, *parts
    )


async def said_by_sources(tx: Transaction, note_id: int, subject_id: str) -> list[TracedText]:
    """What those others said in the last hours whose word a note rests on."""
    speakers = "viewer_id <> ? AND viewer_id IN (SELECT speaker_id FROM note_evidence WHERE note_id = ?)"
    return await _traced(tx, "events", "text", f"text <> '' AND {speakers}", subject_id, note_id)


async def clear_traced(tx: Transaction, text: TracedText) -> None:
    """Take the words of a line away. One of chat's was deleted by nobody (redacted at 0): it still gets its answer."""
    await rewrite_traced(tx, text, "")
    if text.table == "events":
        await tx.execute("UPDATE events SET redacted_at = coalesce(redacted_at, 0) WHERE seq = ?", (text.id,))


async def rewrite_traced(tx: Transaction, text: TracedText, rest: str) -> None:
    """Write what is left of a text."""
    await tx.execute(f"UPDATE {text.table} SET {text.column} = ? WHERE rowid = ?", (rest, text.id))  # noqa: S608


async def delete_traced_note(tx: Transaction, note_id: int, subject_id: str, at: int) -> None:
    """Delete a note with its evidence and history, and episodes with nothing left to say that held only it."""
    episode_ids = await tx.column("SELECT episode_id FROM note_evidence WHERE note_id = ?", (note_id,))
    await notes.delete_of_subject(tx, subject_id, [note_id])
    await episodes.drop_empty(tx, episode_ids, at)
