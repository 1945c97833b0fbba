"""People: who is excluded, roles and standing; the names by which a message mentions somebody; handles for model calls.

- Excluded are known bots, viewers whom the streamer ignores or who opted out, and the bot itself: their lines never
  enter tier 1. A role is read from the badges of one message, a standing from the streams that a viewer came to.
- Active are viewers seen within a day and all regulars, except those who opted out or were banned.
- Handles (P1, P2, …) stand for people in a call that writes memory, and are valid for one call. `hide_chat` leaves no
  name of a known viewer in a text; typing a handle gives nobody one; an answer with an unknown handle is not mapped.
"""

import asyncio
import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct, field

from forgetmenot.clock import DAY, MINUTE, Clock
from forgetmenot.domain import Attendance, ChatEvent, Role, Standing
from forgetmenot.memory.meaning import is_common_word
from forgetmenot.memory.ranking import FILLER
from forgetmenot.settings.schema import MemorySettings, PeopleSettings, Settings
from forgetmenot.store import channel_state, viewers
from forgetmenot.store.database import Database, Source
from forgetmenot.store.viewers import Name
from forgetmenot.text.clean import clean, skeleton, unleet
from forgetmenot.text.mentions import MENTION, defang, ids_in, login_of, mention, provisional
from forgetmenot.text.words import STOPWORDS, text_cache, words

_KNOWN_BOTS = """nightbot streamelements streamlabs moobot fossabot wizebot botisimo sery_bot phantombot deepbot ankhbot
    coebot stay_hydrated_bot soundalerts streamstickers pretzelrocks songlistbot restreambot own3d streamlootsbot
    tangiabot blerp kofistreambot supibot titlechange_bot pokemoncommunitygame frostytoolsdotcom creatisbot
    playwithviewersbot logviewer hnlbot vivbot scorpbot xanbot mirrobot buttsbot thepositivebot streamcaptainbot
    instructbot lolrankbot stdbot overlayexpert dotabod twitchprimereminder electricallongboard anotherttvviewer"""
KNOWN_BOTS = frozenset(_KNOWN_BOTS.split())
OPTED_OUT = "opted_out"
BOT_BADGES = frozenset({"bot-badge", "bot"})


class Exclusion(Struct, frozen=True):
    """The rules of one moment. `opted_out` are ids; `own_id` is the bot's, empty where nobody is signed in."""

    memory: MemorySettings = field(default_factory=MemorySettings)
    opted_out: Container[str] = field(default_factory=frozenset)
    own_id: str = ""

    def why(self, event: ChatEvent) -> str | None:
        """The name of the rule that keeps a line out, or None."""
        if self.own_id and event.user_id == self.own_id:
            return "own"
        # who opted out by name, before they ever spoke here, has no id yet (`viewer optout`)
        if event.user_id in self.opted_out or provisional(event.login) in self.opted_out:
            return OPTED_OUT
        if not _names(self.memory.ignored_viewers).isdisjoint(
            (event.login.casefold(), event.user_id)
        ):
            return "ignored"
        return (
            "known_bot" if is_bot(self.memory, event.login, event.user_id, event.badges) else None
        )


def is_bot(
    memory: MemorySettings, login: str, user_id: str, badges: AbstractSet[str] = frozenset()
) -> bool:
    """Whether an account is a bot: by its login or id on a list, or by Twitch's badge."""
    known = login.casefold() in KNOWN_BOTS or not BOT_BADGES.isdisjoint(badges)
    return known or not _names(memory.known_bots).isdisjoint((login.casefold(), user_id))


@lru_cache(maxsize=8)
def _names(typed: tuple[str, ...]) -> frozenset[str]:
    """Logins and ids as the settings have them."""
    return frozenset(name.strip().removeprefix("@").casefold() for name in typed)


_BADGES = (
    ("broadcaster", Role.BROADCASTER),
    ("lead_moderator", Role.MODERATOR),
    ("moderator", Role.MODERATOR),
    ("vip", Role.VIP),
    ("subscriber", Role.SUBSCRIBER),
    ("founder", Role.SUBSCRIBER),
)


def role_of(badges: AbstractSet[str]) -> Role:
    """The highest role that a badge stands for."""
    return next((role for badge, role in _BADGES if badge in badges), Role.VIEWER)


# Streams within this time count for being a regular, in ms.
REGULAR_WITHIN = 60 * DAY


def standing_of(came: Attendance, people: PeopleSettings, now: int) -> Standing:
    """The standing of somebody who came that often, `lately` within the regulars' span."""
    if came.streams < people.newcomer_streams:
        return Standing.NEWCOMER
    if came.before_at is not None and now - came.before_at >= people.returner_away_d * DAY:
        return Standing.RETURNER
    return Standing.REGULAR if came.lately >= people.regular_streams else Standing.KNOWN


FRESH = MINUTE
SEEN_LATELY = DAY


class ActiveViewers:
    """The `names` of the active viewers of one database; none until the first `look`."""

    def __init__(self, *, db: Database, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self.names = ViewerNames(())
        self._until = self._seen = 0

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
            self.names = await asyncio.to_thread(ViewerNames, names)
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
        # current names first, so that a former name never takes a login from who has it now
        for name in sorted(names, key=lambda name: not name.current):
            self._add(name)

    def _add(self, name: Name) -> None:
        if (
            name.current or name.login not in self._at
        ):  # a login that somebody else holds now is theirs
            _enter(self._at, name.login.casefold(), name.viewer_id)
        for level, pieces in zip(
            (self._exact, self._parts), _read(name.login, name.display_name), strict=True
        ):
            for piece in pieces:
                _enter(level, piece, name.viewer_id)

    def named_in(self, text: str, *, without: Collection[str] = (), limit: int = 2) -> list[str]:
        """The ids of people a text speaks of, in its order, at most `limit`; `without` are ids to leave out."""
        found = [
            *ids_in(text),
            *(self._at.get(login.casefold(), NOBODY) for login in _AT.findall(text)),
        ]
        # what stands behind an @ is that person's name or nobody's: its pieces name no one
        for token in _TOKEN.findall(_AT.sub(" ", text)):
            found += self._people(token)
        return [
            person for person in dict.fromkeys(found) if person != NOBODY and person not in without
        ][:limit]

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
        return [self._parts.get(word, NOBODY) for word in known]


def _enter(level: dict[str, str], word: str, person: str) -> None:
    level[word] = person if level.get(word, person) == person else NOBODY


@text_cache(8_192)
def _whole(name: str) -> str:
    return "".join(words(name))


@text_cache(8_192)
def _read(login: str, display_name: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """A name by the whole of it and by its parts: the same names come every minute."""
    wholes = tuple({_whole(login), _whole(display_name)} - {""})
    found = [
        word
        for piece in _PARTS.findall(display_name) or _PARTS.findall(login)
        for word in words(piece)
    ]
    return wholes, tuple(part for part in found if len(part) >= _SHORTEST_PART)


SOMEBODY = "someone"
BOT = "BOT"
_HANDLE = re.compile(r"(?<!\w)P(\d{1,4})(?!\w)")
_MARKS = "\u0300-\u036f\u0483-\u0489\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"  # they sit on a letter and end no word
_WORD = re.compile(rf"\w[\w{_MARKS}]*")
_NAME = re.compile(r"[@＠]?\w+")
_TYPED = re.compile(rf"[@＠]?\w[\w{_MARKS}]*")
# How chat speaks of whose channel it is, without a name.
_THE_STREAMER = r"\b(?:the|der|dem|den|die|le|la|el|il|lo) streamer(?:in)?\b"
_TYPED_OR_STREAMER = re.compile(rf"(?P<streamer>{_THE_STREAMER})|{_TYPED.pattern}", re.IGNORECASE)
_LIKE_A_HANDLE = re.compile(r"p\d+")
_SHORTEST_WORD = 3


class Streamer(NamedTuple):
    """Whose channel it is: their id, its login, and every name (casefolded) that it goes by."""

    id: str
    login: str
    names: frozenset[str]


async def streamer_of(source: Source, channel: str) -> Streamer | None:
    """Whose channel this is; None where it has no name yet. `channel`: the login in the settings.

    The id is provisional until Twitch has said it, or the streamer has typed.
    """
    state = await channel_state.read_all(source)
    names = [login_of(channel), state.get("login", "")]
    logins = [name for name in names if name]
    if not logins:
        return None
    viewer_id = state.get("id") or await viewers.find(source, logins[0]) or provisional(logins[0])
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
            {name.casefold(): who for name, who in (names or {}).items()},
            frozenset(name.casefold() for name in bot_names),
            streamer,
        )

    def handle(self, viewer_id: str) -> str:
        """Somebody's handle; "someone" for who has none."""
        return self.people.get(viewer_id, SOMEBODY)

    def hide(self, text: str) -> str:
        """A stored text with handles in the place of mentions."""
        pieces = enumerate(MENTION.split(text))  # every second one is the id of a mention
        return "".join(self.handle(piece) if at % 2 else unhandled(piece) for at, piece in pieces)

    def hide_chat(self, text: str) -> str:
        """What somebody typed, on one line, with handles in the place of names; an unknown @name is "@someone"."""
        return _TYPED_OR_STREAMER.sub(self._hidden, defang(clean(text)))

    def _hidden(self, found: re.Match[str]) -> str:
        typed = found[0]
        if found["streamer"]:
            return self.people.get(self.streamer, typed)
        name = typed.lstrip("@＠").casefold()
        at = typed[0] in "@＠"
        if name in self.bot_names and (at or name not in ORDINARY):
            return BOT
        if name in self.names and (at or _counts_without_at(name)):
            who = self.names[name]
            return SOMEBODY if who is None else self.handle(who)
        return f"@{SOMEBODY}" if at else _unforged(typed)

    def ids(self, text: str) -> str | None:
        """An answer with mentions in the place of handles; None if it has a handle that was not given out."""
        by_handle = {handle: viewer_id for viewer_id, handle in self.people.items()}
        # a model may write a mention by itself; only a handle that was given out becomes one
        safe = defang(text)
        if self.streamer in self.people:
            # the model was shown the channel's name, and may write it where the handle was meant
            safe = _TYPED_OR_STREAMER.sub(self._streamer_by_handle, safe)
        if any(found[0] not in by_handle for found in _HANDLE.finditer(safe)):
            return None
        return _HANDLE.sub(lambda found: mention(by_handle[found[0]]), safe)

    def _streamer_by_handle(self, found: re.Match[str]) -> str:
        written = found[0]
        name = written.lstrip("@＠").casefold()
        is_name = self.names.get(name) == self.streamer
        if found["streamer"] or (
            is_name and (name != written.casefold() or _counts_without_at(name))
        ):
            return self.people[self.streamer]
        return written


def unhandled(text: str) -> str:
    """Foreign text in which nothing reads as a handle: "P3" and "p3" become "P-3" and "p-3", "BOT" and "B0T" "bot"."""
    return _WORD.sub(lambda found: _unforged(found[0]), text)


def _unforged(word: str) -> str:
    """A word as it is, unless it looks like a handle, in whatever letters."""
    looks = skeleton(word)
    if _LIKE_A_HANDLE.fullmatch(looks):
        # isnumeric, because a full-width or circled digit looks like a handle's too
        digits = next(at for at, char in enumerate(word) if char.isnumeric())
        return f"{word[:digits]}-{word[digits:]}"
    return "bot" if unleet(looks) == "bot" else word


def _counts_without_at(name: str) -> bool:
    """Whether a bare name means its owner: not "king", "ok" or "drums", which are words before they are names.

    Else everybody's "plays drums" would be a fact about the viewer `drums`, and go with them.
    """
    if len(name) < _SHORTEST_WORD or name.isdigit():
        return False
    return name not in ORDINARY and not is_common_word(name)


def without_names(text: str, names: Collection[str]) -> str:
    """The text with "someone" in the place of these names (casefolded); one that is a word first counts behind an @."""

    def shown(found: re.Match[str]) -> str:
        name = found[0].lstrip("@＠").casefold()
        return (
            SOMEBODY
            if name in names and (found[0][0] in "@＠" or _counts_without_at(name))
            else found[0]
        )

    return _TYPED.sub(shown, text) if names else text


def names_typed(texts: Iterable[str]) -> set[str]:
    """Every word (casefolded) in these texts that could be somebody's name."""
    return {
        found.lstrip("@＠").casefold() for text in texts for found in _NAME.findall(clean(text))
    }
