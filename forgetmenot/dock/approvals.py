"""The Approvals panel: what waits for a person, and the log of what was done."""

from aiohttp import web

from forgetmenot.clock import SECOND
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
            "undoable": row.status in {Status.DONE, Status.UNKNOWN}
            and desk.control.undoable(row.name)
            and not _ran_out(row, desk.clock.now()),
        }
        for row in rows
    ]


def _ran_out(row: LoggedAction, now: int) -> bool:
    """Whether it has ended by itself, as a timeout does: there is nothing left to take back."""
    seconds = str(row.params.get("seconds", ""))
    return seconds.isdecimal() and (row.finished_at or row.at) + int(seconds) * SECOND <= now


async def _approvals(request: web.Request) -> web.Response:
    desk = request.app[DESK]
    waiting = await action_logs.waiting(desk.db, desk.clock.now())
    over = [row for row in await action_logs.latest(desk.db, LOGGED) if row.status is not Status.WAITING]
    return answer({"waiting": await _told(desk, waiting), "log": await _told(desk, over)})


ROUTES = (web.get("/api/approvals", _approvals),)
