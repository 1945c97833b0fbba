"""Who the bot is in a conversation with: whom it answered when, and who has spoken lately. In memory only.

It decides nothing: triggers.py reads it. After a restart every conversation begins anew.
"""

from collections import OrderedDict

from forgetmenot.domain.chat import ChatEvent
from forgetmenot.reply.triggers import Conversations

SPEAKERS_KEPT = 200
CONVERSATIONS_KEPT = 500
LINES_BETWEEN = 1  # after more, what somebody says is as likely for those who spoke since


class FollowUps:
    """The open conversations."""

    def __init__(self) -> None:
        self._answered: OrderedDict[str, int] = OrderedDict()
        self._speakers: OrderedDict[str, None] = OrderedDict()
        self._fresh: dict[str, int] = {}  # viewer → how many lines of others may still come between

    def heard(self, event: ChatEvent) -> None:
        """Somebody spoke."""
        self._fresh = {who: left - 1 for who, left in self._fresh.items() if left and who != event.user_id}
        for name in (event.login.casefold(), event.display_name.casefold()):
            self._speakers[name] = None
            self._speakers.move_to_end(name)
        while len(self._speakers) > SPEAKERS_KEPT:
            self._speakers.popitem(last=False)

    def answered(self, viewer_id: str, at: int, *, direct: bool = True) -> None:
        """The bot has answered somebody; `direct`: they had asked outright."""
        if direct:
            self._fresh[viewer_id] = LINES_BETWEEN
        self._answered[viewer_id] = at
        self._answered.move_to_end(viewer_id)
        while len(self._answered) > CONVERSATIONS_KEPT:
            self._fresh.pop(self._answered.popitem(last=False)[0], None)

    def answered_at(self, viewer_id: str) -> int | None:
        """When it last answered them."""
        return self._answered.get(viewer_id)

    def forget(self, viewer_id: str) -> None:
        """Somebody was erased, or has left the conversation."""
        self._answered.pop(viewer_id, None)
        self._fresh.pop(viewer_id, None)

    def conversations(self) -> Conversations:
        """What the triggers look at."""
        return Conversations(self._answered, self._speakers.keys(), self._fresh.keys())
