"""Honest in chat: once per stream, one line that says that the bot remembers. Decides; the caller sends it.

Promises the line of the settings at most once per stream, also across restarts, and never while the bot is silent:
in shadow mode, paused or quiet. A line that could not be sent is not said later.
"""

from forgetmenot.actions import switches
from forgetmenot.settings.schema import Mode, Settings
from forgetmenot.store import channel_state, streams
from forgetmenot.store.database import Database

SAID_IN = "noticed_stream"


async def take(db: Database, settings: Settings, now: int) -> str | None:
    """The line to say now, or None; whoever takes it says it. Raises StoreError."""
    line = settings.bot.notice.strip()
    if not line or settings.bot.mode is Mode.SHADOW or (await switches.read(db)).silent(now):
        return None
    stream = await streams.open_id(db)
    if stream is None or await channel_state.read(db, SAID_IN) == str(stream):
        return None
    async with db.write() as tx:
        await channel_state.put(tx, {SAID_IN: str(stream)}, now)
    return line
