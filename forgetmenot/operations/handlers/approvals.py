"""The handlers of `!approve`, `!deny` and `!undo`: a person decides about an action that waits."""

from functools import partial

from forgetmenot.domain import Asker, OperationResult
from forgetmenot.languages import in_language
from forgetmenot.operations.entries import DOCK, ID_OR_LAST, MODERATORS
from forgetmenot.operations.types import (
    ApprovalQueue,
    Operation,
    Refused,
    Request,
)
from forgetmenot.operations.wording import described
from forgetmenot.store import action_logs, viewers

# Waiting actions that one answer lists.
MOST_LISTED = 5


async def decide(request: Request, *, approved: bool) -> OperationResult:
    """Approve or deny an action by its number; without one, what waits is listed."""
    action_id = await _action_id(request)
    queue = _queue(request)
    decided_by = name_of(request.asker)
    if approved:
        return await queue.approve(action_id, decided_by)
    return await queue.deny(action_id, decided_by)


async def undo(request: Request) -> OperationResult:
    """Undo one action; without a number the last one of this hour that can be undone."""
    return await _queue(request).undo(
        name_of(request.asker), request.number("id") or None
    )


def _queue(request: Request) -> ApprovalQueue:
    """Return the queue of what waits. Raises Refused outside of the running bot."""
    if request.context.approvals is None:
        raise Refused("not_allowed")
    return request.context.approvals


async def _action_id(request: Request) -> int:
    """Return the number of the action that is meant.

    Raises Refused if it is not clear which one: then what waits is listed, so that nobody approves unseen.
    """
    typed_number = request.number("id")
    if typed_number:
        return typed_number
    rows = await action_logs.waiting(request.db, request.now)
    rows = rows[:MOST_LISTED]
    target_ids = [row.target_id for row in rows if row.target_id]
    names = await viewers.names(request.db, target_ids)
    language = in_language(request.settings.bot.language)
    lines = []
    for row in rows:
        target_name = names.get(row.target_id or "", "")
        lines.append(
            f"#{row.id} {described(row.name, row.params, target_name, language)}"
        )
    if not lines:
        raise Refused("nothing_waits")
    raise Refused("which_action", about_ids=target_ids, actions=lines)


def name_of(asker: Asker) -> str:
    """Return who decided, for the log: a viewer's id, or the surface."""
    return asker.viewer_id or "the command line"


OPERATIONS = (
    Operation(
        "approve",
        MODERATORS | DOCK,
        partial(decide, approved=True),
        params=(ID_OR_LAST,),
        chat=("!approve [id]",),
        examples=("!approve 1",),
    ),
    Operation(
        "deny",
        MODERATORS | DOCK,
        partial(decide, approved=False),
        params=(ID_OR_LAST,),
        chat=("!deny [id]",),
        examples=("!deny 1",),
    ),
    Operation(
        "undo",
        MODERATORS | DOCK,
        undo,
        params=(ID_OR_LAST,),
        chat=("!undo [id]",),
        examples=("!undo 1",),
    ),
)
