"""Single-valued slots: what a person has one of at a time (home, job, main, birthday …), found in a short fact.

Each slot has its name, its key (whose, in which game, which favourite) and its value as stems. Two facts
that fill the same slot with different values cannot both be true. Knows English phrasings only.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from forgetmenot.memory.facts import lexicon as lex
from forgetmenot.text.words import stem

_PROFESSIONS = """teacher nurse doctor engineer developer programmer dev chef cook baker barista plumber electrician
welder carpenter mechanic lawyer accountant firefighter paramedic pilot driver trucker farmer gardener janitor
cashier waiter waitress bartender librarian journalist photographer designer architect artist illustrator
animator scientist researcher professor pharmacist dentist vet therapist psychologist manager consultant
analyst salesman soldier cop policeman policewoman officer guard hairdresser barber tailor painter builder
roofer machinist technician translator editor writer surgeon veterinarian butcher florist sysadmin admin
tester clerk receptionist secretary banker economist chemist biologist physicist"""
_PROFESSION = "|".join(_PROFESSIONS.split())
_PETS = """cat dog parrot hamster rabbit bunny snake lizard gecko fish bird horse
turtle tortoise ferret rat hedgehog budgie axolotl"""
_PET = "|".join(_PETS.split())
_TIERS = """iron|bronze|silver|gold|plat|platinum|emerald|diamond|dia|master|masters|grandmaster|gm|challenger
|ascendant|immortal|radiant|champ|champion|supersonic legend|predator|unranked"""
_GEAR = """controller|keyboard|mouse|headset|mic|microphone|webcam|monitor|phone|laptop|gpu|cpu|browser|editor
|ide|os|distro|chair|graphics card|operating system|camera|console|capture card|drawing tablet"""
_SOLE = """name|nickname|nick|goal|dream|dream job|dream car|first language|native language|mother tongue|car|phone
|school|zodiac sign|star sign|sign|best friend|hometown|home town|current project|next game|comfort game
|pronouns|gamertag|username|middle name|blood type|shoe size|shift|role|class|roommate|streak
|eye colou?r|hair colou?r|wedding|weight|height
|go to \\w+|most played \\w+|(?:best|worst|comfort|current|next|dream|first) \\w+"""
_SOLE_WORDS = """name nickname nick goal dream language tongue car phone school sign friend hometown town project game
pronouns gamertag username type size shift role class roommate streak color colour wedding weight height go played
best worst comfort current next first"""
_ROLE = "mod|moderator|vip|editor|admin"
_PLATFORM = (
    r"pc|console|mobile|xbox|playstation|ps ?\d?|ps\d|switch|steam deck|mac|linux|windows|android|iphone"
    r"|mouse and keyboard|mnk|(?:an? )?controller"
)
_BEING = r"(?:is|was|are|be|being|became|becoming|got|just|now|currently|still|newly|recently|happily|an?|the)"


class SlotRule(NamedTuple):
    """One phrasing of one slot."""

    name: str
    triggers: tuple[str, ...]
    pattern: re.Pattern[str]


def _rule(name: str, triggers: str, pattern: str) -> SlotRule:
    return SlotRule(name, tuple(triggers.split()), re.compile(pattern.replace("\n", "")))


RULES = (
    _rule(
        "home",
        "live lives lived living based resides residing located",
        r"^(?P<who>.*?)\b(?:live[sd]?|living|based|resid\w+|located)(?: now| currently| alone)? (?:in|"
        r"at|out of) (?:an? (?:\w+ )?(?:flat|house|apartment|room|studio|cottage) in )?"
        r"(?!an?\b|the woods|fear|peace|\d)(?P<value>.+)",
    ),
    _rule(
        "home",
        "moved moving moves relocated",
        r"^(?P<who>.*?)\b(?<!wants to )(?:mov(?:ed|es)|relocated)(?: back| over| recently| from .+)? "
        r"to (?!an?\b)(?P<value>.+)",
    ),
    _rule(
        "home",
        "moved moves",
        r"^(?P<who>.*?)\bmoved? (?:away from|out of) (?P<value>.+)",
    ),
    _rule(
        "origin",
        "from hometown",
        r"^(?P<who>.*?)\b(?:is|comes|came|hails|originally) (?:originally )?from (?P<value>.+)",
    ),
    _rule(
        "grew",
        "grew raised",
        r"^(?P<who>.*?)\b(?:grew up|raised) in (?P<value>.+)",
    ),
    _rule(
        "birthplace",
        "born",
        r"^(?P<who>.*?)\bborn in (?P<value>(?!january|february|march|april|may|june|july|august|"
        r"september|october|november|december|\d).+)",
    ),
    _rule(
        "birthday",
        "birthday bday born",
        r"^(?P<who>.*?)\b(?:birthday is(?: on| in)?|bday is(?: on| in)?|born on|has (?:a|their) "
        r"birthday (?:on|in)) (?P<value>.+)",
    ),
    _rule(
        "age",
        "old age aged",
        r"^(?P<who>.*?)\b(?P<value>\d+|\w+(?: \w+)?) (?:years?|yrs?) old",
    ),
    _rule(
        "age",
        "turned turns aged age",
        r"^(?P<who>.*?)\b(?:turned|turns|aged|age is) (?P<value>\d+|thirty\w*|twenty\w*|forty\w*|"
        r"fifty|eighteen|nineteen)\b",
    ),
    _rule(
        "age",
        "is",
        r"^(?P<who>)is (?P<value>\d\d)$",
    ),
    _rule(
        "job",
        "works working work employed worked",
        r"^(?P<who>.*?)\b(?:work(?:s|ed|ing)?|employed) as (?P<value>.+)",
    ),
    _rule(
        "job",
        "job profession occupation",
        r"^(?P<who>.*?)\b(?<!dream )(?:job|profession|occupation) is (?P<value>.+)",
    ),
    _rule(
        "job",
        "trade living profession",
        r"^(?P<who>.*?)\b(?:is|was) (?P<value>.+?) (?:by trade|by profession|for a living)",
    ),
    _rule(
        "employer",
        "works working work worked employed",
        r"^(?P<who>.*?)\b(?:work(?:s|ed|ing)?|employed) (?:at|for|by) (?!night|home|day|weekend|fun|"
        r"free|least|a living)(?P<value>.+)",
    ),
    _rule(
        "school",
        "goes attends studies studying going enrolled",
        r"^(?P<who>.*?)\b(?:goes to|attends|stud(?:ies|ying) at|going to|enrolled (?:at|in)) "
        r"(?P<value>(?:school|college|uni|university|mit|stanford|harvard|oxford|cambridge)\b.*|"
        r".*\b(?:school|college|uni|university|academy)\b.*)",
    ),
    _rule(
        "school",
        "studies studying",
        r"^(?P<who>.*?)\bstud(?:ies|ying) at (?!home\b|night\b|the\b|a\b|an\b)(?P<value>.+)",
    ),
    _rule(
        "major",
        "studies studying majors majoring major degree majored",
        r"^(?P<who>.*?)\b(?:stud(?:ies|ying)|major(?:s|ed|ing)? in|major is|degree in) (?!at\b|for\b|"
        r"with\b|hard)(?P<value>.+)",
    ),
    _rule(
        "favourite",
        "favourite favorite fav fave",
        r"^(?P<who>.*?)\b(?:favou?rite|fave?) (?P<key>.+?) (?:is|are)(?: now)? (?P<value>.+)",
    ),
    _rule(
        "favourite",
        "favourite favorite fav fave",
        r"^(?P<value>.+?) (?:is|are)(?: now)? (?:their|his|her|the|a)? ?(?:all time )?(?:favou?rite|"
        r"fave?) (?P<key>.+?)(?: of all time)?$",
    ),
    _rule(
        "main",
        "main mains maining",
        r"^(?P<who>.*?)\bmain(?:s|ing)? (?!in\b|game|champ\w*|character|hero|agent|role|class|"
        r"is\b)(?P<value>.+?)(?: (?:in|on) (?P<key>.+))?$",
    ),
    _rule(
        "main",
        "main",
        r"^(?P<who>.*?)\bmain (?:(?:champ(?:ion)?|character|hero|agent|fighter) )?is(?: now)? "
        r"(?P<value>.+?)(?: in (?P<key>.+))?$",
    ),
    _rule(
        "main",
        "main",
        r"^(?P<who>.*?)\bmain in (?P<key>.+?) is(?: now)? (?P<value>.+)",
    ),
    _rule(
        "main",
        "main",
        r"^(?P<who>.*?)\bmain(?:ed)? (?:to|is) (?P<value>.+?)(?: in (?P<key>.+))?$",
    ),
    _rule(
        "main",
        "main",
        r"^(?:is )?(?:an? )?(?P<value>(?!switch)\w+(?: \w+)?) main(?: in (?P<key>.+))?$",
    ),
    _rule(
        "main",
        "main",
        r"^plays (?P<value>.+?) as (?:their|his|her|a) main(?: in (?P<key>.+))?$",
    ),
    _rule(
        "main game",
        "main",
        r"^(?P<who>.*?)\bmain (?P<key>game|role|class|job|platform)(?: is)?(?: now)? (?P<value>.+)",
    ),
    _rule(
        "main game",
        "main",
        r"^(?P<value>.+) is (?:the|their|his|her) main (?P<key>game|role|class|platform)$",
    ),
    _rule(
        "timezone",
        "timezone zone tz",
        r"^(?P<who>.*?)\b(?:timezone|time zone|tz) is (?P<value>.+)",
    ),
    _rule(
        "timezone",
        "timezone zone tz",
        r"^(?P<who>.*?)\b(?:in|on|uses) (?:the )?(?P<value>\w+(?: \d+)?) (?:timezone|time zone|tz)",
    ),
    _rule(
        "love life",
        "single married engaged divorced widowed dating taken",
        rf"^(?P<who>(?:(?!{_BEING}\b)\w+ )*?)(?:{_BEING} )*(?P<value>(?:single|divorced|widowed|"
        rf"taken)(?= again| now|$).*|(?:married|engaged)(?= to| now|$).*|dating .+)",
    ),
    _rule(
        "pet",
        _PETS,
        rf"^(?:(?:his|her|their|the) )?(?P<key>{_PET}) (?:name is|is (?:named|called)) (?P<value>.+)",
    ),
    _rule(
        "pet",
        "named called",
        rf"^(?:has|owns|got) (?P<few>an?|one) (?:\w+ )?(?P<key>{_PET}) (?:(?:and|that|which) (?:it "
        rf")?(?:is )?)?(?:named|called) (?P<value>.+)",
    ),
    _rule(
        "partner",
        "named called",
        r"^(?:(?:his|her|their|the) )?(?P<key>boyfriend|girlfriend|bf|gf|husband|wife|fiancee?|spouse) "
        r"is (?:named|called) (?P<value>.+)",
    ),
    _rule(
        "car",
        "drives driving",
        r"^(?P<who>.*?)\bdriv(?:es|ing) (?P<value>.+)",
    ),
    _rule(
        "language",
        "native",
        r"^(?:is )?(?:a )?native (?P<value>\w+) speaker",
    ),
    _rule(
        "gear",
        "uses",
        rf"^(?P<who>)uses (?:an? |the )?(?P<value>.+?) (?:as )?(?:an? |their )?(?P<key>{_GEAR})\b",
    ),
    _rule(
        "rank",
        "iron bronze silver gold plat platinum emerald diamond dia master masters grandmaster "
        "challenger ascendant immortal radiant champ unranked",
        rf"^(?:(?:is|was|now|reached|hit|got to|made it to|climbed to|back to|back in|ranked|rank is|"
        rf"dropped to|fell to|demoted to|peaked|peak|at|currently|just|in|still) ?)+ "
        rf"(?P<value>(?:{_TIERS})(?: (?:\d|i+v?))?)(?: rank)?(?: (?:in|on) (?P<key>.+))?$",
    ),
    _rule(
        "platform",
        "plays play playing",
        rf"^(?P<who>)play(?:s|ing)? (?P<key>.*?)\b(?:on|with) (?P<value>{_PLATFORM})(?: now)?$",
    ),
    _rule(
        "team",
        "supports roots",
        r"^(?:supports|roots for|is a supporter of) (?P<value>\w+(?: \w+)?)$",
    ),
    _rule(
        "alias",
        "goes called",
        r"^(?:goes by|(?:wants|likes|prefers) to be called) (?P<value>.+)",
    ),
    _rule(
        "channel role",
        "mod moderator vip editor admin",
        rf"^is (?:an?|the) (?P<value>{_ROLE}) (?P<key>in|on|for|of) the channel$",
    ),
    _rule(
        "pronouns",
        "pronouns",
        r"^(?P<who>.*?)\bpronouns are (?P<value>.+)",
    ),
    _rule(
        "pronouns",
        "pronouns",
        r"^(?P<who>.*?)\b(?:uses|has) (?P<value>.+) pronouns",
    ),
    _rule(
        "pronouns",
        "pronouns",
        r"^(?P<who>.*?)\b(?:has|uses|prefers) the pronouns (?P<value>.+)",
    ),
    _rule(
        "looks",
        "hair eyes",
        r"^(?:\w+ )?ha(?:s|ve) (?:(?:long|short|curly|straight) )?(?P<value>(?!the\b|a\b|no\b)\w+) (?P<key>hair|eyes)$",
    ),
    _rule(
        "preference",
        "prefers prefer preferred",
        r"^(?P<who>.*?)\bprefers? (?P<key>(?P<value>.+?) (?:over|to|than|instead of) .+)",
    ),
    _rule(
        "preference",
        "more better",
        r"^(?P<who>.*?)\b(?:likes?|loves?|enjoys?) (?P<key>(?P<value>.+?) (?:more|better) than .+)",
    ),
    _rule(
        "diet",
        "vegetarian vegan pescatarian",
        r"^(?P<who>.*?)\b(?P<value>vegetarian|vegan|pescatarian)$",
    ),
    _rule(
        "of record",
        _SOLE_WORDS,
        rf"^(?P<who>.*?)\b(?P<key>{_SOLE}) (?:is|are)(?: now)? (?:to (?:be|become) )?(?P<value>.+)",
    ),
    _rule(
        "job",
        _PROFESSIONS,
        rf"^(?P<who>.*?)(?:\b{_BEING} )+(?P<value>(?:\w+ )?(?:{_PROFESSION}))"
        r"(?P<after>$| (?:at|in|for|by|from|with|who|and) .*)",
    ),
)


class Slot(NamedTuple):
    """One filled slot. `key` tells apart slots of one name; `value` and `rest` (what else the fact says) are stems.

    `spelt` is the value in the words as they were written: a slip may change where a word's stem ends.
    An empty key was not said ("mains Jinx") and fits any. `few`: one may have several of it. `ended`: moved away.
    `past`: told as something that was ("worked as a waiter"), of which there may have been several.
    """

    name: str
    who: frozenset[str]
    key: frozenset[str]
    value: frozenset[str]
    spelt: frozenset[str]
    rest: frozenset[str]
    few: bool = False
    ended: bool = False
    past: bool = False


_BY_WORD: dict[str, list[int]] = {}
for _index, _slot_rule in enumerate(RULES):
    for _trigger in _slot_rule.triggers:
        _BY_WORD.setdefault(_trigger, []).append(_index)
_CUT = re.compile(
    r" (?:with|and (?:has|is|works|lives|plays)|since|for|because|where|but|so|after|before|right now|these days"
    r"|as well|too|instead|every|near|on weekends?|this|last|until|when|while|over|rather)\b"
)
_PAST = re.compile(r"\b(?:lived|resided|worked|studied|majored|drove|supported|attended|went)\b")
_ARTICLES = lex.as_set(
    """a an the their his her its now in of at to is be are currently still again and s also recently just really"""
)
_NOT_WHO = (
    lex.FILLER
    | lex.NEGATIONS
    | lex.as_set("never used no longer not stopped quit gave like use has been switched changed started")
)


@lru_cache(maxsize=8_192)
def slots_of(tokens: str) -> tuple[Slot, ...]:
    """The slots that a fact fills, given as `Reading.tokens`."""
    words = tokens.split()
    rules = sorted({index for word in words for index in _BY_WORD.get(word, ())})
    found = [_fill(RULES[at].name, match) for at in rules if (match := RULES[at].pattern.search(tokens))]
    return tuple(slot for slot in found if slot.value)


def _fill(name: str, match: re.Match[str]) -> Slot:
    groups = match.groupdict()
    value, rest = _cut(groups["value"])
    after = match.string[match.end() :] + " " + (groups.get("after") or "")
    return Slot(
        name=name,
        who=_stems(groups.get("who") or "", _NOT_WHO),
        key=_stems(groups.get("key") or "", lex.FILLER),
        value=_stems(value, _ARTICLES),
        spelt=frozenset(value.split()) - _ARTICLES,
        rest=_stems(f"{rest} {after}", lex.FILLER),
        few=bool(groups.get("few")),
        ended="away from" in match[0] or "out of" in match[0],
        past=bool(_PAST.search(match[0])),
    )


def _cut(value: str) -> tuple[str, str]:
    """What was said as the value, and what was said after it."""
    end = _CUT.search(value)
    return (value[: end.start()], value[end.start() :]) if end else (value, "")


def _stems(text: str, without: frozenset[str]) -> frozenset[str]:
    return frozenset(
        stem(lex.SAME.get(word, lex.NUMBERS.get(word, word))) for word in text.split() if word not in without
    )
