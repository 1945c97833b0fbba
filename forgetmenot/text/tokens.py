"""Estimates of tokens, and cutting a text to a size. Pure."""

import math

# A careful estimate: English takes about four bytes a token, German and most other languages three.
BYTES_PER_TOKEN = 3
_ELLIPSIS = "…"


def estimate_tokens(text: str) -> int:
    """Return the tokens of a text, rounded up: the parts of a text never add up to less than it."""
    return math.ceil(_size(text) / BYTES_PER_TOKEN)


def clip_bytes(text: str, max_bytes: int) -> str:
    """Return the text, or as much as fits into `max_bytes` with an ellipsis behind it."""
    if _size(text) <= max_bytes:
        return text
    remaining_bytes = max_bytes - _size(_ELLIPSIS)
    if remaining_bytes < 0:
        return ""
    encoded = text.encode("utf-8", "replace")
    beginning = encoded[:remaining_bytes]
    # A character that was cut in two is left out.
    return beginning.decode("utf-8", "ignore").rstrip() + _ELLIPSIS


def bytes_for_tokens(tokens: int) -> int:
    """Return the most bytes that are estimated at no more than this number of tokens."""
    return max(0, tokens * BYTES_PER_TOKEN)


def _size(text: str) -> int:
    """Return the bytes of a text; a lone surrogate, which has none, counts as one."""
    # most texts are ASCII, and need no copy to be measured
    if text.isascii():
        return len(text)
    return len(text.encode("utf-8", "replace"))
