"""A text's sentences. Pure.

One ends at a full stop, an exclamation mark, a question mark or an ellipsis before a space, and at the Chinese and
Japanese marks, which no space follows.
"""

import re
from collections.abc import Iterable

ENDS = ".!?…。！？"
"""The marks that end one, also for patterns that need their places in a text."""
_BETWEEN = re.compile(r"(?<=[.!?…])\s+|(?<=[。！？])(?![。！？])\s*")
_UNSPACED = ("。", "！", "？")


def sentences_of(text: str) -> list[str]:
    """The sentences, without the space between them."""
    return [sentence for sentence in _BETWEEN.split(text) if sentence.strip()]


def joined(sentences: Iterable[str]) -> str:
    """Sentences as one text: a space between them, but none after a Chinese or Japanese mark."""
    return "".join(one if one.endswith(_UNSPACED) else f"{one} " for one in sentences).removesuffix(" ")
