"""Tracks whom the bot talks with now: those it answered, and who spoke lately."""

from collections import OrderedDict

from forgetmenot.domain import ChatEvent
from forgetmenot.reply.triggers import Conversations

SPEAKERS_KEPT = 200
CONVERSATIONS_KEPT = 500
# Lines of others after which a talk is over. Chat has gone on by then, and a question without the
# bot's name is for somebody else.
LINES_BEFORE_A_QUESTION = 15
# Lines without the bot's name to which the model has nothing to say, before the talk counts as over.
# Without this limit each line of somebody who was answered once would cost a call of the model, for
# three minutes.
SILENT_FOLLOW_UPS = 2


class ConversationTracker:
    """Tracks open conversations."""

    def __init__(self) -> None:
        # by viewer: when the bot last answered them (ms)
        self._answered_at: OrderedDict[str, int] = OrderedDict()
        # by name: when they last spoke (ms)
        self._spoke_at: OrderedDict[str, int] = OrderedDict()
        # by viewer: how many lines of others may still come before their conversation is over
        self._lines_left: dict[str, int] = {}
        # Viewers whom the bot answered when they asked outright, while nobody has spoken since. Their
        # next line may be for the bot without its name; once others have spoken, it may be for them.
        self._just_answered: set[str] = set()
        # viewers to whom the bot's last answer ended in a question
        self._asked: set[str] = set()
        # by viewer: their lines without its name, since its last answer, to which it had no answer
        self._unanswered: dict[str, int] = {}

    def note_line(self, event: ChatEvent) -> None:
        """Note that somebody spoke: every other conversation has a line less to go on in."""
        lines_left: dict[str, int] = {}
        for viewer_id, count in self._lines_left.items():
            if viewer_id == event.user_id:
                lines_left[viewer_id] = count
            elif count > 0:
                lines_left[viewer_id] = count - 1
        self._lines_left = lines_left
        self._just_answered.clear()
        for name in (event.login, event.display_name):
            put_last(self._spoke_at, name.casefold(), event.at, SPEAKERS_KEPT)

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
            self._just_answered.add(viewer_id)
        if asks_back:
            self._asked.add(viewer_id)
        else:
            self._asked.discard(viewer_id)
        self._unanswered.pop(viewer_id, None)
        self._lines_left[viewer_id] = LINES_BEFORE_A_QUESTION
        self._answered_at[viewer_id] = at
        self._answered_at.move_to_end(viewer_id)
        while len(self._answered_at) > CONVERSATIONS_KEPT:
            self.forget(next(iter(self._answered_at)))

    def was_silent(self, viewer_id: str) -> None:
        """Note that the model had nothing to say to a line without the bot's name.

        After a few of them (SILENT_FOLLOW_UPS) the conversation with that viewer is over.
        """
        count = self._unanswered.get(viewer_id, 0) + 1
        self._unanswered[viewer_id] = count
        if count >= SILENT_FOLLOW_UPS:
            # Without an entry in `_lines_left` the conversation is over; `conversations` reads it so.
            self._lines_left.pop(viewer_id, None)
            self._unanswered.pop(viewer_id, None)

    def answered_at(self, viewer_id: str) -> int | None:
        """Return when the bot last answered somebody (ms); None if it is not talking with them."""
        return self._answered_at.get(viewer_id)

    def forget(self, viewer_id: str) -> None:
        """Forget the conversation with somebody."""
        self._answered_at.pop(viewer_id, None)
        self._lines_left.pop(viewer_id, None)
        self._just_answered.discard(viewer_id)
        self._asked.discard(viewer_id)
        self._unanswered.pop(viewer_id, None)

    def conversations(self) -> Conversations:
        """Return whom the bot still talks with, for the triggers.

        Whoever has no entry in `_lines_left` was answered, but the conversation is over.
        """
        answered_at = {}
        for viewer_id in self._lines_left:
            answered_at[viewer_id] = self._answered_at[viewer_id]
        return Conversations(
            answered_at,
            speakers=self._spoke_at.keys(),
            just_answered=self._just_answered,
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
