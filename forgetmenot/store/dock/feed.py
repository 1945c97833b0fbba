"""Queries for the dock's event feed: newest lines, episodes, notes, replies and actions. Reads only.

People who opted out or were banned and redacted lines are left out; so are the bot's own lines, which `bot_messages`
holds with their reasons.
"""

from dataclasses import dataclass
from typing import NamedTuple

from forgetmenot.domain.memory import Episode, Note
from forgetmenot.store import action_logs, bot_messages, episodes, notes, privacy_log
from forgetmenot.store.action_logs import LoggedAction
from forgetmenot.store.bot_messages import BotMessage
from forgetmenot.store.database import Database

MAY_BE_SHOWN = 10_000  # lines; a page keeps 400 items, and some lines are not shown


class Heard(NamedTuple):
    """One line of chat. `covered`: a summary has read it."""

    seq: int
    at: int
    viewer_id: str
    name: str
    role: str
    kind: str
    text: str
    addressed: int
    covered: int


class Happened(NamedTuple):
    """An episode that was written. `until`: it covers chat up to then; 0 for what somebody asked to be remembered."""

    id: int
    at: int
    until: int
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


class FeedCursor(NamedTuple):
    """A position in the feed: the highest id of each kind that was read."""

    line: int = 0
    episode: int = 0
    change: int = 0


async def feed_cursor(db: Database) -> FeedCursor:
    """The present position."""
    row = await db.row(
        "SELECT (SELECT coalesce(max(seq), 0) FROM events), (SELECT coalesce(max(id), 0) FROM episodes),"
        " (SELECT coalesce(max(id), 0) FROM note_changes)"
    )
    return FeedCursor(*row) if row else FeedCursor()


async def any_summary(db: Database) -> bool:
    """Whether a summary of chat was ever written."""
    return await db.row("SELECT 1 FROM episodes LIMIT 1") is not None


async def hidden(db: Database) -> str:
    """Another text whenever somebody was hidden, let in again or erased, or had a fact forgotten.

    The list of wishes alone would be too early: a wish stands there before its transaction is done.
    """
    row = await db.row(
        "SELECT (SELECT total(banned_at) FROM viewers WHERE banned_at IS NOT NULL),"
        " (SELECT count(*) FROM viewers WHERE opted_out_at IS NOT NULL), (SELECT max(id) FROM forgotten)"
    )
    return f"{privacy_log.size(db.key)} {tuple(row or ())}"


async def lines(db: Database, after: int, limit: int) -> list[Heard]:
    """The newest lines after a mark, oldest first."""
    rows = await db.rows(
        "SELECT e.seq, e.at, e.viewer_id, coalesce(v.display_name, v.login, 'somebody'), e.role, e.kind,"
        " CASE WHEN e.text = '' THEN e.system_text ELSE e.text END, e.addressed, e.episode_id IS NOT NULL"
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


async def feed_episodes(db: Database, after: int, limit: int) -> list[Happened]:
    """The newest episodes after a mark, oldest first."""
    rows = await db.rows(
        "SELECT id, created_at, iif(kind IN ('chat', 'counted'), ended_at, 0), kind, summary, events FROM episodes"
        " WHERE id > ? ORDER BY id DESC LIMIT ?",
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


# What was added to the memory since a moment.


@dataclass(frozen=True, slots=True)
class MemoryCursor:
    """The highest ids that were seen."""

    episode: int = 0
    change: int = 0
    reply: int = 0
    action: int = 0


@dataclass(frozen=True, slots=True)
class NoteNews:
    """A note whose status changed, from what to what, and why."""

    note: Note
    before: str | None
    after: str
    cause: str


async def memory_cursor(db: Database) -> MemoryCursor:
    """The present position."""
    row = await db.row(
        "SELECT (SELECT coalesce(max(id), 0) FROM episodes), (SELECT coalesce(max(id), 0) FROM note_changes),"
        " (SELECT coalesce(max(id), 0) FROM bot_messages), (SELECT coalesce(max(id), 0) FROM action_logs)"
    )
    return MemoryCursor(*row) if row else MemoryCursor()


async def episodes_since(db: Database, after: int) -> list[Episode]:
    """Episodes with a higher id, oldest first."""
    ids = [row[0] for row in await db.rows("SELECT id FROM episodes WHERE id > ? ORDER BY id", (after,))]
    found = [await episodes.get(db, one) for one in ids]
    return [one for one in found if one is not None]


async def notes_since(db: Database, after: int) -> list[NoteNews]:
    """Changes of notes with a higher id, oldest first."""
    rows = await db.rows(
        "SELECT note_id, from_status, to_status, cause FROM note_changes WHERE id > ? ORDER BY id", (after,)
    )
    found = [(await notes.get(db, row["note_id"]), row) for row in rows]
    return [NoteNews(note, row["from_status"], row["to_status"], row["cause"]) for note, row in found if note]


async def replies_since(db: Database, after: int) -> list[BotMessage]:
    """Replies with a higher id, oldest first."""
    ids = [row[0] for row in await db.rows("SELECT id FROM bot_messages WHERE id > ? ORDER BY id", (after,))]
    found = [await bot_messages.get(db, one) for one in ids]
    return [one for one in found if one is not None]


async def actions_since(db: Database, after: int) -> list[LoggedAction]:
    """Proposed actions with a higher id, oldest first."""
    ids = [row[0] for row in await db.rows("SELECT id FROM action_logs WHERE id > ? ORDER BY id", (after,))]
    found = [await action_logs.get(db, one) for one in ids]
    return [one for one in found if one is not None]
