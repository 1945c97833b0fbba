"""What is never stored about people: a deterministic filter behind a model that is told to leave it out.

It refuses statements, not words. A text is refused when it

- holds the datum itself, known by its shape: numbers of cards, bank accounts and telephones by check digits and lengths
  (dates, times, scores, versions and bare identifiers are none), e-mail and street addresses, account names; or
- says that somebody is, has or believes something: a word of sensitive.toml behind a predicate of its language ("was
  diagnosed with" … "asthma"), with no negation, wish, question or preposition between, and not of a cat or a game.

Look-alike letters, digits for letters and words of lone letters hide nothing. What is only hinted at is missed:
docs/PRIVACY.md has the rates. The two libraries for numbers are imported with the first text that may hold one.
"""

import re
import tomllib
from collections.abc import Container, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from importlib.resources import files
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, NamedTuple

from forgetmenot.text.ages import states_minor_age
from forgetmenot.text.clean import LEET_WORD, fold_word, plain, skeleton, unleet
from forgetmenot.text.mentions import MENTION
from forgetmenot.text.words import UNSPACED, stems

if TYPE_CHECKING:
    from phonenumbers import PhoneNumberMatch

# The names for the settings; words of one's own are "custom".
CATEGORIES = (
    "payment",
    "contact",
    "address",
    "real_name",
    "health",
    "faith",
    "politics",
    "sexuality",
    "minor_age",
)
# Letters that are looked at: more than any text that is stored has.
LONGEST = 6_000


def sensitive_category(
    text: str, *, allow: AbstractSet[str] = frozenset(), extra: Iterable[str] = ()
) -> str | None:
    """The category that keeps a text from being stored, or None.

    `allow` names categories that may be stored after all; `extra` are words or phrases that may not, in any
    inflection, whatever is allowed.
    """
    bare = MENTION.sub(" somebody ", text)
    own = [stemmed for phrase in extra if (stemmed := " ".join(stems(phrase)))]
    if own and any(f" {phrase} " in f" {' '.join(stems(bare))} " for phrase in own):
        return "custom"
    looks = " ".join(skeleton(bare).replace("’", "'").split())[:LONGEST]
    shaped = (name for reading in _readings(looks) for name in _shaped(reading))
    for name in chain(shaped, _statements(bare)):
        if name not in allow:
            return name
    is_aged = "minor_age" not in allow and states_minor_age(bare[:LONGEST])
    return "minor_age" if is_aged else None


def states_sensitive(text: str) -> bool:
    """Return whether a text says of somebody what is sensitive; numbers and addresses are not looked for."""
    return next(_statements(MENTION.sub(" somebody ", text)), None) is not None


def _statements(text: str) -> Iterator[str]:
    """Yield the categories of what a text states."""
    for reading in _readings(_as_read(text)[:LONGEST]):
        yield from _stated(reading)


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("sensitive.toml").read_text("utf-8"))


def _as_read(text: str) -> str:
    """Small letters without accents; words that only look Latin in Latin letters, other alphabets as they are."""
    return " ".join(map(fold_word, plain(text).split()))


# ── statements ────────────────────────────────────────────────────────────────────────────────

# Words between a predicate and what it says ("is a very devout old Catholic").
MOST_BETWEEN = 4
_AGES = frozenset(
    [*map(str, range(5, 18)), "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen"]
)
_CLAUSE_END = re.compile(r"(?:[,;!?()\[\]\"“”—–|/\n]|[.:](?!\d))+")
_TOKEN = re.compile(r"[^\W_]+")
_LONGEST_STEM = 16


class _Words:
    """Words and phrases of the table: "of_the" is two words, "kein*" has any ending, "*ing" any beginning."""

    def __init__(self, listed: str) -> None:
        every = [_as_read(word.replace("_", " ")) for word in listed.split()]
        self._whole = frozenset(every)
        self._begins = tuple(word[:-1] for word in every if word.endswith("*"))
        self._ends = tuple(word[1:] for word in every if word.startswith("*"))

    def __contains__(self, word: object) -> bool:
        return (
            word in self._whole
            or str(word).startswith(self._begins)
            or str(word).endswith(self._ends)
        )


class _Language:
    """What stands before or after the words of a language and makes a statement of them, and what prevents one."""

    def __init__(self, table: dict[str, Any]) -> None:
        self.stops, self.unsaid, self.things = (
            _Words(table[key]) for key in ("stops", "unsaid", "things")
        )
        self.before = {name: _Words(listed) for name, listed in table["before"].items()}
        self.after = {name: _Words(listed) for name, listed in table.get("after", {}).items()}


class _Phrase(NamedTuple):
    """A phrase of a category, and the name of the predicates that it needs ("says": it is a statement by itself)."""

    words: tuple[str, ...]
    category: str
    predicate: str
    language: _Language

    def is_stated(self, tokens: Sequence[str], at: int) -> bool:
        """Whether it stands at a place of a clause and is said of a person there: not denied, wished or asked."""
        end, language = at + len(self.words), self.language
        for listed, token in zip(self.words, tokens[at:end], strict=False):
            age = listed.startswith("#") and token.removesuffix(listed[1:]) in _AGES
            if not (
                age or token == listed or (listed.endswith("*") and token.startswith(listed[:-1]))
            ):
                return False
        if end > len(tokens):
            return False
        start = at if self.predicate == "says" else self._predicate_before(tokens, at)
        if start is None and _has_any(
            tokens[end : end + 3], language.after.get(self.predicate, ())
        ):
            start = at
        if start is None or _has_any(tokens[end : end + 1], language.things):
            return False
        before = tokens[max(0, start - 3) : start]
        return not _has_any(before, language.unsaid) and not _has_any(before[-1:], language.things)

    def _predicate_before(self, tokens: Sequence[str], at: int) -> int | None:
        predicates, between = self.language.before[self.predicate], at
        while True:
            starts = range(between - 1, max(between - 4, -1), -1)
            begun = next(
                (start for start in starts if " ".join(tokens[start:between]) in predicates), None
            )
            if begun is not None:
                return begun
            if between == 0:
                return 0 if "^" in predicates and at <= 1 else None
            between -= 1
            word = tokens[between]
            if (
                between < at - MOST_BETWEEN
                or word in self.language.stops
                or word in self.language.things
            ):
                return None


def _has_any(tokens: Iterable[str], words: Container[str]) -> bool:
    return any(token in words for token in tokens)


@cache
def _phrases() -> dict[str, list[_Phrase]]:
    """By their first word, as it is listed."""
    found: dict[str, list[_Phrase]] = {}
    for table in _table()["spaced"].values():
        language = _Language(table)
        listed = (
            (name, *row) for name in table.keys() & set(CATEGORIES) for row in table[name].items()
        )
        for category, predicate, phrases in listed:
            for words in (tuple(map(_as_read, phrase.split("_"))) for phrase in phrases.split()):
                found.setdefault(words[0], []).append(_Phrase(words, category, predicate, language))
    return found


@cache
def _phrases_anywhere() -> dict[str, re.Pattern[str]]:
    """The phrases of languages that do not part words, or not from their endings, by category."""
    ages = r"(?<!\d)(?:[5-9]|1[0-7])"
    listed = _table()["unspaced"].items()
    return {
        name: re.compile(_one_of(phrases).replace(r"\#", ages).replace("_", " "))
        for name, phrases in listed
    }


def _stated(text: str) -> Iterator[str]:
    """The categories that a text states something of."""
    if UNSPACED.search(text):
        yield from (name for name, phrases in _phrases_anywhere().items() if phrases.search(text))
    for clause in _CLAUSE_END.split(text):
        tokens = [*_TOKEN.findall(clause), "$"]
        for at, token in enumerate(tokens):
            begins = (f"{token[:size]}*" for size in range(1, min(len(token), _LONGEST_STEM) + 1))
            for first in (token, "#", *begins):
                phrases = _phrases().get(first, ())
                yield from (phrase.category for phrase in phrases if phrase.is_stated(tokens, at))


# ── shapes ────────────────────────────────────────────────────────────────────────────────────


def _shaped(text: str) -> Iterator[str]:
    """The categories of which a text holds a number, an address or an account.

    A payment card has 13 to 19 digits (12 of Maestro) with a right check digit; an international bank account number
    its length, its characters and its check sum.
    """
    cards = [re.sub(r"\D", "", run) for run in _shape("card").findall(text)]
    accounts = [
        run.replace(" ", "")
        for run in _shape("iban").findall(text)
        if len(re.findall(r"\d", run)) > 7
    ]
    payment = _shape("payment").search(text) is not None
    if not payment and (cards or accounts):
        from stdnum import iban, luhn

        payment = any(luhn.is_valid(run) and len(set(run)) > 1 for run in cards) or any(
            iban.is_valid(run[:length], check_country=False)
            for run in accounts
            for length in range(15, min(len(run), 34) + 1)
        )
    if payment:
        yield "payment"
    if has_phone(text) or _shape("contact").search(text):
        yield "contact"
    if _shape("address").search(text):
        yield "address"


@cache
def _shape(which: str) -> re.Pattern[str]:
    """A pattern of the table."""
    table = _table()["shapes"]
    words = table["words"] | {"digit_name": " ".join(sorted(_digits(), key=len, reverse=True))}
    parts = {name: _one_of(listed) for name, listed in words.items()} | table["parts"]
    pattern = "|".join(table["patterns"][which])
    while "%" in pattern:
        pattern = re.sub(r"%(\w+)%", lambda name: parts[name[1]], pattern)
    return re.compile(pattern)


def _one_of(words: str) -> str:
    return f"(?:{'|'.join(re.escape(skeleton(word)) for word in words.split())})"


_ORNAMENTS = re.compile(r" ?[•·*_~|] ?")
# A country code, or an area code and a whole number behind it.
_DIALLED = re.compile(r"\+|00?[1-9](?:\W*\d){8}")
_FEWEST_DIGITS = 7
_MANY_DIGITS = re.compile(rf"(?:\d\D{{0,12}}){{{_FEWEST_DIGITS}}}")
# Characters between a word such as "call" and the number.
_NEAR = 30
# Runs of digits looked at per region, right and wrong ones: a text of nothing but digits would cost seconds.
_TRIES = 6


def has_phone(text: str) -> bool:
    """Whether a text carries a telephone number.

    One that is grouped as its country groups them, or begins with + or 0, counts anywhere; any possible number counts
    next to a word such as "call". A bare run of digits by itself is an identifier.
    """
    rest = _ORNAMENTS.sub(" ", _shape("not_a_phone").sub(" ; ", text))
    if not _MANY_DIGITS.search(rest):
        return False
    from phonenumbers import Leniency

    words = [found.span() for found in _shape("telephone_word").finditer(rest)]
    if words or _DIALLED.search(rest):
        for match in _matches(rest, "any_length", Leniency.POSSIBLE):
            near = any(
                start - _NEAR <= match.end and match.start <= end + _NEAR for start, end in words
            )
            if near or _DIALLED.match(match.raw_string):
                return True
    return any(
        match.raw_string.startswith("0") or not match.raw_string.isdecimal()
        for match in _matches(rest, "own_groups", Leniency.STRICT_GROUPING)
    )


def _matches(text: str, regions: str, leniency: int) -> "Iterator[PhoneNumberMatch]":
    from phonenumbers import PhoneNumberMatcher

    for region in _table()["shapes"]["regions"][regions].split():
        for match in islice(
            PhoneNumberMatcher(text, region, leniency=leniency, max_tries=_TRIES), _TRIES
        ):
            if sum(char.isdigit() for char in match.raw_string) >= _FEWEST_DIGITS:
                yield match


# ── other readings ────────────────────────────────────────────────────────────────────────────

_LONE = re.compile(r"(?<!\w)(?:[a-z][ .*_-]){2,}[a-z](?!\w)")  # g a y
_AFTER_A = re.compile(r"(?<=\b[ai] )(?:[a-z][ .*_-]){2,}[a-z](?!\w)")  # is a g a y
_TIMES = {"": 1, "double ": 2, "triple ": 3}


def _readings(text: str) -> list[str]:
    """The text, and what it says to somebody who wants to understand: mostly the text alone."""
    found = [
        text,
        *(lone.sub(lambda word: re.sub(r"\W|_", "", word[0]), text) for lone in (_LONE, _AFTER_A)),
    ]
    for reading in dict.fromkeys(found):
        found.append(LEET_WORD.sub(lambda word: unleet(word[0]), reading))
        found.append(LEET_WORD.sub(lambda word: unleet(word[0].replace("1", "i")), reading))
    return list(dict.fromkeys([*found, _shape("dictated").sub(_dialled, text)]))


@cache
def _digits() -> dict[str, str]:
    """The digits of each word that stands for some."""
    return {
        word: digits
        for digits, words in _table()["shapes"]["digits"].items()
        for word in words.split()
    }


def _dialled(run: re.Match[str]) -> str:
    """A run of digits as one number: named ones ("oh one six") are a telephone's, lone ones ("0 1 6") may be."""
    parts = _shape("dictated_digit").findall(run[0])
    named = any(not part.isdecimal() for _, part in parts)
    if not named and any(len(part) > 1 for _, part in parts):
        return run[0]
    digits = "".join(_digits().get(part, part) * _TIMES[times] + " " for times, part in parts)
    return "tel " * named + re.sub(r"\b([2-9])0 (?=[1-9] )", r"\1", digits).replace(
        " ", ""
    )  # thirty four
