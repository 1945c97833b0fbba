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
# How long a command waits for a memory that cannot be written, besides what each write waits by itself.
TRIED_AGAIN_AFTER_S = (1, 2, 4, 8)


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
    _working: set[asyncio.Task[None]] = field(default_factory=set)
    _heard: OrderedDict[str, None] = field(default_factory=OrderedDict)

    async def hear(self, item: ChatItem) -> None:
        """Handle one item; answers are sent in a task of their own."""
        if isinstance(item, ChatEvent):
            await self._line(item)
        elif isinstance(item, Redaction):
            self.ingest.take(item)
        else:
            if isinstance(item, RoomState):
                self.room.heard(item)
            kinds = {
                OtherRoom: "other_room",
                Unparsed: "unparsed",
            }  # of lines that are not stored
            self.ingest.note(kinds.get(type(item), "other"))

    def say(
        self,
        line: str,
        *,
        reply_to: str | None = None,
        viewer_id: str = EVERYBODY,
    ) -> None:
        """Say something that nobody asked for now, beside everything else. `reply_to`: a viewer's earlier line."""
        self._start(
            self.outbox.say_line(
                line, reply_to=reply_to, viewer_id=viewer_id, trigger="notice"
            )
        )

    def redeemed(self, event: ChatEvent, *, remember: bool) -> None:
        """A viewer spent channel points on the bot: what they typed is a mention, or to be remembered about them."""
        if remember and event.id not in self._heard:
            self._heard[event.id] = None
            self._start(
                self._command_or_reply(replace(event, text=f"!remember {event.text}"))
            )
        elif not remember:
            self.engine.take(event)

    async def idle(self) -> None:
        """Wait until every command has been answered."""
        while self._working:
            await asyncio.wait(self._working)

    async def aclose(self) -> None:
        """Stop what is under way: a viewer's wish is on disk, and goes on at the next start."""
        for task in self._working:
            task.cancel()
        await self.idle()

    async def _line(self, event: ChatEvent) -> None:
        if event.user_id == self.ingest.own_id:
            self.ingest.take(event)
            # its own lines come back on the reading connection, which proves that they were shown
            self._start(self.outbox.seen_in_chat(event.text))
            return
        spoken = event.kind is EventKind.SPOKEN
        # what points were spent on is answered by `redeemed`
        if event.kind is EventKind.REDEMPTION or (
            spoken and not self.settings().hearing.answer_aloud
        ):
            self.ingest.take(event)
            return
        asks = self.engine.is_asked(event)
        # asked before the line is taken in, because after that it would be known
        is_command_line = is_command(event.text) and not spoken
        # the next line in chat after the bot's answer to them: "that's wrong"
        denies_reply = (
            not asks
            and event.user_id in self.engine.conversation_tracker.conversations().fresh
            and denies(event.text)
        )
        answers = not spoken and self.commands.says_yes(event)
        for_commands = is_command_line or denies_reply or answers
        is_new = not (asks or for_commands) or await self._is_new(event)
        self.ingest.take(event, addressed=asks)
        if not is_new or is_bot(
            self.settings().memory, event.login, event.user_id, event.badges
        ):
            return
        if spoken:
            # the broadcaster's word for the memory, and nobody's for an action: anybody near the microphone is heard
            if asks:
                self.engine.take(replace(event, badges=frozenset()))
        elif asks or for_commands:
            self._start(self._command_or_reply(event, denies_reply=denies_reply))
        else:
            self.engine.take(event)

    async def _is_new(self, event: ChatEvent) -> bool:
        """Whether no run has seen this line before: only such a line may trigger anything.

        Only reads: a write may have to wait, and chat would wait with it.
        """
        if event.id in self._heard:
            return False
        self._heard[event.id] = None
        while len(self._heard) > MOST_HEARD:
            self._heard.popitem(last=False)
        try:
            return await events.by_id(self.db, event.id) is None
        except StoreError:  # whatever else it asks for needs the disk as well; a privacy request waits for it
            return is_command(event.text)

    def _start(self, work: Coroutine[None, None, object]) -> None:
        """Run it beside reading: an approval may take seconds, and chat does not wait."""
        task = asyncio.create_task(_logged(work), name="command or reply")
        self._working.add(task)
        task.add_done_callback(self._working.discard)

    async def _command_or_reply(
        self, event: ChatEvent, *, denies_reply: bool = False
    ) -> None:
        """Answer a command (moderators always, others within their rate limit), or hand the line to the engine."""
        answer = await self._handled(event, denies_reply=denies_reply)
        if answer is None:
            self.engine.take(event)
            return
        moderates = asker_of(event).moderates
        if answer.line and (
            moderates or self._rate_limit.allows(event.user_id, event.at)
        ):
            sent = await self.outbox.say_line(
                answer.line,
                reply_to=_message_of(event),
                viewer_id=event.user_id,
                is_optional=not (moderates or answer.is_right),
                is_urgent=answer.is_right,
                leaves_nothing=answer.leaves_nothing,
            )
            log.info("command answered", status=sent.status)

    async def _handled(
        self, event: ChatEvent, *, denies_reply: bool
    ) -> CommandAnswer | None:
        """What a command is answered; tried again while another program holds the memory or the disk is full."""
        for wait in (*TRIED_AGAIN_AFTER_S, None):
            try:
                return await self.commands.handle(event, denies_reply=denies_reply)
            except (StoreLocked, StoreFull) as error:
                if wait is None:
                    log.warning("a command failed", reason=str(error))
                else:
                    await asyncio.sleep(wait)
        if not is_command(event.text):
            return None
        # its row could not be written either
        await self.outbox.say_without_row(
            in_language(self.settings().bot.language)("chat.not_now"),
            _message_of(event),
        )
        return CommandAnswer("")


def _message_of(event: ChatEvent) -> str | None:
    """The message that an answer is shown under; Twitch shows none for a redemption."""
    return None if event.kind is EventKind.REDEMPTION else event.id


async def _logged(work: Coroutine[None, None, object]) -> None:
    """Log an expected failure; the event loop reports bugs."""
    try:
        await work
    except ForgetMeNotError as error:
        log.warning("a command failed", reason=str(error))
