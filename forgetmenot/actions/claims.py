"""Whether a sentence says that something was done to somebody or to the channel. Pure.

For words that go out after a refusal: whatever claims a deed is replaced by a neutral line. Errs on the side of
hearing a claim; a promise ("I'll time you out") counts as one.
"""

import re

from forgetmenot.text.lookalikes import skeleton

_DEEDS = (
    r"tim(?:ed?|ing)[\s-]*(?:\w+\s)?out|time[\s-]?outs?|muted?|muting|bann(?:ed|ing)|ban(?:s|hammer)?|unbann?(?:ed|ing)?"
    r"|kick(?:ed|ing)|purg(?:ed|ing)|delet(?:ed|ing)|remov(?:ed|ing)|silenc(?:ed|ing)|clipp?(?:ed|ing)|mark(?:ed|ing)"
    r"|announc(?:ed|ing)|shout(?:ed|ing)?[\s-]?out|slow mode|emote[\s-]?only|remembered|forgot(?:ten)?|erased"
    r"|chang(?:ed|ing)|renam(?:ed|ing)|saved|noted|lifted|executed|gone|approved"
)
_CLAIM = re.compile(rf"\b(?:{_DEEDS})\b")
_DENIAL = re.compile(
    r"\b(?:can(?:'|no)?t|cannot|can not|won'?t|will not|not|no|never|nope|unable"
    r"|wasn'?t|isn'?t|didn'?t|did not|refused?)\b"
)
_DONE = re.compile(r"\b(?:done|all set|it is so|consider it)\b")
_CLAUSE = re.compile(r"[.!?;,…\n]+|\b(?:but|and|so|then|because)\b")


def claims(text: str) -> bool:
    """Whether any clause of the text tells of a deed without denying it."""
    return any(_claims(clause) for clause in _CLAUSE.split(skeleton(text).replace("’", "'")))


def _claims(clause: str) -> bool:
    return bool((_CLAIM.search(clause) or _DONE.search(clause)) and not _DENIAL.search(clause))
