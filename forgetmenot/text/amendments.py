"""What somebody types to correct a note: "it's Bonn, not Cologne", "dog is called Max". Pure; English and German."""

import re
from typing import NamedTuple

from forgetmenot.text.words import words

_IT = re.compile(
    # "das" and "this" alone may belong to a noun: "das Auto ist rot"
    r"(?:(?:that|it|this)['’]s|(?:that|it|this|das|es)(?:\s+(?P<verb>is|ist|to|zu|in|auf)\b|\s*[:,])|(?:that|it)\b)[:,]?\s+",
    re.IGNORECASE,
)
_NOT = re.compile(
    # without a comma only before a name: "does not like tea" is one sentence
    r"(?P<right>.+?)(?:,\s*(?:not|nicht)|\s+(?:instead of|statt)|\s+(?:not|nicht)(?=\s+(?-i:[A-ZÄÖÜ])))"
    r"\s+(?P<wrong>[\w'’-]+(?: [\w'’-]+)?)",
    re.IGNORECASE,
)
_NAME = r"[A-ZÄÖÜ][\w'’-]*(?: [A-ZÄÖÜ][\w'’-]*)?"
_A_NAME = re.compile(_NAME)
_NAMES_WITHIN = re.compile(rf"(?<=\s){_NAME}")


class Amendment(NamedTuple):
    """`right`: how it is; `wrong`: what it replaces, if that was said; `it`: "it" or "that" stands for the note."""

    right: str
    wrong: str = ""
    it: bool = False

    def applied(self, fact: str) -> str:
        """The fact as it should read: with a value put in its place, else what was typed instead of it."""
        a_value = len(self.right.split()) <= 2 and set(words(self.right)).isdisjoint(words(fact))
        if a_value:
            values = re.findall(rf"(?<!\w){re.escape(self.wrong)}(?!\w)", fact, re.IGNORECASE) if self.wrong else ()
            if not self.wrong and _A_NAME.fullmatch(self.right):
                values = _NAMES_WITHIN.findall(fact)
            if len(values) == 1:
                return re.sub(rf"(?<!\w){re.escape(values[0])}(?!\w)", lambda _: self.right, fact, count=1)
        return self.right


def amendment(typed: str) -> Amendment:
    """Read what was typed after `!edit`, or after "change it to"."""
    found = _IT.match(typed)
    text = typed[found.end() :].strip() if found else typed
    parts = _NOT.fullmatch(text.rstrip(" .!"))
    right, wrong = (parts["right"], parts["wrong"]) if parts else (text, "")
    if found and found["verb"] in {"is", "ist"} and len(right.split()) > 2:
        right = f"{found['verb']} {right}"
    return Amendment(right, wrong, found is not None) if right else Amendment(typed)
