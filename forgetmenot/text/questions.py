"""Does a line ask for something remembered, and does a known fact answer it? By two tables of text/classifier. Pure.

Names of people who are known count as one word, so what is learned of one is true of all. The rows that the tables are
trained on are scripts/classifiers/questions.tsv (scripts/train_classifiers.py); whoever changes a feature trains anew.
"""

import re
from collections.abc import Callable
from itertools import pairwise, product

from forgetmenot.text.classifier import classifier, share
from forgetmenot.text.words import STOPWORDS, stem, words

ASKS = 0.35
"""The least probability that a line asks for memory."""
ANSWERS, MAY_ANSWER = 0.85, 0.4
"""The least probability with which a fact is taken for an answer, and with which a model is left to judge it."""
_WORD = re.compile(r"(?<!<)@?[\w'’]+")
MOST_WORDS = 30
"""Words of a line, the last ones, and of a fact that are looked at."""
_COUNTED = 3
_STEM = 4
"""Letters by which forms of a word in any language are taken for one."""


def without_names(line: str, is_name: Callable[[str], bool]) -> str:
    """The line with the names of known people ("bob", "bob's", "bobs") as one mention. `is_name`: whether it is one."""

    def masked(word: re.Match[str]) -> str:
        return "<@1>" if is_name(word[0]) or (word[0][-1] in "sS" and is_name(word[0][:-1])) else word[0]

    return _WORD.sub(masked, line)


def asked_about(line: str) -> str:
    """Of whom a line `without_names` asks what only memory can tell: "me", "person", "channel"; "" if it does not."""
    shares = classifier("questions").shares(line, question_signs(line))
    return max(shares.keys() - {"none"}, key=shares.__getitem__) if shares["none"] < 1 - ASKS else ""


def question_signs(line: str) -> list[str]:
    """What else the table "questions" knows a line by."""
    return ["?"] if "?" in line else []


def answers(line: str, fact: str) -> float:
    """The probability that a fact of the person or channel in question gives what a line `without_names` asks for."""
    return share(classifier("answers").sum_for("answers", answer_features(line, fact)))


def answer_features(line: str, fact: str) -> set[str]:
    """What the table "answers" weighs: which words stand in both, in one alone, and each beside each."""
    asked, known = words(line)[-MOST_WORDS:], words(fact)[:MOST_WORDS]
    said, have = {stem(word) for word in asked}, {stem(word) for word in known}
    telling = [word for word in asked if word not in STOPWORDS and word[0] != "<"]
    lacking = [word for word in telling if stem(word) not in have]
    shared = min(len(telling) - len(lacking), _COUNTED)
    new = min(sum(word not in STOPWORDS and stem(word) not in said for word in known), _COUNTED)
    first, second = known[:1], known[:2]
    digits, name = any(map(str.isdigit, fact)), any(word[:1].isupper() for word in fact.split()[1:])
    found = {f"shared {shared}", f"lacking {min(len(lacking), _COUNTED)}", f"new {new}", f"looks {digits} {name}"}
    found |= {f"many {shared} {min(len(lacking), _COUNTED)} {new}", f"begins {first}", f"begins {second}"}
    for part in (*asked, *(f"{one} {other}" for one, other in pairwise(["^", *asked, "$"]))):
        found |= {f"asks {part}", f"{part} | {first}", f"{part} | digits {digits}", f"{part} | name {name}"}
        found |= {f"{part} | shared {min(shared, 2)}", f"{part} | new {new}"}
    for one, other in product(asked, known):
        found |= {f"{one} & {other}", f"{one[:_STEM]} ~ {other[:_STEM]}"}
    for word in lacking:
        found |= {f"lacks {word}", f"lacks {word} {first}"}
    return found | {f"has {word}" for word in known}
