"""How long a note lives. Pure.

- A model says how long a note is good for when it proposes it (`end_of`). What people have remembered, and what is
  imported without an end, is permanent.
- Said again, a note lives for its own time once more (`extended_end`).
- A note whose time is over is gone; one that was to last longer than a week is past, and stays for another year as
  what was (`becomes_past`).
- A note that nobody confirmed or used for long enough is stale: it stays, and is found by its words alone.
- Pinned and imported notes neither end nor go stale.

memory/retention applies this once a day, and ends notes where there are too many.
"""

from collections.abc import Mapping

from forgetmenot.domain import Lifetime, Note
from forgetmenot.durations import DAY, WEEK

# How long a note is good for (ms); None: permanently.
LENGTHS: Mapping[Lifetime, int | None] = {
    Lifetime.DAY: DAY,
    Lifetime.THREE_DAYS: 3 * DAY,
    Lifetime.WEEK: WEEK,
    Lifetime.MONTH: 30 * DAY,
    Lifetime.PERMANENT: None,
}
# Where a model names no lifetime, or none of these.
UNNAMED = Lifetime.WEEK
# What was to last longer (ms) is worth asking about later: "hosted a dance competition", not "is tired".
LONGEST_PASSING = WEEK
# How long (ms) a note stays as a past one after its end.
PAST_KEPT = 365 * DAY
# A note is stale when both have passed since it was last confirmed or used: this time (ms), and this many streams of
# its subject. A viewer who is away for a year forgets nothing, and neither does the bot.
STALE_AFTER = 90 * DAY
STALE_AFTER_STREAMS = 20


def end_of(lifetime: Lifetime, said_at: int) -> int | None:
    """Return when a note ends (ms) that was said at `said_at`; None: never."""
    length = LENGTHS[lifetime]
    if length is None:
        return None
    return said_at + length


def extended_end(
    note: Note,
    said_at: int,
    claimed_end: int | None,
) -> int | None:
    """Return when a note ends (ms) that was said again at `said_at`; None: never.

    It lasts as long again as it was to last before, or until `claimed_end` (ms) if that is later. None there means that
    it was now said without an end.
    """
    if note.expires_at is None or claimed_end is None:
        return None
    # an end never moves to an earlier time: to repeat a note must not shorten it
    span = note.expires_at - note.last_confirmed_at
    return max(note.expires_at, said_at + span, claimed_end)


def becomes_past(note: Note) -> bool:
    """Return whether a note becomes a past one when its time is over: it was to last longer than LONGEST_PASSING.

    Any other note expires then.
    """
    if note.expires_at is None:
        return False
    return note.expires_at - note.last_confirmed_at > LONGEST_PASSING
