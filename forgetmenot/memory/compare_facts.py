"""Compares two short facts about one person, without a model. Pure; English.

The model says which note it repeats or replaces. This finds what it was not shown, and what people type: exact and near
repeats, values of which there is one at a time (home, job, main, favourite …), and what is no longer so.

It prefers "distinct" where it is not sure: "duplicate" confirms the old fact and "conflict" supersedes it, and an error
in either costs more than one row too many. What each rule is worth was measured on the pairs of its tests.
"""

import re
from enum import StrEnum
from typing import NamedTuple

from msgspec import Struct, field

from forgetmenot.text.clean import fold_word, plain
from forgetmenot.text.dates import MONTHS
from forgetmenot.text.words import EMOJI, emoji_in, stem, text_cache


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
    one, two = _read(old), _read(new)
    if old == new or (one.tokens and one.tokens == two.tokens):  # of signs nothing is read
        return Relation.DUPLICATE
    if one.mentions != two.mentions:
        return Relation.DISTINCT
    return _by_slot(one, two) or _by_words(one, two)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Marks that phrases are rewritten to; no word looks like them.
_ENDED, _LIKE, _DISLIKE = "¬ended", "+like", "-like"
_PHRASES = {
    _LIKE: "a fan of, fan of, big fan of, a big fan of, into, really into, fond of, obsessed with",
    _DISLIKE: "cant stand, cannot stand, not a fan of, isnt a fan of, isnt into, not into, sick of",
    _ENDED: """used to, no longer, no more, gave up on, gave up, giving up, moved away from, moved out of, dropped out
        of, broke up with, once was, owned a, owned an, got rid of, done with, grew out of, was a, was an, had a,
        had an, retired from, quit, quits, stopped, stops, dropped, abandoned, uninstalled, former, formerly,
        previously, retired, sold, cancelled, lost interest in, got over, finished reading, finished writing,
        finished building, finished watching, not anymore""",
    "": "not only, no matter, no doubt, no problem, no cap, why not, any more, anymore, any longer, one day",
    "vegetarian": "does not eat meat, doesnt eat meat, eats no meat",
}
_MARK_OF = {
    tuple(one.split()): mark for mark, listed in _PHRASES.items() for one in listed.split(",")
}
_NEGATIONS = _words(
    """not no never without cant cannot dont doesnt didnt isnt arent aint wasnt werent wont wouldnt couldnt hasnt
    havent hadnt neither nor none nothing nobody hardly rarely seldom barely refuses failed avoids lacks unable"""
)
_MARKED = dict.fromkeys(
    _words("like likes liked love loves loved loving enjoy enjoys enjoyed adores fan"), _LIKE
)
_MARKED |= dict.fromkeys(
    _words("dislike dislikes disliked hate hates hated despises detests loathes dreads"), _DISLIKE
)
_ADDITIVE = _words("also too another additionally second both besides")
_FILLER = _words(
    """a an the is am are was were be been being has have had having do does did done will would can could should may
    might must of to in on at for with from by as and or but so that this these those it its they them their he him
    his she her who which what when where there here just really very quite pretty super totally actually literally
    definitely probably maybe still yet now currently lately recently already always often usually sometimes every
    each all some any own owns owned got get gets getting s t re ve ll m d into onto up out about over since ago
    than then even ever more most much many lot lots bit kind thing things years year today tonight soon huge big
    biggest massive once new newly finally days while if because how himself herself themselves self u im one's
    mostly mainly basically also again regularly constantly quickly well"""
)
# Stems that say little alone: half the weight of a noun.
_LIGHT_VERBS = _words(
    """+like play watch work make go want try take use find see think say know plan start come keep need call name hope
    look become stream attend live do feel talk give tell seem own date time"""
)
# Those of them that make another fact of it all the same: to want a dog, to like dogs, to have a dog.
_TELLING = _words("+like want hope plan live date wait save sav look")
# Stems of what happens more than once: another number is another time, not a correction.
_EVENTS = _words(
    "gift donat cheer raid tip gave give bought buy sent visit saw watch went beat clip host post met win play reach"
)
_COUNTED = (
    "zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty"
)
_NUMBERS = {word: str(n if n <= 12 else 10 * (n - 11)) for n, word in enumerate(_COUNTED.split())}
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
# Words that say the same in a short fact, inflections that the stemmer does not know included.
_SAME = {
    word: canonical.strip()
    for canonical, others in (group.split(":") for group in _SAME_WORDS.split(";"))
    for word in (*others.split(), canonical.strip())
}
# Whose fact it is, where it is not the subject's own: "brother lives in Berlin".
_OWNER = re.compile(
    r"^(?:(?:their|his|her|the|an?|older|younger|little|big|best|ex) )*(brother|sister|mom|mum|mother|dad|father"
    r"|parents|wife|husband|partner|boyfriend|girlfriend|friends?|son|daughter|kids?|roommate|boss|team|cat|dog)\b"
)
_NAMES = """australia austria belgium brazil britain canada china denmark england finland france germany greece india
ireland italy japan korea mexico netherlands norway poland portugal russia scotland spain sweden
switzerland turkey ukraine usa us uk wales europe texas california florida"""
# Who lives in one also lives in a city.
_COUNTRIES = _words(_NAMES)

# Reading one fact.

_TOKEN = re.compile(
    r"<@[\w:.-]{1,64}>|[$€£]?\d+(?:[.,:]\d+)*(?:st|nd|rd|th|k|%)?|[^\W_]+(?:['’][^\W_]+)*[%+]?"
    rf"|{EMOJI}"
)
_NUMBER = re.compile(r"[$€£]?(\d+(?:[.:]\d+)*)(?:st|nd|rd|th)?")


class _Reading(Struct):
    """A fact taken apart. `content`: stems in order, with how they were written."""

    tokens: str
    content: dict[str, str] = field(default_factory=dict)
    numbers: list[str] = field(default_factory=list)
    mentions: list[str] = field(default_factory=list)
    negations: int = 0
    ended: bool = False
    passive: bool = False
    additive: bool = False
    event: bool = False
    owner: str = ""

    @property
    def positive(self) -> bool:
        """False where the fact says that something is not, or no longer, so."""
        return self.negations % 2 == 0


@text_cache(8_192)
def _read(fact: str) -> _Reading:
    """Read one fact. Equal facts share one reading."""
    tokens = [
        found[0] if found[0].startswith("<@") else _spelt(found[0])
        for found in _TOKEN.finditer(plain(fact))
    ]
    found = _Reading(" ".join(tokens))
    if tokens and tokens[0].startswith("<@"):
        found.mentions.append("first")  # who did it, not to whom
    for word in _rewritten(tokens):
        found.additive |= word in _ADDITIVE
        if word in {_ENDED, _DISLIKE} or word in _NEGATIONS:
            found.negations += 1
            found.ended |= word == _ENDED
        if word in {_LIKE, _DISLIKE}:
            found.content[_LIKE] = _LIKE
        elif word.startswith("<@"):
            found.mentions.append(word)
        elif word in MONTHS:
            found.numbers.append(word)
        elif number := _NUMBER.fullmatch(_NUMBERS.get(word, word).replace(",", "")):
            found.numbers.append(number[1])
        elif word != _ENDED and word not in _NEGATIONS and (root := _root(word)):
            found.content.setdefault(root, word)
    found.event = tokens[:1] != ["wants"] and not _EVENTS.isdisjoint(
        {*found.content, *found.content.values()}
    )
    found.passive = re.search(r"\b(?:is|was|were|been|got|gets) \w+ by\b", found.tokens) is not None
    owner = _OWNER.match(found.tokens)
    found.owner = _root(owner[1]) if owner else ""
    return found


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


def _rewritten(tokens: list[str]) -> list[str]:
    """The words with phrases and words of liking replaced by their marks."""
    result: list[str] = []
    at = 0
    while at < len(tokens):
        taken = next((n for n in (4, 3, 2, 1) if tuple(tokens[at : at + n]) in _MARK_OF), 0)
        word = (
            _MARK_OF[tuple(tokens[at : at + taken])]
            if taken
            else _MARKED.get(tokens[at], tokens[at])
        )
        result += [word] if word else []
        at += taken or 1
    return result


# Values of which there is one at a time, each with its phrasing; what stands before it is whose it is.

_PHRASINGS = r"""
home -> (?:live[sd]?|living|based|resid\w+|located)(?: now| currently)? (?:in|at) (?!an?\b|fear|peace|\d)(?P<value>.+)
home -> (?<!wants to )(?:mov(?:ed|es)|relocated)(?: back| over| recently| from .+)? to (?!an?\b)(?P<value>.+)
origin -> (?:is|comes|came|hails|originally) (?:originally )?from (?P<value>.+)
birthday -> (?:(?:birthday|bday) is|born|has a birthday)(?: on| in)? (?P<value>.+)
age -> (?:is|turned|turns|aged) (?P<value>\d+)(?: (?:years?|yrs?) old| now|$)
job -> (?:(?:work(?:s|ed|ing)?|employed) as|(?<!dream )(?:job|profession|occupation) is) (?P<value>.+)
employer -> (?:work(?:s|ed|ing)?|employed) (?:at|for|by) (?!night|home|day|weekend|fun|free)(?P<value>.+)
major -> (?:stud(?:ies|ying)|major(?:s|ed|ing)? in|major is|degree in) (?!at\b|for\b|with\b|hard)(?P<value>.+)
favourite -> (?:favou?rite|fave?) (?P<key>.+?) (?:is|are)(?: now)? (?P<value>.+)
main -> main in (?P<key>.+?) is(?: now)? (?P<value>.+)
main -> mains? (?:is )?(?!in\b|game|champ\w*|character|hero|agent|role|class)(?P<value>.+?)(?: (?:in|on) (?P<key>.+))?$
love -> (?:(?:is|got|just|now|still) )*(?P<value>(?:single|divorced|taken|married|engaged)(?= to| now|$)|dating .+)
pet -> (?:has an? )?(?P<key>cat|dog|bird|hamster|rabbit|snake|horse|wife|husband) (?:name is|(?:is )?(?:named|called))
     (?P<value>.+)
preference -> prefers? (?P<key>(?P<value>.+?) (?:over|to|than) .+)
record -> (?P<key>name|goal|dream(?: job)?|car|phone|school|sign|pronouns|role|class|streak|height|timezone
    |(?:best|worst|home|eye|hair|native|mother|most|current|next) ?\w+) (?:is|are)(?: now)? (?P<value>.+)
"""
_SLOTS = [
    (name, re.compile(r"^(?P<who>.*?)\b" + re.sub(r"\n {4}", "", pattern)))
    for name, pattern in re.findall(r"^(\w+) -> (.+(?:\n +.+)*)", _PHRASINGS, re.MULTILINE)
]
_CUT = re.compile(
    r" (?:with|and|since|for|because|where|but|so|after|before|instead|every|this|last|until|when|near)\b"
)
_SEVERAL = re.compile(r"\b(?:lived|resided|worked|studied|majored|has an?)\b")
_ARTICLES = _words(
    "a an the their his her its now in of at to is be are currently still again and s also just"
)


class _Slot(NamedTuple):
    """One filled slot. An empty `key` ("mains Jinx") fits any; `rest`: what else is said."""

    name: str
    who: frozenset[str]
    key: frozenset[str]
    value: frozenset[str]
    rest: frozenset[str]
    one_of_several: bool


@text_cache(8_192)
def _slots_of(tokens: str) -> tuple[_Slot, ...]:
    """The slots that a fact fills."""
    found = []
    for name, pattern in _SLOTS:
        if match := pattern.search(tokens):
            said = match.groupdict()
            value, *rest = _CUT.split(said["value"], maxsplit=1)
            who, key = (
                _plain(said["who"], _FILLER | _NEGATIONS),
                _plain(said.get("key") or "", _FILLER),
            )
            beside = _plain(" ".join(rest), _FILLER)
            found.append(
                _Slot(
                    name,
                    who,
                    key,
                    _plain(value, _ARTICLES),
                    beside,
                    bool(_SEVERAL.search(match[0])),
                )
            )
    return tuple(slot for slot in found if slot.value)


def _plain(text: str, without: frozenset[str]) -> frozenset[str]:
    return frozenset(
        _SAME.get(word, _NUMBERS.get(word, word)) for word in text.split() if word not in without
    )


# Comparing two.


def _by_slot(one: _Reading, two: _Reading) -> Relation | None:
    """What the first slot that both facts fill says."""
    for old in _slots_of(one.tokens):
        for new in _slots_of(two.tokens):
            keys = not old.key or not new.key or _covers(old.key, new.key)
            if (old.name, old.who) == (new.name, new.who) and keys:
                return _same_slot(one, two, old, new)
    return None


def _same_slot(one: _Reading, two: _Reading, old: _Slot, new: _Slot) -> Relation:
    apart = bool(
        old.rest and new.rest and old.rest.isdisjoint(new.rest)
    )  # the one value, and two things besides
    if _covers(old.value, new.value):
        if one.positive != two.positive:
            return Relation.CONFLICT
        return Relation.DISTINCT if apart else Relation.DUPLICATE
    several = one.additive or two.additive or old.one_of_several or new.one_of_several
    place = old.name in {"home", "origin"} and bool(old.value & _COUNTRIES) != bool(
        new.value & _COUNTRIES
    )
    exclusive = one.positive and two.positive and not several and not place
    return Relation.CONFLICT if exclusive else Relation.DISTINCT


def _same_word(one: str, two: str) -> bool:
    """Whether longer words differ by one letter that is missing, too much or swapped, and not by the first."""
    short, long = sorted((one, two), key=len)
    if len(short) < 4 or len(long) < 5 or one[0] != two[0] or not long.isalpha():
        return False
    at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    swapped = long[at + 1 : at + 2] + long[at : at + 1] + long[at + 2 :]
    return short[at:] == (swapped if len(short) == len(long) else long[at + 1 :])


def _covers(one: frozenset[str], two: frozenset[str]) -> bool:
    """Whether the smaller set of words is found in the larger, typos forgiven."""
    small, large = sorted((one, two), key=len)
    return all(
        any(stem(word) == stem(other) or _same_word(word, other) for other in large)
        for word in small
    )


def _by_words(one: _Reading, two: _Reading) -> Relation:
    """What the words, numbers and polarity of two facts say."""
    if one.owner != two.owner:
        return Relation.DISTINCT
    mine = [word for word in one.content if word not in two.content]
    theirs = [word for word in two.content if word not in one.content]
    shared = [word for word in one.content if word in two.content]
    for word in tuple(mine):  # typos forgiven
        twin = next(
            (other for other in theirs if _same_word(one.content[word], two.content[other])), None
        )
        if twin is not None:
            mine.remove(word)
            theirs.remove(twin)
            shared.append(word)
    both, apart = bool(mine and theirs), [*mine, *theirs]
    alike = _weight(shared) / max(0.1, _weight(shared) + _weight(apart))
    if sorted(one.numbers) != sorted(two.numbers):
        # a number of single occasions is another occasion
        correction = one.numbers and two.numbers and not both and not (one.event or two.event)
        corrects = correction and alike >= _OF_ONE_THING and one.positive == two.positive
        return Relation.CONFLICT if corrects else Relation.DISTINCT
    if one.positive != two.positive:
        only_verbs = all(word in _LIGHT_VERBS for word in apart)
        return (
            Relation.CONFLICT
            if alike >= _SAME_ENOUGH and (only_verbs or not both)
            else Relation.DISTINCT
        )
    if (one.ended, one.passive) != (two.ended, two.passive) or not _TELLING.isdisjoint(apart):
        return Relation.DISTINCT
    return (
        Relation.DUPLICATE
        if alike >= (_ALIKE_ENOUGH if both else _SAME_ENOUGH)
        else Relation.DISTINCT
    )


def _weight(words: list[str]) -> float:
    """What words tell together. A picture is half a word: it mostly goes with one."""
    return sum(0.5 if word in _LIGHT_VERBS or emoji_in(word) else 1.0 for word in words)
