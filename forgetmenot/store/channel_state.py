"""What is known about the channel itself, and the switches that outlive a restart: one text per name.

Names in use: `id`, `login`, `title`, `category`, `live` ("1" or "0"), `started_at`, `paused`, `quiet_until`,
`safe_mode`, `bot_id`, `bot_login`, `bot_moderator`, `digest`, `digest_of`, `noticed_stream`, `recordings`,
`wipe_due`, `hush_from` (something was forgotten; memory/erasure),
`gaps` (in what was heard, since the start), `gap_from`, `gap_to`, `gap_reason` (the last one; times in ms).
A name that was never set is an empty text.
"""

from collections.abc import Mapping

from forgetmenot.store.database import Database, Source, Transaction


async def read(db: Database, name: str) -> str:
    """The value of one name; an empty text if it was never set."""
    value = await db.value("SELECT value FROM channel_state WHERE name = ?", (name,))
    return str(value) if value is not None else ""


async def read_all(source: Source) -> dict[str, str]:
    """Every name that was set."""
    return {row["name"]: row["value"] for row in await source.rows("SELECT name, value FROM channel_state")}


async def put(tx: Transaction, values: Mapping[str, str], now: int) -> None:
    """Set names; `updated_at` moves only where the value changed."""
    await tx.many(
        "INSERT INTO channel_state (name, value, updated_at) VALUES (?, ?, ?)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at"
        " WHERE value != excluded.value",
        [(name, value, now) for name, value in values.items()],
    )


async def clear(tx: Transaction, name: str) -> None:
    """Unset one name."""
    await tx.execute("DELETE FROM channel_state WHERE name = ?", (name,))
