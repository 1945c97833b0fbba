"""Gives chat the notice that the bot remembers, once per stream."""

from forgetmenot.languages import in_language
from forgetmenot.operations.handlers.switches import read_switches
from forgetmenot.settings.schema import BotSettings, Mode, Settings
from forgetmenot.store import channel_state, streams
from forgetmenot.store.database import Database

# The name in channel_state of the last stream that got the notice.
NOTICED = "noticed_stream"


async def take_notice(
    db: Database,
    settings: Settings,
    now: int,
) -> str | None:
    """Return the notice if this stream has not had it yet, and store that it has.

    None also while the bot is silent. The caller sends it; a notice that could not be sent is not
    sent later. Raises StoreError.
    """
    line = settings.bot.notice.strip()
    # The default is a text of the interface, and so in its language.
    if line == BotSettings().notice:
        line = in_language(settings.bot.language)("chat.notice")
    if not line or settings.bot.mode is Mode.SHADOW:
        return None
    switches = await read_switches(db)
    if switches.silent(now):
        return None
    stream_id = await streams.current_id(db)
    if stream_id is None:
        return None
    this_stream = str(stream_id)
    noticed_stream = await channel_state.read(db, NOTICED)
    if noticed_stream == this_stream:
        return None
    async with db.write() as tx:
        await channel_state.put(tx, {NOTICED: this_stream}, now)
    return line
