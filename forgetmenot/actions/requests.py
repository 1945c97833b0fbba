"""What a viewer's own words ask for, and whether this is the moment for games. Pure; English, and cautious.

Promises: only whole words count ("urban memes" asks for no ban), and a message with a "not" in it asks for nothing.
Does not understand every way of asking: what it misses is refused, or a moderator is asked.
"""

import re
from collections.abc import Iterable

from forgetmenot.actions.catalogue import ACTIONS
from forgetmenot.text.words import words

_NOT = frozenset({"not", "dont", "never", "no", "cant", "wont", "without", "stop"})
_GRAVE = frozenset(
    (
        *("suicide", "suicidal", "funeral", "died", "dying", "dead", "death", "cancer", "hospital", "ambulance"),
        *("depressed", "depression", "grief", "grieving", "abuse", "abused", "assault", "raped", "overdose"),
        *("selfharm", "crying", "emergency", "tumor", "stroke", "coma", "miscarriage", "divorce"),
    )
)
_GRAVE_PHRASES = re.compile(
    r"\b(?:kill(?:ing)? (?:my|him|her|them)self|hurt(?:ing)? myself|end(?:ing)? (?:it all|my life)|passed away"
    r"|self harm|want to die|panic attack"
    r"|lost my (?:job|mom|mum|dad|brother|sister|son|daughter|wife|husband|dog|cat))\b"
)
_JOKES = re.compile(
    r"\b(?:dead (?:chat|air|pixel|lol|game)|i(?:m| am) (?:dead|dying|crying)|died (?:laughing|again|lol))\b"
)


def asked_for(message: str) -> frozenset[str]:
    """The names of the actions that this message asks for about its own author, or by the entry's own words."""
    spoken = words(message)
    line = " ".join(spoken)
    return frozenset(
        action.name
        for action in ACTIONS
        if (action.asks and not _NOT & set(spoken) and re.search(rf"\b(?:{action.asks})\b", line))
        or (action.asked_with and set(action.asked_with) & set(spoken))
    )


def is_serious(lines: Iterable[str]) -> bool:
    """Whether the last lines speak of distress, illness or death."""
    return any(_is_grave(" ".join(words(line))) for line in lines)


def _is_grave(line: str) -> bool:
    rest = _JOKES.sub(" ", line)
    return bool(_GRAVE & set(rest.split()) or _GRAVE_PHRASES.search(rest))
