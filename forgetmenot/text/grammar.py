"""Just enough English to turn "I play drums" into "plays drums", and "plays drums" into "you play drums". Pure."""

import re

_THIRD = {"am": "is", "have": "has", "do": "does", "go": "goes", "was": "was", "were": "was"}
_BASE = {"is": "are", "has": "have", "does": "do", "goes": "go", "was": "were"}
_UNCHANGED_TEXT = """can cannot could will would shall should may might must used got bought won lost grew quit became
    began ran met made went came saw took gave told said thought felt kept left found wrote drove ate drank slept
    spent sold taught caught broke chose fell flew forgot had heard knew learnt paid rode sang swam built did stood
    understood wore threw brought fought held led sent woke"""
_UNCHANGED = frozenset(_UNCHANGED_TEXT.split())
_CONTRACTIONS = (
    (re.compile(r"\b[Ii]['’]?m\b(?! not)"), "I am"),
    (re.compile(r"\b[Ii]['’]?m not\b"), "I am not"),
    (re.compile(r"\b[Ii]['’]?ve\b"), "I have"),
    (re.compile(r"\bI have got\b"), "I got"),
    (re.compile(r"\b[Ii] (?:don['’]?t|do not)\b"), "I do not"),
    (re.compile(r"\b[Ii] (?:didn['’]?t|did not)\b"), "I did not"),
    (re.compile(r"\b[Ii] (?:can['’]?t|cannot)\b"), "I cannot"),
    (re.compile(r"\b[Ii]['’]ll\b"), "I will"),
    (re.compile(r"\b[Ii]['’]d\b"), "I would"),
    (re.compile(r"\b([Mm]y [\w ]{1,30}?)['’]s\b(?= (?:called|named|a|an|the|from)\b)"), r"\1 is"),
    (re.compile(r"\bi\b"), "I"),
)
_OBJECTS = (
    (re.compile(r"\b(?:my|our)\b", re.IGNORECASE), "their"),
    (re.compile(r"\b(?:me|us)\b", re.IGNORECASE), "them"),
    (re.compile(r"\bmyself\b", re.IGNORECASE), "themselves"),
    (re.compile(r"\bmine\b", re.IGNORECASE), "theirs"),
    (re.compile(r"\bI\b"), "they"),
)
_YOURS = (
    (re.compile(r"\btheir\b"), "your"),
    (re.compile(r"\bthem\b"), "you"),
    (re.compile(r"\bthemselves\b"), "yourself"),
    (re.compile(r"\btheirs\b"), "yours"),
    (re.compile(r"\bthey are\b|\bthey\b"), "you"),
)


def plain_first_person(text: str) -> str:
    """The text with "I'm", "ive", "dont" written out."""
    for pattern, full in _CONTRACTIONS:
        text = pattern.sub(full, text)
    return text


def third(verb: str) -> str:
    """The verb after "she": play → plays, have → has; a past tense or a modal stays."""
    if verb in _THIRD:
        return _THIRD[verb]
    if verb in _UNCHANGED or (verb.endswith("ed") and verb not in {"need", "feed", "breed", "speed"}):
        return verb
    if re.search(r"[^aeiou]y\Z", verb):
        return f"{verb[:-1]}ies"
    return f"{verb}es" if re.search(r"(?:s|x|z|ch|sh)\Z", verb) else f"{verb}s"


def base(verb: str) -> str:
    """The verb after "you": plays → play, has → have; what is no third person stays."""
    if verb in _BASE:
        return _BASE[verb]
    if verb.endswith("ies") and len(verb) > 4:
        return f"{verb[:-3]}y"
    if re.search(r"(?:ss|x|z|ch|sh)es\Z", verb):
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def about_them(words: str) -> str:
    """What is theirs, seen from outside: "my band" is "their band"."""
    for pattern, other in _OBJECTS:
        words = pattern.sub(other, words)
    return words


def to_you(fact: str) -> str:
    """A fact without its subject, said to its subject: "plays drums" → "you play drums"."""
    for pattern, yours in _YOURS:
        fact = pattern.sub(yours, fact)
    first, _, rest = fact.partition(" ")
    if first == "your":
        return fact
    if first in {"favourite", "favorite"}:
        return f"your {fact}"
    if first in {"no", "never", "still", "always", "also", "often"}:
        verb, _, rest = rest.partition(" ")
        if first == "no":  # "no longer plays"
            longer, verb, rest = verb, *_split(rest)
            return f"you no {longer} {base(verb)} {rest}".strip()
        return f"you {first} {base(verb)} {rest}".strip()
    return f"you {base(first)} {rest}".strip()


def _split(text: str) -> tuple[str, str]:
    head, _, tail = text.partition(" ")
    return head, tail
