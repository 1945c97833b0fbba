"""What somebody asks to be called, read from what they typed and checked. Pure.

It is a name and no sentence: few letters, no markup, no link, no slur, no role. So it cannot
command anybody who reads it. Whose name it is already is asked in operations/handlers/chosen_names.
"""

import re
import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from forgetmenot.text.clean import clean, skeleton, unleet
from forgetmenot.text.mentions import has_link
from forgetmenot.text.roles import claims_role
from forgetmenot.text.tables import word_lists
from forgetmenot.text.unsendable import without_phrases

# As long as a login of Twitch may be.
MOST_CHARS = 25
MOST_WORDS = 3
# What takes a name or pronouns back, behind the command.
OFF = frozenset({"off", "remove", "aus", "weg"})
_SAY = re.compile(
    r"(?P<name>[^()]+?)\s*\(\s*(?:say|sprich)\s*:\s*(?P<say>[^()]+?)\s*\)",
    re.IGNORECASE,
)
_PRONOUNS = re.compile(r"\w+(?: ?[/,] ?\w+| \w+){0,3}")
# Letters, the marks on them, and digits.
_CATEGORIES = frozenset("LMN")
# What else names are written with.
_IN_NAMES = frozenset(" '’-.")
_BETWEEN_WORDS = re.compile(r"[\W_]+")
# Words that mean somebody else, or everybody, as soon as the bot says them.
_NOT_A_NAME = frozenset(
    {"streamer", "chat", "channel", "everyone", "everybody", "me", "you"}
)


class ChosenName(NamedTuple):
    """A name, and how it is said aloud ("" if they did not say)."""

    name: str
    say_as: str = ""


def chosen_name(typed: str, blocklist: Iterable[str]) -> ChosenName | None:
    """Return the name of `Deb (say: deb)`; None if nobody can be called that."""
    text = clean(typed).strip('"“”„ ')
    chosen = ChosenName(text)
    match = _SAY.fullmatch(text)
    if match is not None:
        chosen = ChosenName(match["name"], match["say"])
    if not _is_name(chosen.name, blocklist):
        return None
    # How it is said is spoken as well: the same rules.
    if chosen.say_as and not _is_name(chosen.say_as, blocklist):
        return None
    return chosen


def chosen_pronouns(typed: str, blocklist: Iterable[str]) -> str | None:
    """Return the pronouns that were typed, in these words; None if they are none."""
    text = clean(typed)
    if not _PRONOUNS.fullmatch(text):
        return None
    # As one hyphened word: four pronouns are more words than a name may have.
    as_name = re.sub(r"[/, ]+", "-", text)
    return text if _is_name(as_name, blocklist) else None


def _is_name(text: str, blocklist: Iterable[str]) -> bool:
    """Return whether a text has the form of a name and says nothing hostile."""
    if len(text) > MOST_CHARS:
        return False
    if len(text.split()) > MOST_WORDS:
        return False
    # "Mod" as a name would be read as a moderator's wherever the bot says it.
    if claims_role(f"is the {text}"):
        return False
    if text.casefold() in _NOT_A_NAME:
        return False
    if not all(_may_be_in_name(char) for char in text):
        return False
    has_letter = any(char.isalpha() for char in text)
    # A dot before a letter makes an address of two names.
    has_inner_dot = re.search(r"\.\S", text) is not None
    if not has_letter or has_inner_dot or has_link(text):
        return False
    has_blocked_phrase = without_phrases(text, blocklist) != text
    return not has_blocked_phrase and not _has_slur(text)


def _may_be_in_name(char: str) -> bool:
    """Return whether names are written with a character: no emoji, bracket or control character."""
    category = unicodedata.category(char)
    return char in _IN_NAMES or category[0] in _CATEGORIES


def _has_slur(text: str) -> bool:
    """Return whether a slur stands in a text: in other letters, with digits, in pieces or in the plural."""
    looks = skeleton(text)
    words: set[str] = set()
    # 1 stands for l and for i
    for spelling in (looks, looks.replace("1", "i")):
        pieces = _BETWEEN_WORDS.split(unleet(spelling))
        words.update(pieces)
        words.add("".join(pieces))
    singular = {word.removesuffix("s") for word in words}
    return not _slurs().isdisjoint(words | singular)


@cache
def _slurs() -> frozenset[str]:
    """Return the words of which no name may have one."""
    table = word_lists("slurs.toml")
    return frozenset(table["words"].split())
