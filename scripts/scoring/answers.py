"""What a model answers to questions about notes, where an answer is known and where none is.

Every question is asked by a stranger in a memory of its own, through the whole bot: recall, prompt, model, filters. One
row is kept for each, with the prompt, so that a changed rule is tried on the same answers without asking again.
"""

import json
import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from forgetmenot.app.scenario_player import BEGAN, ScenarioPlayer
from forgetmenot.domain.chat import Role
from forgetmenot.memory.transfer import import_notes
from forgetmenot.settings.schema import Settings
from forgetmenot.store import bot_messages, viewers
from forgetmenot.store.database import open_database
from forgetmenot.store.viewers import SeenViewer
from scoring.conversations import NOW, read_conversation
from scoring.gold import Pattern, content, share

OWN = Path(__file__).with_name("answers.txt")
HALF = 0.5
"""So much of a known answer's content words makes a reply right."""
_ABSTAINS = re.compile(
    r"\b(?:(?:is|do|does|did|can|could|have|has|was|were|are|'m)(?:n['’]?t| not|['’]t)\b|not (?:in|anything|sure|aware"
    r"|mentioned|known|specified)|never (?:told|mentioned|said|heard)|nothing (?:is |about )|unknown|no idea|unsure"
    r"|no (?:\w+ ){0,3}(?:notes?|memory|record|information|info|mention|details?|clue))",
    re.IGNORECASE,
)
_QUOTES = re.compile(r"(?:My notes about|Others say about) [^:]{1,40}: “")


@dataclass(frozen=True, slots=True)
class Asked:
    """A question; `answer`: what is right, as words or as a pattern of words; None: nothing is known; "": talk."""

    text: str
    answer: str | None
    pattern: bool = False
    by: str = "visitor"


@dataclass(frozen=True, slots=True)
class Batch:
    """Questions about the notes of one memory; `fill` writes these into a new file."""

    name: str
    lines: tuple[dict[str, Any], ...]
    questions: tuple[Asked, ...]


def own_list(count: int, seed: int, path: Path = OWN) -> Batch:
    """So many of our own questions that have an answer, and so many that have none."""
    lines: list[dict[str, Any]] = []
    questions: list[Asked] = []
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("+ "):
            text, _, answer = line[2:].partition(" | ")
            questions.append(Asked(text, answer, pattern=True))
        elif line.startswith("- "):
            questions.append(Asked(line[2:], None))
        elif line.startswith("~ "):
            questions.append(Asked(line[2:], ""))
        elif not line.startswith("#"):
            about, _, fact = line.partition(": ")
            whose = {"scope": "channel"} if about == "channel" else {"viewer": about}
            lines.append({"id": len(lines) + 1, "fact": fact, "confidence": 0.8, **whose})
    known, unknown = [one for one in questions if one.answer], [one for one in questions if one.answer is None]
    return Batch(
        "own", tuple(lines), _mixed(known, unknown, [one for one in questions if one.answer == ""], count, seed)
    )


def _mixed(known: list[Asked], unknown: list[Asked], talk: list[Asked], count: int, seed: int) -> tuple[Asked, ...]:
    """The same ones in every run, in turn, so that a run that is stopped has as many of each."""
    dice = random.Random(seed)  # noqa: S311
    some = (dice.sample(these, min(count, len(these))) for these in (known, unknown, talk) if these)
    return tuple(one for pair in zip(*some, strict=False) for one in pair)


def locomo(path: Path, names: Sequence[str], count: int, seed: int) -> Iterator[Batch]:
    """Of each conversation named, so many questions that one fact answers, and so many that nothing does."""
    for raw in json.loads(path.read_text(encoding="utf-8")):
        if raw["sample_id"] not in names:
            continue
        conversation = read_conversation(raw, 1)
        logins = {login: name.casefold() for name, login in conversation.people.items()}
        lines = tuple({**line, "viewer": logins[line["viewer"]]} for line in conversation.lines)
        known = [Asked(one["question"], str(one["answer"])) for one in raw["qa"] if one["category"] == 4]
        unknown = [Asked(one["question"], None) for one in raw["qa"] if one["category"] == 5]
        yield Batch(raw["sample_id"], lines, _mixed(known, unknown, [], count, seed))


def listed(path: Path) -> Iterator[Batch]:
    """The questions of a file like tests/data/asked_of_memory.tsv, each with a memory of its own."""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            continue
        kind, known, asked, answer = line.split("\t")
        by, _, text = asked.partition("> @ForgetMeNot ")
        told = [fact.partition(": ") for fact in known.split(" | ")]
        lines = [
            {"id": at, "viewer": who, "fact": fact, "confidence": 0.8} for at, (who, _, fact) in enumerate(told, 1)
        ]
        right = answer if kind == "answerable" else None if kind == "unanswerable" else ""
        yield Batch(path.stem, tuple(lines), (Asked(text, right, by=by),))


async def ask(
    batch: Batch, settings: Settings, folder: Path, done: Callable[[dict[str, Any]], None], known: Iterable[str] = ()
) -> None:
    """Ask each question that is not `known` yet in a copy of its memory; one row for each goes to `done`."""
    if {asked.text for asked in batch.questions} <= set(known):
        return
    source = Path(tempfile.mkdtemp(dir=folder)) / "memory.sqlite3"
    logins = sorted({line["viewer"] for line in batch.lines if "viewer" in line})
    async with open_database(source) as db:
        async with db.write() as tx:
            people = [SeenViewer(f"id-{one}", one, one.title(), Role.VIEWER, BEGAN, BEGAN) for one in logins]
            await viewers.record_seen(tx, people)
        report = await import_notes(db, (json.dumps(line) for line in batch.lines), now=NOW, privacy=None)
        if report.refused:
            raise SystemExit(f"{len(report.refused)} lines were refused; the first: {report.refused[0]}")
    for asked in batch.questions:
        if asked.text not in known:
            with tempfile.TemporaryDirectory(dir=folder) as made:
                shutil.copy(source, Path(made) / "memory.sqlite3")
                row = await _one(Path(made), settings, asked)
            done({"batch": batch.name, "question": asked.text, "answer": asked.answer, "pattern": asked.pattern} | row)


async def _one(folder: Path, settings: Settings, asked: Asked) -> dict[str, Any]:
    player = ScenarioPlayer(folder, settings)
    began = perf_counter()
    try:
        await player.start()
        await player.hear(asked.by, f"@ForgetMeNot {asked.text}")
        row = (await bot_messages.listing(player.bot.db, 1))[0]
        prompts = player.model.asked[-1:] if player.model else []
        return {
            "reply": row.text,
            "detail": row.detail,
            "filters": list(row.filters),
            "tokens": row.usage.get("billed"),
            "seconds": round(perf_counter() - began, 1),
            "prompt": prompts[0].prompt if prompts else "",
        }
    finally:
        await player.stop()


def right(row: dict[str, Any]) -> bool:
    """Whether the reply says what is known."""
    if row["pattern"]:
        return Pattern.of(row["answer"]).fits(row["reply"])
    wanted = content(row["answer"])
    return bool(wanted) and len(wanted & content(row["reply"])) >= HALF * len(wanted)


def abstains(row: dict[str, Any]) -> bool:
    """Whether the reply says nothing about what was asked, or that it does not know."""
    return not row["reply"] or bool(_ABSTAINS.search(row["reply"]))


def verdict(row: dict[str, Any]) -> str:
    """One word for one row."""
    if row["answer"] == "":
        return "CUT" if "unsupported" in row["filters"] else "talks"
    if row["answer"] is None:
        return "abstains" if abstains(row) else "quotes" if _QUOTES.match(row["reply"]) else "CLAIMS"
    return "right" if right(row) else "nothing" if abstains(row) else "WRONG"


def figures(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Shares of the questions that have an answer, and of those that have none."""
    known, talk = [row for row in rows if row["answer"]], [row for row in rows if row["answer"] == ""]
    unknown = [row for row in rows if row["answer"] is None]
    taken = sorted(row["seconds"] for row in rows)
    return {
        "known": len(known),
        "answered": share(sum(not abstains(row) for row in known), len(known)),
        "right": share(sum(map(right, known)), len(known)),
        "unknown": len(unknown),
        "false_memory": share(sum(verdict(row) == "CLAIMS" for row in unknown), len(unknown)),
        "quoted": share(sum(verdict(row) == "quotes" for row in unknown), len(unknown)),
        "talk": len(talk),
        "talk_cut": share(sum("unsupported" in row["filters"] for row in talk), len(talk)),
        "tokens_in": round(sum(row["tokens"] or 0 for row in rows) / max(1, len(rows))),
        "seconds_p50": taken[len(taken) // 2] if taken else 0.0,
    }
