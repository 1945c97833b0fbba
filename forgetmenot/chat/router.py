"""What happens with a line of chat: it is remembered; it is a command; it is answered; or none of these.

Promises: every line is counted exactly once; nothing that may speak comes from a line that was handled before, in this
run or an earlier one; the bot's own lines come back as proof of delivery and are nothing else. It decides nothing
about words: commands and replies are other rooms.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from forgetmenot.domain.chat import ChatEvent, Redaction
from forgetmenot.logs import log
from forgetmenot.memory.exclusion import Exclusion
from forgetmenot.memory.ingest import Ingest
from forgetmenot.reply.engine import ReplyEngine
from forgetmenot.reply.outbox import Outbox
from forgetmenot.settings.schema import Settings
from forgetmenot.store import events
from forgetmenot.store.database import Database
from forgetmenot.twitch.irc import ChannelNotice, Other, OtherRoom, RoomState, Unparsed

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
    ) -> None:
        self._db = db
        self._ingest = ingest
        self._engine = engine
        self._outbox = outbox
        self._commands = commands
        self._settings = settings
        self._answers: set[asyncio.Task[None]] = set()

    async def hear(self, item: Heard) -> None:
        """Take one item in; what has to be said about it is said in a task of its own."""
        if isinstance(item, ChatEvent):
            await self._line(item)
        elif isinstance(item, Redaction):
            self._ingest.take(item)
        elif isinstance(item, OtherRoom):
            self._ingest.note("other_room")
        elif isinstance(item, Unparsed):
            self._ingest.note("unparsed")
        else:
            self._ingest.note("other")

    async def idle(self) -> None:
        """Wait until every command that was typed has its answer."""
        while self._answers:
            await asyncio.wait(self._answers)

    async def _line(self, event: ChatEvent) -> None:
        if event.user_id == self._ingest.own_id:
            await self._outbox.seen_in_chat(event.text)
            self._ingest.take(event)
            return
        asks = self._engine.is_asked(event)
        may_speak = asks or event.text.lstrip().startswith(("!", "！"))
        if may_speak and await self._is_known(event.id):
            self._ingest.take(event)
            return
        self._ingest.take(event, addressed=asks)
        if self._is_bot(event):
            return
        if may_speak and await self._is_command(event):
            return
        self._engine.take(event)

    async def _is_known(self, event_id: str) -> bool:
        await self._ingest.flush()
        return await events.by_id(self._db, event_id) is not None

    def _is_bot(self, event: ChatEvent) -> bool:
        why = Exclusion.of(self._settings().memory, (), self._ingest.own_id).why(event)
        return why == "known_bot"

    async def _is_command(self, event: ChatEvent) -> bool:
        """Whether one of the commands takes it; its answer is sent in a task of its own."""
        for command in self._commands:
            line = await command(event)
            if line is not None:
                self._say(line, event)
                return True
        return False

    def _say(self, line: str, event: ChatEvent) -> None:
        task = asyncio.create_task(self._tell(line, event), name="answer to a command")
        self._answers.add(task)
        task.add_done_callback(self._answers.discard)

    async def _tell(self, line: str, event: ChatEvent) -> None:
        if not line:
            return
        outcome = await self._outbox.tell(line, reply_to=event.id, viewer_id=event.user_id)
        log.info("command answered", outcome=outcome.kind)
