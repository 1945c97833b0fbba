"""Limits how often a viewer's commands are answered."""

from typing import NamedTuple

from forgetmenot.durations import SECOND

# Answers to one viewer at once; then one in each MS_PER_ANSWER.
BURST = 5
MS_PER_ANSWER = 10 * SECOND
# Viewers whose bucket is remembered.
MOST_BUCKETS = 2_000


class _Bucket(NamedTuple):
    """How many answers a viewer may have, and when that was counted (ms)."""

    answers: float
    counted_at: int


class CommandRateLimiter:
    """Keeps a token bucket for each viewer: a few answers at once, then one every few seconds.

    A command that gets no answer is carried out all the same. A clock that steps back refills
    nothing.
    """

    def __init__(self) -> None:
        self._buckets: dict[str, _Bucket] = {}

    def allows(self, viewer_id: str, now: int) -> bool:
        """Take one answer from a viewer's bucket; return False if it is empty. `now` is in ms."""
        full_bucket = _Bucket(BURST, now)
        bucket = self._buckets.pop(viewer_id, full_bucket)
        elapsed = max(0, now - bucket.counted_at)
        refilled = elapsed / MS_PER_ANSWER
        answers = min(BURST, bucket.answers + refilled)
        if len(self._buckets) >= MOST_BUCKETS:
            # Each use puts a bucket last, so the first was not used for longest.
            oldest_id = next(iter(self._buckets))
            del self._buckets[oldest_id]
        is_allowed = answers >= 1
        if is_allowed:
            answers -= 1
        counted_at = max(now, bucket.counted_at)
        self._buckets[viewer_id] = _Bucket(answers, counted_at)
        return is_allowed
