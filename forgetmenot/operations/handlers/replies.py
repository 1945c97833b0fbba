"""The handlers about a reply of the bot: `!good`, `!bad`, `!why`."""

from functools import partial

from forgetmenot.domain import OperationResult
from forgetmenot.durations import MINUTE
from forgetmenot.operations.entries import ANYBODY, DOCK, ID_OR_LAST, MODERATORS
from forgetmenot.operations.types import Operation, Request
from forgetmenot.store import bot_messages
from forgetmenot.store.bot_messages import BotMessage

# `!good` and `!bad` are about a reply that chat still sees.
RATED_WITHIN = 5 * MINUTE


async def rate(request: Request, *, good: bool) -> OperationResult:
    """Note that a reply was good or bad; without a number the last one of these minutes."""
    reply = await _rated_reply(request)
    if reply is None:
        return OperationResult(ok=False, code="no_reply")
    async with request.db.write() as tx:
        await bot_messages.set_outcome(tx, reply.id, "good" if good else "bad")
    return OperationResult(ok=True, code="rated")


async def _rated_reply(request: Request) -> BotMessage | None:
    """Return the reply with the typed number, else the one sent last; None if there is none."""
    reply_id = request.number("id")
    if reply_id:
        return await bot_messages.get(request.db, reply_id)
    # Only replies of a model are rated, not answers to commands.
    since = request.now - RATED_WITHIN
    replies = await bot_messages.recently_sent(request.db, 1, since, commands=False)
    return replies[0] if replies else None


async def why(request: Request) -> OperationResult:
    """Explain the last reply, or one reply, in one line."""
    reply_id = request.number("id")
    if reply_id:
        reply = await bot_messages.get(request.db, reply_id)
    else:
        # That may be a reply of the silent preview, which was never sent.
        reply = await bot_messages.latest(request.db)
    if reply is None:
        return OperationResult(ok=False, code="no_reply")
    if reply.viewer_id is not None:
        request.named_ids.add(reply.viewer_id)
    line = await request.context.explain_reply(reply.id)
    return OperationResult(ok=True, code="why", data={"line": line})


OPERATIONS = (
    Operation(
        "good",
        ANYBODY | DOCK,
        partial(rate, good=True),
        params=(ID_OR_LAST,),
        chat=("!good",),
        examples=("!good",),
    ),
    Operation(
        "bad",
        ANYBODY | DOCK,
        partial(rate, good=False),
        params=(ID_OR_LAST,),
        chat=("!bad",),
        examples=("!bad",),
    ),
    Operation(
        "why",
        MODERATORS,
        why,
        params=(ID_OR_LAST,),
        chat=("!why [id]",),
        examples=("!why",),
        # It names who was answered, and whom an action of the reply was for.
        leaves_nothing=True,
    ),
)
