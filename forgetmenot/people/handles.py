"""Handles (P1, P2, …), which stand for people in a call that writes memory, and the names that are typed in a text.

Handles are valid for one call. `hide_chat` leaves no name of a known viewer in a text; typing a handle gives nobody
one; an answer with an unknown handle is not mapped.
"""

import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from msgspec import Struct, field

from forgetmenot.people.common_words import ORDINARY, is_ordinary
from forgetmenot.store import channel_state
from forgetmenot.store.database import Source
from forgetmenot.store.names import by_login
from forgetmenot.text.clean import clean, skeleton, unleet
from forgetmenot.text.line_language import LineLanguage, line_language
from forgetmenot.text.mentions import (
    MENTION,
    SOMEBODY,
    defang,
    login_of,
    mention,
    provisional_id,
)
from forgetmenot.text.names import MARKS, pieces_of_run
from forgetmenot.text.words import (
    UNSPACED,
    WORD_END,
    text_cache,
)

BOT = "BOT"
# Letters of scripts without spaces stand right beside a handle, as beside the name in its place ("P3さん").
_SPACED = rf"(?!{UNSPACED.pattern})\w"
_HANDLE = re.compile(rf"(?<!{_SPACED})P(\d{{1,4}}){WORD_END}")
_WORD_PATTERN = rf"{_SPACED}(?:(?!{UNSPACED.pattern})[\w{MARKS}])*"
_WORD = re.compile(_WORD_PATTERN)
_NAME = re.compile(rf"[@＠]?(?:{_WORD_PATTERN}|{UNSPACED.pattern}+)")
# How chat speaks of whose channel it is, without a name.
_THE_STREAMER = r"\b(?:the|der|dem|den|die|le|la|el|il|lo) streamer(?:in)?\b"
_LIKE_A_HANDLE = re.compile(r"p\d+")
_SHORTEST_WORD = 3


def _typed(names: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of what may be a name in a typed text.

    That is a word, or one of these names among letters of a script without spaces.
    """
    return _typed_with(tuple(sorted(name for name in names if UNSPACED.search(name))))


@text_cache(64)
def _typed_with(unspaced: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(unspaced, key=len, reverse=True)
    inside = [rf"[@＠]?{re.escape(name)}" for name in longest_first]
    # where a name that nobody here has ends behind its @, only a space tells
    unknown = rf"[@＠]{UNSPACED.pattern}+"
    streamer = rf"(?P<streamer>{_THE_STREAMER})"
    return re.compile(
        "|".join([streamer, *inside, unknown, rf"[@＠]?{_WORD_PATTERN}"]), re.IGNORECASE
    )


class _Named(NamedTuple):
    """A typed name of somebody, and what was typed behind it: the "s" of "alices birthday"."""

    name: str
    ending: str


def _name_in(
    typed: str,
    names: Container[str],
    language: LineLanguage,
) -> _Named | None:
    """Return the name among these (casefolded) that a typed word is; None if it is none, or another word first.

    `language`: of the line that it stands in.
    """
    is_marked = typed[0] in "@＠"
    name = typed.lstrip("@＠").casefold()
    if not is_marked and not _counts_without_at(name, language):
        return None
    if name in names:
        return _Named(name, "")
    owner = name[:-1]
    if is_marked or not name.endswith("s") or owner not in names:
        return None
    return _Named(owner, "'s") if _counts_without_at(owner, language) else None


class Streamer(NamedTuple):
    """Whose channel it is: their id, its login, and every name (casefolded) that it goes by."""

    id: str
    login: str
    names: frozenset[str]


async def streamer_of(source: Source, channel: str) -> Streamer | None:
    """Return whose channel this is; None if it has no name yet. `channel`: the login in the settings.

    The id is provisional until Twitch has said it, or the streamer has typed.
    """
    state = await channel_state.read_all(source)
    names = [login_of(channel), state.get("login", "")]
    logins = [name for name in names if name]
    if not logins:
        return None
    viewer_id = (
        state.get("id")
        or await by_login(source, logins[0])
        or provisional_id(logins[0])
    )
    return Streamer(viewer_id, logins[0], frozenset(name.casefold() for name in logins))


class Handles(Struct, frozen=True):
    """The handles of one call. `names` (casefolded) → the id they stand for, or None for somebody not to be named.

    `streamer`: the id that "the streamer" stands for; empty where that is nobody's.
    """

    people: Mapping[str, str]
    names: Mapping[str, str | None] = field(default_factory=dict)
    bot_names: frozenset[str] = frozenset()
    streamer: str = ""

    @classmethod
    def of(
        cls,
        people: Sequence[str],
        names: Mapping[str, str | None] | None = None,
        bot_names: Iterable[str] = (),
        streamer: str = "",
    ) -> "Handles":
        """Assign P1, P2, … to these ids, in this order."""
        unique = dict.fromkeys(people)
        return cls(
            {viewer_id: f"P{number}" for number, viewer_id in enumerate(unique, 1)},
            {name.casefold(): viewer_id for name, viewer_id in (names or {}).items()},
            frozenset(name.casefold() for name in bot_names),
            streamer,
        )

    def handle(self, viewer_id: str) -> str:
        """Return somebody's handle; "somebody" for whoever has none."""
        return self.people.get(viewer_id, SOMEBODY)

    def hide(self, text: str) -> str:
        """Return a stored text with handles in the place of mentions."""
        pieces = []
        for place, piece in enumerate(MENTION.split(text)):
            # every second piece is the id of a mention
            is_mention = place % 2 == 1
            pieces.append(self.handle(piece) if is_mention else unhandled(piece))
        return "".join(pieces)

    def hide_chat(self, text: str) -> str:
        """Return what somebody typed, on one line, with handles in the place of names.

        An unknown @name is "@somebody".
        """
        hidden = partial(self._hidden, language=_certain_language(text))
        return _typed(self.names).sub(hidden, defang(clean(text)))

    def _hidden(self, match: re.Match[str], *, language: LineLanguage) -> str:
        """Return what stands in the place of a word that may be a name."""
        typed = match[0]
        if match["streamer"]:
            return self.people.get(self.streamer, typed)
        is_marked = typed[0] in "@＠"
        name = typed.lstrip("@＠").casefold()
        if name in self.bot_names and (is_marked or name not in ORDINARY):
            return BOT
        typed_name = _name_in(typed, self.names, language)
        if typed_name is not None:
            viewer_id = self.names[typed_name.name]
            handle = SOMEBODY if viewer_id is None else self.handle(viewer_id)
            return handle + typed_name.ending
        return f"@{SOMEBODY}" if is_marked else _unforged(typed)

    def ids(self, text: str) -> str | None:
        """Return an answer with mentions in the place of handles; None if it has a handle that was not given out."""
        by_handle = {handle: viewer_id for viewer_id, handle in self.people.items()}
        # a model may write a mention by itself; only a handle that was given out becomes one
        safe = defang(text)
        if self.streamer in self.people:
            # the model was shown the channel's name, and may write it where the handle was meant
            safe = _typed(self.names).sub(self._streamer_by_handle, safe)
        if any(match[0] not in by_handle for match in _HANDLE.finditer(safe)):
            return None
        return _HANDLE.sub(lambda match: mention(by_handle[match[0]]), safe)

    def _streamer_by_handle(self, match: re.Match[str]) -> str:
        """Return the streamer's handle for a word that names the streamer, and any other word as it is."""
        written = match[0]
        if match["streamer"]:
            return self.people[self.streamer]
        name = written.lstrip("@＠").casefold()
        if self.names.get(name) != self.streamer:
            return written
        is_marked = name != written.casefold()
        if is_marked or _counts_without_at(name, LineLanguage.ENGLISH):
            return self.people[self.streamer]
        return written


def unhandled(text: str) -> str:
    """Return foreign text in which nothing reads as a handle.

    "P3" and "p3" become "P-3" and "p-3", "BOT" and "B0T" become "bot".
    """
    return _WORD.sub(lambda match: _unforged(match[0]), text)


def _unforged(word: str) -> str:
    """Return a word as it is, changed only if it looks like a handle, in whatever letters."""
    looks = skeleton(word)
    if _LIKE_A_HANDLE.fullmatch(looks):
        # isnumeric, because a full-width or circled digit looks like a handle's too
        start = next(place for place, char in enumerate(word) if char.isnumeric())
        return f"{word[:start]}-{word[start:]}"
    return "bot" if unleet(looks) == "bot" else word


def _certain_language(text: str) -> LineLanguage:
    """Return the language of a typed text; English if its words do not show another."""
    language = line_language(text)
    return LineLanguage.ENGLISH if language is LineLanguage.UNKNOWN else language


def _counts_without_at(name: str, language: LineLanguage) -> bool:
    """Return whether a name counts without an @: not "king" or "drums", which are words before they are names.

    Else everybody's "plays drums" would be a fact about the viewer `drums`, and go with them.
    """
    if UNSPACED.match(name):
        return True
    return (
        len(name) >= _SHORTEST_WORD
        and not name.isdigit()
        and not is_ordinary(name, language)
    )


def without_names(text: str, names: Collection[str]) -> str:
    """Return the text with "somebody" in the place of these names (casefolded).

    A name that is a word as well counts only behind an @.
    """
    if not names:
        return text

    language = _certain_language(text)

    def replaced(match: re.Match[str]) -> str:
        # "the streamer" names nobody
        if match["streamer"]:
            return match[0]
        typed_name = _name_in(match[0], names, language)
        return match[0] if typed_name is None else SOMEBODY + typed_name.ending

    return _typed(names).sub(replaced, text)


def names_typed(texts: Iterable[str]) -> set[str]:
    """Return every word (casefolded) in these texts that could be somebody's name, also without the s of a genitive."""
    typed: set[str] = set()
    for text in texts:
        for word in _NAME.findall(clean(text)):
            name = word.lstrip("@＠").casefold()
            if UNSPACED.match(name):
                typed |= pieces_of_run(name)
                continue
            typed.add(name)
            if name.endswith("s"):
                typed.add(name[:-1])
    return typed
