"""`!fun on` and `!fun off`: a viewer takes part in fun moderation, or does not any more. Works without a model."""

import re

from forgetmenot.clock import Clock
from forgetmenot.domain.chat import ChatEvent
from forgetmenot.store import chatters
from forgetmenot.store.database import Database

_COMMAND = re.compile(r"\s*!fun(?:\s+(on|off))?\s*", re.IGNORECASE)


async def handle(event: ChatEvent, db: Database, clock: Clock) -> str | None:
    """The line to say, or None: not this command. Only ever about the one who typed it."""
    found = _COMMAND.fullmatch(event.text)
    if found is None:
        return None
    if found[1] is None:
        return "With !fun on I may time you out for a minute at most, as a joke. !fun off ends that."
    takes_part = found[1].lower() == "on"
    async with db.write() as tx:
        await chatters.set_fun(tx, event.user_id, clock.now(), takes_part=takes_part)
    return "You're in. !fun off ends it." if takes_part else "You're out: I leave you alone."
