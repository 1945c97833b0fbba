"""What is never stored about people: a deterministic filter, not a request to a model.

Gives the same answer for the same text: the category that keeps it out, also behind look-alike letters, digits for
letters and words of lone letters.

- What has a shape decides by itself: payment cards, bank accounts and telephone numbers by check digits and lengths
  (dates, times, scores, version numbers and bare identifiers are none), e-mail and street addresses, account names.
- What is said in words is judged by text/classifier, which also gets the categories that text/sensitive_words finds:
  eleven languages. It misses what is only hinted at and refuses some harmless talk. A note too few is cheaper than a
  confidence kept. docs/PRIVACY.md has the rates.

The two libraries for numbers are imported with the first one that asks for them: most runs never see one.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import TYPE_CHECKING

from forgetmenot.text.classifier import LONGEST_TEXT, classifier, clauses
from forgetmenot.text.clean import LEET_WORD, skeleton, unleet
from forgetmenot.text.mentions import MENTION
from forgetmenot.text.sensitive_shapes import PATTERNS
from forgetmenot.text.sensitive_words import word_signs
from forgetmenot.text.words import stems

if TYPE_CHECKING:
    from phonenumbers import PhoneNumberMatch

_CARD = re.compile(r"(?<![\w.])(?:\d(?:[ -]?\d){12,18}|(?:0604|5[0678]\d\d|6\d{3})(?:[ -]?\d){8})(?!\w)")
_IBAN = re.compile(r"\b[a-z]{2} ?\d{2}(?: ?[a-z0-9]){11,30}\b")
_IBAN_DIGITS = 8
"""No country's account numbers have fewer; words in a row do."""

_NOT_A_PHONE = re.compile(
    r"(?<![\d./-])(?:\d{4}-\d\d-\d\d|(?:[0-2]?\d|3[01])[./](?:[0-2]?\d|3[01])[./]\d{2,4})(?![\d./-])"  # dates
    r"|\b\d{1,3}(?:[,.]\d{3})+\b(?![,.]\d)|\b\d{1,3}(?: 000){2,}\b"  # 1,234,567
    r"|\b[01]{4}(?: [01]{4})+\b"  # bits
    r"|\b(?:order|ticket|tracking|serial|model|invoice|case|reference|confirmation|lottery|bestell|isbn|build|version|patch"
    r"|seed|id|upc|ean|sku)[ -]?(?:number|nummer|no|nr|id)?s?\W{1,3}(?:(?:is|ist|was) )?[\d .-]+"
)
_ORNAMENTS = re.compile(r" ?[•·*_~|] ?")
_DIALLED = re.compile(r"\+|00?[1-9](?:\W*\d){8}")
"""A country code, or an area code and a whole number behind it."""
_FEWEST_DIGITS = 7
_MANY_DIGITS = re.compile(rf"(?:\d\D{{0,12}}){{{_FEWEST_DIGITS}}}")
# What people say next to a telephone number. After it (or before it), also a local number without its area counts.
_WORDS = """phone telephone cell mobile call ring text txt dial sms number digits num ph tel tlf whatsapp nummer handy
    festnetz telefon numero telefono telefone τηλέφωνο číslo szám"""
_TELEPHONE_WORD = re.compile(
    rf"(?<!\w)(?:{'|'.join(map(skeleton, _WORDS.split()))}|area code)(?!\w)"
    rf"|{'|'.join(map(skeleton, ['电话', '手机', '号码', '電話', '手機', '號碼']))}"
)
_NEAR = 30
"""Characters between such a word and the number."""
_REGIONS = """
    US GB DE FR ES IT NL PL RU BR MX AR CO PT SE NO DK FI AT CH BE IE AU NZ IN JP KR CN TW TR GR IL CZ HU RO UA ZA PH
    ID
"""
"""Whose ways of writing a number without its country code are known: a number with one is known from any country."""
_LENGTHS = "US GB DE NO BR"
"""Regions whose numbers have all lengths from seven digits to eleven."""
_TRIES = 6
"""Runs of digits looked at per region, right and wrong ones: a text of nothing but digits would cost seconds."""


def has_card(text: str) -> bool:
    """Whether a text carries a payment card's number (13 to 19 digits, 12 of Maestro, with a right check digit)."""
    found = _CARD.findall(text)
    if not found:
        return False
    from stdnum import luhn

    digits = [re.sub(r"\D", "", run) for run in found]
    return any(luhn.is_valid(run) and len(set(run)) > 1 for run in digits)


def has_account(text: str) -> bool:
    """Whether a text carries an international bank account number.

    Its country's length and kinds of characters and its check sum have to be right.
    """
    found = [run.replace(" ", "") for run in _IBAN.findall(text) if sum(map(str.isdigit, run)) >= _IBAN_DIGITS]
    if not found:
        return False
    from stdnum import iban

    return any(
        iban.is_valid(run[:length], check_country=False) for run in found for length in range(15, min(len(run), 34) + 1)
    )


def has_phone(text: str) -> bool:
    """Whether a text carries a telephone number.

    One that is grouped as its country groups them, or begins with + or 0, counts anywhere; any possible number counts
    next to a word such as "call". A bare run of digits by itself is an identifier.
    """
    rest = _ORNAMENTS.sub(" ", _NOT_A_PHONE.sub(" ; ", text))
    if not _MANY_DIGITS.search(rest):
        return False
    from phonenumbers import Leniency

    words = [found.span() for found in _TELEPHONE_WORD.finditer(rest)]
    if words or _DIALLED.search(rest):
        for match in _matches(rest, _LENGTHS, Leniency.POSSIBLE):
            near = any(start - _NEAR <= match.end and match.start <= end + _NEAR for start, end in words)
            if near or _DIALLED.match(match.raw_string):
                return True
    return any(
        match.raw_string.startswith("0") or not match.raw_string.isdecimal()
        for match in _matches(rest, _REGIONS, Leniency.STRICT_GROUPING)
    )


def _matches(text: str, regions: str, leniency: int) -> "Iterator[PhoneNumberMatch]":
    from phonenumbers import PhoneNumberMatcher

    for region in regions.split():
        for match in islice(PhoneNumberMatcher(text, region, leniency=leniency, max_tries=_TRIES), _TRIES):
            if sum(char.isdigit() for char in match.raw_string) >= _FEWEST_DIGITS:
                yield match


CATEGORIES = (
    "payment",
    "contact",
    "address",
    "real_name",
    "mood",
    "health",
    "faith",
    "politics",
    "sexuality",
    "minor_age",
)
"""The names for the settings, in the order in which shapes are looked for; words of one's own are "custom"."""

CUSTOM = "custom"
OVERLAP = 100
"""Characters that two parts of a long text have in common."""
REFUSED = 0.5
"""The share of all that is not allowed together from which a text is refused: docs/PRIVACY.md has the rates."""
CLAUSE_REFUSED = 0.75
"""The same of a clause, which tells less: chosen on sentences it was trained on, behind harmless ones."""

_LONE = re.compile(r"(?<!\w)(?:[a-z][ .*_-]){2,}[a-z](?!\w)")  # g a y
_AFTER_A = re.compile(r"(?<=\b[ai] )(?:[a-z][ .*_-]){2,}[a-z](?!\w)")  # is a g a y
_DIGIT_NAMES = """
    zero:0 one:1 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9 oh:0 o:0 hundred:00
    null:0 eins:1 zwei:2 zwo:2 drei:3 vier:4 funf:5 fuenf:5 sechs:6 sieben:7 acht:8 neun:9
    cero:0 uno:1 dos:2 tres:3 cuatro:4 cinco:5 seis:6 siete:7 ocho:8 nueve:9
    un:1 deux:2 trois:3 quatre:4 cinq:5 sept:7 huit:8 neuf:9
    due:2 tre:3 quattro:4 cinque:5 sei:6 sette:7 otto:8 nove:9 um:1 dois:2 quatro:4 sete:7 oito:8
    nul:0 een:1 twee:2 drie:3 vijf:5 zes:6 zeven:7 negen:9
    ten:10 eleven:11 twelve:12 twenty:20 thirty:30 forty:40 fifty:50 sixty:60 seventy:70 eighty:80 ninety:90
    diez:10 once:11 doce:12 treinta:30 cuarenta:40 cincuenta:50 sesenta:60 setenta:70 ochenta:80 noventa:90
    dix:10 onze:11 douze:12 vingt:20 trente:30 quarante:40 cinquante:50 soixante:60
    dez:10 doze:12 vinte:20 trinta:30 quarenta:40 cinquenta:50 sessenta:60 oitenta:80
"""
_DIGIT = dict(pair.split(":") for pair in _DIGIT_NAMES.split())
_DIGIT_NAME = "|".join(sorted(_DIGIT, key=len, reverse=True))
_NAMED_DIGITS = re.compile(
    rf"(?<![a-z\d.:])(?:double |triple )?(?:{_DIGIT_NAME}|\d)"
    rf"(?:[ ,-]{{0,3}}(?:(?:y|e|et) |double |triple )?(?:{_DIGIT_NAME}|\d)){{6,}}(?![a-z\d])"
)
_DIGIT_OR_NAME = re.compile(rf"(double |triple )?({_DIGIT_NAME}|\d+)")
_TIMES = {"": 1, "double ": 2, "triple ": 3}

_NUMBERS = {"payment": (has_card, has_account), "contact": (has_phone,)}


def sensitive_category(text: str, *, allow: AbstractSet[str] = frozenset(), extra: Iterable[str] = ()) -> str | None:
    """The category that keeps a text from being stored, or None.

    `allow` names categories that may be stored after all; `extra` are words or phrases that may not, in any
    inflection, whatever is allowed.
    """
    bare = MENTION.sub(" somebody ", text)
    own = [stemmed for phrase in extra if (stemmed := " ".join(stems(phrase)))]
    if own and any(f" {phrase} " in f" {' '.join(stems(bare))} " for phrase in own):
        return CUSTOM
    looks, *others = _readings(" ".join(skeleton(bare).replace("’", "'").split()))
    for name in CATEGORIES:
        finders: list[Callable[[str], object]] = [*_NUMBERS.get(name, ())]
        finders += [PATTERNS[name].search] if name in PATTERNS else []
        if name not in allow and any(found(reading) for reading in (looks, *others) for found in finders):
            return name
    worst, most = "", 0.0
    parts = {part: REFUSED for whole in (bare, *others) for part in _parts(whole)}
    # a text may be one clause of another reading: then the stricter bound of the whole text stays
    parts |= {part: CLAUSE_REFUSED for whole in list(parts) for part in clauses(whole) if part not in parts}
    for part, enough in parts.items():
        shares = classifier("sensitive").shares(part, word_signs(part))
        # summed over all categories: it may be sure that a text is sensitive and not of what kind
        asked = {name: share for name, share in shares.items() if name != "ok" and name not in allow}
        if (share := sum(asked.values()) - enough) > most:
            worst, most = max(asked, key=asked.__getitem__), share
    return worst or None


def _parts(text: str) -> Iterator[str]:
    """A text in parts that the classifier reads whole; what stands at a border is in both."""
    yield from (text[at : at + LONGEST_TEXT] for at in range(0, max(1, len(text) - OVERLAP), LONGEST_TEXT - OVERLAP))


def _readings(text: str) -> list[str]:
    """The text, and what it says to somebody who wants to understand: mostly the text alone."""
    found = {text: None}
    found |= dict.fromkeys(pattern.sub(_joined, text) for pattern in (_LONE, _AFTER_A))
    for reading in list(found):
        found[LEET_WORD.sub(lambda word: unleet(word[0]), reading)] = None
        found[LEET_WORD.sub(lambda word: unleet(word[0].replace("1", "i")), reading)] = None
    found[_NAMED_DIGITS.sub(_dialled, text)] = None
    return list(found)


def _joined(spelt: re.Match[str]) -> str:
    return re.sub(r"\W|_", "", spelt[0])


def _dialled(run: re.Match[str]) -> str:
    """A run of digits as one number: named ones ("oh one six") are a telephone's, lone ones ("0 1 6") may be."""
    parts = _DIGIT_OR_NAME.findall(run[0])
    named = any(not part.isdecimal() for _, part in parts)
    if not named and any(len(part) > 1 for _, part in parts):
        return run[0]
    digits = [_DIGIT.get(part, part) * _TIMES[times] for times, part in parts]
    joined = " ".join(digits) + " "
    joined = re.sub(r"\b([2-9])0 (?=[1-9] )", r"\1", joined)  # thirty four
    return "tel " * named + joined.replace(" ", "")
