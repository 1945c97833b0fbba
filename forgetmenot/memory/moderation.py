"""What moderators did, in words: for an event, and counted for a summary. Pure.

Nobody is named here: an event has the id of the viewer in a column of its own, and a summary says only how many.
"""

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from forgetmenot.domain import Redaction


class Act(NamedTuple):
    """What a moderator did. `words`: what follows the viewer's name, or a whole sentence if nobody was affected."""

    name: str
    words: str


TIMEOUT = "was timed out"
BAN = "was banned"
DELETED = "had a message deleted"
CLEARED = "The whole chat was cleared."
# What a summary says of one act of a kind, and of several.
_IN_NUMBERS = {
    TIMEOUT: ("one person was timed out", "{n} people were timed out"),
    BAN: ("one person was banned", "{n} people were banned"),
    DELETED: ("one message was deleted", "{n} messages were deleted"),
    CLEARED: ("the whole chat was cleared", "the whole chat was cleared {n} times"),
}


def act_of(redaction: Redaction) -> Act:
    """Return what a moderator did, from Twitch's report of what was deleted."""
    # Only a single deleted message has an event id, only a cleared chat has no user, and a ban has no duration.
    if redaction.event_id:
        return Act("deleted", DELETED)
    if not redaction.user_id:
        return Act("cleared", CLEARED)
    if redaction.duration_s is None:
        return Act("ban", BAN)
    return Act("timeout", f"{TIMEOUT} for {_span(redaction.duration_s)}")


def _span(seconds: int) -> str:
    """Return a number of seconds in words, in minutes where these are whole: "90 s", "10 min"."""
    if seconds % 60 or not seconds:
        return f"{seconds} s"
    return f"{seconds // 60} min"


def acts_in_numbers(act_texts: Iterable[str]) -> str:
    """Return how often each kind of act was done, in words: "2 people were timed out, one message was deleted".

    It ends with a full stop. `act_texts`: the words of each act.
    """
    counts: Counter[str] = Counter()
    for words in act_texts:
        # compared by the beginning, because the words of a timeout end with its length
        counts.update(kind for kind in _IN_NUMBERS if words.startswith(kind))
    phrases = []
    for kind, count in counts.items():
        for_one, for_several = _IN_NUMBERS[kind]
        phrases.append(for_one if count == 1 else for_several.format(n=count))
    return ", ".join(phrases) + "."
