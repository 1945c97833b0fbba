"""Compares two short facts about one person, without a model. Pure; English.

The model says which note it repeats or replaces. This finds what it was not shown, and what people type: exact and near
repeats, values of which there is one at a time (home, job, main, favourite …), and what is no longer so.

It prefers "different" where it is not sure: "same" confirms the old fact and "conflict" supersedes it, and an error in
either costs more than one row too many.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from itertools import zip_longest
from typing import NamedTuple

from forgetmenot.text.clean import fold_word, plain
from forgetmenot.text.words import stem, text_cache


class Relation(StrEnum):
    """What a new fact is to an old one."""

    DUPLICATE = "duplicate"
    CONFLICT = "conflict"
    DISTINCT = "distinct"


_SAME_ENOUGH = 0.66  # of the weight of both facts' words
_ALIKE_ENOUGH = 0.8  # the same where each has a word of its own
_OF_ONE_THING = 0.75  # for a number to correct a number


def relate(old: str, new: str) -> Relation:
    """What `new` is to `old`: says the same, contradicts it (and should supersede it), or is another fact."""
    if old == new:
        return Relation.DUPLICATE
    one, two = _read(old), _read(new)
    if one.tokens and one.tokens == two.tokens:  # of emoji and signs nothing is read
        return Relation.DUPLICATE
    if one.mentions != two.mentions:
        return Relation.DISTINCT
    return _by_slot(one, two) or _by_words(one, two)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NOT, _ENDED, _LIKE, _DISLIKE, _ALSO = "¬", "¬ended", "+like", "-like", "&also"
"""Markers that words are rewritten to; no word looks like them."""
_PHRASES = {
    _LIKE: "a fan of, fan of, big fan of, a big fan of, a huge fan of, into, really into, fond of, obsessed with",
    _DISLIKE: "cant stand, cannot stand, can not stand, not a fan of, isnt a fan of, isnt into, not into, sick of",
    _ENDED: """used to, no longer, no more, gave up on, gave up, giving up, moved away from, moved out of, dropped out
        of, broke up with, once was, owned a, owned an, got rid of, done with, grew out of, was a, was an, had a,
        had an, retired from, quit, quits, stopped, stops, dropped, abandoned, uninstalled, former, formerly,
        previously, retired, sold, cancelled, lost interest in, got over, finished reading, finished writing,
        finished building, finished watching, not anymore""",
    _NOT: "does not, do not, did not, is not, are not, was not, has not, have not, will not, would not, can not",
    _ALSO: "as well, also, too, another, additionally, a second, both, besides",
    "": "not only, no matter, no doubt, no problem, no cap, why not, any more, anymore, any longer, one day, someday",
    "vegetarian": "does not eat meat, doesnt eat meat, eats no meat",
}
_MARK_OF = {tuple(one.split()): mark for mark, listed in _PHRASES.items() for one in listed.split(",")}
_LONGEST_PHRASE = max(map(len, _MARK_OF))
_NEGATIONS = _words(
    """not no never without cant cannot dont doesnt didnt isnt arent aint wasnt werent wont wouldnt couldnt hasnt
    havent hadnt neither nor none nothing nobody hardly rarely seldom barely refuses failed avoids lacks unable"""
)
_LIKES = _words("like likes liked love loves loved loving enjoy enjoys enjoyed enjoying adore adores adored fan")
_DISLIKES = _words("dislike dislikes disliked hate hates hated despises despise detests loathes dreads dread")
_MARKED = dict.fromkeys(_DISLIKES, _DISLIKE) | dict.fromkeys(_LIKES, _LIKE) | dict.fromkeys(_NEGATIONS, _NOT)
_FILLER = _words(
    """a an the is are am was were be been being has have had having do does did done will would can could should may
    might must of to in on at for with from by as and or but so that this these those it its they them their he him
    his she her who which what when where there here just really very quite pretty super totally actually literally
    definitely probably maybe still yet now currently lately recently already always often usually sometimes every
    each all some any own owns owned got get gets getting s t re ve ll m d into onto up out about over since ago
    than then even ever more most much many lot lots bit kind thing things years year today tonight soon huge big
    biggest massive once new newly finally days while if because how himself herself themselves self u im one's
    mostly mainly basically also again regularly constantly quickly"""
)
_LIGHT_VERBS = _words(
    """+like play watch work make go want try take use find see think say know plan start come keep need call name hope
    look become stream attend live do feel talk give tell seem own date time"""
)
"""Stems that say little alone: half the weight of a noun."""
_TELLING = _words("+like want hope plan live date wait save sav look")
"""Those of them that make another fact of it all the same: to want a dog, to like dogs, to have a dog."""
_EVENTS = _words(
    "gift donat cheer raid tip gave give bought buy sent visit saw watch went beat clip host post met win play reach"
)
"""Stems of what happens more than once: another number is another time, not a correction."""
_COUNTED = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
seventeen eighteen nineteen twenty"""
_NUMBERS = {word: str(number) for number, word in enumerate(_COUNTED.split())}
_NUMBERS |= {"thirty": "30", "forty": "40", "fifty": "50"}
_SAME_WORDS = """
    play: player players; kid: children child kids son daughter; beat: finished finish finishes completed complete
    completes beaten defeated beats; get: adopted bought purchased acquired received; movie: films film movies
    cinema; win: won wins winning; begin: start started starts began; make: made makes creates created builds built;
    speedrun: speedrunner speedruns speedrunning; drum: drummer drummers drumming; program: programmer programming
    coder coding codes developer dev; write: wrote writer writes writing; teach: taught teacher teaches teaching;
    uni: university college; allergy: allergic allergies; sub: subbed subscribed subscriber; drink: drank drinks;
    eat: ate eats; dog: puppy dogs; cat: kitten kittens cats; mom: mother mum; dad: father; pc: computer; mod:
    moderator mods; study: studies studying studied student; live: lives living lived resides residing based;
    favourite: favorite fav fave; job: profession occupation; boyfriend: bf; girlfriend: gf; go: went goes going
    gone travels travelling; call: called named; switch: switched swapped; year: years; wife: spouse"""
_SAME = {
    word: canonical.strip()
    for canonical, others in (group.split(":") for group in _SAME_WORDS.split(";"))
    for word in (*others.split(), canonical.strip())
}
"""Words that say the same in a short fact, inflections that the stemmer does not know included."""
_OWNERS = _words(
    """brother sister sibling mom mum mother dad father parents wife husband partner boyfriend girlfriend friend friends
    son daughter kid kids uncle aunt cousin nephew niece grandma grandpa roommate boss team cat dog parrot streamer
    chat"""
)
_BEFORE_OWNER = _words("their his her the a older younger elder little big best twin ex oldest youngest")
_RANKS = _words("rank level tier season bronze silver gold plat platinum diamond iron master elo mmr prestige day age")
_NAMES = """australia austria belgium brazil britain canada china denmark england finland france germany greece india
ireland italy japan korea mexico netherlands norway poland portugal russia scotland spain sweden
switzerland turkey ukraine usa us uk wales europe texas california florida"""
_COUNTRIES = frozenset(map(stem, _NAMES.split()))
"""Stems of countries: who lives in one also lives in a city."""

# Reading one fact.

_TOKEN = re.compile(r"<@[\w:.-]{1,64}>|[$€£]?\d+(?:[.,:]\d+)*(?:st|nd|rd|th|k|%)?|[^\W_]+(?:['’][^\W_]+)*[%+]?")
_NUMBER = re.compile(r"[$€£]?(\d+(?:[.:]\d+)*)(?:st|nd|rd|th)?")


@dataclass(slots=True)
class _Reading:
    """A fact taken apart. `content`: stems in order, with how they were written; `names`: those with a capital."""

    tokens: str
    content: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    numbers: list[str] = field(default_factory=list)
    mentions: list[str] = field(default_factory=list)
    negations: int = 0
    ended: bool = False
    passive: bool = False
    additive: bool = False
    event: bool = False
    owner: str = ""

    @property
    def polarity(self) -> int:
        """-1 where the fact says that something is not, or no longer, so."""
        return -1 if self.negations % 2 else 1

    def take(self, word: str, following: str, capitals: set[str]) -> None:
        """Read one word, or the mark that stands for some."""
        if word in {_NOT, _ENDED, _LIKE, _DISLIKE, _ALSO}:
            self.negations += word in {_NOT, _ENDED, _DISLIKE}
            self.ended |= word == _ENDED
            self.additive |= word == _ALSO
            if word in {_LIKE, _DISLIKE}:
                self.content[_LIKE] = _LIKE
        elif word.startswith("<@"):
            self.mentions.append(word)
        elif number := _NUMBER.fullmatch(_NUMBERS.get(word, word).replace(",", "")):
            self._number(number[1], following)
        else:
            root = _root(word)
            if root:
                self.content.setdefault(root, word)
                if word in capitals:
                    self.names.add(root)

    def _number(self, value: str, following: str) -> None:
        before = next(reversed(self.content), "")
        # the number of a title ("Dark Souls 3") belongs to the name before it
        if before in self.names and before not in _RANKS and (not following or following in _FILLER):
            self.content[f"{before}#{value}"] = f"{before}#{value}"
        else:
            self.numbers.append(value)


@text_cache(8_192)
def _read(fact: str) -> _Reading:
    """Read one fact. Equal facts share one reading."""
    tokens, capitals = _tokens(fact)
    found, words = _Reading(" ".join(tokens)), _rewritten(tokens, capitals)
    if words and words[0].startswith("<@"):
        found.mentions.append("first")  # who did it, not to whom
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        found.take(word, following, capitals)
    found.event = tokens[:1] != ["wants"] and not _EVENTS.isdisjoint({*found.content, *found.content.values()})
    found.passive = re.search(r"\b(?:is|was|were|been|got|gets) \w+ by\b", found.tokens) is not None
    # whose fact it is, where it is not the subject's own: "brother lives in Berlin"
    head = next((word for word in tokens if word not in _BEFORE_OWNER), "")
    found.owner = stem(_SAME.get(head, head)) if head in _OWNERS else ""
    return found


def _tokens(fact: str) -> tuple[list[str], set[str]]:
    """The plain words, and those of them that were written with a capital letter."""
    folded = plain(fact)
    # folding may change the length of a text; only then is it unknown where a word stood
    same_length = len(folded) == len(fact)
    tokens: list[str] = []
    capitals: set[str] = set()
    for found in _TOKEN.finditer(folded):
        word = found[0] if found[0].startswith("<@") else _spelt(found[0])
        tokens.append(word)
        if same_length and found.start() and fact[found.start()].isupper():
            capitals.add(word)
    return tokens, capitals


@text_cache(32_768)
def _spelt(word: str) -> str:
    """A word in Latin letters, without apostrophe."""
    bare = fold_word(word).replace("’", "'")
    return bare[:-2] if bare.endswith("'s") else bare.replace("'", "")


@text_cache(32_768)
def _root(word: str) -> str:
    """The stem that stands for a word and its synonyms; empty for a word that says nothing."""
    root = stem(_SAME.get(word, word))
    return "" if word in _FILLER or root in _FILLER else root


def _rewritten(tokens: list[str], capitals: set[str]) -> list[str]:
    """The words with phrases and words of polarity replaced by their marks."""
    result: list[str] = []
    at = 0
    while at < len(tokens):
        taken = next((n for n in range(_LONGEST_PHRASE, 0, -1) if tuple(tokens[at : at + n]) in _MARK_OF), 0)
        if taken:
            mark = _MARK_OF[tuple(tokens[at : at + taken])]
            result += [mark] if mark else []
        else:
            word = tokens[at]
            # "No Man's Sky" denies nothing
            result.append(word if word in capitals and word in _NEGATIONS else _MARKED.get(word, word))
        at += taken or 1
    return result


def _same_word(one: str, two: str) -> bool:
    """Whether longer words differ by one letter that is missing, too much or swapped, and not by the first."""
    short, long = sorted((one, two), key=len)
    if len(short) < 4 or len(long) < 5 or len(long) - len(short) > 1 or one[0] != two[0]:
        return False
    at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :] and long.isalpha()
    return short[at:] == long[at + 1 : at + 2] + long[at : at + 1] + long[at + 2 :] and long.isalpha()


# Values of which there is one at a time.

_PARTS = {
    "who": r"(?P<who>.*?)\b",
    "their": "(?:(?:his|her|their|the) )?",
    "being": r"(?:is|was|are|be|being|became|becoming|got|just|now|currently|still|newly|recently|happily|an?|the)",
    "pet": "cat|dog|parrot|hamster|rabbit|bunny|snake|lizard|gecko|fish|bird|horse|turtle|tortoise|ferret|rat|hedgehog"
    "|boyfriend|girlfriend|bf|gf|husband|wife|fiancee?|spouse",
    "profession": "teacher|nurse|doctor|engineer|developer|programmer|chef|cook|baker|barista|plumber|electrician"
    "|carpenter|mechanic|lawyer|accountant|firefighter|paramedic|pilot|driver|farmer|gardener|cashier|waiter|waitress"
    "|librarian|journalist|photographer|designer|architect|artist|pharmacist|dentist|vet|therapist|manager|soldier",
    "sole": "(?:middle |nick|user)?name|nick|goal|dream(?: job| car)?|(?:first|native) language|mother tongue|car|phone"
    "|school|(?:zodiac |star )?sign|best friend|home ?town|current project|pronouns|shoe size|shift|role|class|roommate"
    r"|streak|(?:eye|hair) colou?r|wedding|weight|height|go to \w+|most played \w+|(?:best|worst|current|next) \w+",
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
school -> ^{who}stud(?:ies|ying) at (?!home\b|night\b|the\b|a\b|an\b)(?P<value>.+)
major -> ^{who}(?:stud(?:ies|ying)|major(?:s|ed|ing)? in|major is|degree in) (?!at\b|for\b|with\b|hard)(?P<value>.+)
favourite -> ^{who}(?:favou?rite|fave?) (?P<key>.+?) (?:is|are)(?: now)? (?P<value>.+)
favourite -> ^(?P<value>.+?) (?:is|are)(?: now)? (?:their|his|her|the|a)? ?(?:favou?rite|fave?) (?P<key>.+)$
main -> ^{who}main(?:s|ing)? (?:is(?: now)? |to )?(?!in\b|game|champ\w*|character|hero|agent|role|class|is\b)
    (?P<value>.+?)(?: (?:in|on) (?P<key>.+))?$
main -> ^{who}main in (?P<key>.+?) is(?: now)? (?P<value>.+)
main -> ^(?:is )?(?:an? )?(?P<value>(?!switch)\w+(?: \w+)?) main(?: in (?P<key>.+))?$
love life -> ^(?P<who>(?:(?!{being}\b)\w+ )*?)(?:{being} )*(?P<value>(?:single|divorced|widowed|taken)(?= again| now
    |$).*|(?:married|engaged)(?= to| now|$).*|dating .+)
pet -> ^{their}(?P<key>{pet}) (?:name is|is (?:named|called)) (?P<value>.+)
pet -> ^(?:has|owns|got) (?P<few>an?|one) (?:\w+ )?(?P<key>{pet}) (?:(?:and|that|which) (?:it )?(?:is )?)?(?:named
    |called) (?P<value>.+)
preference -> ^{who}prefers? (?P<key>(?P<value>.+?) (?:over|to|than|instead of) .+)
of record -> ^{who}(?P<key>{sole}) (?:is|are)(?: now)? (?:to (?:be|become) )?(?P<value>.+)
"""
"""Each phrasing: the slot and the pattern; `{…}` is a part of `_PARTS`."""


def _rules(table: str) -> Iterator[tuple[str, re.Pattern[str]]]:
    for name, part in _PARTS.items():
        table = table.replace(f"{{{name}}}", part)
    for rule in re.findall(r"^\S.*(?:\n +.*)*", table, re.MULTILINE):
        name, pattern = rule.split(" -> ", maxsplit=1)
        yield name, re.compile(re.sub(r"\n {4}", "", pattern))


_RULES = tuple(_rules(_TABLE))


class _Slot(NamedTuple):
    """One filled slot. An empty `key` ("mains Jinx") fits any; `rest`: what else is said; `few`: of several."""

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
_ARTICLES = _words("a an the their his her its now in of at to is be are currently still again and s also just")
_NOT_WHO = _FILLER | _NEGATIONS | _words("used longer stopped quit gave like use switched changed started")


@text_cache(8_192)
def _slots_of(tokens: str) -> tuple[_Slot, ...]:
    """The slots that a fact fills."""
    tokens = _NOW.sub("", tokens)
    found = [_filled(name, match) for name, pattern in _RULES if (match := pattern.search(tokens))]
    return tuple(slot for slot in found if slot.value)


def _filled(name: str, match: re.Match[str]) -> _Slot:
    groups = match.groupdict()
    value, rest = groups["value"], ""
    if end := _CUT.search(value):  # what was said as the value, and what was said after it
        value, rest = value[: end.start()], value[end.start() :]
    after = match.string[match.end() :] + " " + (groups.get("after") or "")
    return _Slot(
        name=name,
        who=_stems(groups.get("who") or "", _NOT_WHO),
        key=_stems(groups.get("key") or "", _FILLER),
        value=_stems(value, _ARTICLES),
        spelt=frozenset(value.split()) - _ARTICLES,
        rest=_stems(f"{rest} {after}", _FILLER),
        few=bool(groups.get("few")),
        past=bool(_PAST.search(match[0])),
    )


def _stems(text: str, without: frozenset[str]) -> frozenset[str]:
    return frozenset(stem(_SAME.get(word, _NUMBERS.get(word, word))) for word in text.split() if word not in without)


# Comparing two.


def _by_slot(one: _Reading, two: _Reading) -> Relation | None:
    """What single-valued slots say, if both facts fill the same one."""
    for old in _slots_of(one.tokens):
        for new in _slots_of(two.tokens):
            fits = not old.key or not new.key or _covers(old.key, new.key)
            if old.name == new.name and old.who == new.who and fits:
                return _same_slot(one, two, old, new)
    return None


def _covers(one: frozenset[str], two: frozenset[str]) -> bool:
    """Whether the smaller set of words is found in the larger, typos forgiven."""
    small, large = sorted((one, two), key=len)
    return all(word in large or any(_same_word(word, other) for other in large) for word in small)


def _same_slot(one: _Reading, two: _Reading, old: _Slot, new: _Slot) -> Relation:
    agree, apart = one.polarity == two.polarity, bool(old.rest and new.rest and old.rest.isdisjoint(new.rest))
    if _covers(old.value, new.value) or _covers(old.spelt, new.spelt):
        if not agree:
            return Relation.CONFLICT
        return Relation.DISTINCT if apart else Relation.DUPLICATE
    # different words beside two values mean two things; there is one home and one love, whatever is added
    if apart and old.name not in {"home", "love life"}:
        return Relation.DISTINCT
    several = one.additive or two.additive or (old.few and new.few) or old.past or new.past
    place = old.name in {"home", "origin"} and bool(old.value & _COUNTRIES) != bool(new.value & _COUNTRIES)
    exclusive = agree and one.polarity > 0 and not several and not place
    return Relation.CONFLICT if exclusive else Relation.DISTINCT


def _by_words(one: _Reading, two: _Reading) -> Relation:
    """What the words, numbers and polarity of two facts say."""
    if one.owner != two.owner:
        return Relation.DISTINCT
    mine, theirs, shared = _leftovers(one, two)
    alike = _weight(shared) / max(0.1, _weight(shared) + _weight(mine) + _weight(theirs))
    both = bool(mine and theirs)
    if sorted(one.numbers) != sorted(two.numbers):
        # a number of single occasions is another occasion
        correction = one.numbers and two.numbers and not both and not (one.event or two.event)
        counts = correction and alike >= _OF_ONE_THING and one.polarity == two.polarity
        return Relation.CONFLICT if counts else Relation.DISTINCT
    if one.polarity != two.polarity:
        only_verbs = all(word in _LIGHT_VERBS for word in (*mine, *theirs))
        return Relation.CONFLICT if alike >= _SAME_ENOUGH and (only_verbs or not both) else Relation.DISTINCT
    named = any(word in one.names or word in two.names or "#" in word for word in (*mine, *theirs))
    if (
        (both and named)
        or (one.ended, one.passive) != (two.ended, two.passive)
        or not _TELLING.isdisjoint((*mine, *theirs))
    ):
        return Relation.DISTINCT
    enough = _ALIKE_ENOUGH if named or both else _SAME_ENOUGH
    return Relation.DUPLICATE if alike >= enough else Relation.DISTINCT


def _leftovers(one: _Reading, two: _Reading) -> tuple[list[str], list[str], list[str]]:
    """The words only one of the facts has, and those that both have, typos forgiven."""
    mine = [word for word in one.content if word not in two.content]
    theirs = [word for word in two.content if word not in one.content]
    shared = [word for word in one.content if word in two.content]
    for word in tuple(mine):
        spelt = one.content[word]
        twin = next((other for other in theirs if _same_word(spelt, two.content[other])), None)
        if twin is not None:
            mine.remove(word)
            theirs.remove(twin)
            shared.append(word)
    return mine, theirs, shared


def _weight(words: list[str]) -> float:
    return sum(0.5 if word in _LIGHT_VERBS else 1.0 for word in words)
