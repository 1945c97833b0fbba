"""What it costs: replies and the memory by day, with the caps."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta

from aiohttp import web

from forgetmenot.dock.context import DockContext, reads, whole
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


async def _costs(context: DockContext, request: web.Request) -> object:
    """Return what replies and the memory cost on each day of a period.

    In money where every model has a price, else in calls of the model. `day_limit` and `stream_limit`: the caps in
    money, 0 for none. Raises InputError for an odd period.
    """
    settings = context.settings()
    limits = settings.limits
    days = whole(request.query.get("days", "90"))
    if not 1 <= days <= LONGEST_PERIOD_D:
        raise InputError(reason("request_odd"))
    today = day_of(context.clock.now(), context.zone)
    first = today - timedelta(days=days - 1)
    # Kept by day, so that they outlive the log of calls.
    rows = await figures.spending(context.db, first.isoformat())
    # A sum of which a part has no price would look smaller than it is.
    in_money = _all_priced(settings, rows)
    amounts: dict[tuple[str, str], float] = defaultdict(float)
    for row in rows:
        part = "reply" if row["purpose"] == Purpose.REPLY else "memory"
        amount = _amount(settings, row) if in_money else row["calls"]
        amounts[row["day"], part] += amount
    day_rows = []
    # A day without a call has a row too, so that the picture has no gap.
    for place in range(days):
        day = (first + timedelta(days=place)).isoformat()
        reply_amount = amounts[day, "reply"]
        memory_amount = amounts[day, "memory"]
        day_row = {"day": day, "reply": reply_amount, "memory": memory_amount}
        day_rows.append(day_row)
    return {
        "money": in_money,
        "currency": currency_of(settings),
        "listed": in_money and not settings.prices,
        "day_limit": limits.money_per_day if in_money else 0,
        "stream_limit": limits.money_per_stream if in_money else 0,
        "days": day_rows,
        "failed": sum(row["failed"] for row in rows),
        "calls": sum(row["calls"] for row in rows),
    }


def _used(row: Row) -> Mapping[str, TokenCounts]:
    """Return the tokens of one row, by its model."""
    return {row["model"]: TokenCounts(row["input"], row["cached"], row["output"])}


def _all_priced(settings: Settings, rows: Sequence[Row]) -> bool:
    """Return whether every model that was used has a price; False if none was used."""
    for row in rows:
        cost = prices.cost(settings, _used(row))
        if cost is None or not cost.whole:
            return False
    return bool(rows)


def _amount(settings: Settings, row: Row) -> float:
    """Return what one row cost; 0 without a price."""
    cost = prices.cost(settings, _used(row))
    return cost.amount if cost is not None else 0.0


ROUTES = (reads("/api/costs", _costs),)
