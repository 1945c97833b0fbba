"""What somebody tells about themselves, as a fact: "I play drums" becomes "plays drums". Pure.

Promises the third person without its subject, or None where a text is plainly not about its speaker. Knows a little
English, and of some other languages how they say "I" and "my": what it cannot turn it leaves as it was told.
"""

import re

from forgetmenot.text.grammar import about_them, plain_first_person, third

_ADVERBS = frozenset(
    ["also", "always", "never", "often", "usually", "mostly", "really", "only", "still", "just", "actually", "now"]
)
_HELPERS = {"do not": "does not", "am not": "is not", "have not": "has not", "have never": "has never"}
_FIRST = re.compile(r"\b(?:I|me|my|mine|myself|we|our|us)\b", re.IGNORECASE)
_I = re.compile(r"\b(?:I|my|we|our)\b", re.IGNORECASE)
_ASKS = re.compile(
    r"(?:what|who|where|when|why|how|which|do|does|did|can|could|should|would|am)\b|.*\?\Z", re.IGNORECASE
)
_I_ABROAD = re.compile(  # no word that is an English one, or a name
    r"\b(?:ich|mir|mich|meine?[rnms]?|je|j['’]\w+|moi|mes|tengo|estoy|sono|miei|tenho|estou|meus?|minhas?|ik|mijn|jag|jeg|mitt"
    r"|me (?:gustan?|encantan?|llamo|chamo)"
    r"|jestem|mój|moje|benim|я|меня|мне|мой|моя|моё|мои|мене|мій|моє)\b|私|僕|俺|我|나는|저는|난 |제가|내 |제 ",
    re.IGNORECASE,
)
_TO_SOMEBODY = re.compile(r"\A@\w+[,:]?\s+")
_MINE = re.compile(r"\A(?:my|our)\s+", re.IGNORECASE)
_WE = re.compile(r"\A[Ww]e(?:['’]re)?\s+")
_THIRD = re.compile(
    r"\A(?:(?:also|always|never|often|usually|really|still|no longer|is|was|has|had|can|cannot|does|did|will|used|wants"
    r"|their|from) "
    r"|(?!this |his |its |whos |whats |thats |lets |yes |always |news )(?-i:[a-z]{2,}s) (?!are |is |were ))",
    re.IGNORECASE,
)
_END = re.compile(r"[\s.!,;]+\Z")


def first_word(text: str) -> tuple[str, str]:
    """The first word of a text, and the rest: "@bob's cat" gives "bob" and "'s cat"."""
    stripped = text.strip().removeprefix("@")
    name = ""
    for char in stripped:
        if not (char.isalnum() or char == "_"):
            break
        name += char
    return name, stripped[len(name) :]


def own_fact(text: str) -> str | None:
    """What a text says about its speaker; None if it does not speak of them."""
    said = _END.sub("", plain_first_person(text.strip()))
    if said.startswith("I "):
        return _predicate(said[2:].strip())
    if _MINE.match(said):
        return about_them(said[:1].lower() + said[1:])
    if _THIRD.match(f"{said} "):
        return about_them(said)
    if _I_ABROAD.search(said) and not _I.search(said):
        return said
    return about_them(said) if _FIRST.search(said) and not _WE.match(said) else None


def said_of_oneself(line: str) -> str | None:
    """The fact in a line of chat that was meant for nobody's memory: in the first person, and no question."""
    said = _TO_SOMEBODY.sub("", line.strip())
    return None if _ASKS.match(said) or not _I.search(plain_first_person(said)) else own_fact(said)


def _predicate(rest: str) -> str | None:
    """What follows "I", after "she"."""
    for words, other in _HELPERS.items():
        if rest.lower().startswith(f"{words} "):
            return f"{other} {about_them(rest[len(words) + 1 :])}"
    verb, _, more = rest.partition(" ")
    if verb.lower() in _ADVERBS:
        inner = _predicate(more.strip())
        return f"{verb.lower()} {inner}" if inner else None
    if rest.lower().startswith("no longer "):
        inner = _predicate(rest[len("no longer ") :])
        return f"no longer {inner}" if inner else None
    return f"{third(verb.lower())} {about_them(more)}".strip() if verb else None


def others_fact(rest: str) -> str:
    """What follows somebody's name: "'s cat is Miso" becomes "their cat is Miso"; the rest stays."""
    said = _END.sub("", rest.strip().lstrip(":,–—-").strip())
    owned = re.match(r"['’]s\s+", said)
    return f"their {said[owned.end() :]}" if owned else said
