"""People, streams and episodes to write notes from, a model that says what the test wants, and the prompt of a line."""

import asyncio
import json
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import TypeVar

import pytest
from msgspec.structs import replace

from forgetmenot.clock import ManualClock
from forgetmenot.domain import (
    ChatEvent,
    EventKind,
    Importance,
    ModelAnswer,
    ModelRequest,
    Note,
    NoteStatus,
    Prompt,
    Scope,
    SourceKind,
    TokenUsage,
)
from forgetmenot.durations import DAY, HOUR
from forgetmenot.memory.extraction import Extractor, ExtractReport
from forgetmenot.memory.recall import Recall
from forgetmenot.memory.summarizer import MemoryWriter
from forgetmenot.reply.context import ContextGatherer, compose
from forgetmenot.reply.prefix import PrefixKeeper
from forgetmenot.reply.triggers import Trigger, TriggerKind
from forgetmenot.settings.schema import Settings
from forgetmenot.store import notes, streams
from forgetmenot.store.database import Database
from forgetmenot.store.notes import NewNote
from tests.rows import put

NOW = 1_784_894_400_000
Writer = TypeVar("Writer", bound=MemoryWriter)


class Scripted:
    """A LanguageModel that keeps what it was asked and answers from a list (the last one again and again).

    Or as `reply` says. `meanwhile` happens while it thinks, once; while `gate` is not set, it goes on thinking.
    """

    name = "scripted"
    usage = TokenUsage()
    latency_ms = 0

    def __init__(self, *answers: str | BaseException) -> None:
        self._answers = list(answers)
        self.asked: list[ModelRequest] = []
        self.reply: Callable[[ModelRequest], str | BaseException] = self._next
        self.meanwhile: Callable[[], Awaitable[object]] | None = None
        self.gate: asyncio.Event | None = None

    def _next(self, _: ModelRequest) -> str | BaseException:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        self.asked.append(request)
        if self.gate is not None:
            await self.gate.wait()
        if self.meanwhile is not None:
            happens = self.meanwhile
            self.meanwhile = None
            await happens()
        answer = self.reply(request)
        if isinstance(answer, BaseException):
            raise answer
        return ModelAnswer(answer, self.name, self.usage, latency_ms=self.latency_ms)

    async def aclose(self) -> None:
        """Nothing to give back."""


class World:
    """A channel of which a test tells what happened; times are the clock's."""

    def __init__(self, db: Database, clock: ManualClock) -> None:
        self.db = db
        self.clock = clock
        self.settings = Settings()

    async def viewer(self, viewer_id: str, login: str, role: str = "viewer") -> str:
        """Somebody who is known."""
        now = self.clock.now()
        async with self.db.write() as tx:
            await put(
                tx,
                "viewers",
                id=viewer_id,
                login=login,
                role=role,
                first_seen_at=now,
                last_seen_at=now,
            )
        return viewer_id

    async def stream(self) -> int:
        """The next stream; the one before it is over."""
        async with self.db.write() as tx:
            await tx.execute(
                "UPDATE streams SET ended_at = ? WHERE ended_at IS NULL",
                (self.clock.now(),),
            )
            return await put(
                tx,
                "streams",
                started_at=self.clock.now(),
                last_event_at=self.clock.now(),
            )

    async def over(self, *attendees: str, recap: str | None = "Chat cooked.") -> int:
        """A stream of an hour to which they came, a day after the last; None: its recap is still to be written."""
        await self.clock.advance(DAY)
        stream = await self.stream()
        for viewer_id in attendees:
            await self.attends(viewer_id, stream)
        await self.clock.advance(HOUR)
        async with self.db.write() as tx:
            await streams.end(tx, stream, self.clock.now())
            if recap is not None:
                await streams.set_recap(tx, stream, recap, self.clock.now())
        return stream

    async def regulars(self, *viewers: str) -> None:
        """They came to five streams, all of which are over."""
        for _ in range(5):
            await self.over(*viewers, recap="")

    async def attends(self, viewer_id: str, stream_id: int) -> None:
        """Somebody came to a stream, now."""
        now = self.clock.now()
        async with self.db.write() as tx:
            await tx.execute(
                "UPDATE viewers SET last_seen_at = ? WHERE id = ?", (now, viewer_id)
            )
            await put(
                tx,
                "attendance",
                viewer_id=viewer_id,
                stream_id=stream_id,
                first_at=now,
                last_at=now,
                lines=1,
            )

    async def episode(
        self,
        summary: str,
        people: dict[str, tuple[int, int]],
        stream_id: int | None = None,
    ) -> int:
        """A window of chat; people with their lines and how many of them to the bot."""
        times = dict.fromkeys(
            ("started_at", "ended_at", "created_at"), self.clock.now()
        )
        async with self.db.write() as tx:
            episode_id = await put(
                tx, "episodes", stream_id=stream_id, summary=summary, events=30, **times
            )
            for viewer_id, (lines, addressed) in people.items():
                person = {
                    "viewer_id": viewer_id,
                    "lines": lines,
                    "addressed": addressed,
                }
                await put(tx, "episode_people", episode_id=episode_id, **person)
        return episode_id

    async def chat(self, *lines: tuple[str, str] | tuple[str, str, int]) -> int:
        """A window of chat whose lines are still there: who said what, and when (or now)."""
        line_counts = Counter(line[0] for line in lines)
        people = {viewer_id: (count, 0) for viewer_id, count in line_counts.items()}
        episode = await self.episode("<@1> and <@2> talked.", people)
        async with self.db.write() as tx:
            await tx.execute(
                "UPDATE episodes SET events = ? WHERE id = ?", (len(lines), episode)
            )
            for number, (viewer_id, text, *at) in enumerate(lines):
                row = {
                    "viewer_id": viewer_id,
                    "text": text,
                    "at": at[0] if at else self.clock.now(),
                }
                await put(
                    tx, "events", id=f"{episode}-{number}", episode_id=episode, **row
                )
        return episode

    async def note(
        self, fact: str, subject_id: str | None = "1", **fields: object
    ) -> int:
        """Something that is known: alice said it of herself, unless told otherwise."""
        plain = {
            "scope": Scope.VIEWER if subject_id else Scope.CHANNEL,
            "confidence": 0.8,
            "source_kind": SourceKind.SELF_CLAIM,
            "at": self.clock.now(),
        }
        new = NewNote(subject_id=subject_id, fact=fact, **(plain | fields))  # type: ignore[arg-type]
        async with self.db.write() as tx:
            return await notes.insert(tx, new, cause="said", now=self.clock.now())

    def writer(
        self, kind: type[Writer], *answers: str | Exception | list[object]
    ) -> tuple[Writer, Scripted]:
        """What writes memory, with a scripted model; a list stands for an answer with these notes."""
        model = Scripted(
            *(
                json.dumps({"notes": answer}) if isinstance(answer, list) else answer
                for answer in answers
            )
        )
        return kind(
            db=self.db, model=model, settings=lambda: self.settings, clock=self.clock
        ), model

    def extractor(
        self, *answers: str | Exception | list[object]
    ) -> tuple[Extractor, Scripted]:
        """An extractor with a scripted model."""
        return self.writer(Extractor, *answers)

    async def learn(
        self,
        *changes: object,
        people: dict[str, tuple[int, int]] | None = None,
        stream_id: int | None = None,
        summary: str = "<@1> and <@2> talked.",
    ) -> ExtractReport:
        """Read one new episode (alice P1, bob P2; both spoke) from which the model takes these changes; its report."""
        await self.episode(summary, people or {"1": (5, 1), "2": (3, 0)}, stream_id)
        extractor, _ = self.extractor(list(changes))
        return await extractor.run_pass()


@pytest.fixture
async def world(db: Database, clock: ManualClock) -> World:
    """A channel with alice (1), bob (2) and the streamer (9)."""
    made = World(db, clock)
    await made.viewer("1", "alice")
    await made.viewer("2", "bob")
    await made.viewer("9", "carol", "broadcaster")
    return made


@pytest.fixture
def recall(world: World) -> Recall:
    """What is remembered in that channel."""
    return Recall(db=world.db, settings=lambda: world.settings, clock=world.clock)


def change(**fields: object) -> dict[str, object]:
    """One proposed change: alice (P1) says that she plays drums, unless told otherwise."""
    plain = {
        "who": "P1",
        "said_by": "P1",
        "fact": "plays drums in a band",
        "confidence": 0.8,
    }
    return {
        **plain,
        "lifetime": "permanent",
        "topics": ["music"],
        "asked_with": ["instrument"],
        **fields,
    }


def note(note_id: int, fact: str, **changes: object) -> Note:
    """A note that nothing distinguishes but its fact, and what is named."""
    plain = Note(
        note_id,
        Scope.VIEWER,
        "7",
        fact,
        0.8,
        NoteStatus.ACTIVE,
        SourceKind.SELF_CLAIM,
        Importance.MEDIUM,
        (),
        (),
        NOW,
        NOW,
        NOW,
        None,
        False,
        None,
        None,
        pinned=False,
        episode_ids=(),
    )
    return replace(plain, **changes)


async def live(world: World, viewer_id: str | None = "1") -> list[Note]:
    """The notes in use about a viewer, or the channel."""
    return await notes.of_subject(world.db, viewer_id)


async def prompt_for(world: World, viewer_id: str, login: str, text: str) -> Prompt:
    """What the model would see if this viewer said that now."""
    recall = Recall(db=world.db, settings=lambda: world.settings, clock=world.clock)
    keeper = PrefixKeeper(db=world.db, recall=recall, settings=lambda: world.settings)
    event = ChatEvent(
        "dry",
        EventKind.MESSAGE,
        viewer_id,
        login,
        login.title(),
        text,
        world.clock.now(),
    )
    gatherer = ContextGatherer(db=world.db, recall=recall, clock=world.clock)
    trigger = Trigger(TriggerKind.MENTION, event, text)
    return (await compose(keeper, gatherer, trigger, world.settings, bot_id="")).prompt


def section(prompt: Prompt, name: str) -> str:
    return "".join(part.text for part in prompt.sections if part.name == name)
