"""Rules about viewers: who is excluded, roles, standing. Pure.

Excluded are known bots (a list of those met in most channels, the settings, Twitch's own badge), viewers whom the
streamer ignores, viewers who opted out, and the bot itself. Their lines never enter tier 1; bots and the ignored get no
answer. A role is read from the badges of one message, a standing from the streams that a viewer came to.
"""

from collections.abc import Collection
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import lru_cache

from forgetmenot.domain import Attendance, ChatEvent, Role, Standing
from forgetmenot.settings.schema import MemorySettings, PeopleSettings
from forgetmenot.text.mentions import provisional

_KNOWN_BOTS = """nightbot streamelements streamlabs moobot fossabot wizebot botisimo sery_bot phantombot deepbot ankhbot
    coebot stay_hydrated_bot soundalerts streamstickers pretzelrocks songlistbot restreambot own3d streamlootsbot
    tangiabot blerp kofistreambot supibot titlechange_bot pokemoncommunitygame frostytoolsdotcom creatisbot
    playwithviewersbot logviewer hnlbot vivbot scorpbot xanbot mirrobot buttsbot thepositivebot streamcaptainbot
    instructbot lolrankbot stdbot overlayexpert dotabod twitchprimereminder electricallongboard anotherttvviewer"""
KNOWN_BOTS = frozenset(_KNOWN_BOTS.split())
OPTED_OUT = "opted_out"
BOT_BADGES = frozenset({"bot-badge", "bot"})


@dataclass(frozen=True, slots=True)
class Exclusion:
    """The rules of one moment. `opted_out` are ids; `own_id` is the bot's, empty where nobody is signed in."""

    memory: MemorySettings = field(default_factory=MemorySettings)
    opted_out: Collection[str] = field(default_factory=frozenset)
    own_id: str = ""

    def why(self, event: ChatEvent) -> str | None:
        """The name of the rule that keeps a line out, or None."""
        if self.own_id and event.user_id == self.own_id:
            return "own"
        # who opted out by name, before they ever spoke here, has no id yet (`viewer optout`)
        if event.user_id in self.opted_out or provisional(event.login) in self.opted_out:
            return OPTED_OUT
        if not _names(self.memory.ignored_viewers).isdisjoint((event.login.casefold(), event.user_id)):
            return "ignored"
        return "known_bot" if is_bot(self.memory, event.login, event.user_id, event.badges) else None


def is_bot(memory: MemorySettings, login: str, user_id: str, badges: AbstractSet[str] = frozenset()) -> bool:
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


_DAY = 86_400_000
REGULAR_WITHIN = 60 * _DAY
"""Streams within this time count for being a regular, in ms."""


def standing_of(came: Attendance, people: PeopleSettings, now: int) -> Standing:
    """The standing of somebody who came that often, `lately` within the regulars' span."""
    if came.streams < people.newcomer_streams:
        return Standing.NEWCOMER
    if came.before_at is not None and now - came.before_at >= people.returner_away_d * _DAY:
        return Standing.RETURNER
    return Standing.REGULAR if came.lately >= people.regular_streams else Standing.KNOWN
