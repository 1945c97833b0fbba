"""How the bot's replies were taken, by what happened after each: read from the trail that a reply leaves.

A reply counts once. What a person did with it comes first (rated good or bad, deleted); then what followed: a note that
it used was replaced or removed within ten minutes, or the same viewer asked the same again within two. (That is marked
when it happens: the lines of chat, by whose words it is known, are deleted after a day.) Of replies whose rows are
deleted the weeks keep their counts (`reply_weeks`). Answers to commands are no replies here.
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Sequence
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import msgspec

from forgetmenot.durations import MINUTE
from forgetmenot.store.database import Database, Source, Transaction, separate_reader
from forgetmenot.text.days import day_of
from forgetmenot.text.words import telling_stems

CORRECTED_WITHIN = 10 * MINUTE
ASKED_AGAIN_WITHIN = 2 * MINUTE
# A question that has more than this share of its words from an earlier one is the same again.
SAME_SHARE = 0.5


class ReplyOutcome(StrEnum):
    """How a reply was taken."""

    GOOD = "good"
    SILENCE = "silence"  # nobody said anything about it
    ASKED_AGAIN = "asked_again"  # the same viewer asked the same question again
    CORRECTED = "corrected"
    BAD = "bad"
    DELETED = "deleted"


_COMMANDS = "('command', 'notice')"
_JUDGED = f"""
SELECT m.id, m.at, m.outcome, m.notes_json, m.prompt_json,
    EXISTS (SELECT 1 FROM json_each(m.notes_json) u JOIN note_changes c ON c.note_id = u.value
        WHERE c.at > m.at AND c.at <= m.at + {CORRECTED_WITHIN} AND c.to_status IN ('superseded', 'retracted'))
        AS corrected
FROM bot_messages m WHERE m.status = 'sent' AND m."trigger" NOT IN {_COMMANDS}
"""


# The last reply to a viewer, with the line that it answers.
_LAST_ANSWERED = f"""
SELECT m.id, e.text
FROM bot_messages m
JOIN events e ON e.key = line_key(m.event_id)
WHERE m.viewer_id = ?
    AND m.at >= ?
    AND m.status = 'sent'
    AND m."trigger" NOT IN {_COMMANDS}
ORDER BY m.at DESC, m.id DESC
LIMIT 1
"""


class JudgedReply(NamedTuple):
    """One reply. `shown`: how many notes stood in its prompt; `ranks`: the places of those that it used, from 1."""

    id: int
    at: int
    outcome: ReplyOutcome
    shown: int
    ranks: tuple[int, ...]


class WeekCount(NamedTuple):
    """The replies of one week with one outcome, the notes that were shown for them, and those that they used."""

    week: str
    outcome: ReplyOutcome
    replies: int
    shown: int
    used: int


def week_of(at: int, zone: str) -> str:
    """Return the Monday of a moment's week (YYYY-MM-DD)."""
    # By the channel's calendar: a reply late on Sunday evening is of the week that ends.
    day = day_of(at, zone)
    return (day - timedelta(days=day.weekday())).isoformat()


async def mark_asked_again(
    tx: Transaction,
    viewer_id: str,
    question: str,
    at: int,
) -> None:
    """Mark the last reply to a viewer as one after which they asked the same again, if this question (at, ms) does."""
    row = await tx.row(_LAST_ANSWERED, (viewer_id, at - ASKED_AGAIN_WITHIN))
    if row is None or not _is_same_question(question, row["text"]):
        return
    await tx.execute(
        "UPDATE bot_messages SET outcome = ? WHERE id = ? AND outcome = ''",
        (ReplyOutcome.ASKED_AGAIN.value, row["id"]),
    )


def _is_same_question(question: str, earlier_line: str) -> bool:
    """Return whether most of a question's telling words stand in an earlier line."""
    question_stems = telling_stems(question)
    shared_stems = question_stems & telling_stems(earlier_line)
    return len(shared_stems) > SAME_SHARE * len(question_stems)


async def judged(db: Database) -> list[JudgedReply]:
    """Return the replies that are still kept, oldest first, read beside whatever else is done. Raises StoreError."""
    return await asyncio.to_thread(_read_judged, db.path)


def _read_judged(path: Path) -> list[JudgedReply]:
    with separate_reader(path) as connection:
        rows = connection.execute(f"{_JUDGED} ORDER BY m.at, m.id")
        return [_judged(row) for row in rows]


def _judged(row: Sequence[object]) -> JudgedReply:
    """Return a reply with its outcome, and the ranks of the notes that it used among those shown."""
    reply_id, at, outcome, notes_json, prompt_json, corrected = row
    used_notes = msgspec.json.decode(str(notes_json), type=list[int])
    rank_of = _notes_shown(str(prompt_json))
    ranks = tuple(rank_of[note] for note in used_notes if note in rank_of)
    return JudgedReply(
        int(str(reply_id)),
        int(str(at)),
        _outcome(str(outcome), corrected=bool(corrected)),
        len(rank_of),
        ranks,
    )


def _outcome(stored_outcome: str, *, corrected: bool) -> ReplyOutcome:
    """Return how a reply was taken, by the outcome in its row and whether a note that it used was corrected."""
    # In this order: what a person did comes before what followed, and a correction before a
    # question.
    if stored_outcome not in {"", ReplyOutcome.ASKED_AGAIN}:
        return ReplyOutcome(stored_outcome)
    if corrected:
        return ReplyOutcome.CORRECTED
    if stored_outcome:
        return ReplyOutcome.ASKED_AGAIN
    return ReplyOutcome.SILENCE


def _notes_shown(prompt_json: str) -> dict[int, int]:
    """Return the notes of a prompt, each with its best rank in a section."""
    ranks: dict[int, int] = {}
    prompt = msgspec.json.decode(prompt_json)
    for section in prompt.get("sections", ()):
        rank = 0
        for kind, row_id, *_ in section.get("rows", ()):
            if kind != "notes":
                continue
            rank += 1
            # It may stand in two sections, of the speaker and of the others: the better place counts.
            ranks[row_id] = min(rank, ranks.get(row_id, rank))
    return ranks


def by_week(replies: Iterable[JudgedReply], zone: str) -> list[WeekCount]:
    """Count replies by week and outcome."""
    groups = defaultdict[tuple[str, ReplyOutcome], list[JudgedReply]](list)
    for reply in replies:
        week = week_of(reply.at, zone)
        groups[week, reply.outcome].append(reply)
    counts = []
    for week, outcome in sorted(groups):
        group = groups[week, outcome]
        shown_count = sum(reply.shown for reply in group)
        used_count = sum(len(reply.ranks) for reply in group)
        counts.append(WeekCount(week, outcome, len(group), shown_count, used_count))
    return counts


async def keep_weeks(
    tx: Transaction,
    reply_ids: Sequence[int],
    zone: str,
) -> None:
    """Add these replies, whose rows are about to be deleted, to the counts of their weeks."""
    # Before the rows go, and in the same transaction: no reply counts twice, or never.
    sql = f"{_JUDGED} AND m.id IN (SELECT value FROM json_each(?))"
    replies = [_judged(tuple(row)) for row in await tx.rows(sql, (reply_ids,))]
    await tx.many(
        """
        INSERT INTO reply_weeks (week, outcome, replies, shown, used)
        VALUES (?, ?, ?, ?, ?)
        ON CONFLICT (week, outcome) DO UPDATE SET
            replies = replies + excluded.replies,
            shown = shown + excluded.shown,
            used = used + excluded.used
        """,
        by_week(replies, zone),
    )


async def kept_weeks(source: Source) -> list[WeekCount]:
    """Return the counts of replies whose rows are deleted, oldest week first."""
    rows = await source.rows("SELECT * FROM reply_weeks ORDER BY week, outcome")
    return [
        WeekCount(week, ReplyOutcome(outcome), *counts)
        for week, outcome, *counts in rows
    ]
