"""Removes one person, or one fact about them, from a text. Pure.

- What remains does not mention the person. They are taken out of lists of people; a clause about them is cut where the
  rest makes sense alone, else the whole sentence, with the "they" and "their" of the sentences after it.
- It cuts too much rather than too little, and what it leaves is unchanged, word for word.
"""

import re
from collections.abc import Callable, Collection, Iterable

from forgetmenot.text.mentions import MENTION, SOMEBODY, ids_in, mention
from forgetmenot.text.words import ENDS, STOPWORDS, joined, sentences_of, stems

_CLAUSE = re.compile(r"\s*;\s+|,?\s+(?:while|whereas|but)\s+|,\s+and\s+|\s+and\s+(?=<@)")
_LISTED = re.compile(r"<@[^>]+>(?!['’]s)(?:(?:,| and|, and) <@[^>]+>(?!['’]s))+")
_PRONOUN = re.compile(
    r"\b(?:they|their|theirs|them|themselves|she|hers?|herself|he|his|him|himself)\b", re.IGNORECASE
)
_CAPITAL = re.compile("[A-Z]+")
_ENDS_WITH_LETTER = re.compile(r"\w\Z")
# Thai, Lao, Burmese, Khmer, Chinese and Japanese: words stand side by side.
_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff]")
_LETTERS_AND_MORE = re.compile(r"(?=.*[a-z])(?=.*[\d_])[a-z\d_]+", re.IGNORECASE | re.ASCII)
INSIDE_FROM = 3
# The share of a fact's words that a clause about its subject has in common with it, to be that fact.
ENOUGH = 0.5


class Names:
    """How one person is written: their id, and the names they go or went by.

    An empty id: only the names. `ordinary` are words of every day: a name that is one of them counts only behind an @.
    A name that is no word (with a digit or an underscore in it, or in a script without spaces) counts inside a longer
    one too, as in "carol_7lol", unless that is one of `others`.
    """

    def __init__(
        self,
        viewer_id: str,
        names: Iterable[str],
        ordinary: Collection[str] = (),
        others: Iterable[str] = (),
    ) -> None:
        self.viewer_id = viewer_id
        self.names = tuple(dict.fromkeys(name for name in names if name))
        wanted = sorted(self.names, key=len, reverse=True)
        plain = [name for name in wanted if name.casefold() not in ordinary]
        around = tuple(others)
        but = rf"(?!(?:{'|'.join(map(re.escape, around))})(?!\w))" if around else ""
        patterns = []
        for name in plain:
            # where no spaces part words, the name alone; else the whole word around it, unless it is somebody else's
            if _WITHOUT_SPACES.search(name):
                if len(name) >= INSIDE_FROM and not any(name in other for other in around):
                    patterns.append(re.escape(name))
            elif len(name) > INSIDE_FROM and _LETTERS_AND_MORE.fullmatch(name):
                patterns.append(rf"@?(?<!\w){but}\w*{re.escape(name)}\w*")
        patterns += [_word(f"@{name}") for name in wanted] + [_word(name) for name in plain]
        # a shorter number stands in too many texts as something else
        if len(viewer_id) >= 6:
            patterns.append(rf"(?<!\d){re.escape(viewer_id)}(?!\d)")
        written = "|".join([re.escape(mention(viewer_id)), *patterns] if viewer_id else patterns)
        self._written = re.compile(written, re.IGNORECASE)

    @property
    def needles(self) -> tuple[str, ...]:
        """Pieces of text (A to Z in lower case), one of which stands in every text that they are written in."""
        ids = (mention(self.viewer_id), self.viewer_id) if self.viewer_id else ()
        written = (
            *ids,
            *(
                form
                for name in self.names
                for form in (name, name.lower(), name.upper(), name.title())
            ),
        )
        return tuple(
            dict.fromkeys(_CAPITAL.sub(lambda found: found[0].lower(), one) for one in written)
        )

    def marked(self, text: str) -> str:
        """The text with a mention wherever they are written."""
        return self._written.sub(mention(self.viewer_id), text)

    def hidden(self, text: str) -> str:
        """The text with "somebody" wherever they are written."""
        return self._written.sub(SOMEBODY, text)


def _word(name: str) -> str:
    """A name with no letter or digit on either side of it."""
    last = r"(?!\w)" if _ENDS_WITH_LETTER.search(name) else ""
    first = r"(?<!\w)" if _ENDS_WITH_LETTER.search(name[:1]) else ""
    return f"{first}{re.escape(name)}{last}"


def without_person(text: str, viewer_id: str) -> str:
    """A summary without everything in it that mentions this person; empty if nothing can stay."""
    kept: list[str] = []
    about_them = False
    for sentence in sentences_of(text):
        pronoun, named = _PRONOUN.search(sentence), MENTION.search(sentence)
        # the sentence that named them is gone, and its "they" would now mean somebody else
        if about_them and pronoun and (named is None or pronoun.start() < named.start()):
            continue
        rest = _without_in(sentence, viewer_id)
        about_them = rest != sentence and mention(viewer_id) in sentence
        if rest:
            kept.append(rest)
    return joined(kept)


def _without_in(sentence: str, viewer_id: str) -> str:
    token = mention(viewer_id)

    def enumerated(listed: re.Match[str]) -> str:
        people = [mention(one) for one in ids_in(listed[0]) if one != viewer_id]
        return f"{', '.join(people[:-1])} and {people[-1]}" if len(people) > 1 else "".join(people)

    # taken out of lists of people: "<@1>, <@2> and <@3>" or "<@1> and <@2>"
    rest = _LISTED.sub(enumerated, sentence) if token in sentence else sentence
    return _without_clauses(rest, lambda clause: token in clause) if token in rest else rest


def _without_clauses(sentence: str, gone: Callable[[str], bool]) -> str:
    """The sentence without some of its clauses; empty where one that would stay does not stand by itself."""
    end = sentence[-1] if sentence and sentence[-1] in ENDS else ""
    clauses = _CLAUSE.split(sentence.removesuffix(end))
    left = [clause for clause in clauses if not gone(clause)]
    # what has its own subject and says something: it begins with somebody else, and goes on
    stay = [clause for clause in left if MENTION.match(clause) and " " in clause.strip()]
    if not stay or len(left) == len(clauses):
        return "" if len(left) < len(clauses) else sentence
    text = "; ".join(stay)
    return text[:1].upper() + text[1:] + end


def without_fact(text: str, subject_id: str, fact: str) -> str:
    """A summary without the clauses that say this fact about its subject; without change where none does."""
    wanted = traces(fact)
    if not wanted:
        return text
    kept: list[str] = []
    about = ""
    for sentence in sentences_of(text):
        people = ids_in(sentence)
        about = subject_id if subject_id in people else ("" if people else about)
        rest = (
            _without_clauses(sentence, lambda clause: says(clause, wanted))
            if about == subject_id
            else sentence
        )
        if rest:
            kept.append(rest)
    return joined(kept)


def says(clause: str, wanted: frozenset[str]) -> bool:
    """Whether a text has most of a fact's words (as `traces` gives them)."""
    return len(wanted & traces(clause)) >= ENOUGH * len(wanted)


def traces(fact: str) -> frozenset[str]:
    """What is kept (hashed) of a forgotten fact, to know it again: the stems of its words, mentions aside."""
    return frozenset(stems(MENTION.sub(" ", fact))) - STOPWORDS
