"""Ages of people below eighteen: whether a text states one, and the text without it. Pure.

A cat, a car or a channel may be of any age. Whose age it is, the sentence says: what stands before the age is the
fact's own subject (a person), a word for a person, or any other noun. A name stays where only the age can be taken out.
"""

import re
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

from forgetmenot.text.clean import plain
from forgetmenot.text.words import UNSPACED

ADULT = 18
# Without a unit a smaller number is no age, unless it is said of a child.
_LEAST_BARE = 5
# A noun stands at most so many words behind its determiner ("their old grey laptop").
_MOST_BEFORE_NOUN = 3
# Tokens that are searched for the noun that "who" goes on about.
_LOOKED_BACK = 30
_TOKEN = re.compile(r"<@[^>]+>|\d+|[^\W\d_]+|[^\w\s'’]")
_ENDS = frozenset(",;.!?)")
_SENTENCE_ENDS = frozenset(".!?;")
_FEWEST_WORDS = 2


class _Token(NamedTuple):
    """A word, number or mark of a text: as it is compared, as it is written, and where it stands."""

    word: str
    written: str
    start: int
    end: int


class _Age(NamedTuple):
    """An age that a text states: its first token and the one behind its last.

    `verb`: the first token of what is said of its bearer, or None for "7-year-old", "(7)" and "aged 7".
    """

    first: int
    behind: int
    verb: int | None


class _Language:
    """The words of one language by what they are for."""

    def __init__(self, table: dict[str, Any]) -> None:
        self._words = {
            name: frozenset(plain(words).split())
            for name, words in table.items()
            if isinstance(words, str)
        }
        numbers = plain(table.get("numbers", "")).split()
        self._numbers = {word: number for number, word in enumerate(numbers)}
        self.needs_unit = bool(table.get("needs_unit"))
        self.names_without_capitals = bool(table.get("names_without_capitals"))

    def is_a(self, kind: str, token: _Token) -> bool:
        """Whether a token is of a kind."""
        return token.word in self._words.get(kind, frozenset())

    def number(self, token: _Token) -> int | None:
        """The number that a token is."""
        if token.word.isdecimal():
            return int(token.word[:4])
        return self._numbers.get(token.word)


@cache
def _table() -> dict[str, dict[str, Any]]:
    return tomllib.loads(files(__package__).joinpath("ages.toml").read_text("utf-8"))


@cache
def _languages() -> tuple[_Language, ...]:
    return tuple(_Language(table) for name, table in _table().items() if name != "unspaced")


@cache
def _number() -> re.Pattern[str]:
    """A digit, or a word for a number in one of the languages: without one no text states an age."""
    listed = {word for table in _table().values() for word in table.get("numbers", "").split()}
    return re.compile(rf"\d|\b(?:{'|'.join(sorted(map(plain, listed)))})\b")


def states_minor_age(text: str) -> bool:
    """Whether a text states the age of a person below eighteen."""
    if not _number().search(plain(text)):
        return False
    if _states_unspaced(text):
        return True
    tokens = _tokens(text)
    return any(_of_a_minor(tokens, language) for language in _languages())


def without_minor_age(text: str) -> str:
    """A text without the ages of people below eighteen; empty where too little, or no sentence, would be left."""
    if not _number().search(plain(text)):
        return text
    rest = text
    for language in _languages():
        ages = _of_a_minor(_tokens(rest), language)
        while ages:
            shorter = _cut(rest, _tokens(rest), ages[0], language)
            if shorter is None:
                return ""
            rest = shorter
            ages = _of_a_minor(_tokens(rest), language)
    if _states_unspaced(rest):
        return ""
    is_sentence = rest == text or len(re.findall(r"\w+", rest)) >= _FEWEST_WORDS
    return rest if is_sentence else ""


def _tokens(text: str) -> list[_Token]:
    return [
        _Token(plain(match[0]), match[0], match.start(), match.end())
        for match in _TOKEN.finditer(text)
    ]


def _of_a_minor(tokens: Sequence[_Token], language: _Language) -> list[_Age]:
    """The ages of people below eighteen, in order."""
    ages = (*_predicates(tokens, language), *_attributes(tokens, language))
    return sorted(ages)


def _predicates(tokens: Sequence[_Token], language: _Language) -> Iterator[_Age]:
    """The ages behind a verb, or before it: "is 15", "turned 16", "tiene 7 años", "15 Jahre alt ist"."""
    for at, token in enumerate(tokens):
        if not (language.is_a("be", token) or language.is_a("turn", token)):
            continue
        number_at = at + 1
        while number_at < len(tokens) and language.is_a("between", tokens[number_at]):
            number_at += 1
        behind = _behind_age(tokens, number_at, language)
        if behind is not None and _is_persons(tokens, at, number_at, behind, language):
            yield _Age(at, behind, at)
    for at in range(len(tokens)):
        behind = _behind_age(tokens, at, language)
        if behind is None or behind - at < 3 or behind >= len(tokens):
            continue
        is_verb_last = language.is_a("be", tokens[behind])
        if is_verb_last and _is_persons(tokens, at, at, behind, language):
            yield _Age(at, behind + 1, at)


def _behind_age(tokens: Sequence[_Token], at: int, language: _Language) -> int | None:
    """The place behind an age below eighteen that begins at a token; None if there is none."""
    number = language.number(tokens[at]) if at < len(tokens) else None
    if number is None:
        return None
    behind = at + 1
    if behind < len(tokens) and language.is_a("baby", tokens[behind]):
        is_old = behind + 1 < len(tokens) and language.is_a("old", tokens[behind + 1])
        return behind + 2 if is_old else None
    if number >= ADULT:
        return None
    if behind < len(tokens) and language.is_a("unit", tokens[behind]):
        behind += 1
        is_old = behind < len(tokens) and language.is_a("old", tokens[behind])
        return behind + 1 if is_old else behind
    if language.needs_unit:
        return None
    if behind == len(tokens) or tokens[behind].word in _ENDS:
        return behind
    return behind if language.is_a("behind", tokens[behind]) else None


def _is_persons(
    tokens: Sequence[_Token], verb: int, number_at: int, behind: int, language: _Language
) -> bool:
    """Whether an age is said of a person: of the fact's subject, or of somebody named before the verb."""
    bearer = _bearer(tokens, verb, language)
    if bearer == "thing":
        return False
    is_bare = behind == number_at + 1
    number = language.number(tokens[number_at]) or 0
    return bearer == "named person" or not is_bare or number >= _LEAST_BARE


def _bearer(tokens: Sequence[_Token], verb: int, language: _Language) -> str:
    """Of whom a verb tells: "subject" (of the fact), "named person" or "thing"."""
    at = verb - 1
    while at >= 0 and language.is_a("between", tokens[at]):
        at -= 1
    if at < 0 or tokens[at].word in _SENTENCE_ENDS or language.is_a("and", tokens[at]):
        return "subject"
    if language.is_a("thing", tokens[at]):
        return "thing"
    goes_on = language.is_a("relative", tokens[at]) or tokens[at].word == ","
    if goes_on or language.is_a("pronoun", tokens[at]):
        noun = _noun_before(tokens, at, language)
        if noun is not None:
            return noun
        return "thing" if language.is_a("relative", tokens[at]) else "subject"
    return _noun_at(tokens, at, language)


def _noun_before(tokens: Sequence[_Token], at: int, language: _Language) -> str | None:
    """What the last noun before a relative word or a comma is; None if the sentence begins there."""
    at -= 1
    while at >= 0 and tokens[at].word == ",":
        at -= 1
    has_noun = any(
        language.is_a("determiner", token) or _is_person(token, language)
        for token in tokens[max(0, at - _LOOKED_BACK) : at + 1]
    )
    return _noun_at(tokens, at, language) if at >= 0 and has_noun else None


def _is_person(token: _Token, language: _Language) -> bool:
    return language.is_a("people", token) or token.word[0] == "<" or token.word == "somebody"


def _noun_at(tokens: Sequence[_Token], at: int, language: _Language) -> str:
    """What the noun that ends at a token is: "named person" or "thing"."""
    while at > 0 and _is_name(tokens, at, language):
        at -= 1
        while at > 0 and (language.is_a("naming", tokens[at]) or language.is_a("and", tokens[at])):
            at -= 1
    for place in range(at, max(-1, at - _MOST_BEFORE_NOUN - 1), -1):
        if _is_person(tokens[place], language):
            return "named person"
        if language.is_a("determiner", tokens[place]):
            return "thing"
    # a name at the beginning: "Mia is 7"
    may_be_name = tokens[at].written[:1].isupper() or language.names_without_capitals
    return "named person" if may_be_name else "thing"


def _is_name(tokens: Sequence[_Token], at: int, language: _Language) -> bool:
    """Whether a token is a name: behind "named", or with a capital and no determiner before it."""
    before = tokens[at - 1]
    if language.is_a("naming", before):
        return True
    if language.names_without_capitals or not tokens[at].written[:1].isupper():
        return False
    return not language.is_a("determiner", before)


def _attributes(tokens: Sequence[_Token], language: _Language) -> Iterator[_Age]:
    """The ages beside a noun: "7-year-old daughter", "daughter aged 7", "Mia (7)"."""
    for at, token in enumerate(tokens):
        number = language.number(token)
        if number is None or number >= ADULT:
            continue
        behind = _behind_adjective(tokens, at, language)
        if behind is not None:
            if _is_persons_adjective(tokens, at, behind, language):
                yield _Age(at, behind, None)
            continue
        before = tokens[at - 1] if at else None
        after = tokens[at + 1].word if at + 1 < len(tokens) else "."
        if before is None:
            continue
        if language.is_a("aged", before) and _bearer(tokens, at - 1, language) != "thing":
            behind = _behind_age(tokens, at, language) or at + 1
            yield _Age(at - 1, behind, None)
        elif before.word in "(," and after in _ENDS and _names_child(tokens, at, language):
            yield _Age(at - 1, at + 2 if before.word == "(" else at + 1, None)


def _names_child(tokens: Sequence[_Token], at: int, language: _Language) -> bool:
    before = tokens[max(0, at - _LOOKED_BACK) : at]
    return any(language.is_a("people", token) for token in before)


def _behind_adjective(tokens: Sequence[_Token], at: int, language: _Language) -> int | None:
    """The place behind "7-year-old" or "7 year old"; None if it is none."""
    words = [
        index for index in range(at + 1, min(at + 5, len(tokens))) if tokens[index].word != "-"
    ]
    if len(words) < 2:
        return None
    unit = tokens[words[0]]
    is_unit = language.is_a("unit", unit) or language.is_a("baby", unit)
    return words[1] + 1 if is_unit and language.is_a("old", tokens[words[1]]) else None


def _is_persons_adjective(
    tokens: Sequence[_Token], at: int, behind: int, language: _Language
) -> bool:
    """Whether "7-year-old" is said of a person: of the subject ("is a 15-year-old gamer"), or of a child."""
    verb = at - 1
    while verb >= 0 and language.is_a("between", tokens[verb]):
        verb -= 1
    if verb < 0 or language.is_a("be", tokens[verb]):
        return _bearer(tokens, verb if verb >= 0 else at, language) != "thing"
    if behind == len(tokens) or tokens[behind].word in _ENDS:
        return True
    nouns = tokens[behind : behind + 2]
    if any(language.is_a("people", token) for token in nouns):
        return True
    return any(
        language.is_a(kind, tokens[behind]) for kind in ("naming", "and", "relative", "behind")
    )


def _cut(text: str, tokens: Sequence[_Token], age: _Age, language: _Language) -> str | None:
    """The text without an age; None where what is left would be no sentence."""
    first = age.first
    behind = age.behind
    follows = tokens[behind] if behind < len(tokens) else None
    goes_on = follows is not None and language.is_a("and", follows)
    if age.verb is None:
        return _joined(text, tokens, first, behind)
    before = tokens[first - 1] if first else None
    if before is not None and language.is_a("relative", before):
        if goes_on:
            return None
        has_comma = first > 1 and tokens[first - 2].word == ","
        if has_comma and follows is not None and follows.word == ",":
            behind += 1
        return _joined(text, tokens, first - 2 if has_comma else first - 1, behind)
    if goes_on or (follows is not None and follows.word == "," and first == 0):
        return _joined(text, tokens, first, behind + 1)
    if before is not None and (language.is_a("and", before) or before.word == ","):
        return _joined(text, tokens, first - 1, behind)
    return None


_ARTICLE = re.compile(r"\b([Aa])n(?= [bcdfghjklmnpqrstvwxyz])")


def _joined(text: str, tokens: Sequence[_Token], first: int, behind: int) -> str | None:
    """The text without the tokens from `first` to the one before `behind`."""
    left = text[: tokens[first].start].rstrip()
    right = text[tokens[behind].start :] if behind < len(tokens) else ""
    space = "" if right[:1] in ("", *_ENDS) else " "
    joined = f"{left}{space}{right}".strip()
    return _ARTICLE.sub(r"\1", joined) if joined != text else None


# ── scripts without spaces ──────────────────────────────────────────────────────────────────


@cache
def _unspaced() -> tuple[re.Pattern[str], tuple[str, ...], tuple[str, ...]]:
    table = _table()["unspaced"]
    age = re.compile(rf"(?<!\d)(?:\d|1[0-7])(?:{'|'.join(table['unit'].split())})")
    return age, tuple(table["people"].split()), tuple(table["things"].split())


def _states_unspaced(text: str) -> bool:
    if not UNSPACED.search(text):
        return False
    age, people, things = _unspaced()
    for match in age.finditer(plain(text)):
        before = plain(text)[: match.start()]
        last_person = max(before.rfind(word) for word in people)
        last_thing = max(before.rfind(word) for word in things)
        if last_person >= last_thing:
            return True
    return False
