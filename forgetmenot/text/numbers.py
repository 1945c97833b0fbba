"""Numbers that belong to a person: payment cards, bank accounts, telephones, told by their shape and check digits.

Promises not to take times, dates, scores with separators or version numbers for one. A bare run of digits is a
telephone number only where it is written like one.
"""

import re

_CARD = re.compile(r"(?<![\w.])\d(?:[ -]?\d){12,18}(?![\w])")
_IBAN = re.compile(r"\b[a-z]{2}\d{2}(?: ?[a-z0-9]){11,30}\b")
_DATE = re.compile(r"\b\d{4}-\d\d-\d\d\b|\b\d\d?[./]\d\d?[./]\d{2,4}\b")
_GROUPED = re.compile(r"\b\d{1,3}(?:[,.]\d{3})+\b(?![,.]\d)")
_PHONE = re.compile(
    r"(?<![\w.:#])(?:\+\d[\d ()./-]{7,18}\d|\(\d{3}\) ?\d{3}[ .-]?\d{4}|\d{3}[ .-]\d{3}[ .-]\d{4}"
    r"|0\d{2,4}[ /-]?\d{3,4}[ -]?\d{3,5})(?![\w:])"
)
_SPOKEN = re.compile(r"\b(?:phone|cell|mobile|call|text|number|whatsapp|sms|tel)\b\D{0,20}(?:\d[ .()/-]?){7,15}(?!\w)")


def has_card(text: str) -> bool:
    """Whether a text carries a payment card's number (13 to 19 digits with a right check digit)."""
    return any(_luhn(re.sub(r"\D", "", found[0])) for found in _CARD.finditer(text))


def _luhn(digits: str) -> bool:
    doubled = (int(d) * (1 + i % 2) for i, d in enumerate(reversed(digits)))
    return sum(value - 9 if value > 9 else value for value in doubled) % 10 == 0 and len(set(digits)) > 1


def has_account(text: str) -> bool:
    """Whether a text in lower case carries an international bank account number with a right check sum."""
    return any(_mod97(found[0].replace(" ", "")) for found in _IBAN.finditer(text))


def _mod97(iban: str) -> bool:
    """Whether some start of this run of letters and digits is a valid account number."""
    return any(_remainder(iban[:length]) == 1 for length in range(15, min(len(iban), 34) + 1))


def _remainder(iban: str) -> int:
    return int("".join(str(int(char, 36)) for char in iban[4:] + iban[:4])) % 97


def has_phone(text: str) -> bool:
    """Whether a text in lower case carries something written like a telephone number."""
    rest = _GROUPED.sub(" ", _DATE.sub(" ", text))
    return _PHONE.search(rest) is not None or _SPOKEN.search(rest) is not None
