"""A bot on a stage: everything real but Twitch and the model; and the fakes of those ports."""

import asyncio
import contextlib
import json
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Collection,
    Coroutine,
    Iterable,
    Mapping,
)
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from forgetmenot.app.bot import Bot, BotIdentity, NoAccount, open_bot
from forgetmenot.clock import ManualClock
from forgetmenot.domain import (
    Asker,
    ChatEvent,
    EventKind,
    ModelRequest,
    OperationResult,
    Outcome,
    OutcomeKind,
    Scope,
    SourceKind,
    TokenUsage,
)
from forgetmenot.errors import ForgetMeNotError
from forgetmenot.llm.build import Models, build_models
from forgetmenot.llm.guarded import GuardedModel, Limits
from forgetmenot.memory.recall import Recall
from forgetmenot.operations.executor import Executor
from forgetmenot.operations.types import ActionPorts
from forgetmenot.ports import CallMeter, LanguageModel
from forgetmenot.reply.context import ContextGatherer
from forgetmenot.reply.engine import Reply, ReplyEngine
from forgetmenot.reply.outbox import Outbox
from forgetmenot.reply.own_name import Identity
from forgetmenot.reply.prefix import PrefixKeeper
from forgetmenot.reply.writer import ReplyWriter
from forgetmenot.secret_store import Account
from forgetmenot.settings.load import convert
from forgetmenot.settings.schema import (
    ActionSettings,
    BotSettings,
    ClassMode,
    Mode,
    ModelSettings,
    ReplySettings,
    Settings,
)
from forgetmenot.store import bot_messages, channel_state, notes
from forgetmenot.store.database import Database
from forgetmenot.store.notes import NewNote
from tests.loopback_servers.openai import SimOpenAI
from tests.notes_world import Scripted
from tests.rows import put


@dataclass
class FakeChat:
    """A ChatOut that remembers what was said and answers as it was told."""

    clock: ManualClock
    said: list[tuple[int, str, str | None]] = field(default_factory=list)
    answers: list[Outcome | ForgetMeNotError] = field(default_factory=list)

    gate: asyncio.Event | None = None

    async def say(self, text: str, reply_to: str | None = None) -> Outcome:
        self.said.append((self.clock.now(), text, reply_to))
        if self.gate is not None:
            await self.gate.wait()
        answer = (
            self.answers.pop(0)
            if self.answers
            else Outcome(OutcomeKind.DONE, twitch_id=f"t{len(self.said)}")
        )
        if isinstance(answer, ForgetMeNotError):
            raise answer
        return answer


def _recorder(
    name: str, noted_arguments: int | None = None
) -> Callable[..., Coroutine[Any, Any, Outcome]]:
    async def act(
        self: "RecordingAccount", *arguments: object, **options: object
    ) -> Outcome:
        return await self.act(name, *arguments[:noted_arguments], *options.values())

    return act


@dataclass
class RecordingAccount(NoAccount):
    """An account that notes what it was asked to say and do. `answer`: what Twitch answers to an action, or raises."""

    said: list[str] = field(default_factory=list)
    done_actions: list[str] = field(default_factory=list)
    answer: Outcome | Exception = field(
        default_factory=lambda: Outcome(OutcomeKind.DONE)
    )
    immune: set[str] = field(default_factory=set)
    missing: str = ""
    immunity_error: Exception | None = None
    before: Callable[[], Awaitable[object]] | None = None

    # of these two the reason is not noted
    timeout = _recorder("timeout", 2)
    ban = _recorder("ban", 1)
    pin_message = _recorder("pin")
    untimeout = _recorder("untimeout")
    shoutout = _recorder("shoutout")
    announce = _recorder("announce")
    delete_message = _recorder("delete")
    set_slow_mode = _recorder("slow")
    set_emote_only = _recorder("emote_only")
    create_marker = _recorder("marker")
    create_clip = _recorder("clip")
    set_channel = _recorder("channel")

    async def act(self, name: str, *words: object) -> Outcome:
        self.done_actions.append(
            " ".join(
                [name, *(str(word).removeprefix("id-") for word in words if word != "")]
            )
        )
        if self.before is not None:
            await self.before()
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    async def say(self, text: str, reply_to: str | None = None) -> Outcome:  # noqa: ARG002  # the port's name
        self.said.append(text)
        return Outcome(OutcomeKind.DONE, twitch_id=f"sent-{len(self.said)}")

    async def lacks(self, _scopes: Mapping[Account, Collection[str]]) -> str:
        return self.missing

    async def is_immune(self, user_id: str) -> bool:
        if self.immunity_error is not None:
            raise self.immunity_error
        return user_id in self.immune


class NoMeter:
    """A CallMeter that counts nothing."""

    async def record(self, *_call: object) -> None:
        return None


@pytest.fixture
def chat(clock: ManualClock) -> FakeChat:
    return FakeChat(clock)


def answering(
    say: str, name: str = "", *, if_refused: str = "", **parameters: object
) -> str:
    """An answer as the schema wants it, with an action if one is named."""
    action = {"name": name, **parameters} if name else None
    return json.dumps({"action": action, "say": say, "if_refused": if_refused})


class ScriptedModel(Scripted):
    """Answers what it is told to, plain words as the object that is asked for."""

    usage = TokenUsage(1_000, 600, 20, 0)
    latency_ms = 7

    def __init__(self, answers: Iterable[str | ForgetMeNotError] = ()) -> None:
        super().__init__()
        self.answers = list(answers)
        self.reply = self._say

    def _say(self, request: ModelRequest) -> str | BaseException:
        answer = (
            self.answers.pop(0)
            if self.answers
            else f"Answer number {len(self.asked)} it is."
        )
        if (
            isinstance(answer, BaseException)
            or answer.startswith("{")
            or not request.schema
        ):
            return answer
        return answering(answer)


PEOPLE = {"1": "alice", "2": "bob", "3": "carol"}


BOT = Identity("99", "forgetmenot_bot", "ForgetMeNot")
ACTIVE = Settings(
    bot=BotSettings(mode=Mode.MENTIONS),
    actions=ActionSettings(class_b=ClassMode.LIVE, newcomer_protection=False),
    # the rest of a question is not waited for: most tests move no clock
    reply=ReplySettings(gather_s=0),
)


class Stage:
    """A bot on a stage: everything real but Twitch and the model."""

    def __init__(self, db: Database, clock: ManualClock, chat: FakeChat) -> None:
        self.db = db
        self.clock = clock
        self.chat = chat
        self.settings = ACTIVE
        self.model = ScriptedModel()
        self.moderation = RecordingAccount()
        self.lines = 0
        self.room_modes = frozenset[str]()
        self.outbox = Outbox(db=db, out=chat, clock=clock, settings=self._settings)
        recall = Recall(db=db, settings=self._settings, clock=clock)
        self.keeper = PrefixKeeper(db=db, recall=recall, settings=self._settings)
        executor = Executor(
            db=db,
            ports=ActionPorts(self.moderation, self._refuse),
            settings=self._settings,
            clock=clock,
            room_modes=lambda: self.room_modes,
        )
        self.writer = ReplyWriter(
            db=db,
            clock=clock,
            model=self.model,
            gatherer=ContextGatherer(db=db, recall=recall, clock=clock),
            keeper=self.keeper,
            outbox=self.outbox,
            executor=executor,
            identity=lambda: BOT,
            flush=self._flush,
        )
        self.engine = ReplyEngine(self.writer, settings=self._settings)

    def _settings(self) -> Settings:
        return self.settings

    async def _refuse(
        self, _name: str, _params: Mapping[str, object], _asker: Asker
    ) -> OperationResult:
        """A memory that takes nothing from the model."""
        return OperationResult(ok=False, code="refused")

    async def _flush(self) -> None:
        """All that is heard is stored at once."""

    async def hear(
        self,
        text: str,
        viewer: str = "1",
        *,
        badges: tuple[str, ...] = (),
        **more: Any,  # noqa: ANN401
    ) -> ChatEvent:
        """Somebody says something: it is in tier 1."""
        login = PEOPLE[viewer]
        now = self.clock.now()
        self.lines += 1
        made = (
            f"e{self.lines}",
            EventKind.MESSAGE,
            viewer,
            login,
            login.title(),
            text,
            now,
        )
        async with self.db.write() as tx:
            await put(tx, "events", id=made[0], viewer_id=viewer, text=text, at=now)
        return ChatEvent(*made, badges=frozenset(badges), **more)

    async def ask(self, text: str, viewer: str = "1", **more: Any) -> Reply | None:  # noqa: ANN401
        """Somebody says something, and the bot considers it."""
        return await self.engine.consider(await self.hear(text, viewer, **more))

    async def reply(self, text: str, viewer: str = "1", **more: Any) -> Reply:  # noqa: ANN401
        """Somebody says something that the bot answers, or has a reason not to."""
        considered = await self.ask(text, viewer, **more)
        assert considered is not None
        return considered

    async def know(
        self, fact: str, viewer: str | None = "1", scope: Scope = Scope.VIEWER
    ) -> int:
        """A note."""
        async with self.db.write() as tx:
            new = NewNote(
                scope, viewer, fact, 0.9, SourceKind.SELF_CLAIM, self.clock.now()
            )
            return await notes.insert(tx, new, cause="test", now=self.clock.now())

    async def row(self, reply_id: int) -> bot_messages.BotMessage:
        message = await bot_messages.get(self.db, reply_id)
        assert message is not None
        return message

    @property
    def said(self) -> list[str]:
        return [text for _, text, _ in self.chat.said]


@pytest.fixture
async def stage(
    db: Database, clock: ManualClock, chat: FakeChat
) -> AsyncIterator[Stage]:
    async with db.write() as tx:
        for key, login in PEOPLE.items():
            await put(
                tx,
                "viewers",
                id=key,
                login=login,
                first_seen_at=clock.now(),
                last_seen_at=clock.now(),
            )
        await put(
            tx, "streams", id=1, started_at=clock.now(), last_event_at=clock.now()
        )
        await channel_state.put(tx, {"live": "1", "title": "Racing"}, clock.now())
    made = Stage(db, clock, chat)
    async with working(made.outbox.run()):
        yield made
        await made.engine.aclose()


# ── a whole bot ─────────────────────────────────────────────────────────────────────────────


def asking(server: SimOpenAI, **tables: Any) -> Settings:  # noqa: ANN401  # as a settings file has them
    """Settings of a bot that answers when it is asked, and whose model is that server."""
    model = {
        "provider": "openai_compatible",
        "base_url": server.url,
        "reply_model": "m",
        "memory_model": "m",
    }
    plain = {
        "bot": {"mode": "mentions"},
        "twitch": {"channel": "carol"},
        "model": model,
    }
    return convert({**plain, **tables}, "the test")


async def until(there: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until something holds, whatever it looks at.

    Raises TimeoutError; the limit is for what never comes, not for a machine that is busy.
    """
    async with asyncio.timeout(seconds):
        while not there():  # noqa: ASYNC110  # the state of another task, thread or process
            await asyncio.sleep(0.01)


@contextlib.asynccontextmanager
async def working(*work: Awaitable[object]) -> AsyncIterator[None]:
    """Work that goes on beside the block, and is stopped at its end."""
    tasks = [asyncio.ensure_future(awaitable) for awaitable in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def said(
    clock: ManualClock,
    event_id: str,
    viewer_id: str,
    login: str,
    text: str,
    *badges: str,
) -> ChatEvent:
    made = (
        event_id,
        EventKind.MESSAGE,
        viewer_id,
        login,
        login.title(),
        text,
        clock.now(),
    )
    return ChatEvent(*made, badges=frozenset(badges))


@contextlib.asynccontextmanager
async def live_bot(
    path: Path,
    clock: ManualClock,
    settings: Callable[[], Settings],
    model: LanguageModel | None = None,
) -> AsyncIterator[tuple[Bot, RecordingAccount]]:
    """A bot and its account. `model`: in place of that of the settings, guarded as that one."""
    account = RecordingAccount()
    me = BotIdentity("99", "forgetmenot_bot")

    def scripted(_: ModelSettings, meter: CallMeter) -> Models:
        made = cast("LanguageModel", model)
        limits = Limits(60, 60, 0)
        return Models(
            *(
                GuardedModel(made.name, lambda: made, meter=meter, limits=limits)
                for _ in range(2)
            )
        )

    models = scripted if model is not None else build_models
    async with open_bot(
        path, settings=settings, clock=clock, account=account, me=me, models=models
    ) as bot:
        yield bot, account
