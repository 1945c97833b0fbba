"""A text without web addresses: whatever a chat server or a browser may take for one. Pure.

Promises that nothing stays which has `//` in it, begins with `www.`, is four numbers with dots, or has a dot with two
or more letters glued to what stands before it ("evil.zip/x", "evil。com"), also in full-width or ornamental letters.
A forgotten space ("drums.You") becomes a space, a file's name ("Node.js") stays. What is spelt out ("evil dot com",
"evil. com") is nobody's link and stays; `has_link` knows it all the same. Linear in the length of the text.
"""

import re
import unicodedata

_DOT = r"(?:\.|(?<=[A-Za-z0-9])[。｡](?=[A-Za-z]))"
_ADDRESS = re.compile(rf"//|\bwww\.|[^\W_]_*{_DOT}[^\W\d_]{{2}}|(?<![\d.])(?:\d{{1,3}}\.){{3}}\d{{1,3}}(?![\d.]*\w)")
_SPELT = re.compile(
    r"\b[a-z0-9-]{2,63}\s?[(\[{]?\s?dot\s?[)\]}]?\s?(?:com|net|org|tv|gg|xyz|info|shop|zip)\b|hxxps?\b", re.IGNORECASE
)
_FORGOTTEN_SPACE = re.compile(r"(?<=[^\W_])\.(?=[A-Z][A-Za-z'’-]*[,;!?…)\"”]*\.?\Z)")
_FILE_ENDINGS = (
    "js ts jsx json exe dll bat cfg ini txt csv pdf png jpg jpeg gif mp3 mp4 wav ogg html css php cpp lua jar"
)
_FILE = re.compile(rf"[^\w-]*[\w-]+\.(?:{'|'.join(_FILE_ENDINGS.split())})(?:'s)?[^\w/:@.]*\.{{0,3}}", re.IGNORECASE)
_SAID_WITH_A_DOT = frozenset({"d.va", "d.va's"})  # a hero of Overwatch
_EDGES = "()[]{}<>\"'“”‘’«».,;:!?…*_~"


def without_addresses(text: str) -> str:
    """The text without its addresses; twice changes nothing more. Words keep single spaces where one was taken out."""
    if not _may_hold_one(text):
        return text
    kept = (_without(word) for word in text.split(" "))
    return " ".join(word for word in kept if word is not None)


def has_address(text: str) -> bool:
    """Whether something would be taken out."""
    return _may_hold_one(text) and any(_without(word) is None for word in text.split())


def has_link(text: str) -> bool:
    """Whether a text names an address, also one that is spelt out ("evil dot com")."""
    return has_address(text) or _SPELT.search(text) is not None


def _may_hold_one(text: str) -> bool:
    return _ADDRESS.search(unicodedata.normalize("NFKC", text)) is not None


def _without(word: str) -> str | None:
    """One word (no spaces in it): itself, or parted by a space, or None for an address."""
    plain = unicodedata.normalize("NFKC", word)
    if not _ADDRESS.search(plain) or _FILE.fullmatch(plain) or plain.strip(_EDGES).casefold() in _SAID_WITH_A_DOT:
        return word
    parted = _FORGOTTEN_SPACE.sub(". ", plain)
    return None if _ADDRESS.search(parted) else parted
