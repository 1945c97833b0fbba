"""A long text, cut. Pure.

Promises to end before a word that would be halved: half of "@user12" would be somebody else.
"""

import re

_LAST_WORD = re.compile(r"[@＠]?\w*\Z")
LONGEST_NAME = 50


def cut(text: str, most: int) -> str:
    """At most so many characters of a text; a word longer than any name is halved."""
    if len(text) <= most or not (text[most].isalnum() or text[most] == "_"):
        return text[:most]
    half = _LAST_WORD.search(text, max(0, most - LONGEST_NAME - 2), most)
    return text[: half.start()] if half and half.end() - half.start() <= LONGEST_NAME + 1 else text[:most]
