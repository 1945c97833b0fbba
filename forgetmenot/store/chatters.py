"""Who is in chat now, as an action's target or asker needs to be known; and who takes part in fun moderation.

"Now" is: said something lately that is stored. Known bots, opted-out viewers and people whose every line was cleared
are therefore nobody's target.
"""

from dataclasses import dataclass

from forgetmenot.domain.chat import Role
from forgetmenot.store.database import Database, Row, Transaction


@dataclass(frozen=True, slots=True)
class Chatter:
    """One person. `streams` counts those they came to; `message_id` is their last stored message, if any."""

    id: str
    login: str
    display_name: str
    role: Role
    streams: int
    opted_in: bool
    message_id: str


_COLUMNS = """
    v.id, coalesce(v.login, '') AS login, coalesce(v.display_name, '') AS display_name, v.role,
    (SELECT count(*) FROM attendance a WHERE a.viewer_id = v.id) AS streams,
    EXISTS (SELECT 1 FROM fun_consents f WHERE f.viewer_id = v.id) AS opted_in
"""


async def present(db: Database, since: int, without_event: str = "") -> list[Chatter]:
    """Everybody who spoke since then. `without_event` (what triggered us) is nobody's last message."""
    return _chatters(
        await db.rows(
            f"SELECT {_COLUMNS},"  # noqa: S608  # constants
            " (SELECT l.id FROM events l WHERE l.viewer_id = v.id AND l.redacted_at IS NULL AND l.id != :without"
            "  ORDER BY l.at DESC LIMIT 1) AS message_id"
            " FROM viewers v WHERE v.banned_at IS NULL AND v.opted_out_at IS NULL AND v.id IN"
            " (SELECT viewer_id FROM events WHERE at >= :since AND redacted_at IS NULL AND from_bot = 0)",
            {"without": without_event, "since": since},
        )
    )


async def one(db: Database, viewer_id: str) -> Chatter | None:
    """One person, in chat or not; opted-out ones are not found."""
    found = _chatters(
        await db.rows(
            f"SELECT {_COLUMNS},"  # noqa: S608  # constants
            " (SELECT l.id FROM events l WHERE l.viewer_id = v.id AND l.redacted_at IS NULL"
            "  ORDER BY l.at DESC LIMIT 1) AS message_id"
            " FROM viewers v WHERE v.id = ? AND v.opted_out_at IS NULL",
            (viewer_id,),
        )
    )
    return found[0] if found else None


async def set_fun(tx: Transaction, viewer_id: str, now: int, *, takes_part: bool) -> None:
    """Note that a viewer takes part in fun moderation, or does not any more. Somebody not stored cannot."""
    if takes_part:
        await tx.execute(
            "INSERT INTO fun_consents (viewer_id, at) SELECT id, ? FROM viewers WHERE id = ? ON CONFLICT DO NOTHING",
            (now, viewer_id),
        )
    else:
        await tx.execute("DELETE FROM fun_consents WHERE viewer_id = ?", (viewer_id,))


def _chatters(rows: list[Row]) -> list[Chatter]:
    return [
        Chatter(
            id=row["id"],
            login=row["login"],
            display_name=row["display_name"],
            role=Role(row["role"]),
            streams=row["streams"],
            opted_in=bool(row["opted_in"]),
            message_id=row["message_id"] or "",
        )
        for row in rows
    ]
