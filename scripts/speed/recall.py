"""How often recall finds the note that answers a question, in conversations of LoCoMo's format.

Everything goes through the public import and recall. Ten notes are asked for, as the questions stand and with typos,
and of the twenty that a prompt may hold how many answers stand among them. Questions that name one person are also put
to the bot in chat by a third viewer, days later: how many answers stand in the prompt, where nothing says who is meant.
docs/EVALUATION.md says what the figures mean and what they do not show.

Of a conversation the observations are notes, and the session summaries the episodes that they rest on. A question's
evidence ids name the notes that rest on them; its subjects are the speakers it names, else both.
"""

import asyncio
import json
import random
import re
import tempfile
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from forgetmenot.clock import ManualClock, iso
from forgetmenot.domain import ChatEvent, EventKind
from forgetmenot.durations import DAY
from forgetmenot.memory.recall import Recall
from forgetmenot.memory.transfer import import_notes
from forgetmenot.reply.context import ContextGatherer, compose
from forgetmenot.reply.explain import notes_in
from forgetmenot.reply.prefix import PrefixKeeper
from forgetmenot.reply.triggers import Trigger, TriggerKind
from forgetmenot.settings.schema import Settings
from forgetmenot.store.database import open_database
from forgetmenot.store.names import by_login
from speed.figures import Figure

TYPO_SHARE = 0.3
NOW = int(datetime(2025, 1, 1, tzinfo=UTC).timestamp() * 1_000)
_EVIDENCE = re.compile(r"D\d+:\d+")


class Question(NamedTuple):
    """One question; `answering` are the notes that answer it."""

    text: str
    viewers: tuple[str, ...]
    answering: frozenset[int]


@dataclass
class Conversation:
    """One conversation as import lines and questions."""

    name: str
    lines: list[dict[str, Any]]
    people: dict[str, str]
    questions: list[Question]
    last_at: int = 0  # when the last session was held (ms)


def read_conversation(raw: dict[str, Any], first_id: int) -> Conversation:
    """Observations as notes with ids from `first_id`, and the questions they answer."""
    speakers = raw["conversation"]["speaker_a"], raw["conversation"]["speaker_b"]
    people = {name: f"viewer_{index}" for index, name in enumerate(speakers)}
    lines: list[dict[str, Any]] = []
    rests_on: dict[int, tuple[str, set[str]]] = {}
    for session, by_speaker in raw["observation"].items():
        number = int(session.split("_")[1])
        for speaker, observations in by_speaker.items():
            for fact, evidence in observations if speaker in people else ():
                note_id = first_id + len(lines)
                rests_on[note_id] = (
                    people[speaker],
                    set(_EVIDENCE.findall(json.dumps(evidence))),
                )
                lines.append(_line(note_id, people[speaker], fact, number, raw))
    name = str(raw.get("sample_id", first_id))
    last_session = max(
        (int(session.split("_")[1]) for session in raw["observation"]), default=1
    )
    last_at = _held_at(raw["conversation"], last_session)
    questions = list(_questions(raw, people, rests_on))
    return Conversation(name, lines, people, questions, last_at)


def _line(
    note_id: int, viewer: str, fact: str, session: int, raw: dict[str, Any]
) -> dict[str, Any]:
    return {
        "id": note_id,
        "viewer": viewer,
        "fact": fact,
        "confidence": 0.8,
        "observed_at": iso(_held_at(raw["conversation"], session)),
        "episode": {
            "key": str(session),
            "summary": raw["session_summary"].get(f"session_{session}_summary", ""),
        },
    }


def _held_at(conversation: dict[str, Any], session: int) -> int:
    """When a session was held; where the file does not say, the sessions are a day apart."""
    try:
        day = datetime.strptime(
            conversation[f"session_{session}_date_time"] + " +0000",
            "%I:%M %p on %d %B, %Y %z",
        )
    except (KeyError, ValueError):
        return NOW - (100 - session) * DAY
    return int(day.timestamp() * 1_000)


def _questions(
    raw: dict[str, Any],
    people: dict[str, str],
    rests_on: dict[int, tuple[str, set[str]]],
) -> Iterable[Question]:
    """Yield each question that a note of the people in it answers; of a question without names, of anybody."""
    for entry in raw["qa"]:
        evidence = set(_EVIDENCE.findall(json.dumps(entry.get("evidence", []))))
        text = str(entry["question"])
        logins = tuple(
            login
            for name, login in people.items()
            if name.casefold() in text.casefold()
        )
        about = logins or tuple(people.values())
        answering = frozenset(
            note
            for note, (viewer, rests) in rests_on.items()
            if rests & evidence and viewer in about
        )
        if answering:
            yield Question(text, about, answering)


def with_typos(text: str, dice: random.Random) -> str:
    """The text with one slip of the finger in about a third of its words."""
    return " ".join(
        _slip(word, dice) if dice.random() < TYPO_SHARE else word
        for word in text.split()
    )


def _slip(word: str, dice: random.Random) -> str:
    """Drop, swap, double or add a letter, at random."""
    if len(word) < 3:
        return word
    at = dice.randrange(len(word) - 1)
    slips: tuple[Callable[[], str], ...] = (
        lambda: word[:at] + word[at + 1 :],
        lambda: word[:at] + word[at + 1] + word[at] + word[at + 2 :],
        lambda: word[: at + 1] + word[at:],
        lambda: word[:at] + dice.choice("abcdefghijklmnopqrstuvwxyz") + word[at + 1 :],
    )
    return dice.choice(slips)()


LIMIT = 20
SEED = 7
ASKED_AFTER_DAYS = (1, 7, 90)


@dataclass
class Score:
    """Sums over questions."""

    question_count: int = 0
    at10: float = 0.0
    at20: float = 0.0
    reciprocal: float = 0.0

    def add(self, note_ids: Sequence[int], expected: Collection[int]) -> None:
        """Count one answer."""
        ranks = [
            rank for rank, note in enumerate(note_ids, start=1) if note in expected
        ]
        self.question_count += 1
        self.at10 += sum(rank <= 10 for rank in ranks) / len(expected)
        self.at20 += len(ranks) / len(expected)
        self.reciprocal += 1 / ranks[0] if ranks and ranks[0] <= 10 else 0.0


async def ask(
    conversation: Conversation,
    folder: Path,
    scores: dict[str, Score],
    kinds: Sequence[str],
) -> None:
    """Ask every question in each way; `kinds`: under which names its answers are counted."""
    dice = random.Random(SEED)  # noqa: S311  # the same slips in every run
    settings = Settings()
    ways: dict[str, Callable[[str], str]] = {
        "as asked": str,
        "with typos": lambda text: with_typos(text, dice),
    }
    async with open_database(folder / "memory.sqlite3") as db:
        report = await import_notes(
            db, map(json.dumps, conversation.lines), now=NOW, privacy=None
        )
        if report.refused:
            raise SystemExit(
                f"{len(report.refused)} lines were refused; the first: {report.refused[0]}"
            )
        recall = Recall(db=db, settings=lambda: settings, clock=ManualClock(NOW))
        ids = {
            login: await by_login(db, login) or ""
            for login in conversation.people.values()
        }
        for way, change in ways.items():
            for question in conversation.questions:
                query = recall.query(change(question.text), names=conversation.people)
                recalled = await recall.about(
                    [ids[viewer] for viewer in question.viewers], query, LIMIT
                )
                for kind in kinds:
                    scores[f"{way}, {kind}"].add(
                        [match.note.id for match in recalled], question.answering
                    )


@dataclass
class ChatScore:
    """Sums over questions that name one person, by days since the last session.

    `handed_in`: where the person is given.
    """

    question_count: int = 0
    in_prompt: dict[int, float] = field(
        default_factory=lambda: dict.fromkeys(ASKED_AFTER_DAYS, 0.0)
    )
    handed_in: float = 0.0


async def ask_in_chat(
    conversation: Conversation, folder: Path, score: ChatScore
) -> None:
    """Put every question that names one person to the bot, as a third viewer types it."""
    questions = [
        question for question in conversation.questions if len(question.viewers) == 1
    ]
    settings = Settings()
    clock = ManualClock(conversation.last_at)
    async with open_database(folder / "memory.sqlite3") as db:
        ids = {
            login: await by_login(db, login) or ""
            for login in conversation.people.values()
        }
        async with db.write() as tx:
            # from now on they are called as the questions call them
            for name, login in conversation.people.items():
                await tx.execute(
                    "UPDATE viewers SET login = ?, display_name = ? WHERE id = ?",
                    (name.casefold(), name, ids[login]),
                )
        recall = Recall(db=db, settings=lambda: settings, clock=clock)
        keeper = PrefixKeeper(db=db, recall=recall, settings=lambda: settings)
        gatherer = ContextGatherer(db=db, recall=recall, clock=clock)
        for question in questions:
            query = recall.query(question.text, names=conversation.people)
            recalled = await recall.about([ids[question.viewers[0]]], query, LIMIT)
            score.handed_in += _share(
                {match.note.id for match in recalled}, question.answering
            )
            score.question_count += 1
        for days in ASKED_AFTER_DAYS:
            await clock.advance(conversation.last_at + days * DAY - clock.now())
            for question in questions:
                event = ChatEvent(
                    "asked",
                    EventKind.MESSAGE,
                    "1",
                    "kim",
                    "Kim",
                    question.text,
                    clock.now(),
                )
                trigger = Trigger(TriggerKind.MENTION, event, question.text)
                made = await compose(keeper, gatherer, trigger, settings, bot_id="")
                score.in_prompt[days] += _share(
                    notes_in(made.prompt), question.answering
                )


def _share(note_ids: Collection[int], expected: Collection[int]) -> float:
    """Return the share of the expected notes that are among these."""
    return len(set(note_ids) & set(expected)) / len(expected)


def measure(data: Path, tuned: Collection[str]) -> list[Figure]:
    """The figures of a file; `tuned`: conversations that weights know."""
    scores: dict[str, Score] = defaultdict(Score)
    chat = ChatScore()
    for index, raw in enumerate(json.loads(data.read_text(encoding="utf-8"))):
        conversation = read_conversation(raw, 1 + 10_000 * index)
        with tempfile.TemporaryDirectory() as folder:
            kinds = ["all"]
            if tuned:
                kinds.append("tuned on" if conversation.name in tuned else "held out")
            asyncio.run(ask(conversation, Path(folder), scores, kinds))
            asyncio.run(ask_in_chat(conversation, Path(folder), chat))
    figures = []
    for name, score in scores.items():
        figures += [
            Figure(f"{name}: questions", score.question_count, ""),
            Figure(
                f"{name}: recall@10", round(score.at10 / score.question_count, 4), ""
            ),
            Figure(
                f"{name}: recall@20", round(score.at20 / score.question_count, 4), ""
            ),
            Figure(
                f"{name}: MRR", round(score.reciprocal / score.question_count, 4), ""
            ),
        ]
    figures += [
        Figure(
            "asked in chat: questions that name one person", chat.question_count, ""
        ),
        Figure(
            "asked in chat: recall@20 with the person handed in",
            chat.handed_in / chat.question_count,
            "",
        ),
    ]
    for days, share in chat.in_prompt.items():
        figures.append(
            Figure(
                f"asked in chat: in the prompt after {days} days",
                share / chat.question_count,
                "",
            )
        )
    return figures
