"""How much of what a prompt shows about somebody was asked for, on the beliefs and cases of precisionMemBench.

A folder has `beliefs.json` (what is known of one person) and `cases.json` (questions, each with exactly the beliefs
that should be shown). Beliefs are ranked as notes are, twenty at most and nothing padded. What is pinned is always
shown, and not counted.
"""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from forgetmenot.domain import Importance, Note, NoteStatus, Scope, SourceKind
from forgetmenot.memory.note_index import Candidate
from forgetmenot.memory.query import query_of
from forgetmenot.memory.ranking import Postings
from forgetmenot.text.meaning import word_table
from speed.figures import Figure

NOW = 1_790_000_000_000
MOST_SHOWN = 20
USER = "test-user"
EVERYWHERE = "user:universal"


@dataclass
class Score:
    """Sums over questions that something answers, and counts of those that nothing answers."""

    precision: list[float] = field(default_factory=list)
    recall: list[float] = field(default_factory=list)
    unanswerable: int = 0
    rightly_empty: int = 0

    def add(self, facts: Collection[str], expected: Collection[str]) -> None:
        """Count one question."""
        if not expected:
            self.unanswerable += 1
            self.rightly_empty += not facts
            return
        right = len(set(facts) & set(expected))
        self.precision.append(right / len(facts) if facts else 0.0)
        self.recall.append(right / len(expected))


def measure(folder: Path) -> list[Figure]:
    """Return precision and recall over all questions."""
    beliefs = json.loads((folder / "beliefs.json").read_text(encoding="utf-8"))
    cases = json.loads((folder / "cases.json").read_text(encoding="utf-8"))
    score = Score()
    for case in cases:
        expected = (case["expect"].get("relevantBeliefs") or {}).get(
            "shouldOnlyInclude"
        )
        if expected is not None:
            known = [belief for belief in beliefs if _is_known(belief, case)]
            score.add(_recalled_ids(known, case["query"]), expected)
    answerable = len(score.precision)
    return [
        Figure("precision: questions", answerable, ""),
        Figure("precision: of what is shown", sum(score.precision) / answerable, ""),
        Figure("precision: recall", sum(score.recall) / answerable, ""),
        Figure(
            "precision: unanswerable questions that show nothing",
            score.rightly_empty,
            f"of {score.unanswerable}",
        ),
    ]


def _is_known(belief: dict[str, Any], case: dict[str, Any]) -> bool:
    """Return whether a belief counts in a case: it stands, and is of this user and scope."""
    if (
        belief["superseded_by"]
        or belief.get("resolved_at")
        or belief["user_id"] != USER
    ):
        return False
    return not {*case["scope"], EVERYWHERE}.isdisjoint(belief["scope"])


def _recalled_ids(beliefs: Sequence[dict[str, Any]], question: str) -> list[str]:
    """Return the ids of the beliefs that a question brings up."""
    candidates = [
        Candidate(_note(place, belief)) for place, belief in enumerate(beliefs)
    ]
    postings = Postings(candidates, word_table())
    ranked = postings.ranked(query_of(question), now=NOW, limit=MOST_SHOWN, padded_to=0)
    facts = [beliefs[hit.note.id] for hit in ranked]
    return [belief["_id"] for belief in facts if not belief["pinned"]]


def _note(note_id: int, belief: dict[str, Any]) -> Note:
    return Note(
        id=note_id,
        scope=Scope.VIEWER,
        subject_id="1",
        fact=belief["content"],
        confidence=0.9,
        status=NoteStatus.ACTIVE,
        source_kind=SourceKind.SELF_CLAIM,
        importance=Importance.MEDIUM,
        topics=(belief["canonical_name"].replace("_", " "),),
        asked_with=tuple(belief["aliases"]),
        created_at=NOW,
        first_said_at=NOW,
        last_confirmed_at=NOW,
        used_at=None,
        stale=False,
        expires_at=None,
        superseded_by=None,
        pinned=belief["pinned"],
        episode_ids=(),
    )
