"""What it costs: replies and the memory by day, with the caps."""

from collections import defaultdict
from datetime import timedelta

from forgetmenot.dock.context import PageRequest, reads
from forgetmenot.domain import Purpose
from forgetmenot.errors import InputError
from forgetmenot.languages import reason
from forgetmenot.settings import prices
from forgetmenot.settings.prices import TokenCounts, currency_of
from forgetmenot.settings.schema import Settings
from forgetmenot.store import figures
from forgetmenot.store.database import Row
from forgetmenot.text.days import day_of

LONGEST_PERIOD_D = 366


async def _costs(page: PageRequest) -> object:
    """Return what replies and the memory cost on each day of a period.

    In money where every model has a price, else in calls of the model. `day_limit` and `stream_limit`: the caps in
    money, 0 for none. Raises InputError for an odd period.
    """
    settings = page.settings
    limits = settings.limits
    days = page.number("days", 90)
    if not 1 <= days <= LONGEST_PERIOD_D:
        raise InputError(reason("request_odd"))
    today = day_of(page.now, page.zone)
    first_day = today - timedelta(days=days - 1)
    # Kept by day, so that they outlive the log of calls.
    rows = await figures.spending(page.db, first_day.isoformat())
    costs = [_cost(settings, row) for row in rows]
    # A sum of which a part has no price would look smaller than it is.
    in_money = bool(costs) and None not in costs
    replies: dict[str, float] = defaultdict(float)
    memory: dict[str, float] = defaultdict(float)
    failed_calls = 0
    calls = 0
    for row, cost in zip(rows, costs, strict=True):
        failed_calls += row["failed"]
        calls += row["calls"]
        day = row["day"]
        amounts = replies if row["purpose"] == Purpose.REPLY else memory
        if in_money and cost is not None:
            amounts[day] += cost
        else:
            amounts[day] += row["calls"]
    day_rows = []
    # A day without a call has a row too, so that the picture has no gap.
    for place in range(days):
        date = first_day + timedelta(days=place)
        day = date.isoformat()
        day_row = {"day": day, "reply": replies[day], "memory": memory[day]}
        day_rows.append(day_row)
    day_limit: float = 0
    stream_limit: float = 0
    if in_money:
        day_limit = limits.money_per_day
        stream_limit = limits.money_per_stream
    return {
        "money": in_money,
        "currency": currency_of(settings),
        "listed": in_money and not settings.prices,
        "day_limit": day_limit,
        "stream_limit": stream_limit,
        "days": day_rows,
        "failed": failed_calls,
        "calls": calls,
    }


def _cost(settings: Settings, row: Row) -> float | None:
    """Return what the calls of one row cost; None if their model has no price."""
    model = row["model"]
    used = TokenCounts(
        input=row["input"],
        cached=row["cached"],
        output=row["output"],
    )
    cost = prices.cost(settings, {model: used})
    return None if cost is None else cost.amount


ROUTES = (reads("/api/costs", _costs),)
