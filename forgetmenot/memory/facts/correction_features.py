"""The features by which memory/facts/corrections weighs a line of chat beside a known fact.

They are short texts, and the shipped table was trained on exactly these: whoever changes one trains it anew
(scripts/train_corrections.py).

A word of the line counts as itself and as what it is beside the known fact: one of its words ("=same"), another value
of a kind that it has ("=kind": weekdays, months, times, numbers), near to one in meaning ("=near", "=nearish"), said
just before ("=context"), somebody else ("=others"), a common word ("=small") or any other ("=other"). So most of what
is learned from one fact is true of every other.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple

from forgetmenot.memory.facts import lexicon as lex
from forgetmenot.memory.meaning import word_table
from forgetmenot.text.caches import text_cache
from forgetmenot.text.words import STOPWORDS, stem, words

LONGEST_VALUE = 5
"""The most words of a value."""
SHORT = 8
"""The most words and signs of a line that is also a feature as a whole."""
NEAR, NEARISH = 0.5, 0.35
"""Least cosines of "=near" and "=nearish"."""
_TOKEN = re.compile(r"<@[\w:.-]{1,64}>|@\w+|[^\W_](?:[\w'’:+.-]*[^\W_])?[%+]*|[,;.!?*…()\"“”]+")
ARTICLES = frozenset({"a", "an", "the"})
_NEGATIONS = lex.NEGATIONS | {"never"}
_SAY_WRONG = frozenset({"wrong", "false", "incorrect", "no", "nope", "nah"})
_ENDS_DENIAL = frozenset({"but", "its", "to", "and"})
OTHERS = lex.as_set(
    """he she his her him hers they their them sis bro brother sister mum mom mama dad papa mother father son daughter
    wife husband partner girlfriend boyfriend gf bf friend mate buddy boss neighbour neighbor roommate cousin uncle
    aunt kid grandma grandpa teammate coworker colleague bruder schwester mutter vater freund freundin hermano hermana
    amigo amiga novio novia frère sœur soeur copain copine pote irmão irmã fratello sorella amico amica broer zus
    vriend vriendin brat siostra kolega er sie ihr sein él ella il elle ele ela lui lei hij zij"""
)
_KINDS = {
    "number": re.compile(r"\d\d?"),
    "long number": re.compile(r"\d{3,4}"),
    "time": re.compile(r"\d{1,3}(?::\d{2}){1,2}"),
    "day": re.compile(r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?"),
    "month": re.compile(r"january|february|march|april|june|july|august|september|october|november|december"),
}
_SHARES = (0.01, 0.34, 0.5, 0.67, 1.0)
_COSINES = (0.15, 0.25, 0.35, 0.45, 0.55)

Span = tuple[int, int]
"""The numbers of a value's first word and of the word behind it."""


class Values(NamedTuple):
    """The likeliest new and old value, each with its sum of weights and its share among all that could be one."""

    new: Span
    old: Span
    new_sum: float
    old_sum: float
    new_share: float
    old_share: float


class Word(NamedTuple):
    """A word or sign of a text. `stem`: of numbers in words, the digits; of a sign, its first character."""

    start: int
    end: int
    raw: str
    word: str
    stem: str
    kind: str
    is_sign: bool

    @property
    def telling(self) -> bool:
        """Whether it carries meaning of its own."""
        return not self.is_sign and bool(self.kind or self.word not in STOPWORDS)


@text_cache(4_096)
def read_words(text: str) -> tuple[Word, ...]:
    """The words and signs of a text, in order."""
    return tuple(map(_read, _TOKEN.finditer(text)))


def _read(found: re.Match[str]) -> Word:
    raw, sign = found[0], found[0][0]
    if sign in "<@":
        return Word(*found.span(), raw, "@", "@", "", is_sign=False)
    folded = "".join(words(raw))
    if not folded or not (raw[0].isalnum()):
        return Word(*found.span(), raw, sign, sign, "", is_sign=True)
    word = raw if ":" in raw else folded
    root = lex.NUMBERS.get(word) or stem(lex.SAME.get(word, word))
    return Word(*found.span(), raw, word, root, kind_of(word), is_sign=False)


def kind_of(word: str) -> str:
    """The kind of value that a word is, in lower case; empty if it is none. Two of one kind exclude each other."""
    number = lex.NUMBERS.get(word, word)
    return next((kind for kind, pattern in _KINDS.items() if pattern.fullmatch(number)), "")


def denied(text: Sequence[Word], ends: Collection[str] = ()) -> set[str]:
    """The stems that a text denies: behind a "not", until a sign, a "but" or one of the stems of `ends`."""
    found, denies = set(), False
    for word in text:
        denies = denies and not word.is_sign and word.word not in _ENDS_DENIAL and word.stem not in ends
        if denies:
            found.add(word.stem)
        denies = denies or word.word in _NEGATIONS
    return found


def line_features(text: str) -> set[str]:
    """Of a line alone: its words, and two and three of them in a row."""
    said = ["^", *(word.word for word in read_words(text)), "$"]
    return _sequence(said, ["=value" if kind_of(word) else "=" for word in said])


class Pairing:
    """A line and something known of its speaker, beside `others` that are known.

    `context` and `said` are `by` and `said` of what came before (`corrections.Before`); `about`: whether that was about
    this fact.
    """

    def __init__(
        self,
        line: str,
        fact: str,
        others: Sequence[str] = (),
        *,
        context: str = "",
        said: str = "",
        about: bool = False,
    ) -> None:
        self.line, self.fact = read_words(line), read_words(fact)
        self._first = self.fact[0].word if self.fact else ""
        self._context, self._about = context or "none", about
        self._telling = [word for word in self.fact if word.telling]
        self._stems = {word.stem for word in self._telling}
        self._kinds = {word.kind for word in self.fact if word.kind}
        self._said_before = {word.stem for word in read_words(said) if word.telling}
        self._others = [{word.stem for word in read_words(other) if word.telling} for other in others]
        self._near: dict[int, float | None] = {}
        self._classes = [self._class_of(at) for at in range(len(self.line))]
        # with what stands before and behind, so that a neighbour needs no bounds
        self._said = ["^^", "^", *(word.word for word in self.line), "$", "$$"]
        self._padded = ["^^", "^", *self._classes, "$", "$$"]
        self._known = ["^", *(word.word for word in self.fact), "^"]

    def _class_of(self, at: int) -> str:
        word = self.line[at]
        if word.is_sign or word.word == "@":
            return word.word
        if word.stem in self._stems:
            return "=same"
        if word.word in OTHERS:
            return "=others"
        if word.kind:
            return "=kind" if word.kind in self._kinds else "=value"
        if word.word in STOPWORDS or len(word.word) <= 2:
            return "=small"
        near = self._nearest(at)
        if near is not None and near >= NEARISH:
            return "=near" if near >= NEAR else "=nearish"
        return "=context" if word.stem in self._said_before else "=other"

    @cached_property
    def _apart(self) -> list[tuple[int, float | None]]:
        """Where telling words of the line stand that the fact does not have, and how near to it they are."""
        return [(at, self._nearest(at)) for at, word in enumerate(self.line)
                if word.telling and word.stem not in self._stems]  # fmt: skip

    def _nearest(self, at: int) -> float | None:
        """The cosine of a word of the line to the nearest telling word of the fact."""
        if at not in self._near:
            self._near[at] = _most(_cosine(self.line[at].word, one.word) for one in self._telling)
        return self._near[at]

    @cached_property
    def _denied(self) -> set[str]:
        return denied(self.line)

    # ── does the line correct the fact? ───────────────────────────────────────────────────────────

    @cached_property
    def features(self) -> set[str]:
        """Of the line beside the fact."""
        said, classes = self._said[1:-1], self._padded[1:-1]
        found = _sequence(said, classes)
        shared = len({word.stem for word in self.line} & self._stems)
        share, about = _step(shared / max(1, len(self._stems)), _SHARES), self._about
        nearest = _most(near for _, near in self._apart) or 0.0
        long = _step(len(self.line), (3, 5, 8, 12, 18))
        other = max((len({word.stem for word in self.line} & stems) for stems in self._others), default=0)
        first = self._first
        found |= {
            f"share {share} {about}", f"share {share} {self._context}",
            f"nearest {_step(nearest, (.2, .3, .4, .5, .6, .7))}",
            f"nearest {_step(nearest, (.3, .45, .6))} {about}", f"long {long}", f"long {long} {about}",
            f"kinds {bool(self._kinds)} {'=kind' in classes} {about}", f"context {self._context} {about}",
            f"others {_step(shared - other, (-1, 0, 1, 2))}", f"fact {first}", f"fact {first} {about}",
        }  # fmt: skip
        no = self._denied
        new = sum(word.telling and word.stem not in self._stems | no for word in self.line)
        found |= {f"denies {min(len(no & self._stems), 2)} {min(new, 4)}", f"denies {bool(no & self._stems)} {long}"}
        if len(self.line) <= SHORT:
            # a short line as a whole, once with its small words and once as a shape alone: "no =other", "not anymore"
            small = ("=small", "=others")
            whole = [word if one in small else one for word, one in zip(said[1:], classes[1:], strict=True)]
            found |= {f"whole {' '.join(whole)}", f"whole {' '.join(classes)} {about}"}
        for word in {word.word for word in self.line if not word.is_sign}:
            found.add(f"with {word} {first}")
            found |= {f"of {word} {one.stem}" for one in self._telling[-2:]}
            padded = f"_{word}_"
            # pieces of words, so that a word that was never trained on counts as one like it
            for size in (3, 4):
                found |= {f"in {padded[at : at + size]}" for at in range(len(padded) - size + 1)}
        return found

    def outcome_features(self, values: Values) -> set[str]:
        """Beside `features`: of the most likely new and old value."""
        new, old = values.new, values.old
        fresh, gone = self.line[slice(*new)], self.fact[slice(*old)]
        likeness = _step(_most(
            _cosine(one.word, other.word) for one in fresh if one.telling for other in gone if other.telling
        ), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7))  # fmt: skip
        new_sum, old_sum = _step(values.new_sum, (-3, -2, -1, 0, 1, 2)), _step(values.old_sum, (-2, -1, 0, 1, 2))
        new_share, old_share = (_step(one, (0.3, 0.5, 0.7, 0.9)) for one in (values.new_share, values.old_share))
        a, b = new[0] + 2, new[1] + 2  # both ends of a line are "^" to what is beside a value
        before, behind, at = self._said[a - 1], self._said[b].replace("$", "^"), self._known[old[0]]
        own = " ".join(self._classes[slice(*new)])
        same = [word.stem for word in fresh] == [word.stem for word in gone]
        known = any(word.stem in self._stems for word in fresh if word.telling)
        return {
            f"likeness {likeness}", f"likeness {likeness} {new_sum}", f"likeness {likeness} {self._first}",
            f"new sum {new_sum}", f"old sum {old_sum}", f"new share {new_share}", f"old share {old_share}",
            f"shares {new_share} {old_share}", f"same {same} {known}", f"kind {fresh[-1].kind} {gone[-1].kind}",
            f"lengths {len(fresh)} {len(gone)}", f"before {before}", f"behind {behind}", f"around {before} {behind}",
            f"classes {self._padded[a - 1]} {self._padded[b].replace('$', '^')}", f"own {own}",
            f"before both {at} {before}", f"into {at} {self._first}", f"value {fresh[0].word}",
            f"last {fresh[-1].word}", f"left {min(old[0], 3)} {min(len(self.fact) - old[1], 3)}", f"at {at} {own}",
        }  # fmt: skip

    # ── which words are the values? ───────────────────────────────────────────────────────────────

    def new_values(self) -> Iterator[Span]:
        """What of the line may be a new value."""
        return (one for one in _spans(self.line) if self.line[one[0]].word not in _SAY_WRONG)

    def old_values(self) -> Iterator[Span]:
        """What of the fact may be the old one."""
        return _spans(self.fact)

    def new_value_features(self, span: Span) -> set[str]:
        """Of words of the line as a new value."""
        start, end = span
        inner, first, last = self.line[start:end], self.line[start], self.line[end - 1]
        said, classes, a, b = self._said, self._padded, start + 2, end + 2
        own = " ".join(classes[a:b])
        clause_start, clause_end = self._clause(span)
        before = [word.word for word in self.line[clause_start:start]]
        negated = not _NEGATIONS.isdisjoint(before)
        near, near_first = self._nearest(end - 1), self._nearest(start)
        rival = _most(one for at, one in self._apart if not start <= at < end)
        in_fact = {word.word for word in self.fact[:-1]}
        return {
            # p, n: the word before and behind; f, l: the first and last word of the span; with c: their classes instead
            f"p {said[a - 1]}", f"pp {said[a - 2]} {said[a - 1]}", f"pc {classes[a - 1]}",
            f"ppc {classes[a - 2]} {classes[a - 1]}", f"n {said[b]}", f"nn {said[b]} {said[b + 1]}", f"nc {classes[b]}",
            f"nnc {classes[b]} {classes[b + 1]}", f"pn {said[a - 1]} {said[b]}", f"pnc {classes[a - 1]} {classes[b]}",
            f"pcp {classes[a - 2]} {said[a - 1]}", f"f {said[a]}", f"l {said[b - 1]}", f"fc {classes[a]}",
            f"lc {classes[b - 1]}", f"len {len(inner)}", f"own {own}", f"fp {said[a]} {said[a - 1]}",
            f"lcn {classes[b - 1]} {said[b]}", f"fcp {classes[a]} {said[a - 1]}",
            f"around {own} {classes[a - 1]} {classes[b]}", f"small {sum(word.word in STOPWORDS for word in inner)}",
            f"same {sum(one == '=same' for one in self._classes[start:end])}",
            f"capital {first.raw[0].isupper()} {last.raw[0].isupper()}", f"left {min(start, 4)}",
            f"right {min(len(self.line) - end, 4)}", f"alone {start == 0 and end == len(self.line)}",
            f"clause {min(start - clause_start, 3)} {min(clause_end - end, 3)}", f"denied {negated}",
            f"denied {negated} {said[a - 1]}", f"instead {not _ENDS_DENIAL.isdisjoint(before)} {negated}",
            f"ends {clause_end == len(self.line)} {clause_start == 0}", f"near {_step(near, _COSINES)}",
            f"near first {_step(near_first, _COSINES)}",
            f"nearest {near is not None and (rival is None or near >= rival)}",
            f"before in fact {said[a - 1] in in_fact}",
            f"before at its end {said[a - 1] in [word.word for word in self.fact[-4:-1]]}",
            f"of a kind {bool(last.kind) and last.kind in self._kinds}",
            f"kinds {'=kind' in self._classes} {bool(last.kind)}", f"fact {self._first} {said[a - 1]}",
            f"fact {self._first} {classes[b - 1]}",
        }  # fmt: skip

    def _clause(self, span: Span) -> Span:
        start, end = span
        while start > 0 and not self.line[start - 1].is_sign:
            start -= 1
        while end < len(self.line) and not self.line[end].is_sign:
            end += 1
        return start, end

    def old_value_features(self, span: Span, new: Span) -> set[str]:
        """Of words of the fact as the old value, where `new` are those of the line that are the new one."""
        start, end = span
        inner, fresh = self.fact[start:end], self.line[slice(*new)]
        rest = [*self.fact[:start], *self.fact[end:]]
        said = {word.stem for word in self.line}
        here = sum(word.stem in said for word in inner)
        elsewhere = any(word.stem in said for word in rest if word.telling)
        no_here, no_elsewhere = ([word.stem in self._denied for word in some] for some in (inner, rest))
        kinds, own = [word.kind for word in fresh if word.kind], [word.kind for word in inner if word.kind]
        left, right = min(start, 3), min(len(self.fact) - end, 3)
        apart = _most(_cosine(one.word, other.word) for one in rest if one.telling for other in fresh)
        return {
            f"p {self._known[start]}", f"n {self._known[end + 1]}",
            f"f {inner[0].word}", f"l {inner[-1].word}",
            f"len {len(inner)}", f"left {left}", f"right {right}", f"both {left} {right}", f"fact {self._first}",
            f"fact {self._first} {left} {right}",
            f"small {inner[0].word in STOPWORDS} {inner[-1].word in STOPWORDS}",
            f"denied {sum(no_here)} {any(no_elsewhere)}",
            f"said {min(here, 2)} {elsewhere}",
            f"kinds {bool(kinds)} {bool(own)} {kinds == own} {not {word.kind for word in rest}.isdisjoint(kinds)}",
            f"last {_step(_cosine(inner[-1].word, fresh[-1].word), _COSINES)}",
            f"first {_step(_cosine(inner[0].word, fresh[0].word), _COSINES)}",
            f"rest {_step(apart, _COSINES)}",
            f"lengths {len(inner)} {len(fresh)}", f"capital {inner[0].raw[0].isupper()} {fresh[0].raw[0].isupper()}",
            f"capitals {any(word.raw[0].isupper() for word in inner)} {any(word.raw[0].isupper() for word in rest)}",
            f"telling {inner[0].telling and inner[-1].telling} {sum(word.telling for word in self.fact[end:])}",
        }  # fmt: skip


@text_cache(65_536)
def _cosine(one: str, other: str) -> float | None:
    """How near two words are in meaning; None where the table does not know both."""
    table = word_table()
    numbers = table.numbers((one, other)) if table else ()
    return table.cosine(*numbers) if table and len(numbers) == 2 else None


def _most(cosines: Iterable[float | None]) -> float | None:
    return max((one for one in cosines if one is not None), default=None)


def _sequence(said: Sequence[str], classes: Sequence[str]) -> set[str]:
    """Words and classes alone, and two and three of them in a row."""
    found = {f"w {word}" for word in said} | {f"c {one}" for one in classes}
    for at in range(len(said) - 1):
        (a, b), (x, y) = said[at : at + 2], classes[at : at + 2]
        found |= {f"b {a} {b}", f"b {a} {y}", f"b {x} {b}", f"b {x} {y}"}
    for at in range(len(said) - 2):
        (a, b, c), (x, y, z) = said[at : at + 3], classes[at : at + 3]
        found |= {f"s {a} {z}", f"s {x} {c}", f"s {a} {c}", f"t {x} {b} {z}", f"t {a} {y} {c}"}
        found |= {f"t {a} {b} {z}", f"t {x} {b} {c}", f"t {x} {y} {z}"}
    return found


def _spans(text: Sequence[Word]) -> Iterator[Span]:
    for start, first in enumerate(text):
        if first.is_sign or first.word in ARTICLES:
            continue
        for end in range(start + 1, min(len(text), start + LONGEST_VALUE) + 1):
            if text[end - 1].is_sign:
                break
            yield start, end


def _step(value: float | None, edges: Sequence[float]) -> int:
    """How many of the edges a value reaches; -1 of none."""
    return -1 if value is None else sum(value >= edge for edge in edges)
