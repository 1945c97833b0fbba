"""The Approvals panel: what waits for a person, and the log of what was done."""

from aiohttp import web

from forgetmenot.actions.perform import undoable
from forgetmenot.dock.desk import DESK, Desk, answer, names
from forgetmenot.dock.now import Item, proposal
from forgetmenot.store import action_logs
from forgetmenot.store.action_logs import LoggedAction, Status

LOGGED = 100


async def _told(desk: Desk, rows: list[LoggedAction]) -> list[Item]:
    people = [who for row in rows for who in (row.asked_by, row.target_id, row.decided_by)]
    known = await names(desk.db, (), people)
    return [
        {
            **proposal(row, known),
            "params": {name: known.get(value, value) for name, value in row.params.items()},
            "expires_at": row.expires_at,
            "finished_at": row.finished_at,
            "decided_by": known.get(row.decided_by or "", row.decided_by or ""),
            "undoable": undoable(row, desk.clock.now()) is not None,
        }
        for row in rows
    ]


async def _approvals(request: web.Request) -> web.Response:
    desk = request.app[DESK]
    waiting = await action_logs.waiting(desk.db, desk.clock.now())
    over = [row for row in await action_logs.latest(desk.db, LOGGED) if row.status is not Status.WAITING]
    return answer({"waiting": await _told(desk, waiting), "log": await _told(desk, over)})


ROUTES = (web.get("/api/approvals", _approvals),)
