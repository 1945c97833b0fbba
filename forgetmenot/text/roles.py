"""Whether a fact claims that its subject is somebody here: a moderator, the owner, the king, somebody's wife. Pure.

Who is what comes from Twitch's badges and nobody's word. A clause is a claim only if all of its words stand in
roles.toml, so that one word more makes it something else: "is a moderator on Reddit", "is the owner of a bakery".
"""

import re
import tomllib
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from forgetmenot.text.clean import fold_word, plain
from forgetmenot.text.words import UNSPACED

_CLAUSE = re.compile(r"[,;:.!?()\n]+|\b(?:and|und|y|et|e)\b")
_TOKEN = re.compile(r"<@[^>]+>|[^\W_]+")
# Characters of a text that are read.
_LONGEST = 600


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("roles.toml").read_text("utf-8"))


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(_table()[name].split())


@cache
def _claim_in_japanese() -> re.Pattern[str]:
    table = _table()["unspaced"]
    one_of = {name: "|".join(map(re.escape, words.split())) for name, words in table.items()}
    return re.compile(
        rf"(?:{one_of['subject']})?(?:{one_of['place']})?(?:{one_of['roles']})(?:{one_of['end']})?"
    )


def claims_role(fact: str) -> bool:
    """Whether a fact (without its subject, or with it) claims a role in this channel, or to be somebody's spouse."""
    text = plain(fact)[:_LONGEST]
    if UNSPACED.search(text):
        letters = re.sub(r"[\s。、.!！]+", "", text)
        if _claim_in_japanese().fullmatch(letters):
            return True
    return any(_is_claim(clause) for clause in _CLAUSE.split(text))


def _is_claim(clause: str) -> bool:
    tokens = [word if word[0] == "<" else fold_word(word) for word in _TOKEN.findall(clause)]
    return _claims_rank(tokens) or _claims_power(tokens) or _claims_bond(tokens)


def _after_subject(tokens: Sequence[str], verbs: frozenset[str]) -> int | None:
    """Where a clause goes on behind the verb; None if it has none of these behind its subject."""
    for at, token in enumerate(tokens):
        if token in verbs:
            return at + 1
        is_subject = token in _words("subject") or (at == 0 and token.startswith("<"))
        if not is_subject:
            return None
    return None


def _claims_rank(tokens: Sequence[str]) -> bool:
    """Whether a clause says "is a moderator", "is the king of this chat" or "owns this channel"."""
    start = _after_subject(tokens, _words("verbs"))
    if start is not None:
        return _is_here(tokens[start:], needs_place=True)
    start = _after_subject(tokens, _words("be"))
    if start is None:
        return False
    is_definite = False
    for at in range(start, len(tokens)):
        token = tokens[at]
        rest = tokens[at + 1 :]
        if token in _words("roles"):
            return _is_here(rest, needs_place=False)
        if token in _words("titles"):
            return _is_here(rest, needs_place=not is_definite)
        if token not in _words("be") | _words("between") | _words("definite"):
            return False
        is_definite = is_definite or token in _words("definite")
    return False


def _claims_power(tokens: Sequence[str]) -> bool:
    """Whether a clause says "has mod powers"."""
    start = _after_subject(tokens, _words("has"))
    if start is None:
        return False
    rest = [
        token for token in tokens[start:] if token not in _words("between") | _words("definite")
    ]
    if len(rest) < 2 or rest[0] not in _words("roles") | _words("titles"):
        return False
    return rest[1] in _words("powers") and _is_here(rest[2:], needs_place=False)


def _is_here(rest: Sequence[str], *, needs_place: bool) -> bool:
    """Whether nothing follows but where in this channel, and since when."""
    places = [token for token in rest if token in _words("place")]
    if needs_place and not places:
        return False
    known = _words("place") | _words("beside")
    return all(token in known or token.isdecimal() or token.startswith("<") for token in rest)


def _claims_bond(tokens: Sequence[str]) -> bool:
    """Whether a clause says "is <@2>'s wife", "is married to the streamer" or "their husband is <@2>"."""
    # a mention at the beginning is the subject, but for "<@2> is their husband"
    others = tokens if "their" in tokens else tokens[1:]
    names_somebody = [
        token for token in others if token.startswith("<") or token in _words("streamer")
    ]
    if not names_somebody:
        return False
    bonds = _words("spouse") | _words("bond")
    if bonds.isdisjoint(tokens):
        return False
    known = bonds.union(
        *map(_words, ("subject", "be", "between", "definite", "with", "streamer", "beside"))
    )
    return all(token in known or token.startswith("<") for token in tokens)
