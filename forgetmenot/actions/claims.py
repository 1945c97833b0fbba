"""Whether a sentence says that something was done to somebody or to the channel. Pure.

For words that go out after a refusal: whatever claims a deed is replaced by a neutral line. Errs on the side of
hearing a claim; a promise ("I'll time you out") counts as one.
"""

import re

from forgetmenot.actions.catalogue import ACTIONS, find
from forgetmenot.text.lookalikes import skeleton

_DEEDS = "|".join(action.tells for action in ACTIONS if action.tells)
_CLAIM = re.compile(rf"\b(?:{_DEEDS}|purg(?:ed|ing)|executed|approved)\b")
_DENIAL = re.compile(
    r"\b(?:can(?:'|no)?t|cannot|can not|won'?t|will not|not|no|never|nope|unable"
    r"|wasn'?t|isn'?t|didn'?t|did not|refused?)\b"
)
_DONE = re.compile(r"\b(?:done|all set|it is so|consider it)\b")
_NEVER = re.compile(r"(?!)")
_CLAUSE = re.compile(r"[.!?;,…\n]+|\b(?:but|and|so|then|because)\b")


def claims(text: str) -> bool:
    """Whether any clause of the text tells of a deed without denying it."""
    return any(_claims(clause) for clause in _CLAUSE.split(skeleton(text).replace("’", "'")))


def claims_more(text: str, name: str) -> bool:
    """Whether the text tells of another deed than the action of that name, which was done."""
    action = find(name)
    own = re.compile(rf"\b(?:{action.tells})\b") if action is not None and action.tells else _NEVER
    clauses = _CLAUSE.split(skeleton(text).replace("’", "'"))
    return any(_CLAIM.search(own.sub(" ", clause)) and not _DENIAL.search(clause) for clause in clauses)


def _claims(clause: str) -> bool:
    return bool((_CLAIM.search(clause) or _DONE.search(clause)) and not _DENIAL.search(clause))
