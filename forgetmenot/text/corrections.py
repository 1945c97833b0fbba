"""What somebody types to correct a note: "it's Bonn, not Cologne", "celeste is now Hades", "drums Bass guitar". Pure.

A value that changed is changed in the note's own sentence. What no form fits is a sentence of its own, or nothing.
"""

import re
from typing import NamedTuple

from forgetmenot.text.words import STOPWORDS, words

_IT = re.compile(
    # "das" and "this" alone may belong to a noun: "das Auto ist rot"
    r"(?:(?:that|it|this)['’]s|(?:that|it|this|das|es)(?:\s+(?P<verb>is|ist|to|zu|in|auf)\b|\s*[:,])|(?:that|it)\b)[:,]?\s+",
    re.IGNORECASE,
)
# "Hades, not Celeste"; without a comma only before a name: "does not like tea" is one sentence
_NOT_THAT = re.compile(
    r"(?P<right>.+?)(?:,\s*(?:not|nicht)|\s+(?:instead of|statt)|\s+(?:not|nicht)(?=\s+(?-i:[A-ZÄÖÜ])))"
    r"\s+(?P<wrong>[\w'’-]+(?: [\w'’-]+)?)",
    re.IGNORECASE,
)
# "not Celeste but Hades"
_BUT_THIS = re.compile(
    r"(?:not|nicht|keine?|no|pas|não|non)\s+(?P<wrong>.+?),?\s+(?:but|sondern|sino|mais|mas|ma)\s+(?P<right>.+)",
    re.IGNORECASE,
)
# "Celeste is now Hades", "Celeste -> Hades"
_NOW_THIS = re.compile(
    r"(?P<wrong>.+?)\s+(?:(?:is|are|ist|sind|es|est|é|è)\s+(?:now|jetzt|nun|ahora|maintenant|agora|adesso)|[-=]>|→)"
    r"\s+(?P<right>.+)",
    re.IGNORECASE,
)
# "cat is called Max": a value only where the note has one in that place
_IS_THIS = re.compile(r"(?P<wrong>.+?)\s+(?:is|are|ist|sind|heißt)\s+(?P<right>.+)", re.IGNORECASE)
_NAME = r"[A-ZÄÖÜ][\w'’-]*(?: [A-ZÄÖÜ][\w'’-]*)?"
_A_NAME = re.compile(_NAME)
_NAMES_WITHIN = re.compile(rf"(?<=\s){_NAME}")
_OWN = re.compile(r"\A(?:my|our|the|mein\w{0,2}|das|der|die)\s+", re.IGNORECASE)
_CALLED = re.compile(r"\A(?:called|named|genannt|namens)\s+", re.IGNORECASE)
_ARTICLE = r"(?:an?|the|ein\w{0,2})"
# What stands between a thing and its value: "cat called Mia", "favourite game is Celeste".
_BEFORE_A_VALUE = r"\s+(?:(?:is|are|ist|heißt)(?:\s+(?:called|named))?|called|named|namens)\s+"
# Behind the object of a sentence: its end, or how, where and with whom.
_BEHIND_OBJECT = (
    r"(?=$|[,;.]|\s+(?:in|on|at|with|for|from|since|every|and|as|to|mit|im|seit|und)\b)"
)
_MOST_WORDS_OF_VALUE = 4
_MOST_WORDS_OF_OBJECT = 3


class Amendment(NamedTuple):
    """`right`: how it is; `wrong`: what it replaces, if that was said; `it`: "it" or "that" stands for the note.

    `sentence`: what stands in the note's place where it has no such value.
    """

    right: str
    wrong: str = ""
    it: bool = False
    sentence: str = ""


def amendment(typed: str) -> Amendment:
    """Read what was typed after `!edit`, or after "change it to"."""
    refers = _IT.match(typed)
    text = typed[refers.end() :].strip() if refers else typed
    if not text:
        return Amendment(typed, sentence=typed)
    bare = text.rstrip(" .!")
    is_it = refers is not None
    exchanged = _NOT_THAT.fullmatch(bare)
    if exchanged is not None:
        right = exchanged["right"]
        return Amendment(right, exchanged["wrong"], is_it, right)
    if refers is None:
        for form in (_BUT_THIS, _NOW_THIS):
            exchanged = form.fullmatch(bare)
            if exchanged is not None:
                return Amendment(exchanged["right"], exchanged["wrong"], sentence=text)
    if refers is not None and refers["verb"] in {"is", "ist"} and len(text.split()) > 2:
        text = f"{refers['verb']} {text}"
    return Amendment(text, "", is_it, text)


def changed_fact(fact: str, change: Amendment) -> str | None:
    """The fact with the value in its place; None where the fact has no such value."""
    if change.wrong:
        return _with_value(fact, change.wrong, change.right, anywhere=True)
    if _is_value(change.right) and _A_NAME.fullmatch(change.right):
        names = _NAMES_WITHIN.findall(fact)
        if len(names) == 1:
            return _replaced(fact, names[0], change.right)
    if change.it:
        return None
    says_is = _IS_THIS.fullmatch(change.right.rstrip(" .!"))
    if says_is is not None:
        return _with_value(fact, says_is["wrong"], says_is["right"], anywhere=False)
    return _with_object(fact, change.right)


def is_about_object(fact: str, typed: str) -> bool:
    """Whether what was typed begins with the object of a fact, and so is no sentence: "drums and so on"."""
    return _object_named(fact, typed) is not None


def _with_value(fact: str, wrong: str, right: str, *, anywhere: bool) -> str | None:
    """The fact with `right` for what it says of `wrong`, or (`anywhere`) for `wrong` itself."""
    thing = _OWN.sub("", wrong)
    value = _CALLED.sub("", right)
    slot = re.search(
        rf"(?<!\w){re.escape(thing)}{_BEFORE_A_VALUE}(?P<value>.+?){_BEHIND_OBJECT}",
        fact,
        re.IGNORECASE,
    )
    if slot is not None and _is_value(value):
        return fact[: slot.start("value")] + value + fact[slot.end("value") :]
    if not anywhere or not _is_value(right):
        return None
    names = _NAMES_WITHIN.findall(fact)
    is_name = any(name.casefold() == thing.casefold() for name in names)
    if not is_name and len(names) == 1 and _A_NAME.fullmatch(value) and _has(fact, thing):
        return _replaced(fact, names[0], value)
    # with its article, where the new value has one: "a nurse" becomes "a teacher", "a red car" "a bike"
    if re.match(rf"{_ARTICLE}\s", right, re.IGNORECASE):
        with_article = re.search(
            rf"(?<!\w){_ARTICLE}\s+(?:\w+\s+)?{re.escape(thing)}(?!\w)", fact, re.IGNORECASE
        )
        thing = with_article[0] if with_article is not None else thing
    return _replaced(fact, thing, right)


def _with_object(fact: str, typed: str) -> str | None:
    """The fact with the object that stands first in what was typed replaced by the rest: "drums Bass guitar"."""
    thing = _object_named(fact, typed)
    if thing is None:
        return None
    value = typed[len(thing) :].strip().rstrip(".!")
    if not _is_value(value) or not set(words(value)).isdisjoint(words(fact)):
        return None
    return _replaced(fact, thing, value)


def _object_named(fact: str, typed: str) -> str | None:
    """The words at the beginning of what was typed that are the object of a fact; None if they are not."""
    parts = typed.split()
    first_word = fact.split(maxsplit=1)[0].casefold()
    for size in range(min(_MOST_WORDS_OF_OBJECT, len(parts) - 1), 0, -1):
        thing = " ".join(parts[:size])
        if parts[0].casefold() == first_word:
            return None
        pattern = rf"(?<!\w){re.escape(thing)}{_BEHIND_OBJECT}"
        if re.search(pattern, fact, re.IGNORECASE):
            return thing
    return None


def _is_value(text: str) -> bool:
    """Whether a text may stand in the place of a value: a few words that do not begin with "in" or "and"."""
    parts = words(text)
    if not 0 < len(parts) <= _MOST_WORDS_OF_VALUE:
        return False
    return parts[0] not in STOPWORDS - {"a", "an", "the"}


def _has(fact: str, thing: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(thing)}(?!\w)", fact, re.IGNORECASE) is not None


def _replaced(fact: str, old: str, new: str) -> str | None:
    """The fact with `new` for the one place where it has `old`; None where there is no such place, or several."""
    pattern = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)", re.IGNORECASE)
    return pattern.sub(lambda _: new, fact) if len(pattern.findall(fact)) == 1 else None
