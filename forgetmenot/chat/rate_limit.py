"""How often a viewer's commands are answered."""

# Answers to one viewer at once; then one in each MS_PER_ANSWER.
BURST = 5
MS_PER_ANSWER = 10_000
# Viewers whose rate limit is remembered.
MOST_BUCKETS = 2_000


class CommandRateLimiter:
    """A token bucket per viewer: a few answers at once, then one every few seconds. The command itself is carried out.

    Times are ms; a clock that steps back refills nothing.
    """

    def __init__(self) -> None:
        self._buckets: dict[str, tuple[float, int]] = {}

    def allows(self, viewer_id: str, now: int) -> bool:
        """Take one answer from a viewer's bucket; False if it is empty."""
        left, since = self._buckets.pop(viewer_id, (float(BURST), now))
        left = min(BURST, left + max(0, now - since) / MS_PER_ANSWER)
        if len(self._buckets) >= MOST_BUCKETS:  # the one that was not used for longest
            del self._buckets[next(iter(self._buckets))]
        self._buckets[viewer_id] = (left - 1 if left >= 1 else left, max(now, since))
        return left >= 1
