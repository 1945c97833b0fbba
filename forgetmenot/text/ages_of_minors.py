"""Ages of people below eighteen: whether a text states one, and the text without it. Pure.

A cat, a car or a channel may be of any age. The words before an age show whose it is: the fact's
own subject (a person), a word for a person, or any other noun. A name stays where only the age can
be cut.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from functools import cache
from typing import Any, NamedTuple

from forgetmenot.text.clean import plain
from forgetmenot.text.tables import word_lists
from forgetmenot.text.words import UNSPACED

_ADULT = 18
# Without a unit a smaller number is no age, unless it is said of a child.
_MIN_BARE_AGE = 5
# Words between a noun and its determiner ("their old grey laptop").
_MAX_BEFORE_NOUN = 3
# Tokens that are searched for the noun that "who" goes on about.
_MAX_LOOK_BACK = 30
_MIN_WORDS_LEFT = 2
_TOKEN = re.compile(r"<@[^>]+>|\d+|[^\W\d_]+|[^\w\s'’]")
_ENDS = frozenset(",;.!?)")
_SENTENCE_ENDS = frozenset(".!?;")


class _Bearer(Enum):
    """Whose age it is."""

    SUBJECT = "the subject of the fact"
    PERSON = "a person named in the text"
    THING = "an animal or a thing"


class _Token(NamedTuple):
    """A word, number or mark of a text: folded, as it is written, and where it stands."""

    word: str
    written: str
    start: int
    end: int


class _Age(NamedTuple):
    """A stated age: the places of its first token and of the one behind its last.

    An attribute has no verb: "7-year-old", "(7)", "aged 7". A predicate has: "is 7".
    """

    start: int
    end: int
    is_attribute: bool


class _Language:
    """The words of one language by their kinds, the keys of ages_of_minors.toml."""

    def __init__(self, table: dict[str, Any]) -> None:
        self._words: dict[str, frozenset[str]] = {}
        for kind, words in table.items():
            # The other values of a table are switches.
            if isinstance(words, str):
                folded_words = plain(words).split()
                self._words[kind] = frozenset(folded_words)
        # The first word of the list is for zero.
        self._numbers: dict[str, int] = {}
        for number, word in enumerate(_number_words(table)):
            self._numbers[word] = number
        # What stands before an age: "is 7", "turned 7".
        self.verbs = self.words("be") | self.words("turn")
        self.needs_unit = bool(table.get("needs_unit"))
        # In German every noun has a capital: it shows no name.
        self.names_without_capitals = bool(table.get("names_without_capitals"))

    def words(self, kind: str) -> frozenset[str]:
        """Return the folded words of a kind."""
        return self._words.get(kind, frozenset())

    def number(self, word: str) -> int | None:
        """Return the number that a word or its digits stand for; None if it is no number."""
        if word.isdecimal():
            # Four digits are no age, and a long row of them would take long to read.
            return int(word[:4])
        return self._numbers.get(word)


def _number_words(table: dict[str, Any]) -> list[str]:
    """Return the folded number words of a language from zero on; none if it lists none."""
    return plain(table.get("numbers", "")).split()


@cache
def _languages() -> tuple[_Language, ...]:
    """Return the languages that part words by spaces."""
    tables = dict(word_lists("ages_of_minors.toml"))
    del tables["unspaced"]
    return tuple(map(_Language, tables.values()))


@cache
def _number_pattern() -> re.Pattern[str]:
    """Return a pattern for a digit or a number word: a text without one states no age."""
    number_words = set[str]()
    for table in word_lists("ages_of_minors.toml").values():
        number_words.update(_number_words(table))
    any_number_word = "|".join(sorted(number_words))
    return re.compile(rf"\d|\b(?:{any_number_word})\b")


def states_minor_age(text: str) -> bool:
    """Return whether a text states the age of a person below eighteen."""
    # Asked of every fact and every summary, few of which have a number.
    if not _number_pattern().search(plain(text)):
        return False
    if _states_unspaced(text):
        return True
    tokens = _tokens(text)
    for language in _languages():
        reader = _AgeReader(tokens, language)
        if reader.minor_ages():
            return True
    return False


def without_minor_age(text: str) -> str:
    """Return a text without the ages of people below eighteen.

    Empty if too little, or no sentence, would be left.
    """
    if not _number_pattern().search(plain(text)):
        return text
    rest = text
    for language in _languages():
        shorter = _without_ages(rest, language)
        if shorter is None:
            return ""
        rest = shorter
    if _states_unspaced(rest):
        return ""
    words_left = len(re.findall(r"\w+", rest))
    if rest != text and words_left < _MIN_WORDS_LEFT:
        return ""
    return rest


def _without_ages(text: str, language: _Language) -> str | None:
    """Return a text without the minors' ages in one language; None if no sentence is left."""
    # One age at a time: a cut moves the places of all tokens behind it.
    while True:
        reader = _AgeReader(_tokens(text), language)
        ages = reader.minor_ages()
        if not ages:
            return text
        shorter = reader.without(ages[0], text)
        if shorter is None:
            return None
        text = shorter


def _tokens(text: str) -> list[_Token]:
    """Return the words, numbers and marks of a text in order."""
    tokens = []
    for match in _TOKEN.finditer(text):
        token = _Token(plain(match[0]), match[0], *match.span())
        tokens.append(token)
    return tokens


class _AgeReader:
    """Reads the tokens of a text with the words of one language.

    Places are indices of tokens. One outside of the text has no word and is of no kind.
    """

    def __init__(self, tokens: Sequence[_Token], language: _Language) -> None:
        self._tokens = tokens
        self._language = language

    def minor_ages(self) -> list[_Age]:
        """Return the ages of people below eighteen in order."""
        ages = list(self._after_verbs())
        ages += self._before_verbs()
        ages += self._attributes()
        # As tuples: by where they begin, then by where they end.
        return sorted(ages)

    def without(self, age: _Age, text: str) -> str | None:
        """Return the text without an age; None if what is left would be no sentence."""
        if age.is_attribute:
            return self._cut(text, age.start, age.end)
        before = age.start - 1
        if self._is_a("relative", before):
            return self._without_relative_clause(age, text)
        joins_behind = self._is_a("and", age.end)
        if age.start == 0 and self._word(age.end) == ",":
            joins_behind = True
        if joins_behind:
            # "is 7 and plays chess": what joins goes with the age.
            return self._cut(text, age.start, age.end + 1)
        if self._is_a("and", before) or self._word(before) == ",":
            return self._cut(text, before, age.end)
        return None

    def _without_relative_clause(self, age: _Age, text: str) -> str | None:
        """Return the text without "who is 7"; None if that clause goes on behind the age."""
        relative = age.start - 1
        if self._is_a("and", age.end):
            return None
        comma = relative - 1
        if self._word(comma) != ",":
            return self._cut(text, relative, age.end)
        # Both commas go with ", who is 7,".
        end = age.end
        if self._word(end) == ",":
            end += 1
        return self._cut(text, comma, end)

    def _cut(
        self,
        text: str,
        start: int,
        end: int,
    ) -> str | None:
        """Return the text without the tokens from `start` to the one before `end`."""
        cut_start = self._tokens[start].start
        text_before = text[:cut_start].rstrip()
        text_behind = ""
        if end < len(self._tokens):
            text_behind = text[self._tokens[end].start :]
        # No space before a comma or a full stop.
        space = "" if text_behind[:1] in _ENDS else " "
        shorter = f"{text_before}{space}{text_behind}".strip()
        if shorter == text:
            return None
        return _ARTICLE_AN.sub(r"\1", shorter)

    def _word(self, place: int) -> str:
        """Return the folded word at a place; empty outside of the text."""
        if not 0 <= place < len(self._tokens):
            return ""
        return self._tokens[place].word

    def _is_a(self, kind: str, place: int) -> bool:
        return self._word(place) in self._language.words(kind)

    def _is_any(self, kinds: Iterable[str], place: int) -> bool:
        return any(self._is_a(kind, place) for kind in kinds)

    def _is_end(self, place: int) -> bool:
        return place >= len(self._tokens) or self._word(place) in _ENDS

    def _is_person(self, place: int) -> bool:
        word = self._word(place)
        if word.startswith("<"):
            return True
        if word == "somebody":
            return True
        return self._is_a("people", place)

    def _before_fillers(self, place: int) -> int:
        """Return the first place at or before this one that is no filler ("now", "only")."""
        while self._is_a("between", place):
            place -= 1
        return place

    def _after_verbs(self) -> Iterator[_Age]:
        """Yield the ages behind a verb: "is 15", "turned 16", "tiene 7 años"."""
        for verb, token in enumerate(self._tokens):
            if token.word not in self._language.verbs:
                continue
            number_place = verb + 1
            while self._is_a("between", number_place):
                number_place += 1
            end = self._age_end(number_place)
            if end is not None and self._is_of_person(verb, number_place, end):
                yield _Age(verb, end, is_attribute=False)

    def _before_verbs(self) -> Iterator[_Age]:
        """Yield the ages of three words before a verb: "15 Jahre alt ist"."""
        for start, token in enumerate(self._tokens):
            if self._language.number(token.word) is None:
                continue
            verb = self._age_end(start)
            if verb is None:
                continue
            if not self._is_a("be", verb):
                continue
            # A number and its unit alone before "is" are mostly no age: "5 Jahre ist das her".
            word_count = verb - start
            if word_count >= 3 and self._is_of_person(start, start, verb):
                yield _Age(start, verb + 1, is_attribute=False)

    def _age_end(self, start: int) -> int | None:
        """Return the place behind a minor's age that begins at a token; None if none does."""
        number = self._language.number(self._word(start))
        if number is None:
            return None
        unit = start + 1
        has_old = self._is_a("old", unit + 1)
        # "18 months old" is a minor's age; "6 months" alone is how long something takes.
        if self._is_a("baby", unit):
            return unit + 2 if has_old else None
        if number >= _ADULT:
            return None
        if self._is_a("unit", unit):
            return unit + 2 if has_old else unit + 1
        if self._language.needs_unit:
            return None
        if self._is_end(unit):
            return unit
        if self._is_a("behind", unit):
            return unit
        return None

    def _is_of_person(
        self,
        verb: int,
        number_place: int,
        end: int,
    ) -> bool:
        """Return whether an age is of the fact's subject, or of a person named before the verb."""
        bearer = self._bearer(verb)
        if bearer is not _Bearer.SUBJECT:
            return bearer is _Bearer.PERSON
        has_unit = end > number_place + 1
        if has_unit:
            return True
        # "is 2" of the subject is a score, a rank or a team.
        number_word = self._word(number_place)
        number = self._language.number(number_word) or 0
        return number >= _MIN_BARE_AGE

    def _bearer(self, verb: int) -> _Bearer:
        """Return of whom a verb speaks."""
        place = self._before_fillers(verb - 1)
        word = self._word(place)
        opens_sentence = place < 0 or word in _SENTENCE_ENDS
        if opens_sentence or self._is_a("and", place):
            return _Bearer.SUBJECT
        if self._is_a("thing", place):
            return _Bearer.THING
        is_relative = self._is_a("relative", place)
        refers_back = is_relative or word == "," or self._is_a("pronoun", place)
        if not refers_back:
            return self._noun_at(place)
        # "has a brother, he is 7": whatever the last noun is.
        noun = self._noun_before(place)
        if noun is not None:
            return noun
        return _Bearer.THING if is_relative else _Bearer.SUBJECT

    def _noun_before(self, place: int) -> _Bearer | None:
        """Return what the last noun before a place is; None if the sentence begins there."""
        place -= 1
        while self._word(place) == ",":
            place -= 1
        if place < 0:
            return None
        for earlier in range(place - _MAX_LOOK_BACK, place + 1):
            if self._is_a("determiner", earlier) or self._is_person(earlier):
                return self._noun_at(place)
        return None

    def _noun_at(self, place: int) -> _Bearer:
        """Return what the noun that ends at a place is: a person or a thing."""
        # Back over "Mia" and "called" to the noun that has the name: "a cat called Mia".
        while place > 0 and self._is_name(place):
            place -= 1
            while place > 0 and self._is_any(("naming", "and"), place):
                place -= 1
        for earlier in range(place, place - _MAX_BEFORE_NOUN - 1, -1):
            if self._is_person(earlier):
                return _Bearer.PERSON
            if self._is_a("determiner", earlier):
                return _Bearer.THING
        # A name at the beginning: "Mia is 7".
        if self._language.names_without_capitals or self._is_capitalized(place):
            return _Bearer.PERSON
        return _Bearer.THING

    def _is_capitalized(self, place: int) -> bool:
        written = self._tokens[place].written
        return written[:1].isupper()

    def _is_name(self, place: int) -> bool:
        """Return whether a token is behind "named", or has a capital and no determiner."""
        if self._is_a("naming", place - 1):
            return True
        if self._language.names_without_capitals:
            return False
        if not self._is_capitalized(place):
            return False
        return not self._is_a("determiner", place - 1)

    def _attributes(self) -> Iterator[_Age]:
        """Yield the ages beside a noun: "7-year-old daughter", "daughter aged 7", "Mia (7)"."""
        for place, token in enumerate(self._tokens):
            number = self._language.number(token.word)
            if number is None or number >= _ADULT:
                continue
            age = self._attribute_at(place)
            if age is not None:
                yield age

    def _attribute_at(self, number_place: int) -> _Age | None:
        """Return a person's age of which a number is part; None if there is none."""
        adjective_end = self._adjective_end(number_place)
        if adjective_end is not None:
            if not self._is_persons_adjective(number_place, adjective_end):
                return None
            return _Age(number_place, adjective_end, is_attribute=True)
        before = number_place - 1
        is_aged = self._is_a("aged", before)
        if is_aged and self._bearer(before) is not _Bearer.THING:
            end = self._age_end(number_place) or number_place + 1
            return _Age(before, end, is_attribute=True)
        return self._age_behind_mark(number_place)

    def _age_behind_mark(self, number_place: int) -> _Age | None:
        """Return the age in "Mia (7)" or "my son, 7,"; None if the number is something else."""
        before = number_place - 1
        mark = self._word(before)
        if mark not in {"(", ","}:
            return None
        # "Mia (7 cats)" is no age.
        if not self._is_end(number_place + 1):
            return None
        if not self._names_child_before(number_place):
            return None
        # The closing bracket goes with the opening one.
        end = number_place + 2 if mark == "(" else number_place + 1
        return _Age(before, end, is_attribute=True)

    def _names_child_before(self, place: int) -> bool:
        """Return whether a word for a child stands soon before a place."""
        earlier_places = range(place - _MAX_LOOK_BACK, place)
        return any(self._is_a("people", earlier) for earlier in earlier_places)

    def _adjective_end(self, number_place: int) -> int | None:
        """Return the place behind "7-year-old" or "7 year old"; None if it is no adjective."""
        unit = self._behind_hyphen(number_place)
        if not self._is_any(("unit", "baby"), unit):
            return None
        old = self._behind_hyphen(unit)
        return old + 1 if self._is_a("old", old) else None

    def _behind_hyphen(self, place: int) -> int:
        """Return the next place that has no hyphen."""
        place += 1
        while self._word(place) == "-":
            place += 1
        return place

    def _is_persons_adjective(self, start: int, end: int) -> bool:
        """Return whether "7-year-old" is of the subject ("is a 15-year-old gamer") or a child."""
        verb = self._before_fillers(start - 1)
        if verb < 0:
            return self._bearer(start) is not _Bearer.THING
        if self._is_a("be", verb):
            return self._bearer(verb) is not _Bearer.THING
        # Whom "7-year-old" describes comes next, perhaps behind one word: "7-year-old little girl".
        if self._is_a("people", end):
            return True
        if self._is_a("people", end + 1):
            return True
        # Without a noun behind it it is the noun itself: "has a 7-year-old and a dog".
        if self._is_end(end):
            return True
        return self._is_any(("naming", "and", "relative", "behind"), end)


# "an 8-year-old boy" becomes "an boy".
_ARTICLE_AN = re.compile(r"\b([Aa])n(?= [bcdfghjklmnpqrstvwxyz])")


# ── scripts without spaces ──────────────────────────────────────────────────────────────────


@cache
def _unspaced_age() -> re.Pattern[str]:
    """Return the pattern of an age below eighteen with its unit ("7歳")."""
    any_unit = "|".join(_unspaced_words("unit"))
    return re.compile(rf"(?<!\d)(?:\d|1[0-7])(?:{any_unit})")


def _states_unspaced(text: str) -> bool:
    """Return whether a text in such a script states an age with no thing named nearer to it."""
    if not UNSPACED.search(text):
        return False
    folded_text = plain(text)
    for match in _unspaced_age().finditer(folded_text):
        before = folded_text[: match.start()]
        person_place = _last_place("people", before)
        thing_place = _last_place("things", before)
        # Both are -1 where neither is named: then it is the subject's age.
        if person_place >= thing_place:
            return True
    return False


def _last_place(kind: str, text: str) -> int:
    """Return the place of the last word of a kind in a text; -1 if it has none."""
    places = map(text.rfind, _unspaced_words(kind))
    return max(places)


def _unspaced_words(kind: str) -> list[str]:
    """Return the words of a kind for the scripts without spaces."""
    listed: str = word_lists("ages_of_minors.toml")["unspaced"][kind]
    return listed.split()
