"""What somebody types to correct a note: "it's Bonn, not Cologne", "drums Bass guitar". Pure.

A value that changed is changed in the note's own sentence. What no form fits is a sentence of its
own, or nothing.
"""

import re
from typing import NamedTuple

from forgetmenot.text.words import STOPWORDS, words

# "das" and "this" alone may belong to a noun: "das Auto ist rot".
_IT = re.compile(
    r"(?:(?:that|it|this)['’]s"
    r"|(?:that|it|this|das|es)(?:\s+(?P<verb>is|ist|to|zu|in|auf)\b|\s*[:,])"
    r"|(?:that|it)\b)[:,]?\s+",
    re.IGNORECASE,
)
# "Hades, not Celeste"; without a comma only before a name: "does not like tea" is one sentence.
_NOT_THAT = re.compile(
    r"(?P<right>.+?)"
    r"(?:,\s*(?:not|nicht)|\s+(?:instead of|statt)|\s+(?:not|nicht)(?=\s+(?-i:[A-ZÄÖÜ])))"
    r"\s+(?P<wrong>[\w'’-]+(?: [\w'’-]+)?)",
    re.IGNORECASE,
)
# "not Celeste but Hades"
_BUT_THIS = re.compile(
    r"(?:not|nicht|keine?|no|pas|não|non)\s+(?P<wrong>.+?),?"
    r"\s+(?:but|sondern|sino|mais|mas|ma)\s+(?P<right>.+)",
    re.IGNORECASE,
)
# "Celeste is now Hades", "Celeste -> Hades"
_NOW_THIS = re.compile(
    r"(?P<wrong>.+?)"
    r"\s+(?:(?:is|are|ist|sind|es|est|é|è)\s+(?:now|jetzt|nun|ahora|maintenant|agora|adesso)"
    r"|[-=]>|→)\s+(?P<right>.+)",
    re.IGNORECASE,
)
# "cat is called Max": a value only where the note has one in that place.
_IS_THIS = re.compile(
    r"(?P<wrong>.+?)\s+(?:is|are|ist|sind|heißt)\s+(?P<right>.+)", re.IGNORECASE
)
_NAME = r"[A-ZÄÖÜ][\w'’-]*(?: [A-ZÄÖÜ][\w'’-]*)?"
_A_NAME = re.compile(_NAME)
_NAMES_WITHIN = re.compile(rf"(?<=\s){_NAME}")
_POSSESSIVE = re.compile(r"\A(?:my|our|the|mein\w{0,2}|das|der|die)\s+", re.IGNORECASE)
_CALLED = re.compile(r"\A(?:called|named|genannt|namens)\s+", re.IGNORECASE)
_ARTICLE = r"(?:an?|the|ein\w{0,2})"
_OPENS_WITH_ARTICLE = re.compile(rf"{_ARTICLE}\s", re.IGNORECASE)
# What stands between a thing and its value: "cat called Mia", "favourite game is Celeste".
_BEFORE_VALUE = (
    r"\s+(?:(?:is|are|ist|heißt)(?:\s+(?:called|named))?|called|named|namens)\s+"
)
# Behind the object of a sentence: its end, or how, where and with whom.
_BEHIND_OBJECT = (
    r"(?=$|[,;.]|\s+(?:in|on|at|with|for|from|since|every|and|as|to|mit|im|seit|und"
    r"|that|which|who)\b)"
)
_MAX_VALUE_WORDS = 4
_MAX_OBJECT_WORDS = 3


class Amendment(NamedTuple):
    """What somebody wants changed in a note.

    `right` is the new value. `wrong` is the value that it replaces, empty if none was typed.
    `says_it`: "it" or "that" stood for the note. `sentence` replaces a note that has no such value.
    """

    right: str
    wrong: str = ""
    says_it: bool = False
    sentence: str = ""


def amendment(typed: str) -> Amendment:
    """Return the change in what was typed after `!edit`, or after "change it to"."""
    opening = _IT.match(typed)
    has_it = opening is not None
    text = typed
    if opening is not None:
        text = typed[opening.end() :].strip()
    if not text:
        return Amendment(typed, sentence=typed)
    bare_text = text.rstrip(" .!")
    exchange = _NOT_THAT.fullmatch(bare_text)
    if exchange is not None:
        right = exchange["right"]
        return Amendment(right, exchange["wrong"], has_it, sentence=right)
    if opening is None:
        exchange = _BUT_THIS.fullmatch(bare_text) or _NOW_THIS.fullmatch(bare_text)
        if exchange is not None:
            return Amendment(exchange["right"], exchange["wrong"], sentence=text)
        return Amendment(text, sentence=text)
    # "it is Miso" gives a value; with more words it is a sentence, which needs its verb.
    verb = opening["verb"]
    is_sentence = len(text.split()) > 2
    if is_sentence and verb in {"is", "ist"}:
        text = f"{verb} {text}"
    return Amendment(text, says_it=has_it, sentence=text)


def changed_fact(fact: str, change: Amendment) -> str | None:
    """Return the fact with the new value in its place; None if the fact has no such value."""
    if change.wrong:
        # "cat, not dog" may name the thing that has the value, or the value itself.
        changed = _with_value_of(fact, change.wrong, change.right)
        return changed or _with_value(fact, change.wrong, change.right)
    # "it's Miso": the name of the cat, if the fact has no other.
    is_name = _A_NAME.fullmatch(change.right) is not None
    if is_name and _is_value(change.right):
        names = _NAMES_WITHIN.findall(fact)
        if len(names) == 1:
            return _replaced(fact, names[0], change.right)
    if change.says_it:
        return None
    bare_statement = change.right.rstrip(" .!")
    statement = _IS_THIS.fullmatch(bare_statement)
    if statement is not None:
        return _with_value_of(fact, statement["wrong"], statement["right"])
    return _with_object(fact, change.right)


def is_about_object(fact: str, typed: str) -> bool:
    """Return whether what was typed begins with the object of a fact: "drums and so on".

    Such a text is no sentence.
    """
    return _named_object(fact, typed) is not None


def _with_value_of(
    fact: str,
    thing: str,
    value: str,
) -> str | None:
    """Return the fact with a new value for a thing: "cat called Mia"; None if it has none."""
    bare_thing = re.escape(_POSSESSIVE.sub("", thing))
    bare_value = _CALLED.sub("", value)
    pattern = rf"(?<!\w){bare_thing}{_BEFORE_VALUE}(?P<value>.+?){_BEHIND_OBJECT}"
    slot = re.search(pattern, fact, re.IGNORECASE)
    if slot is None:
        return None
    if not _is_value(bare_value):
        return None
    before = fact[: slot.start("value")]
    behind = fact[slot.end("value") :]
    return f"{before}{bare_value}{behind}"


def _with_value(
    fact: str,
    wrong: str,
    right: str,
) -> str | None:
    """Return the fact with a new value for an old one; None if it does not have the old one."""
    if not _is_value(right):
        return None
    old_value = _POSSESSIVE.sub("", wrong)
    new_name = _CALLED.sub("", right)
    names = _NAMES_WITHIN.findall(fact)
    # "not the cat but Max": the fact's only name is the cat's.
    if len(names) == 1 and _A_NAME.fullmatch(new_name):
        is_old_value = names[0].casefold() == old_value.casefold()
        if not is_old_value and _found(fact, re.escape(old_value)):
            return _replaced(fact, names[0], new_name)
    if _CALLED.match(right):
        return _with_new_name(fact, old_value, new_name)
    # With its article and an adjective, if the new value has an article: "a nurse" becomes "a
    # teacher", "a red car" "a bike".
    if _OPENS_WITH_ARTICLE.match(right):
        with_article = _found(fact, rf"{_ARTICLE}\s+(?:\w+\s+)?{re.escape(old_value)}")
        if with_article is not None:
            old_value = with_article[0]
    return _replaced(fact, old_value, right)


def _with_new_name(fact: str, old: str, name: str) -> str | None:
    """Return the fact with the name that something is called now; None if it has no such thing, or several.

    `old`: the name until now, which is replaced, or the thing, which is kept: "a cat called Max".
    """
    place = _found(fact, re.escape(old))
    if place is None:
        return None
    if _A_NAME.fullmatch(place[0]):
        return _replaced(fact, old, name)
    return _replaced(fact, old, f"{place[0]} called {name}")


def _with_object(fact: str, typed: str) -> str | None:
    """Return the fact with a new object: "drums Bass guitar" puts the guitar for the drums."""
    old_object = _named_object(fact, typed)
    if old_object is None:
        return None
    behind_object = typed[len(old_object) :]
    new_object = behind_object.strip().rstrip(".!")
    new_words = set(words(new_object))
    # What repeats a word of the fact is a sentence about it: "drums are what she drums on".
    if not new_words.isdisjoint(words(fact)):
        return None
    if not _is_value(new_object):
        return None
    return _replaced(fact, old_object, new_object)


def _named_object(fact: str, typed: str) -> str | None:
    """Return the words that open what was typed and are the object of a fact; None if none are."""
    parts = typed.split()
    if not parts:
        return None
    # "plays bass" is the whole fact anew, and names no object of it.
    first_fact_word = fact.split(maxsplit=1)[0]
    if parts[0].casefold() == first_fact_word.casefold():
        return None
    # The new object stands behind it, so it is never all that was typed.
    max_words = min(_MAX_OBJECT_WORDS, len(parts) - 1)
    for word_count in range(max_words, 0, -1):
        thing = " ".join(parts[:word_count])
        pattern = rf"(?<!\w){re.escape(thing)}{_BEHIND_OBJECT}"
        if re.search(pattern, fact, re.IGNORECASE):
            return thing
    return None


def _is_value(text: str) -> bool:
    """Return whether a text may be a value: a few words that do not begin with "in" or "and"."""
    value_words = words(text)
    if not 0 < len(value_words) <= _MAX_VALUE_WORDS:
        return False
    return value_words[0] not in STOPWORDS - {"a", "an", "the"}


def _found(fact: str, pattern: str) -> re.Match[str] | None:
    """Return where a pattern stands in a fact as whole words; None if it does not."""
    return re.search(rf"(?<!\w){pattern}(?!\w)", fact, re.IGNORECASE)


def _replaced(
    fact: str,
    old: str,
    new: str,
) -> str | None:
    """Return the fact with `new` for its one `old`; None if it has no such place, or several."""
    pattern = re.compile(rf"(?<!\w){re.escape(old)}(?!\w)", re.IGNORECASE)
    if len(pattern.findall(fact)) != 1:
        return None
    return pattern.sub(lambda _: new, fact)
