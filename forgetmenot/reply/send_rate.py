"""Counts what the bot sends against Twitch's limits: messages in 30 s, slow mode, repeated texts."""

from collections.abc import Callable

from forgetmenot.durations import SECOND

# Twitch counts messages in a sliding window of 30 s. A bot that sends more than the limit is
# silenced for half an hour.
WINDOW_MS = 30 * SECOND
PER_WINDOW = 20
PER_WINDOW_AS_MODERATOR = 100


class SendRateLimiter:
    """Computes when there is a place for another message. All times are in ms."""

    def __init__(
        self,
        per_window: int = PER_WINDOW,
        *,
        slow_ms: Callable[[], int] = lambda: 0,
    ) -> None:
        """`slow_ms` returns how long slow mode makes the bot wait between two messages."""
        self._per_window = per_window
        self._slow_ms = slow_ms
        # when the messages of the present window were handed to Twitch, the oldest first
        self._called_at: list[int] = []
        self._last_call_at: int | None = None
        # by casefolded text: when it was sent last
        self._text_sent_at: dict[str, int] = {}
        # when the pause ends that Twitch asked for
        self._not_before = 0
        # Returns whether the bot has the higher limit of moderators. Set from outside, once it is known.
        self.moderates: Callable[[], bool] = lambda: False

    def call_begins(self, now: int) -> None:
        """Count a message that is handed to Twitch now."""
        self._called_at.append(now)
        self._last_call_at = now

    def call_ended(self, now: int) -> None:
        """Count the last message from now on: Twitch may have got it only at the end of the call."""
        # The newest time may be that of another line (`say_without_row`), which was sent meanwhile. They
        # are at most seconds apart, and the number of messages stays right.
        self._called_at[-1:] = [now]
        self._last_call_at = now

    def pause_until(self, at: int) -> None:
        """Have no place before that time, as Twitch asked."""
        self._not_before = at

    def text_sent(self, text: str, at: int) -> None:
        """Remember that a text went out, or may have."""
        self._text_sent_at[text.casefold()] = at

    def is_repeated(self, text: str, now: int) -> bool:
        """Return whether Twitch would refuse a text because it was sent in the last 30 s."""
        since = now - WINDOW_MS
        self._text_sent_at = {
            sent_text: at for sent_text, at in self._text_sent_at.items() if at > since
        }
        return text.casefold() in self._text_sent_at

    def free_at(self, now: int, ahead: int) -> int:
        """Return when Twitch's limits allow one more message behind `ahead` others (ms)."""
        window_free_at = self._window_free_at(now, ahead)
        slow_free_at = self._slow_free_at(now, ahead)
        return max(window_free_at, slow_free_at)

    def _slow_free_at(self, now: int, ahead: int) -> int:
        """Return when slow mode allows a message behind `ahead` others (ms)."""
        gap = self._slow_ms()
        next_at = now
        if gap and self._last_call_at is not None:
            next_at = max(now, self._last_call_at + gap)
        return next_at + ahead * gap

    def _window_free_at(self, now: int, ahead: int) -> int:
        """Return when Twitch's limit of messages in 30 s has a place behind `ahead` others (ms)."""
        excess = self._taken(now, ahead) - self._limit
        if excess < 0:
            return max(now, self._not_before)
        # A place is free one window after the message that took it: the first one waits for the
        # oldest message, the second for the next. With more messages ahead than a window has places,
        # it is a window later for each time that all places are taken anew.
        full_rounds, place = divmod(excess, self._limit)
        # A place that is not taken yet goes to a message ahead, which is sent now at the earliest.
        taken_at = now
        if place < len(self._called_at):
            taken_at = self._called_at[place]
        free_at = taken_at + WINDOW_MS * (full_rounds + 1)
        return max(free_at, self._not_before)

    def is_crowded(self, now: int, ahead: int) -> bool:
        """Return whether only replies may still be sent, once the `ahead` messages that wait are sent.

        A quarter of the places of a window is reserved for replies. In slow mode, where messages go out
        one by one, every place is reserved that is not free at once.
        """
        if self._slow_free_at(now, ahead) > now:
            return True
        reserved_places = self._limit // 4
        return self._taken(now, ahead) >= self._limit - reserved_places

    def _taken(self, now: int, ahead: int) -> int:
        """Return how many places are taken once `ahead` messages are sent."""
        window_start = now - WINDOW_MS
        self._called_at = [at for at in self._called_at if at > window_start]
        return len(self._called_at) + ahead

    @property
    def _limit(self) -> int:
        """Return how many messages Twitch allows in a window now."""
        if self.moderates():
            return PER_WINDOW_AS_MODERATOR
        return self._per_window
