"""The bot's replies, sent or not, with the reasons: one row per considered reply.

Rows are kept for the days of `keep_replies_d`.

A row begins as `silent` when a trigger is taken up, and ends as one of the statuses of `ReplyStatus`. Before Twitch is
called it is `sending`: whatever a crash left in that state becomes `unknown` and is never sent again.
No chat text stands here but the bot's own: `prompt_json` holds row ids.
"""

import json
import re
import sqlite3
from collections.abc import Collection, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct

from forgetmenot.durations import MINUTE
from forgetmenot.languages import read_reason, reason
from forgetmenot.store import action_logs, reply_outcomes
from forgetmenot.store.database import (
    Database,
    Row,
    Source,
    Transaction,
    row_as,
    separate_reader,
)
from forgetmenot.text.meaning import is_common_word
from forgetmenot.text.mentions import ids_in, mention
from forgetmenot.text.names import compact
from forgetmenot.text.removal import NameForms, without_person
from forgetmenot.text.words import sentences_of, telling_stems

NOT_FINISHED = "not finished"
ANSWERED_ELSEWHERE = reason("answered_elsewhere")


# "trigger" is a word of SQL, so as a column it needs quotes.
_IS_NO_COMMAND = "\"trigger\" NOT IN ('command', 'notice')"


class ReplyStatus(StrEnum):
    """What became of a reply."""

    SILENT = "silent"  # nothing was written: `detail` says why
    SHADOW = "shadow"  # written in the silent preview, where nothing is sent
    DROPPED = "dropped"  # written, but not sent: too late, too many messages, or said just before
    SENDING = "sending"
    SENT = "sent"
    REFUSED = "refused"
    UNKNOWN = "unknown"


class BotMessage(Struct, frozen=True):
    """One row, with its JSON read. `usage` and `prompt` are as the engine wrote them."""

    id: int
    at: int
    event_id: str | None
    viewer_id: str | None
    trigger: str
    mode: str
    text: str
    status: ReplyStatus
    detail: str
    twitch_id: str | None
    model: str
    latency_ms: int | None
    usage: dict[str, Any]
    prompt: dict[str, Any]
    filters: tuple[str, ...]
    used: tuple[int, ...]
    outcome: str


async def begin(
    tx: Transaction,
    *,
    at: int,
    event_id: str | None,
    viewer_id: str | None,
    about_id: str | None = None,
    trigger: str,
    mode: str,
) -> int:
    """Open the row of a reply to a viewer; returns its id. A viewer who is not stored is left out.

    `about_id`: whom the answer to a command is about; it may be the asker.
    """
    # The foreign key would refuse somebody who is not stored; a subquery makes that NULL.
    stored_viewer = "(SELECT id FROM viewers WHERE id = ?)"
    return await tx.insert(
        f"""
        INSERT INTO bot_messages (at, event_id, viewer_id, about_id, trigger, mode, text, status, detail)
        VALUES (?, ?, {stored_viewer}, {stored_viewer}, ?, ?, '', 'silent', ?)
        """,
        (at, event_id, viewer_id, about_id, trigger, mode, NOT_FINISHED),
    )


async def record_prompt(
    tx: Transaction,
    reply_id: int,
    prompt: object,
) -> None:
    """Record the prompt, before the model is called."""
    await tx.execute(
        "UPDATE bot_messages SET prompt_json = ? WHERE id = ?",
        (_json(prompt), reply_id),
    )


async def record_answer(
    tx: Transaction,
    reply_id: int,
    *,
    model: str,
    latency_ms: int,
    usage: object,
    filters: tuple[str, ...],
    used: Sequence[int] = (),
) -> None:
    """Record the model's answer, the filters that changed it, and the ids of the notes it used."""
    await tx.execute(
        """
        UPDATE bot_messages
        SET model = ?, latency_ms = ?, token_usage_json = ?, filters_json = ?, notes_json = ?
        WHERE id = ?
        """,
        (model, latency_ms, _json(usage), _json(filters), _json(used), reply_id),
    )


async def is_answered(db: Database, event_id: str) -> bool:
    """Return whether a reply to that line was sent, or may have been."""
    sql = """
        SELECT 1
        FROM bot_messages
        WHERE event_id = ?
            AND status IN ('sending', 'sent', 'unknown')
    """
    return await db.row(sql, (event_id,)) is not None


async def lines_with_reply(
    source: Source, event_ids: Collection[str]
) -> frozenset[str]:
    """Return those of these lines that triggered a reply, sent or not."""
    sql = """
        SELECT event_id
        FROM bot_messages
        WHERE event_id IN (SELECT value FROM json_each(?))
    """
    return frozenset(await source.column(sql, (event_ids,)))


async def record_sending(
    tx: Transaction,
    reply_id: int,
    text: str,
    at: int,
) -> bool:
    """Claim a row for sending; False if it, or another answer to its line, was claimed before."""
    sql = """
        UPDATE bot_messages
        SET status = 'sending', text = ?, at = ?, detail = ''
        WHERE id = ?
            AND status NOT IN ('sending', 'sent', 'refused', 'unknown')
            AND NOT EXISTS (
                SELECT 1
                FROM bot_messages AS other
                WHERE other.event_id = bot_messages.event_id
                    AND other.status IN ('sending', 'sent', 'unknown')
            )
    """
    # The index bot_messages_once would refuse a second answer to a line as an error. Asked in the
    # same statement, it is none.
    return await tx.execute(sql, (text, at, reply_id)) == 1


async def settle(
    tx: Transaction,
    reply_id: int,
    status: ReplyStatus,
    detail: str = "",
    *,
    text: str | None = None,
    twitch_id: str = "",
) -> None:
    """Store what became of a reply. `text` replaces the stored one, if given."""
    await tx.execute(
        """
        UPDATE bot_messages
        SET status = ?, detail = ?, text = coalesce(?, text), twitch_id = nullif(?, '')
        WHERE id = ?
        """,
        (status.value, detail, text, twitch_id, reply_id),
    )
    # while it was being sent, a line of its prompt may have been cleared, or its author erased
    outdated = await tx.row(
        f"""
        SELECT 1
        FROM bot_messages m
        WHERE m.id = ?
            AND m.text <> ''
            AND ({_RESTS_ON_CLEARED} OR {_RESTS_ON_DELETED})
        """,
        (reply_id,),
    )
    if outdated is not None:
        await _remove_words(tx, [reply_id])


async def resolve_unfinished(tx: Transaction) -> int:
    """Settle at start what a stop left unfinished, and return how many replies were being sent.

    Of those nobody knows whether Twitch has them. Replies that were only begun are marked as stopped.
    """
    sql = "UPDATE bot_messages SET detail = ? WHERE status = 'silent' AND detail = ?"
    await tx.execute(sql, (reason("stopped"), NOT_FINISHED))
    return await tx.execute(
        """
        UPDATE bot_messages
        SET status = 'unknown', detail = ?
        WHERE status = 'sending'
        """,
        (reason("stopped"),),
    )


async def sent_since(
    source: Source,
    since: int,
    until: int,
) -> list[tuple[int, str]]:
    """Return times and texts of all that was sent since then, or may have been, oldest first."""
    sent = "status IN ('sending', 'sent', 'unknown') AND at BETWEEN ? AND ? ORDER BY at, id"
    rows = await source.rows(
        f"SELECT at, text FROM bot_messages WHERE {sent}", (since, until)
    )
    return [(row[0], row[1]) for row in rows]


async def count_answers_to(
    source: Source,
    viewer_id: str,
    since: int,
) -> int:
    """Return how many replies a viewer got since a time (ms), sent or thought in the silent preview."""
    sql = """
        SELECT count(*)
        FROM bot_messages
        WHERE viewer_id = ?
            AND at >= ?
            AND status IN ('sent', 'shadow', 'unknown')
    """
    return int(await source.value(sql, (viewer_id, since)))


async def confirm_delivery(
    tx: Transaction,
    text: str,
    since: int,
) -> int:
    """Mark an `unknown` reply with this text as sent, since its line came back from chat.

    Returns how many replies that was.
    """
    # By its text and time: the answer of Twitch that had the line's id was lost.
    return await tx.execute(
        """
        UPDATE bot_messages
        SET status = 'sent', detail = ?
        WHERE status = 'unknown'
            AND at >= ?
            AND text = ?
        """,
        (reason("seen_in_chat"), since, text),
    )


async def get(db: Database, reply_id: int) -> BotMessage | None:
    """Return a reply by its id; None if it is not stored (any more)."""
    messages = await _messages_where(db, "id = ?", reply_id)
    return messages[0] if messages else None


async def latest(db: Database) -> BotMessage | None:
    """Return the newest reply with a text, sent or not, except answers to commands; None if there is none."""
    condition = f"text != '' AND {_IS_NO_COMMAND} ORDER BY at DESC, id DESC LIMIT 1"
    messages = await _messages_where(db, condition)
    return messages[0] if messages else None


async def listing(db: Database, limit: int) -> list[BotMessage]:
    """Return the newest rows, newest first."""
    return await _messages_where(db, "TRUE ORDER BY id DESC LIMIT ?", limit)


async def recently_sent(
    source: Source,
    limit: int,
    since: int,
    to: str | None = None,
    *,
    commands: bool = True,
) -> list[BotMessage]:
    """Return the last replies that were sent since a time (ms), oldest first.

    `to`: only those to one viewer; `commands`: whether answers to commands are among them.
    """
    condition = "status = 'sent' AND text <> '' AND at >= ?"
    values: list[object] = [since]
    if to is not None:
        condition += " AND viewer_id = ?"
        values.append(to)
    if not commands:
        condition += f" AND {_IS_NO_COMMAND}"
    condition += " ORDER BY at DESC, id DESC LIMIT ?"
    # The indexes, of all replies and of one viewer's, are in the order of time: nothing is sorted.
    newest_first = await _messages_where(source, condition, *values, limit)
    return newest_first[::-1]


async def answers_to_commands(
    source: Source,
    twitch_ids: Sequence[str],
) -> frozenset[str]:
    """Return which of the bot's lines, by Twitch's ids, answer a command or announce something."""
    sql = """
        SELECT twitch_id
        FROM bot_messages
        WHERE twitch_id IN (SELECT value FROM json_each(?))
            AND "trigger" IN ('command', 'notice')
    """
    return frozenset(await source.column(sql, (twitch_ids,)))


# A viewer who speaks to the bot again within this time (ms) went on from its answer.
LED_ON_WITHIN = 3 * MINUTE
# Those called good come first, then those that used a note, then the longest: an answer of three
# words tells nothing of an evening.
_BEST = """
SELECT m.text, m.viewer_id FROM bot_messages m
WHERE m.status = 'sent' AND m.text <> '' AND m.viewer_id IS NOT NULL AND m.at BETWEEN :since AND :until
    AND m."trigger" NOT IN ('command', 'notice') AND m.outcome NOT IN ('bad', 'deleted', 'asked_again')
    AND NOT EXISTS (SELECT 1 FROM action_logs a WHERE a.bot_message_id = m.id AND a.status NOT IN ('done', 'undone'))
    AND (m.outcome = 'good' OR EXISTS (SELECT 1 FROM bot_messages n WHERE n.viewer_id = m.viewer_id
        AND n.at > m.at AND n.at <= m.at + :led_on AND n."trigger" NOT IN ('command', 'notice')))
ORDER BY m.outcome = 'good' DESC, m.notes_json <> '[]' DESC, length(m.text) DESC, m.id LIMIT :limit
"""


async def best_answers(
    source: Source,
    since: int,
    until: int,
    limit: int,
) -> list[tuple[str, str]]:
    """Its best answers in that time, and to whom: those called good, then those that the asker went on from.

    None that was called bad or deleted or after which the same was asked again, and none with an action that was not
    done: that is a refusal, or a request.
    """
    values = {"since": since, "until": until, "led_on": LED_ON_WITHIN, "limit": limit}
    return [(row[0], row[1]) for row in await source.rows(_BEST, values)]


async def prompted_with_note(
    source: Source,
    note_id: int,
    limit: int = 20,
) -> list[tuple[int, int]]:
    """Return the bot's kept replies that had a note in their prompt: id and time, newest first."""
    # Looked for as text first, as `record_prompt` writes it: most of a month's prompts need no
    # parsing then. The number alone stands in many of them.
    rows = await source.rows(
        """
        SELECT DISTINCT m.id, m.at
        FROM bot_messages m, json_each(m.prompt_json, '$.sections') s,
            json_each(s.value, '$.rows') r
        WHERE instr(m.prompt_json, '["notes",' || ?1)
            AND json_valid(m.prompt_json)
            AND r.value ->> 0 = 'notes'
            AND r.value ->> 1 = ?1
        ORDER BY m.at DESC
        LIMIT ?2
        """,
        (note_id, limit),
    )
    return [(row[0], row[1]) for row in rows]


# ── replies that rest on a cleared line ─────────────────────────────────────────────────────
# When one line is cleared, everything that the bot said since is cleared: it may repeat the line.
# When a person's lines are cleared, so are replies to them, replies that name them, replies whose prompt had a line of
# theirs or something made of one, and all answers to commands, which have no prompt.

# A prompt was not made before this time (ms): no reply takes longer than two minutes.
_PROMPT_AT = "coalesce((SELECT t.at FROM events t WHERE t.key = line_key(m.event_id)), m.at - 120000)"


def _had(**rows: str) -> str:
    """Return the SQL condition that a reply `m` had such a row in its prompt.

    `rows`: a condition on the row `r` for each kind of row; `r.value ->> 1` is its id.
    """
    # CASE instead of OR: of each row only the condition of its own kind is tried.
    cases = " ".join(
        f"WHEN '{kind}' THEN {condition}" for kind, condition in rows.items()
    )
    return f"""EXISTS (
        SELECT 1
        FROM json_each(m.prompt_json, '$.sections') s, json_each(s.value, '$.rows') r
        WHERE CASE r.value ->> 0 {cases} END
    )"""


def prompted_with_episodes(ids: str) -> str:
    """Return the SQL condition that a reply `m` had one of these episodes (a query of ids) in its prompt."""
    return _had(episodes=f"r.value ->> 1 IN ({ids})")


# As text first, as `record_prompt` writes it: most prompts need no parsing then.
PROMPTED_WITH_NOTE = f"""(
    instr(m.prompt_json, '["notes",' || :note || ']')
    AND {_had(notes="r.value ->> 1 = :note")}
)"""
# Events with `redacted_at` 0 lost their words with a forgotten fact: forgetting looks for the
# replies by itself (store/traced_texts).
_LOST_ITS_TEXT = _had(
    events="EXISTS (SELECT 1 FROM events e WHERE e.seq = r.value ->> 1 AND e.redacted_at > 0)",
    replies="EXISTS (SELECT 1 FROM bot_messages b WHERE b.id = r.value ->> 1 AND b.text = '' AND b.status = 'sent')",
    notes="EXISTS (SELECT 1 FROM semantic_notes n WHERE n.id = r.value ->> 1 AND n.fact = '')",
    episodes=f"EXISTS (SELECT 1 FROM episodes e WHERE e.id = r.value ->> 1 AND e.cleared_at >= {_PROMPT_AT})",
)
_TRIGGER_CLEARED = "EXISTS (SELECT 1 FROM events e WHERE e.key = line_key(m.event_id) AND e.redacted_at > 0)"
_RESTS_ON_CLEARED = f"({_TRIGGER_CLEARED} OR {_LOST_ITS_TEXT})"
_RESTS_ON_DELETED = _had(
    events="r.value ->> 1 NOT IN (SELECT seq FROM events)",
    notes="r.value ->> 1 NOT IN (SELECT id FROM semantic_notes)",
)
_THEIR_NOTES = (
    "r.value ->> 1 IN (SELECT id FROM semantic_notes WHERE subject_id = :viewer)"
)
_QUOTES_OF_THEM = """
    SELECT id
    FROM quotes
    WHERE viewer_id = :viewer OR instr(text, '<@' || :viewer || '>')
"""
_THEIR_QUOTES = f"r.value ->> 1 IN ({_QUOTES_OF_THEM})"
_KNEW_THEIRS = _had(notes=_THEIR_NOTES, quotes=_THEIR_QUOTES)
# An answer to a command has no prompt; what ends with "!unquote 12" shows quote 12, which may mention them.
# MATERIALIZED: their quotes are looked for once, and not again for each reply of a month.
_SHOWS_QUOTE = f"""
    WITH of_them AS MATERIALIZED ({_QUOTES_OF_THEM})
    SELECT m.id, coalesce(m.twitch_id, '')
    FROM bot_messages m
    JOIN of_them q ON m.text LIKE '%!unquote ' || q.id
    WHERE m."trigger" = 'command'
"""
# UNION ALL: what stands twice changes nothing, and need not be looked for.
_THEIR_WORDS = """
    SELECT fact
    FROM semantic_notes
    WHERE subject_id = :viewer
    UNION ALL
    SELECT text
    FROM events
    WHERE viewer_id = :viewer
"""
_THEIR_EPISODES = """
    SELECT e.summary
    FROM episodes e
    JOIN episode_people p ON p.episode_id = e.id
    WHERE p.viewer_id = :viewer
"""
# What an answer to "!missed" repeats.
_TEXTS_WITH_THEM = """
    SELECT summary
    FROM episodes
    WHERE instr(summary, '<@' || :viewer || '>')
    UNION
    SELECT recap
    FROM streams
    WHERE instr(recap, '<@' || :viewer || '>')
    UNION
    SELECT so_far
    FROM streams
    WHERE instr(so_far, '<@' || :viewer || '>')
"""
# The words that a row of a prompt, by its kind, has of other people.
_WORDS_OF_OTHERS = {
    "notes": """
        SELECT fact
        FROM semantic_notes
        WHERE id = :row
            AND subject_id IS NOT :viewer
    """,
    "events": """
        SELECT text
        FROM events
        WHERE seq = :row
            AND viewer_id <> :viewer
            AND from_bot = 0
    """,
    "episodes": "SELECT summary FROM episodes WHERE id = :row",
    "streams": "SELECT recap FROM streams WHERE id = :row",
}
_RESTS_ON_THEM = _had(
    events="r.value ->> 1 IN (SELECT seq FROM events WHERE viewer_id = :viewer)",
    notes=_THEIR_NOTES,
    quotes=_THEIR_QUOTES,
    episodes="r.value ->> 1 IN (SELECT episode_id FROM episode_people WHERE viewer_id = :viewer)",
    replies="r.value ->> 1 IN (SELECT value FROM json_each(:replies))",
)


async def clear_since(
    tx: Transaction,
    since: int,
    *,
    at: int,
    viewer_id: str = "",
    everything: bool = False,
) -> None:
    """Delete the texts of replies since a time (ms) that rest on cleared lines, also in chat.

    `viewer_id`: whose lines were cleared; `everything`: delete all texts since then.
    """
    names_row = await tx.row(
        "SELECT login, display_name FROM viewers WHERE id = ?", (viewer_id,)
    )
    names = NameForms(viewer_id, [name for name in names_row or () if name])
    rests_on_them = f"""
        :everything
            OR m."trigger" = 'command'
            OR m.viewer_id = :viewer
            OR {_RESTS_ON_CLEARED}
    """
    sql = f"""
        SELECT m.id, m.twitch_id, m.text, ({rests_on_them})
        FROM bot_messages m
        WHERE m.at >= :since
            AND m.text <> ''
    """
    values = {"since": since, "everything": everything, "viewer": viewer_id}
    # repeated, because other replies may have had one of these in their prompt
    while True:
        replies = []
        for reply_id, twitch_id, text, rests in await tx.rows(sql, values):
            # Names are compared here: SQL knows no ends of words, and "al" stands in "also".
            if rests or names.anonymized(text) != text:
                replies.append((reply_id, twitch_id))
        if not replies:
            return
        await clear(tx, replies, at)


class _Reply(NamedTuple):
    """A reply that may say something about a viewer. `knew`: its prompt had a note about them."""

    id: int
    line: str
    text: str
    knew: bool
    prompt: str
    event_id: str | None


def about_viewer(path: Path, viewer_id: str) -> list[tuple[int, str]]:
    """Return the replies that say something about a viewer, by name or not: id, and Twitch's id of the line.

    - Those whose prompt had a note about the viewer or a quote of theirs, in whatever words or language they are.
    - Those whose prompt had a line of theirs, an episode with them or such a reply, and that have a word of theirs
      which nothing else in the prompt has. (On a busy evening every prompt has such a row.)
    - Answers to commands that say that a quote of them is kept, or repeat a sentence about them that does not name
      them. (Answers about them go with their rows.)

    Reads on a connection of its own. Raises StoreError.
    """
    sql = f"""
        SELECT m.id, coalesce(m.twitch_id, ''), m.text, {_KNEW_THEIRS}, m.prompt_json, m.event_id
        FROM bot_messages m
        WHERE m.text <> ''
            AND {_RESTS_ON_THEM}
    """
    with separate_reader(path) as connection:
        words = _PromptWords(connection, viewer_id)
        replies = dict(connection.execute(_SHOWS_QUOTE, {"viewer": viewer_id}))
        replies.update(_repeating_unnamed(connection, viewer_id))
        # repeated, because other replies may have had one of these in their prompt
        while True:
            count_before = len(replies)
            values = {"viewer": viewer_id, "replies": json.dumps(list(replies))}
            for row in connection.execute(sql, values).fetchall():
                reply = _Reply(*row)
                if reply.knew or words.has_theirs(reply):
                    replies[reply.id] = reply.line
            if len(replies) == count_before:
                return list(replies.items())


def _repeating_unnamed(
    connection: sqlite3.Connection, viewer_id: str
) -> list[tuple[int, str]]:
    """Return the answers to commands that repeat a sentence about a viewer which names nobody ("They …").

    Each is its id and Twitch's id of its line.
    """
    sentences = _unnamed_sentences(connection, viewer_id)
    sql = """
        SELECT id, coalesce(twitch_id, '')
        FROM bot_messages
        WHERE "trigger" = 'command'
            AND EXISTS (SELECT 1 FROM json_each(?) WHERE instr(text, value))
    """
    return connection.execute(sql, (json.dumps(sentences),)).fetchall()


def _unnamed_sentences(connection: sqlite3.Connection, viewer_id: str) -> list[str]:
    """Return the sentences that an erasure of a viewer cuts although they name nobody."""
    unnamed_sentences = []
    values = {"viewer": viewer_id}
    for (text,) in connection.execute(_TEXTS_WITH_THEM, values):
        remaining_sentences = sentences_of(without_person(text, viewer_id))
        for sentence in sentences_of(text):
            if sentence not in remaining_sentences and not ids_in(sentence):
                unnamed_sentences.append(sentence)
    return unnamed_sentences


# A word, and whether it begins a sentence.
_CALLED_BY = re.compile(r"(?P<start>(?:\A|[.!?:])\W*)?(?P<name>\w+)")


class _PromptWords:
    """The words of a viewer, and what other people's rows of a prompt have of them."""

    def __init__(self, connection: sqlite3.Connection, viewer_id: str) -> None:
        self._connection = connection
        self._viewer_id = viewer_id
        self._of_others_in: dict[tuple[str, int], frozenset[str]] = {}
        self._theirs: set[str] = set()
        for (text,) in connection.execute(_THEIR_WORDS, {"viewer": viewer_id}):
            self._theirs |= telling_stems(text)
        for (summary,) in connection.execute(_THEIR_EPISODES, {"viewer": viewer_id}):
            # The other sentences of a summary are about others, whose words are not theirs.
            for sentence in sentences_of(summary):
                if mention(viewer_id) in sentence:
                    self._theirs |= telling_stems(sentence)
        name_words = connection.execute(
            "SELECT word FROM name_words WHERE viewer_id = ?", (viewer_id,)
        )
        self._name_words = frozenset(word for (word,) in name_words)

    def _name_stems_in(self, text: str) -> frozenset[str]:
        """Return the parts of the viewer's names that a text calls them by: "Juno" of juno_on_ice.

        A part that is an ordinary word counts only with a capital in the middle of a sentence: "the ice" is no name.
        """
        stems: set[str] = set()
        for match in _CALLED_BY.finditer(text):
            word = match["name"]
            if compact(word) not in self._name_words:
                continue
            is_within_sentence = match["start"] is None
            is_written_as_name = word[0].isupper() and is_within_sentence
            if is_written_as_name or not is_common_word(compact(word)):
                stems |= telling_stems(word)
        return frozenset(stems)

    def has_theirs(self, reply: _Reply) -> bool:
        """Return whether a reply has a word of the viewer's that nothing else in its prompt has."""
        words = self._theirs & telling_stems(reply.text)
        words |= self._name_stems_in(reply.text)
        if not words:
            return False
        for section in msgspec.json.decode(reply.prompt).get("sections", ()):
            for kind, row_id in section.get("rows", ()):
                # What somebody else's row has as well may come from there.
                words -= self._of_others(kind, row_id)
        events = self._connection.execute(
            "SELECT seq FROM events WHERE key = line_key(?)", (reply.event_id,)
        )
        for (seq,) in events:
            words -= self._of_others("events", seq)
        return bool(words)

    def _of_others(self, kind: str, row_id: int) -> frozenset[str]:
        """Return the words that a row of a prompt has of other people."""
        key = (kind, row_id)
        # The same rows stand in many prompts of an evening.
        if key not in self._of_others_in:
            self._of_others_in[key] = self._read(kind, row_id)
        return self._of_others_in[key]

    def _read(self, kind: str, row_id: int) -> frozenset[str]:
        sql = _WORDS_OF_OTHERS.get(kind)
        if sql is None:
            return frozenset()
        values = {"row": row_id, "viewer": self._viewer_id}
        row = self._connection.execute(sql, values).fetchone()
        if row is None:
            return frozenset()
        own_mention = mention(self._viewer_id)
        sentences = [text for text in sentences_of(row[0]) if own_mention not in text]
        return telling_stems(" ".join(sentences))


async def texts_to(
    source: Source,
    viewer_id: str,
    reply_ids: Collection[int],
) -> list[str]:
    """Return the texts of the replies to a viewer, and of these replies."""
    sql = """
        SELECT text
        FROM bot_messages
        WHERE text <> ''
            AND (viewer_id = ? OR id IN (SELECT value FROM json_each(?)))
    """
    return await source.column(sql, (viewer_id, reply_ids))


async def clear(
    tx: Transaction,
    replies: Sequence[tuple[int, str]],
    at: int,
) -> None:
    """Delete the texts of replies (id, and Twitch's id of the line), and of their lines in chat."""
    await _remove_words(tx, [row for row, _line in replies])
    # A line keeps the time of its first clear.
    await tx.execute(
        """
        UPDATE events
        SET text = '', system_text = '', redacted_at = ?
        WHERE redacted_at IS NULL
            AND from_bot = 1
            AND key IN (SELECT line_key(value) FROM json_each(?))
        """,
        (at, [line for _row, line in replies]),
    )


async def _remove_words(tx: Transaction, reply_ids: Sequence[int]) -> None:
    """Delete the texts of replies and of the actions that they proposed; those that wait for approval are denied."""
    await tx.execute(
        """
        UPDATE bot_messages
        SET text = ''
        WHERE id IN (SELECT value FROM json_each(?))
        """,
        (reply_ids,),
    )
    await action_logs.clear_words(tx, reply_ids)


async def clear_quote(
    tx: Transaction,
    quote_id: int,
    at: int,
) -> None:
    """Delete the texts of replies that had a quote in their prompt or said that it is kept, also in chat."""
    rows = await tx.rows(
        """
        SELECT m.id, coalesce(m.twitch_id, '')
        FROM bot_messages m
        WHERE m.text <> ''
            AND (
                m."trigger" = 'command' AND m.text LIKE '%!unquote ' || ?1
                OR instr(m.prompt_json, 'quotes') AND EXISTS (
                    SELECT 1
                    FROM json_each(m.prompt_json, '$.sections') s, json_each(s.value, '$.rows') r
                    WHERE r.value ->> 0 = 'quotes'
                        AND r.value ->> 1 = ?1
                )
            )
        """,
        (quote_id,),
    )
    await clear(tx, [(row[0], row[1]) for row in rows], at)


async def cleared_lines(tx: Transaction, twitch_ids: Sequence[str]) -> set[str]:
    """Return those of the bot's lines, by Twitch's ids, whose words were cleared or whose row was erased."""
    with_text = "SELECT 1 FROM bot_messages WHERE twitch_id = line.value AND text <> ''"
    sql = f"SELECT value FROM json_each(?) AS line WHERE NOT EXISTS ({with_text})"
    return set(await tx.column(sql, (twitch_ids,)))


# The tables whose rows are kept for some days only, and which of their rows may go: not what is
# still under way, or has to be undone.
PRUNABLE = {
    "bot_messages": "status <> 'sending'",
    "action_logs": "status NOT IN ('waiting', 'running') AND revert_at IS NULL",
    "model_calls": "TRUE",
}


async def prune(
    tx: Transaction,
    table: str,
    before: int,
    limit: int,
    zone: str,
) -> int:
    """Delete rows of one of these tables past their days, up to a number; returns how many.

    `zone`: the channel's time zone, by which the weeks are counted that stay of replies.
    """
    # the oldest first: how a reply was taken is read from those after it
    old = f"SELECT id FROM {table} WHERE at < ? AND {PRUNABLE[table]} ORDER BY at, id LIMIT ?"
    ids = await tx.column(old, (before, limit))
    if table == "bot_messages":
        await reply_outcomes.keep_weeks(tx, ids, zone)
    return await tx.execute(
        f"DELETE FROM {table} WHERE id IN (SELECT value FROM json_each(?))", (ids,)
    )


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


async def _messages_where(
    source: Source,
    condition: str,
    *params: object,
) -> list[BotMessage]:
    """Return the replies of a condition (SQL), in the order that it names."""
    rows = await source.rows(f"SELECT * FROM bot_messages WHERE {condition}", params)
    return [_message(row) for row in rows]


def _message(row: Row) -> BotMessage:
    return row_as(
        row,
        BotMessage,
        usage=msgspec.json.decode(row["token_usage_json"]),
        prompt=msgspec.json.decode(row["prompt_json"]),
        filters=msgspec.json.decode(row["filters_json"]),
        used=msgspec.json.decode(row["notes_json"]),
        detail=read_reason(row["detail"]),
    )


# ── how each reply was taken ──────────────────────────────────────────────────────────────────


async def set_outcome(
    tx: Transaction,
    reply_id: int,
    outcome: str,
) -> None:
    """Keep how a reply was taken. A later word replaces an earlier one; a deletion stays what it is."""
    await tx.execute(
        "UPDATE bot_messages SET outcome = ? WHERE id = ? AND outcome <> 'deleted'",
        (outcome, reply_id),
    )


async def id_by_twitch_id(source: Source, twitch_id: str) -> int | None:
    """Return the reply that Twitch shows under this id."""
    sql = "SELECT id FROM bot_messages WHERE twitch_id = ?"
    reply_id: int | None = await source.value(sql, (twitch_id,))
    return reply_id
