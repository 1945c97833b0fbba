"""Parses one short fact for comparison: its content, polarity and numbers.

It reads English facts in the third person without subject ("plays drums in <@42>'s band"). It knows inflections,
common synonyms, negation, ended states, number words and title numbers; it does not parse, and it does not know
rephrasings that share no word.
"""

import re
from dataclasses import dataclass, field
from itertools import zip_longest

from forgetmenot.memory.facts import lexicon as lex
from forgetmenot.text.caches import text_cache
from forgetmenot.text.clean import fold_word, plain
from forgetmenot.text.words import LONG_DRAWN, stem

# Typos: a missing, extra or swapped letter in words of five letters or more; in longer ones also a wrong letter from a
# neighbouring key. Never the first letter or a digit, so "Ireland" and "Iceland" stay two words.


_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEAR = {
    (a, b)
    for row, keys in enumerate(_ROWS)
    for at, a in enumerate(keys)
    for other, there in enumerate(_ROWS)
    for place, b in enumerate(there)
    if abs(row - other) <= 1 and abs(at - place) <= 1
} | {(a, b) for a in "aeiou" for b in "aeiou"}


def same_word(one: str, two: str) -> bool:
    """Whether the words differ by one typo."""
    short, long = sorted((one, two), key=len)
    if len(short) < 4 or len(long) < 5 or len(long) - len(short) > 1 or one[0] != two[0]:
        return False
    if not (one.isalpha() and two.isalpha()):
        return False
    at = next((i for i, (a, b) in enumerate(zip(short, long, strict=False)) if a != b), len(short))
    if len(short) < len(long):
        return short[at:] == long[at + 1 :]
    swapped = short[at:] == long[at + 1 : at + 2] + long[at : at + 1] + long[at + 2 :]
    return swapped or (len(short) >= 7 and short[at + 1 :] == long[at + 1 :] and (short[at], long[at]) in _NEAR)


_TOKEN = re.compile(
    r"<@[\w:.-]{1,64}>|[$€£]?\d+(?:[.,:]\d+)*(?:(?:st|nd|rd|th|k|%)?(?!\w)|(?=(?:cm|kg|lbs?|ft|m|km|hrs?|h|mins?|fps|hz|yo|x)\b))|[^\W_]+(?:['’][^\W_]+)*[%+]?"
)
_NUMBER = re.compile(r"[$€£]?(\d+(?:[.:]\d+)*)(?:st|nd|rd|th|(k))?")
_FIRST_WORDS: dict[str, int] = {}
for _phrase in lex.PHRASES:
    _FIRST_WORDS[_phrase[0]] = max(_FIRST_WORDS.get(_phrase[0], 0), len(_phrase))

_RANKS = lex.as_set(
    """rank level tier season round top number day week month year hour minute place part bronze silver gold plat
    platinum diamond emerald iron master ascendant immortal radiant prestige stage world act chapter age elo
    mmr pb group january february march april may june july august september october november december"""
)
_TITLE_VERBS = lex.as_set("beat play like watch own speedrun love prefer replay")
_THE = frozenset({"the", "their", "his", "her"})
_WISHES = frozenset({"wants", "plans", "hopes", "would"})
_OVER = frozenset({"left", "back", "finished", "done", "completed"})
_PASSIVE = re.compile(r"\b(?:is|was|were|been|being|got|gets) \w+ by\b")
_BEFORE_NOUN = lex.as_set("on in with at for by while without and during as again")

_OWNERS = lex.as_set(
    """brother sister sibling mom mum mother dad father parents wife husband partner spouse girlfriend boyfriend gf
    bf fiance fiancee friend friends son daughter kid kids child children uncle aunt cousin nephew niece
    grandma grandpa grandmother grandfather roommate flatmate neighbour neighbor boss coworker colleague
    team clan guild cat dog parrot hamster rabbit horse pet family twin mother-in-law streamer chat"""
)
_BEFORE_OWNER = lex.as_set("their his her the a older younger elder little big best twin ex oldest youngest")


@dataclass(slots=True)
class Reading:
    """A fact taken apart. `content`: stems in order, with how they were written; `names`: those with a capital letter.

    `tokens` is the fact in plain words. `aim`: something that is not reached yet ("is saving up for …"); `event`:
    something that happens more than once; `one`: "a" or "an"; `passive`: it was done to them ("was raided by …").
    """

    tokens: str
    content: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)
    numbers: list[str] = field(default_factory=list)
    mentions: list[str] = field(default_factory=list)
    negations: int = 0
    ended: bool = False
    never: bool = False
    additive: bool = False
    event: bool = False
    aim: bool = False
    one: bool = False
    passive: bool = False
    owner: str = ""

    @property
    def polarity(self) -> int:
        """-1 where the fact says that something is not (or no longer) so; "never not …" says that it is."""
        return -1 if self.negations % 2 else 1

    def take(self, word: str, following: str, capitals: set[str]) -> None:
        """Read one word, or the mark that stands for some."""
        if word in _MARKS:
            self._mark(word)
        elif word[0] == "<":
            self.mentions.append(word)
        elif word[0].isdigit() or word[0] in "$€£" or (word in lex.NUMBERS and (following or word != "single")):
            self._number(word, following)
        else:
            self._word(word, following, capitals)

    def _mark(self, mark: str) -> None:
        # what has ended is not so any more: it counts as a negation too
        self.negations += mark in {lex.NOT, lex.NEVER, lex.DISLIKE, lex.ENDED}
        self.ended |= mark in {lex.ENDED, lex.ANYMORE}
        self.never |= mark == lex.NEVER
        self.additive |= mark == lex.ALSO
        self.aim |= mark == lex.AIM
        if mark in {lex.LIKE, lex.DISLIKE}:
            self.content[lex.LIKE] = lex.LIKE

    def _number(self, word: str, following: str) -> None:
        found = _NUMBER.fullmatch(lex.NUMBERS.get(word, word).replace(",", ""))
        if not found:
            self.content[word] = word  # "100%" is a category, not a count
            return
        value = str(int(float(found[1]) * 1000)) if found[2] and ":" not in found[1] else found[1]
        before = next(reversed(self.content), "")
        if word != "twice" and self._in_a_title(before, following, value):
            self.content[f"{before}#{value}"] = f"{before}#{value}"
        else:
            self.numbers.append(value)

    def _in_a_title(self, before: str, following: str, value: str) -> bool:
        """Whether a number belongs to the name before it ("Dark Souls 3"), rather than counting something."""
        if not before or before in _RANKS or not value.isdigit() or int(value) > 100 or before == lex.LIKE:
            return False
        if before in self.names and (not following or following in _BEFORE_NOUN):
            return True
        verbs = _TITLE_VERBS.intersection(self.content) or lex.LIKE in self.content
        return bool(verbs) and before not in _TITLE_VERBS and (not following or following in _BEFORE_NOUN)

    def _word(self, word: str, following: str, capitals: set[str]) -> None:
        self.one |= word in {"a", "an"} and following not in _MARKS
        # the month; in small letters it is a verb that says nothing
        if word in capitals and word == "may":
            self.content["may"] = word
            return
        root = _root(word)
        if not root:
            return
        self.content.setdefault(root, word)
        if word in capitals:
            self.names.add(root)


@text_cache(8_192)
def read(fact: str) -> Reading:
    """Read one fact. Equal facts share one reading."""
    tokens, capitals = _tokens(fact)
    found, words = Reading(" ".join(tokens)), _rewrite(tokens, capitals)
    if words and words[0][0] == "<":
        found.mentions.append("first")  # who did it, not to whom
    for word, following in zip_longest(words, words[1:], fillvalue=""):
        found.take(word, following, capitals)
    stems = {*found.content, *found.content.values()}
    found.event = _WISHES.isdisjoint(tokens[:1]) and not lex.EVENTS.isdisjoint(stems)
    found.passive = _PASSIVE.search(found.tokens) is not None
    # whose fact it is, where it is not the subject's own: "brother lives in Berlin"
    head = next((word for word in tokens if word not in _BEFORE_OWNER), "")
    found.owner = stem(lex.SAME.get(head, head)) if head in _OWNERS else ""
    return found


def _tokens(fact: str) -> tuple[list[str], set[str]]:
    """The plain words, and those of them that were written with a capital letter."""
    folded = plain(fact)
    # folding may change the length of a text; only then is it unknown where a word stood
    same_length = len(folded) == len(fact)
    tokens: list[str] = []
    capitals: set[str] = set()
    for found in _TOKEN.finditer(folded):
        word, at = found[0], found.start()
        if word[0] != "<":
            word = _spelt(word)
            if same_length and at and fact[at].isupper():
                capitals.add(word)
            else:
                word = _meant(word)
        tokens.append(word)
    return tokens, capitals


@text_cache(32_768)
def _spelt(word: str) -> str:
    """A word in Latin letters, without apostrophe and without drawn-out letters."""
    return _short(_bare(fold_word(word)))


@text_cache(32_768)
def _root(word: str) -> str:
    """The stem that stands for a word and its synonyms; empty for a word that says nothing."""
    root = stem(lex.SAME.get(word, word))
    return "" if word in lex.FILLER or root in lex.FILLER else root


@text_cache(32_768)
def _meant(word: str) -> str:
    """A word that decides what a fact says ("favourite", "timezone", "works"), also where a finger slipped."""
    near = lex.KEY_WORDS.get(word[:1], ()) if len(word) > 3 and word not in lex.KNOWN else ()
    return next((key for key in near if _slipped(word, key)), word)


def _slipped(word: str, key: str) -> bool:
    """Whether a letter of `key` is missing, twice or in its neighbour's place; its other forms are words themselves."""
    letters = len(word) != len(key) or sorted(word) == sorted(key)
    return letters and same_word(word, key) and key not in {f"{word}s", f"{word}d"}


def _short(word: str) -> str:
    """A long-drawn word as it is spelt, where the tables know it ("loooves"), else with letters doubled at most."""
    drawn = LONG_DRAWN.sub(r"\1\2", word)
    known = drawn in lex.LIKES or drawn in lex.DISLIKES or drawn in lex.FILLER or drawn in lex.NEGATIONS
    return drawn if known else LONG_DRAWN.sub(r"\1\2\1\2", word)


def _bare(word: str) -> str:
    if "'" in word or "’" in word:
        word = word.replace("’", "'")
        word = word[:-2] if word.endswith("'s") else word.replace("'", "")
    return word


_MARKS = frozenset({lex.NOT, lex.NEVER, lex.ENDED, lex.ANYMORE, lex.LIKE, lex.DISLIKE, lex.ALSO, lex.AIM})


def _rewrite(tokens: list[str], capitals: set[str]) -> list[str]:
    """The words with phrases and words of polarity replaced by their marks."""
    result: list[str] = []
    index = 0
    while index < len(tokens):
        word = tokens[index]
        taken, marks = _phrase_at(tokens, index) if word in _FIRST_WORDS else (0, ())
        if taken:
            result += marks
            index += taken
            continue
        if word in _OVER and _is_over(word, tokens[index + 1 : index + 4]):
            word = lex.ENDED
        # "No Man's Sky" denies nothing
        in_a_name = word in capitals and word in {"no", "without", "never"}
        result.append(word if in_a_name else _MARKED.get(word, word))
        index += 1
    return result


def _is_over(verb: str, after: list[str]) -> bool:
    """Whether something ended: "finished building it", "left their old band", "is back from a break"."""
    if verb == "back":
        return after[:1] == ["from"] and not lex.ABSENCES.isdisjoint(after)
    if verb == "left":
        return not _THE.isdisjoint(after[:1]) and not lex.GROUPS.isdisjoint(after)
    return not lex.COURSES.isdisjoint(after)


def _phrase_at(tokens: list[str], index: int) -> tuple[int, tuple[str, ...]]:
    """How many words from here are a known phrase, the longest first, and what they are rewritten to."""
    for length in range(_FIRST_WORDS[tokens[index]], 0, -1):
        marks = lex.PHRASES.get(tuple(tokens[index : index + length]))
        if marks is not None and index + length <= len(tokens):
            return length, marks
    return 0, ()


_MARKED = {
    **dict.fromkeys(lex.DISLIKES, lex.DISLIKE),
    **dict.fromkeys(lex.LIKES, lex.LIKE),
    "never": lex.NEVER,
    **dict.fromkeys(lex.NEGATIONS, lex.NOT),
}


# Stems of country names, so that a city is not taken for another country.


_NAMES = """argentina australia austria belgium brazil britain bulgaria canada chile china colombia croatia cuba cyprus
czechia denmark ecuador egypt england estonia finland france germany ghana greece hungary iceland india
indonesia iran iraq ireland israel italy jamaica japan jordan kenya korea kuwait latvia lebanon lithuania
luxembourg malaysia malta mexico moldova morocco nepal netherlands holland nigeria norway pakistan panama
paraguay peru philippines poland portugal romania russia scotland serbia singapore slovakia slovenia spain
sweden switzerland taiwan thailand tunisia turkey ukraine uruguay usa us uk venezuela vietnam wales europe asia
africa texas california florida alabama alaska arizona colorado georgia hawaii illinois michigan minnesota ohio
oregon ontario quebec bavaria catalonia scandinavia"""
COUNTRIES = frozenset(map(stem, _NAMES.split()))
"""Countries, and the larger parts of the world that people say they live in."""
