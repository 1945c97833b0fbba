"""Keeps how chat took each reply: as a code with the reply's row, read while the lines are still there.

What a person says outright (`!good`, `!bad`, thumbs in the dock, a deleted message) outranks what is read from chat.
"""

from collections.abc import Callable

from forgetmenot.clock import HOUR, SECOND, Clock
from forgetmenot.domain.chat import Redaction
from forgetmenot.errors import StoreError
from forgetmenot.logs import log
from forgetmenot.reply.outcomes import LINES_READ, LineAfter, ReplyOutcome, outcome_of
from forgetmenot.reply.triggers import Identity
from forgetmenot.store import bot_messages
from forgetmenot.store.database import Database

READ_AFTER = 90 * SECOND
"""What chat says later than that is about something else."""
LOOKED_BACK = 20 * HOUR
"""Raw chat is gone after a day; the program may have been off meanwhile."""


class ReactionReader:
    """Reads the lines after replies. `identity`: who the bot is now."""

    def __init__(self, *, db: Database, clock: Clock, identity: Callable[[], Identity]) -> None:
        self._db, self._clock, self._identity = db, clock, identity

    async def read(self) -> None:
        """Give an outcome to each reply that chat had time to take."""
        now, identity = self._clock.now(), self._identity()
        names = (identity.login, identity.name, *identity.aliases)
        for reply in await bot_messages.still_open(self._db, now - LOOKED_BACK, now - READ_AFTER):
            said = await bot_messages.lines_after(self._db, reply.at, reply.at + READ_AFTER, LINES_READ)
            lines = [LineAfter(who, text) for who, text in said]
            people = {reply.to, *(who for who, _ in said)} - {""}
            outcome = outcome_of(reply.text, lines, people=people, bot=names)
            async with self._db.write() as tx:
                await bot_messages.set_outcome(tx, reply.id, outcome)

    async def heard(self, item: Redaction) -> None:
        """A moderator deleted a message: if it was the bot's, that is the outcome."""
        if item.event_id is None:
            return
        try:
            reply_id = await bot_messages.sent_as(self._db, item.event_id)
            if reply_id is not None:
                async with self._db.write() as tx:
                    await bot_messages.set_outcome(tx, reply_id, ReplyOutcome.DELETED)
        except StoreError as error:
            log.warning("a deleted reply could not be marked", error=type(error).__name__)
