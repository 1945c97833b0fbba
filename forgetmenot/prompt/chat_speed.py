"""How much of the room a prompt shows, by how fast chat is. Pure.

Where hardly anybody types, old lines are about something else, and what happened matters more. In a raid the lines of
ten seconds fill a prompt, and one summary holds a minute.
"""

from collections.abc import Iterable
from typing import NamedTuple

from forgetmenot.durations import MINUTE

# Over how much time the speed of chat is measured before a reply (ms).
MEASURED_OVER = 3 * MINUTE
# Lines a minute below which chat is quiet, and from which on it is fast.
QUIET_BELOW = 1
FAST_FROM = 30


class WorkingSet(NamedTuple):
    """How many rows of chat a prompt has, and how many episodes beside the last recap, at most."""

    chat_lines: int
    episodes: int


QUIET = WorkingSet(chat_lines=8, episodes=2)
USUAL = WorkingSet(chat_lines=12, episodes=2)
FAST = WorkingSet(chat_lines=20, episodes=1)


def working_set(lines_a_minute: float) -> WorkingSet:
    """Return what a prompt shows while chat is this fast."""
    if lines_a_minute < QUIET_BELOW:
        return QUIET
    if lines_a_minute < FAST_FROM:
        return USUAL
    return FAST


def speed_at(now: int, line_times: Iterable[int]) -> float:
    """Return how many lines a minute were said just before a time (ms)."""
    recent = [at for at in line_times if now - MEASURED_OVER <= at <= now]
    return len(recent) * MINUTE / MEASURED_OVER


def speed_within(lines: int, elapsed: int) -> float:
    """Return lines a minute where this many were said in a time (ms)."""
    return lines * MINUTE / max(elapsed, MINUTE)
