"""The figures of the dock's pictures, as JSON: who comes, what is learned, costs, an evening, how replies were taken.

They are read when a page asks for them; with the page closed nothing of it runs.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta

from aiohttp import web
from msgspec.structs import asdict

from forgetmenot.dock.panels import DockContext, id_of, names, people_bounds, reads
from forgetmenot.domain import Purpose
from forgetmenot.errors import InputError
from forgetmenot.languages import reason
from forgetmenot.reply.evaluation import evaluate
from forgetmenot.settings import prices
from forgetmenot.settings.prices import TokenCounts
from forgetmenot.settings.schema import Settings
from forgetmenot.store import channel_state, figures, picture_rows, reply_outcomes
from forgetmenot.store.database import Row
from forgetmenot.text.dates import stated_plan_end
from forgetmenot.text.days import day_of, iso_day
from forgetmenot.text.mentions import with_names

STREAMS_LIMIT = 60
LONGEST_PERIOD_D = 366
REPLIES_LIMIT = 200


async def _attendance(context: DockContext, _request: web.Request) -> object:
    """Return the streams of a row of cells, and how many people there are of each kind."""
    bounds = people_bounds(context.settings(), context.clock.now())
    bot_id = await channel_state.read(context.db, "bot_id")
    counts = await picture_rows.count_kinds(context.db, bounds, bot_id)
    rows = await picture_rows.latest_streams(context.db, picture_rows.STREAMS_IN_ROW)
    return {"streams": [dict(row) for row in rows], "kinds": dict(counts)}


# ── a person's time here ────────────────────────────────────────────────────────────────────


async def _timeline(context: DockContext, request: web.Request) -> object:
    db = context.db
    viewer_id = request.match_info["id"]
    zone = context.settings().bot.timezone
    facts = await picture_rows.facts(db, viewer_id)
    jokes = await picture_rows.jokes(db, viewer_id)
    shown_names = await names(
        db, [*(row["fact"] for row in facts), *(row["fact"] for row in jokes)]
    )
    notes = []
    for row in facts:
        plan_at = stated_plan_end(row["fact"], row["at"], row["expires_at"], zone)
        notes.append(
            {
                **dict(row),
                "fact": with_names(row["fact"], shown_names),
                "plan_at": plan_at,
            }
        )
    return {
        "streams": [dict(row) for row in await picture_rows.visits(db, viewer_id)],
        "notes": notes,
        "jokes": [
            {**dict(row), "fact": with_names(row["fact"], shown_names)} for row in jokes
        ],
        "moments": [
            dict(row) for row in await picture_rows.moments_of_person(db, viewer_id)
        ],
    }


# ── what is learned ─────────────────────────────────────────────────────────────────────────


async def _learned(context: DockContext, _request: web.Request) -> object:
    return [dict(row) for row in await picture_rows.learned(context.db, STREAMS_LIMIT)]


async def _learned_in(context: DockContext, request: web.Request) -> object:
    rows = await picture_rows.learned_in(context.db, id_of(request))
    shown_names = await names(
        context.db, (row["fact"] for row in rows), (row["subject_id"] for row in rows)
    )
    changes = []
    for row in rows:
        about = shown_names.get(row["subject_id"] or "", "")
        fact = with_names(row["fact"], shown_names)
        changes.append(
            {
                "kind": row["kind"],
                "at": row["at"],
                "note": row["note_id"],
                "scope": row["scope"],
                "who": about,
                "fact": fact,
            }
        )
    return changes


# ── what it costs ───────────────────────────────────────────────────────────────────────────


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
    rows = await figures.spending(context.db, first.isoformat())
    in_money = _all_priced(settings, rows)
    reply_by_day: dict[str, float] = {}
    memory_by_day: dict[str, float] = {}
    for row in rows:
        by_day = reply_by_day if row["purpose"] == Purpose.REPLY else memory_by_day
        amount = _amount(settings, row) if in_money else float(row["calls"])
        by_day[row["day"]] = by_day.get(row["day"], 0.0) + amount
    limits = settings.limits
    return {
        "money": in_money,
        "currency": settings.model.currency or ("" if settings.prices else "USD"),
        "listed": in_money and not settings.prices,
        "day_limit": limits.money_per_day if in_money else 0,
        "stream_limit": limits.money_per_stream if in_money else 0,
        "days": [
            {
                "day": day.isoformat(),
                "reply": reply_by_day.get(day.isoformat(), 0.0),
                "memory": memory_by_day.get(day.isoformat(), 0.0),
            }
            for day in _days(first, today)
        ],
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
    return (first + timedelta(days=number) for number in range((last - first).days + 1))


def _used(row: Row) -> Mapping[str, TokenCounts]:
    return {row["model"]: TokenCounts(row["input"], row["cached"], row["output"])}


def _all_priced(settings: Settings, rows: Sequence[Row]) -> bool:
    costs = [prices.cost(settings, _used(row)) for row in rows]
    return bool(costs) and all(cost is not None and cost.whole for cost in costs)


def _amount(settings: Settings, row: Row) -> float:
    cost = prices.cost(settings, _used(row))
    return cost.amount if cost is not None else 0.0


# ── an evening ──────────────────────────────────────────────────────────────────────────────


async def _evening(context: DockContext, request: web.Request) -> object:
    db = context.db
    stream = await picture_rows.stream(db, id_of(request))
    if stream is None:
        raise InputError(reason("nothing_here"))
    moments = await figures.moments_of(db, stream["id"])
    shown_names = await names(db, (), (row["viewer_id"] for row in moments))
    minutes = await figures.minutes_of(db, stream["id"])
    return {
        **dict(stream),
        "minutes": [tuple(row) for row in minutes],
        "moments": [
            {
                "at": row["at"],
                "kind": row["kind"],
                "text": row["text"],
                "viewer": row["viewer_id"],
                "who": shown_names.get(row["viewer_id"] or "", ""),
            }
            for row in moments
        ],
        "replies": await picture_rows.replies_between(
            db, stream["at"], stream["until"]
        ),
    }


# ── how well it answers ─────────────────────────────────────────────────────────────────────


async def _answers(context: DockContext, _request: web.Request) -> object:
    return asdict(await evaluate(context.db, context.settings().bot.timezone))


async def _answers_of_week(context: DockContext, request: web.Request) -> object:
    """Return the replies of a week that are still stored, the newest first."""
    zone = context.settings().bot.timezone
    week = request.match_info["week"]
    judged = [
        reply
        for reply in await reply_outcomes.judged(context.db)
        if reply_outcomes.week_of(reply.at, zone) == week
    ]
    judged = list(reversed(judged))[:REPLIES_LIMIT]
    rows = await picture_rows.replies_by_id(context.db, [reply.id for reply in judged])
    shown_names = await names(
        context.db, (), (row["viewer_id"] for row in rows.values())
    )
    return [
        {
            "id": reply.id,
            "at": reply.at,
            "outcome": reply.outcome,
            "day": iso_day(reply.at, zone),
            "text": rows[reply.id]["text"],
            "who": shown_names.get(rows[reply.id]["viewer_id"] or "", ""),
        }
        for reply in judged
        if reply.id in rows
    ]


ROUTES = (
    reads("/api/attendance", _attendance),
    reads("/api/timeline/{id}", _timeline),
    reads("/api/learned", _learned),
    reads("/api/learned/{id}", _learned_in),
    reads("/api/costs", _costs),
    reads("/api/evening/{id}", _evening),
    reads("/api/answers", _answers),
    reads("/api/answers/{week}", _answers_of_week),
)
