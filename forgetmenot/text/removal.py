"""Removes one person, or one fact about them, from a text. Pure.

- What remains does not mention the person. They are cut from lists of people. A clause about them
  is cut where the rest makes sense alone, else the whole sentence, with the "they" and "their" of
  the sentences behind it.
- It cuts too much rather than too little. What it leaves is unchanged, word for word.
"""

import re
from collections.abc import Callable, Collection, Iterable

from forgetmenot.text.mentions import MENTION, SOMEBODY, ids_in, mention
from forgetmenot.text.words import (
    SENTENCE_MARKS,
    STOPWORDS,
    join_sentences,
    sentences_of,
    stems,
)

# "and" parts clauses where somebody follows: "likes tea and coffee" is one clause.
_CLAUSE_BREAK = re.compile(
    r"\s*;\s+|,?\s+(?:while|whereas|but)\s+|,\s+and\s+|\s+and\s+(?=<@)"
)
# People side by side of whom one may go; "<@1>'s" is no person of a list but begins a thing of theirs.
_PEOPLE_LIST = re.compile(r"<@[^>]+>(?!['’]s)(?:(?:,| and|, and) <@[^>]+>(?!['’]s))+")
_PRONOUN = re.compile(
    r"\b(?:they|their|theirs|them|themselves|she|hers?|herself|he|his|him|himself)\b",
    re.IGNORECASE,
)
_CAPITAL = re.compile("[A-Z]+")
_WORD_CHARACTER = re.compile(r"\w")
# Thai, Lao, Burmese, Khmer, Chinese and Japanese: words stand side by side.
_WITHOUT_SPACES = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff]"
)
_LETTERS_AND_MORE = re.compile(
    r"(?=.*[a-z])(?=.*[\d_])[a-z\d_]+", re.IGNORECASE | re.ASCII
)
# A pattern that matches nothing, where a person has no name.
_NOTHING = "(?!)"
# A shorter name is never looked for inside of a longer word, nor as a bare word.
MIN_INSIDE = 3
# A shorter number stands in too many texts as something else.
_MIN_ID = 6
# The share of a fact's words that a clause about its subject needs to state that fact.
FACT_SHARE = 0.5


class NameForms:
    """How one person is written: their id, and the names they go or went by.

    Some forms mean nobody else: a mention, a name behind an @ or in a channel's address, a name
    between two other people of a list, and a name that no word looks like ("carol_7"). All others
    may be a word of somebody else's: a bare name of letters or digits, a bare id, and a name inside
    of a longer word ("carol_7lol"). They count with `bare`.

    `viewer_id` is empty if only the names are known. `words` are names that are also words, and
    never count bare. `others` are longer names of other people.
    """

    def __init__(
        self,
        viewer_id: str,
        names: Iterable[str],
        words: Collection[str] = (),
        others: Iterable[str] = (),
    ) -> None:
        self.viewer_id = viewer_id
        unique_names = dict.fromkeys(filter(None, names))
        self.names = tuple(unique_names)
        self.words = frozenset(map(str.casefold, words))
        self.others = tuple(others)
        self._other_words = frozenset(map(str.casefold, self.others))
        has_long_id = len(viewer_id) >= _MIN_ID
        self._counts_bare_id = has_long_id and viewer_id not in self.words
        # A pattern takes the first that fits, and "carol" begins "carol_7".
        self._longest_first = sorted(self.names, key=len, reverse=True)
        self._bare_names = [
            name for name in self._longest_first if name.casefold() not in self.words
        ]
        certain_forms = self._certain_forms()
        possible_forms = self._possible_forms(certain_forms)
        self._certain = self._pattern(certain_forms)
        self._possible = self._pattern(possible_forms)
        folded_names = map(str.casefold, self._longest_first)
        any_name = "|".join(map(re.escape, folded_names)) or _NOTHING
        self._around_names = re.compile(rf"\w*(?:{any_name})\w*")

    def _pattern(self, forms: list[str]) -> re.Pattern[str]:
        """Return a pattern of a mention of them, and of these forms."""
        alternatives = []
        if self.viewer_id:
            # First: the id inside of a mention is no bare id.
            alternatives.append(re.escape(mention(self.viewer_id)))
        alternatives += forms
        any_form = "|".join(alternatives) or _NOTHING
        return re.compile(any_form, re.IGNORECASE)

    def _certain_forms(self) -> list[str]:
        """Return patterns of the forms that mean nobody else."""
        forms = [self._behind_mark(name) for name in self._longest_first]
        forms += [_word(name) for name in self._bare_names if is_distinct(name)]
        return forms

    def _possible_forms(self, certain_forms: list[str]) -> list[str]:
        """Return patterns of all forms; a name inside of a longer word comes before its own."""
        forms = []
        for name in self._bare_names:
            forms += self._inside(name)
        forms += certain_forms
        forms += [_word(name) for name in self._bare_names]
        if self._counts_bare_id:
            forms.append(_alone(self.viewer_id, r"\d"))
        return forms

    def _behind_mark(self, name: str) -> str:
        """Return a pattern of a name behind an @, in a channel's address, or between mentions."""
        written = re.escape(name)
        ends_as_word = _WORD_CHARACTER.match(name[-1]) is not None
        needs_end = ends_as_word and not self._joins_words(name)
        end = r"(?!\w)" if needs_end else ""
        mark = r"(?<!\w)(?:[@＠]|(?:https?://)?(?:(?:www|m)\.)?twitch\.tv/)"
        in_list = rf"(?<=>, ){written}(?=(?:,| \w{{1,3}}|, \w{{1,3}}) <@)"
        return f"{mark}{written}{end}|{in_list}"

    def _joins_words(self, name: str) -> bool:
        """Return whether a name in a script without spaces may stand right beside other words.

        It may not if it is part of somebody else's name.
        """
        if len(name) < MIN_INSIDE:
            return False
        if not _WITHOUT_SPACES.search(name):
            return False
        return not any(name in other for other in self.others)

    def _inside(self, name: str) -> list[str]:
        """Return patterns of a name that is no word inside of a longer one."""
        if self._joins_words(name):
            return [re.escape(name)]
        if len(name) > MIN_INSIDE and is_distinct(name):
            return [rf"@?(?<!\w)\w*{_alone(name, '0-9')}\w*"]
        return []

    @property
    def needles(self) -> tuple[str, ...]:
        """Return pieces of text (A to Z in lower case) of which every text has one that names them.

        The database looks for them, and only what it finds is read by the patterns.
        """
        needles = []
        if self.viewer_id:
            needles.append(mention(self.viewer_id))
        if self._counts_bare_id:
            needles.append(self.viewer_id)
        for name in self.names:
            for form in _in_any_case(name):
                if name in self._bare_names:
                    needles.append(form)
                else:
                    needles += _behind_marks(form)
        return tuple(dict.fromkeys(map(_lower, needles)))

    def is_named(self, name: str) -> bool:
        """Return whether a name or id, as people type it, is theirs."""
        typed = name.strip().lstrip("@＠").casefold()
        if typed == self.viewer_id:
            return True
        return any(typed == own_name.casefold() for own_name in self.names)

    def is_bare_in(self, text: str) -> bool:
        """Return whether a text has them in a form that may be a word of somebody else's."""
        if self._has_only_others(text):
            return False
        without_possible = self.anonymized(text)
        without_certain = self.anonymized(text, bare=False)
        return without_possible != without_certain

    def is_of_others(self, name: str) -> bool:
        """Return whether a word is the longer name of somebody else."""
        return name.lstrip("@＠").casefold() in self._other_words

    def with_mentions(self, text: str, *, bare: bool = True) -> str:
        """Return the text with a mention wherever they are written."""
        return self._replaced(text, mention(self.viewer_id), bare=bare)

    def anonymized(self, text: str, *, bare: bool = True) -> str:
        """Return the text with "somebody" wherever they are written."""
        return self._replaced(text, SOMEBODY, bare=bare)

    def _replaced(
        self,
        text: str,
        replacement: str,
        *,
        bare: bool,
    ) -> str:
        """Return the text with a replacement wherever they are written."""
        if self._has_only_others(text):
            return text

        def replaced(match: re.Match[str]) -> str:
            written = match[0]
            # "carol" is forgotten, and carol_7 is somebody else.
            return written if self.is_of_others(written) else replacement

        pattern = self._possible if bare else self._certain
        return pattern.sub(replaced, text)

    def _has_only_others(self, text: str) -> bool:
        """Return whether the names stand in a text as parts of others' names alone.

        Asked first: a short name may be the beginning of thousands of others, in as many texts.
        """
        if not self._other_words:
            return False
        if self.viewer_id and self.viewer_id in text:
            return False
        words_with_name = self._around_names.findall(text.casefold())
        return self._other_words.issuperset(words_with_name)


def is_distinct(name: str) -> bool:
    """Return whether no word looks like a name: it has letters, and digits or underscores."""
    return _LETTERS_AND_MORE.fullmatch(name) is not None


def _in_any_case(name: str) -> list[str]:
    """Return a name in the cases people write it in.

    SQLite's `lower` folds A to Z alone: of "Élodie" each form is looked for.
    """
    return [name, name.lower(), name.upper(), name.title()]


def _behind_marks(name: str) -> list[str]:
    """Return a name that is also a word as it is written where it means somebody."""
    return [f"@{name}", f"＠{name}", f"/{name}", f", {name}", f'"{name}"']


def _lower(text: str) -> str:
    """Return a text in lower case from A to Z, as SQLite's `lower` has it."""
    return _CAPITAL.sub(lambda letters: letters[0].lower(), text)


def _word(name: str) -> str:
    """Return a pattern of a name with no letter or digit on either side of it."""
    return _alone(name, r"\w")


def _alone(name: str, neighbours: str) -> str:
    """Return a pattern of a name with none of these characters beside it.

    A side of the name that is no such character may have any neighbour.
    """
    neighbour = re.compile(f"[{neighbours}]")
    before = f"(?<![{neighbours}])" if neighbour.match(name[0]) else ""
    behind = f"(?![{neighbours}])" if neighbour.match(name[-1]) else ""
    return f"{before}{re.escape(name)}{behind}"


def without_person(text: str, viewer_id: str) -> str:
    """Return a summary without all that mentions a person; empty if nothing can stay."""
    sentences: list[str] = []
    was_about_person = False
    for sentence in sentences_of(text):
        # The sentence that named them is gone, and its "they" would now mean somebody else.
        if was_about_person and opens_with_pronoun(sentence):
            continue
        rest = _without_person_in(sentence, viewer_id)
        was_about_person = rest != sentence
        if rest:
            sentences.append(rest)
    return join_sentences(sentences)


def opens_with_pronoun(sentence: str) -> bool:
    """Return whether a pronoun stands in a sentence before anybody is mentioned."""
    pronoun = _PRONOUN.search(sentence)
    if pronoun is None:
        return False
    mentioned = MENTION.search(sentence)
    return mentioned is None or pronoun.start() < mentioned.start()


def _without_person_in(sentence: str, viewer_id: str) -> str:
    """Return a sentence without a person: out of a list of people, else without its clauses about them."""
    token = mention(viewer_id)
    if token not in sentence:
        return sentence

    def without_them(people: re.Match[str]) -> str:
        return _list_without(people[0], viewer_id)

    rest = _PEOPLE_LIST.sub(without_them, sentence)
    if token not in rest:
        return rest
    return _without_clauses(rest, lambda clause: token in clause)


def _list_without(people_list: str, viewer_id: str) -> str:
    """Return "<@1>, <@2> and <@3>" without a person."""
    other_ids = [other_id for other_id in ids_in(people_list) if other_id != viewer_id]
    people = [mention(other_id) for other_id in other_ids]
    if len(people) < 2:
        return "".join(people)
    *first_people, last_person = people
    return f"{', '.join(first_people)} and {last_person}"


def _without_clauses(sentence: str, is_cut: Callable[[str], bool]) -> str:
    """Return the sentence without some clauses; empty if none of the rest stands by itself."""
    last_char = sentence[-1:]
    mark = last_char if last_char in SENTENCE_MARKS else ""
    clauses = _CLAUSE_BREAK.split(sentence.removesuffix(mark))
    remaining = [clause for clause in clauses if not is_cut(clause)]
    if len(remaining) == len(clauses):
        return sentence
    # A clause that begins with "they" or a verb would now speak of somebody else.
    complete = [clause for clause in remaining if _stands_alone(clause)]
    if not complete:
        return ""
    text = "; ".join(complete) + mark
    return text[:1].upper() + text[1:]


def _stands_alone(clause: str) -> bool:
    """Return whether a clause begins with somebody and goes on."""
    begins_with_somebody = MENTION.match(clause) is not None
    return begins_with_somebody and " " in clause.strip()


def without_fact(
    text: str,
    subject_id: str,
    fact: str,
) -> str:
    """Return a summary without the clauses that state a fact about its subject.

    An empty `subject_id`: any sentence may state the fact. The text is unchanged if none does.
    """
    stems_of_fact = fact_stems(fact)
    if not stems_of_fact:
        return text

    def is_cut(clause: str) -> bool:
        if _is_about_others(clause, subject_id):
            return False
        return states_fact(clause, stems_of_fact)

    sentences: list[str] = []
    is_about_subject = not subject_id
    for sentence in sentences_of(text):
        people = ids_in(sentence)
        # A sentence that names nobody goes on about whom the one before was about.
        if people and subject_id:
            is_about_subject = subject_id in people
        rest = _without_clauses(sentence, is_cut) if is_about_subject else sentence
        if rest:
            sentences.append(rest)
    return join_sentences(sentences)


def _is_about_others(clause: str, subject_id: str) -> bool:
    """Return whether a clause mentions people, and not the subject."""
    if not subject_id:
        return False
    people = ids_in(clause)
    return len(people) > 0 and subject_id not in people


def clauses_about(text: str, subject_id: str) -> list[str]:
    """Return the clauses of a summary's sentences about somebody, also those that say "they"."""
    clauses: list[str] = []
    is_about_subject = False
    for sentence in sentences_of(text):
        people = ids_in(sentence)
        if people:
            is_about_subject = subject_id in people
        if is_about_subject:
            clauses += _CLAUSE_BREAK.split(sentence)
    return [clause for clause in clauses if not _is_about_others(clause, subject_id)]


def states_fact(clause: str, stems_of_fact: frozenset[str]) -> bool:
    """Return whether a text has most of a fact's words, as `fact_stems` gives them."""
    shared_stems = stems_of_fact & fact_stems(clause)
    min_shared = FACT_SHARE * len(stems_of_fact)
    return len(shared_stems) >= min_shared


def fact_stems(fact: str) -> frozenset[str]:
    """Return the stems of a fact's words without mentions, to know the fact again.

    Of a forgotten fact their hashes are all that is stored.
    """
    without_mentions = MENTION.sub(" ", fact)
    return frozenset(stems(without_mentions)) - STOPWORDS
