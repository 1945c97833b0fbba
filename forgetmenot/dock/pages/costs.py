"""What it costs: replies and the memory by day, with the caps."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta

from aiohttp import web

from forgetmenot.dock.context import DockContext, reads
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
    money, 0 for none.
    """
    settings = context.settings()
    zone = settings.bot.timezone
    days = _period(request.query.get("days", "90"))
    today = day_of(context.clock.now(), zone)
    first = today - timedelta(days=days - 1)
    # Kept by day, so that they outlive the log of calls.
    rows = await figures.spending(context.db, first.isoformat())
    # A sum of which a part has no price would look smaller than it is.
    in_money = _all_priced(settings, rows)
    reply_by_day: dict[str, float] = {}
    memory_by_day: dict[str, float] = {}
    for row in rows:
        is_reply = row["purpose"] == Purpose.REPLY
        by_day = reply_by_day if is_reply else memory_by_day
        amount = _amount(settings, row) if in_money else float(row["calls"])
        spent_before = by_day.get(row["day"], 0.0)
        by_day[row["day"]] = spent_before + amount
    # A day without a call has a row too, so that the picture has no gap.
    day_rows = []
    for day in _days(first, today):
        name = day.isoformat()
        day_row = {
            "day": name,
            "reply": reply_by_day.get(name, 0.0),
            "memory": memory_by_day.get(name, 0.0),
        }
        day_rows.append(day_row)
    limits = settings.limits
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


def _period(text: str) -> int:
    """Return a number of days as it stands in an address. Raises InputError."""
    if not text.isdecimal() or len(text) > 4:
        raise InputError(reason("request_odd"))
    days = int(text)
    if not 1 <= days <= LONGEST_PERIOD_D:
        raise InputError(reason("request_odd"))
    return days


def _days(first: date, last: date) -> Iterable[date]:
    """Yield each day from the first to the last."""
    day = first
    while day <= last:
        yield day
        day += timedelta(days=1)


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
