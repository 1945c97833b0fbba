"""Who the bot is in a conversation with: whom it answered when, and who has spoken lately. In memory only.

It decides nothing: triggers.py reads it. After a restart every conversation begins anew.
"""

from collections import OrderedDict

from forgetmenot.domain.chat import ChatEvent
from forgetmenot.reply.triggers import Conversations

SPEAKERS_KEPT = 200
CONVERSATIONS_KEPT = 500
LINES_BETWEEN = 1  # of others; after more, what somebody says is as likely for those who spoke since
LINES_BEFORE_A_QUESTION = 15  # of others; after more, chat has gone on, and a question is for whoever is talked to now


class FollowUps:
    """The open conversations."""

    def __init__(self) -> None:
        self._answered: OrderedDict[str, int] = OrderedDict()
        self._speakers: OrderedDict[str, None] = OrderedDict()
        self._near: dict[str, int] = {}  # viewer → how many lines of others may still come before a question
        self._fresh: dict[str, int] = {}  # the same before a statement

    def heard(self, event: ChatEvent) -> None:
        """Somebody spoke."""
        self._near = {
            who: left - (who != event.user_id) for who, left in self._near.items() if left or who == event.user_id
        }
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
        self._near[viewer_id] = LINES_BEFORE_A_QUESTION
        self._answered[viewer_id] = at
        self._answered.move_to_end(viewer_id)
        while len(self._answered) > CONVERSATIONS_KEPT:
            self.forget(next(iter(self._answered)))

    def answered_at(self, viewer_id: str) -> int | None:
        """When it last answered them."""
        return self._answered.get(viewer_id)

    def forget(self, viewer_id: str) -> None:
        """Somebody was erased, or has left the conversation."""
        self._answered.pop(viewer_id, None)
        self._near.pop(viewer_id, None)
        self._fresh.pop(viewer_id, None)

    def conversations(self) -> Conversations:
        """What the triggers look at."""
        return Conversations(
            {who: self._answered[who] for who in self._near}, self._speakers.keys(), self._fresh.keys()
        )
