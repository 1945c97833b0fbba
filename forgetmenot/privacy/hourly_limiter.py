"""Limits how often in an hour a viewer may ask for something that costs a search, or a line in a file."""

from forgetmenot.durations import HOUR

# Viewers who are counted.
MOST_VIEWERS = 500


class HourlyLimiter:
    """Allows each viewer a number of requests in any hour. What is refused does not count."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        # by viewer: when their requests of the last hour were allowed (ms)
        self._allowed_at: dict[str, list[int]] = {}

    def allows(self, viewer_id: str, now: int) -> bool:
        """Return whether a viewer may make a request now (ms), and count it if so."""
        # Taken out and put back at the end, so the first of the table is whoever asked longest ago.
        earlier_times = self._allowed_at.pop(viewer_id, [])
        times = [at for at in earlier_times if now - at < HOUR]
        is_allowed = len(times) < self._limit
        if is_allowed:
            times.append(now)
        while len(self._allowed_at) >= MOST_VIEWERS:
            longest_ago = next(iter(self._allowed_at))
            del self._allowed_at[longest_ago]
        self._allowed_at[viewer_id] = times
        return is_allowed

    def forget(self, viewer_id: str) -> None:
        """Drop what is counted of a viewer."""
        self._allowed_at.pop(viewer_id, None)
