"""A tokenizer of the simulations' own, so that nobody's estimate is right by construction.

Rough habits of the real ones: common letters go several to a token, emotes break at their capitals, digits stand alone,
Cyrillic costs more, Japanese a token for every character or so, emoji several.
"""

import math
import re

_PIECE = re.compile(
    r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d|[\u0400-\u04ff]+|[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]+|[^\W\d_]+|\s+|[^\w\s]|_"
)


def count(text: str) -> int:
    """Tokens of a text."""
    return sum(_cost(piece) for piece in _PIECE.findall(text))


def _cost(piece: str) -> int:
    first = piece[0]
    if first.isspace():
        return piece.count("\n")
    if first.isascii():
        letters_per_token = 2.5 if piece.isupper() else 6
        return math.ceil(len(piece) / letters_per_token)
    if "\u0400" <= first <= "\u04ff":
        return math.ceil(len(piece) / 3)
    if first >= "\u3040" and first.isalpha():
        return math.ceil(len(piece) * 0.8)
    return math.ceil(len(first.encode()) / 1.5)
