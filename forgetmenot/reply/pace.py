"""How fast the bot may write: a sliding window of Twitch's 30 s, the pause that Twitch asks for, no text twice.

Knows no clock and no queue: times (ms) are told to it, in their order.
"""

from collections import OrderedDict, deque
from collections.abc import Callable

from forgetmenot.clock import SECOND
from forgetmenot.settings.schema import SendingSettings

WINDOW_MS = 30 * SECOND


class Pace:
    """What was written lately, and so what may be written now. `wide`: whether a moderator's limit holds."""

    def __init__(self, settings: Callable[[], SendingSettings]) -> None:
        self._settings = settings
        self._called_at: deque[int] = deque()
        self._said_at: OrderedDict[str, int] = OrderedDict()
        self._not_before = 0
        self.wide: Callable[[], bool] = lambda: False

    @property
    def reach(self) -> int:
        """How far back it has to know what was written, in ms."""
        return max(WINDOW_MS, self._settings().same_text_s * SECOND)

    def call_begins(self, now: int) -> None:
        """A message is handed to Twitch."""
        self._called_at.append(now)

    def call_ended(self, now: int) -> None:
        """Twitch may have had the message only now, so its window runs from here."""
        if self._called_at:
            self._called_at.pop()
        self._called_at.append(now)

    def pause_until(self, at: int) -> None:
        """Twitch asked for it."""
        self._not_before = at

    def said(self, text: str, at: int) -> None:
        """A text went out, or may have."""
        self._said_at[text.casefold()] = at
        self._said_at.move_to_end(text.casefold())

    def is_repeated(self, text: str, now: int) -> bool:
        """Whether Twitch would refuse a text as said just before."""
        oldest = now - self._settings().same_text_s * SECOND
        while self._said_at and next(iter(self._said_at.values())) <= oldest:
            self._said_at.popitem(last=False)
        return text.casefold() in self._said_at

    def free_at(self, now: int, ahead: int) -> int:
        """When there is a place for one more message behind `ahead` others."""
        self._forget(now)
        limit = self._limit()
        over = len(self._called_at) + ahead - limit
        if over < 0:
            return max(now, self._not_before)
        rounds, place = divmod(over, limit)
        first = self._called_at[place] if place < len(self._called_at) else now
        return max(first + WINDOW_MS * (rounds + 1), self._not_before)

    def is_crowded(self, now: int, ahead: int) -> bool:
        """Whether, behind `ahead` others, only those places are left that are kept for replies: a quarter of them."""
        self._forget(now)
        limit = self._limit()
        return len(self._called_at) + ahead >= limit - limit // 4

    def _forget(self, now: int) -> None:
        while self._called_at and self._called_at[0] <= now - WINDOW_MS:
            self._called_at.popleft()

    def _limit(self) -> int:
        return self._settings().per_30s_as_moderator if self.wide() else self._settings().per_30s
