"""What a line of chat corrects of what is known: both are about the same matter and say different values of it. Pure.

The matter is the same where it is certain (the speaker has just said the note, or the bot has just used it in an answer
to them), or where line and note share a telling word. Different values are:

- what the line denies and what it says instead ("cello, not viola");
- two of one kind: weekdays, months, times, numbers ("the exam moved to Friday");
- two words that are near in meaning and stand beside the same word ("red switches", "brown switches");
- where the matter is certain, the few words of a line that says that it corrects ("scratch that, Dark Souls 3").

What supposes, wishes, or speaks of somebody else corrects nothing. Prefers "nothing" where two notes fit.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple, Protocol, TypeVar

from forgetmenot.domain.memory import Note
from forgetmenot.memory.facts import lexicon as lex
from forgetmenot.memory.facts.similarity import Relation, relate
from forgetmenot.memory.meaning import Meanings, WordTable
from forgetmenot.text.statements import claims, fact_of, is_moping, meant_part, own_fact
from forgetmenot.text.words import STOPWORDS, stem, telling_stems, words

JUST_SAID = 0.6
"""So large a share of a note's telling words in a line makes it the note that the line was about."""
VALUE_WORDS = 3
NEAR, FAR = 0.38, 0.15
"""Cosines of two words: from NEAR on they may be values of one thing, below FAR they are not."""

_SURELY = lex.as_set("correction scratch scrap strike meant misspoke mistyped mind")
_CORRECTS = _SURELY | lex.as_set("no nah nope not actually wait sorry oops wrong mean nein non não нет")
_MARKS = _CORRECTS | lex.as_set(
    """moved move changed change pushed switched upgraded cancelled now since finally new again instead anymore
    jetzt verschoben ahora maintenant agora теперь"""
)
"""Words by which a line says that it corrects: surely, probably, or in that something has changed."""
_TALK = STOPWORDS | _MARKS | lex.as_set("btw bot please way today tonight yesterday week days nowadays lately guess")
_SUPPOSES = lex.as_set("if unless would could should might may wish want wanna hope plan dream nearly almost")
_DENIES = (lex.NEGATIONS - {"no"}) | {"never"}
_AFFIRMS = frozenset({"to", "but", "its"})
_OWN = frozenset({"i", "im", "ive", "my"})
_AROUND = _MARKS | _OWN | lex.as_set("a an the it its is thats in at on to say lol btw bot please pls")
"""Words that may stand around a value that names no subject; with others it is a sentence about something else."""
_SOMEBODY = re.compile(
    r"\b(?:he|she|his|her|their|him|them|sis|bro|(?:my|our) (?:\w+ )?(?:brother|sister|mum|mom|dad|mother|father|son"
    r"|daughter|wife|husband|partner|girlfriend|boyfriend|friend|mate|boss|neighbou?r|roommate|cousin|uncle|aunt"
    r"|kid)s?)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_](?:[\w'’:+-]*[^\W_])?[%+]*")
_CLAUSE = re.compile(r"[,;.!]+(?:\s+|\Z)|\s[-–—]+\s|\b(?:and|but|so)\b\s*", re.IGNORECASE)
_TO_BOT = re.compile(r"@\w+[,:]?")
_STARRED = re.compile(r"\*[\w'’ -]{2,30}|[\w'’ -]{2,30}\*")
_KINDS = {
    "number": re.compile(r"\d\d?"),
    "long number": re.compile(r"\d{3,4}"),
    "time": re.compile(r"\d{1,3}(?::\d{2}){1,2}"),
    "day": re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"),
    "month": re.compile(r"january|february|march|april|june|july|august|september|october|november|december"),
}
_END = re.compile(
    r"(?:.*\b(?:is|are|called|named)(?: an?| the)?|\w+s(?: (?:an?|the|in|at|on|as|to|for|from|with))*) (?P<old>.+)"
)


class Stated(Protocol):
    """A note, or something else that is known."""

    @property
    def fact(self) -> str:
        """What it says, without its subject."""


Known = TypeVar("Known", bound=Stated)


def may_correct(text: str) -> bool:
    """Whether a line has a word by which it could; most have none."""
    return "*" in text or any(word in _OWN | _MARKS or kind_of(word) for word in words(text))


def corrected(
    meant: str, held: Sequence[Note], certain: Sequence[Note] = (), table: WordTable | None = None
) -> tuple[Note, str] | None:
    """The live note that a line contradicts, and what it says instead. `certain`: those that it must be about."""
    found = _claimed(meant, held) or revised(meant, held, certain, table)
    return None if found is None or is_moping(found[0].fact, found[1]) else found


def revised(
    meant: str, held: Sequence[Known], certain: Sequence[Known] = (), table: WordTable | None = None
) -> tuple[Known, str] | None:
    """The one note to which a line gives another value, and the note with that value."""
    line = _Line(_TO_BOT.sub("", meant).strip(), table)
    may = line.marked or line.denied or certain
    if not may or _SOMEBODY.search(meant) or any(word.word in _SUPPOSES for word in line.words):
        return None
    for some, sure in ((certain, True), (held, False)):
        found = [(note, fact) for note in some if (fact := _with_new_value(line, note.fact, certain=sure))]
        if len(found) == 1:
            return found[0]
    return None


def supports_correction(line: str, old: str, new: str) -> bool:
    """Whether a line of its subject carries a model's correction of a note: every new word is theirs."""
    meant = "" if line.rstrip().endswith("?") else meant_part(line)
    said, before, after = map(telling_stems, (meant, old, new))
    fresh, gone = after - before, before - after
    denied = {stem(word.word) for clause in _clauses(meant, gone) for word in clause if word.denied}
    own = fresh <= said and bool(fresh or gone & said) and fresh.isdisjoint(denied)
    return own and not (_SOMEBODY.search(meant) and not _SOMEBODY.search(old)) and not is_moping(old, new)


def meant_note(held: Sequence[Note], fact: str) -> Note | None:
    """The one note that a new text is about: the one that it contradicts, or shares the most telling words with."""
    said = {stem(word) for word in words(fact)} - STOPWORDS
    shared = {note.id: len(said & {stem(word) for word in words(note.fact)}) for note in held}
    most = max(shared.values(), default=0)
    conflicts = [note for note in held if relate(note.fact, fact) is Relation.CONFLICT]
    found = conflicts or [note for note in held if most and shared[note.id] == most]
    return found[0] if len(found) == 1 else None


def just_said(held: Sequence[Note], lately: Sequence[str]) -> list[Note]:
    """The notes that the newest line about any of them was about."""
    telling = [({stem(word) for word in words(note.fact)} - STOPWORDS, note) for note in held]
    for line in lately:
        said = {stem(word) for word in words(line)}
        if about := [note for own, note in telling if own and len(own & said) >= JUST_SAID * len(own)]:
            return about
    return []


def _claimed(meant: str, held: Sequence[Note]) -> tuple[Note, str] | None:
    """The one note that something said about the speaker contradicts: "I live in Bergen now"."""
    for forms in _readings(meant):
        for fact in forms:
            related = [(relate(note.fact, fact), note) for note in held]
            if any(relation is Relation.DUPLICATE for relation, _ in related):
                break
            conflicts = [note for relation, note in related if relation is Relation.CONFLICT]
            if len(conflicts) == 1:
                return conflicts[0], fact
    return None


def _readings(meant: str) -> Iterator[tuple[str, ...]]:
    """What a line may state of its speaker, each in the forms that a note may have.

    "My cat is called Soot" is also what it says of the one cat there is; "Hades is my favourite game" stands on its
    head.
    """
    for claim in claims(meant):
        definite = ("their " + claim.removeprefix("'s "),) if claim.startswith("'s ") else ()
        yield fact_of(claim), *definite
    for clause in _CLAUSE.split(meant):
        value, _, what = clause.partition(" is my ")
        if what:
            yield (own_fact(f"my {what} is {value}") or "",)


class _Word(NamedTuple):
    """A word of a line or note: where it stands, beside which stems, and its kind if it is a value of one."""

    start: int
    end: int
    word: str
    stem: str
    kind: str
    beside: frozenset[str]
    denied: bool

    @property
    def telling(self) -> bool:
        return bool(self.kind) or self.word not in _TALK


def _clauses(text: str, ends: Collection[str] = ()) -> list[list[_Word]]:
    """The clauses of a text as their words. What stands behind a stem of `ends` in a denial is not denied."""
    found, at = [], 0
    for stop in [*_CLAUSE.finditer(text), None]:
        found.append(_words(text, at, stop.start() if stop else len(text), ends))
        at = stop.end() if stop else at
    return [clause for clause in found if clause]


@lru_cache(maxsize=4_096)
def _of_note(fact: str) -> tuple[tuple[_Word, ...], frozenset[str]]:
    """The words of a note, and their stems."""
    found = tuple(word for clause in _clauses(fact) for word in clause)
    return found, frozenset(word.stem for word in found)


def _words(text: str, start: int, end: int, ends: Collection[str]) -> list[_Word]:
    spans = list(_WORD.finditer(text, start, end))
    folded = [one[0] if ":" in one[0] else "".join(words(one[0])) for one in spans]
    roots = [lex.NUMBERS.get(word) or stem(lex.SAME.get(word, word)) for word in folded]
    found, denied = [], False
    denies = _DENIES | {"from"} if "to" in folded and not _MARKS.isdisjoint(folded) else _DENIES  # "moved from … to …"
    for at, (span, word) in enumerate(zip(spans, folded, strict=True)):
        denied = (denied or word in denies) and word not in _AFFIRMS and roots[at] not in ends
        beside = frozenset(roots[max(0, at - 1) : at] + roots[at + 1 : at + 2]) - STOPWORDS
        found.append(_Word(*span.span(), word, roots[at], kind_of(word), beside, denied))
    return found


def kind_of(word: str) -> str:
    """The kind of value that a word is, in lower case; empty if it is none. Two of one kind exclude each other."""
    number = lex.NUMBERS.get(word, word)
    return next((kind for kind, pattern in _KINDS.items() if pattern.fullmatch(number)), "")


class _Line:
    """A line taken apart: what it says and denies, and how plainly it says that it corrects."""

    def __init__(self, text: str, table: WordTable | None) -> None:
        self.text, self._table = text, table
        self.clauses = _clauses(text)
        self.words = [word for clause in self.clauses for word in clause]
        self.said = [word for word in self.words if word.telling and not word.denied]
        self.stems = {word.stem for word in self.words if word.telling}
        self.denied = {word.stem for word in self.words if word.telling and word.denied}
        marks = {word.word for word in self.words} & _MARKS
        self.surely = bool(marks & _SURELY or _STARRED.fullmatch(text))
        self.corrects = self.surely or bool(marks & _CORRECTS)
        self.names_it = any(word.word == "its" for word in self.words)
        self.marked = self.corrects or bool(marks)

    def values(self) -> list[_Word]:
        """The values of the first clause that says some."""
        clauses = ([word for word in clause if word.kind and not word.denied] for clause in self.clauses)
        return next(filter(None, clauses), [])

    def phrase(self, known: Collection[str]) -> list[_Word]:
        """All that it says and is not `known`, where that is a few words of one clause and no claim of its own."""
        new = [word for word in self.said if word.stem not in known]
        clause = next((clause for clause in self.clauses if new and new[0] in clause), [])
        before = {word.word for word in clause if word.start < new[0].start}
        claim = before & _OWN and not before & _MARKS and not any(word.denied for word in clause)
        few = new and new[-1] in clause and len(self.between(new).split()) <= VALUE_WORDS
        return new if few and not claim else []

    def is_value(self, found: Sequence[_Word]) -> bool:
        """Whether nothing but a few small words stands around them in their clause."""
        clause = next(clause for clause in self.clauses if found[0] in clause)
        return all(word in found or word.word in _AROUND for word in clause)

    def between(self, found: Sequence[_Word]) -> str:
        """The text from the first of some words to the last."""
        return self.text[found[0].start : found[-1].end]

    def cosine(self, one: _Word, two: _Word) -> float | None:
        """How near two words are in meaning; None where the table does not know both."""
        numbers = self._table.numbers((one.word, two.word)) if self._table else []
        if self._table is None or len(numbers) < 2:
            return None
        return Meanings(self._table, [numbers[:1]]).cosines(numbers[1:])[0]


def _with_new_value(line: _Line, fact: str, *, certain: bool) -> str | None:
    """What a note says with the value that the line has instead."""
    note, stems = _of_note(fact)
    if not certain and line.stems.isdisjoint(stems):
        return None
    new = line.phrase(stems)
    old = [word for word in note[1:] if word.stem in line.denied and word.telling]
    if old and new:
        return _put(fact, [(old[0].start, old[-1].end, line.between(new))])
    shared = {word.stem for word in line.said if not word.kind and word.stem not in lex.LIGHT_VERBS} & stems
    other = any(word.kind for word in old)  # the value itself is denied
    if not (shared or certain or other) or not (line.marked or (shared and certain)):
        return None
    if values := line.values():
        return _put(fact, [(*pair[0][:2], pair[1].word) for pair in _of_one_kind(values, note, certain=certain)])
    if not new or (shared and len(new) > 1):
        return None
    said, telling = line.between(new), [word for word in note if word.telling and word.stem not in shared]
    like = [(line.cosine(new[-1], one), one) for one in telling if not shared or one.beside & new[0].beside & shared]
    near, nearest = max(((near, one) for near, one in like if near is not None), default=(None, None))
    if nearest is not None and near is not None and near >= NEAR and (shared or line.corrects):
        return _put(fact, [(nearest.start, nearest.end, said)])
    plainly = line.surely or (line.corrects and (line.names_it if near is None else near >= FAR))
    end = _END.fullmatch(fact) if certain and plainly and not shared and line.is_value(new) else None
    return _put(fact, [(*end.span("old"), said)]) if end else None


def _of_one_kind(values: Sequence[_Word], note: Sequence[_Word], *, certain: bool) -> list[tuple[_Word, _Word]]:
    """The values of a note with those in their place; none where the line has one of them too, or says not which."""
    old = [word for word in note if word.kind == values[0].kind]
    if len(old) > len(values) or (values[0].kind == "number" and not certain and any(word.beside for word in old)):
        old = [word for word in old if any(word.beside & one.beside for one in values)]
    both = {word.stem for word in old} & {word.stem for word in values}
    same = len(old) == len(values) and not both and len({word.kind for word in values}) == 1
    return list(zip(old, values, strict=True)) if same else []


def _put(fact: str, changes: Sequence[tuple[int, int, str]]) -> str | None:
    """The fact with other words in these places, with a capital letter where the old ones had one."""
    for start, end, new in sorted(changes, reverse=True):
        said = f"{new[:1].upper()}{new[1:]}" if fact[start].isupper() else new
        fact = f"{fact[:start]}{said}{fact[end:]}"
    return fact if changes else None
