"""Whether a fact claims that its subject is somebody here: a moderator, the owner, a spouse. Pure.

Who is what comes from Twitch's badges and nobody's word. A clause is a claim only if all of its
words stand in roles.toml, so that one word more makes it something else: "is a moderator on
Reddit", "is the owner of a bakery".
"""

import re
from collections.abc import Sequence
from functools import cache

from forgetmenot.text.clean import fold_word, plain
from forgetmenot.text.tables import word_lists
from forgetmenot.text.words import UNSPACED

# Each clause is read alone, so that "is a mod and likes tea" is a claim.
_CLAUSE_BREAK = re.compile(r"[,;:.!?()\n]+|\b(?:and|und|y|et|e)\b")
_TOKEN = re.compile(r"<@[^>]+>|[^\W_]+")
# Characters of a text that are read.
_MAX_READ = 600


@cache
def _words(*kinds: str) -> frozenset[str]:
    """Return the words of some kinds, which are the keys of roles.toml."""
    table = word_lists("roles.toml")
    words: list[str] = []
    for kind in kinds:
        words += table[kind].split()
    return frozenset(words)


@cache
def _claim_in_japanese() -> re.Pattern[str]:
    """Return the pattern of a sentence that claims a role: who, where, as what, an ending."""
    any_of = {}
    table = word_lists("roles.toml")["unspaced"]
    for kind, words in table.items():
        escaped_words = map(re.escape, words.split())
        any_of[kind] = "|".join(escaped_words)
    subject = f"(?:{any_of['subject']})?"
    place = f"(?:{any_of['place']})?"
    role = f"(?:{any_of['roles']})"
    ending = f"(?:{any_of['end']})?"
    return re.compile(subject + place + role + ending)


def claims_role(fact: str) -> bool:
    """Return whether a fact claims a role in this channel, or to be somebody else here, or their spouse.

    The fact may have its subject or not.
    """
    text = plain(fact)[:_MAX_READ]
    if UNSPACED.search(text):
        letters = re.sub(r"[\s。、.!！]+", "", text)
        if _claim_in_japanese().fullmatch(letters):
            return True
    clauses = _CLAUSE_BREAK.split(text)
    return any(map(_is_claim, clauses))


def _is_claim(clause: str) -> bool:
    """Return whether a clause claims a rank, its powers, or to be somebody else or their spouse."""
    tokens = []
    for token in _TOKEN.findall(clause):
        tokens.append(token if _is_mention(token) else fold_word(token))
    if _claims_to_be_somebody(tokens):
        return True
    return _claims_rank(tokens) or _claims_power(tokens) or _claims_bond(tokens)


def _claims_to_be_somebody(tokens: Sequence[str]) -> bool:
    """Return whether a clause says "is <@2>" or "is the real <@2>"."""
    start = _place_behind(_words("be"), tokens)
    if start is None or start == len(tokens):
        return False
    *before, last = tokens[start:]
    return _is_mention(last) and _words("between", "definite").issuperset(before)


def _is_mention(token: str) -> bool:
    return token.startswith("<")


def _place_behind(verbs: frozenset[str], tokens: Sequence[str]) -> int | None:
    """Return the place behind a clause's verb; None if its subject has none of these behind it."""
    for place, token in enumerate(tokens):
        if token in verbs:
            return place + 1
        opens_with_mention = place == 0 and _is_mention(token)
        if not opens_with_mention and token not in _words("subject"):
            return None
    return None


def _claims_rank(tokens: Sequence[str]) -> bool:
    """Return whether a clause says "is a moderator" or "owns this channel"."""
    # "owns this channel" needs the place: one may own anything.
    start = _place_behind(_words("verbs"), tokens)
    if start is not None:
        return _is_here(tokens[start:], needs_place=True)
    start = _place_behind(_words("be"), tokens)
    if start is None:
        return False
    has_definite = False
    for place in range(start, len(tokens)):
        token = tokens[place]
        if token in _words("roles"):
            return _is_here(tokens[place + 1 :], needs_place=False)
        # "is the king", but "is a king of this chat"
        if token in _words("titles"):
            return _is_here(tokens[place + 1 :], needs_place=not has_definite)
        if token not in _words("be", "between", "definite"):
            return False
        has_definite = has_definite or token in _words("definite")
    return False


def _claims_power(tokens: Sequence[str]) -> bool:
    """Return whether a clause says "has mod powers"."""
    start = _place_behind(_words("has"), tokens)
    if start is None:
        return False
    fillers = _words("between", "definite")
    behind_verb = tokens[start:]
    object_tokens = [token for token in behind_verb if token not in fillers]
    if len(object_tokens) < 2:
        return False
    role, power, *ending = object_tokens
    if role not in _words("roles", "titles"):
        return False
    if power not in _words("powers"):
        return False
    return _is_here(ending, needs_place=False)


def _is_here(ending: Sequence[str], *, needs_place: bool) -> bool:
    """Return whether a clause ends with nothing but where in this channel, and since when."""
    if needs_place and _words("place").isdisjoint(ending):
        return False
    for token in ending:
        if token.isdecimal():
            continue
        if _is_mention(token):
            continue
        if token not in _words("place", "beside"):
            return False
    return True


def _claims_bond(tokens: Sequence[str]) -> bool:
    """Return whether a clause says "is <@2>'s wife" or "is married to the streamer"."""
    # A mention at the beginning is the subject, except in "<@2> is their husband".
    object_tokens = tokens if "their" in tokens else tokens[1:]
    names_somebody = any(
        _is_mention(token) or token in _words("streamer") for token in object_tokens
    )
    if not names_somebody:
        return False
    if _words("spouse", "bond").isdisjoint(tokens):
        return False
    listed = _words(
        "spouse",
        "bond",
        "subject",
        "be",
        "between",
        "definite",
        "with",
        "streamer",
        "beside",
    )
    return all(token in listed or _is_mention(token) for token in tokens)
