"""What no text of a model may carry out of the house: links, words of the blocklist, a command in front. Pure.

Promises that each filter run twice changes nothing more. Used for replies and for what actions post (an announcement,
a title). Does not know every spelling of an address.
"""

import re
from collections.abc import Iterable

from forgetmenot.text.clean import clean
from forgetmenot.text.words import words

_ENDINGS = (
    r"(?:com|net|org|tv|gg|io|me|be|ly|co|ru|xyz|info|link|app|dev|gift|shop|site|top|live|store|online|zip|ai|to|cc|"
    r"club|fun|games|click|page|pro|vip|win|stream|bet|casino)"
)
_LINK = re.compile(rf"\b(?:https?://|www\.)\S+|\b(?:[a-z0-9-]+\.)+{_ENDINGS}\b(?:/\S*)?", re.IGNORECASE)
_SPELT = re.compile(
    r"\b[a-z0-9-]{2,}\s?[(\[{]?\s?dot\s?[)\]}]?\s?(?:com|net|org|tv|gg|xyz|info|shop|zip)\b|hxxps?\b", re.IGNORECASE
)
_COMMAND_MARKS = re.compile(r"\s*(?:[/!.\\／！．。⁄∕⧸﹗ǃ~]|[?$#+&%^>-](?=[^\W\d]))+")


def has_link(text: str) -> bool:
    """Whether a text names an address, also one that is spelt out ("evil dot com")."""
    return bool(_LINK.search(text) or _SPELT.search(text))


def without_links(text: str) -> str:
    """The text without addresses."""
    return clean(_LINK.sub(" ", text)) if _LINK.search(text) else text


def without_command(text: str) -> str:
    """Nothing in front that a chat server or another bot takes for a command."""
    while mark := _COMMAND_MARKS.match(text):
        text = text[mark.end() :]
    return text.lstrip()


def without_phrases(text: str, blocklist: Iterable[str]) -> str:
    """A word or phrase that must not leave the bot becomes an ellipsis, however it is spelt."""
    for entry in blocklist:
        wanted = words(entry)
        if wanted:
            text = _without_phrase(text, wanted)
    return text


def _without_phrase(text: str, wanted: list[str]) -> str:
    pieces = text.split(" ")
    at = 0
    while at < len(pieces):
        end = _phrase_end(pieces, at, wanted)
        if end:
            pieces[at:end] = ["…"]
        at += 1
    return " ".join(pieces)


def _phrase_end(pieces: list[str], at: int, wanted: list[str]) -> int:
    """Where the shortest run of pieces ends whose words hold the phrase; 0 if none begins here."""
    for end in range(at + 1, min(len(pieces), at + len(wanted)) + 1):
        said = words(" ".join(pieces[at:end]))
        if any(said[i : i + len(wanted)] == wanted for i in range(len(said))):
            return end
    return 0
