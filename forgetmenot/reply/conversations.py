"""Tracks whom the bot talks with now: those it answered, and who spoke lately."""

from collections import OrderedDict

from forgetmenot.domain import ChatEvent
from forgetmenot.reply.triggers import Conversations

SPEAKERS_KEPT = 200
CONVERSATIONS_KEPT = 500
# Lines of others after which a talk is over: chat has gone on, and a question is for whoever is
# talked to now.
LINES_BEFORE_A_QUESTION = 15
# Lines without the bot's name that the model is asked about for nothing, before the talk counts as
# over. Else somebody who was answered once could have it asked about each of their lines for three
# minutes.
SILENT_FOLLOW_UPS = 2


class ConversationTracker:
    """Tracks open conversations."""

    def __init__(self) -> None:
        # by viewer: when the bot last answered them (ms)
        self._answered_at: OrderedDict[str, int] = OrderedDict()
        # by name: when they last spoke (ms)
        self._spoke_at: OrderedDict[str, int] = OrderedDict()
        # by viewer: how many lines of others may still come before a question
        self._lines_left: dict[str, int] = {}
        # Viewers whom the bot answered, and nobody has spoken since. A line without its name is for
        # the bot only as long as it may not be for somebody else.
        self._fresh: set[str] = set()
        # viewers whom the bot's last answer asked something
        self._asked: set[str] = set()
        # by viewer: how many of their lines since its last answer were not for it after all
        self._silent: dict[str, int] = {}

    def note_line(self, event: ChatEvent) -> None:
        """Note that somebody spoke: every other conversation has a line less to go on in."""
        lines_left: dict[str, int] = {}
        for viewer_id, count in self._lines_left.items():
            if viewer_id == event.user_id:
                lines_left[viewer_id] = count
            elif count > 0:
                lines_left[viewer_id] = count - 1
        self._lines_left = lines_left
        self._fresh.clear()
        for name in (event.login.casefold(), event.display_name.casefold()):
            put_last(self._spoke_at, name, event.at, SPEAKERS_KEPT)

    def answered(
        self,
        viewer_id: str,
        at: int,
        *,
        direct: bool = True,
        asks_back: bool = False,
    ) -> None:
        """Note that the bot has answered somebody.

        `direct`: they had asked outright; `asks_back`: it asked them something.
        """
        if direct:
            self._fresh.add(viewer_id)
        if asks_back:
            self._asked.add(viewer_id)
        else:
            self._asked.discard(viewer_id)
        self._silent.pop(viewer_id, None)
        self._lines_left[viewer_id] = LINES_BEFORE_A_QUESTION
        self._answered_at[viewer_id] = at
        self._answered_at.move_to_end(viewer_id)
        while len(self._answered_at) > CONVERSATIONS_KEPT:
            self.forget(next(iter(self._answered_at)))

    def was_silent(self, viewer_id: str) -> None:
        """Note that the model had nothing to say to a line without the bot's name."""
        count = self._silent.get(viewer_id, 0) + 1
        self._silent[viewer_id] = count
        if count >= SILENT_FOLLOW_UPS:
            self._lines_left.pop(viewer_id, None)
            self._silent.pop(viewer_id, None)

    def answered_at(self, viewer_id: str) -> int | None:
        """Return when the bot last answered somebody (ms); None if it is not talking with them."""
        return self._answered_at.get(viewer_id)

    def forget(self, viewer_id: str) -> None:
        """Forget somebody who was erased, or has left the conversation."""
        self._answered_at.pop(viewer_id, None)
        self._lines_left.pop(viewer_id, None)
        self._fresh.discard(viewer_id)
        self._asked.discard(viewer_id)
        self._silent.pop(viewer_id, None)

    def conversations(self) -> Conversations:
        """Return what the triggers look at."""
        answered_at = {}
        for viewer_id in self._lines_left:
            answered_at[viewer_id] = self._answered_at[viewer_id]
        return Conversations(
            answered_at,
            speakers=self._spoke_at.keys(),
            fresh=self._fresh,
            asked=self._asked,
        )


def put_last(
    entries: OrderedDict[str, int],
    key: str,
    value: int,
    limit: int,
) -> None:
    """Put an entry last; above the limit the first ones go."""
    entries[key] = value
    entries.move_to_end(key)
    while len(entries) > limit:
        entries.popitem(last=False)
