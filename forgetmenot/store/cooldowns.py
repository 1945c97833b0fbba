"""Until when something rests: an action, a class for everybody, a class for one viewer. Outlives a restart."""

from collections.abc import Mapping

from forgetmenot.store.database import Database, Transaction


async def until(db: Database, name: str, key: str = "") -> int:
    """The time in ms until which it rests; 0 if it does not."""
    return int(await db.value("SELECT until FROM cooldowns WHERE name = ? AND key = ?", (name, key)) or 0)


async def rest(tx: Transaction, times: Mapping[tuple[str, str], int]) -> None:
    """Let each (name, key) rest until that time; a later time that is set already stays."""
    await tx.many(
        "INSERT INTO cooldowns (name, key, until) VALUES (?, ?, ?)"
        " ON CONFLICT (name, key) DO UPDATE SET until = max(until, excluded.until)",
        [(name, key, time) for (name, key), time in times.items()],
    )


async def forget_past(tx: Transaction, now: int) -> int:
    """Delete what rests no longer; how many."""
    return await tx.execute("DELETE FROM cooldowns WHERE until <= ?", (now,))
