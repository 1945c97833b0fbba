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

_WORDS = {
    "profession": """teacher nurse doctor engineer developer programmer dev chef cook baker barista plumber electrician
        welder carpenter mechanic lawyer accountant firefighter paramedic pilot driver trucker farmer gardener janitor
        cashier waiter waitress bartender librarian journalist photographer designer architect artist illustrator
        animator scientist researcher professor pharmacist dentist vet therapist psychologist manager consultant
        analyst salesman soldier cop policeman policewoman officer guard hairdresser barber tailor painter builder
        roofer machinist technician translator editor writer surgeon veterinarian butcher florist sysadmin admin
        tester clerk receptionist secretary banker economist chemist biologist physicist""",
    "pet": """cat dog parrot hamster rabbit bunny snake lizard gecko fish bird horse turtle tortoise ferret rat hedgehog
        budgie axolotl""",
    "sole": """name nickname nick goal dream language tongue car phone school sign friend hometown town project game
        pronouns gamertag username type size shift role class roommate streak color colour wedding weight height go
        played best worst comfort current next first""",
    "tz": "est edt cst cdt mst mdt pst pdt gmt bst utc cet cest eet eest msk ist jst kst aest aedt nzst",
    "gear": """controller keyboard mouse headset mic microphone webcam monitor laptop gpu cpu browser editor ide os
        distro chair card system camera console tablet""",
    "day": """monday mondays tuesday tuesdays wednesday wednesdays thursday thursdays friday fridays saturday saturdays
        sunday sundays""",
    "tier": """iron bronze silver gold plat platinum emerald diamond dia master masters grandmaster challenger ascendant
        immortal radiant champ unranked""",
}
"""`{words:pet}` stands for words that call for a rule, `{pet}` for a choice of them (or for the part of that name)."""
_PARTS = {
    "who": r"(?P<who>.*?)\b",
    "being": r"(?:is|was|are|be|being|became|becoming|got|just|now|currently|still|newly|recently|happily|an?|the)",
    "role": "mod|moderator|vip|editor|admin",
    "platform": r"pc|console|mobile|xbox|playstation|ps ?\d?|ps\d|switch|steam deck|mac|linux|windows|android|iphone"
    r"|mouse and keyboard|mnk|(?:an? )?controller",
    "tiers": "iron|bronze|silver|gold|plat|platinum|emerald|diamond|dia|master|masters|grandmaster|gm|challenger"
    "|ascendant|immortal|radiant|champ|champion|supersonic legend|predator|unranked",
    "gear": "controller|keyboard|mouse|headset|mic|microphone|webcam|monitor|phone|laptop|gpu|cpu|browser|editor"
    "|ide|os|distro|chair|graphics card|operating system|camera|console|capture card|drawing tablet",
    "thing": "game|song|movie|film|food|book|show|series|anime|band|artist|level|boss|character|drink|snack|colou?r",
    "verdict": "mess|joke|disaster|beast|dream|nightmare|wreck|gift|lemon|bit|lot|problem|pain|treat|little|total|real",
    "sole": "name|nickname|nick|goal|dream|dream job|dream car|first language|native language|mother tongue|car|phone"
    "|school|zodiac sign|star sign|sign|best friend|hometown|home town|current project|next game|comfort game"
    "|pronouns|gamertag|username|middle name|blood type|shoe size|shift|role|class|roommate|streak|eye colou?r"
    r"|hair colou?r|wedding|weight|height|go to \w+|most played \w+"
    r"|(?:best|worst|comfort|current|next|dream|first) \w+",
}
_TABLE = r"""
home: live lives lived living based resides residing located ->
    ^{who}(?:live[sd]?|living|based|resid\w+|located)(?: now| currently| alone)? (?:in|at|
        out of) (?:an? (?:\w+ )?(?:flat|house|apartment|room|studio|cottage) in )?(?!an?\b|the woods|fear|peace|
        \d)(?P<value>.+)
home: moved moving moves relocated ->
    ^{who}(?<!wants to )(?:mov(?:ed|es)|relocated)(?: back| over| recently| from .+)? to (?!an?\b)(?P<value>.+)
home: moved moves -> ^{who}moved? (?:away from|out of) (?P<value>.+)
home: home -> ^(?:their )?home is (?:in )?(?!an?\b|the\b|where\b)(?P<value>\w+(?: \w+)?)$
origin: from hometown -> ^{who}(?:is|comes|came|hails|originally) (?:originally )?from (?P<value>.+)
grew: grew raised -> ^{who}(?:grew up|raised) in (?P<value>.+)
birthplace: born ->
    ^{who}born in (?P<value>(?!january|february|march|april|may|june|july|august|september|october|november|
        december|\d).+)
birthday: birthday bday born ->
    ^{who}(?:birthday is(?: on| in)?|bday is(?: on| in)?|born on|has (?:a|their) birthday (?:on|in)) (?P<value>.+)
age: old age aged -> ^{who}(?P<value>\d+|\w+(?: \w+)?) (?:years?|yrs?) old
age: turned turns aged age ->
    ^{who}(?:turned|turns|aged|age is) (?P<value>\d+|thirty\w*|twenty\w*|forty\w*|fifty|eighteen|nineteen)\b
age: is -> ^(?P<who>)is (?P<value>\d\d)$
job: works working work employed worked -> ^{who}(?:work(?:s|ed|ing)?|employed) as (?P<value>.+)
job: job profession occupation -> ^{who}(?<!dream )(?:job|profession|occupation) is (?P<value>.+)
job: trade living profession -> ^{who}(?:is|was) (?P<value>.+?) (?:by trade|by profession|for a living)
employer: works working work worked employed ->
    ^{who}(?:work(?:s|ed|ing)?|employed) (?:at|for|by) (?!night|home|day|weekend|fun|free|least|
        a living)(?P<value>.+)
school: goes attends studies studying going enrolled ->
    ^{who}(?:goes to|attends|stud(?:ies|ying) at|going to|enrolled (?:at|in)) (?P<value>(?:school|college|uni|
        university|mit|stanford|harvard|oxford|cambridge)\b.*|.*\b(?:school|college|uni|university|academy)\b.*)
school: studies studying -> ^{who}stud(?:ies|ying) at (?!home\b|night\b|the\b|a\b|an\b)(?P<value>.+)
major: studies studying majors majoring major degree majored ->
    ^{who}(?:stud(?:ies|ying)|major(?:s|ed|ing)? in|major is|degree in) (?!at\b|for\b|with\b|hard)(?P<value>.+)
favourite: favourite favorite fav fave -> ^{who}(?:favou?rite|fave?) (?P<key>.+?) (?:is|are)(?: now)? (?P<value>.+)
favourite: favourite favorite fav fave ->
    ^(?P<value>.+?) (?:is|are)(?: now)? (?:their|his|her|the|a)? ?(?:all time )?(?:favou?rite|
        fave?) (?P<key>.+?)(?: of all time)?$
favourite: best -> ^(?:the |their )?best (?P<key>{thing})(?: ever| of all time)? is (?P<value>.+)
main: main mains maining ->
    ^{who}main(?:s|ing)? (?!in\b|game|champ\w*|character|hero|agent|role|class|is\b)(?P<value>.+?)(?: (?:in|
        on) (?P<key>.+))?$
main: main ->
    ^{who}main (?:(?:champ(?:ion)?|character|hero|agent|fighter) )?is(?: now)? (?P<value>.+?)(?: in (?P<key>.+))?$
main: main -> ^{who}main in (?P<key>.+?) is(?: now)? (?P<value>.+)
main: main -> ^{who}main(?:ed)? (?:to|is) (?P<value>.+?)(?: in (?P<key>.+))?$
main: main -> ^(?:is )?(?:an? )?(?P<value>(?!switch)\w+(?: \w+)?) main(?: in (?P<key>.+))?$
main: main -> ^plays (?P<value>.+?) as (?:their|his|her|a) main(?: in (?P<key>.+))?$
main game: main -> ^{who}main (?P<key>game|role|class|job|platform)(?: is)?(?: now)? (?P<value>.+)
main game: main -> ^(?P<value>.+) is (?:the|their|his|her) main (?P<key>game|role|class|platform)$
timezone: timezone zone tz -> ^{who}(?:timezone|time zone|tz) is (?P<value>.+)
timezone: {words:tz} -> ^(?P<who>)is (?:in|on) (?P<value>{tz})$
timezone: timezone zone tz -> ^{who}(?:in|on|uses) (?:the )?(?P<value>\w+(?: \d+)?) (?:timezone|time zone|tz)
love life: single married engaged divorced widowed dating taken ->
    ^(?P<who>(?:(?!{being}\b)\w+ )*?)(?:{being} )*(?P<value>(?:single|divorced|widowed|taken)(?= again| now|$).*|
        (?:married|engaged)(?= to| now|$).*|dating .+)
pet: {words:pet} -> ^(?:(?:his|her|their|the) )?(?P<key>{pet}) (?:name is|is (?:named|called)) (?P<value>.+)
pet: named called ->
    ^(?:has|owns|got) (?P<few>an?|one) (?:\w+ )?(?P<key>{pet}) (?:(?:and|that|which) (?:it )?(?:is )?)?(?:named|
        called) (?P<value>.+)
partner: named called ->
    ^(?:(?:his|her|their|the) )?(?P<key>boyfriend|girlfriend|bf|gf|husband|wife|fiancee?|spouse) is (?:named|
        called) (?P<value>.+)
car: drives driving -> ^{who}driv(?:es|ing) (?P<value>.+)
car: car -> ^(?:their )?car is an? (?!{verdict})(?P<value>.+)
language: native -> ^(?:is )?(?:a )?native (?P<value>\w+) speaker
gear: uses -> ^(?P<who>)uses (?:an? |the )?(?P<value>.+?) (?:as )?(?:an? |their )?(?P<key>{gear})\b
gear: {words:gear} -> ^(?P<who>)(?:their )?(?P<key>{gear}) is an? (?!{verdict})(?P<value>.+)
gear: {words:gear} ->
    ^(?P<who>)(?:switched|changed|swapped|upgraded) (?:their |the )?(?P<key>{gear}) to (?:an? |the )?(?P<value>.+)
rank: {words:tier} ->
    ^(?:(?:is|was|now|their|reached|reaches|hit|hits|got to|made it to|climbed to|back to|back in|ranked|rank is|
        dropped to|fell to|demoted to|peaked|peak|at|currently|just|in|still) ?)+ (?P<value>(?:{tiers})(?: (?:\d|
        i+v?))?)(?: rank)?(?: (?:in|on) (?P<key>.+))?$
platform: plays play playing -> ^(?P<who>)play(?:s|ing)? (?P<key>.*?)\b(?:on|with) (?P<value>{platform})(?: now)?$
team: supports roots -> ^(?:supports|roots for|is a supporter of) (?P<value>\w+(?: \w+)?)$
alias: goes called -> ^(?:goes by|(?:wants|likes|prefers) to be called) (?P<value>.+)
channel role: mod moderator vip editor admin -> ^is (?:an?|the) (?P<value>{role}) (?P<key>in|on|for|of) the channel$
pronouns: pronouns -> ^{who}pronouns(?: are)? (?P<value>(?!are\b).+)
pronouns: pronouns -> ^{who}(?:uses|has) (?P<value>.+) pronouns
pronouns: they she he -> ^uses (?P<value>(?:they|she|he|it|any)(?: (?:them|her|him|his|its|they|she|he))+)$
pronouns: pronouns -> ^{who}(?:has|uses|prefers) the pronouns (?P<value>.+)
looks: hair eyes -> ^(?:their )?(?P<key>hair|eyes) (?:is|are) (?P<value>\w+)$
looks: hair eyes ->
    ^(?:\w+ )?ha(?:s|ve) (?:(?:long|short|curly|straight) )?(?P<value>(?!the\b|a\b|no\b)\w+) (?P<key>hair|eyes)$
preference: prefers prefer preferred -> ^{who}prefers? (?P<key>(?P<value>.+?) (?:over|to|than|instead of) .+)
preference: more better -> ^{who}(?:likes?|loves?|enjoys?) (?P<key>(?P<value>.+?) (?:more|better) than .+)
diet: vegetarian vegan pescatarian ->
    ^{who}(?:fully |strictly )?(?P<value>vegetarian|vegan|pescatarian)(?= since| now|$)
stream days: {words:day} ->
    ^(?:(?:we|they|the) )*(?:streams?|streaming|schedule is|go(?:es)? live)(?: days| is| are| on| every)* (?P<value>
        (?:{day})(?:(?: and)? (?:{day}))*)
when: {words:day} ->
    ^{who}(?:is|are|starts|happens|moved to)(?: on| every)* (?P<value>(?:{day})(?:(?: and)? (?:{day}))*)
of record: {words:sole} -> ^{who}(?P<key>{sole}) (?:is|are)(?: now)? (?:to (?:be|become) )?(?P<value>.+)
job: {words:profession} ->
    ^(?P<who>.*?)(?:\b{being} )+(?P<value>(?:\w+ )?(?:{profession}))(?P<after>$| (?:at|in|for|by|from|with|who|
        and) .*)
"""
"""Each phrasing: the slot, the words of which one must be there, and the pattern; `{…}` is a part of `_PARTS`."""


class SlotRule(NamedTuple):
    """One phrasing of one slot."""

    name: str
    triggers: tuple[str, ...]
    pattern: re.Pattern[str]


def _rules(table: str) -> Iterator[SlotRule]:
    choices = {name: "|".join(text.split()) for name, text in _WORDS.items()}
    words = {f"words:{name}": " ".join(text.split()) for name, text in _WORDS.items()}
    for name, part in (choices | _PARTS | words).items():
        table = table.replace(f"{{{name}}}", part)
    for rule in re.findall(r"^\S.*(?:\n +.*)*", table, re.MULTILINE):
        head, pattern = rule.split(" ->", maxsplit=1)
        name, triggers = head.split(": ")
        yield SlotRule(name, tuple(triggers.split()), re.compile("".join(map(str.strip, pattern.split("\n")))))


RULES = tuple(_rules(_TABLE))


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
    words = tokens.split()
    rules = sorted({index for word in words for index in _BY_WORD.get(word, ())})
    found = [_fill(RULES[at].name, match) for at in rules if (match := RULES[at].pattern.search(tokens))]
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
        ended="away from" in match[0] or "out of" in match[0],
        past=bool(_PAST.search(match[0])),
    )


def _stems(text: str, without: frozenset[str]) -> frozenset[str]:
    return frozenset(
        stem(lex.SAME.get(word, lex.NUMBERS.get(word, word))) for word in text.split() if word not in without
    )
