"""How well the bot answers, from the trail that its replies leave.

`forgetmenot evaluate` and the dock show the same figures, so that a change of ranking can be judged on one's own
channel: how replies were taken, at which place of a prompt's notes those stood that a reply used, and which share was
used.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec import Struct

from forgetmenot.store import reply_outcomes
from forgetmenot.store.database import Database
from forgetmenot.store.reply_outcomes import JudgedReply, ReplyOutcome, WeekCount

# The places of used notes are counted in these groups: the first, the second and third, and so on; 0: any later one.
RANK_GROUPS = {"1": 1, "2-3": 3, "4-10": 10, "11+": 0}


class Week(Struct, frozen=True):
    """One week, by its Monday (YYYY-MM-DD). `kept`: all of its replies can still be looked at."""

    week: str
    outcomes: dict[str, int]
    shown: int
    used: int
    kept: bool


class Evaluation(Struct, frozen=True):
    """`outcomes`: replies by how they were taken. `ranks`: how many used notes stood at which place of their section.

    `shown`, `used`: notes in the prompts of all replies, and those that a reply used. `weeks`: oldest first.
    """

    replies: int
    outcomes: dict[str, int]
    shown: int
    used: int
    share_used: float | None
    ranks: dict[str, int]
    median_rank: float | None
    weeks: list[Week]


async def evaluate(db: Database, zone: str) -> Evaluation:
    """Return the figures of all stored replies, and of the weeks before.

    `zone`: the channel's time zone. Raises StoreError.
    """
    replies = await reply_outcomes.judged(db)
    return evaluation_of(replies, await reply_outcomes.kept_weeks(db), zone)


def evaluation_of(
    replies: Sequence[JudgedReply],
    older: Iterable[WeekCount],
    zone: str,
) -> Evaluation:
    """Return the figures of replies, and of weeks whose replies are deleted."""
    stored = reply_outcomes.by_week(replies, zone)
    counts = [*older, *stored]
    # of a week that also has old counts some replies are deleted
    whole_weeks = {count.week for count in stored} - {count.week for count in older}
    outcomes = dict.fromkeys(map(str, ReplyOutcome), 0)
    for count in counts:
        outcomes[count.outcome.value] += count.replies
    ranks: list[int] = []
    for reply in replies:
        ranks += reply.ranks
    shown = sum(count.shown for count in counts)
    used = sum(count.used for count in counts)
    return Evaluation(
        replies=sum(outcomes.values()),
        outcomes=outcomes,
        shown=shown,
        used=used,
        share_used=used / shown if shown else None,
        ranks=_in_groups(ranks),
        median_rank=_median(ranks),
        weeks=_weeks(counts, whole_weeks),
    )


def _weeks(counts: Iterable[WeekCount], whole_weeks: set[str]) -> list[Week]:
    by_week: dict[str, list[WeekCount]] = {}
    for count in counts:
        by_week.setdefault(count.week, []).append(count)
    weeks = []
    for name in sorted(by_week):
        outcomes = dict.fromkeys(map(str, ReplyOutcome), 0)
        for count in by_week[name]:
            outcomes[count.outcome.value] += count.replies
        shown = sum(count.shown for count in by_week[name])
        used = sum(count.used for count in by_week[name])
        weeks.append(Week(name, outcomes, shown, used, name in whole_weeks))
    return weeks


def _in_groups(ranks: Iterable[int]) -> dict[str, int]:
    counted: Counter[str] = Counter()
    for rank in ranks:
        group = next(
            name for name, last in RANK_GROUPS.items() if not last or rank <= last
        )
        counted[group] += 1
    return {name: counted[name] for name in RANK_GROUPS}


def _median(ranks: Iterable[int]) -> float | None:
    ordered = sorted(ranks)
    if not ordered:
        return None
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return float(ordered[middle])
    return (ordered[middle - 1] + ordered[middle]) / 2
