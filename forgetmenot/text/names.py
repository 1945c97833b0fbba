"""How people are called: the words by which a name is found, and whom a text names. Pure.

- A name is found by the whole of it, with or without the marks inside ("night_owl" by "nightowl"),
  by each of its parts ("xX_annika_Xx" by "annika"), and by how the whole or a part begins
  ("theodor77" by "theo").
- A text names somebody by their name, a former name, a nickname, or a short form. If a short form
  fits several, those who are here come first. If it still fits two, both are meant; if it fits
  more, nobody is.
- An ordinary word ("drums") names whoever is called just that, and only behind an @ or where nobody
  else is named. A word is ordinary in the language of its line: "joue" is one in French, "olli" is
  none in German.
- Where no spaces are written, a name is found inside a run of letters, the longest first
  ("さくらさん").
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from msgspec import Struct, field

from forgetmenot.text.clean import plain
from forgetmenot.text.given_names import GIVEN_NAMES
from forgetmenot.text.line_language import LineLanguage, line_language
from forgetmenot.text.mentions import MENTION, ids_in
from forgetmenot.text.roles import claims_role
from forgetmenot.text.words import (
    STOPWORDS,
    UNSPACED,
    is_german,
    read_words,
    text_cache,
)

# Letters of a part of a name: of a shorter one too many names have it.
_MIN_PART = 3
# Letters of a first name that ends a login without a mark before it ("pixelpaula").
_MIN_GIVEN_NAME = 4
# Characters of a name in a script without spaces: one alone is far more often a word than a name.
_MIN_RUN = 2
_MAX_RUN = 10
# Characters of one run that are read: a sentence of chat has fewer.
_MAX_RUN_READ = 120
# A word that fits more people names nobody.
_MAX_MEANT = 2

_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_]+")
_LETTER = rf"(?!{UNSPACED.pattern})\w"
# Accents and other signs that sit on a letter and end no word.
MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
_TOKEN = re.compile(
    rf"(?P<mention>{MENTION.pattern})"
    rf"|(?P<at>[@＠])?(?:(?P<word>{_LETTER}(?:(?!{UNSPACED.pattern})[\w'’{MARKS}])*)"
    rf"|(?P<run>{UNSPACED.pattern}+))"
)
# "@bot" at the beginning of a line.
_ADDRESSED = re.compile(r"\A\s*(?:[@＠]\w+[\s,:]*)+")
# What chat calls the streamer, whatever their name is.
_STREAMER = re.compile(
    r"\b(?:the|our|this|de[rmn]|die|unse?r\w*|el|la|le|o|a)"
    r" (?:streamer(?:in|s)?|broadcaster)\b",
    re.IGNORECASE,
)


class WordKind(IntEnum):
    """What a word is before it is anybody's name.

    An ordinary word ("drums") is a name where nobody else is named, a common one ("game", "the")
    only behind an @. A borrowed one is English in a line of another language ("tito"), or has the
    capital of a name: unlike an ordinary one it may also be a part of the name of somebody away.
    """

    NO_WORD = 0
    BORROWED = 1
    ORDINARY = 2
    COMMON = 3


class Fit(IntEnum):
    """How a word fits somebody's names, the best first."""

    NAME = 0
    FORMER = 1
    NICKNAME = 2
    PART = 3
    SHORT = 4


class NamedPerson(NamedTuple):
    """Somebody whom a word may mean.

    `is_here`: they were in chat lately, or are a regular. `is_known`: something is remembered about
    them.
    """

    viewer_id: str
    login: str
    display_name: str
    former: tuple[str, ...] = ()
    is_here: bool = False
    is_known: bool = False


class Naming(NamedTuple):
    """A word of a text and whom it names: one person, or the two whom it fits equally well.

    `is_ordinary`: the word is also one of the language.
    """

    word: str
    viewer_ids: tuple[str, ...]
    fit: Fit
    is_ordinary: bool = False


# What a word, as names are compared, is in a line of this language before it is anybody's name.
KindOf = Callable[[str, LineLanguage], WordKind]


class NameKeys(NamedTuple):
    """What to ask the index of names for: whole keys, and beginnings of keys."""

    exact: frozenset[str]
    short: frozenset[str]


@text_cache(8_192)
def compact(name: str) -> str:
    """Return a name as it is compared: folded, without the marks inside.

    A name in a script without spaces keeps its marks.
    """
    if not name.isascii() and UNSPACED.search(name):
        return plain(name)
    # kept here already: not once more among the words of lines
    return "".join(read_words(name))


@text_cache(8_192)
def name_parts(login: str, display_name: str) -> frozenset[str]:
    """Return the parts of a name that may mean somebody: "annika" of "xX_annika_Xx"."""
    pieces = set(_pieces(login, display_name))
    given_names = {_given_name_behind(piece) for piece in pieces}
    parts = set()
    for part in pieces | given_names:
        if len(part) >= _MIN_PART and part not in STOPWORDS:
            parts.add(part)
    return frozenset(parts)


def _pieces(login: str, display_name: str) -> list[str]:
    """Return the pieces of a name between its marks, digits and capitals, in order.

    Of the login if the display name has no letters: only the display name has capitals.
    """
    pieces = _PARTS.findall(display_name) or _PARTS.findall(login)
    return [compact(piece) for piece in pieces]


def _given_name_behind(part: str) -> str:
    """Return the first name with which a part ends: "paula" of "pixelpaula"; "" if none does."""
    for start in range(_MIN_PART, len(part) - _MIN_GIVEN_NAME + 1):
        if part[start:] in GIVEN_NAMES:
            return part[start:]
    return ""


@text_cache(8_192)
def name_words(login: str, display_name: str) -> frozenset[str]:
    """Return the words by which a name is found: the whole of it and its parts."""
    whole_names = {compact(login), compact(display_name)}
    whole_names.discard("")
    return name_parts(login, display_name) | whole_names


class _Token(Struct, frozen=True):
    """A mention, a word or a run of letters without spaces: the one that it is, and the others empty.

    `keys`: a word as the index of names may have it. `start`: its place in the text.
    """

    mention: str
    word: str
    run: str
    is_behind_at: bool
    keys: tuple[str, ...]
    start: int


class _Line:
    """A text, the language it is in, and what in it may name somebody."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.language = line_language(text)
        tokens = []
        for match in _TOKEN.finditer(text):
            word = match["word"] or ""
            token = _Token(
                mention=match["mention"] or "",
                word=word,
                run=match["run"] or "",
                is_behind_at=match["at"] is not None,
                keys=_keys_of_word(word) if word else (),
                start=match.start(),
            )
            tokens.append(token)
        self.tokens = tuple(tokens)

    def kind_of(self, token: _Token, kind_of: KindOf) -> WordKind:
        """Return what a word of the line is before it is a name: behind an @ it is nothing else."""
        if token.is_behind_at:
            return WordKind.NO_WORD
        kind = kind_of(token.keys[0], self.language)
        if kind is WordKind.ORDINARY and self._has_capital_of_name(token):
            return WordKind.BORROWED
        return kind

    def _has_capital_of_name(self, token: _Token) -> bool:
        """Return whether a capital in the middle of a sentence shows a name.

        English and German write other words with one, too.
        """
        if self.language is not LineLanguage.OTHER:
            return False
        if is_german(self.text):
            return False
        text_before = self.text[: token.start]
        sentence_before = _ADDRESSED.sub("", text_before).rstrip()
        opens_sentence = not sentence_before or sentence_before[-1] in ".!?…:"
        if opens_sentence:
            return False
        word = token.word
        # As "Olli", and not as "LOL".
        return word[:1].isupper() and word[1:].islower()


# Whom a message names is asked half a dozen times for one prompt.
@text_cache(64)
def _line_of(text: str) -> _Line:
    """Return a text with what in it may name somebody; kept for the next question about it."""
    return _Line(text)


def keys_in(texts: Iterable[str], kind_of: KindOf) -> NameKeys:
    """Return what to ask the index of names for, by the words of these texts."""
    exact: set[str] = set()
    short: set[str] = set()
    for text in texts:
        line = _line_of(text)
        for token in line.tokens:
            if token.run:
                exact |= pieces_of_run(token.run)
            if not token.word:
                continue
            keys = token.keys
            kind = line.kind_of(token, kind_of)
            # A common word is a name only behind an @: it is not looked up.
            if kind is not WordKind.COMMON:
                exact.update(keys)
            # Behind an @ stands a whole name, and a word is no short form.
            may_be_short = kind is WordKind.NO_WORD and not token.is_behind_at
            if may_be_short:
                long_keys = [key for key in keys if len(key) >= _MIN_PART]
                short.update(long_keys)
    exact.discard("")
    return NameKeys(frozenset(exact), frozenset(short))


def _keys_of_word(word: str) -> tuple[str, ...]:
    """Return a word as the index may have it: the whole, then without the s of "alices cat"."""
    whole = compact(word)
    if len(whole) > _MIN_PART and word[-1] in "sS":
        return (whole, whole[:-1])
    return (whole,)


def pieces_of_run(run: str) -> set[str]:
    """Return every stretch of a run of letters that may be a name."""
    letters = plain(run[:_MAX_RUN_READ])
    pieces = set[str]()
    for length in range(_MIN_RUN, _MAX_RUN + 1):
        last_start = len(letters) - length
        pieces.update(
            letters[start : start + length] for start in range(last_start + 1)
        )
    return pieces


def never_a_word(_word: str, _language: LineLanguage) -> WordKind:
    """Return that a word is none before it is a name."""
    return WordKind.NO_WORD


class NameIndex(Struct, frozen=True):
    """The people whom the words of some texts may mean, as the memory knows them.

    `by_word`: the ids that the index of names has for a key. `by_nickname`: those whom chat calls
    so. `streamer`: the streamer's id, empty if it is not known. `streamer_names` mean the streamer,
    whoever else is called so.
    """

    people: Mapping[str, NamedPerson] = field(default_factory=dict)
    by_word: Mapping[str, Sequence[str]] = field(default_factory=dict)
    by_nickname: Mapping[str, Sequence[str]] = field(default_factory=dict)
    kind_of: KindOf = never_a_word
    streamer: str = ""
    streamer_names: frozenset[str] = frozenset()

    def namings(self, text: str, *, without: Collection[str] = ()) -> list[Naming]:
        """Return whom the words of a text name, in order; `without` are ids to leave out.

        Ordinary words are left out if another word names somebody.
        """
        all_namings = self._namings_of_streamer(text)
        line = _line_of(text)
        for token in line.tokens:
            all_namings += self._namings_of_token(token, line)
        namings = []
        for naming in all_namings:
            viewer_ids = [
                viewer_id for viewer_id in naming.viewer_ids if viewer_id not in without
            ]
            if viewer_ids:
                namings.append(naming._replace(viewer_ids=tuple(viewer_ids)))
        certain = [naming for naming in namings if not naming.is_ordinary]
        return certain or namings

    def named_in(
        self,
        text: str,
        *,
        without: Collection[str] = (),
        limit: int = 2,
    ) -> list[str]:
        """Return the ids of the people whom a text names in order, at most `limit`."""
        viewer_ids: list[str] = []
        for naming in self.namings(text, without=without):
            viewer_ids += naming.viewer_ids
        return list(dict.fromkeys(viewer_ids))[:limit]

    def certain_in(self, text: str) -> set[str]:
        """Return the ids of the people whom a text names by words that are certainly names."""
        viewer_ids = set[str]()
        for naming in self._certain_namings(text):
            viewer_ids.update(naming.viewer_ids)
        return viewer_ids

    def words_of_names(self, text: str) -> list[str]:
        """Return the words of a text that are certainly names, and each with an s."""
        names = [naming.word for naming in self._certain_namings(text)]
        possessives = [f"{name}s" for name in names]
        return names + possessives

    def _certain_namings(self, text: str) -> list[Naming]:
        """Return whom a text names by words that are no words of the language."""
        all_namings = self.namings(text)
        return [naming for naming in all_namings if not naming.is_ordinary]

    def _namings_of_streamer(self, text: str) -> list[Naming]:
        """Return the naming in "the streamer", first in a text, if anybody knows who that is."""
        if not self.streamer:
            return []
        phrase = _STREAMER.search(text)
        if phrase is None:
            return []
        naming = Naming(phrase[0], (self.streamer,), Fit.NAME)
        return [naming]

    def _namings_of_token(self, token: _Token, line: _Line) -> list[Naming]:
        """Return whom a mention, a word, or the names inside a run of letters mean."""
        if token.mention:
            viewer_ids = ids_in(token.mention)
            return [Naming("", viewer_ids, Fit.NAME)]
        if token.run:
            return self._namings_in_run(token.run)
        naming = self._naming_of_word(token, line)
        return [naming] if naming else []

    def _namings_in_run(self, run: str) -> list[Naming]:
        """Return the names inside a run of letters without spaces, the longest at each place."""
        letters = plain(run[:_MAX_RUN_READ])
        namings = []
        start = 0
        while start < len(letters):
            naming = self._longest_naming_at(letters, start)
            if naming is None:
                start += 1
            else:
                namings.append(naming)
                start += len(naming.word)
        return namings

    def _longest_naming_at(self, letters: str, start: int) -> Naming | None:
        """Return the longest name that begins at a place of a run of letters; None if none does."""
        max_length = min(_MAX_RUN, len(letters) - start)
        for length in range(max_length, _MIN_RUN - 1, -1):
            piece = letters[start : start + length]
            naming = self._best_naming(piece, piece, worst_fit=Fit.NICKNAME)
            if naming is not None:
                return naming
        return None

    def _naming_of_word(self, token: _Token, line: _Line) -> Naming | None:
        """Return whom a word of a line names; None if nobody."""
        word = token.word
        keys = token.keys
        whole_key = keys[0]
        # most words are nobody's name: what such a word is need not be asked
        is_of_streamer = whole_key in self.streamer_names
        if not is_of_streamer and not any(map(self._has, keys)):
            return None
        kind = line.kind_of(token, self.kind_of)
        if kind is WordKind.COMMON:
            return None
        if self.streamer and is_of_streamer:
            return Naming(word, (self.streamer,), Fit.NAME)
        # Behind an @ Twitch puts a whole name, and chat at most a nickname.
        worst_fit = Fit.NICKNAME if token.is_behind_at else Fit.SHORT
        # As it is written first: "alices" may be a name of its own.
        spellings = (word, word[:-1])
        for key, spelling in zip(keys, spellings, strict=False):
            naming = self._best_naming(spelling, key, worst_fit=worst_fit, kind=kind)
            if naming is not None:
                return naming
        return None

    def _has(self, key: str) -> bool:
        """Return whether a key may be a name or a nickname of somebody."""
        return key in self.by_word or key in self.by_nickname

    def _best_naming(
        self,
        word: str,
        key: str,
        *,
        worst_fit: Fit,
        kind: WordKind = WordKind.NO_WORD,
    ) -> Naming | None:
        """Return whom a word names, by the best fit that anybody has; None if it names nobody."""
        fits = self._fits(key, worst_fit)
        if not fits:
            return None
        is_whole_name = min(fits.values()) <= Fit.FORMER
        if not is_whole_name:
            fits = self._here_or_known(fits, kind)
            if not fits:
                return None
        fit = min(fits.values())
        viewer_ids = [viewer_id for viewer_id in fits if fits[viewer_id] is fit]
        if is_whole_name:
            viewer_ids = self._with_login(key, viewer_ids) or viewer_ids
        if len(viewer_ids) > _MAX_MEANT:
            return None
        is_ordinary = kind is not WordKind.NO_WORD
        return Naming(word, tuple(viewer_ids), fit, is_ordinary)

    def _fits(self, key: str, worst_fit: Fit) -> dict[str, Fit]:
        """Return whom a key fits by their ids, none worse than `worst_fit`."""
        fits: dict[str, Fit] = {}
        for viewer_id in self.by_word.get(key, ()):
            person = self.people.get(viewer_id)
            if person is None:
                continue
            fit = _fit(person, key)
            if fit is not None:
                fits[viewer_id] = fit
        for viewer_id in self.by_nickname.get(key, ()):
            if viewer_id in self.people:
                other_fit = fits.get(viewer_id, Fit.SHORT)
                fits[viewer_id] = min(other_fit, Fit.NICKNAME)
        return {viewer_id: fit for viewer_id, fit in fits.items() if fit <= worst_fit}

    def _here_or_known(self, fits: Mapping[str, Fit], kind: WordKind) -> dict[str, Fit]:
        """Return those of whom a part or a short form fits that are here, else those known."""
        fits_of_present: dict[str, Fit] = {}
        fits_of_known: dict[str, Fit] = {}
        for viewer_id, fit in fits.items():
            person = self.people[viewer_id]
            if person.is_here:
                fits_of_present[viewer_id] = fit
            # A part of a name that is a word means somebody who is here, or nobody.
            may_be_away = kind is not WordKind.ORDINARY or fit is Fit.NICKNAME
            if person.is_known and may_be_away:
                fits_of_known[viewer_id] = fit
        return fits_of_present or fits_of_known

    def _with_login(self, key: str, viewer_ids: list[str]) -> list[str]:
        """Return those whose login a key is: another may only be shown by that name."""
        return [
            viewer_id
            for viewer_id in viewer_ids
            if compact(self.people[viewer_id].login) == key
        ]


def _fit(person: NamedPerson, key: str) -> Fit | None:
    """Return how a key fits somebody's names; None if it does not."""
    present_names = {compact(person.login), compact(person.display_name)}
    if key in present_names:
        return Fit.NAME
    former_names = map(compact, person.former)
    if key in former_names:
        return Fit.FORMER
    parts = set(name_parts(person.login, person.display_name))
    for former_name in person.former:
        parts |= name_parts(former_name, former_name)
    if key in parts:
        return Fit.PART
    begins_part = any(part.startswith(key) for part in parts)
    # "elchino" is two parts of a name, and begins none.
    if begins_part or _begins_with(person.login, person.display_name, key):
        return Fit.SHORT
    if any(_begins_with(name, name, key) for name in person.former):
        return Fit.SHORT
    return None


def _begins_with(
    login: str,
    display_name: str,
    key: str,
) -> bool:
    """Return whether the first parts of a name are a key: "elchino" of elChinoGaming.

    "noel" of Noe_Lyon is not, because it ends inside a part.
    """
    beginning = ""
    for piece in _pieces(login, display_name):
        beginning += piece
        if beginning == key:
            return True
    # No part has digits, so that a key with one is compared with the whole name.
    if not any(character.isdigit() for character in key):
        return False
    whole_names = map(compact, (login, display_name))
    return any(name.startswith(key) for name in whole_names)


# ── nicknames ────────────────────────────────────────────────────────────────────────────────

_CALLED = re.compile(
    r"\A(?:(?:also |often |usually |mostly )?(?:goes by|answers to"
    r"|is (?:also |often )?(?:called|nicknamed|known as)"
    r"|(?:likes|prefers|wants|asks|would like) to be called)"
    r"|(?:their |the )?nickname (?:here |in chat )?is|(?:chat|everybody|everyone) calls them"
    r"|(?:wird|will|möchte|mag)(?= \S+ genannt)|(?:their )?spitzname ist)"
    r" (?:the nickname )?(?P<names>.+)\Z",
    re.IGNORECASE,
)
_BETWEEN_NAMES = re.compile(r",\s*|\s+(?:or|and|oder|und)\s+|\s*/\s*")
_AFTER_A_NAME = re.compile(
    r"\s+(?:by|in|on|here|for short|genannt|von|im|hier)\b.*\Z", re.IGNORECASE
)
_A_NICKNAME = re.compile(rf"[\w'’{MARKS}-]{{2,25}}")


def nicknames_in(fact: str) -> list[str]:
    """Return the nicknames that a note gives its subject ("goes by Deb or Debbie"), as compared.

    A name of two words is none: it would be somebody's full name.
    """
    bare_fact = fact.strip().rstrip(".!")
    statement = _CALLED.match(bare_fact)
    if statement is None:
        return []
    listed_names = _AFTER_A_NAME.sub("", statement["names"])
    nicknames = []
    for name in _BETWEEN_NAMES.split(listed_names):
        bare_name = name.strip(" \"'“”„‘’«»「」.!")
        if _is_nickname(bare_name):
            nicknames.append(compact(bare_name))
    return nicknames


def _is_nickname(name: str) -> bool:
    """Return whether a text may be a nickname: one word that is neither a stop word nor a rank."""
    if not _A_NICKNAME.fullmatch(name):
        return False
    if compact(name) in STOPWORDS:
        return False
    # A rank is no name, whoever gives it to themselves.
    return not claims_role(f"is the {name}")
