"""The handlers about a reply of the bot: `!good`, `!bad`, `!why`."""

from forgetmenot.domain import OperationResult
from forgetmenot.durations import MINUTE
from forgetmenot.operations.types import (
    OperationContext,
    Request,
)
from forgetmenot.store import bot_messages

# `!good` and `!bad` are about a reply that chat still sees.
RATED_WITHIN = 5 * MINUTE


async def rate(context: OperationContext, request: Request, *, good: bool) -> OperationResult:
    """Note that a reply was good or bad; without a number the last one of these minutes."""
    since = context.clock.now() - RATED_WITHIN
    if number := request.number("id"):
        reply = await bot_messages.get(context.db, number)
    else:
        reply = next(
            iter(await bot_messages.recently_sent(context.db, 1, since, commands=False)), None
        )
    if reply is None:
        return OperationResult(ok=False, code="no_reply")
    async with context.db.write() as tx:
        await bot_messages.set_outcome(tx, reply.id, "good" if good else "bad")
    return OperationResult(ok=True, code="rated")


async def why(context: OperationContext, request: Request) -> OperationResult:
    """Explain the last reply, or one reply, in one line."""
    number = request.number("id")
    one = await (
        bot_messages.get(context.db, number) if number else bot_messages.latest(context.db)
    )
    if one is None:
        return OperationResult(ok=False, code="no_reply")
    return OperationResult(ok=True, code="why", data={"line": await context.explain_reply(one.id)})
