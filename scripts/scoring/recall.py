"""How often the right note is among the first ten, asked in several ways, beside other ways, and how long it took."""

import json
import random
import tempfile
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

from forgetmenot.clock import DAY, ManualClock, iso
from forgetmenot.memory import past_episodes
from forgetmenot.memory.ranking import FITS, Candidate, query_of
from forgetmenot.memory.recall import Recall, candidates_of
from forgetmenot.memory.suppression import SuppressionFilter
from forgetmenot.memory.transfer import import_notes
from forgetmenot.settings.schema import Settings
from forgetmenot.store import viewers
from forgetmenot.store.database import Database, open_database
from scoring.conversations import NOW, Conversation, Question, in_chat, read_conversation, with_typos
from scoring.rivals import rankers

LIMIT = 10
ROUNDS = 3
SEED = 7
SIZES = (10, 20, 50, 100, 200, 400)  # notes per person
THRESHOLDS = (0.1, 0.2, FITS, 0.4, 0.5)
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

    def add(self, found: Sequence[int], wanted: Collection[int], ms: float) -> None:
        """Count one answer."""
        ranks = [rank for rank, note in enumerate(found, start=1) if note in wanted]
        self.asked += 1
        self.answered += bool(found)
        self.at5 += sum(rank <= 5 for rank in ranks) / len(wanted)
        self.at10 += len(ranks) / len(wanted)
        self.reciprocal += 1 / ranks[0] if ranks else 0.0
        self.ms.append(ms)

    def as_json(self) -> dict[str, float]:
        """The means, and how long it took."""
        ordered = sorted(self.ms)
        return {
            "questions": self.asked,
            "answered": round(self.answered / self.asked, 4),
            "recall@5": round(self.at5 / self.asked, 4),
            "recall@10": round(self.at10 / self.asked, 4),
            "mrr": round(self.reciprocal / self.asked, 4),
            **{f"ms_p{part}": round(ordered[len(ordered) * part // 100], 3) for part in (50, 95, 99)},
        }


Scores = dict[str, Score]
Fit = tuple[float, bool]
"""How well the best notes fitted a question, and whether it has an answer."""


@dataclass
class Measured:
    """What was counted: the scores by way and kind, the fits by way. `tuned`: the conversations that weights know."""

    tuned: frozenset[str]
    scores: dict[str, Scores] = field(default_factory=lambda: defaultdict(lambda: defaultdict(Score)))
    fits: dict[str, list[Fit]] = field(default_factory=lambda: defaultdict(list))

    def count(self, way: str, name: str, question: Question, found: Sequence[int], ms: float) -> None:
        """Count one answer under every kind of question that it belongs to."""
        kinds = ["all", CATEGORIES.get(question.category, "other")]
        kinds += [] if question.doubtful else ["without doubtful"]
        kinds += ["tuned on" if name in self.tuned else "held out"] if self.tuned else []
        for kind in kinds:
            self.scores[way][kind].add(found, question.wanted, ms)


@asynccontextmanager
async def memory_of(lines: Iterable[dict[str, Any]], folder: Path) -> AsyncIterator[tuple[Database, Recall]]:
    """A memory with these notes, and recall on it."""
    settings = Settings()
    async with open_database(folder / "memory.sqlite3") as db:
        report = await import_notes(db, (json.dumps(line) for line in lines), now=NOW, privacy=None)
        if report.refused:
            raise SystemExit(f"{len(report.refused)} lines were refused; the first: {report.refused[0]}")
        yield db, Recall(db=db, settings=lambda: settings, clock=ManualClock(NOW))


async def ask_all(measured: Measured, conversation: Conversation, folder: Path) -> dict[str, list[Candidate]]:
    """Ask every question in each of the ways; the notes about each person."""
    dice = random.Random(SEED)  # noqa: S311  # the same slips in every run
    async with memory_of(conversation.lines, folder) as (db, recall):
        ids = await viewers.find_many(db, list(conversation.people.values()))
        await _ask(measured, "recall", conversation, recall, ids, lambda text: text)
        await _ask(measured, "with typos", conversation, recall, ids, lambda text: with_typos(text, dice))
        await _ask(measured, "as chat asks", conversation, recall, ids, lambda text: in_chat(text, dice))
        await _episodes(measured, conversation, db, recall)
        held = {
            viewer: await db.together(lambda at, who=who: candidates_of(at, (who,)))  # type: ignore[misc]
            for viewer, who in ids.items()
        }
        await import_notes(db, (json.dumps(line) for line in _junk(conversation)), now=NOW, privacy=None)
        await _ask(measured, "with junk", conversation, recall, ids, lambda text: text)
        return held


async def _ask(
    measured: Measured,
    way: str,
    conversation: Conversation,
    recall: Recall,
    ids: dict[str, str],
    change: Callable[[str], str],
    timer: Callable[[], float] = perf_counter,
) -> None:
    for about in {one.viewers for one in conversation.questions}:
        await recall.about([ids[viewer] for viewer in about], "hello", LIMIT)
    for question in conversation.questions:
        text = change(question.text)
        started = timer()
        query = recall.query(text, names=conversation.people)
        found = await recall.about([ids[viewer] for viewer in question.viewers], query, LIMIT)
        ms = (timer() - started) * 1_000
        if question.wanted:
            measured.count(way, conversation.name, question, [one.note.id for one in found], ms)
        held_out = measured.tuned and conversation.name not in measured.tuned
        for name in (way, f"{way}, held out") if held_out else (way,):
            measured.fits[name].append((found.fit, question.answerable))


async def _episodes(measured: Measured, conversation: Conversation, db: Database, recall: Recall) -> None:
    """The three that fit a question best; and the one that a prompt would tell of, if any."""
    rows = await db.rows("SELECT id, key FROM episodes")
    session_of = {int(row["id"]): str(row["key"]) for row in rows}
    for question in conversation.questions:
        query = recall.query(question.text, names=conversation.people)
        for way, search in (
            ("episodes", past_episodes.fitting(db, query, 3)),
            ("past", past_episodes.spoken_of(db, query, SuppressionFilter(), 1)),
        ):
            started = perf_counter()
            found = await search
            ms = (perf_counter() - started) * 1_000
            right = [any(session_of[episode.id] in question.sessions for episode in found)] if found else []
            if question.wanted:
                measured.scores[way]["all"].add([int(hit) for hit in right], {1}, ms)


def _junk(conversation: Conversation) -> Iterable[dict[str, Any]]:
    for viewer in conversation.people.values():
        for fact in JUNK:
            yield {"viewer": viewer, "fact": fact, "confidence": 0.9, "observed_at": iso(NOW)}


# ── beside other ways ───────────────────────────────────────────────────────────────────────


def ask_ways(
    candidates: Sequence[Candidate], asked: Iterable[Question], conversation: Conversation
) -> Iterator[tuple[str, Question, list[int], float]]:
    """What each way finds for each question, in how many ms of the processor's time: the machine may be busy."""
    ways = rankers(candidates, NOW, LIMIT)
    for question in asked:
        query = query_of(question.text, without=conversation.people)
        for way, ranked in ways.items():
            started = process_time()
            found = ranked(question.text, query)
            yield way, question, found, (process_time() - started) * 1_000


def beside(measured: Measured, conversation: Conversation, held: dict[str, list[Candidate]]) -> None:
    """Ask the same questions of every other way."""
    asked = [question for question in conversation.questions if question.wanted]
    for about in sorted({question.viewers for question in asked}):
        candidates = [candidate for viewer in about for candidate in held[viewer]]
        questions = [question for question in asked if question.viewers == about]
        for way, question, found, ms in ask_ways(candidates, questions, conversation):
            measured.count(way, conversation.name, question, found, ms)


def by_size(conversations: Sequence[tuple[Conversation, dict[str, list[Candidate]]]]) -> dict[str, dict[int, float]]:
    """Recall@10 by notes per person: some of theirs and the questions that these answer, or all and others' too."""
    dice = random.Random(SEED)  # noqa: S311
    scores: dict[str, dict[int, Score]] = defaultdict(lambda: defaultdict(Score))
    for conversation, held in conversations:
        rest = [theirs for other, theirs in conversations if other is not conversation]
        others = [_apart(one) for theirs in rest for candidates in theirs.values() for one in candidates]
        for viewer, candidates in held.items():
            shuffled = [*dice.sample(candidates, len(candidates)), *dice.sample(others, len(others))]
            for size in SIZES:
                there = {candidate.note.id for candidate in shuffled[:size]}
                about = [one for one in conversation.questions if one.viewers == (viewer,) and one.wanted]
                answered = [one for one in about if one.wanted <= there]
                for way, question, found, _ in ask_ways(shuffled[:size], answered, conversation):
                    scores[way][size].add(found, question.wanted, 0.0)
    return {way: {size: round(one.at10 / one.asked, 4) for size, one in line.items()} for way, line in scores.items()}


def _apart(candidate: Candidate) -> Candidate:
    """The same with its episodes numbered apart from those of another conversation."""
    base = candidate.note.id // 10_000 * 10_000 + 10_000
    return Candidate(candidate.note, tuple((base + number, text) for number, text in candidate.episodes))


# ── how fast ────────────────────────────────────────────────────────────────────────────────


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
        measured = Measured(frozenset())
        for _ in range(ROUNDS):
            await _ask(measured, "warm", conversation, recall, ids, lambda text: text)
            await _ask(measured, "cpu", conversation, recall, ids, lambda text: text, process_time)
        people = fill // 150
        asked = range(0, people, max(1, people // 50))
        cold = sorted([await _cold(recall, db, number) for number in asked])
        cpu = sorted([await _cold(recall, db, number, process_time) for number in asked])
        warm, worked = (measured.scores[way]["all"].as_json() for way in ("warm", "cpu"))
        return {
            "notes": fill + len(conversation.lines),
            "import_s": round(import_s, 2),
            **{f"warm_{name}": warm[name] for name in ("ms_p50", "ms_p95", "ms_p99")},
            **{f"cold_ms_p{part}": round(cold[len(cold) * part // 100], 2) for part in (50, 95, 99)},
            # Processor time of all threads: what an idle machine would need, on a busy one the better figure.
            **{f"warm_cpu_{name}": worked[name] for name in ("ms_p50", "ms_p95", "ms_p99")},
            **{f"cold_cpu_ms_p{part}": round(cpu[len(cpu) * part // 100], 2) for part in (50, 95, 99)},
        }


async def _cold(recall: Recall, db: Database, number: int, timer: Callable[[], float] = perf_counter) -> float:
    """How long a stranger's first message takes."""
    ids = await viewers.find_many(db, [f"other_{number}"])
    recall.forget()
    started = timer()
    await recall.about([ids[f"other_{number}"]], "what do they play on the weekend")
    return (timer() - started) * 1_000


# ── all of it ───────────────────────────────────────────────────────────────────────────────


async def measure(data: Path, fills: Sequence[int], errors: Path | None, tuned: Collection[str]) -> dict[str, Any]:
    """All figures."""
    doubtful = {one["question"] for one in json.loads(errors.read_text(encoding="utf-8"))} if errors else set()
    conversations = [
        read_conversation(raw, 1 + 10_000 * index, doubtful)
        for index, raw in enumerate(json.loads(data.read_text(encoding="utf-8")))
    ]
    measured = Measured(frozenset(tuned))
    held = []
    for conversation in conversations:
        with tempfile.TemporaryDirectory() as folder:
            held.append(await ask_all(measured, conversation, Path(folder)))
        beside(measured, conversation, held[-1])
    told: dict[str, Any] = {
        "ways": {
            way: {kind: score.as_json() for kind, score in sorted(by_kind.items())}
            for way, by_kind in measured.scores.items()
        },
        "abstention": {way: abstention(fits) for way, fits in measured.fits.items()},
        "by_size": by_size(list(zip(conversations, held, strict=True))),
        "filled": [],
    }
    for fill in fills:
        with tempfile.TemporaryDirectory() as folder:
            told["filled"].append(await time_filled(conversations[0], fill, Path(folder)))
    return told


def abstention(fits: Sequence[Fit]) -> dict[str, dict[str, float]]:
    """By threshold: the share of answerable questions for which it has notes, and of unanswerable ones."""
    return {
        f"{threshold:g}": {
            name: round(sum(fit >= threshold for fit in these) / len(these), 4) if these else 0.0
            for name, these in (
                ("answered", [fit for fit, answerable in fits if answerable]),
                ("answered wrongly", [fit for fit, answerable in fits if not answerable]),
            )
        }
        for threshold in THRESHOLDS
    }
