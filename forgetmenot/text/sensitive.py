"""What is never stored about people: rules behind a model that is asked to leave it out.

It refuses statements, not words. A text is refused if it

- has the datum itself, known by its shape: numbers of cards, bank accounts and telephones by check
  digits and lengths (dates, times, scores, versions and bare identifiers are none), e-mail and
  street addresses, account names; or
- says that somebody is, has or believes something: a word of sensitive.toml behind a predicate of
  its language ("was diagnosed with" … "asthma"), with no negation, wish, question or preposition
  between, and not of a cat or a game.

Look-alike letters, digits for letters and words of lone letters hide nothing. What is only hinted
at is missed: docs/PRIVACY.md has the rates. The two libraries for numbers are imported with the
first text that may have one. Pure.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from forgetmenot.text.ages_of_minors import states_minor_age
from forgetmenot.text.clean import LEET_WORD, fold_word, plain, skeleton, unleet
from forgetmenot.text.mentions import MENTION
from forgetmenot.text.tables import word_lists
from forgetmenot.text.words import UNSPACED, stems, text_cache

if TYPE_CHECKING:
    from phonenumbers import PhoneNumberMatch

# Their names in the settings. The streamer's own words are "custom".
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
# Letters that are read: more than any text that is stored has.
_MAX_READ = 6_000


def sensitive_category(
    text: str,
    *,
    allow: AbstractSet[str] = frozenset(),
    extra: Iterable[str] = (),
) -> str | None:
    """Return the category that keeps a text from being stored, or None.

    `allow` names categories that may be stored after all. `extra` are words or phrases that may
    not, in any inflection, whatever is allowed.
    """
    bare_text = MENTION.sub(" somebody ", text)
    if _has_any_phrase(bare_text, extra):
        return "custom"
    for category in _categories(bare_text):
        if category not in allow:
            return category
    return None


def states_sensitive(text: str) -> bool:
    """Return whether a text states something sensitive of somebody; numbers do not count."""
    return any(_statements(MENTION.sub(" somebody ", text)))


def _has_any_phrase(text: str, phrases: Iterable[str]) -> bool:
    """Return whether a text has one of these phrases, in any inflection."""
    stemmed_phrases = [_stemmed(phrase) for phrase in phrases]
    # Most streamers list none: then the text is not stemmed.
    if not any(stemmed_phrases):
        return False
    stemmed_text = _stemmed(text)
    return any(phrase and phrase in stemmed_text for phrase in stemmed_phrases)


def _stemmed(text: str) -> str:
    """Return the stems of a text, each between spaces; empty if it has no word."""
    text_stems = " ".join(stems(text))
    return f" {text_stems} " if text_stems else ""


def _categories(text: str) -> Iterator[str]:
    """Yield the categories of a text, which is read no further than they are asked for."""
    # A number may be written in any alphabet. Words are not folded so: real Cyrillic would turn
    # into nonsense.
    shown_text = skeleton(text).replace("’", "'")
    evenly_spaced = " ".join(shown_text.split())
    for reading in _readings(evenly_spaced[:_MAX_READ]):
        yield from _shaped(reading)
    yield from _statements(text)
    if states_minor_age(text[:_MAX_READ]):
        yield "minor_age"


def _statements(text: str) -> Iterator[str]:
    """Yield the categories of what a text states."""
    read_text = _as_read(text)[:_MAX_READ]
    for reading in _readings(read_text):
        yield from _stated(reading)


def _as_read(text: str) -> str:
    """Return a text in small letters without accents; only words that pose as Latin are folded."""
    plain_words = plain(text).split()
    return " ".join(map(fold_word, plain_words))


# ── statements ────────────────────────────────────────────────────────────────────────────────

# Words between a predicate and what it says ("is a very devout old Catholic").
_MAX_BETWEEN = 4
_MAX_PREDICATE = 3
# Words before a statement that may deny or wish it ("does not think he …").
_MAX_BEFORE = 3
# Words behind a phrase that may be its predicate.
_MAX_BEHIND = 3
_AGE_WORDS = "twelve thirteen fourteen fifteen sixteen seventeen"
_AGE_NUMBERS = map(str, range(5, 18))
_AGES = frozenset(_AGE_WORDS.split()).union(_AGE_NUMBERS)
_CLAUSE_END = re.compile(r"(?:[,;!?()\[\]\"“”—–|/\n]|[.:](?!\d))+")
_TOKEN = re.compile(r"[^\W_]+")
# What stands behind the last word of a clause, for phrases that count only there.
_END = "$"
_MAX_STEM = 16


class _Words:
    """Words and phrases of the table: "of_the" is two words, "kein*" has any ending."""

    def __init__(self, listed: str) -> None:
        whole_words = []
        beginnings = []
        endings = []
        for listed_word in listed.split():
            word = _as_read(listed_word.replace("_", " "))
            if word.endswith("*"):
                beginnings.append(word[:-1])
            elif word.startswith("*"):
                endings.append(word[1:])
            else:
                whole_words.append(word)
        self._whole_words = frozenset(whole_words)
        # As tuples: `startswith` and `endswith` take all of them in one call.
        self._beginnings = tuple(beginnings)
        self._endings = tuple(endings)

    def has(self, word: str) -> bool:
        """Return whether a word, or several with spaces, is listed."""
        if word in self._whole_words:
            return True
        if word.startswith(self._beginnings):
            return True
        return word.endswith(self._endings)

    def has_any(self, words: Iterable[str]) -> bool:
        """Return whether one of some words is listed."""
        return any(self.has(word) for word in words)


class _Language:
    """What makes a statement of the words of a language, before or behind them, or prevents one."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.stops = _Words(table["stops"])
        self.unsaid = _Words(table["unsaid"])
        self.things = _Words(table["things"])
        self.before = _predicates(table["before"])
        self.after = _predicates(table.get("after", {}))


def _predicates(table: Mapping[str, str]) -> dict[str, _Words]:
    """Return the predicates of a table by the names that the phrases have for them."""
    return {name: _Words(listed) for name, listed in table.items()}


class _Phrase(NamedTuple):
    """A phrase of a category, with the name of the predicates that make a statement of it.

    The predicate "says": the phrase is a statement by itself.
    """

    words: tuple[str, ...]
    category: str
    predicate: str
    language: _Language

    def is_stated(self, tokens: Sequence[str], start: int) -> bool:
        """Return whether it stands at a place of a clause and is said of a person there.

        It is not if it is denied, wished or asked, or said of a thing.
        """
        end = start + len(self.words)
        if not self._stands_at(tokens, start, end):
            return False
        statement_start = self._statement_start(tokens, start, end)
        if statement_start is None:
            return False
        first_before = max(0, statement_start - _MAX_BEFORE)
        before = tokens[first_before:statement_start]
        if self.language.unsaid.has_any(before):
            return False
        things = self.language.things
        if things.has_any(before[-1:]):
            return False
        return not things.has_any(tokens[end : end + 1])

    def _stands_at(
        self,
        tokens: Sequence[str],
        start: int,
        end: int,
    ) -> bool:
        """Return whether the tokens from `start` to the one before `end` are its words."""
        if end > len(tokens):
            return False
        return all(map(_is_listed_word, tokens[start:end], self.words))

    def _statement_start(
        self,
        tokens: Sequence[str],
        start: int,
        end: int,
    ) -> int | None:
        """Return where the statement begins that the phrase ends; None if it is no statement."""
        if self.predicate == "says":
            return start
        predicate_start = self._predicate_before(tokens, start)
        if predicate_start is not None:
            return predicate_start
        # "asthma is what she has": some languages say it behind the phrase.
        predicates_behind = self.language.after.get(self.predicate)
        if predicates_behind is None:
            return None
        behind = tokens[end : end + _MAX_BEHIND]
        return start if predicates_behind.has_any(behind) else None

    def _predicate_before(self, tokens: Sequence[str], start: int) -> int | None:
        """Return where the nearest predicate before a phrase begins; None if there is none."""
        predicates = self.language.before[self.predicate]
        end = start
        while True:
            predicate_start = _start_of_predicate(tokens, end, predicates)
            if predicate_start is not None:
                return predicate_start
            if end == 0:
                # "^": the phrase may open the clause ("diabetic since May").
                may_open_clause = start <= 1 and predicates.has("^")
                return 0 if may_open_clause else None
            end -= 1
            if end < start - _MAX_BETWEEN:
                return None
            # "has a friend with asthma"
            if self.language.stops.has(tokens[end]):
                return None
            # "has a cat with diabetes"
            if self.language.things.has(tokens[end]):
                return None


def _is_listed_word(token: str, listed_word: str) -> bool:
    """Return whether a token is a word of the table, which may stand for an age or a beginning."""
    if token == listed_word:
        return True
    # "#" is an age, "#jahrig" an age with an ending.
    if listed_word.startswith("#"):
        ending = listed_word[1:]
        if token.removesuffix(ending) in _AGES:
            return True
    if listed_word.endswith("*"):
        return token.startswith(listed_word[:-1])
    return False


def _start_of_predicate(
    tokens: Sequence[str],
    end: int,
    predicates: _Words,
) -> int | None:
    """Return where a predicate begins whose last word is the one before `end`; None if none."""
    first_start = max(end - _MAX_PREDICATE, 0)
    for start in range(end - 1, first_start - 1, -1):
        predicate = " ".join(tokens[start:end])
        if predicates.has(predicate):
            return start
    return None


@cache
def _phrases() -> dict[str, list[_Phrase]]:
    """Return the phrases by their first word as it is listed, in the order of the categories."""
    phrases = defaultdict[str, list[_Phrase]](list)
    for table in word_lists("sensitive.toml")["spaced"].values():
        language = _Language(table)
        for category in CATEGORIES:
            phrases_by_predicate = table.get(category, {})
            for predicate, listed in phrases_by_predicate.items():
                for listed_phrase in listed.split():
                    listed_words = listed_phrase.split("_")
                    words = tuple(map(_as_read, listed_words))
                    phrase = _Phrase(words, category, predicate, language)
                    phrases[words[0]].append(phrase)
    return dict(phrases)


@cache
def _phrases_anywhere() -> dict[str, re.Pattern[str]]:
    """Return the phrases of languages that do not part words, by category."""
    age = r"(?<!\d)(?:[5-9]|1[0-7])"
    patterns = {}
    phrases_of = word_lists("sensitive.toml")["unspaced"]
    for category, phrases in phrases_of.items():
        pattern = _one_of(phrases)
        pattern = pattern.replace(r"\#", age).replace("_", " ")
        patterns[category] = re.compile(pattern)
    return patterns


def _stated(text: str) -> Iterator[str]:
    """Yield the categories of which a text states something."""
    if UNSPACED.search(text):
        for category, pattern in _phrases_anywhere().items():
            if pattern.search(text):
                yield category
    for clause in _CLAUSE_END.split(text):
        tokens = _TOKEN.findall(clause)
        tokens.append(_END)
        for start, token in enumerate(tokens):
            for phrase in _phrases_of(token):
                if phrase.is_stated(tokens, start):
                    yield phrase.category


@text_cache(8_192)
def _phrases_of(token: str) -> tuple[_Phrase, ...]:
    """Return the phrases that may begin with a word: by the whole of it, an age, or a stem."""
    first_words = [token]
    if token in _AGES:
        first_words.append("#")
    max_length = min(len(token), _MAX_STEM)
    for length in range(1, max_length + 1):
        first_words.append(f"{token[:length]}*")
    phrases = _phrases()
    may_begin: list[_Phrase] = []
    for first_word in first_words:
        may_begin += phrases.get(first_word, ())
    return tuple(may_begin)


# ── shapes ────────────────────────────────────────────────────────────────────────────────────

_DIGIT = re.compile(r"\d")
# Of a number of a telephone; numbers of accounts and cards have more.
_MIN_DIGITS = 7
_MIN_IBAN_DIGITS = 8
_MIN_IBAN = 15
_MAX_IBAN = 34


def _shaped(text: str) -> Iterator[str]:
    """Yield the categories of which a text has a number, an address or an account."""
    # Most texts have no digits; then nothing that is made of them is looked for.
    digit_count = len(_DIGIT.findall(text))
    may_have_number = digit_count >= _MIN_DIGITS
    if _has_shape("payment", text) or (may_have_number and _has_account(text)):
        yield "payment"
    # The shape first: numbers of telephones take by far the longest to read.
    if _has_shape("contact", text) or (may_have_number and _has_phone(text)):
        yield "contact"
    has_address = _has_shape("address", text)
    if not has_address and digit_count:
        has_address = _has_shape("address_with_digit", text)
    if has_address:
        yield "address"


def _has_shape(name: str, text: str) -> bool:
    """Return whether a pattern of the table is in a text."""
    return _shape(name).search(text) is not None


def _has_account(text: str) -> bool:
    """Return whether a text has the number of a bank account or of a payment card."""
    digit_runs = _shape("card").findall(text)
    if any(_is_card(run) for run in digit_runs):
        return True
    account_runs = _shape("iban").findall(text)
    return any(_is_account(run) for run in account_runs)


def _is_card(run: str) -> bool:
    """Return whether a run of 12 to 19 digits is a card's: by its check digit."""
    from stdnum import luhn

    digits = re.sub(r"\D", "", run)
    # Zeros alone have a right check digit, too.
    if len(set(digits)) == 1:
        return False
    return luhn.is_valid(digits)


def _is_account(run: str) -> bool:
    """Return whether a run begins with an international account number: by its check sum."""
    if len(re.findall(r"\d", run)) < _MIN_IBAN_DIGITS:
        return False
    from stdnum import iban

    characters = run.replace(" ", "")
    max_length = min(len(characters), _MAX_IBAN)
    # Nothing shows where the number ends: the words behind it stand in the run as well.
    beginnings = [characters[:length] for length in range(_MIN_IBAN, max_length + 1)]
    # By the check sum alone: the library does not know the form of every country.
    return any(iban.is_valid(number, check_country=False) for number in beginnings)


def _shapes() -> dict[str, Any]:
    """Return the tables of what is known by its shape."""
    shapes: dict[str, Any] = word_lists("sensitive.toml")["shapes"]
    return shapes


@cache
def _shape(name: str) -> re.Pattern[str]:
    """Return a pattern of the table, with its parts ("%word%") put in."""
    parts = _parts_of_shapes()

    def part_named(place: re.Match[str]) -> str:
        return parts[place[1]]

    pattern = "|".join(_shapes()["patterns"][name])
    # Again and again, because parts have parts.
    while "%" in pattern:
        pattern = re.sub(r"%(\w+)%", part_named, pattern)
    return re.compile(pattern)


@cache
def _parts_of_shapes() -> dict[str, str]:
    """Return the patterns that may stand in others, by their names."""
    parts: dict[str, str] = dict(_shapes()["parts"])
    for name, listed in _shapes()["words"].items():
        parts[name] = _one_of(listed)
    # A pattern takes the first that fits, and "four" begins "fourteen".
    longest_first = sorted(_digits(), key=len, reverse=True)
    parts["digit_name"] = _one_of(" ".join(longest_first))
    return parts


def _one_of(words: str) -> str:
    """Return a pattern of any of these words, as `skeleton` gives them."""
    looks = map(skeleton, words.split())
    any_word = "|".join(map(re.escape, looks))
    return f"(?:{any_word})"


_ORNAMENTS = re.compile(r" ?[•·*_~|] ?")
# A country code, or an area code and a whole number behind it.
_DIALLED = re.compile(r"\+|00?[1-9](?:\W*\d){8}")
_MANY_DIGITS = re.compile(rf"(?:\d\D{{0,12}}){{{_MIN_DIGITS}}}")
# Characters between a word such as "call" and the number.
_NEAR = 30
# Runs of digits that are tried per region: a text of nothing but digits would cost seconds.
_MAX_TRIES = 6


def _has_phone(text: str) -> bool:
    """Return whether a text has a telephone number.

    One that is grouped as its country groups them, or begins with + or 0, counts anywhere. Any
    possible number counts near a word such as "call". A bare run of digits is an identifier.
    """
    without_others = _shape("not_a_phone").sub(" ; ", text)
    bare_text = _ORNAMENTS.sub(" ", without_others)
    if not _MANY_DIGITS.search(bare_text):
        return False
    return _has_dialled_number(bare_text) or _has_grouped_number(bare_text)


def _has_dialled_number(text: str) -> bool:
    """Return whether a possible number has a dialling code, or stands near a telephone word."""
    from phonenumbers import Leniency

    telephone_words = list(_shape("telephone_word").finditer(text))
    if not telephone_words and not _DIALLED.search(text):
        return False
    for number in _phone_numbers(text, "any_length", Leniency.POSSIBLE):
        if _DIALLED.match(number.raw_string):
            return True
        if any(_is_near(number, word) for word in telephone_words):
            return True
    return False


def _is_near(number: "PhoneNumberMatch", word: re.Match[str]) -> bool:
    """Return whether a number stands near a word, on either side of it."""
    is_far_before = number.end < word.start() - _NEAR
    is_far_behind = number.start > word.end() + _NEAR
    return not is_far_before and not is_far_behind


def _has_grouped_number(text: str) -> bool:
    """Return whether a number begins with 0 or is grouped as its country does it."""
    from phonenumbers import Leniency

    for number in _phone_numbers(text, "own_groups", Leniency.STRICT_GROUPING):
        written = number.raw_string
        is_grouped = not written.isdecimal()
        if is_grouped or written.startswith("0"):
            return True
    return False


def _phone_numbers(
    text: str,
    regions: str,
    leniency: int,
) -> "Iterator[PhoneNumberMatch]":
    """Yield the numbers of a text that have seven digits, as the regions of a list write them."""
    from phonenumbers import PhoneNumberMatcher

    listed_regions = _shapes()["regions"][regions]
    for region in listed_regions.split():
        matcher = PhoneNumberMatcher(
            text, region, leniency=leniency, max_tries=_MAX_TRIES
        )
        for number in islice(matcher, _MAX_TRIES):
            digit_count = len(_DIGIT.findall(number.raw_string))
            if digit_count >= _MIN_DIGITS:
                yield number


# ── other readings ────────────────────────────────────────────────────────────────────────────

# g a y
_LONE_LETTERS = re.compile(r"(?<!\w)(?:[a-z][ .*_-]){2,}[a-z](?!\w)")
# is a g a y
_LONE_LETTERS_AFTER_A = re.compile(r"(?<=\b[ai] )(?:[a-z][ .*_-]){2,}[a-z](?!\w)")
_TIMES = {"": 1, "double ": 2, "triple ": 3}


def _readings(text: str) -> list[str]:
    """Return the text, and how a person would read it: mostly the text alone."""
    spelt_out = [
        text,
        _LONE_LETTERS.sub(_joined_letters, text),
        _LONE_LETTERS_AFTER_A.sub(_joined_letters, text),
    ]
    readings = list(spelt_out)
    for reading in dict.fromkeys(spelt_out):
        # A 1 poses as an l or as an i.
        readings.append(LEET_WORD.sub(_unleet_l, reading))
        readings.append(LEET_WORD.sub(_unleet_i, reading))
    readings.append(_shape("dictated").sub(_dialled, text))
    return list(dict.fromkeys(readings))


def _unleet_l(word: re.Match[str]) -> str:
    """Return a word with letters for its digits and signs; a 1 is an l."""
    return unleet(word[0])


def _unleet_i(word: re.Match[str]) -> str:
    """Return a word with letters for its digits and signs; a 1 is an i."""
    return unleet(word[0].replace("1", "i"))


def _joined_letters(lone_letters: re.Match[str]) -> str:
    """Return lone letters as a word: "g a y" is "gay"."""
    return re.sub(r"\W|_", "", lone_letters[0])


@cache
def _digits() -> dict[str, str]:
    """Return the digits for each word that stands for some."""
    digits_of: dict[str, str] = {}
    for digits, words in _shapes()["digits"].items():
        for word in words.split():
            digits_of[word] = digits
    return digits_of


def _dialled(run: re.Match[str]) -> str:
    """Return a run of digits as one number.

    Named ones ("oh one six") are a telephone's. Lone ones ("0 1 6") may be.
    """
    is_named = False
    has_long_part = False
    spaced_digits = ""
    parts = _shape("dictated_digit").findall(run[0])
    for times, part in parts:
        if not part.isdecimal():
            is_named = True
        if len(part) > 1:
            has_long_part = True
        digits = _digits().get(part, part)
        spaced_digits += digits * _TIMES[times] + " "
    # "2019 12 24" is a date, or a score.
    if has_long_part and not is_named:
        return run[0]
    # "thirty four" is 34.
    joined_tens = re.sub(r"\b([2-9])0 (?=[1-9] )", r"\1", spaced_digits)
    number = joined_tens.replace(" ", "")
    return f"tel {number}" if is_named else number
