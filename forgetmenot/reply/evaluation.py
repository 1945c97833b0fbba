"""Measures how well the bot answers, from the trail that its replies leave.

`forgetmenot evaluate` and the dock show the same figures, so that a change of ranking can be judged
on one's own channel: how replies were taken, at which place of a prompt's notes those stood that a
reply used, and which share was used.
"""

import sys
from collections.abc import Iterable, Sequence

from msgspec import Struct

from forgetmenot.store import reply_outcomes
from forgetmenot.store.database import Database
from forgetmenot.store.reply_outcomes import JudgedReply, ReplyOutcome, WeekCount

# Places of used notes are counted in groups: the first, the second and third, and so on. The number
# is the last place of the group.
RANK_GROUPS = {"1": 1, "2-3": 3, "4-10": 10, "11+": sys.maxsize}


class Week(Struct, frozen=True):
    """The figures of one week.

    `week`: its Monday (YYYY-MM-DD). `kept`: all of its replies are still stored.
    """

    week: str
    outcomes: dict[str, int]
    shown: int
    used: int
    kept: bool


class Evaluation(Struct, frozen=True):
    """The figures of all replies."""

    replies: int
    # replies by how they were taken
    outcomes: dict[str, int]
    # notes in the prompts of all replies, and those that a reply used
    shown: int
    used: int
    share_used: float | None
    # used notes by the place in their section at which they stood, in RANK_GROUPS
    ranks: dict[str, int]
    median_rank: float | None
    # the oldest first
    weeks: list[Week]


async def evaluate(db: Database, zone: str) -> Evaluation:
    """Return the figures of all stored replies, and of the weeks before.

    `zone`: the channel's time zone. Raises StoreError.
    """
    replies = await reply_outcomes.judged(db)
    return evaluation_of(replies, await reply_outcomes.kept_weeks(db), zone)


def evaluation_of(
    replies: Sequence[JudgedReply],
    deleted_counts: Sequence[WeekCount],
    zone: str,
) -> Evaluation:
    """Return the figures of stored replies, and of those that are deleted (their counts by week)."""
    stored_counts = reply_outcomes.by_week(replies, zone)
    counts = [*deleted_counts, *stored_counts]
    stored_weeks = {count.week for count in stored_counts}
    weeks_with_deleted = {count.week for count in deleted_counts}
    ranks: list[int] = []
    for reply in replies:
        ranks += reply.ranks
    outcomes = _outcomes(counts)
    shown = sum(count.shown for count in counts)
    used = sum(count.used for count in counts)
    share_used = None
    if shown:
        share_used = used / shown
    # Of a week that retention has begun to delete only the counts are whole.
    whole_weeks = stored_weeks - weeks_with_deleted
    return Evaluation(
        replies=sum(outcomes.values()),
        outcomes=outcomes,
        shown=shown,
        used=used,
        share_used=share_used,
        ranks=_in_groups(ranks),
        median_rank=_median(ranks),
        weeks=_weeks(counts, whole_weeks),
    )


def _weeks(counts: Iterable[WeekCount], whole_weeks: set[str]) -> list[Week]:
    """Return the figures by week. `whole_weeks`: those of which all replies are stored."""
    counts_by_week: dict[str, list[WeekCount]] = {}
    for count in counts:
        counts_by_week.setdefault(count.week, []).append(count)
    weeks = []
    for name in sorted(counts_by_week):
        week_counts = counts_by_week[name]
        week = Week(
            name,
            outcomes=_outcomes(week_counts),
            shown=sum(count.shown for count in week_counts),
            used=sum(count.used for count in week_counts),
            kept=name in whole_weeks,
        )
        weeks.append(week)
    return weeks


def _outcomes(counts: Iterable[WeekCount]) -> dict[str, int]:
    """Return the number of replies for every outcome there is."""
    outcomes = dict.fromkeys(map(str, ReplyOutcome), 0)
    for count in counts:
        outcomes[count.outcome.value] += count.replies
    return outcomes


def _in_groups(ranks: Iterable[int]) -> dict[str, int]:
    """Return how many places there are in each group."""
    counts = dict.fromkeys(RANK_GROUPS, 0)
    for rank in ranks:
        counts[_group_of(rank)] += 1
    return counts


def _group_of(rank: int) -> str:
    """Return the group of a place. The last group ends nowhere, so that every place has one."""
    fitting = (name for name, last_rank in RANK_GROUPS.items() if rank <= last_rank)
    return next(fitting)


def _median(ranks: Iterable[int]) -> float | None:
    """Return the median; None if there are no places."""
    ordered = sorted(ranks)
    if not ordered:
        return None
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return float(ordered[middle])
    return (ordered[middle - 1] + ordered[middle]) / 2
