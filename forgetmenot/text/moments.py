"""Words for a moment that are true on one day only: "last week", "yesterday". Pure.

Promises that a text without them says the same but for when. Knows English.
"""

import re

from forgetmenot.text.clean import clean

_DAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_SPAN = rf"(?:night|week|weekend|month|year|spring|summer|autumn|fall|winter|{_DAY})"
_COUNT = r"(?:an?|one|two|three|four|five|six|a few|a couple of|\d{1,2})"
_MOMENT = re.compile(
    r"(?<!\bthe)(?<!\bthe )[\s,]*\b"
    r"(?:(?:earlier |later )?(?:yesterday|today|tonight|tomorrow|this (?:morning|afternoon|evening))"
    rf"|(?:last|this past|next) {_SPAN}|(?:just )?{_COUNT} (?:hour|day|week|month|year)s? ago)\b(?! of\b)",
    re.IGNORECASE,
)


def without_moments(text: str) -> str:
    """The text without them: "moved to Oslo last week" is "moved to Oslo"."""
    return clean(_MOMENT.sub("", text)).lstrip(" ,")
