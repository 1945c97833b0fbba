"""Single-valued slots: what a person has one of at a time (home, job, main, birthday …), found in a short fact.

Promises for each slot its name, its key (whose, in which game, which favourite) and its value as stems. Two facts
that fill the same slot with different values cannot both be true. Knows English phrasings only.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from forgetmenot.text import lexicon as lex
from forgetmenot.text.slot_rules import RULES
from forgetmenot.text.words import stem


class Slot(NamedTuple):
    """One filled slot. `key` tells apart slots of one name; `value` and `rest` (what else the fact says) are stems.

    `spelt` is the value in the words as they were written: a slip may change where a word's stem ends.
    An empty key was not said ("mains Jinx") and fits any. `few`: one may have several of it. `ended`: moved away.
    `past`: told as something that was ("worked as a waiter"), of which there may have been several.
    """

    name: str
    who: frozenset[str]
    key: frozenset[str]
    value: frozenset[str]
    spelt: frozenset[str]
    rest: frozenset[str]
    few: bool = False
    ended: bool = False
    past: bool = False


_BY_WORD: dict[str, list[int]] = {}
for _index, _rule in enumerate(RULES):
    for _trigger in _rule.triggers:
        _BY_WORD.setdefault(_trigger, []).append(_index)
_CUT = re.compile(
    r" (?:with|and (?:has|is|works|lives|plays)|since|for|because|where|but|so|after|before|right now|these days"
    r"|as well|too|instead|every|near|on weekends?|this|last|until|when|while|over|rather)\b"
)
_PAST = re.compile(r"\b(?:lived|resided|worked|studied|majored|drove|supported|attended|went)\b")
_ARTICLES = lex.as_set(
    """a an the their his her its now in of at to is be are currently still again and s also recently just really"""
)
_NOT_WHO = (
    lex.FILLER
    | lex.NEGATIONS
    | lex.as_set("never used no longer not stopped quit gave like use has been switched changed started")
)


@lru_cache(maxsize=8_192)
def slots_of(tokens: str) -> tuple[Slot, ...]:
    """The slots that a fact fills, given as `Reading.tokens`."""
    words = tokens.split()
    rules = sorted({index for word in words for index in _BY_WORD.get(word, ())})
    found = [_fill(RULES[at].name, match) for at in rules if (match := RULES[at].pattern.search(tokens))]
    return tuple(slot for slot in found if slot.value)


def _fill(name: str, match: re.Match[str]) -> Slot:
    groups = match.groupdict()
    value, rest = _cut(groups["value"])
    after = match.string[match.end() :] + " " + (groups.get("after") or "")
    return Slot(
        name=name,
        who=_stems(groups.get("who") or "", _NOT_WHO),
        key=_stems(groups.get("key") or "", lex.FILLER),
        value=_stems(value, _ARTICLES),
        spelt=frozenset(value.split()) - _ARTICLES,
        rest=_stems(f"{rest} {after}", lex.FILLER),
        few=bool(groups.get("few")),
        ended="away from" in match[0] or "out of" in match[0],
        past=bool(_PAST.search(match[0])),
    )


def _cut(value: str) -> tuple[str, str]:
    """What was said as the value, and what was said after it."""
    end = _CUT.search(value)
    return (value[: end.start()], value[end.start() :]) if end else (value, "")


def _stems(text: str, without: frozenset[str]) -> frozenset[str]:
    return frozenset(
        stem(lex.SAME.get(word, lex.NUMBERS.get(word, word))) for word in text.split() if word not in without
    )
