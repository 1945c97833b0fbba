"""People: who is excluded, roles and standing; the names by which a message mentions somebody; handles for model calls.

- Excluded are known bots, viewers whom the streamer ignores or who opted out, and the bot itself: their lines never
  enter tier 1. A role is read from the badges of one message, a standing from the streams that a viewer came to.
- Active are viewers seen within a day and all regulars, except those who opted out or were banned.
- Handles (P1, P2, …) stand for people in a call that writes memory, and are valid for one call. `hide_chat` leaves no
  name of a known viewer in a text; typing a handle gives nobody one; an answer with an unknown handle is not mapped.
"""

import re
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct, field

from forgetmenot.clock import DAY, MINUTE, Clock
from forgetmenot.domain import Attendance, ChatEvent, Role, Standing
from forgetmenot.settings.schema import MemorySettings, PeopleSettings, Settings
from forgetmenot.store import channel_state
from forgetmenot.store.database import Database, Source
from forgetmenot.store.names import active_ids, by_login
from forgetmenot.text.clean import clean, skeleton, unleet
from forgetmenot.text.meaning import is_common_word
from forgetmenot.text.mentions import MENTION, defang, login_of, mention, provisional_id
from forgetmenot.text.names import MARKS, WordKind, pieces_of_run
from forgetmenot.text.words import (
    FILLER,
    FOREIGN_STOPWORDS,
    STOPWORDS,
    UNSPACED,
    WORD_END,
    text_cache,
)

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
        if event.user_id in self.opted_out or provisional_id(event.login) in self.opted_out:
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
    """The ids of those who were in chat within a day, and of all regulars; none until the first `look`."""

    def __init__(self, *, db: Database, settings: Callable[[], Settings], clock: Clock) -> None:
        self._db = db
        self._settings = settings
        self._clock = clock
        self.ids: frozenset[str] = frozenset()
        self._until = 0

    async def look(self) -> None:
        """Read them, unless they were read within the last minute."""
        if self._clock.now() >= self._until:
            await self.look_again()

    async def look_again(self) -> None:
        """Read them. A periodic task calls it so that no reply has to wait."""
        now = self._clock.now()
        self.ids = await active_now(self._db, self._settings().people, now)
        self._until = now + FRESH

    def forget(self) -> None:
        """Look anew before the next message: after an erasure."""
        self._until = 0


async def active_now(source: Source, people: PeopleSettings, now: int) -> frozenset[str]:
    """The ids of those who were in chat within a day, and of all regulars; nobody hidden."""
    return await active_ids(
        source,
        seen_since=now - SEEN_LATELY,
        regular_since=now - REGULAR_WITHIN,
        regular_streams=people.regular_streams,
    )


# Ordinary words of chat that are often a piece of a login, or one.
_ORDINARY = """game games gaming gamer play plays player playing live stream streams streamer streaming twitch channel
    boss level run runs speed song music team tank heal damage love hate good best real true big small little old new
    king queen lord lady mister miss girl boy kid mom dad cat dog bird fish wolf bear dragon ghost shadow dark light
    red blue green black white gold silver fire water ice sun moon star sky night day time life death dead will mark
    drive drives driving car cars food coffee pizza work school home house world people person friend friends clip
    mod mods raid sub subs gift gifts hype pog win wins lose lost fan fans news today tomorrow yesterday never ever
    always first last next back here there video test user official the_ tv ttv yt"""
ORDINARY = frozenset(_ORDINARY.split()) | STOPWORDS | FILLER


def kind_of(word: str) -> WordKind:
    """What a word (as text/names compares it) is before it is anybody's name."""
    if word in ORDINARY or word in FOREIGN_STOPWORDS:
        return WordKind.COMMON
    return WordKind.ORDINARY if is_common_word(word) else WordKind.NO_WORD


def is_ordinary(word: str) -> bool:
    """Whether a word is one of the language before it is anybody's name."""
    return kind_of(word) is not WordKind.NO_WORD


SOMEBODY = "someone"
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
    """What may be a name in a typed text: a word, or one of these names inside letters without spaces."""
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


def _name_in(typed: str, names: Container[str]) -> _Named | None:
    """The name among these (casefolded) that a typed word is; None if it is none, or means something else first."""
    is_marked = typed[0] in "@＠"
    name = typed.lstrip("@＠").casefold()
    if not (is_marked or _counts_without_at(name)):
        return None
    if name in names:
        return _Named(name, "")
    owner = name[:-1]
    is_owners = name.endswith("s") and owner in names and _counts_without_at(owner)
    return _Named(owner, "'s") if is_owners and not is_marked else None


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
    viewer_id = state.get("id") or await by_login(source, logins[0]) or provisional_id(logins[0])
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
        return _typed(self.names).sub(self._hidden, defang(clean(text)))

    def _hidden(self, found: re.Match[str]) -> str:
        typed = found[0]
        if found["streamer"]:
            return self.people.get(self.streamer, typed)
        is_marked = typed[0] in "@＠"
        name = typed.lstrip("@＠").casefold()
        if name in self.bot_names and (is_marked or name not in ORDINARY):
            return BOT
        named = _name_in(typed, self.names)
        if named is not None:
            viewer_id = self.names[named.name]
            return (SOMEBODY if viewer_id is None else self.handle(viewer_id)) + named.ending
        return f"@{SOMEBODY}" if is_marked else _unforged(typed)

    def ids(self, text: str) -> str | None:
        """An answer with mentions in the place of handles; None if it has a handle that was not given out."""
        by_handle = {handle: viewer_id for viewer_id, handle in self.people.items()}
        # a model may write a mention by itself; only a handle that was given out becomes one
        safe = defang(text)
        if self.streamer in self.people:
            # the model was shown the channel's name, and may write it where the handle was meant
            safe = _typed(self.names).sub(self._streamer_by_handle, safe)
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
    """Whether a name counts without an @: not "king" or "drums", which are words before they are names.

    Else everybody's "plays drums" would be a fact about the viewer `drums`, and go with them.
    """
    if UNSPACED.match(name):
        return True
    return len(name) >= _SHORTEST_WORD and not name.isdigit() and not is_ordinary(name)


def without_names(text: str, names: Collection[str]) -> str:
    """The text with "someone" in the place of these names (casefolded); one that is a word first counts behind an @."""
    if not names:
        return text

    def shown(found: re.Match[str]) -> str:
        named = None if found["streamer"] else _name_in(found[0], names)
        return found[0] if named is None else SOMEBODY + named.ending

    return _typed(names).sub(shown, text)


def names_typed(texts: Iterable[str]) -> set[str]:
    """Every word (casefolded) in these texts that could be somebody's name, also without the s of a genitive."""
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
