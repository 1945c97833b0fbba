"""Notes out of an episode's summary by rules: sentences of the form "P3 lives in Oslo", held against what is known.

Pure. Deliberately narrow: a sentence that is not clearly a lasting fact gives nothing.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from forgetmenot.llm.offline.words import asked_with, lifetime, topics
from forgetmenot.text.fences import fenced
from forgetmenot.text.words import STOPWORDS, stems

MOST = 8
_ABOUT = re.compile(r"\A(?P<who>P\d+)(?P<own>'s)?\s+(?P<what>.{3,180}?)\.?\Z")
_BIT = re.compile(r"\ARunning bit: (?P<bit>.{3,160}?)\.?\Z", re.IGNORECASE)
_KNOWN = re.compile(r"\A\s*\[(?:id:)?(?P<id>\d+)\]\s*(?P<about>P\d+|channel|bit):\s*(?P<fact>.+?)\s*\Z")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z])")
_VERBS_TEXT = """
    is has does can was used lives works plays moved owns likes loves hates enjoys prefers adores dislikes studies
    studied speaks collects started quit stopped finished graduated bought adopted married teaches bakes cooks
    draws paints writes sings streams drives mains grew uses drinks eats runs swims climbs skis surfs hikes
    knits sews brews gardens dances speedruns practices practises trains builds raised lived worked played
    learned learnt joined left broke became won travels commutes races flies keeps volunteers attends wants got
    comes no never always still often makes starts did favourite favorite"""
_VERBS = frozenset(_VERBS_TEXT.split())
_PASSING = re.compile(
    r"\A(?:is|was) (?:here|back|new here|away|asleep|happy|sad|tired)\b|\A(?:subscribed|gifted|raided|cheered)\b"
)
_PETS = r"(?:cat|dog|parrot|bird|rabbit|hamster|horse|fish|snake|turtle|kitten|puppy|pet)"
_FAMILY = r"(?:brother|sister|wife|husband|partner|boyfriend|girlfriend|son|daughter|mum|mom|mother|dad|father|kid)"
_OWN_FORMS = (
    (re.compile(rf"\A((?:\w+ )?{_PETS}) is (?:called|named) (.+)\Z"), r"has a \1 called \2"),
    (re.compile(r"\A(?:main|main character) is (.+)\Z"), r"mains \1"),
    (re.compile(r"\A(?:car|van|bike|truck) is (an? .+)\Z"), r"drives \1"),
    (re.compile(r"\Ajob is (.+)\Z"), r"works as \1"),
    (re.compile(r"\Abirthday is (.+)\Z"), r"has a birthday \1"),
    (re.compile(r"\A(band|team|channel|business|company|shop) is (?:called|named) (.+)\Z"), r"has a \1 called \2"),
    (re.compile(rf"\A({_FAMILY}) is (an? .+|from .+)\Z"), r"has a \1 who is \2"),
)
_SLOTS = (
    ("home", re.compile(r"\b(?:lives in|moved to|is living in|is based in|moving to)\b")),
    ("job", re.compile(r"\b(?:works as|works at|works in|has a job|got a new job|job is)\b")),
    ("main", re.compile(r"\Amains\b")),
    ("car", re.compile(r"\Adrives an?\b")),
    ("birthday", re.compile(r"\bbirthday\b")),
)
_FAVOURITE = re.compile(r"\Afavou?rite (\w+(?: \w+)?) (?:is|are)\b")
_ENDED = re.compile(r"\A(?:no longer|does not|did not|quit|stopped|used to|left)\b|\banymore\b")
_HEDGED = re.compile(r"\b(?:maybe|perhaps|probably|apparently|kind of|sort of)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Known:
    id: int
    about: str
    fact: str


def extract(prompt: str) -> str:
    """The proposed changes as JSON text."""
    blocks = fenced(prompt)
    known = _known(blocks)
    changes: list[dict[str, Any]] = []
    for sentence in _SENTENCE_END.split(" ".join(_episode(blocks, prompt).split())):
        found = _claim(sentence.strip())
        if found:
            change = _change(*found, known)
            if change not in changes:
                changes.append(change)
    return json.dumps({"changes": changes[:MOST]}, ensure_ascii=False)


def _known(blocks: Mapping[str, str]) -> list[_Known]:
    lines = [line for body in blocks.values() for line in body.splitlines()]
    found = (_KNOWN.match(line) for line in lines)
    return [_Known(int(line["id"]), line["about"], line["fact"]) for line in found if line]


def _episode(blocks: Mapping[str, str], prompt: str) -> str:
    for name in ("episode", "summary", "episodes"):
        if name in blocks:
            return blocks[name]
    return "" if blocks else prompt


def _claim(sentence: str) -> tuple[str, str] | None:
    """Whom or what a sentence is about, and the fact without its subject."""
    if bit := _BIT.match(sentence):
        return "bit", bit["bit"]
    about = _ABOUT.match(sentence)
    if not about:
        return None
    what = about["what"]
    if about["own"]:
        return about["who"], _of_theirs(what)
    if what.split()[0] not in _VERBS or _PASSING.match(what):
        return None
    return about["who"], what


def fact_of(claim: str) -> str:
    """A claim as llm/offline/claims gives it, as a note says it: "'s cat is called Miso" is "has a cat called Miso"."""
    return _of_theirs(claim.removeprefix("'s ")) if claim.startswith("'s ") else claim


def _of_theirs(what: str) -> str:
    for pattern, form in _OWN_FORMS:
        if pattern.match(what):
            return pattern.sub(form, what)
    return what if what.startswith(("favourite", "favorite")) else f"their {what}"


def _change(about: str, fact: str, known: list[_Known]) -> dict[str, Any]:
    theirs = [note for note in known if note.about == about]
    same = next((note for note in theirs if _alike(note.fact, fact)), None)
    old = None if same else next((note for note in theirs if _replaces(fact, note.fact)), None)
    change: dict[str, Any] = {
        "op": "confirm" if same else "supersede" if old else "add",
        "about": about,
        "fact": fact,
        "confidence": 0.5 if _HEDGED.search(fact) else 0.75,
        "lifetime": "permanent" if about == "bit" else lifetime(fact),
        "importance": "high" if _slot(fact) in {"home", "job"} else "medium",
        "topics": ["running bit"] if about == "bit" else topics(fact),
        "asked_with": asked_with(fact),
        "said_by": "" if about == "bit" else about,
    }
    match = same or old
    return change | ({"id": match.id} if match else {})


def _alike(one: str, other: str) -> bool:
    a, b = _telling(one), _telling(other)
    return bool(a) and a == b and bool(_ENDED.search(one)) == bool(_ENDED.search(other))


def _telling(fact: str) -> frozenset[str]:
    return frozenset(stem for stem in stems(fact) if stem not in STOPWORDS)


def _replaces(new: str, old: str) -> bool:
    """The same single-valued thing with another value, or the end of it."""
    if _slot(new) is not None and _slot(new) == _slot(old):
        return True
    if _ENDED.search(new) and not _ENDED.search(old):
        rest = _telling(_ENDED.sub("", new)) - {"longer", "anymor"}
        return bool(rest) and len(rest - _telling(old)) <= (len(rest) > 2)
    return False


def _slot(fact: str) -> str | None:
    if favourite := _FAVOURITE.match(fact):
        return f"favourite {favourite[1]}"
    return next((name for name, pattern in _SLOTS if pattern.search(fact)), None)
