"""A chat with alice, bob, the moderator carol and the bot's commands in it; everything is real but Twitch."""

from dataclasses import dataclass, field
from typing import Any, NoReturn

import pytest

from forgetmenot.chat import ChatCommands
from forgetmenot.clock import ManualClock
from forgetmenot.domain import Asker, ChatEvent, EventKind, Outcome, OutcomeKind, Proposal, Surface
from forgetmenot.memory.erasure import Eraser
from forgetmenot.memory.ingest import Ingest
from forgetmenot.memory.rights import Rights
from forgetmenot.memory.stream_tracker import StreamTracker
from forgetmenot.operations.executor import Executor
from forgetmenot.operations.facts import ActionContext
from forgetmenot.operations.run import run
from forgetmenot.operations.table import OPERATIONS
from forgetmenot.operations.types import ActionPorts, OperationContext
from forgetmenot.reply.explain import explain, one_line
from forgetmenot.reply.triggers import Identity
from forgetmenot.settings.schema import BotSettings, MemorySettings, Mode, PrivacySettings, Settings
from forgetmenot.store import bot_messages, channel_state, notes
from forgetmenot.store.bot_messages import ReplyStatus
from forgetmenot.store.database import Database

IDS = {"alice": "1001", "bob": "1002", "carol": "1003", "dave": "1004", "helperbot": "1005", "forgetmenot_bot": "99"}
MODERATOR = frozenset({"moderator"})
BOT = Identity("99", "forgetmenot_bot", "ForgetMeNot")
SETTINGS = Settings(
    bot=BotSettings(mode=Mode.MENTIONS),
    privacy=PrivacySettings(privacy_url="https://example.org/privacy"),
    memory=MemorySettings(known_bots=("helperbot",), ignored_viewers=("dave",)),
)


class Titles:
    """A Moderation that can change titles, and nothing else."""

    def __init__(self) -> None:
        self.titles: list[str] = []

    async def set_channel(self, *, title: str | None = None, category: str | None = None) -> Outcome:
        assert category is None
        self.titles.append(title or "")
        return Outcome(OutcomeKind.DONE)

    def __getattr__(self, name: str) -> NoReturn:
        raise AssertionError(name)


@dataclass
class Chat:
    """People type, the commands answer."""

    db: Database
    clock: ManualClock
    ingest: Ingest
    eraser: Eraser
    executor: Executor
    context: OperationContext
    commands: ChatCommands
    account: Titles
    badges: dict[str, frozenset[str]] = field(
        default_factory=lambda: dict.fromkeys(("carol", "dave", "helperbot", "forgetmenot_bot"), MODERATOR)
    )
    count: int = 0

    def event(self, who: str, text: str) -> ChatEvent:
        self.count += 1
        now, badges = self.clock.now(), self.badges.get(who, frozenset())
        user_id = IDS.get(who, "2000")
        return ChatEvent(f"m{self.count}", EventKind.MESSAGE, user_id, who, who.title(), text, now, badges=badges)

    async def say(self, who: str, text: str) -> str | None:
        """Somebody types a line: it is taken in, and the commands are asked."""
        await self.clock.advance(1_000)
        event = self.event(who, text)
        self.ingest.take(event)
        return await self.commands.handle(event)

    async def act(self, name: str, by: str, line: str = "", **params: str) -> str:
        """The model asks for an operation that the policy allowed; the result's code."""
        asker = Asker(Surface.MODEL, IDS[by], line_id=line)
        return (await run(self.context, name, params, asker)).code

    async def replied(self, to: str, note: str, trigger: str = "mention") -> int:
        """The bot said something to somebody, and used a note."""
        async with self.db.write() as tx:
            reply = await bot_messages.begin(
                tx, at=self.clock.now(), event_id=None, viewer_id=IDS[to], trigger=trigger, mode="mentions"
            )
            await bot_messages.record_answer(tx, reply, model="m", latency_ms=1, usage={}, filters=(), used=[int(note)])
            await bot_messages.settle(tx, reply, ReplyStatus.SENT, text="As I remember it.")
        return reply

    async def facts(self, who: str | None) -> list[str]:
        return [note.fact for note in await notes.of_subject(self.db, IDS[who] if who else None)]

    async def propose(self, title: str, bot_message_id: int | None = None) -> int:
        """The model proposes a title, which a moderator has to approve."""
        context = ActionContext(event=self.event("carol", "new title"), key=title, bot_message_id=bot_message_id)
        return (await self.executor.carry_out(Proposal("title", {"text": title}), context)).log_id or 0


@pytest.fixture
async def chat(db: Database, clock: ManualClock) -> Chat:
    async with db.write() as tx:
        await channel_state.put(tx, {"bot_id": "99"}, clock.now())
    stream_tracker = StreamTracker(db)
    ingest = Ingest(db=db, stream_tracker=stream_tracker, settings=lambda: SETTINGS, clock=clock)
    eraser, account = Eraser(db=db, clock=clock, before=(ingest.flush,)), Titles()
    ports: Any = account
    executor = Executor(db=db, ports=ActionPorts(ports, ports), settings=lambda: SETTINGS, clock=clock)

    async def explained(reply_id: int) -> str:
        return one_line(await explain(db, reply_id))

    context = OperationContext(
        db=db,
        settings=lambda: SETTINGS,
        clock=clock,
        table=OPERATIONS,
        approvals=executor,
        eraser=eraser,
        rights=Rights(db=db, clock=clock, eraser=eraser, flush=ingest.flush),
        flush=ingest.flush,
        explain_reply=explained,
    )
    made = Chat(db, clock, ingest, eraser, executor, context, ChatCommands(context, lambda: BOT), account)
    for who in ("alice", "bob", "carol"):
        await made.say(who, "hello")
    await ingest.flush()
    return made
