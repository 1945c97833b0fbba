"""Approvals: what waits for a person, and the log of what was done."""

from collections.abc import Mapping

from aiohttp import web

from forgetmenot.dock.context import DockContext, Item, name_of, names, reads
from forgetmenot.languages import Language
from forgetmenot.operations.actions import DEFAULT_REASON
from forgetmenot.operations.executor import undoable
from forgetmenot.store import action_logs
from forgetmenot.store.action_logs import ActionStatus, LoggedAction

LOG_LIMIT = 100


async def _approvals(context: DockContext, _request: web.Request) -> object:
    """Return the actions that wait, and those that were decided lately."""
    waiting = await action_logs.waiting(context.db, context.clock.now())
    # Those that wait are among the latest as well.
    latest = await action_logs.latest(context.db, LOG_LIMIT)
    finished = [row for row in latest if not waits(row)]
    return {
        "waiting": await _rows(context, waiting),
        "log": await _rows(context, finished),
    }


async def _rows(context: DockContext, rows: list[LoggedAction]) -> list[Item]:
    """Return actions as the page shows them."""
    people: list[str | None] = []
    for row in rows:
        people += [row.asked_by, row.target_id, row.decided_by]
    shown_names = await names(context.db, (), people)
    now = context.clock.now()
    return [
        {
            **proposal_item(row, shown_names, context.language),
            "expires_at": row.expires_at,
            "decided_by": shown_names.get(row.decided_by or "", row.decided_by or ""),
            "undoable": undoable(row, now) is not None,
        }
        for row in rows
    ]


def proposal_item(
    row: LoggedAction,
    shown_names: Mapping[str, str],
    language: Language,
) -> Item:
    """Return one proposal, for the feed and for the approvals."""
    params = {}
    for name, value in row.params.items():
        # The reason that the bot gives of itself says nothing; a parameter may be a viewer's id.
        if value != DEFAULT_REASON:
            params[name] = shown_names.get(value, value)
    return {
        "id": row.id,
        "at": row.at,
        "name": row.name,
        "reason": language.reason(row.reason),
        "status": row.status,
        "detail": language.reason(row.detail),
        "asked_by": name_of(row.asked_by, shown_names),
        "target": name_of(row.target_id, shown_names),
        "target_id": row.target_id if row.target_id in shown_names else "",
        "params": params,
    }


def waits(action: LoggedAction) -> bool:
    """Return whether an action waits for a person."""
    return action.status is ActionStatus.WAITING


ROUTES = (reads("/api/approvals", _approvals),)
