"""A first-person sentence as a fact without its subject: "I play drums" becomes "plays drums". Pure.

English, and "I" and "my" of a few other languages; what cannot be turned is kept as it was said. None where the text is
plainly not about its speaker. Facts are turned by just enough English.
"""

import re

_THIRD = {"am": "is", "have": "has", "do": "does", "go": "goes", "was": "was", "were": "was"}
_UNCHANGED_TEXT = """can cannot could will would shall should may might must used got bought won lost grew quit became
    began ran met made went came saw took gave told said thought felt kept left found wrote drove ate drank slept
    spent sold taught caught broke chose fell flew forgot had heard knew learnt paid rode sang swam built did stood
    understood wore threw brought fought held led sent woke"""
_UNCHANGED = frozenset(_UNCHANGED_TEXT.split())
_CONTRACTIONS = (
    (re.compile(r"\b[Ii]['’]?[Mm]\b"), "I am"),
    (re.compile(r"\b[Ii]['’]?[Vv][Ee]\b"), "I have"),
    (re.compile(r"\bI have got\b"), "I have"),
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


def about_them(words: str) -> str:
    """What is theirs, seen from outside: "my band" is "their band"."""
    for pattern, other in _OBJECTS:
        words = pattern.sub(other, words)
    return words


_ADVERBS = frozenset(
    ["also", "always", "never", "often", "usually", "mostly", "really", "only", "still", "just", "actually", "now"]
)
_HELPERS = {"do not": "does not", "am not": "is not", "have not": "has not", "have never": "has never"}
_FIRST = re.compile(r"\b(?:I|me|my|mine|myself|we|our|us)\b", re.IGNORECASE)
_I = re.compile(r"\b(?:I|my|we|our)\b", re.IGNORECASE)
_I_ABROAD = re.compile(  # no word that is an English one, or a name
    r"\b(?:ich|mir|mich|meine?[rnms]?|je|j['’]\w+|moi|mes|tengo|estoy|sono|miei|tenho|estou|meus?|minhas?|ik|mijn|jag|jeg|mitt"
    r"|me (?:gustan?|encantan?|llamo|chamo)"
    r"|jestem|mój|moje|benim|я|меня|мне|мой|моя|моё|мои|мене|мій|моє)\b|私|僕|俺|我|나는|저는|난 |제가|내 |제 ",
    re.IGNORECASE,
)
_MINE = re.compile(r"\A(?:my|our)\s+", re.IGNORECASE)
_WE = re.compile(r"\A[Ww]e(?:['’]re)?\s+")
_THIRD_TOLD_FACTS = re.compile(
    r"\A(?:(?:also|always|never|often|usually|really|still|no longer|is|was|has|had|can|cannot|does|did|will|used|wants"
    r"|their|from) "
    r"|(?!this |his |its |whos |whats |thats |lets |yes |always |news )(?-i:[a-z]{2,}s) (?!are |is |were ))",
    re.IGNORECASE,
)
# Plural nouns look like verbs ("subs get …"): these words are verbs, and say without "I" what somebody does.
_SURE_VERBS_TEXT = """is was has had can does did used wants likes loves hates lives works plays owns speaks comes goes
    prefers collects studies teaches sings bakes reads watches draws paints knows feels drives uses writes codes enjoys
    dislikes cooks builds supports needs makes learns listens grew got"""
_SURELY_A_PERSON = re.compile(
    rf"\A(?:(?:also|always|never|often|usually|really|still|no longer) [a-z]+s|their|from"
    rf"|{'|'.join(_SURE_VERBS_TEXT.split())}) ",
    re.IGNORECASE,
)
_OUR = re.compile(r"\A(?:our|we)\b", re.IGNORECASE)
_END = re.compile(r"[\s.!,;]+\Z")


def first_word(text: str) -> tuple[str, str]:
    """The first word of a text, and the rest: "@bob's cat" gives "bob" and "'s cat"."""
    stripped = text.strip().removeprefix("@")
    name = re.match(r"\w*", stripped)
    end = name.end() if name else 0
    return stripped[:end], stripped[end:]


def own_fact(text: str, *, for_channel: bool = False) -> str | None:
    """What a text says about its speaker; None if it does not speak of them.

    `for_channel`: the speaker may also mean the channel. "We" is the channel then, and a text without "I" is the
    speaker's only where it begins with a verb that is no plural noun.
    """
    # contractions first: the patterns below read "I am", never "im"
    sentence = _END.sub("", plain_first_person(text.strip()))
    if for_channel and (
        _OUR.match(sentence) or not (_FIRST.search(sentence) or _SURELY_A_PERSON.match(f"{sentence} "))
    ):
        return sentence if _I_ABROAD.search(sentence) else None
    if sentence.startswith("I "):
        return _predicate(sentence[2:].strip())
    if _MINE.match(sentence):
        return re.sub(r"\Atheir (?=fav)", "", about_them(sentence[:1].lower() + sentence[1:]))
    if _THIRD_TOLD_FACTS.match(f"{sentence} "):
        return about_them(sentence)
    if _I_ABROAD.search(sentence) and not _I.search(sentence):
        return sentence
    return about_them(sentence) if _FIRST.search(sentence) and not _WE.match(sentence) else None


def _predicate(rest: str) -> str | None:
    """What follows "I", after "she"."""
    for helper, other in _HELPERS.items():
        if rest.lower().startswith(f"{helper} "):
            return f"{other} {about_them(rest[len(helper) + 1 :])}"
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
    words = _END.sub("", rest.strip().lstrip(":,–—-").strip())
    owned = re.match(r"['’]s\s+", words)
    return f"their {words[owned.end() :]}" if owned else words
