"""Foreign text made fit for a line: nothing invisible, nothing that moves or overprints its neighbours.

The result is one line without control characters, zero-width and bidirectional marks, lone surrogates or stacks of
accents; visible letters, emoji and their joiners stay as they were typed. Does not fold letters (see `lookalikes`).
"""

import re
import unicodedata

_SPACES = re.compile(r"\s+")
_PRINTABLE = re.compile(r"[ -~]*\Z")
_BLANKS = frozenset("\u115f\u1160\u3164\uffa0\u2800\u034f\u180e")  # letters and marks that show nothing
_JOINER = "\u200d"
_EMOJI_STYLE = "\ufe0f"
_MOST_MARKS = 2  # accents on one letter; the writing systems that need more are not met in chat
_PICTURES = frozenset({"So", "Sk"})
_DROPPED = frozenset({"Cf", "Cc", "Co", "Cs"})


def clean(text: str) -> str:
    """The text as one visible line; empty where nothing is left. Cleaning twice changes nothing."""
    if text.isascii() and text.isprintable() and "  " not in text:
        return text.strip()
    spaced = _SPACES.sub(" ", text).strip()
    if _PRINTABLE.match(spaced):
        return spaced
    visible = _visible(unicodedata.normalize("NFC", spaced))
    return _SPACES.sub(" ", unicodedata.normalize("NFC", visible)).strip()


def _visible(text: str) -> str:
    """The characters that may be seen, with at most two marks on each letter."""
    kept: list[str] = []
    marks = 0
    for char in text:
        if _belongs_to_emoji(char, kept):
            kept.append(char)
            continue
        if _is_hidden(char):
            continue
        if kept and kept[-1] == _JOINER and unicodedata.category(char) not in _PICTURES:
            kept.pop()  # a joiner that joins nothing
        marks = marks + 1 if unicodedata.category(char) in {"Mn", "Me"} else 0
        if marks <= _MOST_MARKS:
            kept.append(char)
    while kept and kept[-1] == _JOINER:
        kept.pop()
    return "".join(kept)


def _belongs_to_emoji(char: str, kept: list[str]) -> bool:
    """Whether a joiner or a style mark stands right behind a picture, where it is part of the picture."""
    if char not in {_JOINER, _EMOJI_STYLE} or not kept:
        return False
    before = kept[-1]
    return unicodedata.category(before) in _PICTURES or (char == _JOINER and before == _EMOJI_STYLE)


def _is_hidden(char: str) -> bool:
    """Whether a character shows nothing, moves its neighbours, or is a private letter that fonts disagree about."""
    if unicodedata.category(char) in _DROPPED or char in _BLANKS:
        return True
    return "\ufe00" <= char <= "\ufe0f" or "\U000e0000" <= char <= "\U000e0fff"


# Cutting stops before a word that would be halved: half of "@user12" would name another viewer.


_LAST_WORD = re.compile(r"[@＠]?\w*\Z")
LONGEST_NAME = 50


def cut(text: str, most: int) -> str:
    """The beginning of a text, at most `most` characters; only a word longer than any name is halved."""
    if len(text) <= most or not (text[most].isalnum() or text[most] == "_"):
        return text[:most]
    half = _LAST_WORD.search(text, max(0, most - LONGEST_NAME - 2), most)
    return text[: half.start()] if half and half.end() - half.start() <= LONGEST_NAME + 1 else text[:most]
