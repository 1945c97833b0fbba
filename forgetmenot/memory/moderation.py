"""What moderators did, in words: for an event, and counted for a summary. Pure.

Nobody is named here: an event has the id of whom it hit in a column of its own, and a summary says only how many.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from forgetmenot.domain import Redaction


class Act(NamedTuple):
    """What a moderator did. `words`: after the name of whom it hit, or a sentence where it hit nobody."""

    name: str
    words: str


TIMEOUT, BAN, DELETED = "was timed out", "was banned", "had a message deleted"
CLEARED = "The whole chat was cleared."
# In a summary, of one and of several.
_IN_NUMBERS = {
    TIMEOUT: ("one person was timed out", "{n} people were timed out"),
    BAN: ("one person was banned", "{n} people were banned"),
    DELETED: ("one message was deleted", "{n} messages were deleted"),
    CLEARED: ("the whole chat was cleared", "the whole chat was cleared {n} times"),
}


def act_of(redaction: Redaction) -> Act:
    """Return what a moderator did, as Twitch reports it by taking text away."""
    if redaction.event_id:
        return Act("deleted", DELETED)
    if not redaction.user_id:
        return Act("cleared", CLEARED)
    if redaction.duration_s is None:
        return Act("ban", BAN)
    return Act("timeout", f"{TIMEOUT} for {_span(redaction.duration_s)}")


def _span(seconds: int) -> str:
    if seconds % 60 or not seconds:
        return f"{seconds} s"
    return f"{seconds // 60} min"


def acts_in_numbers(acts: Iterable[str]) -> str:
    """Return how often what was done, of the words of acts: "2 people were timed out, one message was deleted"."""
    counted: Counter[str] = Counter()
    for words in acts:
        counted.update(kind for kind in _IN_NUMBERS if words.startswith(kind))
    parts = []
    for kind, count in counted.items():
        one, several = _IN_NUMBERS[kind]
        parts.append(one if count == 1 else several.format(n=count))
    return ", ".join(parts) + "."
