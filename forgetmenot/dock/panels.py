"""The Figures panel: numbers over time. The page draws them, and puts a table behind each drawing."""

from aiohttp import web

from forgetmenot.clock import DAY, HOUR, MINUTE
from forgetmenot.dock.context import CONTEXT, DockContext, answer, names
from forgetmenot.dock.now import Item, proposal
from forgetmenot.operations.executor import undoable
from forgetmenot.settings import prices
from forgetmenot.store import action_logs, bot_messages, dock_rows
from forgetmenot.store.action_logs import ActionStatus, LoggedAction

LAST_REPLIES = 60
LAST_STREAMS = 12
CHAT_STEP = 2 * MINUTE
CHAT_BARS = 60
CHAT_REACHES_BACK = 24 * HOUR


async def _figures(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    db = context.db
    bills = await dock_rows.bills(db, LAST_REPLIES)
    return answer(
        {
            "chat": await _chat(context),
            "sections": await dock_rows.tokens_per_section(db, LAST_REPLIES),
            "bills": bills,
            "streams": await _streams(context),
            "currency": context.settings().model.currency,
            "notes": await _notes(context),
            "filters": sorted((await bot_messages.filter_counts(db)).items(), key=lambda one: -one[1]),
            "rules": await dock_rows.rules(db, 0),
            "recall": sorted(round(ms, 2) for ms in context.control.state().recall_ms),
        }
    )


async def _streams(context: DockContext) -> list[tuple[int, int, int, float | None]]:
    """Of each stream: its start, tokens in and out, and what they cost where prices are named."""
    settings, found = context.settings(), []
    for began, used in await dock_rows.used_per_stream(context.db, LAST_STREAMS):
        cost = prices.cost(settings, used)
        tokens = sum(one.input for one in used.values()), sum(one.output for one in used.values())
        found.append((began, *tokens, None if cost is None else round(cost.amount, 6)))
    return found


async def _chat(context: DockContext) -> list[tuple[int, float]]:
    """Lines a minute, over the last two hours in which something was said; silence is 0."""
    counted = dict(await dock_rows.chat_per_minute(context.db, context.clock.now() - CHAT_REACHES_BACK, CHAT_STEP))
    if not counted:
        return []
    last = max(counted)
    bars = [last - (CHAT_BARS - 1 - number) * CHAT_STEP for number in range(CHAT_BARS)]
    return [(began, counted.get(began, 0) * MINUTE / CHAT_STEP) for began in bars]


async def _notes(context: DockContext) -> list[dict[str, object]]:
    """How many notes stood in which status at the end of each day on which something changed."""
    standing: dict[str, int] = {}
    days: dict[int, dict[str, int]] = {}
    for began, status, moved in await dock_rows.note_moves(context.db, DAY):
        standing[status] = standing.get(status, 0) + moved
        days[began] = dict(standing)
    return [{"at": day, "counts": counts} for day, counts in sorted(days.items())][-30:]


ROUTES = (web.get("/api/figures", _figures),)


# The Approvals panel: what waits for a person, and the log of what was done.


LOGGED = 100


async def _rows(context: DockContext, rows: list[LoggedAction]) -> list[Item]:
    people = [who for row in rows for who in (row.asked_by, row.target_id, row.decided_by)]
    known = await names(context.db, (), people)
    return [
        {
            **proposal(row, known),
            "params": {name: known.get(value, value) for name, value in row.params.items()},
            "expires_at": row.expires_at,
            "finished_at": row.finished_at,
            "decided_by": known.get(row.decided_by or "", row.decided_by or ""),
            "undoable": undoable(row, context.clock.now()) is not None,
        }
        for row in rows
    ]


async def _approvals(request: web.Request) -> web.Response:
    context = request.app[CONTEXT]
    waiting = await action_logs.waiting(context.db, context.clock.now())
    over = [row for row in await action_logs.latest(context.db, LOGGED) if row.status is not ActionStatus.WAITING]
    return answer({"waiting": await _rows(context, waiting), "log": await _rows(context, over)})


ROUTES_APPROVALS = (web.get("/api/approvals", _approvals),)
