"""What people type in several languages, read by the small tables of phrases.toml. Pure.

A sentence says yes, or asks to be forgotten, only if every word of it is listed for one language.
Any other word makes it talk, so "vergiss mein nicht" and "forget my drums" need no rule.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, TypeAlias

from forgetmenot.text.clean import clean, plain
from forgetmenot.text.tables import word_lists
from forgetmenot.text.words import UNSPACED

_TOKEN = re.compile(r"[^\W_]+")
# Characters that are read: no request is longer.
_MAX_READ = 200
# The keys of a language whose words may stand in a yes or a request.
_KINDS = ("yes", "please", "verb", "me", "me_verb", "all", "subject", "can", "beside")
# "yes, delete everything"
_BESIDE_YES = {"yes", "please", "verb", "me", "me_verb", "all"}
# "please everything about me"
_BESIDE_EVERYTHING = {"all", "me", "beside", "please"}


# What each word of a sentence may be for.
_WordKinds: TypeAlias = list[set[str]]


class _Vocabulary:
    """The words of one language and what they are for: a word may be for several things."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._kinds_of = defaultdict[str, set[str]](set)
        for kind in _KINDS:
            listed = plain(table.get(kind, ""))
            words = _TOKEN.findall(listed)
            for word in words:
                self._kinds_of[word].add(kind)
        # In a language without spaces the longest listed word is read at each place.
        self._next_word: re.Pattern[str] | None = None
        if table.get("unspaced"):
            self._next_word = re.compile(_one_of(self._kinds_of))

    def kinds(self, text: str) -> _WordKinds | None:
        """Return what each word of a text is for; None if it has no word, or one not listed."""
        read_text = plain(clean(text))[:_MAX_READ]
        word_kinds: _WordKinds = []
        for word in self._words(read_text):
            if word not in self._kinds_of:
                return None
            word_kinds.append(self._kinds_of[word])
        return word_kinds or None

    def _words(self, text: str) -> list[str]:
        """Return the words of a text; where no spaces part them, the listed ones that it is made of."""
        tokens = _TOKEN.findall(text)
        if self._next_word is None:
            return tokens
        letters = "".join(tokens)
        listed_words: list[str] = []
        start = 0
        while start < len(letters):
            match = self._next_word.match(letters, start)
            if match is None:
                # The whole of it is one word that is not listed.
                return [letters]
            listed_words.append(match[0])
            start = match.end()
        return listed_words


def _one_of(words: Iterable[str]) -> str:
    """Return a pattern of any of these words, the longest that fits."""
    # A pattern takes the first that fits, and some words begin others.
    longest_first = sorted(words, key=len, reverse=True)
    return "|".join(map(re.escape, longest_first))


@cache
def _vocabularies() -> tuple[_Vocabulary, ...]:
    """Return the vocabulary of each language."""
    tables = word_lists("phrases.toml").values()
    # The other tables are for all languages.
    languages = [table for table in tables if "verb" in table]
    return tuple(map(_Vocabulary, languages))


def _readings(text: str) -> Iterator[_WordKinds]:
    """Yield what each word of a text is for, in each language that lists all of them."""
    for vocabulary in _vocabularies():
        word_kinds = vocabulary.kinds(text)
        if word_kinds is not None:
            yield word_kinds


def is_yes(text: str) -> bool:
    """Return whether a line only agrees: "yes", "ja bitte", "sí", "はい"."""
    return any(map(_says_yes, _readings(text)))


def _says_yes(word_kinds: _WordKinds) -> bool:
    """Return whether words of these kinds agree, and say nothing else."""
    if not any("yes" in kinds for kinds in word_kinds):
        return False
    return all(kinds & _BESIDE_YES for kinds in word_kinds)


def asks_to_be_forgotten(sentence: str) -> bool:
    """Return whether a sentence asks to forget its speaker, or everything: "olvídame"."""
    return any(map(_forgets_everything, _readings(sentence)))


def _forgets_everything(word_kinds: _WordKinds) -> bool:
    """Return whether words of these kinds ask to forget their speaker."""
    if _is_statement(word_kinds):
        return False
    all_kinds = set[str]().union(*word_kinds)
    # One word may be the whole of it: "olvídame".
    if "me_verb" in all_kinds:
        return True
    if "verb" not in all_kinds:
        return False
    return "me" in all_kinds or "all" in all_kinds


def _is_statement(word_kinds: _WordKinds) -> bool:
    """Return whether a sentence begins with its subject and wishes nothing: "hi you forget me"."""
    if any("can" in kinds for kinds in word_kinds):
        return False
    for kinds in word_kinds:
        if "please" not in kinds:
            return "subject" in kinds
    return False


def names_everything(topic: str) -> bool:
    """Return whether a topic to forget is all of it: "everything", "me", "alles über mich"."""
    return any(map(_is_everything, _readings(topic)))


def _is_everything(word_kinds: _WordKinds) -> bool:
    """Return whether words of these kinds mean all of a person, and nothing else."""
    if not any(kinds & {"all", "me"} for kinds in word_kinds):
        return False
    return all(kinds & _BESIDE_EVERYTHING for kinds in word_kinds)


class _WishForm:
    """How one language asks to remember, or to forget, one thing."""

    def __init__(self, table: Mapping[str, Any], kind: str) -> None:
        polite = _one_of(_phrases_in(table["please"]))
        before = _one_of(_phrases_in(table.get(kind, "")))
        words_behind = table.get(f"{kind}_behind", "").split()
        behind = _one_of(words_behind)
        if before:
            form = (
                rf"(?:(?:{polite})[,\s]+)*(?:{before})[\s:,]+"
                rf"(?P<topic>.+?)(?:[,\s]+(?:{polite}))*"
            )
        else:
            # Japanese and Korean ask behind the topic.
            form = rf"(?P<topic>.+?)(?:{behind})(?:{polite})*"
        with_any_space = form.replace(r"\ ", r"[\s'’-]+")
        self._pattern = re.compile(with_any_space)

    def topic(self, sentence: str) -> str:
        """Return what a sentence asks to remember or forget, as typed; "" if it asks nothing."""
        folded = plain(sentence)
        # Places in the folded sentence must be places in the typed one.
        if len(folded) != len(sentence):
            return ""
        wish = self._pattern.fullmatch(folded.strip(" .!?。！？¡¿、"))
        if wish is None:
            return ""
        folded_topic = wish["topic"]
        start = folded.index(folded_topic)
        end = start + len(folded_topic)
        return sentence[start:end].strip()


def _phrases_in(listed: str) -> list[str]:
    """Return the phrases of a list, folded, with their spaces: "lo_de" is "lo de"."""
    folded_phrases = plain(listed).split()
    return [phrase.replace("_", " ") for phrase in folded_phrases]


@cache
def _wish_forms(kind: str) -> tuple[_WishForm, ...]:
    """Return how each language asks to "remember" or to "forget" one thing."""
    forms = []
    for table in word_lists("phrases.toml").values():
        if kind in table or f"{kind}_behind" in table:
            forms.append(_WishForm(table, kind))
    return tuple(forms)


def fact_to_remember(sentence: str) -> str:
    """Return the fact in "recuerda que toco la guitarra", as typed; "" for anything else."""
    return _wished_topic("remember", sentence)


def topic_to_forget(sentence: str) -> str:
    """Return the topic in "olvida lo de mi perra", as typed; "" for anything else."""
    return _wished_topic("forget", sentence)


def _wished_topic(kind: str, sentence: str) -> str:
    """Return what a sentence asks to "remember" or to "forget", in whatever language; "" if it asks nothing."""
    for form in _wish_forms(kind):
        topic = form.topic(sentence)
        if topic:
            return topic
    return ""


@cache
def honorifics() -> tuple[str, ...]:
    """Return what stands behind a name where no space parts words: さん, 님."""
    table = word_lists("phrases.toml")["address"]
    return tuple(table["honorific"].split())


# ── what a fact in one of these languages says ──────────────────────────────────────────────


@cache
def _possessives() -> tuple[frozenset[str], re.Pattern[str]]:
    """Return the words for "my", and a pattern for those that no space parts from the thing."""
    spaced_words: list[str] = []
    unspaced_words: list[str] = []
    for table in word_lists("phrases.toml").values():
        words = unspaced_words if table.get("unspaced") else spaced_words
        words += table.get("mine", "").split()
    any_unspaced = "|".join(unspaced_words)
    unspaced_pattern = re.compile(rf"(?<!\w)(?:{any_unspaced})(?=\w)")
    return frozenset(spaced_words), unspaced_pattern


def without_possessives(topic: str) -> str:
    """Return a topic without "my": "mi perra" is "perra", "私の猫" "猫". A lone "my" stays."""
    spaced_words, unspaced_pattern = _possessives()
    remaining_words = []
    for word in topic.split():
        if plain(word).strip(".,!?") not in spaced_words:
            remaining_words.append(word)
    bare_topic = unspaced_pattern.sub("", " ".join(remaining_words))
    return bare_topic or topic


@cache
def _listed(name: str) -> frozenset[str]:
    """Return the words of a table that is for all languages."""
    table = word_lists("phrases.toml")[name]
    return frozenset(table["words"].split())


def _words_and_letters(text: str) -> list[str]:
    """Return the words of a text, and every single letter where no space parts words."""
    pieces: list[str] = []
    for token in _TOKEN.findall(plain(text)):
        pieces += [token, *UNSPACED.findall(token)]
    return pieces


def says_otherwise(fact: str) -> bool:
    """Return whether a fact says that something is not, or no longer, so."""
    negations = _listed("otherwise")
    if not negations.isdisjoint(_words_and_letters(fact)):
        return True
    # Of several letters, inside of a run that no space parts: "ではなかった".
    unspaced_negations = filter(UNSPACED.match, negations)
    return any(negation in fact for negation in unspaced_negations)


@cache
def _verbs() -> Mapping[str, str]:
    """Return the English words for each listed verb form."""
    english_of: dict[str, str] = {}
    verbs = word_lists("phrases.toml")["verbs"]
    for english, forms in verbs.items():
        for form in plain(forms).split():
            english_of[form] = english
    return english_of


def verbs_in(fact: str) -> dict[str, str]:
    """Return the listed verbs of a fact, each with the English words that say the same."""
    english_of = _verbs()
    verbs: dict[str, str] = {}
    for word in _words_and_letters(fact):
        if word in english_of:
            verbs[word] = english_of[word]
    return verbs


@cache
def _numbers() -> Mapping[str, str]:
    """Return the digits for each word for a number from 2 to 12."""
    digits_of: dict[str, str] = {}
    numbers = word_lists("phrases.toml")["numbers"]
    for digits, words in numbers.items():
        for word in words.split():
            digits_of[word] = digits
    return digits_of


def numbers_in(fact: str) -> frozenset[str]:
    """Return the numbers of a fact in digits: "zwei" and "two" are "2"."""
    digits_of = _numbers()
    numbers = set[str]()
    for token in _words_and_letters(fact):
        if token.isdecimal():
            numbers.add(token)
        elif token in digits_of:
            numbers.add(digits_of[token])
    return frozenset(numbers)


def without_numbers(fact: str) -> str:
    """Return a fact without its numbers and what counts things behind them: "三匹" is nothing."""
    remaining_words = []
    for word in fact.split():
        # A word of an unspaced script is a whole clause: only its letters for numbers go.
        if not numbers_in(word) or UNSPACED.search(word):
            remaining_words.append(word)
    return _number_letter().sub(" ", " ".join(remaining_words))


@cache
def _number_letter() -> re.Pattern[str]:
    """Return a pattern for a digit, or a letter of an unspaced script for a number or a counter."""
    listed = _listed("counters").union(_numbers())
    letters = "".join(word for word in listed if UNSPACED.match(word))
    return re.compile(rf"[{letters}\d]")


def describes_somebody_else(sentence: str) -> bool:
    """Return whether a sentence begins with one word and says what that is: "Carol ist …"."""
    tokens = _TOKEN.findall(plain(sentence))
    return len(tokens) > 1 and tokens[1] in _listed("copula")
