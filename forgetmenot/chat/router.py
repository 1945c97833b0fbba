"""Routes each chat line: to memory, to a command, to a reply.

Guarantees:
- Every line is counted exactly once.
- A line that was handled before, in this run or an earlier one, triggers nothing.
- The bot's own lines only confirm delivery.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Coroutine

from msgspec import Struct, field
from msgspec.structs import replace

from forgetmenot.chat.answers import ChatCommands, CommandAnswer, asker_of
from forgetmenot.chat.command_rate_limit import CommandRateLimiter
from forgetmenot.domain import ChatEvent, EventKind, Redaction
from forgetmenot.errors import ForgetMeNotError, StoreError, StoreFull, StoreLocked
from forgetmenot.languages import in_language
from forgetmenot.logs import log
from forgetmenot.memory.ingest import Ingest
from forgetmenot.people.exclusion import is_bot
from forgetmenot.reply.engine import ReplyEngine
from forgetmenot.reply.outbox import EVERYBODY, Outbox
from forgetmenot.settings.schema import Settings
from forgetmenot.store import events
from forgetmenot.store.database import Database
from forgetmenot.text.chat_commands import denies, is_command
from forgetmenot.twitch.chat_lines import ChatItem, OtherRoom, RoomState, Unparsed
from forgetmenot.twitch.room_modes import RoomModeTracker

# Ids of this run's last commands and questions: their lines may not be stored yet.
MOST_HEARD = 10_000
# Pauses (s) between the tries of a command while the memory cannot be written, besides what each
# write waits by itself.
TRIED_AGAIN_AFTER_S = (1, 2, 4, 8)
# What lines that are not stored are counted as.
_COUNTED_AS = {OtherRoom: "other_room", Unparsed: "unparsed"}


class Router(Struct):
    """Handles the items of a chat source, in order."""

    db: Database
    ingest: Ingest
    engine: ReplyEngine
    outbox: Outbox
    commands: ChatCommands
    settings: Callable[[], Settings]
    room: RoomModeTracker
    _rate_limit: CommandRateLimiter = field(default_factory=CommandRateLimiter)
    # commands that are being carried out, and lines that are being sent
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)
    _heard: OrderedDict[str, None] = field(default_factory=OrderedDict)

    async def hear(self, item: ChatItem) -> None:
        """Handle one item; answers are sent in a task of their own."""
        if isinstance(item, ChatEvent):
            await self._line(item)
            return
        if isinstance(item, Redaction):
            self.ingest.take(item)
            return
        if isinstance(item, RoomState):
            self.room.heard(item)
        name = _COUNTED_AS.get(type(item), "other")
        self.ingest.note(name)

    def say(
        self,
        line: str,
        *,
        reply_to: str | None = None,
        viewer_id: str = EVERYBODY,
    ) -> None:
        """Say something that nobody asked for now, in a task of its own.

        `reply_to`: a viewer's earlier line.
        """
        sending = self.outbox.say_line(
            line,
            reply_to=reply_to,
            viewer_id=viewer_id,
            trigger="notice",
        )
        self._start(sending)

    def redeemed(self, event: ChatEvent, *, remember: bool) -> None:
        """Take what a viewer typed for channel points that they spent on the bot.

        It is a mention, or with `remember` a fact to be remembered about them.
        """
        if not remember:
            self.engine.take(event)
            return
        if event.id in self._heard:
            return
        self._heard[event.id] = None
        command_line = replace(event, text=f"!remember {event.text}")
        self._start(self._command_or_reply(command_line))

    async def idle(self) -> None:
        """Wait until every command has been answered."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def aclose(self) -> None:
        """Stop what is under way: a viewer's request is on disk, and goes on at the next start."""
        for task in self._tasks:
            task.cancel()
        await self.idle()

    async def _line(self, event: ChatEvent) -> None:
        """Take one line into the memory, and answer it if it asks for that."""
        if event.user_id == self.ingest.own_id:
            self.ingest.take(event)
            # Its own lines come back on the reading connection, which proves that they were shown.
            self._start(self.outbox.seen_in_chat(event.text))
            return
        if self._is_only_remembered(event):
            self.ingest.take(event)
            return
        is_spoken = event.kind is EventKind.SPOKEN
        is_asked = self.engine.is_asked(event)
        denies_reply = not is_asked and self._denies_reply(event)
        is_for_commands = denies_reply
        if not is_spoken:
            says_yes = self.commands.says_yes(event)
            is_for_commands |= is_command(event.text) or says_yes
        # Looked up before the line is taken in: after that it would be known.
        is_new = True
        if is_asked or is_for_commands:
            is_new = await self._is_new(event)
        self.ingest.take(event, addressed=is_asked)
        memory = self.settings().memory
        is_by_bot = is_bot(memory, event.login, event.user_id, event.badges)
        if is_by_bot or not is_new:
            return
        if is_spoken:
            # It is the broadcaster's word for the memory, and nobody's for an action: anybody near
            # the microphone is heard.
            if is_asked:
                of_nobody = replace(event, badges=frozenset())
                self.engine.take(of_nobody)
        elif is_asked or is_for_commands:
            work = self._command_or_reply(event, denies_reply=denies_reply)
            self._start(work)
        else:
            self.engine.take(event)

    def _is_only_remembered(self, event: ChatEvent) -> bool:
        """Return whether a line is not answered here.

        What points were spent on is answered by `redeemed`.
        """
        if event.kind is EventKind.REDEMPTION:
            return True
        is_spoken = event.kind is EventKind.SPOKEN
        return is_spoken and not self.settings().hearing.answer_aloud

    def _denies_reply(self, event: ChatEvent) -> bool:
        """Return whether a viewer says that the bot's answer to them is wrong.

        It does not name the bot, so it is the next line in chat after that answer.
        """
        talks = self.engine.conversation_tracker.conversations()
        if event.user_id not in talks.just_answered:
            return False
        return denies(event.text)

    async def _is_new(self, event: ChatEvent) -> bool:
        """Return whether no run has seen this line before: only such a line may trigger anything.

        Only reads: a write may have to wait, and chat would wait with it.
        """
        if event.id in self._heard:
            return False
        self._heard[event.id] = None
        while len(self._heard) > MOST_HEARD:
            self._heard.popitem(last=False)
        try:
            stored_event = await events.by_id(self.db, event.id)
        except StoreError:
            # Whatever else the line asks for needs the disk as well. A command may be a privacy
            # request, which waits for the disk.
            return is_command(event.text)
        return stored_event is None

    def _start(self, work: Coroutine[None, None, object]) -> None:
        """Run a coroutine beside reading: an approval may take seconds, and chat does not wait."""
        task = asyncio.create_task(_logged(work), name="command or reply")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _command_or_reply(
        self, event: ChatEvent, *, denies_reply: bool = False
    ) -> None:
        """Answer a command, or hand the line to the engine. Raises StoreError.

        Moderators are always answered, others within their rate limit.
        """
        answer = await self._answer_to_command(event, denies_reply=denies_reply)
        if answer is None:
            self.engine.take(event)
            return
        if not answer.line:
            return
        moderates = asker_of(event).moderates
        if not moderates:
            is_allowed = self._rate_limit.allows(event.user_id, event.at)
            if not is_allowed:
                return
        sent = await self.outbox.say_line(
            answer.line,
            reply_to=_message_of(event),
            viewer_id=event.user_id,
            people=answer.people,
            is_optional=not (moderates or answer.is_urgent),
            is_urgent=answer.is_urgent,
            leaves_nothing=answer.leaves_nothing,
        )
        log.info("command answered", status=sent.status)

    async def _answer_to_command(
        self, event: ChatEvent, *, denies_reply: bool
    ) -> CommandAnswer | None:
        """Run the command in a line, and return its answer; None if it is no command.

        It is tried again while another program holds the memory or the disk is full.
        """
        for wait_s in (*TRIED_AGAIN_AFTER_S, None):
            try:
                return await self.commands.handle(event, denies_reply=denies_reply)
            except (StoreLocked, StoreFull) as error:
                if wait_s is None:
                    log.warning("a command failed", reason=str(error))
                else:
                    await asyncio.sleep(wait_s)
        if not is_command(event.text):
            return None
        # The row of an answer could not be written either.
        language = in_language(self.settings().bot.language)
        line = language("chat.not_now")
        await self.outbox.say_without_row(line, _message_of(event))
        return CommandAnswer("")


def _message_of(event: ChatEvent) -> str | None:
    """Return the id of the message that an answer is shown under; None for a redemption."""
    # A redemption is no message that one could reply to.
    if event.kind is EventKind.REDEMPTION:
        return None
    return event.id


async def _logged(work: Coroutine[None, None, object]) -> None:
    """Log an expected failure; the event loop reports bugs."""
    try:
        await work
    except ForgetMeNotError as error:
        log.warning("a command failed", reason=str(error))
