"""Conversations in LoCoMo's format: observations are notes, session summaries the episodes that they rest on.

A question's evidence ids name the notes that rest on them; its subjects are the speakers it names, else both.
"""

import json
import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

from forgetmenot.clock import DAY, iso

TYPO_SHARE = 0.3
NOW = int(datetime(2025, 1, 1, tzinfo=UTC).timestamp() * 1_000)
_EVIDENCE = re.compile(r"D\d+:\d+")


class Question(NamedTuple):
    """One question; `wanted` are the notes that answer it, `sessions` the episodes."""

    category: int
    text: str
    viewers: tuple[str, ...]
    wanted: frozenset[int]
    sessions: frozenset[str]


@dataclass
class Conversation:
    """One conversation as import lines and questions."""

    lines: list[dict[str, Any]]
    people: dict[str, str]
    questions: list[Question]


def read_conversation(raw: dict[str, Any], first_id: int) -> Conversation:
    """Observations as notes with ids from `first_id`, and the questions they answer."""
    people = {name: f"viewer_{index}" for index, name in enumerate(_speakers(raw))}
    lines: list[dict[str, Any]] = []
    rests_on: dict[int, tuple[str, set[str]]] = {}
    for session, by_speaker in raw["observation"].items():
        number = int(session.split("_")[1])
        for speaker, observations in by_speaker.items():
            for fact, evidence in observations if speaker in people else ():
                note_id = first_id + len(lines)
                rests_on[note_id] = (people[speaker], set(_EVIDENCE.findall(json.dumps(evidence))))
                lines.append(_line(note_id, people[speaker], fact, number, raw))
    return Conversation(lines, people, list(_questions(raw, people, rests_on)))


def _speakers(raw: dict[str, Any]) -> tuple[str, str]:
    return raw["conversation"]["speaker_a"], raw["conversation"]["speaker_b"]


def _line(note_id: int, viewer: str, fact: str, session: int, raw: dict[str, Any]) -> dict[str, Any]:
    return {
        "id": note_id,
        "viewer": viewer,
        "fact": fact,
        "confidence": 0.8,
        "observed_at": iso(NOW - (100 - session) * DAY),
        "episode": {"key": str(session), "summary": raw["session_summary"].get(f"session_{session}_summary", "")},
    }


def _questions(
    raw: dict[str, Any], people: dict[str, str], rests_on: dict[int, tuple[str, set[str]]]
) -> Iterable[Question]:
    for asked in raw["qa"]:
        evidence = set(_EVIDENCE.findall(json.dumps(asked.get("evidence", []))))
        text = str(asked["question"])
        named = tuple(login for name, login in people.items() if name.casefold() in text.casefold())
        about = named or tuple(people.values())
        wanted = frozenset(note for note, (viewer, rests) in rests_on.items() if rests & evidence and viewer in about)
        if wanted:
            sessions = frozenset(one.split(":")[0].removeprefix("D") for one in evidence)
            yield Question(int(asked["category"]), text, about, wanted, sessions)


def with_typos(text: str, dice: random.Random) -> str:
    """The text with one slip of the finger in about a third of its words."""
    return " ".join(_slip(word, dice) if dice.random() < TYPO_SHARE else word for word in text.split())


def _slip(word: str, dice: random.Random) -> str:
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
