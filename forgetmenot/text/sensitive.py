"""What is never stored about people: a deterministic filter, not a request to a model.

Promises the same answer for the same text: the first category that a phrase falls into, in English, also behind
look-alike letters. It reads phrases, not minds: measured on a list (tests/text/sensitive_phrases.txt), it misses
what is only hinted at and refuses some harmless talk. A note too few is cheaper than a confidence kept.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from forgetmenot.text import sensitive_rules as rules
from forgetmenot.text.lookalikes import skeleton
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
    serious = rules.BANTER.sub(" · ", looks)
    return next((name for name in CATEGORIES if name not in allow and _falls_into(name, serious)), None)


def _falls_into(category: str, text: str) -> bool:
    if any(found(text) for found in _NUMBERS.get(category, ())):
        return True
    return rules.PATTERNS[category].search(text) is not None


def _has_own_words(text: str, extra: Iterable[str]) -> bool:
    wanted = [f" {' '.join(stems(phrase))} " for phrase in extra]
    said = f" {' '.join(stems(text))} " if wanted else ""
    return any(phrase in said for phrase in wanted if phrase.strip())
