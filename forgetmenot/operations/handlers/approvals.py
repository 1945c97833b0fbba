"""The handlers of `!approve`, `!deny` and `!undo`: a person decides about an action that waits."""

from forgetmenot.domain import Asker, OperationResult
from forgetmenot.languages import in_language
from forgetmenot.operations.run import Refused
from forgetmenot.operations.types import (
    ApprovalQueue,
    OperationContext,
    Request,
)
from forgetmenot.operations.wording import described
from forgetmenot.store import action_logs, viewers

MOST_NAMED = 5


async def decide(context: OperationContext, request: Request, *, approved: bool) -> OperationResult:
    """Approve or deny an action by its number; without one, what waits is listed."""
    number, queue = await _number_of(context, request), _queue(context)
    return await (queue.approve if approved else queue.deny)(number, name_of(request.asker))


def _queue(context: OperationContext) -> ApprovalQueue:
    if context.approvals is None:
        raise Refused("not_allowed")
    return context.approvals


async def _number_of(context: OperationContext, request: Request) -> int:
    """The number of the action that is meant. Raises Refused: it lists what waits, so that nobody approves unseen."""
    if number := request.number("id"):
        return number
    rows = (await action_logs.waiting(context.db, context.clock.now()))[:MOST_NAMED]
    names = await viewers.names(context.db, [row.target_id for row in rows if row.target_id])
    language = in_language(context.settings().bot.language)
    lines = [
        f"#{row.id} {described(row.name, row.params, names.get(row.target_id or '', ''), language)}"
        for row in rows
    ]
    raise Refused("which_action" if lines else "nothing_waits", actions=lines)


async def undo(context: OperationContext, request: Request) -> OperationResult:
    """Undo one action; without a number the last one of this hour that can be undone."""
    return await _queue(context).undo(name_of(request.asker), request.number("id") or None)


def name_of(asker: Asker) -> str:
    """Who decided, for the log: a viewer's id, or the surface."""
    return asker.viewer_id or "the command line"
