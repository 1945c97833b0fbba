"""What no text of a model may carry out of the house: words of the blocklist, a command in front. Pure.

Promises that each filter run twice changes nothing more. Used for replies and for what actions post (an announcement,
a title). Links are text/addresses.py's; how a phrase may be spelt: text/spelt.py.
"""

import re
from collections.abc import Iterable

from forgetmenot.text.spelt import without_phrase

_MARKS = r"/!.\\／！．。⁄∕⧸＼﹗ǃꜝ‼⁉❗❕¡~"
_COMMAND_MARKS = re.compile(
    rf"\s*(?:[{_MARKS}]\ufe0f?|[?$#+&%^>-](?=[^\W\d])|[…?$#+&%^>-](?=[\s…?$#+&%^>-]*[{_MARKS}]))"
)


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
