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


# What part of the weight of two facts' words they must share to be the same; more where each has a word of its own.
_SAME_ENOUGH = 0.66
_ALIKE_ENOUGH = 0.8
# The same for a number to correct a number.
_OF_ONE_THING = 0.75


def relate(old_fact: str, new_fact: str) -> Relation:
    """Return what a new fact is to an old one: it repeats it, contradicts it (and should supersede it), or neither."""
    old = _read(old_fact)
    new = _read(new_fact)
    # of facts of signs alone nothing is read
    if old_fact == new_fact or (old.tokens and old.tokens == new.tokens):
        return Relation.DUPLICATE
    if old.mentions != new.mentions:
        return Relation.DISTINCT
    return _relation_by_slot(old, new) or _relation_by_words(old, new)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Marks that phrases are rewritten to; no word looks like them.
_ENDED = "¬ended"
_LIKE = "+like"
_DISLIKE = "-like"
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


def _marks_by_phrase() -> dict[tuple[str, ...], str]:
    """Return the mark of each phrase, by the phrase's words."""
    marks = {}
    for mark, phrases in _PHRASES.items():
        for phrase in phrases.split(","):
            marks[tuple(phrase.split())] = mark
    return marks


_MARK_OF = _marks_by_phrase()
_LONGEST_PHRASE = max(map(len, _MARK_OF))
_NEGATIONS = _words(
    """not no never without cant cannot dont doesnt didnt isnt arent aint wasnt werent wont wouldnt couldnt hasnt
    havent hadnt neither nor none nothing nobody hardly rarely seldom barely refuses failed avoids lacks unable"""
)
_MARKED = dict.fromkeys(
    _words("like likes liked love loves loved loving enjoy enjoys enjoyed adores fan"),
    _LIKE,
)
_MARKED |= dict.fromkeys(
    _words(
        "dislike dislikes disliked hate hates hated despises detests loathes dreads"
    ),
    _DISLIKE,
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
# Those among them that make another fact all the same: to want a dog, to like dogs, to have a dog.
_TELLING = _words("+like want hope plan live date wait save sav look")
# Stems of what happens more than once: another number is another time, not a correction.
_EVENTS = _words(
    "gift donat cheer raid tip gave give bought buy sent visit saw watch went beat clip host post met win play reach"
)
_COUNTED = "zero one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty"
# The last four are the tens.
_VALUES = (*range(13), 20, 30, 40, 50)
_NUMBERS = {
    word: str(value) for word, value in zip(_COUNTED.split(), _VALUES, strict=True)
}
_SAME_WORDS = """
    play: player players; kid: children child kids son daughter; beat: finished finish finishes
    completed complete completes beaten defeated beats; get: adopted bought purchased acquired
    received; movie: films film movies cinema; win: won wins winning; speedrun: speedrunner
    speedruns speedrunning; uni: university college; allergy: allergic allergies; dog: puppy dogs;
    cat: kitten kittens cats; study: studies studying studied student; live: lives living lived
    resides residing based; favourite: favorite fav fave; job: profession occupation; go: went goes
    going gone travels travelling; call: called named"""


def _canonical_words() -> dict[str, str]:
    """Return the word that stands for each of those that say the same, itself included."""
    canonical_of = {}
    for group in _SAME_WORDS.split(";"):
        canonical, _colon, others = group.partition(":")
        canonical = canonical.strip()
        for word in (*others.split(), canonical):
            canonical_of[word] = canonical
    return canonical_of


# Words that say the same in a short fact, inflections that the stemmer does not know included.
_CANONICAL = _canonical_words()
# Whose fact it is, where it is not the subject's own: "brother lives in Berlin".
_OWNER = re.compile(
    r"^(?:(?:their|his|her|the|an?|older|younger|little|big|best|ex) )*(brother|sister|mom|mum|mother|dad|father"
    r"|parents|wife|husband|partner|boyfriend|girlfriend|friends?|son|daughter|kids?|roommate|boss|team|cat|dog)\b"
)
_COUNTRY_NAMES = """
    australia austria belgium brazil britain canada china denmark england finland france germany greece india ireland
    italy japan korea mexico netherlands norway poland portugal russia scotland spain sweden switzerland turkey ukraine
    usa us uk wales europe texas california florida"""
# Who lives in one also lives in a city.
_COUNTRIES = _words(_COUNTRY_NAMES)

# Reading one fact.

_TOKEN = re.compile(
    r"<@[\w:.-]{1,64}>|[$€£]?\d+(?:[.,:]\d+)*(?:st|nd|rd|th|k|%)?|[^\W_]+(?:['’][^\W_]+)*[%+]?"
    rf"|{EMOJI}"
)
_NUMBER = re.compile(r"[$€£]?(\d+(?:[.:]\d+)*)(?:st|nd|rd|th)?")
_PASSIVE = re.compile(r"\b(?:is|was|were|been|got|gets) \w+ by\b")


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
    tokens = []
    for match in _TOKEN.finditer(plain(fact)):
        token = match[0]
        tokens.append(token if token.startswith("<@") else _spelt(token))
    reading = _Reading(" ".join(tokens))
    if tokens and tokens[0].startswith("<@"):
        # whether somebody did it or had it done to them
        reading.mentions.append("first")
    for word in _with_marks(tokens):
        _read_word(word, reading)
    happens_often = _EVENTS.intersection((*reading.content, *reading.content.values()))
    reading.event = tokens[:1] != ["wants"] and bool(happens_often)
    reading.passive = _PASSIVE.search(reading.tokens) is not None
    owner = _OWNER.match(reading.tokens)
    if owner is not None:
        reading.owner = _root(owner[1])
    return reading


def _read_word(word: str, reading: _Reading) -> None:
    """Add a word or a mark to the reading of its fact."""
    if word in _ADDITIVE:
        reading.additive = True
    if word == _ENDED:
        reading.ended = True
    if word in {_ENDED, _DISLIKE} or word in _NEGATIONS:
        reading.negations += 1
    if word in {_LIKE, _DISLIKE}:
        reading.content[_LIKE] = _LIKE
        return
    if word.startswith("<@"):
        reading.mentions.append(word)
        return
    if word in MONTHS:
        reading.numbers.append(word)
        return
    number = _NUMBER.fullmatch(_NUMBERS.get(word, word).replace(",", ""))
    if number is not None:
        reading.numbers.append(number[1])
        return
    if word == _ENDED or word in _NEGATIONS:
        return
    root = _root(word)
    if root:
        reading.content.setdefault(root, word)


@text_cache(32_768)
def _spelt(word: str) -> str:
    """Return a word in Latin letters, without apostrophe or genitive."""
    bare = fold_word(word).replace("’", "'")
    return bare.removesuffix("'s").replace("'", "")


@text_cache(32_768)
def _root(word: str) -> str:
    """Return the stem that stands for a word and its synonyms; empty for a word that says nothing."""
    root = stem(_CANONICAL.get(word, word))
    return "" if word in _FILLER or root in _FILLER else root


def _with_marks(tokens: list[str]) -> list[str]:
    """Return the words with phrases and words of liking replaced by their marks."""
    marked: list[str] = []
    place = 0
    while place < len(tokens):
        length = _phrase_length(tokens, place)
        if length:
            word = _MARK_OF[tuple(tokens[place : place + length])]
        else:
            word = _MARKED.get(tokens[place], tokens[place])
        if word:
            marked.append(word)
        place += length or 1
    return marked


def _phrase_length(tokens: list[str], place: int) -> int:
    """Return the number of words of the longest phrase that begins there; 0 if none does."""
    for length in range(_LONGEST_PHRASE, 0, -1):
        if tuple(tokens[place : place + length]) in _MARK_OF:
            return length
    return 0


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
    (name, re.compile(r"^(?P<subject>.*?)\b" + re.sub(r"\n {4}", "", pattern)))
    for name, pattern in re.findall(
        r"^(\w+) -> (.+(?:\n +.+)*)", _PHRASINGS, re.MULTILINE
    )
]
_CUT = re.compile(
    r" (?:with|and|since|for|because|where|but|so|after|before|instead|every|this|last|until|when|near)\b"
)
_SEVERAL = re.compile(r"\b(?:lived|resided|worked|studied|majored|has an?)\b")
_ARTICLES = _words(
    "a an the their his her its now in of at to is be are currently still again and s also just"
)


class _Slot(NamedTuple):
    """A value of which there is one at a time, as a fact has it.

    `subject`: whose it is, where it is not the fact's subject's own. An empty `key` ("mains Jinx") fits any. `rest`:
    what else the fact says.
    """

    name: str
    subject: frozenset[str]
    key: frozenset[str]
    value: frozenset[str]
    rest: frozenset[str]
    one_of_several: bool


@text_cache(8_192)
def _slots_of(tokens: str) -> tuple[_Slot, ...]:
    """Return the slots that a fact fills."""
    slots = []
    for name, pattern in _SLOTS:
        match = pattern.search(tokens)
        if match is None:
            continue
        groups = match.groupdict()
        value, *rest = _CUT.split(groups["value"], maxsplit=1)
        slot = _Slot(
            name,
            subject=_plain(groups["subject"], _FILLER | _NEGATIONS),
            key=_plain(groups.get("key") or "", _FILLER),
            value=_plain(value, _ARTICLES),
            rest=_plain(" ".join(rest), _FILLER),
            one_of_several=_SEVERAL.search(match[0]) is not None,
        )
        if slot.value:
            slots.append(slot)
    return tuple(slots)


def _plain(text: str, ignored: frozenset[str]) -> frozenset[str]:
    """Return the words of a text, synonyms and numbers in one form, without the ignored ones."""
    telling = [word for word in text.split() if word not in ignored]
    return frozenset(_CANONICAL.get(word, _NUMBERS.get(word, word)) for word in telling)


# Comparing two.


def _relation_by_slot(old: _Reading, new: _Reading) -> Relation | None:
    """Return what the first slot that both facts fill says; None if there is none."""
    for old_slot in _slots_of(old.tokens):
        for new_slot in _slots_of(new.tokens):
            if (old_slot.name, old_slot.subject) != (new_slot.name, new_slot.subject):
                continue
            has_any_key = not old_slot.key or not new_slot.key
            if has_any_key or _covers(old_slot.key, new_slot.key):
                return _relation_of_slots(old, new, old_slot, new_slot)
    return None


def _relation_of_slots(
    old: _Reading,
    new: _Reading,
    old_slot: _Slot,
    new_slot: _Slot,
) -> Relation:
    """Return the relation of two facts that fill one slot."""
    if _covers(old_slot.value, new_slot.value):
        if old.positive != new.positive:
            return Relation.CONFLICT
        # the same value, and two different things besides
        if old_slot.rest and new_slot.rest and old_slot.rest.isdisjoint(new_slot.rest):
            return Relation.DISTINCT
        return Relation.DUPLICATE
    if not old.positive or not new.positive:
        return Relation.DISTINCT
    if (
        old.additive
        or new.additive
        or old_slot.one_of_several
        or new_slot.one_of_several
    ):
        return Relation.DISTINCT
    if old_slot.name in {"home", "origin"}:
        old_is_country = not _COUNTRIES.isdisjoint(old_slot.value)
        new_is_country = not _COUNTRIES.isdisjoint(new_slot.value)
        if old_is_country != new_is_country:
            return Relation.DISTINCT
    return Relation.CONFLICT


def _is_same_word(word: str, other: str) -> bool:
    """Return whether longer words differ by one letter that is missing, too much or swapped, and not by the first."""
    short, long = sorted((word, other), key=len)
    if len(short) < 4 or len(long) < 5 or word[0] != other[0] or not long.isalpha():
        return False
    place = 0
    while place < len(short) and short[place] == long[place]:
        place += 1
    if len(short) < len(long):
        return short[place:] == long[place + 1 :]
    swapped = long[place + 1 : place + 2] + long[place : place + 1] + long[place + 2 :]
    return short[place:] == swapped


def _covers(words: frozenset[str], others: frozenset[str]) -> bool:
    """Return whether the smaller set of words is found in the larger, typos forgiven."""
    small, large = sorted((words, others), key=len)
    return all(_is_among(word, large) for word in small)


def _is_among(word: str, others: frozenset[str]) -> bool:
    return any(
        stem(word) == stem(other) or _is_same_word(word, other) for other in others
    )


class _Difference(NamedTuple):
    """The stems that two facts share, and those that each has alone."""

    shared: list[str]
    only_old: list[str]
    only_new: list[str]

    @property
    def apart(self) -> list[str]:
        """The stems that one of them has alone."""
        return [*self.only_old, *self.only_new]

    @property
    def is_mutual(self) -> bool:
        """Whether each fact has a word of its own."""
        return bool(self.only_old and self.only_new)

    @property
    def shared_part(self) -> float:
        """What part of the words' weight is shared, from 0 to 1."""
        shared_weight = _weight(self.shared)
        return shared_weight / max(0.1, shared_weight + _weight(self.apart))


def _difference(old: _Reading, new: _Reading) -> _Difference:
    """Compare the stems of two facts, typos forgiven."""
    difference = _Difference(
        shared=[word for word in old.content if word in new.content],
        only_old=[word for word in old.content if word not in new.content],
        only_new=[word for word in new.content if word not in old.content],
    )
    for word in tuple(difference.only_old):
        for other in difference.only_new:
            if _is_same_word(old.content[word], new.content[other]):
                difference.only_old.remove(word)
                difference.only_new.remove(other)
                difference.shared.append(word)
                break
    return difference


def _relation_by_words(old: _Reading, new: _Reading) -> Relation:
    """Return what the words, numbers and polarity of two facts say."""
    if old.owner != new.owner:
        return Relation.DISTINCT
    difference = _difference(old, new)
    if sorted(old.numbers) != sorted(new.numbers):
        is_correction = _is_corrected_number(old, new, difference)
        return Relation.CONFLICT if is_correction else Relation.DISTINCT
    if old.positive != new.positive:
        is_denial = _is_denial(difference)
        return Relation.CONFLICT if is_denial else Relation.DISTINCT
    if (old.ended, old.passive) != (new.ended, new.passive):
        return Relation.DISTINCT
    if not _TELLING.isdisjoint(difference.apart):
        return Relation.DISTINCT
    enough = _ALIKE_ENOUGH if difference.is_mutual else _SAME_ENOUGH
    return Relation.DUPLICATE if difference.shared_part >= enough else Relation.DISTINCT


def _is_corrected_number(
    old: _Reading,
    new: _Reading,
    difference: _Difference,
) -> bool:
    """Return whether one fact says what the other does but for a number: not of events, which happen again."""
    if not old.numbers or not new.numbers or difference.is_mutual:
        return False
    if old.event or new.event or old.positive != new.positive:
        return False
    return difference.shared_part >= _OF_ONE_THING


def _is_denial(difference: _Difference) -> bool:
    """Return whether two facts, one of which denies something, are of one thing."""
    if difference.shared_part < _SAME_ENOUGH:
        return False
    return not difference.is_mutual or _LIGHT_VERBS.issuperset(difference.apart)


def _weight(stems: list[str]) -> float:
    """Return how much stems say together. A picture is half a word: it mostly goes with one."""
    weight = 0.0
    for word in stems:
        weight += 0.5 if word in _LIGHT_VERBS or emoji_in(word) else 1.0
    return weight
