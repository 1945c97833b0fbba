"""People inside stored texts: `<@42>` stands for a viewer's id, and a name is looked up last.

Promises that only `mention` makes such a token: text from chat goes through `defang` before it is stored or shown
to a model, so nobody can be named by somebody who typed the brackets.
"""

import re
from collections.abc import Mapping

from forgetmenot.text.lookalikes import skeleton

SOMEBODY = "somebody"
"""What is shown for an id that has no name (any more)."""

MENTION = re.compile(r"<@([A-Za-z0-9_:.-]{1,64})>")
"""A mention; group 1 is the viewer's id (Twitch's digits, or a provisional `login:alice`)."""

_STAND_FOR = """you your yourself me i we he she they them bot system assistant streamer mod moderator nobody
anybody everybody everyone someone somebody"""
_NOBODYS = frozenset(_STAND_FOR.split())
"""Words that stand for somebody, or for nobody, in what a model or a person reads."""

_FORGED = re.compile("[<\uff1c\ufe64]\\s*(?=[@\uff20\ufe6b])")


PROVISIONAL = "login:"
"""How an id begins that stands for somebody who never spoke here: all that is known of them is a login."""


def provisional(login: str) -> str:
    """The id of whoever has a login, until they speak."""
    return PROVISIONAL + login.casefold()


def is_id(text: str) -> bool:
    """Whether a text may be a viewer's id: nothing else can be mentioned, and so nothing else may be somebody."""
    return MENTION.fullmatch(f"<@{text}>") is not None


def mention(viewer_id: str) -> str:
    """`<@42>` for the id 42. Raises ValueError for something that is no id."""
    token = f"<@{viewer_id}>"
    if not MENTION.fullmatch(token):
        raise ValueError("a viewer's id has 1 to 64 letters, digits or _ : . -")
    return token


def ids_in(text: str) -> tuple[str, ...]:
    """The ids mentioned in a stored text, each once, in the order in which they first stand there."""
    return tuple(dict.fromkeys(MENTION.findall(text)))


def show(text: str, names: Mapping[str, str]) -> str:
    """The text with names (id → name) in the place of mentions; an id without a name becomes "somebody"."""
    if "<@" not in text:
        return text
    return MENTION.sub(lambda found: called(names[found[1]]) if found[1] in names else SOMEBODY, text)


def called(name: str) -> str:
    """A name as it is shown: behind an @ where it is a word that stands for somebody else ("You", "somebody")."""
    return f"@{name}" if skeleton(name).strip() in _NOBODYS else name


def defang(text: str) -> str:
    """Foreign text without the power to mention anybody: `<@42>` becomes `(@42>`, full-width brackets too."""
    return _FORGED.sub("(", text)
