"""What a viewer's own words ask for, and whether this is the moment for games. Pure; English, and cautious.

Promises: only whole words count ("urban memes" asks for no ban), a message with a "not" in it asks for nothing, nor
does a question ("is slow mode on?") or what stands in quotation marks. What is to be remembered or forgotten is read
from the line itself: no word of a model stands in it. Does not understand every way of asking: what it misses is
refused, or a moderator is asked.
"""

import re
from collections.abc import Iterable

from forgetmenot.actions.catalogue import ACTIONS
from forgetmenot.actions.facts import Person
from forgetmenot.actions.targets import SELF_WORDS
from forgetmenot.text.clean import clean
from forgetmenot.text.told_facts import first_word, others_fact, own_fact
from forgetmenot.text.wishes import Kind, Wish, wish_of
from forgetmenot.text.words import words

_NOT = frozenset({"not", "dont", "never", "no", "cant", "wont", "without", "stop"})
_WONDERING = frozenset(
    ("is", "are", "was", "were", "why", "what", "whats", "how", "did", "does", "when", "who", "where", "should", "if")
)
_CALLED = re.compile(r"\A\s*[@＠]\w+[\s,:!]*")
_QUOTED = re.compile(r"\"[^\"]*\"|“[^“”]*”|„[^„“”]*[“”]|«[^«»]*»")
_BIT = re.compile(r"\b(?:running|inside) (?:joke|gag|bit)s?\s*(?:[:,–-]|is\b|that\b)+\s*(\S.{4,})", re.IGNORECASE)
_WORD = re.compile(r"\w+")
_GRAVE = frozenset(
    (
        *("suicide", "suicidal", "funeral", "died", "dying", "dead", "death", "cancer", "hospital", "ambulance"),
        *("depressed", "depression", "grief", "grieving", "abuse", "abused", "assault", "raped", "overdose"),
        *("selfharm", "crying", "emergency", "tumor", "stroke", "coma", "miscarriage", "divorce", "worthless"),
        *("hopeless", "murdered", "overdosed", "raping", "chemo", "hospice", "suicides", "condolences"),
        *("selbstmord", "suizid", "gestorben", "verstorben", "krebs"),
        *("suicidio", "murio", "fallecio", "morreu", "faleceu", "decede", "decedee"),
    )
)
_DEAR = (
    "job|mom|mum|mother|dad|father|brother|sister|son|daughter|child|baby|wife|husband|boyfriend|girlfriend|partner"
    "|friend|best friend|uncle|aunt|gran(?:d(?:ma|pa|mother|father))?|nan|dog|cat|pet|house|home"
)
_GRAVE_PHRASES = re.compile(
    r"\b(?:kill(?:ed|ing)? (?:him|her|them)self|kill(?:ed)? myself|(?:hurt(?:ing)?|cutting|harm(?:ing|ed)?) myself"
    r"|end(?:ing)? (?:it all|my life)|passed (?:away|(?:last|this) (?:night|week|month|year|morning))"
    r"|self harm(?:ed|ing)?|(?:want to|wanna) die|(?:panic|heart) attack|rest in peace"
    r"|(?:dont|do not) (?:want to|wanna) (?:live|be here|wake up)"
    r"|(?:cant|cannot|can not) go on(?: any ?more| like this)?(?! \w)"
    r"|(?:nobody|no one|noone) (?:would|will) (?:miss|care about) me|burn(?:ed|t) down"
    r"|put (?:(?:my|our|the) \w+ )?(?:down today|to sleep)|put (?:my|our) (?:dog|cat|horse|pet) down"
    r"|(?<=\w )(?<!it )(?<!that )(?<!this )(?<!idk )(?:hits|beats) me(?! in| at| to| by)"  # "beats me": who knows
    r"|(?:got|been|was) (?:laid off|fired(?! up| at))|(?:broke up|breakup)(?! the| at| into)"
    rf"|lost (?:my|our) (?:{_DEAR})(?! keys?| runs?))\b"
)
_JOKES = re.compile(
    r"\b(?:dead (?:chat|air|pixel|lol|game|by daylight|inside lol|space|cells)|i(?:m| am) (?:dead|dying|crying)"
    r"|died (?:laughing|again|lol|to)|death stranding|suicide squad|crying laughing)\b"
)


def asked_for(message: str) -> frozenset[str]:
    """The names of the actions that this message asks for about its own author or for everybody, in so many words."""
    spoken = words(_QUOTED.sub(" ", _CALLED.sub("", clean(message))))
    if _NOT & set(spoken):
        return frozenset()
    line = " ".join(spoken)
    found = (one for one in ACTIONS if one.asks and re.search(rf"\b(?:{one.asks})(?!\w)", line))
    return frozenset(one.name for one in found if not (one.channel_wide and spoken[0] in _WONDERING))


def told(message: str, question: str, target: Person | None, asker: Person) -> dict[str, str]:
    """What the asker told in this line, by the action that takes it. `question`: the line without the bot's name."""
    said = clean(question or message)
    bit = _BIT.search(said)
    found = {"bit": bit[1]} if bit else {}
    wish = wish_of(message, said)
    text = _told_of(wish, target, own=target.id == asker.id) if wish is not None and target is not None else ""
    return {**found, wish.kind.value: text} if wish is not None and text else found


def _told_of(wish: Wish, target: Person, *, own: bool) -> str:
    """The wish's own text, if it is about the target: by "I" and "my", or by the name that it begins with."""
    name, rest = first_word(wish.text.removeprefix("about "))
    named = name.casefold() in _names(target)
    if wish.kind is Kind.REMEMBER:
        return others_fact(rest) if named else (own_fact(wish.text) or "") if own else ""
    if wish.kind is Kind.FORGET:
        return rest.strip() if named else wish.text if own else ""
    return ""


def names(message: str, target: Person, asker: Person) -> bool:
    """Whether a line names somebody: by login, display name, or (the asker) "me"."""
    said = {word.casefold() for word in _WORD.findall(clean(message))}
    return bool(said & _names(target)) or (target.id == asker.id and bool(said & SELF_WORDS))


def _names(person: Person) -> set[str]:
    return {person.login.casefold(), clean(person.display_name).casefold()} - {""}


def is_serious(lines: Iterable[str]) -> bool:
    """Whether the last lines speak of distress, illness or death."""
    return any(_is_grave(" ".join(words(line))) for line in lines)


def _is_grave(line: str) -> bool:
    rest = _JOKES.sub(" ", line)
    return bool(_GRAVE & set(rest.split()) or _GRAVE_PHRASES.search(rest))
