"""How people are called: the words by which a name is found, and whom a text names. Pure.

- A name is found by the whole of it, with or without the marks inside ("night_owl" by "nightowl"), by each of its
  parts ("xX_annika_Xx" by "annika"), and by how the whole or a part begins ("theodor77" by "theo").
- A text names somebody by their name, a former name, a nickname, or a short form. Of several whom a short form fits,
  those who are here come first. Two who are left are both meant, more than two are nobody.
- An ordinary word ("drums") names whoever is called just that, and only behind an @ or where nobody else is named.
  A word is ordinary in the language of its line: "joue" is one in French, "olli" is none in German.
- Where no spaces are written, a name is found inside a run of letters, the longest first ("さくらさん").
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import IntEnum
from typing import NamedTuple

from msgspec import Struct, field

from forgetmenot.text.clean import plain
from forgetmenot.text.given_names import GIVEN_NAMES
from forgetmenot.text.line_language import LineLanguage, line_language
from forgetmenot.text.mentions import MENTION
from forgetmenot.text.roles import claims_role
from forgetmenot.text.words import STOPWORDS, UNSPACED, is_german, text_cache, words

SHORTEST_PART = 3
# Letters of a first name that ends a login without a mark before it ("pixelpaula"), and of what stands before it.
_SHORTEST_GIVEN_NAME = 4
# Characters of a name in a script without spaces: one alone is a word of its own far more often than a name.
SHORTEST_RUN, LONGEST_RUN = 2, 10
# More characters of such a script than this in one run are no sentence of chat.
_RUN_READ = 120
MOST_MEANT = 2

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
    r"\b(?:the|our|this|de[rmn]|die|unse?r\w*|el|la|le|o|a) (?:streamer(?:in|s)?|broadcaster)\b",
    re.IGNORECASE,
)


class WordKind(IntEnum):
    """What a word is before it is anybody's name."""

    NO_WORD = 0
    ORDINARY = 1  # "drums": a name where nobody else is named
    COMMON = 2  # "game", "the": a name only behind an @


class Fit(IntEnum):
    """How a word fits somebody's names, the best first."""

    NAME = 0
    FORMER = 1
    NICKNAME = 2
    PART = 3
    SHORT = 4


class NamedPerson(NamedTuple):
    """Somebody whom a word may mean.

    `is_here`: they were in chat lately, or are a regular. `is_known`: something is remembered about them.
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
    """What to ask the index of names for: words that must fit exactly, and words that may be how a name begins."""

    exact: frozenset[str]
    short: frozenset[str]


@text_cache(8_192)
def compact(name: str) -> str:
    """A name as it is compared: folded, without the marks inside. Scripts without spaces are kept as they are."""
    if UNSPACED.search(name):
        return plain(name)
    return "".join(words(name))


@text_cache(8_192)
def name_parts(login: str, display_name: str) -> frozenset[str]:
    """The parts of a name that are long enough to mean somebody: "annika" of "xX_annika_Xx"."""
    parts = set(_pieces(login, display_name))
    parts |= {_given_name_behind(part) for part in parts}
    return frozenset(part for part in parts if len(part) >= SHORTEST_PART and part not in STOPWORDS)


def _pieces(login: str, display_name: str) -> list[str]:
    pieces = _PARTS.findall(display_name) or _PARTS.findall(login)
    return [compact(piece) for piece in pieces]


def _given_name_behind(part: str) -> str:
    """The first name with which a part ends: "paula" of "pixelpaula"; empty if it ends with none."""
    for start in range(SHORTEST_PART, len(part) - _SHORTEST_GIVEN_NAME + 1):
        if part[start:] in GIVEN_NAMES:
            return part[start:]
    return ""


@text_cache(8_192)
def name_words(login: str, display_name: str) -> frozenset[str]:
    """The words by which a name is found."""
    wholes = {compact(login), compact(display_name)}
    return frozenset((wholes | name_parts(login, display_name)) - {""})


class _Line(NamedTuple):
    """A text and the language it is in."""

    text: str
    language: LineLanguage

    def kind_of(self, token: re.Match[str], key: str, kind_of: KindOf) -> WordKind:
        """Return what a word of the line is before it is a name: behind an @ it is nothing else."""
        if token["at"]:
            return WordKind.NO_WORD
        kind = kind_of(key, self.language)
        if kind is WordKind.ORDINARY and self._is_capital_of_a_name(token):
            return WordKind.NO_WORD
        return kind

    def _is_capital_of_a_name(self, token: re.Match[str]) -> bool:
        """Return whether a capital in the middle of a sentence shows a name. English and German write others, too."""
        if self.language is not LineLanguage.OTHER or is_german(self.text):
            return False
        before = _ADDRESSED.sub("", self.text[: token.start()]).rstrip()
        begins_sentence = not before or before[-1] in ".!?…:"
        return token["word"][:1].isupper() and token["word"][1:].islower() and not begins_sentence


def keys_in(texts: Iterable[str], kind_of: KindOf) -> NameKeys:
    """What the words of these texts ask the index of names for."""
    exact: set[str] = set()
    short: set[str] = set()
    for text in texts:
        line = _Line(text, line_language(text))
        for token in _TOKEN.finditer(text):
            if token["run"]:
                exact.update(pieces_of_run(token["run"]))
            elif token["word"]:
                keys = _keys(token["word"])
                kind = line.kind_of(token, keys[0], kind_of)
                if kind is not WordKind.COMMON:
                    exact.update(keys)
                if kind is WordKind.NO_WORD and not token["at"]:
                    short.update(key for key in keys if len(key) >= SHORTEST_PART)
    return NameKeys(frozenset(exact - {""}), frozenset(short))


def _keys(word: str) -> list[str]:
    """A word as it may stand in the index: the whole, then without the s of "alices birthday"."""
    whole = compact(word)
    if len(whole) > SHORTEST_PART and word[-1] in "sS":
        return [whole, whole[:-1]]
    return [whole]


def pieces_of_run(run: str) -> set[str]:
    """Every stretch of a run of letters that may be a name."""
    read = plain(run[:_RUN_READ])
    return {
        read[start:end]
        for start in range(len(read))
        for end in range(start + SHORTEST_RUN, min(start + LONGEST_RUN, len(read)) + 1)
    }


def never_a_word(_word: str, _language: LineLanguage) -> WordKind:
    """Every word may be a name, and none is another word first."""
    return WordKind.NO_WORD


class NameIndex(Struct, frozen=True):
    """The people whom the words of some texts may mean, as the memory knows them.

    `by_word`: the ids that the index of names has for a key; `by_nickname`: those whom chat calls so.
    `streamer`: the streamer's id, whom `streamer_names` mean whoever else is called so; empty where it is not known.
    """

    people: Mapping[str, NamedPerson] = field(default_factory=dict)
    by_word: Mapping[str, Sequence[str]] = field(default_factory=dict)
    by_nickname: Mapping[str, Sequence[str]] = field(default_factory=dict)
    kind_of: KindOf = never_a_word
    streamer: str = ""
    streamer_names: frozenset[str] = frozenset()

    def namings(self, text: str, *, without: Collection[str] = ()) -> list[Naming]:
        """Whom the words of a text name, in its order; `without` are ids to leave out.

        Ordinary words are left out where another word names somebody.
        """
        namings = [*self._streamer_in(text)]
        line = _Line(text, line_language(text))
        for token in _TOKEN.finditer(text):
            namings += self._named(token, line)
        others = []
        for naming in namings:
            viewer_ids = tuple(one for one in naming.viewer_ids if one not in without)
            if viewer_ids:
                others.append(naming._replace(viewer_ids=viewer_ids))
        certain = [naming for naming in others if not naming.is_ordinary]
        return certain or others

    def named_in(self, text: str, *, without: Collection[str] = (), limit: int = 2) -> list[str]:
        """The ids of the people whom a text names, in its order, at most `limit`."""
        viewer_ids = [
            viewer_id
            for naming in self.namings(text, without=without)
            for viewer_id in naming.viewer_ids
        ]
        return list(dict.fromkeys(viewer_ids))[:limit]

    def certain_in(self, text: str) -> set[str]:
        """The ids of the people whom a text names by words that are certainly names."""
        namings = [naming for naming in self.namings(text) if not naming.is_ordinary]
        return {viewer_id for naming in namings for viewer_id in naming.viewer_ids}

    def words_of_names(self, text: str) -> list[str]:
        """The words of a text that are certainly names: nothing is asked for with them."""
        names = [naming.word for naming in self.namings(text) if not naming.is_ordinary]
        return [*names, *(f"{name}s" for name in names)]

    def _streamer_in(self, text: str) -> list[Naming]:
        phrase = _STREAMER.search(text) if self.streamer else None
        return [Naming(phrase[0], (self.streamer,), Fit.NAME)] if phrase else []

    def _named(self, token: re.Match[str], line: _Line) -> list[Naming]:
        if token["mention"]:
            mentioned = MENTION.fullmatch(token["mention"])
            return [Naming("", (mentioned[1],), Fit.NAME)] if mentioned else []
        if token["run"]:
            return self._inside(token["run"])
        naming = self._of_word(token, line)
        return [naming] if naming else []

    def _inside(self, run: str) -> list[Naming]:
        """The names inside a run of letters without spaces, the longest at each place."""
        read = plain(run[:_RUN_READ])
        namings = []
        start = 0
        while start < len(read):
            naming = self._longest_at(read, start)
            if naming is not None:
                namings.append(naming)
            start += len(naming.word) if naming else 1
        return namings

    def _longest_at(self, read: str, start: int) -> Naming | None:
        for length in range(min(LONGEST_RUN, len(read) - start), SHORTEST_RUN - 1, -1):
            piece = read[start : start + length]
            naming = self._best(piece, piece, most=Fit.NICKNAME)
            if naming is not None:
                return naming
        return None

    def _of_word(self, token: re.Match[str], line: _Line) -> Naming | None:
        word = token["word"]
        is_marked = bool(token["at"])
        keys = _keys(word)
        kind = line.kind_of(token, keys[0], self.kind_of)
        if kind is WordKind.COMMON:
            return None
        if self.streamer and keys[0] in self.streamer_names:
            return Naming(word, (self.streamer,), Fit.NAME)
        is_ordinary = kind is WordKind.ORDINARY
        # Behind an @ stands a name or a nickname, never a part of one: its pieces name nobody.
        most = Fit.NICKNAME if is_marked else Fit.SHORT
        naming = self._best(word, keys[0], most=most, is_ordinary=is_ordinary)
        if naming is None and len(keys) > 1:
            naming = self._best(word[:-1], keys[1], most=most, is_ordinary=is_ordinary)
        return naming

    def _best(self, word: str, key: str, *, most: Fit, is_ordinary: bool = False) -> Naming | None:
        """Whom a word names, by the best fit that anybody has."""
        fits = self._fits(key, most)
        if not fits:
            return None
        best = min(fits.values())
        if best <= Fit.FORMER:
            whole = [viewer_id for viewer_id, fit in fits.items() if fit is best]
            return _naming(word, self._held_by(key, whole), best, is_ordinary=is_ordinary)
        here = {one: fit for one, fit in fits.items() if self.people[one].is_here}
        known = {one: fit for one, fit in fits.items() if self.people[one].is_known}
        if is_ordinary:
            # a part of a name that is a word means somebody who is here, or nobody
            known = {one: fit for one, fit in known.items() if fit is Fit.NICKNAME}
        pool = here or known
        if not pool:
            return None
        best = min(pool.values())
        meant = [viewer_id for viewer_id, fit in pool.items() if fit is best]
        return _naming(word, meant, best, is_ordinary=is_ordinary)

    def _fits(self, key: str, most: Fit) -> dict[str, Fit]:
        """Whom a key fits, at least so well."""
        fits: dict[str, Fit] = {}
        for viewer_id in self.by_word.get(key, ()):
            person = self.people.get(viewer_id)
            fit = _fit(person, key) if person is not None else None
            if fit is not None:
                fits[viewer_id] = fit
        for viewer_id in self.by_nickname.get(key, ()):
            if viewer_id in self.people:
                fits[viewer_id] = min(fits.get(viewer_id, Fit.SHORT), Fit.NICKNAME)
        return {viewer_id: fit for viewer_id, fit in fits.items() if fit <= most}

    def _held_by(self, key: str, viewer_ids: list[str]) -> list[str]:
        """Of several who are called so, whose login it is: another may only be shown by that name."""
        by_login = [one for one in viewer_ids if compact(self.people[one].login) == key]
        return by_login or viewer_ids


def _naming(word: str, viewer_ids: list[str], fit: Fit, *, is_ordinary: bool) -> Naming | None:
    if len(viewer_ids) > MOST_MEANT:
        return None
    return Naming(word, tuple(viewer_ids), fit, is_ordinary)


def _fit(person: NamedPerson, key: str) -> Fit | None:
    """How a key fits somebody's names; None if it does not, such as for a name that was never theirs for sure."""
    if key in {compact(person.login), compact(person.display_name)}:
        return Fit.NAME
    if key in map(compact, person.former):
        return Fit.FORMER
    parts = {*name_parts(person.login, person.display_name)}
    for name in person.former:
        parts |= name_parts(name, name)
    if key in parts:
        return Fit.PART
    if any(part.startswith(key) for part in parts):
        return Fit.SHORT
    former = [_begins(name, name, key) for name in person.former]
    return Fit.SHORT if _begins(person.login, person.display_name, key) or any(former) else None


def _begins(login: str, display_name: str, key: str) -> bool:
    """Whether a name begins so: "elchino" of elChinoGaming, not "noel" of Noe_Lyon, which ends inside a part."""
    beginning = ""
    for piece in _pieces(login, display_name):
        beginning += piece
        if beginning == key:
            return True
    # digits are in no part, so that a beginning with one is compared with the whole
    has_digit = any(character.isdigit() for character in key)
    wholes = (compact(login), compact(display_name))
    return has_digit and any(whole.startswith(key) for whole in wholes)


# ── nicknames ────────────────────────────────────────────────────────────────────────────────

_CALLED = re.compile(
    r"\A(?:(?:also |often |usually |mostly )?(?:goes by|answers to|is (?:also |often )?(?:called|nicknamed|known as)"
    r"|(?:likes|prefers|wants|asks|would like) to be called)"
    r"|(?:their |the )?nickname (?:here |in chat )?is|(?:chat|everybody|everyone) calls them"
    r"|(?:wird|will|möchte|mag)(?= \S+ genannt)|(?:their )?spitzname ist) (?:the nickname )?(?P<names>.+)\Z",
    re.IGNORECASE,
)
_BETWEEN_NAMES = re.compile(r",\s*|\s+(?:or|and|oder|und)\s+|\s*/\s*")
_AFTER_A_NAME = re.compile(
    r"\s+(?:by|in|on|here|for short|genannt|von|im|hier)\b.*\Z", re.IGNORECASE
)
_A_NICKNAME = re.compile(rf"[\w'’{MARKS}-]{{2,25}}")


def nicknames_in(fact: str) -> list[str]:
    """The nicknames that a note gives its subject ("goes by Deb or Debbie"), as they are compared; mostly none.

    A name of two words is none: it would be somebody's full name.
    """
    statement = _CALLED.match(fact.strip().rstrip(".!"))
    if statement is None:
        return []
    listed = _AFTER_A_NAME.sub("", statement["names"])
    nicknames = []
    for name in _BETWEEN_NAMES.split(listed):
        bare = name.strip(" \"'“”„‘’«»「」.!")
        # a rank is no name, whoever gives it to themselves
        is_rank = claims_role(f"is the {bare}")
        if _A_NICKNAME.fullmatch(bare) and compact(bare) not in STOPWORDS and not is_rank:
            nicknames.append(compact(bare))
    return nicknames
