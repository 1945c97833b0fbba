"""Recognises the command in a chat line, runs it and words the answer.

What a command does is decided in operations/. A command in plain words that cannot be done as asked
is treated as talk.
"""

from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from forgetmenot.chat.parser import CommandParser, ParsedCommand
from forgetmenot.domain import (
    OF_NOBODY,
    Asker,
    ChatEvent,
    LinePeople,
    Permission,
    Surface,
)
from forgetmenot.durations import MINUTE
from forgetmenot.languages import in_language
from forgetmenot.operations.run import run
from forgetmenot.operations.types import OperationContext
from forgetmenot.operations.wording import chat_line
from forgetmenot.people.exclusion import is_bot
from forgetmenot.people.standing import role_of
from forgetmenot.reply.own_name import Identity, without_at_name, without_name_in_front
from forgetmenot.reply.triggers import Conversations, is_ignored, trigger_of
from forgetmenot.text.chat_commands import without_names_in_front
from forgetmenot.text.clean import clean
from forgetmenot.text.phrases import is_yes

# How soon a viewer's next line has to be the "yes" to a question that the bot asked them (ms).
ANSWERED_WITHIN = 2 * MINUTE
# Results of a command in plain words after which the line is talk.
_TALK = frozenset(
    {"not_yours", "unknown_viewer", "which_viewer", "about_yourself", "which_none"}
)


class CommandAnswer(NamedTuple):
    """What is said to a command ("": nothing).

    `is_urgent`: somebody asked about their own data and waits for it.
    `leaves_nothing`: the answer is not stored.
    `people`: whom it is about, with whom it goes when they are erased, and whom it names. It waits
    for its turn only as long as all of them may be named.
    """

    line: str
    people: LinePeople = OF_NOBODY
    is_urgent: bool = False
    leaves_nothing: bool = False


class _OpenQuestion(NamedTuple):
    """A question that a "yes" answers: the command that is run then, and when it was asked (ms)."""

    command: ParsedCommand
    asked_at: int


class ChatCommands:
    """Recognises commands and runs them."""

    def __init__(
        self, context: OperationContext, identity: Callable[[], Identity]
    ) -> None:
        """`identity` returns who the bot is now."""
        self._context = context
        self._parser = CommandParser(context.operations)
        self._identity = identity
        # by viewer: what the bot asked them last
        self._questions: dict[str, _OpenQuestion] = {}

    def says_yes(self, event: ChatEvent) -> bool:
        """Return whether a line is the "yes" to what the bot just asked its viewer.

        Any other line of theirs is a no, and ends the question.
        """
        question = self._questions.get(event.user_id)
        if question is None:
            return False
        line = without_name_in_front(event, self._identity())
        waited = event.at - question.asked_at
        if is_yes(line) and waited <= ANSWERED_WITHIN:
            return True
        del self._questions[event.user_id]
        return False

    async def handle(
        self, event: ChatEvent, *, denies_reply: bool = False
    ) -> CommandAnswer | None:
        """Run the command in a line, and return the answer; None if it is no command of ours.

        `denies_reply`: the line only says that the bot's last reply is wrong, without naming the bot.
        Raises StoreError.
        """
        settings = self._context.settings()
        identity = self._identity()
        command = self._command(event, identity, denies_reply=denies_reply)
        if self.says_yes(event):
            command = self._questions.pop(event.user_id).command
        # Anybody can have another bot say a command, so a bot's lines are none.
        if command is None or self._is_bot(event, identity):
            return None
        operation = self._context.operations[command.name]
        is_for_moderators = operation.permissions[Surface.CHAT] is Permission.MODERATOR
        if is_ignored(event, identity, settings) and not is_for_moderators:
            return None
        return await self._answer(event, command)

    async def ask_erasure(self, event: ChatEvent) -> str:
        """Ask whoever wrote a line whether everything about them is to be deleted, as `!forgetme` does.

        Returns the question, or that nothing is known of them. Raises StoreError.
        """
        command = ParsedCommand("erase", {})
        answer = await self._answer(event, command)
        if answer is None:
            return ""
        return answer.line

    async def _answer(
        self, event: ChatEvent, command: ParsedCommand
    ) -> CommandAnswer | None:
        """Run a command; return the answer, None if the line is talk or the command not for them.

        Raises StoreError.
        """
        asker = asker_of(event)
        result = await run(self._context, command.name, command.params, asker)
        # Whoever may not ask for it is not told that there is such a command.
        if result.code == "not_allowed":
            return None
        if command.in_words and result.code in _TALK:
            return None
        if result.code == "erase_unconfirmed":
            params = {**command.params, "confirm": "yes"}
            confirmed = replace(command, params=params)
            self._questions[event.user_id] = _OpenQuestion(confirmed, event.at)
        settings = self._context.settings()
        language = in_language(settings.bot.language)
        operation = self._context.operations[command.name]
        # Stored with its time, a code could be matched with a request, and so with a person.
        has_code = "receipt_code" in result.data
        about_ids = result.about_ids
        target_id = None if result.target is None else result.target.id
        if not about_ids and target_id is not None:
            about_ids = frozenset({target_id})
        # A stored answer is about one viewer, with whom it goes: one about several would stay when one of them goes.
        is_about_several = len(about_ids) > 1
        leaves_nothing = operation.leaves_nothing or has_code or is_about_several
        return CommandAnswer(
            chat_line(result, language),
            LinePeople(about_ids, result.named_ids),
            is_urgent=operation.waits,
            leaves_nothing=leaves_nothing,
        )

    def _command(
        self,
        event: ChatEvent,
        identity: Identity,
        *,
        denies_reply: bool,
    ) -> ParsedCommand | None:
        """Return the command in a line, typed or in words; `denies_reply` as in `handle`."""
        question = self._question_in(event, identity, denies_reply=denies_reply)
        line = without_name_in_front(event, identity)
        unnamed_line = without_at_name(line, identity)
        command = self._parser.parse(line, question, unnamed=unnamed_line)
        if command is None and event.reply_to is not None:
            command = self._about_replied_line(line)
        if command is None:
            return None
        has_name_in_front = line != clean(event.text)
        is_to_this_bot = has_name_in_front or bool(question)
        if not is_to_this_bot and self._is_another_bots(command):
            return None
        if command.name != "erase" or asker_of(event).moderates:
            return command
        # "!forgetme yes": a viewer names nobody else there. A moderator may mean somebody who is
        # called by a word for yes ("sim").
        typed_viewer = command.params.get("viewer", "")
        if is_yes(typed_viewer):
            return replace(command, params={"confirm": "yes"})
        return command

    def _question_in(
        self,
        event: ChatEvent,
        identity: Identity,
        *,
        denies_reply: bool,
    ) -> str:
        """Return what a line asks the bot, without the bot's name; "" if it does not speak to it."""
        # A line that goes on a talk without the bot's name is no command in plain words.
        nobody = Conversations({})
        settings = self._context.settings()
        trigger = trigger_of(event, identity, nobody, settings, event.at)
        if trigger is not None and trigger.direct:
            return trigger.question
        if denies_reply:
            return event.text
        return ""

    def _about_replied_line(self, line: str) -> ParsedCommand | None:
        """Return the command about somebody's line in a reply to that line; None if there is none.

        Twitch writes their name in front of what is typed.
        """
        command = self._parser.parse(without_names_in_front(line))
        if command is None:
            return None
        operation = self._context.operations[command.name]
        if not operation.about_replied_line:
            return None
        return command

    def _is_another_bots(self, command: ParsedCommand) -> bool:
        """Return whether `!help` or `!commands` is left to another bot.

        Help on an incomplete command of ours is not.
        """
        bot = self._context.settings().bot
        if command.name == "help":
            return not bot.answers_help and not command.incomplete
        return command.name == "commands" and not bot.answers_commands

    def _is_bot(self, event: ChatEvent, identity: Identity) -> bool:
        """Return whether this bot or another one wrote a line."""
        if event.user_id == identity.user_id:
            return True
        memory = self._context.settings().memory
        return is_bot(memory, event.login, event.user_id, event.badges)


def asker_of(event: ChatEvent) -> Asker:
    """Return who asks in a line, with the role from its badges."""
    reply_to_id = ""
    if event.reply_to is not None:
        reply_to_id = event.reply_to.event_id
    return Asker(
        surface=Surface.CHAT,
        viewer_id=event.user_id,
        role=role_of(event.badges),
        login=event.login,
        display_name=event.display_name,
        line_id=event.id,
        reply_to_id=reply_to_id,
    )
