"""Facts that their subject asked to be forgotten, as keyed hashes of their words: enough to refuse them, no more.

Guarantees:
- No text and no id stands in these rows.
- A claim is known again when it has most of a forgotten fact's words, whichever way it points: "no longer plays drums"
  would give back "plays drums".

The second half of the module finds where else a forgotten fact is written, and takes it out there.
"""

import asyncio
import json
from collections.abc import Collection, Iterable
from typing import NamedTuple

from forgetmenot.store import bot_messages, episodes, notes, privacy_log
from forgetmenot.store.database import Source, Transaction
from forgetmenot.store.privacy_log import HashKey, PrivacyRequest, PrivacyRequestKind
from forgetmenot.text.mentions import mention

KNOWN_AGAIN = 0.6
"""The share of a forgotten fact's words that a claim has, to be that fact."""


async def add_forgotten(
    tx: Transaction, subject_id: str, facts: Iterable[Collection[str]], *, at: int, whole: bool = False
) -> None:
    """Note facts (each as its words) as forgotten. `whole`: everything about the subject is."""
    subject = tx.key.digest("viewer", subject_id)
    hashed = await asyncio.to_thread(lambda: [_hashed(tx.key, subject_id, words) for words in facts if words])
    await tx.many(
        "INSERT INTO forgotten (subject, words, whole, at) VALUES (?, ?, ?, ?)",
        [(subject, words, whole, at) for words in hashed],
    )
    await privacy_log.note(
        tx, [PrivacyRequest(PrivacyRequestKind.FORGOTTEN, subject, at, tuple(words), whole) for words in hashed]
    )


async def add_again(tx: Transaction, entry: PrivacyRequest) -> None:
    """Write the row of a request that was noted in the privacy log, unless it is there."""
    await tx.execute(
        "INSERT INTO forgotten (subject, words, whole, at) SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS"
        " (SELECT 1 FROM forgotten WHERE subject = ?1 AND words = ?2)",
        (entry.subject, entry.words, entry.whole, entry.at),
    )


async def is_forgotten(
    tx: Source, subject_id: str, words: Collection[str], *, own_since: int | None, since: int = -1
) -> bool:
    """Whether a claim about a subject was forgotten; only what was after `since`.

    `own_since`: when the subject said it themselves, if they did: after everything was erased they are new, and may.
    """
    if await tx.row("SELECT 1 FROM forgotten LIMIT 1") is None:
        return False
    sql = "SELECT words FROM forgotten WHERE subject = ?1 AND at > ?3 AND NOT (whole AND at < coalesce(?2, -1))"
    held = await tx.column(sql, (tx.key.digest("viewer", subject_id), own_since, since))
    said = set(_hashed(tx.key, subject_id, words))
    return any(_covers(said, json.loads(forgotten)) for forgotten in held)


async def allow_again(tx: Transaction, subject_id: str, words: Collection[str]) -> None:
    """The subject asked for it to be remembered after all."""
    subject, said = tx.key.digest("viewer", subject_id), _hashed(tx.key, subject_id, words)
    if await allow_hashed(tx, subject, said):
        await privacy_log.note(tx, [PrivacyRequest(PrivacyRequestKind.ALLOWED, subject, words=tuple(said))])


async def allow_hashed(tx: Transaction, subject: str, said: Collection[str]) -> int:
    """The same of hashes, for a request that was noted in the privacy log; how many facts are allowed."""
    held = await tx.pairs("SELECT id, words FROM forgotten WHERE subject = ?", (subject,))
    gone = [(row_id,) for row_id, words in held.items() if _covers(said, json.loads(words))]
    await tx.many("DELETE FROM forgotten WHERE id = ?", gone)
    return len(gone)


async def drop_unreadable(tx: Transaction) -> tuple[int, int]:
    """Delete all hashes, since the key that they were made with is gone; how many facts, and opt-outs without an id."""
    return await tx.execute("DELETE FROM forgotten"), await tx.execute("DELETE FROM opted_out_unknown")


async def subjects(tx: Transaction) -> frozenset[str]:
    """The hashes of everybody of whom something was forgotten."""
    return frozenset(await tx.column("SELECT DISTINCT subject FROM forgotten"))


def is_it(key: HashKey, subject_id: str, words: Collection[str], entry: PrivacyRequest) -> bool:
    """Whether a claim about a subject is the fact of a wish that was noted."""
    return bool(entry.words) and _covers(_hashed(key, subject_id, words), entry.words)


def _hashed(key: HashKey, subject_id: str, words: Collection[str]) -> list[str]:
    return sorted(key.digest("word", subject_id, word) for word in words)


def _covers(said: Collection[str], forgotten: Collection[str]) -> bool:
    return len([word for word in forgotten if word in said]) >= KNOWN_AGAIN * len(forgotten)


# ── fact traces ───────────────────────────────────────────────────────────────────────────────
# Where else a fact is written: in summaries and recaps, in what was said lately, in what the bot answered.


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
