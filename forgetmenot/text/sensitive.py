"""What is never stored about people: a deterministic filter, not a request to a model.

Promises the same answer for the same text: the first category that a phrase falls into, in English, also behind
look-alike letters, digits for letters and words of lone letters. It reads phrases, not minds: measured on two
lists (in tests/text), it misses what is only hinted at and refuses some harmless talk. A note too few is
cheaper than a confidence kept.
"""

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from forgetmenot.text import sensitive_rules as rules
from forgetmenot.text.lookalikes import skeleton, unleet
from forgetmenot.text.mentions import MENTION
from forgetmenot.text.numbers import has_account, has_card, has_phone
from forgetmenot.text.words import stems

CATEGORIES = (
    "payment",
    "contact",
    "address",
    "real_name",
    "mood",
    "health",
    "faith",
    "politics",
    "sexuality",
    "minor_age",
)
"""The names for the settings, in the order in which they are looked for; words of one's own are "custom"."""

CUSTOM = "custom"

_MIXED = re.compile(r"(?<!\w)(?=\S{0,30}[a-z])(?=\S{0,30}[0134579@$!])[\w@$!]+")  # d1abetes
_LONE = re.compile(r"(?<!\w)(?:[a-z][ .*_-]){2,}[a-z](?!\w)")  # g a y
_AFTER_A = re.compile(r"(?<=\b[ai] )(?:[a-z][ .*_-]){2,}[a-z](?!\w)")  # is a g a y
_DIGIT = {
    name: str(number % 10)
    for number, name in enumerate(
        ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "oh")
    )
}
_NAMED_DIGITS = re.compile(rf"\b(?:(?:{'|'.join(_DIGIT)})[ ,-]{{0,3}}){{6,}}(?:{'|'.join(_DIGIT)})\b")

_NUMBERS = {"payment": (has_card, has_account), "contact": (has_phone,)}


def sensitive_category(text: str, *, allow: AbstractSet[str] = frozenset(), extra: Iterable[str] = ()) -> str | None:
    """The category that keeps a text from being stored, or None.

    `allow` names categories that may be stored after all; `extra` are words or phrases that may not, in any
    inflection, whatever is allowed.
    """
    bare = MENTION.sub(" somebody ", text)
    if _has_own_words(bare, extra):
        return CUSTOM
    looks = " ".join(skeleton(bare).replace("’", "'").split())
    serious = [rules.BANTER.sub(" · ", reading) for reading in _readings(looks)]
    asked = (name for name in CATEGORIES if name not in allow)
    return next((name for name in asked if any(_falls_into(name, reading) for reading in serious)), None)


def _readings(text: str) -> list[str]:
    """The text, and what it says to somebody who wants to understand: mostly the text alone."""
    found = {text: None}
    found |= dict.fromkeys(pattern.sub(_joined, text) for pattern in (_LONE, _AFTER_A))
    for one in list(found):
        found[_MIXED.sub(lambda word: unleet(word[0]), one)] = None
        found[_MIXED.sub(lambda word: unleet(word[0].replace("1", "i")), one)] = None
    found[_NAMED_DIGITS.sub(lambda run: "".join(_DIGIT[name] for name in re.findall(r"\w+", run[0])), text)] = None
    return list(found)


def _joined(spelt: re.Match[str]) -> str:
    return re.sub(r"\W|_", "", spelt[0])


def _falls_into(category: str, text: str) -> bool:
    if any(found(text) for found in _NUMBERS.get(category, ())):
        return True
    return rules.PATTERNS[category].search(text) is not None


def _has_own_words(text: str, extra: Iterable[str]) -> bool:
    wanted = [f" {' '.join(stems(phrase))} " for phrase in extra]
    said = f" {' '.join(stems(text))} " if wanted else ""
    return any(phrase in said for phrase in wanted if phrase.strip())
