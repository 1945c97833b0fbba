"""Knows whether Twitch shows what the bot writes, from what chat and Twitch's answers report.

Guarantees:
- What chat reports (modes, a timeout, a ban) counts at once, so that no model is asked for words
  that nobody would see.
- Where chat reports nothing (the bot was timed out before it started, or it does not follow a
  channel for followers only), Twitch's refusals count. A message that gets through, such as a
  command's answer, ends that.
"""

import math
from collections.abc import Callable

from forgetmenot.clock import Clock
from forgetmenot.domain import Outcome, OutcomeKind, Redaction, Role
from forgetmenot.durations import MINUTE, SECOND
from forgetmenot.languages import reason
from forgetmenot.twitch.chat_lines import ChatItem, RoomState

# A single refusal may be about that one message.
REFUSALS_IN_A_ROW = 2
# After this long a reply is tried again: nothing reports that a refusal's cause is gone.
TRIED_AGAIN_AFTER = 5 * MINUTE
# Slow mode with shorter pauses goes unnoticed.
SLOW_IS_REPORTED_FROM_S = 10
# Whom Twitch lets write in which mode. [Twitch's help pages; not tried]
_MODERATORS = frozenset({Role.BROADCASTER, Role.MODERATOR})
_NOT_SLOWED = _MODERATORS | {Role.VIP}
_TAKEN_FOR_FOLLOWERS = _NOT_SLOWED | {Role.SUBSCRIBER}


class ChatPermission:
    """Whether the bot may write in chat.

    `role` returns what the bot's badges make it in this chat; None until chat has shown them, and
    no mode counts until then. `is_banned` returns whether chat did not let the bot's account in.
    """

    def __init__(
        self,
        clock: Clock,
        *,
        own_id: Callable[[], str] = str,
        name: Callable[[], str] = str,
    ) -> None:
        self._clock = clock
        self._own_id = own_id
        self._name = name
        self.role: Callable[[], Role | None] = lambda: None
        self.is_banned: Callable[[], bool] = lambda: False
        self._emote_only = False
        self._slow_s = 0
        self._followers_only = False
        self._subscribers_only = False
        self._timed_out_until = 0
        # what Twitch refused since a message last got through
        self._refusals = 0
        self._refused_at = 0
        self._refusal = ""

    def heard(self, item: ChatItem) -> None:
        """Take in what chat reports of its modes, and of the bot's own timeouts."""
        if isinstance(item, RoomState):
            self._room_is(item)
        if not isinstance(item, Redaction):
            return
        if not item.user_id:
            return
        # a ban has no duration; the connection notices it
        if item.user_id == self._own_id():
            duration_s = item.duration_s or 0
            self._timed_out_until = self._clock.now() + duration_s * SECOND

    def _room_is(self, state: RoomState) -> None:
        """Take over what a ROOMSTATE names, which is all modes or one that changed."""
        if state.emote_only is not None:
            self._emote_only = state.emote_only
        if state.slow_s is not None:
            self._slow_s = state.slow_s
        if state.subscribers_only is not None:
            self._subscribers_only = state.subscribers_only
        followers_only = state.followers_only
        if followers_only is not None and followers_only != self._followers_only:
            self._followers_only = followers_only
            # what was refused before says nothing of the new mode
            self._refusals = 0

    def answered(self, outcome: Outcome) -> None:
        """Take in what Twitch answered to a message."""
        if outcome.kind is OutcomeKind.DONE:
            self._refusals = 0
            self._timed_out_until = 0
        elif outcome.kind is OutcomeKind.REFUSED and not outcome.is_about_text:
            # not what a viewer can have it say: a blocked term would silence it for everybody
            self._refusals += 1
            self._refused_at = self._clock.now()
            self._refusal = outcome.detail

    def slow_ms(self) -> int:
        """Return how long Twitch makes the bot wait between two messages; 0 if it does not."""
        role = self.role()
        if role is None or role in _NOT_SLOWED:
            return 0
        return self._slow_s * SECOND

    def trouble(self) -> str:
        """Return why Twitch would not show a message of the bot now, and what helps, or ""."""
        name = self._name()
        if self.is_banned():
            return reason("mute_banned", name=name)
        remaining = self._timed_out_until - self._clock.now()
        if remaining > 0:
            minutes = math.ceil(remaining / MINUTE)
            return reason("mute_timed_out", name=name, n=minutes)
        return self._trouble_of_modes(name) or self._trouble_of_refusals(name)

    def _trouble_of_modes(self, name: str) -> str:
        """Return which mode of the chat keeps the bot from writing; empty if none does."""
        role = self.role()
        if role is None or role in _MODERATORS:
            return ""
        if self._emote_only:
            return reason("mute_emote_only", name=name)
        if self._subscribers_only and role not in _TAKEN_FOR_FOLLOWERS:
            return reason("mute_subscribers_only", name=name)
        if not self._followers_only or role in _TAKEN_FOR_FOLLOWERS:
            return ""
        # Whether it follows the channel is known to Twitch alone, so one refused message shows that it does not.
        if self._is_refused(1):
            return reason("mute_followers_only", name=name)
        return ""

    def _trouble_of_refusals(self, name: str) -> str:
        if not self._is_refused(REFUSALS_IN_A_ROW):
            return ""
        message = self._refusal.rstrip(".")
        return reason("mute_refused", name=name, message=message)

    def _is_refused(self, times: int) -> bool:
        """Return whether Twitch refused at least so many messages in a row, the last lately."""
        age = self._clock.now() - self._refused_at
        return self._refusals >= times and age <= TRIED_AGAIN_AFTER

    def warning(self) -> str:
        """Return what keeps the bot from writing, wholly or for noticeable times, or ""."""
        trouble = self.trouble()
        if trouble:
            return trouble
        slow_s = self.slow_ms() // SECOND
        if slow_s < SLOW_IS_REPORTED_FROM_S:
            return ""
        return reason("mute_slow", name=self._name(), n=slow_s)
