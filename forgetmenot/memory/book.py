"""The channel's book: what can be looked up of quotes, jokes, clips and what happened, each with its day and minute."""

from forgetmenot.durations import HOUR, MINUTE


def minute_of(at: int, started_at: int) -> str:
    """Return a time as the minute of its stream, `1:23`. Both in ms."""
    since = max(0, at - started_at)
    return f"{since // HOUR}:{since // MINUTE % 60:02}"
