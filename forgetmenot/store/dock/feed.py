"""What the dock shows as it happens: the newest lines and what became of them. Reads only.

Nothing of people who opted out or were banned, and nothing redacted. The bot's own lines are left out: they stand in
`bot_messages` with their reasons.
"""

from typing import NamedTuple

from forgetmenot.store import action_logs, bot_messages, ledger
from forgetmenot.store.action_logs import LoggedAction
from forgetmenot.store.bot_messages import BotMessage
from forgetmenot.store.database import Database

MAY_BE_SHOWN = 10_000  # lines; a page keeps 400 items, and some lines are not shown


class Heard(NamedTuple):
    """One line of chat."""

    seq: int
    at: int
    viewer_id: str
    name: str
    role: str
    kind: str
    text: str
    addressed: int


class Happened(NamedTuple):
    """An episode that was written."""

    id: int
    at: int
    kind: str
    summary: str
    events: int


class Learnt(NamedTuple):
    """A change of a note's status. `at`: when it was changed."""

    id: int
    at: int
    note_id: int
    subject_id: str | None
    scope: str
    fact: str
    before: str | None
    after: str
    cause: str


class Marks(NamedTuple):
    """The newest of each: what was seen up to here was seen."""

    line: int = 0
    episode: int = 0
    change: int = 0


async def marks(db: Database) -> Marks:
    """Where things stand now."""
    row = await db.row(
        "SELECT (SELECT coalesce(max(seq), 0) FROM events), (SELECT coalesce(max(id), 0) FROM episodes),"
        " (SELECT coalesce(max(id), 0) FROM note_changes)"
    )
    return Marks(*row) if row else Marks()


async def hidden(db: Database) -> str:
    """Another text whenever somebody was hidden, let in again or erased, or had a fact forgotten.

    The list of wishes alone would be too early: a wish stands there before its transaction is done.
    """
    row = await db.row(
        "SELECT (SELECT total(banned_at) FROM viewers WHERE banned_at IS NOT NULL),"
        " (SELECT count(*) FROM viewers WHERE opted_out_at IS NOT NULL), (SELECT max(id) FROM forgotten)"
    )
    return f"{ledger.size(db.key)} {tuple(row or ())}"


async def lines(db: Database, after: int, limit: int) -> list[Heard]:
    """The newest lines after a mark, oldest first."""
    rows = await db.rows(
        "SELECT e.seq, e.at, e.viewer_id, coalesce(v.display_name, v.login, 'somebody'), e.role, e.kind,"
        " CASE WHEN e.text = '' THEN e.system_text ELSE e.text END, e.addressed"
        " FROM events e JOIN viewers v ON v.id = e.viewer_id WHERE e.seq > ? AND e.redacted_at IS NULL"
        " AND e.from_bot = 0 AND v.opted_out_at IS NULL AND v.banned_at IS NULL ORDER BY e.seq DESC LIMIT ?",
        (after, limit),
    )
    return [Heard(*row) for row in reversed(rows)]


async def taken_away(db: Database, since: int) -> list[int]:
    """Lines that were cleared since then, of those that a page may still show."""
    rows = await db.rows(
        "SELECT seq FROM events WHERE seq > (SELECT max(seq) FROM events) - ? AND redacted_at >= ?"
        " ORDER BY seq DESC LIMIT 500",
        (MAY_BE_SHOWN, since),
    )
    return [int(row[0]) for row in rows]


async def episodes(db: Database, after: int, limit: int) -> list[Happened]:
    """The newest episodes after a mark, oldest first."""
    rows = await db.rows(
        "SELECT id, created_at, kind, summary, events FROM episodes WHERE id > ? ORDER BY id DESC LIMIT ?",
        (after, limit),
    )
    return [Happened(*row) for row in reversed(rows)]


async def changes(db: Database, after: int, limit: int) -> list[Learnt]:
    """The newest changes of notes after a mark, oldest first."""
    rows = await db.rows(
        "SELECT c.id, c.at, n.id, n.subject_id, n.scope, n.fact, c.from_status, c.to_status, c.cause"
        " FROM note_changes c JOIN semantic_notes n ON n.id = c.note_id LEFT JOIN viewers v ON v.id = n.subject_id"
        " WHERE c.id > ? AND v.opted_out_at IS NULL AND v.banned_at IS NULL ORDER BY c.id DESC LIMIT ?",
        (after, limit),
    )
    return [Learnt(*row) for row in reversed(rows)]


async def replies(db: Database, limit: int) -> list[BotMessage]:
    """The newest replies, oldest first: the newest ones may still change."""
    return (await bot_messages.listing(db, limit))[::-1]


async def actions(db: Database, limit: int) -> list[LoggedAction]:
    """The newest proposals, oldest first."""
    return (await action_logs.latest(db, limit))[::-1]
