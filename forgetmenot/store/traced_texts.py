"""Finds the texts that may say a fact or speak of a person, and writes what remains of them.

Which sentences of a text go is decided by privacy/forgetting and privacy/erased_topics.
"""

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from forgetmenot.store import bot_messages, episodes, notes
from forgetmenot.store.database import Source, Transaction, separate_reader
from forgetmenot.text.removal import fact_stems, states_fact


class TracedText(NamedTuple):
    """A text that may say a fact. `own`: it is the subject's or the bot's; `id`: its rowid."""

    table: str
    column: str
    own: bool
    id: int
    text: str


_EVIDENCE = "FROM note_evidence WHERE note_id = :note"


_THEIRS = f"""
SELECT episode_id {_EVIDENCE}
UNION
SELECT episode_id
FROM episode_people
WHERE viewer_id = :subject
"""


# What the bot said to others counts where the command was about the subject or about nobody alone
# ("!missed" repeats sentences that need not name anybody).
_REPLIES = """
SELECT id, text,
    coalesce(viewer_id = :subject, FALSE)
        OR coalesce(about_id = :subject, FALSE)
        OR "trigger" = 'command' AND about_id IS NULL
FROM bot_messages
"""


# Table, column, whether the text is the subject's or the bot's, and in which rows.
_MAY_SAY = (
    ("episodes", "summary", True, f"id IN ({_THEIRS})"),
    ("streams", "recap", True, "instr(recap, '<@' || :subject || '>')"),
    ("streams", "so_far", True, "so_far <> ''"),
    ("events", "text", True, "viewer_id = :subject OR from_bot = 1"),
    (
        "quotes",
        "text",
        True,
        "(viewer_id = :subject OR instr(text, '<@' || :subject || '>'))",
    ),
    (
        "events",
        "text",
        False,
        f"viewer_id <> :subject AND viewer_id IN (SELECT speaker_id {_EVIDENCE})",
    ),
)


async def texts_with_words(
    tx: Transaction,
    note_id: int,
    subject_id: str,
    words: Collection[str],
) -> list[TracedText]:
    """Return the texts that contain one of a fact's words (stems), so that they may say the fact.

    These are the summaries of its evidence and of all else with its subject, recaps that mention the subject, the
    lines of the subject and of those who said the fact, and what the bot said to the subject, about the note, about
    nobody alone, or with such a summary in its prompt.
    """
    texts: list[TracedText] = []
    # a stem may end otherwise than its word: "stori" is not in "story", but "stor" is
    parts = [word[: max(3, len(word) - 1)] for word in words]
    values = {"note": note_id, "subject": subject_id, "parts": parts}
    # Inside of the transaction that rewrites them: nothing can be said in between.
    for table, column, own, where in _MAY_SAY:
        sql = f"SELECT rowid, {column} FROM {table} m WHERE {_has_word(column)} AND ({where})"
        for row_id, text in await tx.rows(sql, values):
            texts.append(TracedText(table, column, own=own, id=row_id, text=text))
    texts += await _replies_with_words(tx, values, frozenset(words))
    return texts


def _has_word(column: str) -> str:
    """Return the SQL condition that a column has one of the words `:parts`."""
    return (
        f"EXISTS (SELECT 1 FROM json_each(:parts) WHERE instr(lower({column}), value))"
    )


async def _replies_with_words(
    tx: Transaction,
    values: Mapping[str, object],
    words: frozenset[str],
) -> list[TracedText]:
    """Return what the bot said that may say a fact (its stems). `values`: the parameters of the queries.

    There are replies of a month, and the slowest to read are their prompts: of most the words decide.
    """
    texts: list[TracedText] = []
    texts_of_others: dict[int, str] = {}
    sql = f"{_REPLIES} WHERE {_has_word('text')}"
    for reply_id, text, is_of_them in await tx.rows(sql, values):
        if is_of_them:
            texts.append(_reply(reply_id, text, own=True))
        elif states_fact(text, words):
            texts_of_others[reply_id] = text
    with_note = await _prompted(
        tx, bot_messages.PROMPTED_WITH_NOTE, texts_of_others, values
    )
    saying_all = []
    for reply_id, text in texts_of_others.items():
        if reply_id in with_note:
            texts.append(_reply(reply_id, text, own=True))
        elif words <= fact_stems(text):
            saying_all.append(reply_id)
    with_episode = await _prompted(
        tx, bot_messages.prompted_with_episodes(_THEIRS), saying_all, values
    )
    for reply_id in with_episode:
        text = texts_of_others[reply_id]
        texts.append(_reply(reply_id, text, own=False))
    return texts


def _reply(reply_id: int, text: str, *, own: bool) -> TracedText:
    return TracedText("bot_messages", "text", own, reply_id, text)


async def _prompted(
    tx: Transaction,
    condition: str,
    reply_ids: Collection[int],
    values: Mapping[str, object],
) -> set[int]:
    """Return those of these replies `m` whose prompt meets a condition (SQL)."""
    sql = f"""
        SELECT m.id
        FROM bot_messages m
        WHERE m.id IN (SELECT value FROM json_each(:ids))
            AND {condition}
    """
    return set(await tx.column(sql, {**values, "ids": list(reply_ids)}))


async def texts_mentioning(source: Source, viewer_id: str) -> list[TracedText]:
    """Return the summaries, recaps and briefs that mention a viewer."""
    texts: list[TracedText] = []
    for table, column in (
        ("episodes", "summary"),
        ("streams", "recap"),
        ("streams", "so_far"),
        ("briefs", "text"),
    ):
        sql = f"SELECT rowid, {column} FROM {table} WHERE instr({column}, '<@' || ? || '>')"
        for row_id, text in await source.rows(sql, (viewer_id,)):
            texts.append(TracedText(table, column, own=False, id=row_id, text=text))
    return texts


async def recap_mentions(source: Source, viewer_id: str) -> list[str]:
    """Return the notes and recaps that mention a viewer; recap files are made of them."""
    return await source.column(
        """
        SELECT fact
        FROM semantic_notes
        WHERE instr(fact, '<@' || ?1 || '>')
        UNION
        SELECT recap
        FROM streams
        WHERE instr(recap, '<@' || ?1 || '>')
        """,
        (viewer_id,),
    )


def typed_lines(path: Path) -> Iterator[TracedText]:
    """Give the lines of chat that are kept. Raises StoreError."""
    sql = "SELECT rowid, text FROM events WHERE text <> ''"
    with separate_reader(path) as connection:
        for row_id, text in connection.execute(sql):
            yield TracedText("events", "text", own=False, id=row_id, text=text)


def sent_texts(path: Path) -> Iterator[tuple[int, str, str]]:
    """Give what the bot said: reply id, Twitch's id of the line ("" if unknown), and text. Raises StoreError."""
    sql = """
        SELECT id, coalesce(twitch_id, ''), text
        FROM bot_messages
        WHERE text <> ''
    """
    with separate_reader(path) as connection:
        yield from connection.execute(sql)


async def rewrite_traced(
    tx: Transaction,
    text: TracedText,
    remaining_text: str,
) -> None:
    """Replace a text by what remains of it.

    A line of chat is marked as redacted at 0: nobody deleted it in chat, so it still gets its answer.
    """
    assignments = f"{text.column} = ?"
    if text.table == "events":
        assignments += ", redacted_at = coalesce(redacted_at, 0)"
    sql = f"UPDATE {text.table} SET {assignments} WHERE rowid = ?"
    await tx.execute(sql, (remaining_text, text.id))


async def delete_traced_note(
    tx: Transaction,
    note_id: int,
    subject_id: str,
    at: int,
) -> None:
    """Delete a note with its evidence and history, and empty episodes that nothing else rests on."""
    # Before the note goes, and its evidence with it.
    episode_ids = await tx.column(
        "SELECT episode_id FROM note_evidence WHERE note_id = ?", (note_id,)
    )
    await notes.delete_of_subject(tx, subject_id, [note_id])
    await episodes.drop_empty(tx, episode_ids, at)
