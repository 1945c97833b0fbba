"""Whom the bot talks with now: those it answered, and who spoke lately."""

from collections import OrderedDict

from forgetmenot.domain import ChatEvent
from forgetmenot.reply.triggers import (
    Conversations,
)

SPEAKERS_KEPT = 200
CONVERSATIONS_KEPT = 500
LINES_BEFORE_A_QUESTION = (
    15  # of others; after more, chat has gone on, and a question is for whoever is talked to now
)
# Lines without its name that the model is asked about for nothing, before the talk counts as over. Else somebody who
# was answered once could have it asked about each of their lines for three minutes.
SILENT_FOLLOW_UPS = 2


class ConversationTracker:
    """Tracks open conversations."""

    def __init__(self) -> None:
        self._answered: OrderedDict[str, int] = OrderedDict()
        self._speakers: OrderedDict[str, int] = OrderedDict()
        self._near: dict[
            str, int
        ] = {}  # viewer → how many lines of others may still come before a question
        # those whom nobody spoke after: what another says is as likely for whoever spoke
        self._fresh: set[str] = set()
        # those whom its last answer asked something
        self._asked: set[str] = set()
        # viewer → how many of their lines since its last answer were not for it after all
        self._silent: dict[str, int] = {}

    def heard(self, event: ChatEvent) -> None:
        """Take in that somebody spoke: whoever else the bot talks with has a line less to go on in."""
        self._near = {
            who: left - (who != event.user_id)
            for who, left in self._near.items()
            if left or who == event.user_id
        }
        self._fresh.clear()
        for name in (event.login.casefold(), event.display_name.casefold()):
            put_last(self._speakers, name, event.at, SPEAKERS_KEPT)

    def answered(
        self, viewer_id: str, at: int, *, direct: bool = True, asked: bool = False
    ) -> None:
        """The bot has answered somebody. `direct`: they had asked outright; `asked`: it asked back."""
        if direct:
            self._fresh.add(viewer_id)
        if asked:
            self._asked.add(viewer_id)
        else:
            self._asked.discard(viewer_id)
        self._silent.pop(viewer_id, None)
        self._near[viewer_id] = LINES_BEFORE_A_QUESTION
        self._answered[viewer_id] = at
        self._answered.move_to_end(viewer_id)
        while len(self._answered) > CONVERSATIONS_KEPT:
            self.forget(next(iter(self._answered)))

    def was_silent(self, viewer_id: str) -> None:
        """Take in that the model had nothing to say to a line without the bot's name."""
        count = self._silent.get(viewer_id, 0) + 1
        self._silent[viewer_id] = count
        if count >= SILENT_FOLLOW_UPS:
            self._near.pop(viewer_id, None)
            self._silent.pop(viewer_id, None)

    def answered_at(self, viewer_id: str) -> int | None:
        """When it last answered them."""
        return self._answered.get(viewer_id)

    def forget(self, viewer_id: str) -> None:
        """Somebody was erased, or has left the conversation."""
        self._answered.pop(viewer_id, None)
        self._near.pop(viewer_id, None)
        self._fresh.discard(viewer_id)
        self._asked.discard(viewer_id)
        self._silent.pop(viewer_id, None)

    def conversations(self) -> Conversations:
        """Return what the triggers look at."""
        answered_at = {viewer_id: self._answered[viewer_id] for viewer_id in self._near}
        return Conversations(answered_at, self._speakers.keys(), self._fresh, self._asked)


def put_last(entries: OrderedDict[str, int], key: str, value: int, limit: int) -> None:
    """Put an entry last; above the limit the first ones go."""
    entries[key] = value
    entries.move_to_end(key)
    while len(entries) > limit:
        entries.popitem(last=False)
