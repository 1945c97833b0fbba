"""What a conversation should teach, and which of the notes made of it are right. Pure.

A note is judged by the first of these that holds:

- **fact**: about the right subject and it has the words of something to be learned. The fact counts as learned, too.
- **true**: about the right subject and it has the words of something true that need not be learned.
- **wrong subject**: it has the words of such a fact, and is about somebody else.
- **trap**: it has the words of something that must not be learned (a joke, a quote, hearsay, an outdated fact …).
- **junk**: everything else: nobody said it, or nobody would want it remembered.

A trap about the same subject outweighs a fact ("favourite game was Celeste, now Hades" has both words, and is a fact:
so a fact is looked for first). Words are compared by their stems, as the bot's own recall reads them.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from forgetmenot.text.words import STOPWORDS, stem, stems, words

CHANNEL = "channel"
ANY = "any"
LEARN, TRUE, TRAP = "+", "~", "-"
SUPPORT = 0.7
"""So much of a note's content words must stand in one line of its subject, where there is no list of facts by hand."""
COVERED = 0.5
"""So much of a known fact's content words must stand in a note of its subject for it to count as learned."""

_LINE = re.compile(r"((?:\d+:)?\d+:\d\d) (\w+): (.+)")
_MARK = re.compile(r"\s+([+~-]) ([\w|]+): (.+)")
_ASKED = re.compile(r"\s+\? (.+)")
_UNKNOWN = re.compile(
    r"\b(?:(?:is|do|does|did|can|have|has)(?:n['’]?t| not)|not (?:in|anything|sure)|never|nothing|unknown|no idea"
    r"|no (?:\w+ ){0,3}(?:notes?|memory|record))\b",
    re.IGNORECASE,
)


class Pattern(NamedTuple):
    """Words that a text must have: of each group one; and words that it must not have."""

    groups: tuple[tuple[tuple[str, ...], ...], ...]
    without: frozenset[str]

    @classmethod
    def of(cls, text: str) -> "Pattern":
        """Read `a|b, c, !d`."""
        parts = [part.strip() for part in text.split(",")]
        groups = tuple(
            tuple(tuple(stems(choice)) for choice in part.split("|")) for part in parts if not part.startswith("!")
        )
        return cls(groups, frozenset(part[1:] for part in parts if part.startswith("!")))

    def fits(self, text: str) -> bool:
        """Whether a text has them."""
        plain = set(words(text))
        held = plain | {stem(word) for word in plain}
        return not (self.without & held) and all(
            any(held.issuperset(choice) for choice in group) for group in self.groups
        )


class Mark(NamedTuple):
    """One thing that a line teaches, or must not. `of`: the number of the line."""

    kind: str
    who: tuple[str, ...]
    pattern: Pattern
    text: str
    of: int

    def about(self, subject: str) -> bool:
        """Whether it is about this login, or the channel."""
        return subject in self.who or ANY in self.who


class Said(NamedTuple):
    """One line of chat. `at`: seconds since the conversation began; `wanted`: what an answer to it must say."""

    at: int
    login: str
    text: str
    wanted: str = ""


class Note(NamedTuple):
    """What was learned: a login or "channel", and a fact with names in it."""

    subject: str
    fact: str


@dataclass
class Conversation:
    """Lines with what they teach."""

    lines: list[Said] = field(default_factory=list)
    marks: list[Mark] = field(default_factory=list)

    def first(self, limit: int) -> "Conversation":
        """Its first lines, with what they teach, and the questions that can be answered from them."""
        chat = [line for line in self.lines if not line.wanted][:limit]
        until = chat[-1].at if chat else 0
        marks = [m for m in self.marks if self.lines[m.of].at <= until or self.lines[m.of].wanted]
        asked = [line for line in self.lines if line.wanted and _answerable(line, marks)]
        kept = Conversation([*chat, *asked])
        kept.marks = [mark._replace(of=kept.lines.index(self.lines[mark.of])) for mark in marks]
        return kept


def _answerable(line: Said, marks: Sequence[Mark]) -> bool:
    if line.wanted.startswith(("done ", "noted ", "!", "unknown")):
        return True
    wanted = Pattern.of(line.wanted)
    return any(mark.kind == LEARN and wanted.fits(mark.text.replace("|", " ")) for mark in marks)


def read_stream(path: Path) -> Conversation:
    """A conversation with its marks. Raises ValueError that names the line which is neither."""
    read = Conversation()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if said := _LINE.fullmatch(line):
            read.lines.append(Said(_seconds(said[1]), said[2], said[3]))
        elif mark := _MARK.fullmatch(line):
            at = len(read.lines) - 1
            read.marks.append(Mark(mark[1], tuple(mark[2].split("|")), Pattern.of(mark[3]), mark[3], at))
        elif asked := _ASKED.fullmatch(line):
            read.lines[-1] = read.lines[-1]._replace(wanted=asked[1])
        else:
            raise ValueError(f"{path.name}, line {number} is neither chat nor a mark: {line}")
    return read


def _seconds(text: str) -> int:
    total = 0
    for part in text.split(":"):
        total = total * 60 + int(part)
    return total


# ── judging ─────────────────────────────────────────────────────────────────────────────────


@dataclass
class Judged:
    """What came of a conversation's notes."""

    known: int = 0
    learned: int = 0
    verdicts: list[tuple[str, Note]] = field(default_factory=list)
    missed: list[str] = field(default_factory=list)

    def rates(self) -> dict[str, float]:
        """Shares of the known facts, and of the notes."""
        count = Counter(verdict for verdict, _ in self.verdicts)
        notes = len(self.verdicts)
        return {
            "known_facts": self.known,
            "facts_learned": share(self.learned, self.known),
            "notes": notes,
            "notes_true": share(count["fact"] + count["true"], notes),
            "wrong_subject": share(count["wrong subject"], notes),
            "traps": share(count["trap"], notes),
            "junk": share(count["junk"], notes),
        }


def judge(notes: Iterable[Note], conversation: Conversation) -> Judged:
    """Judge notes by a list of facts made by hand."""
    known = [mark for mark in conversation.marks if mark.kind == LEARN]
    found: set[int] = set()
    judged = Judged(known=len(known))
    for note in notes:
        fitting = [mark for mark in conversation.marks if mark.pattern.fits(note.fact)]
        verdict = _verdict(note, fitting)
        found.update(index for index, mark in enumerate(known) if mark in fitting and mark.about(note.subject))
        judged.verdicts.append((verdict, note))
    judged.learned = len(found)
    judged.missed = [f"{'|'.join(m.who)}: {m.text}" for index, m in enumerate(known) if index not in found]
    return judged


def _verdict(note: Note, fitting: Sequence[Mark]) -> str:
    own = {mark.kind for mark in fitting if mark.about(note.subject)}
    for kind, verdict in ((LEARN, "fact"), (TRAP, "trap"), (TRUE, "true")):
        if kind in own:
            return verdict
    if any(mark.kind in {LEARN, TRUE} for mark in fitting):
        return "wrong subject"
    return "trap" if any(mark.kind == TRAP for mark in fitting) else "junk"


def judge_by_lines(notes: Iterable[Note], facts: Sequence[Note], lines: Sequence[Said]) -> Judged:
    """Judge notes where the only list is of what was said: `facts` are those to be learned, `lines` the evidence."""
    judged, learned = Judged(known=len(facts)), list(notes)
    for note in learned:
        own = max((_share_in(note.fact, line.text) for line in lines if line.login == note.subject), default=0.0)
        others = max((_share_in(note.fact, line.text) for line in lines if line.login != note.subject), default=0.0)
        verdict = "fact" if own >= SUPPORT else "wrong subject" if others >= SUPPORT else "junk"
        judged.verdicts.append((verdict, note))
    for fact in facts:
        if any(note.subject == fact.subject and _share_in(fact.fact, note.fact) >= COVERED for note in learned):
            judged.learned += 1
        else:
            judged.missed.append(f"{fact.subject}: {fact.fact}")
    return judged


def _share_in(part: str, whole: str) -> float:
    wanted = content(part)
    return len(wanted & content(whole)) / len(wanted) if wanted else 0.0


def content(text: str) -> set[str]:
    """The stems of a text's words that say something."""
    return {stem(word) for word in words(text) if word not in STOPWORDS}


def answered(wanted: str, reply: str) -> bool:
    """Whether a reply says what was wanted. A question whose answer nobody knows is answered by silence, too."""
    if not reply:
        return wanted.startswith(("!", "unknown"))
    if wanted == "unknown":
        return bool(_UNKNOWN.search(reply))
    choices = [part for part in wanted.split("|") if part != "unknown"]
    return Pattern.of("|".join(choices)).fits(reply) or ("unknown" in wanted and bool(_UNKNOWN.search(reply)))


def share(part: float, whole: float) -> float:
    """A share with three digits; 0 of nothing."""
    return round(part / whole, 3) if whole else 0.0
