"""What was added to the memory since a moment: for whoever shows it as it happens."""

from dataclasses import dataclass

from forgetmenot.domain.memory import Episode, Note
from forgetmenot.store import action_logs, bot_messages, episodes, notes
from forgetmenot.store.action_logs import LoggedAction
from forgetmenot.store.bot_messages import BotMessage
from forgetmenot.store.database import Database


@dataclass(frozen=True, slots=True)
class Marks:
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


async def marks(db: Database) -> Marks:
    """Where things stand now."""
    row = await db.row(
        "SELECT (SELECT coalesce(max(id), 0) FROM episodes), (SELECT coalesce(max(id), 0) FROM note_changes),"
        " (SELECT coalesce(max(id), 0) FROM bot_messages), (SELECT coalesce(max(id), 0) FROM action_logs)"
    )
    return Marks(*row) if row else Marks()


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
