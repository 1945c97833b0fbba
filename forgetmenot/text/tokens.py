"""Estimates of tokens, and cutting a text to a size. Pure."""

import math

# A careful estimate: English takes about four bytes a token, German and most other languages three.
BYTES_PER_TOKEN = 3


def estimate_tokens(text: str) -> int:
    """Return the tokens of a text, rounded up. Estimates of parts add up to at least the whole's."""
    return math.ceil(_size(text) / BYTES_PER_TOKEN)


def clip_bytes(text: str, max_bytes: int) -> str:
    """Return the text, cut before the first character that does not fit; an ellipsis shows the cut."""
    if _size(text) <= max_bytes:
        return text
    # the ellipsis alone takes three bytes
    if max_bytes < 3:
        return ""
    beginning = text.encode("utf-8", "replace")[: max_bytes - 3].decode("utf-8", "ignore")
    return beginning.rstrip() + "…"


def bytes_for_tokens(tokens: int) -> int:
    """Return the most bytes that are estimated at no more than this number of tokens."""
    return max(0, tokens * BYTES_PER_TOKEN)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
