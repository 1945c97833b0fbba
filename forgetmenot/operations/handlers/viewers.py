"""The handlers about viewers and what happened: `!who` and `!missed`."""

from forgetmenot.domain import OperationResult
from forgetmenot.durations import DAY
from forgetmenot.languages import in_language
from forgetmenot.memory.arrivals import card
from forgetmenot.memory.recall import missed as what_was_missed
from forgetmenot.operations.types import (
    OperationContext,
    Request,
)
from forgetmenot.store import personal_data
from forgetmenot.text.days import days_since

MISSED_CHARS, MISSED_LEAD = 450, 50


async def who(context: OperationContext, request: Request) -> OperationResult:
    """Who a viewer is, in one line, as the dock's card says it."""
    now, target = context.clock.now(), request.target
    zone = context.settings().bot.timezone
    found = await card(context.db, target.id, now, now, zone) if target.id is not None else None
    if found is None:
        return OperationResult(ok=True, code="memory_empty", target=target)
    language = in_language(context.settings().bot.language)
    parts = [found.who.replace(" · ", "; ")]
    if found.lately:
        lead = "page.arrivals.over" if found.over else "page.arrivals.lately"
        parts.append(language(lead, text=found.lately))
    text = " ".join(f"{part.rstrip('.')}." for part in parts if part)
    return OperationResult(
        ok=True, code="who", data={"n": found.streams, "text": text}, target=target
    )


async def missed(context: OperationContext, request: Request) -> OperationResult:
    """What happened since the asker was last here, in stored sentences."""
    asker = request.asker
    if asker.viewer_id in await personal_data.opted_out(context.db):
        return OperationResult(ok=False, code="you_opted_out")
    now = context.clock.now()
    most = min(context.settings().reply.max_chars, MISSED_CHARS) - MISSED_LEAD
    away = await context.db.together(lambda at: what_was_missed(at, asker.viewer_id, now, most))
    if away.since is None or not away.sentences:
        return OperationResult(ok=True, code="missed_nothing")
    time_away = now - away.since
    if time_away >= 2 * DAY:
        # what is told in days is counted by the calendar: from Friday evening to Monday morning it is three
        time_away = DAY * days_since(away.since, now, context.settings().bot.timezone)
    return OperationResult(
        ok=True,
        code="missed",
        data={"ago": time_away, "text": " ".join(away.sentences), "evidence": away.evidence},
    )
