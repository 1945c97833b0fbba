"""Whether a sentence says that something was done to somebody or to the channel. Pure.

One grammar, made of what the catalogue says about each action, with two strictnesses. `claims` is for the words of a
refusal and hears any clause that tells of a deed, a promise ("I'll time you out") too. `claims_own` is for a reply that
proposed nothing and hears what the bot says it did itself, so that ordinary talk of past and present stays whole.
"""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from forgetmenot.actions.catalogue import ACTIONS
from forgetmenot.actions.entry import Action
from forgetmenot.text.lookalikes import skeleton

_TOLD = "|".join(action.tells for action in ACTIONS if action.tells)
_CLAIM = re.compile(rf"\b(?:{_TOLD}|purg(?:ed|ing)|executed|approved)\b")
_DONE = re.compile(r"\b(?:done|all set|it is so|consider it)\b")
_DENIAL = re.compile(
    r"\b(?:can(?:'|no)?t|cannot|can not|won'?t|will not|not|no|never|nope|unable|nobody|nothing"
    r"|(?:was|is|did|have|has|had|do|does|would|could)n'?t|refused?)\b"
)
_SUPPOSED = re.compile(r"\b(?:if|would|could|should|might|nearly|almost|wish|imagine)\b")
_RECALLED = re.compile(
    r"\bremembered (?:that )?(?:you|he|she|they|we|how|when|who|what)\b|\b(?:i|we)(?: \w+)? forgot\b"
)  # a memory speaks so without having done anything
_CLAUSE = re.compile(r"[.!?;,…\n]+|\b(?:but|and|so|then|because)\b")


def claims(text: str) -> bool:
    """Whether any clause of the text tells of a deed without denying it."""
    return any((_CLAIM.search(one) or _DONE.search(one)) and not _DENIAL.search(one) for one in _clauses(text))


def claims_more(text: str, done: Collection[str]) -> bool:
    """Whether any clause tells of another deed than the actions of those names, which were done."""
    known = _words_of(frozenset(done))
    return any(_CLAIM.search(known.sub(" ", one)) and not _DENIAL.search(one) for one in _clauses(text))


def claims_own(text: str, done: Collection[str] = ()) -> bool:
    """Whether any clause says that the bot did something, by "I", in the passive or bare; but for what was done."""
    known = _words_of(frozenset(done))
    return any(_OWN.search(known.sub(" ", one)) and not _is_harmless(one) for one in _clauses(text))


def _is_harmless(clause: str) -> bool:
    return any(pattern.search(clause) for pattern in (_DENIAL, _SUPPOSED, _RECALLED))


def _clauses(text: str) -> list[str]:
    return [clause.strip() for clause in _CLAUSE.split(skeleton(text).replace("’", "'"))]


@lru_cache(maxsize=64)
def _words_of(names: frozenset[str]) -> re.Pattern[str]:
    """The words that tell of these actions."""
    tells = [action.tells for action in ACTIONS if action.name in names and action.tells]
    return re.compile(rf"\b(?:{'|'.join(tells)})\b" if tells else r"(?!)")


# ── how one says that one did it ────────────────────────────────────────────────────────────

_I = r"\b(?:i|we)(?:'ve|'m)?(?:\s+(?:have|am|just|already|now|also|even|quickly|gladly))*\s+"
_BARE = (
    r"^\W*+(?:(?:done|ok|okay|sure|there|now|just|already|alright|all|also|then|successfully|consider it)\b\W*+)*"
    r"(?=\S*(?:ed|one|ten)\b)"  # a participle: "clips are fun" is no deed
)
_IS = r"(?:\s+(?:is|are|was|were|has|have|gets?|got|been)|'s|'re|'ve)(?:\s+(?:been|now|just|already))*\s+"
_MADE = (
    r"(?:made|created|set|put|started|enabled|activated|turned|switched|posted|placed|dropped|added|gave|given|sent"
    r"|issued|saved|captured|grabbed|handed|executed|performed|applied|enforced)"
)
_THERE = (
    r"(?:(?:active|enabled|activated|turned\s+on|created|made|placed|posted|ready|saved|sent|executed|issued|applied"
    r"|enforced|in\s+(?:effect|place|force))\b"
    r"|(?:on|up|live|set|done)(?:\s+(?:now|for)\b|$))"
)
_TICK = "[✅✔☑🔨]"
_NEAR = r"\W{0,4}(?:\w{1,32}\W{1,4}){0,2}?"  # bounded: time grows with the length only
_KICKS = r"(?!\s+(?:back|off)\b)"  # "kicking off now" hits nobody
_STAGED = (  # "*bans bob*", "banning bob now"
    rf"\*\s?(?:\w+\s+){{0,2}}?(?:bans|unbans|mutes|kicks{_KICKS}|silences|timeouts|times(?:\s+\w+)?\s+out)\b"
    r"|^\W*(?:(?:okay|ok|sure|alright|now)\b\W*)?"
    rf"(?:banning|unbanning|muting|kicking{_KICKS}|silencing|timing(?:\s+\w+)?\s+out)\s+@?\w+(?:\s+(?:now|for\s+.*))?$"
)
_FEW = r"(?:\s+\S+){0,3}?\s+"
_THAT = "that|this|it|everything|them|those"


def _forms(action: Action) -> Iterator[str]:
    """How somebody says that they did this; an everyday verb counts only with what it was done to (`of`)."""
    deed = rf"(?:{action.tells})\b"
    yield rf"{_I}{_MADE}{_FEW}{deed}"
    yield rf"\b{deed}(?:\s+\S+)?{_IS}{_THERE}"
    yield rf"{_TICK}{_NEAR}{deed}"
    yield rf"\b{deed}{_NEAR}{_TICK}"
    if action.of:
        yield rf"(?:{_I}|{_BARE}){deed}{_FEW}(?:{_THAT}|{action.of})\b"
        yield rf"\b(?:{action.of})(?:\s+\S+){{0,2}}?{_IS}{deed}"
        yield rf"{_BARE}(?!noted){deed}$"  # "noted!" only says that it was heard
        return
    yield rf"(?:{_I}|{_BARE}){deed}"
    if action.needs_target:
        yield rf"{_IS}{deed}"


_OWN = re.compile(
    "|".join(f"(?:{form})" for action in ACTIONS if action.tells for form in _forms(action)) + f"|{_STAGED}"
)
