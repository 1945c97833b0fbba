"""How often the right note is among the first ten, asked in several ways, and how long it took."""

import json
import random
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from forgetmenot.clock import DAY, ManualClock, iso
from forgetmenot.memory.copies.notes_in import import_notes
from forgetmenot.memory.episodes import past
from forgetmenot.memory.ranking import by_recency
from forgetmenot.memory.recall import Recall
from forgetmenot.memory.silence import Silence
from forgetmenot.settings.schema import Settings
from forgetmenot.store import notes, viewers
from forgetmenot.store.database import Database, open_database
from scoring.conversations import NOW, Conversation, Question, read_conversation, with_typos

LIMIT = 10
SEED = 7
CATEGORIES = {1: "several facts", 2: "when", 3: "inference", 4: "one fact", 5: "asked wrongly"}
JUNK = (
    "had a sandwich during the break",
    "is a little tired tonight",
    "said hello to everybody in chat",
    "likes the new overlay a lot",
    "came in with the raid",
    "asked what the weather is like",
    "was late because of the bus",
    "typed everything in capital letters",
    "laughed at the joke about ducks",
    "wants the song to be louder",
)


@dataclass
class Score:
    """Sums over questions."""

    asked: int = 0
    answered: int = 0
    at5: float = 0.0
    at10: float = 0.0
    reciprocal: float = 0.0
    ms: list[float] = field(default_factory=list)

    def add(self, found: Sequence[int], wanted: frozenset[int], ms: float) -> None:
        """Count one answer."""
        ranks = [rank for rank, note in enumerate(found, start=1) if note in wanted]
        self.asked += 1
        self.answered += bool(found)
        self.at5 += sum(rank <= 5 for rank in ranks) / len(wanted)
        self.at10 += len(ranks) / len(wanted)
        self.reciprocal += 1 / ranks[0] if ranks else 0.0
        self.ms.append(ms)

    def told(self) -> dict[str, float]:
        """The means."""
        ordered = sorted(self.ms)
        return {
            "questions": self.asked,
            "answered": round(self.answered / self.asked, 4),
            "recall@5": round(self.at5 / self.asked, 4),
            "recall@10": round(self.at10 / self.asked, 4),
            "mrr": round(self.reciprocal / self.asked, 4),
            "ms_p50": round(ordered[len(ordered) // 2], 3),
            "ms_p95": round(ordered[int(len(ordered) * 0.95)], 3),
        }


Scores = dict[str, Score]


@asynccontextmanager
async def memory_of(lines: Iterable[dict[str, Any]], folder: Path) -> AsyncIterator[tuple[Database, Recall]]:
    """A memory with these notes, and recall on it."""
    settings = Settings()
    async with open_database(folder / "memory.sqlite3") as db:
        report = await import_notes(db, (json.dumps(line) for line in lines), now=NOW, filtered=False)
        if report.refused:
            raise SystemExit(f"{len(report.refused)} lines were refused; the first: {report.refused[0]}")
        yield db, Recall(db=db, settings=lambda: settings, clock=ManualClock(NOW))


async def ask_all(scores: dict[str, Scores], conversation: Conversation, folder: Path) -> None:
    """Ask every question in each of the ways."""
    dice = random.Random(SEED)  # noqa: S311  # the same slips in every run
    async with memory_of(conversation.lines, folder) as (db, recall):
        ids = await viewers.find_many(db, list(conversation.people.values()))
        await _ask(scores["recall"], conversation, recall, ids, lambda text: text)
        await _ask(scores["with typos"], conversation, recall, ids, lambda text: with_typos(text, dice))
        await _plain(scores["recency alone"], conversation, db, ids)
        await _episodes(scores, conversation, db, recall)
        await import_notes(db, (json.dumps(line) for line in _junk(conversation)), now=NOW, filtered=False)
        await _ask(scores["with junk"], conversation, recall, ids, lambda text: text)
        await _plain(scores["recency with junk"], conversation, db, ids)


async def _ask(
    scores: Scores, conversation: Conversation, recall: Recall, ids: dict[str, str], change: Callable[[str], str]
) -> None:
    for warm_up in ({one.viewers for one in conversation.questions}, ()):
        for about in warm_up:
            await recall.about_viewers([ids[viewer] for viewer in about], "hello", LIMIT)
    for question in conversation.questions:
        text = change(question.text)
        started = perf_counter()
        query = recall.query(text, names=conversation.people)
        found = await recall.about_viewers([ids[viewer] for viewer in question.viewers], query, LIMIT)
        _count(scores, question, [one.note.id for one in found], started)


async def _plain(scores: Scores, conversation: Conversation, db: Database, ids: dict[str, str]) -> None:
    for question in conversation.questions:
        started = perf_counter()
        held = [note for viewer in question.viewers for note in await notes.of_subject(db, ids[viewer])]
        _count(scores, question, [one.note.id for one in by_recency(held, now=NOW, limit=LIMIT)], started)


async def _episodes(scores: dict[str, Scores], conversation: Conversation, db: Database, recall: Recall) -> None:
    """The three that fit a question best; and the one that a prompt would tell of, if any."""
    rows = await db.rows("SELECT id, key FROM episodes")
    session_of = {int(row["id"]): str(row["key"]) for row in rows}
    for question in conversation.questions:
        query = recall.query(question.text, names=conversation.people)
        for way, search in (
            ("episodes", past.fitting(db, query, 3)),
            ("past", past.spoken_of(db, query, Silence(), 1)),
        ):
            started = perf_counter()
            found = await search
            ms = (perf_counter() - started) * 1_000
            right = [any(session_of[episode.id] in question.sessions for episode in found)] if found else []
            scores[way]["all"].add([int(hit) for hit in right], frozenset({1}), ms)


def _count(scores: Scores, question: Question, found: list[int], started: float) -> None:
    ms = (perf_counter() - started) * 1_000
    scores["all"].add(found, question.wanted, ms)
    scores[CATEGORIES.get(question.category, "other")].add(found, question.wanted, ms)


def _junk(conversation: Conversation) -> Iterable[dict[str, Any]]:
    for viewer in conversation.people.values():
        for fact in JUNK:
            yield {"viewer": viewer, "fact": fact, "confidence": 0.9, "observed_at": iso(NOW)}


async def time_filled(conversation: Conversation, fill: int, folder: Path) -> dict[str, float]:
    """The same questions in a memory with `fill` notes about other people, 150 each; and how long the import took."""
    facts = [str(line["fact"]) for line in conversation.lines]
    others = (
        {
            "id": 1_000_000 + index,
            "viewer": f"other_{index // 150}",
            "fact": f"{facts[index % len(facts)]} {index}",
            "observed_at": iso(NOW - index % 300 * DAY),
            "episode": {"key": f"other-{index // 6}", "summary": " and ".join(facts[index % 97 : index % 97 + 4])},
        }
        for index in range(fill)
    )
    started = perf_counter()
    async with memory_of([*conversation.lines, *others], folder) as (db, recall):
        import_s = perf_counter() - started
        ids = await viewers.find_many(db, list(conversation.people.values()))
        scores: Scores = defaultdict(Score)
        await _ask(scores, conversation, recall, ids, lambda text: text)
        cold = sorted([await _cold(recall, db, number) for number in range(0, fill // 150, max(1, fill // 150 // 50))])
        told = scores["all"].told()
        return {
            "notes": fill + len(conversation.lines),
            "import_s": round(import_s, 2),
            "warm_ms_p50": told["ms_p50"],
            "warm_ms_p95": told["ms_p95"],
            "cold_ms_p50": round(cold[len(cold) // 2], 2),
            "cold_ms_p95": round(cold[int(len(cold) * 0.95)], 2),
        }


async def _cold(recall: Recall, db: Database, number: int) -> float:
    ids = await viewers.find_many(db, [f"other_{number}"])
    started = perf_counter()
    await recall.about_viewer(ids[f"other_{number}"], "what do they play on the weekend")
    return (perf_counter() - started) * 1_000


async def measure(data: Path, fill: int) -> dict[str, Any]:
    """All figures."""
    conversations = [
        read_conversation(raw, 1 + 10_000 * index)
        for index, raw in enumerate(json.loads(data.read_text(encoding="utf-8")))
    ]
    scores: dict[str, Scores] = defaultdict(lambda: defaultdict(Score))
    for conversation in conversations:
        with tempfile.TemporaryDirectory() as folder:
            await ask_all(scores, conversation, Path(folder))
    told: dict[str, Any] = {
        way: {kind: score.told() for kind, score in sorted(by_kind.items())} for way, by_kind in scores.items()
    }
    if fill:
        with tempfile.TemporaryDirectory() as folder:
            told["filled"] = await time_filled(conversations[0], fill, Path(folder))
    return told
