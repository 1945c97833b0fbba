"""How often recall finds the note that answers a question, in conversations of LoCoMo's format.

Everything goes through the public import and recall. Ten notes are asked for, as the questions stand, with typos and as
chat asks, and of the twenty that a prompt may hold how many answers stand among them. docs/EVALUATION.md says what the
figures mean and what they do not show.
"""

import asyncio
import json
import random
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from forgetmenot.clock import ManualClock
from forgetmenot.memory.recall import Recall
from forgetmenot.memory.transfer import import_notes
from forgetmenot.settings.schema import Settings
from forgetmenot.store import viewers
from forgetmenot.store.database import open_database
from speed.conversations import NOW, Conversation, in_chat, read_conversation, with_typos
from speed.figures import Figure

LIMIT = 20
SEED = 7


@dataclass
class Score:
    """Sums over questions."""

    asked: int = 0
    at10: float = 0.0
    at20: float = 0.0
    reciprocal: float = 0.0

    def add(self, found: Sequence[int], wanted: Collection[int]) -> None:
        """Count one answer."""
        ranks = [rank for rank, note in enumerate(found, start=1) if note in wanted]
        self.asked += 1
        self.at10 += sum(rank <= 10 for rank in ranks) / len(wanted)
        self.at20 += len(ranks) / len(wanted)
        self.reciprocal += 1 / ranks[0] if ranks and ranks[0] <= 10 else 0.0


async def ask(conversation: Conversation, folder: Path, scores: dict[str, Score], kinds: Sequence[str]) -> None:
    """Ask every question in each way; `kinds`: under which names its answers are counted besides."""
    dice, settings = random.Random(SEED), Settings()  # noqa: S311  # the same slips in every run
    ways: dict[str, Callable[[str], str]] = {
        "as asked": str,
        "with typos": lambda text: with_typos(text, dice),
        "as chat asks": lambda text: in_chat(text, dice),
    }
    async with open_database(folder / "memory.sqlite3") as db:
        report = await import_notes(db, map(json.dumps, conversation.lines), now=NOW, privacy=None)
        if report.refused:
            raise SystemExit(f"{len(report.refused)} lines were refused; the first: {report.refused[0]}")
        recall = Recall(db=db, settings=lambda: settings, clock=ManualClock(NOW))
        ids = await viewers.find_many(db, list(conversation.people.values()))
        for way, change in ways.items():
            for question in conversation.questions:
                query = recall.query(change(question.text), names=conversation.people)
                found = await recall.about([ids[viewer] for viewer in question.viewers], query, LIMIT)
                for kind in (*kinds, *([] if question.doubtful else ["without doubtful"])):
                    scores[f"{way}, {kind}"].add([one.note.id for one in found], question.wanted)


def measure(data: Path, errors: Path | None, tuned: Collection[str]) -> list[Figure]:
    """The figures of a file; `errors`: questions known to be wrong, `tuned`: conversations that weights know."""
    doubtful = {one["question"] for one in json.loads(errors.read_text(encoding="utf-8"))} if errors else set()
    scores: dict[str, Score] = defaultdict(Score)
    for index, raw in enumerate(json.loads(data.read_text(encoding="utf-8"))):
        conversation = read_conversation(raw, 1 + 10_000 * index, doubtful)
        with tempfile.TemporaryDirectory() as folder:
            kinds = ["all", *(["tuned on" if conversation.name in tuned else "held out"] if tuned else [])]
            asyncio.run(ask(conversation, Path(folder), scores, kinds))
    figures = []
    for name, score in scores.items():
        figures += [
            Figure(f"{name}: questions", score.asked, ""),
            Figure(f"{name}: recall@10", round(score.at10 / score.asked, 4), ""),
            Figure(f"{name}: recall@20", round(score.at20 / score.asked, 4), ""),
            Figure(f"{name}: MRR", round(score.reciprocal / score.asked, 4), ""),
        ]
    return figures
