"""The notice that the bot remembers, which chat gets once per stream."""

from forgetmenot.languages import in_language
from forgetmenot.operations.handlers.switches import read_switches
from forgetmenot.settings.schema import BotSettings, Mode, Settings
from forgetmenot.store import channel_state, streams
from forgetmenot.store.database import Database

NOTICED = "noticed_stream"


async def take_notice(
    db: Database,
    settings: Settings,
    now: int,
) -> str | None:
    """The notice that the bot remembers, at most once per stream and never while it is silent; else None.

    The caller sends it; a notice that could not be sent is not sent later. Raises StoreError.
    """
    line = settings.bot.notice.strip()
    # the default is a text of the interface, and so in its language
    if line == BotSettings().notice:
        line = in_language(settings.bot.language)("chat.notice")
    if (
        not line
        or settings.bot.mode is Mode.SHADOW
        or (await read_switches(db)).silent(now)
    ):
        return None
    stream = await streams.current_id(db)
    if stream is None or await channel_state.read(db, NOTICED) == str(stream):
        return None
    async with db.write() as tx:
        await channel_state.put(tx, {NOTICED: str(stream)}, now)
    return line
