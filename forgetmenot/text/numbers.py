"""Numbers that belong to a person: payment cards, bank accounts, telephones, recognised by shape and check digits.

Dates, times, scores, version numbers and bare identifiers are none. Texts come in lower case, as `skeleton` makes them.
The two libraries are imported with the first number that asks for them: most runs never see one.
"""

import re
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from forgetmenot.text.lookalikes import skeleton

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
_WORDS = """
    phone telephone cell cellphone mobile landline fax call ring text dial sms number digits num ph tel whatsapp
    signal viber reach answering messages nummer telefonnummer handynummer handy telefon anrufen anruf festnetz
    numéro téléphone appelle appeler portable número teléfono telefono móvil llámame llama celular telefone liga zap
    numero chiama chiamami cellulare bel mobiel numer zadzwoń dzwoń номер звони тел телефон mobil ringa puhelin
    puhelinnumero txt tlf cel wsp reached soita numara numaram ara τηλ τηλέφωνο číslo zavolej szám hívj
"""
_CJK_WORDS = "電話 携帯 전화 번호 手机 电话 号码 手機 號碼"
_TELEPHONE_WORD = re.compile(
    rf"(?<!\w)(?:{'|'.join(re.escape(skeleton(word)) for word in _WORDS.split())}|area code)(?!\w)"
    rf"|{'|'.join(skeleton(word) for word in _CJK_WORDS.split())}"
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
