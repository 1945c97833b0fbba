"""Keeps the last stretch in which chat was not heard, and how many there were since the start."""

from forgetmenot.app.bot import Bot
from forgetmenot.clock import SECOND
from forgetmenot.logs import log
from forgetmenot.store import channel_state
from forgetmenot.twitch.connection import Gap


async def begin_counting(bot: Bot) -> None:
    """A new run: none so far. The last one of an earlier run is kept."""
    async with bot.db.write() as tx:
        await channel_state.put(tx, {"gaps": "0"}, bot.clock.now())


async def keep_gap(bot: Bot, gap: Gap) -> None:
    """Note one: health and `!bot status` tell it. Raises StoreError."""
    log.warning("chat was not heard", seconds=(gap.to_ms - gap.from_ms) // SECOND, reason=gap.reason)
    count = int(await channel_state.read(bot.db, "gaps") or 0) + 1
    values = {"gap_from": str(gap.from_ms), "gap_to": str(gap.to_ms), "gap_reason": gap.reason}
    async with bot.db.write() as tx:
        await channel_state.put(tx, {"gaps": str(count), **values}, bot.clock.now())
