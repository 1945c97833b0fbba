"""Approvals: what waits for a person, and the log of what was done."""

from collections.abc import Mapping

from forgetmenot.dock.context import Item, PageRequest, name_of, names, reads
from forgetmenot.languages import Language
from forgetmenot.operations.actions import DEFAULT_REASON
from forgetmenot.operations.executor import undoable
from forgetmenot.store import action_logs
from forgetmenot.store.action_logs import ActionStatus, LoggedAction

LOG_LIMIT = 100


async def _approvals(page: PageRequest) -> object:
    """Return the actions that wait, and those that were decided lately."""
    waiting = await action_logs.waiting(page.db, page.now)
    # Those that wait are among the latest as well.
    latest = await action_logs.latest(page.db, LOG_LIMIT)
    finished = [action for action in latest if not waits(action)]
    waiting_items = await _items(page, waiting)
    finished_items = await _items(page, finished)
    return {"waiting": waiting_items, "log": finished_items}


async def _items(page: PageRequest, actions: list[LoggedAction]) -> list[Item]:
    """Return actions as the page shows them."""
    people: list[str | None] = []
    for action in actions:
        people += [action.asked_by, action.target_id, action.decided_by]
    shown_names = await names(page.db, (), people)
    now = page.now
    items = []
    for action in actions:
        # Not only a viewer decides: a rule does as well, and has no name among viewers.
        decider = action.decided_by or ""
        proposal = proposal_item(action, shown_names, page.language)
        undo = undoable(action, now)
        item = {
            **proposal,
            "expires_at": action.expires_at,
            "decided_by": shown_names.get(decider, decider),
            "undoable": undo is not None,
        }
        items.append(item)
    return items


def proposal_item(
    action: LoggedAction,
    shown_names: Mapping[str, str],
    language: Language,
) -> Item:
    """Return one proposal, for the feed and for the approvals."""
    params = {}
    for name, value in action.params.items():
        # The reason that the bot gives of itself says nothing; a parameter may be a viewer's id.
        if value != DEFAULT_REASON:
            params[name] = shown_names.get(value, value)
    target_id = action.target_id
    asker_name = name_of(action.asked_by, shown_names)
    target_name = name_of(target_id, shown_names)
    return {
        "id": action.id,
        "at": action.at,
        "name": action.name,
        "reason": language.reason(action.reason),
        "status": action.status,
        "detail": language.reason(action.detail),
        "asked_by": asker_name,
        "target": target_name,
        # The page links to the person: to nobody who is hidden.
        "target_id": target_id if target_id in shown_names else "",
        "params": params,
    }


def waits(action: LoggedAction) -> bool:
    """Return whether an action waits for a person."""
    return action.status is ActionStatus.WAITING


ROUTES = (reads("/api/approvals", _approvals),)
