"""The channel's state and the switches, as texts by name. They survive a restart.

Names in use: `id`, `login`, `title`, `category`, `live` ("1" or "0"), `started_at`, `paused`, `quiet_until`,
`safe_mode`, `bot_id`, `bot_login`, `bot_moderator`, `digest`, `digest_of`, `noticed_stream`, `recordings`,
`wipe_due`, `hush_from` (something was forgotten; memory/erasure), `receipts_due` (memory/receipts),
`privacy_log_end` (store/privacy_log),
`gaps` (in what was heard, since the start), `gap_from`, `gap_to`, `gap_reason` (the last one; times in ms).
A name that was never set is an empty text.
"""

from collections.abc import Mapping

from forgetmenot.store.database import Database, Source, Transaction

WIPE_DUE = "wipe_due"
"""Set while bytes of what was deleted may be left: memory/erasure rebuilds the file."""


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


# Cooldowns of an action, of a class for everybody, or of a class for one viewer. They survive a restart.


async def cooldown_until(db: Database, name: str, key: str = "") -> int:
    """The time in ms until which the cooldown lasts; 0 if there is none."""
    return int(await db.value("SELECT until FROM cooldowns WHERE name = ? AND key = ?", (name, key)) or 0)


async def set_cooldowns(tx: Transaction, times: Mapping[tuple[str, str], int]) -> None:
    """Set the cooldown of each (name, key); a later time that is set already stays."""
    await tx.many(
        "INSERT INTO cooldowns (name, key, until) VALUES (?, ?, ?)"
        " ON CONFLICT (name, key) DO UPDATE SET until = max(until, excluded.until)",
        [(name, key, time) for (name, key), time in times.items()],
    )


async def drop_past_cooldowns(tx: Transaction, now: int) -> int:
    """Delete cooldowns that are over; returns how many."""
    return await tx.execute("DELETE FROM cooldowns WHERE until <= ?", (now,))
