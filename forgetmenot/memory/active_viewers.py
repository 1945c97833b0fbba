"""Active viewers: the names by which a message can mention somebody, read once a minute.

Active are viewers seen within a day and all regulars, except those who opted out or were banned.
"""

import asyncio
import re
from collections.abc import Callable, Collection, Iterable

from forgetmenot.clock import DAY, MINUTE, Clock
from forgetmenot.memory.ranking import FILLER
from forgetmenot.memory.viewer_rules import REGULAR_WITHIN
from forgetmenot.settings.schema import Settings
from forgetmenot.store import viewers
from forgetmenot.store.database import Database
from forgetmenot.store.viewers import Name
from forgetmenot.text.mentions import ids_in
from forgetmenot.text.words import STOPWORDS, text_cache, words

FRESH = MINUTE
SEEN_LATELY = DAY


class ActiveViewers:
    """The active viewers of one database; empty until the first `look`."""

    def __init__(self, *, db: Database, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self._people = ViewerNames(())
        self._until = self._seen = 0

    def is_name(self, word: str) -> bool:
        """Whether a word names an active viewer."""
        return self._people.is_name(word)

    def named_in(self, text: str, *, without: Collection[str] = (), limit: int | None = None) -> list[str]:
        """The ids of the people a text speaks of, in its order; `without` are ids to leave out. Reads nothing."""
        wanted = self._settings().recall.others if limit is None else limit
        return self._people.named_in(text, without=without, limit=wanted)

    async def look(self) -> None:
        """Read the active viewers, unless they were read within the last minute."""
        if self._clock.now() >= self._until:
            await self.look_again()

    async def look_again(self) -> None:
        """Read the active viewers. A periodic task calls it so that no reply has to wait."""
        now, regular = self._clock.now(), self._settings().people
        names = await viewers.active_names(
            self._db,
            seen_since=now - SEEN_LATELY,
            regular_since=now - REGULAR_WITHIN,
            regular_streams=regular.regular_streams,
        )
        seen = hash(tuple(names))
        # the index of thousands of names is only built anew when one of them changed
        if seen != self._seen:
            self._people = await asyncio.to_thread(ViewerNames, names)
            self._seen = seen
        self._until = now + FRESH

    def forget(self) -> None:
        """Look anew before the next message: after an erasure."""
        self._until = 0


# Viewers named in a text: by @name, name, former name or an unambiguous short form. A word that fits two people names
# neither, and an ordinary word needs an @. Only recent chatters and regulars are known.


_AT = re.compile(r"@([A-Za-z0-9_]{2,25})")
_TOKEN = re.compile(r"[\w'’]+")
_PARTS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[^\W\d_]+")
_SHORTEST_PART = 3
_SHORTEST_PREFIX = 4

# Ordinary words of chat that are often a piece of a login, or one.
_ORDINARY = """game games gaming gamer play plays player playing live stream streams streamer streaming twitch channel
    boss level run runs speed song music team tank heal damage love hate good best real true big small little old new
    king queen lord lady mister miss girl boy kid mom dad cat dog bird fish wolf bear dragon ghost shadow dark light
    red blue green black white gold silver fire water ice sun moon star sky night day time life death dead will mark
    drive drives driving car cars food coffee pizza work school home house world people person friend friends clip
    mod mods raid sub subs gift gifts hype pog win wins lose lost fan fans news today tomorrow yesterday never ever
    always first last next back here there video test user official the_ tv ttv yt"""
ORDINARY = frozenset(_ORDINARY.split()) | STOPWORDS | FILLER


NOBODY = ""  # the result for a word that fits two people


class ViewerNames:
    """An index of names. Built off the loop; asked in microseconds.

    Texts alone, no sets: the garbage collector walks over thousands of sets for 10 ms, and nothing else runs meanwhile.
    """

    def __init__(self, names: Iterable[Name]) -> None:
        self._exact: dict[str, str] = {}
        self._at: dict[str, str] = {}
        self._parts: dict[str, str] = {}
        self._prefixes: dict[str, str] = {}
        # current names first, so that a former name never takes a login from who has it now
        for name in sorted(names, key=lambda name: not name.current):
            self._add(name)

    def _add(self, name: Name) -> None:
        if name.current or name.login not in self._at:  # a login that somebody else holds now is theirs
            _enter(self._at, name.login.casefold(), name.viewer_id)
        read = _read(name.login, name.display_name)
        for level, pieces in zip((self._exact, self._parts, self._prefixes), read, strict=True):
            for piece in pieces:
                _enter(level, piece, name.viewer_id)

    def named_in(self, text: str, *, without: Collection[str] = (), limit: int = 2) -> list[str]:
        """The ids of people a text speaks of, in its order, at most `limit`; `without` are ids to leave out."""
        found = [*ids_in(text), *(self._at.get(login.casefold(), NOBODY) for login in _AT.findall(text))]
        # what stands behind an @ is that person's name or nobody's: its pieces name no one
        for token in _TOKEN.findall(_AT.sub(" ", text)):
            found += self._people(token)
        return [person for person in dict.fromkeys(found) if person != NOBODY and person not in without][:limit]

    def is_name(self, word: str) -> bool:
        """Whether a word is the whole name of somebody: "drummer" is not, though it is a piece of "drummer_dan"."""
        whole = _whole(word)
        return whole in self._exact and whole not in ORDINARY

    def _people(self, token: str) -> list[str]:
        """Whom one token names: by the whole of it, else by its words. "When is alices birthday", as people type it."""
        for name in (token, token[:-1]) if token[-1] in "sS" else (token,):
            if self.is_name(name):
                return [self._exact[_whole(name)]]
        known = (word for word in words(token) if word not in ORDINARY)
        return [self._parts.get(word, self._prefixes.get(word, NOBODY)) for word in known]


def _enter(level: dict[str, str], word: str, person: str) -> None:
    level[word] = person if level.get(word, person) == person else NOBODY


@text_cache(8_192)
def _whole(name: str) -> str:
    return "".join(words(name))


Pieces = tuple[str, ...]


@text_cache(8_192)
def _read(login: str, display_name: str) -> tuple[Pieces, Pieces, Pieces]:
    """A name by the whole of it, its parts, and the beginnings of the first: the same names come every minute."""
    wholes = tuple({_whole(login), _whole(display_name)} - {""})
    found = [word for piece in _PARTS.findall(display_name) or _PARTS.findall(login) for word in words(piece)]
    prefixes = [found[0][:end] for end in range(_SHORTEST_PREFIX, len(found[0]))] if found else []
    return wholes, tuple(part for part in found if len(part) >= _SHORTEST_PART), tuple(prefixes)
