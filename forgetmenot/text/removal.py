"""Removes one person, or one fact about them, from a text. Pure.

- What remains does not mention the person. They are taken out of lists of people; a clause about them is cut where the
  rest makes sense alone, else the whole sentence, with the "they" and "their" of the sentences after it.
- It cuts too much rather than too little, and what it leaves is unchanged, word for word.
"""

import re
from collections.abc import Callable, Collection, Iterable

from forgetmenot.text.mentions import MENTION, SOMEBODY, ids_in, mention
from forgetmenot.text.words import SENTENCE_MARKS, STOPWORDS, join_sentences, sentences_of, stems

_CLAUSE = re.compile(r"\s*;\s+|,?\s+(?:while|whereas|but)\s+|,\s+and\s+|\s+and\s+(?=<@)")
_LISTED = re.compile(r"<@[^>]+>(?!['’]s)(?:(?:,| and|, and) <@[^>]+>(?!['’]s))+")
_PRONOUN = re.compile(
    r"\b(?:they|their|theirs|them|themselves|she|hers?|herself|he|his|him|himself)\b", re.IGNORECASE
)
_CAPITAL = re.compile("[A-Z]+")
_WORD_CHARACTER = re.compile(r"\w")
# Thai, Lao, Burmese, Khmer, Chinese and Japanese: words stand side by side.
_WITHOUT_SPACES = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff]")
_LETTERS_AND_MORE = re.compile(r"(?=.*[a-z])(?=.*[\d_])[a-z\d_]+", re.IGNORECASE | re.ASCII)
# A shorter name is never looked for inside of a longer word, nor as a bare word.
MIN_INSIDE = 3
# A shorter number stands in too many texts as something else.
_SHORTEST_ID = 6
# The share of a fact's words that a clause about its subject has in common with it, to be that fact.
FACT_SHARE = 0.5


class NameForms:
    """How one person is written: their id, and the names they go or went by.

    Some forms mean nobody else: a mention, a name behind an @ or in a channel's address, a name between two other
    people of a list, and a name that no word looks like ("carol_7"). All others may be a word of somebody else's: a
    bare name of letters or digits, a bare id, and a name inside of a longer word ("carol_7lol"). They count with
    `bare`; `words` never do. An empty id: only the names. `others` are longer names of other people.
    """

    def __init__(
        self,
        viewer_id: str,
        names: Iterable[str],
        words: Collection[str] = (),
        others: Iterable[str] = (),
    ) -> None:
        self.viewer_id = viewer_id
        self.names = tuple(dict.fromkeys(name for name in names if name))
        self.words = frozenset(word.casefold() for word in words)
        self.others = tuple(others)
        folded = {re.escape(name.casefold()) for name in self.names}
        self._around_names = re.compile(rf"\w*(?:{'|'.join(folded) or '(?!)'})\w*")
        self._other_words = frozenset(other.casefold() for other in self.others)
        longest_first = sorted(self.names, key=len, reverse=True)
        self._bare_names = [name for name in longest_first if name.casefold() not in self.words]
        certain = [self._behind_mark(name) for name in longest_first]
        certain += [_word(name) for name in self._bare_names if is_distinct(name)]
        possible = [form for name in self._bare_names for form in self._inside(name)]
        possible += [*certain, *(_word(name) for name in self._bare_names)]
        if viewer_id:
            certain.insert(0, re.escape(mention(viewer_id)))
            possible.insert(0, re.escape(mention(viewer_id)))
        if len(viewer_id) >= _SHORTEST_ID and viewer_id not in self.words:
            possible.append(_alone(viewer_id, r"\d"))
        self._certain = re.compile("|".join(certain) or "(?!)", re.IGNORECASE)
        self._possible = re.compile("|".join(possible) or "(?!)", re.IGNORECASE)

    def _behind_mark(self, name: str) -> str:
        """A name behind an @, in the address of a channel, or between two other people of a list."""
        written = re.escape(name)
        end = "" if self._joins_words(name) or not _WORD_CHARACTER.match(name[-1]) else r"(?!\w)"
        mark = r"(?<!\w)(?:[@＠]|(?:https?://)?(?:(?:www|m)\.)?twitch\.tv/)"
        in_list = rf"(?<=>, ){written}(?=(?:,| \w{{1,3}}|, \w{{1,3}}) <@)"
        return f"{mark}{written}{end}|{in_list}"

    def _joins_words(self, name: str) -> bool:
        """Whether a name, in a script without spaces, stands beside other words, and is nobody else's beginning."""
        if len(name) < MIN_INSIDE or not _WITHOUT_SPACES.search(name):
            return False
        return not any(name in other for other in self.others)

    def _inside(self, name: str) -> list[str]:
        """How a name that is no word stands inside of a longer one."""
        if self._joins_words(name):
            return [re.escape(name)]
        if len(name) > MIN_INSIDE and is_distinct(name):
            return [rf"@?(?<!\w)\w*{_alone(name, '0-9')}\w*"]
        return []

    @property
    def needles(self) -> tuple[str, ...]:
        """Pieces of text (A to Z in lower case), one of which stands in every text that they are written in."""
        pieces = [mention(self.viewer_id)] if self.viewer_id else []
        if len(self.viewer_id) >= _SHORTEST_ID and self.viewer_id not in self.words:
            pieces.append(self.viewer_id)
        for name in self.names:
            if name in self._bare_names:
                pieces += _in_any_case(name)
                continue
            for form in _in_any_case(name):
                pieces += [f"@{form}", f"＠{form}", f"/{form}", f", {form}", f'"{form}"']
        return tuple(dict.fromkeys(map(_lower, pieces)))

    def is_named(self, name: str) -> bool:
        """Whether a name or id, as people type it, is theirs."""
        typed = name.strip().lstrip("@＠").casefold()
        return typed in {self.viewer_id, *(known.casefold() for known in self.names)}

    def is_bare_in(self, text: str) -> bool:
        """Whether one of the names stands in a text in a form that may be a word of somebody else's."""
        if self._has_only_others(text):
            return False
        return self.anonymized(text) != self.anonymized(text, bare=False)

    def is_of_others(self, name: str) -> bool:
        """Whether a word is the longer name of somebody else."""
        return name.lstrip("@＠").casefold() in self._other_words

    def with_mentions(self, text: str, *, bare: bool = True) -> str:
        """The text with a mention wherever they are written."""
        return self._replaced(text, mention(self.viewer_id), bare=bare)

    def anonymized(self, text: str, *, bare: bool = True) -> str:
        """The text with "somebody" wherever they are written."""
        return self._replaced(text, SOMEBODY, bare=bare)

    def _replaced(self, text: str, replacement: str, *, bare: bool) -> str:
        if self._has_only_others(text):
            return text

        def replaced(match: re.Match[str]) -> str:
            return match[0] if self.is_of_others(match[0]) else replacement

        pattern = self._possible if bare else self._certain
        return pattern.sub(replaced, text)

    def _has_only_others(self, text: str) -> bool:
        """Whether the names stand in a text as parts of others' names alone.

        Asked first: a short name may be the beginning of thousands of others, in as many texts.
        """
        if not self._other_words or (self.viewer_id and self.viewer_id in text):
            return False
        words = self._around_names.findall(text.casefold())
        return self._other_words.issuperset(words)


def is_distinct(name: str) -> bool:
    """Whether no word looks like a name: it has letters, and digits or underscores."""
    return _LETTERS_AND_MORE.fullmatch(name) is not None


def _in_any_case(name: str) -> list[str]:
    return [name, name.lower(), name.upper(), name.title()]


def _lower(text: str) -> str:
    """A text in lower case from A to Z, as SQLite's `lower` has it."""
    return _CAPITAL.sub(lambda letters: letters[0].lower(), text)


def _word(name: str) -> str:
    """A name with no letter or digit on either side of it."""
    return _alone(name, r"\w")


def _alone(name: str, neighbours: str) -> str:
    """A name with none of these characters before its first and behind its last, where that is one of them."""
    character = re.compile(f"[{neighbours}]")
    before = f"(?<![{neighbours}])" if character.match(name[0]) else ""
    behind = f"(?![{neighbours}])" if character.match(name[-1]) else ""
    return f"{before}{re.escape(name)}{behind}"


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
    return join_sentences(kept)


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
    end = sentence[-1] if sentence and sentence[-1] in SENTENCE_MARKS else ""
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
    wanted = fact_stems(fact)
    if not wanted:
        return text
    kept: list[str] = []
    about = ""
    for sentence in sentences_of(text):
        people = ids_in(sentence)
        about = subject_id if subject_id in people else ("" if people else about)
        rest = (
            _without_clauses(sentence, lambda clause: states_fact(clause, wanted))
            if about == subject_id
            else sentence
        )
        if rest:
            kept.append(rest)
    return join_sentences(kept)


def states_fact(clause: str, wanted: frozenset[str]) -> bool:
    """Whether a text has most of a fact's words (as `fact_stems` gives them)."""
    return len(wanted & fact_stems(clause)) >= FACT_SHARE * len(wanted)


def fact_stems(fact: str) -> frozenset[str]:
    """What is kept (hashed) of a forgotten fact, to know it again: the stems of its words, mentions aside."""
    return frozenset(stems(MENTION.sub(" ", fact))) - STOPWORDS
