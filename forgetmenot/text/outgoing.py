"""What no text of a model may carry out of the house: links, words of the blocklist, a command in front. Pure.

Promises that each filter run twice changes nothing more. Used for replies and for what actions post (an announcement,
a title). What counts as an address: text/addresses.py; how a phrase may be spelt: text/spelt.py.
"""

import re
from collections.abc import Iterable

from forgetmenot.text.addresses import has_address, without_addresses
from forgetmenot.text.spelt import without_phrase

_SPELT = re.compile(
    r"\b[a-z0-9-]{2,63}\s?[(\[{]?\s?dot\s?[)\]}]?\s?(?:com|net|org|tv|gg|xyz|info|shop|zip)\b|hxxps?\b", re.IGNORECASE
)
_MARKS = r"/!.\\／！．。⁄∕⧸＼﹗ǃꜝ‼⁉❗❕¡~"
_COMMAND_MARKS = re.compile(
    rf"\s*(?:[{_MARKS}]\ufe0f?|[?$#+&%^>-](?=[^\W\d])|[…?$#+&%^>-](?=[\s…?$#+&%^>-]*[{_MARKS}]))"
)


def has_link(text: str) -> bool:
    """Whether a text names an address, also one that is spelt out ("evil dot com")."""
    return has_address(text) or _SPELT.search(text) is not None


def without_links(text: str) -> str:
    """The text without addresses."""
    return without_addresses(text)


def without_command(text: str) -> str:
    """Nothing in front that a chat server or another bot takes for a command, nor behind an ellipsis there."""
    at = 0
    while mark := _COMMAND_MARKS.match(text, at):
        at = mark.end()
    return text[at:].lstrip()


def without_phrases(text: str, blocklist: Iterable[str]) -> str:
    """Each word or phrase that must not leave the bot becomes an ellipsis, however it is spelt."""
    for entry in blocklist:
        text = without_phrase(text, entry)
    return text
