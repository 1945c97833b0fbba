"""What people type in several languages, read by the small tables of phrases.toml. Pure.

A sentence says yes, or asks to be forgotten, only if every word of it is listed for one language: any other word makes
it talk. That keeps "vergiss mein nicht" and "forget my drums" out without a rule for either.
"""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from forgetmenot.text.clean import clean, plain
from forgetmenot.text.words import UNSPACED

_TOKEN = re.compile(r"[^\W_]+")
# Characters that are read: no request is longer.
_LONGEST = 200
# "yes, delete everything"
_BESIDE_YES = {"yes", "please", "verb", "me", "me_verb", "all"}
_KINDS = ("yes", "please", "verb", "me", "me_verb", "all", "subject", "can", "beside")


@cache
def _table() -> Mapping[str, Any]:
    return tomllib.loads(files(__package__).joinpath("phrases.toml").read_text("utf-8"))


class _Vocabulary:
    """The words of one language and what they are for: a word may be for several things."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self._kind_of: dict[str, set[str]] = {}
        for kind in _KINDS:
            for listed in table.get(kind, "").split():
                for word in _TOKEN.findall(plain(listed)):
                    self._kind_of.setdefault(word, set()).add(kind)
        longest_first = sorted(self._kind_of, key=len, reverse=True)
        words = "|".join(map(re.escape, longest_first))
        self._word_inside = re.compile(words) if table.get("unspaced") else None

    def kinds(self, text: str) -> list[set[str]] | None:
        """What each word of a text is for, in order; None if it has none, or one that is not listed."""
        tokens = self._tokens(plain(clean(text))[:_LONGEST])
        kinds = [self._kind_of[token] for token in tokens if token in self._kind_of]
        return kinds if kinds and len(kinds) == len(tokens) else None

    def _tokens(self, text: str) -> list[str]:
        tokens = _TOKEN.findall(text)
        if self._word_inside is None:
            return tokens
        letters = "".join(tokens)
        listed_words: list[str] = []
        at = 0
        while at < len(letters):
            word = self._word_inside.match(letters, at)
            if word is None:
                return [letters]
            listed_words.append(word[0])
            at = word.end()
        return listed_words


@cache
def _vocabularies() -> tuple[_Vocabulary, ...]:
    return tuple(_Vocabulary(table) for table in _table().values() if "verb" in table)


def is_yes(text: str) -> bool:
    """Whether a line only agrees: "yes", "ja bitte", "sí", "はい"."""
    return any(_says_yes(language.kinds(text)) for language in _vocabularies())


def _says_yes(kinds: list[set[str]] | None) -> bool:
    if kinds is None:
        return False
    agrees = any("yes" in kind for kind in kinds)
    return agrees and all(kind & _BESIDE_YES for kind in kinds)


def asks_to_be_forgotten(sentence: str) -> bool:
    """Whether a sentence asks to forget its speaker, or everything: "delete my data", "olvídame"."""
    return any(_means_everything(language.kinds(sentence)) for language in _vocabularies())


def _means_everything(kinds: list[set[str]] | None) -> bool:
    if kinds is None or _is_statement(kinds):
        return False
    every_kind = set[str]().union(*kinds)
    if "me_verb" in every_kind:
        return True
    return "verb" in every_kind and bool(every_kind & {"me", "all"})


def _is_statement(kinds: list[set[str]]) -> bool:
    """Whether it begins with its subject, behind a greeting or not, and wishes nothing: "you forget me"."""
    if any("can" in kind for kind in kinds):
        return False
    for kind in kinds:
        if "please" not in kind:
            return "subject" in kind
    return False


def names_everything(what: str) -> bool:
    """Whether what is to be forgotten is all of it: "everything", "me", "alles über mich", "mis datos"."""
    return any(_is_everything(language.kinds(what)) for language in _vocabularies())


def _is_everything(kinds: list[set[str]] | None) -> bool:
    if kinds is None:
        return False
    names_it = any(kind & {"all", "me"} for kind in kinds)
    return names_it and all(kind & {"all", "me", "beside", "please"} for kind in kinds)


class _Wishes:
    """How one language asks to remember, or to forget, one thing."""

    def __init__(self, table: Mapping[str, Any], kind: str) -> None:
        please = [_spaced(word) for word in table["please"].split()]
        polite = "|".join(sorted(map(re.escape, please), key=len, reverse=True))
        before = "|".join(re.escape(_spaced(word)) for word in table.get(kind, "").split())
        behind = "|".join(map(re.escape, table.get(f"{kind}_behind", "").split()))
        if before:
            asks = (
                rf"(?:(?:{polite})[,\s]+)*(?:{before})[\s:,]+(?P<what>.+?)(?:[,\s]+(?:{polite}))*"
            )
        else:
            asks = rf"(?P<what>.+?)(?:{behind})(?:{polite})*"
        self._pattern = re.compile(asks.replace(r"\ ", r"[\s'’-]+"))

    def what(self, sentence: str) -> str:
        """What a sentence asks to remember or forget, as it was typed; empty if it asks for nothing."""
        folded = plain(sentence)
        if len(folded) != len(sentence):
            return ""
        wish = self._pattern.fullmatch(folded.strip(" .!?。！？¡¿、"))
        if wish is None:
            return ""
        start = folded.index(wish["what"])
        return sentence[start : start + len(wish["what"])].strip()


def _spaced(listed: str) -> str:
    return plain(listed).replace("_", " ")


@cache
def _wishes(kind: str) -> tuple[_Wishes, ...]:
    tables = [table for table in _table().values() if kind in table or f"{kind}_behind" in table]
    return tuple(_Wishes(table, kind) for table in tables)


def fact_to_remember(sentence: str) -> str:
    """The fact in "recuerda que toco la guitarra", as it was typed; empty for anything else."""
    return next(filter(None, (wish.what(sentence) for wish in _wishes("remember"))), "")


def topic_to_forget(sentence: str) -> str:
    """What is to be forgotten in "olvida lo de mi perra", as it was typed; empty for anything else."""
    return next(filter(None, (wish.what(sentence) for wish in _wishes("forget"))), "")


@cache
def honorifics() -> tuple[str, ...]:
    """What is put behind a name where no space parts words: さん, 님."""
    return tuple(_table()["address"]["honorific"].split())


# ── what a fact in one of these languages says ──────────────────────────────────────────────


@cache
def _possessives() -> tuple[frozenset[str], re.Pattern[str]]:
    """Words before a thing of one's own; and those that no space parts from it."""
    spaced = set[str]()
    glued: list[str] = []
    for table in _table().values():
        listed = table.get("mine", "").split()
        if table.get("unspaced"):
            glued += listed
        else:
            spaced.update(listed)
    return frozenset(spaced), re.compile(rf"(?<!\w)(?:{'|'.join(glued)})(?=\w)")


def without_possessives(topic: str) -> str:
    """What somebody names without "my": "mi perra" is "perra", "私の猫" "猫". A lone one stays."""
    spaced, glued = _possessives()
    parts = [part for part in topic.split() if plain(part).strip(".,!?") not in spaced]
    return glued.sub("", " ".join(parts)) or topic


@cache
def _listed(name: str) -> frozenset[str]:
    return frozenset(_table()[name]["words"].split())


def _words_and_letters(text: str) -> list[str]:
    """The words of a text, and every single letter where no space parts words."""
    pieces: list[str] = []
    for token in _TOKEN.findall(plain(text)):
        pieces += [token, *UNSPACED.findall(token)]
    return pieces


def says_otherwise(fact: str) -> bool:
    """Whether a fact says that something is not, or no longer, so."""
    listed = _listed("otherwise")
    if not listed.isdisjoint(_words_and_letters(fact)):
        return True
    inside = [word for word in listed if UNSPACED.match(word)]
    return any(word in fact for word in inside)


@cache
def _verbs() -> Mapping[str, str]:
    roots_of: dict[str, str] = {}
    for roots, words in _table()["verbs"].items():
        roots_of |= dict.fromkeys(plain(words).split(), roots)
    return roots_of


def verbs_in(fact: str) -> dict[str, str]:
    """The listed verbs of a fact, each with the English words that say the same."""
    verbs: dict[str, str] = {}
    for word in _words_and_letters(fact):
        if word in _verbs():
            verbs[word] = _verbs()[word]
    return verbs


_ENGLISH_NUMBERS = "two three four five six seven eight nine ten eleven twelve"


@cache
def _numbers() -> Mapping[str, str]:
    """The number that a word stands for, of 2 to 12."""
    number_of = {word: str(number) for number, word in enumerate(_ENGLISH_NUMBERS.split(), 2)}
    for number, words in _table()["numbers"].items():
        number_of |= dict.fromkeys(words.split(), number)
    return number_of


def numbers_in(fact: str) -> frozenset[str]:
    """The numbers of a fact in digits, whatever words it has for them: "zwei" and "two" are "2"."""
    numbers = set[str]()
    for token in _words_and_letters(fact):
        if token.isdecimal():
            numbers.add(token)
        elif token in _numbers():
            numbers.add(_numbers()[token])
    return frozenset(numbers)


def without_numbers(fact: str) -> str:
    """A fact without its numbers and what counts things behind them: "三匹" is nothing."""
    letters = {word for word in (*_numbers(), *_listed("counters")) if UNSPACED.match(word)}
    parts = [part for part in fact.split() if not numbers_in(part) or UNSPACED.search(part)]
    return re.sub(f"[{''.join(sorted(letters))}\\d]", " ", " ".join(parts)) if letters else fact


def describes_somebody_else(sentence: str) -> bool:
    """Whether a sentence begins with one word and says what that is: "Carol ist …"."""
    tokens = _TOKEN.findall(plain(sentence))
    return len(tokens) > 1 and tokens[1] in _listed("copula")
