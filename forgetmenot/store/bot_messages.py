"""The bot's replies, sent or not, with the reasons: one row per considered reply.

Rows are kept for the days of `keep_replies_d`.

A row begins as `silent` when a trigger is taken up, and ends as one of the statuses of `ReplyStatus`. Before Twitch is
called it is `sending`: whatever a crash left in that state becomes `unknown` and is never sent again.
No chat text stands here but the bot's own: `prompt_json` holds row ids.
"""

import json
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
from forgetmenot.store.database import Database, Row, Source, Transaction, row_as, separate_reader
from forgetmenot.text.mentions import mention
from forgetmenot.text.removal import NameForms
from forgetmenot.text.words import sentences_of, telling_stems

NOT_FINISHED = "not finished"
ANSWERED_ELSEWHERE = reason("answered_elsewhere")


class ReplyStatus(StrEnum):
    """Status of a reply."""

    SILENT = "silent"  # nothing was said: `detail` tells why
    SHADOW = "shadow"  # thought, not said
    DROPPED = "dropped"  # written, then not sent: stale, no room, said just before
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
    trigger: str,
    mode: str,
) -> int:
    """Open the row of a reply; returns its id. A viewer who is not stored is left out."""
    return await tx.insert(
        """
        INSERT INTO bot_messages (at, event_id, viewer_id, trigger, mode, text, status, detail)
        VALUES (?, ?, (SELECT id FROM viewers WHERE id = ?), ?, ?, '', 'silent', ?)
        """,
        (at, event_id, viewer_id, trigger, mode, NOT_FINISHED),
    )


async def record_prompt(tx: Transaction, reply_id: int, prompt: object) -> None:
    """Record the prompt, before the model is called."""
    await tx.execute(
        "UPDATE bot_messages SET prompt_json = ? WHERE id = ?", (_json(prompt), reply_id)
    )


async def record_answer(
    tx: Transaction, reply_id: int, *, model: str, latency_ms: int, usage: object, filters: tuple[str, ...],
    used: Sequence[int] = (),
) -> None:  # fmt: skip
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
    """Whether a reply to that line was sent, or may have been."""
    sql = """
        SELECT 1
        FROM bot_messages
        WHERE event_id = ?
            AND status IN ('sending', 'sent', 'unknown')
    """
    return await db.row(sql, (event_id,)) is not None


async def lines_with_reply(source: Source, event_ids: Collection[str]) -> frozenset[str]:
    """Those of these lines that triggered a reply, sent or not."""
    sql = """
        SELECT event_id
        FROM bot_messages
        WHERE event_id IN (SELECT value FROM json_each(?))
    """
    return frozenset(await source.column(sql, (event_ids,)))


async def record_sending(tx: Transaction, reply_id: int, text: str, at: int) -> bool:
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
    """Set the final status. `text` replaces the stored one if given."""
    await tx.execute(
        """
        UPDATE bot_messages
        SET status = ?, detail = ?, text = coalesce(?, text), twitch_id = nullif(?, '')
        WHERE id = ?
        """,
        (status.value, detail, text, twitch_id, reply_id),
    )
    # a line of its prompt may have been cleared while it was on its way, or who said it erased
    rests = f"({_RESTS_ON_CLEARED} OR {_RESTS_ON_DELETED})"
    if await tx.row(
        f"SELECT 1 FROM bot_messages m WHERE m.id = ? AND m.text <> '' AND {rests}", (reply_id,)
    ):
        await _remove_words(tx, [reply_id])


async def resolve_unfinished(tx: Transaction) -> int:
    """At start: what was being sent is of unknown fate (how many), and what was begun says why it has no answer."""
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


async def sent_since(source: Source, since: int, until: int) -> list[tuple[int, str]]:
    """Times and texts of all that was sent since then, or may have been, oldest first."""
    sent = "status IN ('sending', 'sent', 'unknown') AND at BETWEEN ? AND ? ORDER BY at, id"
    rows = await source.rows(f"SELECT at, text FROM bot_messages WHERE {sent}", (since, until))
    return [(row[0], row[1]) for row in rows]


async def count_answers_to(source: Source, viewer_id: str, since: int) -> int:
    """How many replies a viewer got since a time (ms), sent or thought in the silent preview."""
    theirs = "viewer_id = ? AND at >= ? AND status IN ('sent', 'shadow', 'unknown')"
    return int(
        await source.value(f"SELECT count(*) FROM bot_messages WHERE {theirs}", (viewer_id, since))
    )


async def confirm_delivery(tx: Transaction, text: str, since: int) -> int:
    """The line came back from chat: mark an `unknown` row with this text as sent."""
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
    """One row by its id; None if there is none, or none any more."""
    return next(iter(await _messages_where(db, "id = ?", reply_id)), None)


async def latest(db: Database) -> BotMessage | None:
    """The newest row with words, sent or not, except answers to commands."""
    wanted = (
        "text != '' AND \"trigger\" NOT IN ('command', 'notice') ORDER BY at DESC, id DESC LIMIT 1"
    )
    return next(iter(await _messages_where(db, wanted)), None)


async def listing(db: Database, limit: int) -> list[BotMessage]:
    """The newest rows, newest first."""
    return await _messages_where(db, "TRUE ORDER BY id DESC LIMIT ?", limit)


async def recently_sent(
    source: Source, limit: int, since: int, to: str | None = None, *, commands: bool = True
) -> list[BotMessage]:
    """The last lines that were sent (`to`: to one viewer), oldest first; none from the silent preview.

    `commands`: answers to commands among them.
    """
    wanted = "status = 'sent' AND text <> '' AND at >= ?"
    wanted += "" if to is None else " AND viewer_id = ?"
    wanted += "" if commands else " AND \"trigger\" NOT IN ('command', 'notice')"
    values = [since, *([to] if to is not None else []), limit]
    return (await _messages_where(source, f"{wanted} ORDER BY at DESC, id DESC LIMIT ?", *values))[
        ::-1
    ]


# How soon somebody speaks to the bot again whom its answer led on.
LED_ON_WITHIN = 3 * MINUTE
_BEST = """
SELECT m.text, m.viewer_id FROM bot_messages m
WHERE m.status = 'sent' AND m.text <> '' AND m.viewer_id IS NOT NULL AND m.at BETWEEN :since AND :until
    AND m."trigger" NOT IN ('command', 'notice') AND m.outcome NOT IN ('bad', 'deleted')
    AND NOT EXISTS (SELECT 1 FROM action_logs a WHERE a.bot_message_id = m.id AND a.status NOT IN ('done', 'undone'))
    AND (m.outcome = 'good' OR EXISTS (SELECT 1 FROM bot_messages n WHERE n.viewer_id = m.viewer_id
        AND n.at > m.at AND n.at <= m.at + :led_on AND n."trigger" NOT IN ('command', 'notice')))
ORDER BY m.outcome = 'good' DESC, m.notes_json <> '[]' DESC, length(m.text) DESC, m.id LIMIT :limit
"""


async def best_answers(source: Source, since: int, until: int, limit: int) -> list[tuple[str, str]]:
    """Its best answers in that time, and to whom: those called good, then those that the asker went on from.

    None that was called bad or deleted, and none with an action that was not done: that is a refusal, or a request.
    """
    values = {"since": since, "until": until, "led_on": LED_ON_WITHIN, "limit": limit}
    return [(row[0], row[1]) for row in await source.rows(_BEST, values)]


async def prompted_with_note(
    source: Source, note_id: int, limit: int = 20
) -> list[tuple[int, int]]:
    """The bot's kept replies that had a note in their prompt: id and time, newest first."""
    rows = await source.rows(
        """
        SELECT DISTINCT m.id, m.at
        FROM bot_messages m, json_each(m.prompt_json, '$.sections') s,
            json_each(s.value, '$.rows') r
        WHERE instr(m.prompt_json, ?1)
            AND json_valid(m.prompt_json)
            AND r.value ->> 0 = 'notes'
            AND r.value ->> 1 = ?1
        ORDER BY m.at DESC
        LIMIT ?2
        """,
        (
            note_id,
            limit,
        ),  # looked for as text first: most of a month's prompts need no parsing then
    )
    return [(row[0], row[1]) for row in rows]


# ── what a cleared line takes along ───────────────────────────────────────────────────────────
# All that the bot said since one line: it may say it again. Of a person whose lines go: what answered them, names them,
# or had in its prompt a line of theirs or what was made of one; and all answers to commands, which have no prompt.

# Its prompt was not made before that: no reply takes longer.
_PROMPT_AT = "coalesce((SELECT t.at FROM events t WHERE t.id = m.event_id), m.at - 120000)"


def _had(**rows: str) -> str:
    """That a reply `m` had one of these rows `r` in its prompt; each by what it is of."""
    which = " ".join(f"WHEN '{kind}' THEN {condition}" for kind, condition in rows.items())
    sections = "json_each(m.prompt_json, '$.sections') s, json_each(s.value, '$.rows') r"
    return f"EXISTS (SELECT 1 FROM {sections} WHERE CASE r.value ->> 0 {which} END)"


_LOST_ITS_TEXT = _had(
    events="EXISTS (SELECT 1 FROM events e WHERE e.seq = r.value ->> 1 AND e.redacted_at > 0)",
    replies="EXISTS (SELECT 1 FROM bot_messages b WHERE b.id = r.value ->> 1 AND b.text = '' AND b.status = 'sent')",
    notes="EXISTS (SELECT 1 FROM semantic_notes n WHERE n.id = r.value ->> 1 AND n.fact = '')",
    episodes=f"EXISTS (SELECT 1 FROM episodes e WHERE e.id = r.value ->> 1 AND e.cleared_at >= {_PROMPT_AT})",
)
_TRIGGER_CLEARED = "EXISTS (SELECT 1 FROM events e WHERE e.id = m.event_id AND e.redacted_at > 0)"
_RESTS_ON_CLEARED = f"({_TRIGGER_CLEARED} OR {_LOST_ITS_TEXT})"
_RESTS_ON_DELETED = _had(
    events="r.value ->> 1 NOT IN (SELECT seq FROM events)",
    notes="r.value ->> 1 NOT IN (SELECT id FROM semantic_notes)",
)
_THEIR_NOTES = "r.value ->> 1 IN (SELECT id FROM semantic_notes WHERE subject_id = :viewer)"
_KNEW_THEIRS = _had(notes=_THEIR_NOTES)
# An answer to a command has no prompt; "#12 plays drums" quotes note 12.
_QUOTES_THEIRS = """
    SELECT m.id, coalesce(m.twitch_id, ''), m.text, n.fact
    FROM bot_messages m
    JOIN semantic_notes n ON n.subject_id = :viewer
        AND instr(m.text || ' ', '#' || n.id || ' ')
    WHERE m."trigger" = 'command'
        AND m.text <> ''
"""
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
# By what a row of a prompt is of. A reply that had no words of theirs keeps its own.
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
    episodes="r.value ->> 1 IN (SELECT episode_id FROM episode_people WHERE viewer_id = :viewer)",
    replies="r.value ->> 1 IN (SELECT value FROM json_each(:found))",
)


async def clear_since(
    tx: Transaction, since: int, *, at: int, viewer_id: str = "", everything: bool = False
) -> None:
    """Take the words of replies since then away, and of their lines in chat: of all, or of those described above."""
    names = await tx.row("SELECT login, display_name FROM viewers WHERE id = ?", (viewer_id,))
    who = NameForms(viewer_id, [name for name in names or () if name])
    which = (
        f":everything OR m.\"trigger\" = 'command' OR m.viewer_id = :viewer OR {_RESTS_ON_CLEARED}"
    )
    params = {"since": since, "everything": everything, "viewer": viewer_id}
    sql = f"""
        SELECT m.id, m.twitch_id, m.text, ({which})
        FROM bot_messages m
        WHERE m.at >= :since
            AND m.text <> ''
    """
    while True:  # again: others may have had one of these in their prompt
        rows = await tx.rows(sql, params)
        replies = [(row[0], row[1]) for row in rows if row[3] or who.anonymized(row[2]) != row[2]]
        if not replies:
            return
        await clear(tx, replies, at)


class _Reply(NamedTuple):
    """A reply that may say something of somebody. `knew`: there was a note about them in its prompt."""

    id: int
    line: str
    text: str
    knew: bool
    prompt: str
    event_id: str | None


def about_viewer(path: Path, viewer_id: str) -> list[tuple[int, str]]:
    """The replies that say something of somebody, with their name or without: row, and Twitch's id of its line.

    Those whose prompt had a note about them: it was about them then, in whatever words or language. Those whose prompt
    had a line of theirs, an episode with them or such a reply, as each prompt of a busy evening has, and that have a
    word of theirs which nothing else in that prompt has. And answers to commands that quote a note of theirs by its
    number. Read beside whatever is written.
    """
    columns = f"m.id, coalesce(m.twitch_id, ''), m.text, {_KNEW_THEIRS}, m.prompt_json, m.event_id"
    sql = f"SELECT {columns} FROM bot_messages m WHERE m.text <> '' AND {_RESTS_ON_THEM}"
    with separate_reader(path) as own:
        words = _PromptWords(own, viewer_id)
        quoting = own.execute(_QUOTES_THEIRS, {"viewer": viewer_id})
        replies = {
            reply_id: line
            for reply_id, line, text, fact in quoting
            if not telling_stems(fact).isdisjoint(telling_stems(text))
        }
        while True:  # again: others had one of these in their prompt
            known = len(replies)
            values = {"viewer": viewer_id, "found": json.dumps([*replies])}
            for row in own.execute(sql, values).fetchall():
                reply = _Reply(*row)
                if reply.knew or words.has_theirs(reply):
                    replies[reply.id] = reply.line
            if len(replies) == known:
                return [*replies.items()]


class _PromptWords:
    """Which words of a reply can come from one person alone, among all that stood in its prompt."""

    def __init__(self, own: sqlite3.Connection, viewer_id: str) -> None:
        self._own = own
        self._viewer_id = viewer_id
        self._of_others_in: dict[tuple[str, int], frozenset[str]] = {}
        self._theirs: set[str] = set()
        for (text,) in own.execute(_THEIR_WORDS, {"viewer": viewer_id}):
            self._theirs |= telling_stems(text)
        for (summary,) in own.execute(_THEIR_EPISODES, {"viewer": viewer_id}):
            for sentence in sentences_of(summary):
                if mention(viewer_id) in sentence:
                    self._theirs |= telling_stems(sentence)

    def has_theirs(self, reply: _Reply) -> bool:
        """Whether a reply has a word of theirs that nothing else in its prompt has."""
        shared = self._theirs & telling_stems(reply.text)
        if not shared:
            return False
        sections = msgspec.json.decode(reply.prompt).get("sections", ())
        for section in sections:
            for of, row in section.get("rows", ()):
                shared -= self._of_others(of, row)
        for row in self._own.execute("SELECT seq FROM events WHERE id = ?", (reply.event_id,)):
            shared -= self._of_others("events", row[0])
        return bool(shared)

    def _of_others(self, of: str, row: int) -> frozenset[str]:
        """The words that a row of a prompt has of others."""
        key = (of, row)
        if key not in self._of_others_in:
            self._of_others_in[key] = self._read(of, row)
        return self._of_others_in[key]

    def _read(self, of: str, row: int) -> frozenset[str]:
        sql = _WORDS_OF_OTHERS.get(of)
        if sql is None:
            return frozenset()
        found = self._own.execute(sql, {"row": row, "viewer": self._viewer_id}).fetchone()
        if found is None:
            return frozenset()
        sentences = sentences_of(found[0])
        theirs = mention(self._viewer_id)
        return telling_stems(" ".join(one for one in sentences if theirs not in one))


async def texts_to(source: Source, viewer_id: str, reply_ids: Collection[int]) -> list[str]:
    """What was said to somebody, and in these replies."""
    wanted = "text <> '' AND (viewer_id = ? OR id IN (SELECT value FROM json_each(?)))"
    return await source.column(
        f"SELECT text FROM bot_messages WHERE {wanted}", (viewer_id, reply_ids)
    )


async def clear(tx: Transaction, replies: Sequence[tuple[int, str]], at: int) -> None:
    """Take away the words of replies (row, and Twitch's id of its line), and of those lines in chat."""
    await _remove_words(tx, [row for row, _line in replies])
    await tx.execute(
        """
        UPDATE events
        SET text = '', system_text = '', redacted_at = ?
        WHERE redacted_at IS NULL
            AND from_bot = 1
            AND id IN (SELECT value FROM json_each(?))
        """,
        (at, [line for _row, line in replies]),
    )


async def _remove_words(tx: Transaction, reply_ids: Sequence[int]) -> None:
    """Of replies, and of the actions that they proposed; what waits for a person's yes is denied."""
    await tx.execute(
        """
        UPDATE bot_messages
        SET text = ''
        WHERE id IN (SELECT value FROM json_each(?))
        """,
        (reply_ids,),
    )
    await action_logs.clear_words(tx, reply_ids)


async def cleared_lines(tx: Transaction, twitch_ids: Sequence[str]) -> set[str]:
    """Those of the bot's lines, by Twitch's ids, whose words were taken away, or whose row an erasure deleted."""
    kept = "SELECT 1 FROM bot_messages WHERE twitch_id = line.value AND text <> ''"
    sql = f"SELECT value FROM json_each(?) AS line WHERE NOT EXISTS ({kept})"
    return set(await tx.column(sql, (twitch_ids,)))


PRUNABLE = {
    "bot_messages": "status <> 'sending'",
    "action_logs": "status NOT IN ('waiting', 'running') AND revert_at IS NULL",
    "model_calls": "TRUE",
}
"""What is kept for some days only, and which rows of it are over."""


async def prune(tx: Transaction, table: str, before: int, limit: int, zone: str) -> int:
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


async def _messages_where(source: Source, condition: str, *params: object) -> list[BotMessage]:
    """The rows that a condition of ours picks, in its order."""
    return [
        _message(row)
        for row in await source.rows(f"SELECT * FROM bot_messages WHERE {condition}", params)
    ]


def _message(row: Row) -> BotMessage:
    json_of = {
        "usage": "token_usage_json",
        "prompt": "prompt_json",
        "filters": "filters_json",
        "used": "notes_json",
    }
    read = {name: msgspec.json.decode(row[column]) for name, column in json_of.items()}
    return row_as(row, BotMessage, **read, detail=read_reason(row["detail"]))


# ── how each reply was taken ──────────────────────────────────────────────────────────────────


async def set_outcome(tx: Transaction, reply_id: int, outcome: str) -> None:
    """Keep how a reply was taken. A later word replaces an earlier one; a deletion stays what it is."""
    await tx.execute(
        "UPDATE bot_messages SET outcome = ? WHERE id = ? AND outcome <> 'deleted'",
        (outcome, reply_id),
    )


async def id_by_twitch_id(source: Source, twitch_id: str) -> int | None:
    """The reply that Twitch shows under this id."""
    found: int | None = await source.value(
        "SELECT id FROM bot_messages WHERE twitch_id = ?", (twitch_id,)
    )
    return found
