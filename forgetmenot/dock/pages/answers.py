"""How well it answers: replies by what came of them, and those of one week."""

from msgspec.structs import asdict

from forgetmenot.dock.context import PageRequest, name_of, names, reads
from forgetmenot.reply.evaluation import evaluate
from forgetmenot.store import picture_rows, reply_outcomes
from forgetmenot.text.days import iso_day

REPLIES_LIMIT = 200


async def _answers(page: PageRequest) -> object:
    """Return how all replies were taken, by week."""
    evaluation = await evaluate(page.db, page.zone)
    return asdict(evaluation)


async def _answers_of_week(page: PageRequest) -> object:
    """Return the replies of a week that are still stored, the newest first."""
    zone = page.zone
    week = page.request.match_info["week"]
    replies = []
    for reply in await reply_outcomes.judged(page.db):
        # A week is one of the channel's days, which SQLite knows nothing of.
        reply_week = reply_outcomes.week_of(reply.at, zone)
        if reply_week == week:
            replies.append(reply)
    replies.reverse()
    newest_replies = replies[:REPLIES_LIMIT]
    reply_ids = [reply.id for reply in newest_replies]
    rows = await picture_rows.replies_by_id(page.db, reply_ids)
    viewer_ids = [row["viewer_id"] for row in rows.values()]
    shown_names = await names(page.db, (), viewer_ids)
    items = []
    for reply in newest_replies:
        row = rows.get(reply.id)
        # A reply may have aged out since it was judged.
        if row is None:
            continue
        viewer_name = name_of(row["viewer_id"], shown_names)
        item = {
            "id": reply.id,
            "at": reply.at,
            "outcome": reply.outcome,
            "day": iso_day(reply.at, zone),
            "text": row["text"],
            "who": viewer_name,
        }
        items.append(item)
    return items


ROUTES = (
    reads("/api/answers", _answers),
    reads("/api/answers/{week}", _answers_of_week),
)
