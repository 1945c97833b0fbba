"""How large a text is to a model, and how to make one smaller without breaking a character.

Tokens are estimated from UTF-8 bytes, three to a token, times a factor that is learned per model from the bills.
"""

import math

BYTES_PER_TOKEN = 3


def estimate(text: str, factor: float = 1.0) -> int:
    """Tokens of a text, rounded up. Estimates of parts add up to at least the estimate of the whole."""
    return math.ceil(_size(text) * factor / BYTES_PER_TOKEN)


def clip(text: str, max_bytes: int) -> str:
    """The text, cut before the first character that does not fit; an ellipsis shows that it was cut."""
    if _size(text) <= max_bytes:
        return text
    if max_bytes < 3:
        return ""
    kept = text.encode("utf-8", "replace")[: max_bytes - 3].decode("utf-8", "ignore")
    return kept.rstrip() + "…"


def bytes_for(tokens: int, factor: float = 1.0) -> int:
    """The most bytes that are estimated at no more than so many tokens."""
    return max(0, int(tokens * BYTES_PER_TOKEN / factor))


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))
