"""The Figures panel: numbers over time. The page draws them, and puts a table behind each drawing."""

from aiohttp import web

from forgetmenot.clock import DAY, HOUR, MINUTE
from forgetmenot.dock.desk import DESK, Desk, answer
from forgetmenot.settings import prices
from forgetmenot.store import bot_messages
from forgetmenot.store.dock import figures as dock_figures

LAST_REPLIES = 60
LAST_STREAMS = 12
CHAT_STEP = 2 * MINUTE
CHAT_BARS = 60
CHAT_REACHES_BACK = 24 * HOUR


async def _figures(request: web.Request) -> web.Response:
    desk = request.app[DESK]
    db = desk.db
    bills = await dock_figures.bills(db, LAST_REPLIES)
    return answer(
        {
            "chat": await _chat(desk),
            "sections": await dock_figures.tokens_per_section(db, LAST_REPLIES),
            "bills": bills,
            "streams": await _streams(desk),
            "currency": desk.settings().model.currency,
            "notes": await _notes(desk),
            "filters": sorted((await bot_messages.filter_counts(db)).items(), key=lambda one: -one[1]),
            "rules": await dock_figures.rules(db, 0),
            "recall": sorted(round(ms, 2) for ms in desk.control.state().recall_ms),
        }
    )


async def _streams(desk: Desk) -> list[tuple[int, int, int, float | None]]:
    """Of each stream: its start, tokens in and out, and what they cost where prices are named."""
    settings, found = desk.settings(), []
    for began, used in await dock_figures.used_per_stream(desk.db, LAST_STREAMS):
        cost = prices.cost(settings, used)
        tokens = sum(one.input for one in used.values()), sum(one.output for one in used.values())
        found.append((began, *tokens, None if cost is None else round(cost.amount, 6)))
    return found


async def _chat(desk: Desk) -> list[tuple[int, float]]:
    """Lines a minute, over the last two hours in which something was said; silence is 0."""
    counted = dict(await dock_figures.chat_per_minute(desk.db, desk.clock.now() - CHAT_REACHES_BACK, CHAT_STEP))
    if not counted:
        return []
    last = max(counted)
    bars = [last - (CHAT_BARS - 1 - number) * CHAT_STEP for number in range(CHAT_BARS)]
    return [(began, counted.get(began, 0) * MINUTE / CHAT_STEP) for began in bars]


async def _notes(desk: Desk) -> list[dict[str, object]]:
    """How many notes stood in which status at the end of each day on which something changed."""
    standing: dict[str, int] = {}
    days: dict[int, dict[str, int]] = {}
    for began, status, moved in await dock_figures.note_moves(desk.db, DAY):
        standing[status] = standing.get(status, 0) + moved
        days[began] = dict(standing)
    return [{"at": day, "counts": counts} for day, counts in sorted(days.items())][-30:]


ROUTES = (web.get("/api/figures", _figures),)
