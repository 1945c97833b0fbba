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
# A word, or a run of letters of a script without spaces, in which a name may stand anywhere.
_NAME = re.compile(rf"[@＠]?(?:{_WORD_PATTERN}|{UNSPACED.pattern}+)")
# How chat speaks of whose channel it is, without a name.
_THE_STREAMER = r"\b(?:the|der|dem|den|die|le|la|el|il|lo) streamer(?:in)?\b"
_LIKE_A_HANDLE = re.compile(r"p\d+")
# A shorter name counts only behind an @: too many words are as short.
_SHORTEST_WORD = 3


def _typed(names: Iterable[str]) -> re.Pattern[str]:
    """Return the pattern of what may be a name in a typed text.

    That is a word, or one of these names among letters of a script without spaces.
    """
    unspaced_names = [name for name in names if UNSPACED.search(name)]
    return _typed_with(tuple(sorted(unspaced_names)))


# compiled once for the names of a window, not for each of its lines
@text_cache(64)
def _typed_with(unspaced_names: tuple[str, ...]) -> re.Pattern[str]:
    """Return the pattern of a word, or of one of these names anywhere among letters."""
    alternatives = [rf"(?P<streamer>{_THE_STREAMER})"]
    longest_first = sorted(unspaced_names, key=len, reverse=True)
    for name in longest_first:
        alternatives.append(rf"[@＠]?{re.escape(name)}")
    # where a name that nobody here has ends behind its @, only a space shows
    alternatives.append(rf"[@＠]{UNSPACED.pattern}+")
    alternatives.append(rf"[@＠]?{_WORD_PATTERN}")
    return re.compile("|".join(alternatives), re.IGNORECASE)


class _TypedName(NamedTuple):
    """A typed name of somebody, and the ending to put behind a handle: "'s" for the "s" of "alices birthday"."""

    name: str
    ending: str


def _name_in(
    typed: str,
    names: Container[str],
    language: LineLanguage,
) -> _TypedName | None:
    """Return the name among these (casefolded) that a typed word is; None if it is none, or another word first.

    `language`: of the line that it stands in.
    """
    has_at = _has_at(typed)
    name = _name_of_word(typed)
    if not has_at and not _counts_without_at(name, language):
        return None
    if name in names:
        return _TypedName(name, "")
    # a login behind an @ is typed whole: "@alices" is somebody else
    if has_at:
        return None
    if not name.endswith("s"):
        return None
    owner = name[:-1]
    if owner not in names:
        return None
    if not _counts_without_at(owner, language):
        return None
    return _TypedName(owner, "'s")


def _has_at(typed: str) -> bool:
    """Return whether a typed word has an @ before it, also one as wide as a Chinese sign."""
    return typed[0] in "@＠"


def _name_of_word(typed: str) -> str:
    """Return a typed word as names are compared: casefolded, without an @ before it."""
    return typed.lstrip("@＠").casefold()


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
    stored_login = state.get("login", "")
    # the settings may have a new login that Twitch has not reported yet: chat uses both
    login = login_of(channel) or stored_login
    if not login:
        return None
    viewer_id = state.get("id") or await by_login(source, login)
    if not viewer_id:
        viewer_id = provisional_id(login)
    names = {login.casefold(), stored_login.casefold()} - {""}
    return Streamer(viewer_id, login, frozenset(names))


class Handles(Struct, frozen=True):
    """The handles of one call.

    `people`: the handle of each id. `names`: the id that a name (casefolded) stands for, or None for somebody not to be
    named. `streamer`: the id that "the streamer" stands for; empty where that is nobody's.
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
        """Return handles for these ids: P1, P2, …, in this order."""
        handles: dict[str, str] = {}
        for viewer_id in people:
            # somebody may be there twice, and has one handle
            handles.setdefault(viewer_id, f"P{len(handles) + 1}")
        folded_names: dict[str, str | None] = {}
        if names is not None:
            for name, named_id in names.items():
                folded_names[name.casefold()] = named_id
        folded_bot_names = frozenset(name.casefold() for name in bot_names)
        return cls(handles, folded_names, folded_bot_names, streamer)

    def handle(self, viewer_id: str) -> str:
        """Return somebody's handle; "somebody" for whoever has none."""
        return self.people.get(viewer_id, SOMEBODY)

    def hide(self, text: str) -> str:
        """Return a stored text with handles in the place of mentions."""
        # every second piece is the id of a mention
        pieces = MENTION.split(text)
        for index, piece in enumerate(pieces):
            is_mention = index % 2 == 1
            pieces[index] = self.handle(piece) if is_mention else unhandled(piece)
        return "".join(pieces)

    def hide_chat(self, text: str) -> str:
        """Return what somebody typed, on one line, with handles in the place of names.

        An unknown @name is "@somebody".
        """
        language = _certain_language(text)
        with_handle = partial(self._with_handle, language=language)
        # a mention that somebody typed by hand must not pass for one of ours
        one_line = defang(clean(text))
        typed_name = _typed(self.names)
        return typed_name.sub(with_handle, one_line)

    def _with_handle(self, match: re.Match[str], *, language: LineLanguage) -> str:
        """Return what stands in the place of a word that may be a name."""
        typed = match[0]
        if match["streamer"]:
            return self.people.get(self.streamer, typed)
        has_at = _has_at(typed)
        name = _name_of_word(typed)
        if name in self.bot_names and (has_at or name not in ORDINARY):
            return BOT
        typed_name = _name_in(typed, self.names, language)
        if typed_name is not None:
            viewer_id = self.names[typed_name.name]
            handle = SOMEBODY if viewer_id is None else self.handle(viewer_id)
            return handle + typed_name.ending
        # it is a name of somebody whom the memory does not know
        if has_at:
            return f"@{SOMEBODY}"
        return _unforged(typed)

    def ids(self, text: str) -> str | None:
        """Return an answer with mentions in the place of handles; None if it has a handle that was not given out."""
        mentions = {}
        for viewer_id, handle in self.people.items():
            mentions[handle] = mention(viewer_id)
        # a model may write a mention by itself; only a handle that was given out becomes one
        safe = defang(text)
        if self.streamer in self.people:
            # the model was shown the channel's name, and may write it where the handle was meant
            safe = _typed(self.names).sub(self._streamer_by_handle, safe)
        handles = {match[0] for match in _HANDLE.finditer(safe)}
        if not handles <= mentions.keys():
            return None
        return _HANDLE.sub(lambda match: mentions[match[0]], safe)

    def _streamer_by_handle(self, match: re.Match[str]) -> str:
        """Return the streamer's handle for a word that names the streamer, and any other word as it is."""
        written = match[0]
        if match["streamer"]:
            return self.people[self.streamer]
        name = _name_of_word(written)
        if self.names.get(name) != self.streamer:
            return written
        if _has_at(written) or _counts_without_at(name, LineLanguage.ENGLISH):
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
    if unleet(looks) == "bot":
        return "bot"
    if not _LIKE_A_HANDLE.fullmatch(looks):
        return word
    # isnumeric, because a full-width or circled digit looks like a handle's too
    first_digit = next(index for index, char in enumerate(word) if char.isnumeric())
    return f"{word[:first_digit]}-{word[first_digit:]}"


def _certain_language(text: str) -> LineLanguage:
    """Return the language of a typed text; English if its words do not show another."""
    language = line_language(text)
    if language is LineLanguage.UNKNOWN:
        return LineLanguage.ENGLISH
    return language


def _counts_without_at(name: str, language: LineLanguage) -> bool:
    """Return whether a name counts without an @: not "king" or "drums", which are words before they are names.

    Else everybody's "plays drums" would be a fact about the viewer `drums`, and go with them.
    """
    if UNSPACED.match(name):
        return True
    if len(name) < _SHORTEST_WORD:
        return False
    if name.isdigit():
        return False
    return not is_ordinary(name, language)


def without_names(text: str, names: Collection[str]) -> str:
    """Return the text with "somebody" in the place of these names (casefolded).

    A name that is a word as well counts only behind an @.
    """
    if not names:
        return text
    language = _certain_language(text)

    def without_name(match: re.Match[str]) -> str:
        typed = match[0]
        # "the streamer" names nobody
        if match["streamer"]:
            return typed
        typed_name = _name_in(typed, names, language)
        if typed_name is None:
            return typed
        return SOMEBODY + typed_name.ending

    return _typed(names).sub(without_name, text)


def names_typed(texts: Iterable[str]) -> set[str]:
    """Return every word (casefolded) in these texts that could be somebody's name, also without the s of a genitive."""
    typed_names: set[str] = set()
    for text in texts:
        for word in _NAME.findall(clean(text)):
            name = _name_of_word(word)
            if UNSPACED.match(name):
                # no space shows where in the run a name begins
                typed_names |= pieces_of_run(name)
                continue
            typed_names.add(name)
            if name.endswith("s"):
                typed_names.add(name[:-1])
    return typed_names
