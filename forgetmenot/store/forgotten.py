"""Facts that their subject asked to be forgotten, as keyed hashes of their words: enough to refuse them, no more.

Promises that no text and no id stands here. A claim is known again when it has most of a forgotten fact's words,
whichever way it points: "no longer plays drums" would give back "plays drums".
"""

import asyncio
import json
from collections.abc import Collection, Iterable

from forgetmenot.store import ledger
from forgetmenot.store.database import Transaction
from forgetmenot.store.keyed import HashKey
from forgetmenot.store.ledger import Entry, Kind

KNOWN_AGAIN = 0.6
"""The share of a forgotten fact's words that a claim has, to be that fact."""


async def add(
    tx: Transaction, subject_id: str, facts: Iterable[Collection[str]], *, at: int, whole: bool = False
) -> None:
    """Note facts (each as its words) as forgotten. `whole`: everything about the subject is."""
    subject = tx.key.digest("viewer", subject_id)
    hashed = await asyncio.to_thread(lambda: [_hashed(tx.key, subject_id, words) for words in facts if words])
    await tx.many(
        "INSERT INTO forgotten (subject, words, whole, at) VALUES (?, ?, ?, ?)",
        [(subject, json.dumps(words), whole, at) for words in hashed],
    )
    await ledger.note(tx.key, [Entry(Kind.FORGOTTEN, subject, at, tuple(words), whole) for words in hashed])


async def add_again(tx: Transaction, entry: Entry) -> None:
    """Write the row of a wish that was noted in the ledger, unless it is there."""
    row = (entry.subject, json.dumps(list(entry.words)), entry.whole, entry.at)
    await tx.execute(
        "INSERT INTO forgotten (subject, words, whole, at) SELECT ?1, ?2, ?3, ?4 WHERE NOT EXISTS"
        " (SELECT 1 FROM forgotten WHERE subject = ?1 AND words = ?2)",
        row,
    )


async def is_known(tx: Transaction, subject_id: str, words: Collection[str], *, own_since: int | None) -> bool:
    """Whether a claim about a subject was forgotten.

    `own_since`: when the subject said it themselves, if they did: after everything was erased they are new, and may.
    """
    if await tx.row("SELECT 1 FROM forgotten LIMIT 1") is None:
        return False
    rows = await tx.rows(
        "SELECT words FROM forgotten WHERE subject = ?1 AND NOT (whole AND at < coalesce(?2, -1))",
        (tx.key.digest("viewer", subject_id), own_since),
    )
    said = set(_hashed(tx.key, subject_id, words))
    return any(_covers(said, json.loads(row["words"])) for row in rows)


async def any_since(tx: Transaction, at: int) -> bool:
    """Whether somebody had a fact forgotten since then."""
    return await tx.row("SELECT 1 FROM forgotten WHERE at > ? AND NOT whole LIMIT 1", (at,)) is not None


async def allow_again(tx: Transaction, subject_id: str, words: Collection[str]) -> None:
    """The subject asked for it to be remembered after all."""
    subject, said = tx.key.digest("viewer", subject_id), _hashed(tx.key, subject_id, words)
    if await _allow(tx, subject, said):
        await ledger.note(tx.key, [Entry(Kind.ALLOWED, subject, words=tuple(said))])


async def allow_noted(tx: Transaction, entry: Entry) -> None:
    """The same for a wish that was noted in the ledger."""
    await _allow(tx, entry.subject, entry.words)


async def _allow(tx: Transaction, subject: str, said: Collection[str]) -> int:
    rows = await tx.rows("SELECT id, words FROM forgotten WHERE subject = ?", (subject,))
    gone = [(row["id"],) for row in rows if _covers(said, json.loads(row["words"]))]
    await tx.many("DELETE FROM forgotten WHERE id = ?", gone)
    return len(gone)


async def subjects(tx: Transaction) -> frozenset[str]:
    """The hashes of everybody of whom something was forgotten."""
    return frozenset(row[0] for row in await tx.rows("SELECT DISTINCT subject FROM forgotten"))


def is_it(key: HashKey, subject_id: str, words: Collection[str], entry: Entry) -> bool:
    """Whether a claim about a subject is the fact of a wish that was noted."""
    return bool(entry.words) and _covers(_hashed(key, subject_id, words), entry.words)


def _hashed(key: HashKey, subject_id: str, words: Collection[str]) -> list[str]:
    return sorted(key.digest("word", subject_id, word) for word in words)


def _covers(said: Collection[str], forgotten: Collection[str]) -> bool:
    return len([word for word in forgotten if word in said]) >= KNOWN_AGAIN * len(forgotten)
