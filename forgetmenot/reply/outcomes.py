"""How a reply was taken: what a person says outright, as a code with its row.

`!good` and `!bad` in chat and the thumbs in the dock (operations/services), and the deletion of its message.
"""

from enum import StrEnum

from forgetmenot.domain import Redaction
from forgetmenot.errors import StoreError
from forgetmenot.logs import log
from forgetmenot.store import bot_messages
from forgetmenot.store.database import Database


class ReplyOutcome(StrEnum):
    """The code that a reply's row keeps."""

    DELETED = "deleted"  # by a moderator; stays, whatever is said later
    GOOD = "good"
    BAD = "bad"


async def note_deletion(db: Database, item: Redaction) -> None:
    """A moderator deleted a message: if it was the bot's, that is its outcome."""
    if item.event_id is None:
        return
    try:
        reply_id = await bot_messages.sent_as(db, item.event_id)
        if reply_id is not None:
            async with db.write() as tx:
                await bot_messages.set_outcome(tx, reply_id, ReplyOutcome.DELETED)
    except StoreError as error:
        log.warning("a deleted reply could not be marked", error=type(error).__name__)
