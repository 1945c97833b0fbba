"""Whether a reply that proposed nothing says that the bot did something to somebody. Pure.

Narrow on purpose: only the bot's own deeds of moderation count, so that ordinary talk of past and present stays whole.
(After a proposal the stricter `actions.claims` judges what may be said.)
"""

import re

from forgetmenot.text.lookalikes import skeleton

_DEED = (
    r"(?:timed?\s+(?:\S+\s+)?out|time-?outed|banned|unbanned|muted|kicked|purged|silenced|clipped|shouted\s+(?:\S+\s+)?out"
    r"|(?:deleted|removed|cleared)\s+(?:\S+\s+){0,3}(?:message|messages|chat|line|lines)|changed\s+the\s+(?:title|category)"
    r"|(?:enabled|activated|turned\s+on|set)\s+(?:slow|emote))"
)
_OWN = re.compile(rf"\b(?:i|we)(?:['’]?ve|\s+have|['’]?m|\s+am|\s+just|\s+already|\s+now)*\s+{_DEED}")
_PASSIVE = re.compile(
    r"\b(?:has|have|is|are|was|been|got|gets)\s+(?:been\s+|now\s+)?(?:timed\s+out|banned|muted|kicked)\b"
)
_BARE = re.compile(rf"^\W*(?:done[,.!:\s]+)?{_DEED}\b")
_DENIED = re.compile(r"\b(?:not|never|no|cannot|can['’]?t|didn['’]?t|won['’]?t|haven['’]?t|if)\b")


def boasts(text: str) -> bool:
    """Whether any sentence claims such a deed without denying it."""
    return any(_boasts(sentence) for sentence in re.split(r"[.!?;…]+", skeleton(text)))


def _boasts(sentence: str) -> bool:
    said = _OWN.search(sentence) or _PASSIVE.search(sentence) or _BARE.search(sentence)
    return said is not None and not _DENIED.search(sentence)
