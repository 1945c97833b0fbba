"""Where else a fact is written: in summaries and recaps, in what was said lately, in what the bot answered."""

import json
from collections.abc import Collection
from typing import NamedTuple

from forgetmenot.store import bot_messages
from forgetmenot.store.database import Transaction
from forgetmenot.text.mentions import mention


class Text(NamedTuple):
    """A summary or a recap, with its table and row."""

    table: str
    column: str
    id: int
    text: str


async def texts(tx: Transaction, note_id: int, subject_id: str, words: Collection[str]) -> list[Text]:
    """The texts that may say a fact (given as stems): its evidence, and what else was written about its subject."""
    near = " OR ".join("instr(lower({column}), ?) > 0" for _ in words) or "0"
    parts = [word[: max(3, len(word) - 1)] for word in words]
    rows = await tx.rows(
        "SELECT id, summary FROM episodes WHERE id IN (SELECT episode_id FROM note_evidence WHERE note_id = ?"  # noqa: S608
        f" UNION SELECT episode_id FROM episode_people WHERE viewer_id = ?) AND ({near.format(column='summary')})",
        (note_id, subject_id, *parts),
    )
    recaps = await tx.rows(
        f"SELECT id, recap FROM streams WHERE instr(recap, ?) AND ({near.format(column='recap')})",  # noqa: S608
        (mention(subject_id), *parts),
    )
    return [*(Text("episodes", "summary", *row) for row in rows), *(Text("streams", "recap", *row) for row in recaps)]


async def spoken(tx: Transaction, note_id: int, subject_id: str, words: Collection[str]) -> list[Text]:
    """What somebody said in the last hours, and what the bot said to them, in which one of these stems stands.

    What it said to others counts where it told a note by its number, or had it in its prompt.
    """
    near = " OR ".join("instr(lower(text), ?) > 0" for _ in words) or "0"
    parts = [word[: max(3, len(word) - 1)] for word in words]
    used = [reply_id for reply_id, _at in await bot_messages.with_note(tx, note_id, limit=-1)]  # all of them
    told = "instr(text, ?) > 0 OR id IN (SELECT value FROM json_each(?))"
    replies = await tx.rows(
        f"SELECT id, text FROM bot_messages WHERE (viewer_id = ? OR {told}) AND ({near})",  # noqa: S608
        (subject_id, f"#{note_id} ", json.dumps(used), *parts),
    )
    lines = await tx.rows(
        f"SELECT seq, text FROM events WHERE (viewer_id = ? OR from_bot = 1) AND ({near})",  # noqa: S608
        (subject_id, *parts),
    )
    return [*(Text("bot_messages", "text", *row) for row in replies), *(Text("events", "text", *row) for row in lines)]


async def told_by_others(tx: Transaction, note_id: int, subject_id: str) -> list[Text]:
    """What those others said in the last hours whose word a note rests on."""
    rows = await tx.rows(
        "SELECT seq, text FROM events WHERE text <> '' AND viewer_id <> ?2"
        " AND viewer_id IN (SELECT speaker_id FROM note_evidence WHERE note_id = ?1)",
        (note_id, subject_id),
    )
    return [Text("events", "text", *row) for row in rows]


async def answers(tx: Transaction, since: int, until: int) -> list[tuple[str, Text]]:
    """What the bot answered to commands in that time, each with whom."""
    rows = await tx.rows(
        "SELECT viewer_id, id, text FROM bot_messages WHERE at BETWEEN ?1 AND ?2 AND trigger = 'command' AND text <> ''"
        " AND viewer_id IS NOT NULL",
        (since, until),
    )
    return [(row[0], Text("bot_messages", "text", *row[1:])) for row in rows]


async def echoes(tx: Transaction, text: str) -> list[Text]:
    """The bot's own lines as they came back from chat that say just this."""
    rows = await tx.rows("SELECT seq, text FROM events WHERE from_bot = 1 AND text = ?", (text,))
    return [Text("events", "text", *row) for row in rows]


async def silence(tx: Transaction, text: Text) -> None:
    """Take the words of a line away. One of chat's was deleted by nobody (redacted at 0): it still gets its answer."""
    if text.table == "events":
        await tx.execute(
            "UPDATE events SET text = '', redacted_at = coalesce(redacted_at, 0) WHERE seq = ?", (text.id,)
        )
    else:
        await tx.execute("UPDATE bot_messages SET text = '' WHERE id = ?", (text.id,))


async def rewrite(tx: Transaction, text: Text, rest: str) -> None:
    """Write what is left of a text."""
    await tx.execute(f"UPDATE {text.table} SET {text.column} = ? WHERE id = ?", (rest, text.id))  # noqa: S608


async def delete(tx: Transaction, note_id: int) -> None:
    """Delete a note with its evidence and history, and episodes with nothing left to say that held only it."""
    rows = await tx.rows("SELECT episode_id FROM note_evidence WHERE note_id = ?", (note_id,))
    await tx.execute("UPDATE semantic_notes SET superseded_by = NULL WHERE superseded_by = ?", (note_id,))
    await tx.execute("DELETE FROM semantic_notes WHERE id = ?", (note_id,))
    await tx.many(
        "DELETE FROM episodes WHERE id = ?1 AND (summary = '' OR kind = 'command')"
        " AND NOT EXISTS (SELECT 1 FROM note_evidence v WHERE v.episode_id = ?1)"
        " AND NOT EXISTS (SELECT 1 FROM events e WHERE e.episode_id = ?1)",
        [(row[0],) for row in rows],
    )
