"""Single-valued slots: what a person has one of at a time (home, job, main, birthday …), found in a short fact.

Each slot has its name, its key (whose, in which game, which favourite) and its value as stems. Two facts
that fill the same slot with different values cannot both be true. Knows English phrasings only.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from forgetmenot.memory.facts import lexicon as lex
from forgetmenot.text.caches import text_cache
from forgetmenot.text.words import stem

_PARTS = {
    "who": r"(?P<who>.*?)\b",
    "their": "(?:(?:his|her|their|the) )?",
    "being": r"(?:is|was|are|be|being|became|becoming|got|just|now|currently|still|newly|recently|happily|an?|the)",
    "platform": r"pc|console|mobile|xbox|playstation|ps ?\d?|switch|steam deck|mac|linux|windows|android|iphone"
    r"|mouse and keyboard|mnk|(?:an? )?controller",
    "tier": "iron|bronze|silver|gold|plat(?:inum)?|emerald|dia(?:mond)?|masters?|grandmaster|gm|challenger|ascendant"
    "|immortal|radiant|champ(?:ion)?|predator|unranked",
    "gear": "controller|keyboard|mouse|headset|mic|microphone|webcam|monitor|phone|laptop|gpu|cpu|browser|editor|ide|os"
    "|distro|chair|camera|console|tablet",
    "day": "(?:mon|tues|wednes|thurs|fri|satur|sun)days?",
    "verdict": "mess|joke|disaster|beast|dream|nightmare|wreck|gift|lemon|bit|lot|problem|pain|treat|little|total|real",
    "pet": "cat|dog|parrot|hamster|rabbit|bunny|snake|lizard|gecko|fish|bird|horse|turtle|tortoise|ferret|rat|hedgehog"
    "|boyfriend|girlfriend|bf|gf|husband|wife|fiancee?|spouse",
    "profession": "teacher|nurse|doctor|engineer|developer|programmer|chef|cook|baker|barista|plumber|electrician"
    "|welder|carpenter|mechanic|lawyer|accountant|firefighter|paramedic|pilot|driver|farmer|gardener|cashier|waiter"
    "|waitress|bartender|librarian|journalist|photographer|designer|architect|artist|scientist|professor|pharmacist"
    "|dentist|vet|therapist|manager|consultant|analyst|soldier|cop|guard|hairdresser|builder|technician|translator"
    "|editor|writer|surgeon",
    "sole": "(?:middle |nick|user)?name|nick|goal|dream(?: job| car)?|(?:first|native) language|mother tongue|car|phone"
    "|school|(?:zodiac |star )?sign|best friend|home ?town|current project|pronouns|gamertag|blood type|shoe size|shift"
    r"|role|class|roommate|streak|(?:eye|hair) colou?r|wedding|weight|height|go to \w+|most played \w+"
    r"|(?:best|worst|comfort|current|next|dream|first) \w+",
}
_TABLE = r"""
home -> ^{their}home is (?:in )?(?!an?\b|the\b|where\b)(?P<value>\w+(?: \w+)?)$
home -> ^{who}(?:live[sd]?|living|based|resid\w+|located)(?: now| currently| alone)? (?:in|at|out of)
    (?: an? (?:\w+ )?(?:flat|house|apartment|room|studio|cottage) in)? (?!an?\b|the woods|fear|peace|\d)(?P<value>.+)
home -> ^{who}(?<!wants to )(?:mov(?:ed|es)|relocated)(?: back| over| recently| from .+)? to (?!an?\b)(?P<value>.+)
origin -> ^{who}(?:is|comes|came|hails|originally) (?:originally )?from (?P<value>.+)
birthday -> ^{who}(?:(?:birthday|bday) is(?: on| in)?|born on|has (?:a|their) birthday (?:on|in)) (?P<value>.+)
age -> ^{who}(?P<value>\d+|\w+(?: \w+)?) (?:years?|yrs?) old
age -> ^{who}(?:turned|turns|aged|age is) (?P<value>\d+|thirty\w*|twenty\w*|forty\w*|fifty|eighteen|nineteen)\b
age -> ^(?P<who>)is (?P<value>\d\d)$
job -> ^{who}(?:(?:work(?:s|ed|ing)?|employed) as|(?<!dream )(?:job|profession|occupation) is) (?P<value>.+)
job -> ^(?P<who>.*?)(?:\b{being} )+(?P<value>(?:\w+ )?(?:{profession}))(?P<after>$
    | (?:at|in|for|by|from|with|who|and) .*)
employer -> ^{who}(?:work(?:s|ed|ing)?|employed) (?:at|for|by) (?!night|home|day|weekend|fun|free|least|a living)
    (?P<value>.+)
school -> ^{who}(?:goes to|attends|going to|enrolled (?:at|in)) (?P<value>.*\b(?:school|college|uni|university|academy
    |mit|stanford|harvard|oxford|cambridge)\b.*)
school -> ^{who}stud(?:ies|ying) at (?!home\b|night\b|the\b|a\b|an\b)(?P<value>.+)
major -> ^{who}(?:stud(?:ies|ying)|major(?:s|ed|ing)? in|major is|degree in) (?!at\b|for\b|with\b|hard)(?P<value>.+)
favourite -> ^{who}(?:favou?rite|fave?) (?P<key>.+?) (?:is|are)(?: now)? (?P<value>.+)
favourite -> ^(?P<value>.+?) (?:is|are)(?: now)? (?:their|his|her|the|a)? ?(?:favou?rite|fave?) (?P<key>.+)$
main -> ^{who}main(?:s|ing)? (?:is(?: now)? |to )?(?!in\b|game|champ\w*|character|hero|agent|role|class|is\b)
    (?P<value>.+?)(?: (?:in|on) (?P<key>.+))?$
main -> ^{who}main in (?P<key>.+?) is(?: now)? (?P<value>.+)
main -> ^(?:is )?(?:an? )?(?P<value>(?!switch)\w+(?: \w+)?) main(?: in (?P<key>.+))?$
main game -> ^{who}main (?P<key>game|role|class|job|platform)(?: is)?(?: now)? (?P<value>.+)
timezone -> ^{who}(?:timezone|time zone|tz) is (?P<value>.+)
timezone -> ^(?P<who>)is (?:in|on) (?P<value>(?:[ecmp][sd]|gm|bs|ce|ce[sd]|ee|ees|ms|is|js|ks|aes|aed|nzs)t|utc)$
timezone -> ^{who}(?:in|on|uses) (?:the )?(?P<value>\w+(?: \d+)?) (?:timezone|time zone|tz)
love life -> ^(?P<who>(?:(?!{being}\b)\w+ )*?)(?:{being} )*(?P<value>(?:single|divorced|widowed|taken)(?= again| now
    |$).*|(?:married|engaged)(?= to| now|$).*|dating .+)
pet -> ^{their}(?P<key>{pet}) (?:name is|is (?:named|called)) (?P<value>.+)
pet -> ^(?:has|owns|got) (?P<few>an?|one) (?:\w+ )?(?P<key>{pet}) (?:(?:and|that|which) (?:it )?(?:is )?)?(?:named
    |called) (?P<value>.+)
car -> ^(?:{who}driv(?:es|ing)|(?:their )?car is(?= an? )) (?!an? {verdict}\b)(?P<value>.+)
gear -> ^(?P<who>)uses (?:an? |the )?(?P<value>.+?) (?:as )?(?:an? |their )?(?P<key>{gear})\b
gear -> ^(?P<who>){their}(?P<key>{gear}) is an? (?!{verdict})(?P<value>.+)
rank -> ^(?:(?:is|was|now|their|reache[sd]|hits?|got to|made it to|climbed to|back to|back in|ranked|rank is|dropped to
    |fell to|demoted to|peaked|peak|at|currently|just|in|still) ?)+ (?P<value>(?:{tier})(?: (?:\d|i+v?))?)(?: rank)?
    (?: (?:in|on) (?P<key>.+))?$
platform -> ^(?P<who>)play(?:s|ing)? (?P<key>.*?)\b(?:on|with) (?P<value>{platform})(?: now)?$
team -> ^(?:supports|roots for|is a supporter of) (?P<value>\w+(?: \w+)?)$
alias -> ^(?:goes by|(?:wants|likes|prefers) to be called) (?P<value>.+)
pronouns -> ^{who}pronouns(?: are)? (?P<value>(?!are\b).+)
pronouns -> ^uses (?P<value>(?:they|she|he|it|any)(?: (?:them|her|him|his|its|they|she|he))+)(?: pronouns)?$
looks -> ^{their}(?P<key>hair|eyes) (?:is|are) (?P<value>\w+)$
looks -> ^(?:\w+ )?ha(?:s|ve) (?:(?:long|short|curly|straight) )?(?P<value>(?!the\b|a\b|no\b)\w+) (?P<key>hair|eyes)$
preference -> ^{who}prefers? (?P<key>(?P<value>.+?) (?:over|to|than|instead of) .+)
diet -> ^{who}(?:fully |strictly )?(?P<value>vegetarian|vegan|pescatarian)(?= since| now|$)
when -> ^(?:(?:we|they|the) )*{who}(?:is|are|starts|happens|moved to|streams?|streaming|schedule is)(?: days| is| are
    | on| every)* (?P<value>{day}(?: (?:and )?{day})*)
of record -> ^{who}(?P<key>{sole}) (?:is|are)(?: now)? (?:to (?:be|become) )?(?P<value>.+)
"""
"""Each phrasing: the slot and the pattern; `{…}` is a part of `_PARTS`."""


def _rules(table: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    for name, part in _PARTS.items():
        table = table.replace(f"{{{name}}}", part)
    for rule in re.findall(r"^\S.*(?:\n +.*)*", table, re.MULTILINE):
        name, pattern = rule.split(" -> ", maxsplit=1)
        yield name, re.compile(re.sub(r"\n {4}", "", pattern))


RULES = tuple(_rules(_TABLE))


class Slot(NamedTuple):
    """One filled slot. `key` tells apart slots of one name; `value` and `rest` (what else the fact says) are stems.

    `spelt` is the value in the words as they were written: a slip may change where a word's stem ends.
    An empty key was not said ("mains Jinx") and fits any. `few`: one may have several of it.
    `past`: told as something that was ("worked as a waiter"), of which there may have been several.
    """

    name: str
    who: frozenset[str]
    key: frozenset[str]
    value: frozenset[str]
    spelt: frozenset[str]
    rest: frozenset[str]
    few: bool = False
    past: bool = False


_CUT = re.compile(
    r" (?:with|and (?:has|is|works|lives|plays)|since|for|because|where|but|so|after|before|right now|these days"
    r"|as well|too|instead|every|near|on weekends?|this|last|until|when|while|over|rather)\b"
)
_NOW = re.compile(r"(?: (?:now|nowadays|currently|btw))+$")
_PAST = re.compile(r"\b(?:lived|resided|worked|studied|majored|drove|supported|attended|went)\b")
_ARTICLES = lex.as_set(
    """a an the their his her its now in of at to is be are currently still again and s also recently just really"""
)
_NOT_WHO = (
    lex.FILLER
    | lex.NEGATIONS
    | lex.as_set("never used no longer not stopped quit gave like use has been switched changed started")
)


@text_cache(8_192)
def slots_of(tokens: str) -> tuple[Slot, ...]:
    """The slots that a fact fills, given as `Reading.tokens`."""
    tokens = _NOW.sub("", tokens)
    found = [_fill(name, match) for name, pattern in RULES if (match := pattern.search(tokens))]
    return tuple(slot for slot in found if slot.value)


def _fill(name: str, match: re.Match[str]) -> Slot:
    groups = match.groupdict()
    value, rest = groups["value"], ""
    if end := _CUT.search(value):  # what was said as the value, and what was said after it
        value, rest = value[: end.start()], value[end.start() :]
    after = match.string[match.end() :] + " " + (groups.get("after") or "")
    return Slot(
        name=name,
        who=_stems(groups.get("who") or "", _NOT_WHO),
        key=_stems(groups.get("key") or "", lex.FILLER),
        value=_stems(value, _ARTICLES),
        spelt=frozenset(value.split()) - _ARTICLES,
        rest=_stems(f"{rest} {after}", lex.FILLER),
        few=bool(groups.get("few")),
        past=bool(_PAST.search(match[0])),
    )


def _stems(text: str, without: frozenset[str]) -> frozenset[str]:
    return frozenset(
        stem(lex.SAME.get(word, lex.NUMBERS.get(word, word))) for word in text.split() if word not in without
    )
