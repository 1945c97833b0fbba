"""How many answers to commands one viewer gets: a few at once, then one every few seconds.

Promises that nobody fills the chat, or the window in which the bot may send, with answers to their commands; what a
command does is done all the same. Keeps a bounded number of viewers and forgets those who were quiet longest.
"""

from collections import OrderedDict

AT_ONCE = 8
ONE_PER_MS = 10_000
VIEWERS = 2_000


class Patience:
    """A bucket of answers for each viewer. Times are ms; a clock that steps back refills nothing."""

    def __init__(self) -> None:
        self._buckets: OrderedDict[str, tuple[float, int]] = OrderedDict()

    def allows(self, viewer_id: str, now: int) -> bool:
        """Take one answer out of a viewer's bucket; False if it is empty."""
        left, since = self._buckets.pop(viewer_id, (float(AT_ONCE), now))
        left = min(AT_ONCE, left + max(0, now - since) / ONE_PER_MS)
        allowed = left >= 1
        self._buckets[viewer_id] = (left - 1 if allowed else left, max(now, since))
        while len(self._buckets) > VIEWERS:
            self._buckets.popitem(last=False)
        return allowed
