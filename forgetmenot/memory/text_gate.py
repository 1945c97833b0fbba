"""What no text of the memory may look like: a link, markup, a command, a text without end. Pure.

What a text says is not judged here: stored words are shown as data and can command nothing.
"""

import re

from forgetmenot.text.mentions import MENTION, has_link

LONGEST = 500
"""Characters of one sentence or fact: no pattern works long."""

_MARKUP = re.compile(
    r"</?[a-z][^<>]{0,60}>|\[/?[A-Z]{3,}|\{\s*[\"']|```|&lt;"
    r"|(?:^|:\s)\s*(?:[\[/!]\s*\w|(?:SYSTEM|ASSISTANT|USER)\s*:|@\w)"
)
_LINK = re.compile(r"\b\w+ ?\. ?(?:ly|com|net|gg|tv|me|link|example)(?: ?/|\b)|discord ?\. ?gg", re.IGNORECASE)
_LETTERS = re.compile(r"[^\W\d_]{2}|[^\W\d_a-zA-Z]")


def text_fault(text: str, *, links: bool = False) -> str | None:
    """The rule that refuses a sentence or a fact ("length", "markup", "link"), or None. `links`: it may name one."""
    if len(text) > LONGEST:
        return "length"
    bare = MENTION.sub("somebody", text)
    if _MARKUP.search(bare) or not _LETTERS.search(bare):
        return "markup"
    return "link" if not links and (has_link(bare) or _LINK.search(bare)) else None
