"""What happens with a line of chat: it is remembered; it is a command; it is answered; or none of these.

Promises: every line is counted exactly once; nothing that may speak comes from a line that was handled before, in this
run or an earlier one; the bot's own lines come back as proof of delivery and are nothing else. It decides nothing
about words: commands and replies are other rooms.
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence

from forgetmenot.chat.patience import Patience
from forgetmenot.chat.room import Room
from forgetmenot.chat.whom import moderates
from forgetmenot.domain.chat import ChatEvent, Redaction
from forgetmenot.errors import ForgetMeNotError, StoreError
from forgetmenot.logs import log
from forgetmenot.memory.exclusion import is_bot
from forgetmenot.memory.ingest import Ingest
from forgetmenot.reply.engine import ReplyEngine
from forgetmenot.reply.outbox import Outbox
from forgetmenot.settings.schema import Settings
from forgetmenot.store import events
from forgetmenot.store.database import Database
from forgetmenot.text.commands import is_command
from forgetmenot.twitch.chat_lines import ChannelNotice, Other, OtherRoom, RoomState, Unparsed

Command = Callable[[ChatEvent], Awaitable[str | None]]
Heard = ChatEvent | Redaction | RoomState | ChannelNotice | OtherRoom | Unparsed | Other


class Router:
    """Takes what a source hears, in order. `commands` are asked one after the other; the first that answers is it."""

    def __init__(
        self,
        *,
        db: Database,
        ingest: Ingest,
        engine: ReplyEngine,
        outbox: Outbox,
        commands: Sequence[Command],
        settings: Callable[[], Settings],
        room: Room,
    ) -> None:
        self._db = db
        self._ingest = ingest
        self._engine = engine
        self._outbox = outbox
        self._commands = commands
        self._settings = settings
        self._room = room
        self._patience = Patience()
        self._working: set[asyncio.Task[None]] = set()

    async def hear(self, item: Heard) -> None:
        """Take one item in; what has to be said about it is said in a task of its own."""
        if isinstance(item, ChatEvent):
            await self._line(item)
        elif isinstance(item, Redaction):
            self._ingest.take(item)
        else:
            if isinstance(item, RoomState):
                self._room.heard(item)
            self._ingest.note(outcome_of(item))

    def say(self, line: str) -> None:
        """Say something of nobody's asking, beside everything else."""
        self._start(self._announce(line))

    async def idle(self) -> None:
        """Wait until every command that was typed has its answer."""
        while self._working:
            await asyncio.wait(self._working)

    async def _line(self, event: ChatEvent) -> None:
        if event.user_id == self._ingest.own_id:
            self._ingest.take(event)
            await self._outbox.seen_in_chat(event.text)
            return
        asks = self._engine.is_asked(event)
        is_new = not (asks or is_command(event.text)) or await self._is_new(event.id)
        self._ingest.take(event, addressed=asks)
        if not is_new or is_bot(self._settings().memory, event.login, event.user_id, event.badges):
            return
        if asks or is_command(event.text):
            self._start(self._command_or_reply(event))
        else:
            self._engine.take(event)

    async def _is_new(self, event_id: str) -> bool:
        """Whether it was never heard before, also not by an earlier run: only such a line may make the bot speak."""
        try:
            await self._ingest.flush()
            return await events.by_id(self._db, event_id) is None
        except StoreError:  # told by whoever writes; without a disk nothing is said
            return False

    def _start(self, work: Coroutine[None, None, None]) -> None:
        """Do it beside the reading: a moderator's yes may take seconds, chat does not wait for it."""
        task = asyncio.create_task(_told(work), name="command or reply")
        self._working.add(task)
        task.add_done_callback(self._working.discard)

    async def _command_or_reply(self, event: ChatEvent) -> None:
        for command in self._commands:
            line = await command(event)
            if line is not None:
                await self._tell(line, event)
                return
        self._engine.take(event)

    async def _announce(self, line: str) -> None:
        outcome = await self._outbox.tell(line, trigger="notice")
        log.info("notice given", outcome=outcome.kind)

    async def _tell(self, line: str, event: ChatEvent) -> None:
        """Answer a command: moderators always; everybody else a few times, and never in the places for replies."""
        may = moderates(event)
        if not line or not (may or self._patience.allows(event.user_id, event.at)):
            return
        outcome = await self._outbox.tell(
            line, reply_to=event.id, viewer_id=event.user_id, to=event.login, spare=not may
        )
        log.info("command answered", outcome=outcome.kind)


def outcome_of(item: Heard) -> str:
    """How a line is counted that holds nothing to store."""
    if isinstance(item, OtherRoom):
        return "other_room"
    return "unparsed" if isinstance(item, Unparsed) else "other"


async def _told(work: Coroutine[None, None, None]) -> None:
    """Let a trouble that is expected be told in the log; a bug is shown by the event loop."""
    try:
        await work
    except ForgetMeNotError as error:
        log.warning("a command failed", reason=str(error))
