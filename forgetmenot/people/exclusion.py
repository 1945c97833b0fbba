"""Who is excluded: known bots, viewers whom the streamer ignores or who opted out, and the bot itself.

Their lines never enter tier 1.
"""

from collections.abc import Container
from collections.abc import Set as AbstractSet
from functools import lru_cache

from msgspec import Struct, field

from forgetmenot.domain import ChatEvent
from forgetmenot.settings.schema import MemorySettings
from forgetmenot.text.mentions import provisional_id

_KNOWN_BOTS = """nightbot streamelements streamlabs moobot fossabot wizebot botisimo sery_bot phantombot deepbot ankhbot
    coebot stay_hydrated_bot soundalerts streamstickers pretzelrocks songlistbot restreambot own3d streamlootsbot
    tangiabot blerp kofistreambot supibot titlechange_bot pokemoncommunitygame frostytoolsdotcom creatisbot
    playwithviewersbot logviewer hnlbot vivbot scorpbot xanbot mirrobot buttsbot thepositivebot streamcaptainbot
    instructbot lolrankbot stdbot overlayexpert dotabod twitchprimereminder electricallongboard anotherttvviewer"""
KNOWN_BOTS = frozenset(_KNOWN_BOTS.split())
OWN = "own"
OPTED_OUT = "opted_out"
BOT_BADGES = frozenset({"bot-badge", "bot"})


class Exclusion(Struct, frozen=True):
    """The rules of one moment. `opted_out` are ids; `own_id` is the bot's, empty where nobody is signed in."""

    memory: MemorySettings = field(default_factory=MemorySettings)
    opted_out: Container[str] = field(default_factory=frozenset)
    own_id: str = ""

    def why(self, event: ChatEvent) -> str | None:
        """Return the name of the rule that keeps a line out; None if none does."""
        return self.of_line_by(event.user_id, event.login, event.badges)

    def of_line_by(
        self,
        user_id: str,
        login: str,
        badges: AbstractSet[str],
    ) -> str | None:
        """Return the name of the rule that keeps the lines of somebody out; None if none does."""
        # first of all: the bot's own lines come back from chat, and are stored when they are sent
        if self._is_own(user_id):
            return OWN
        if user_id in self.opted_out:
            return OPTED_OUT
        # who opted out by name, before they ever spoke here, has no id yet (`viewer optout`)
        if provisional_id(login) in self.opted_out:
            return OPTED_OUT
        return self.of_account(user_id, login, badges)

    def of_account(
        self,
        user_id: str,
        login: str,
        badges: AbstractSet[str] = frozenset(),
    ) -> str | None:
        """Return the name of the rule that excludes an account, whatever it asked for; None if none does."""
        if self._is_own(user_id):
            return OWN
        ignored = _names(self.memory.ignored_viewers)
        if login.casefold() in ignored:
            return "ignored"
        if user_id in ignored:
            return "ignored"
        if is_bot(self.memory, login, user_id, badges):
            return "known_bot"
        return None

    def _is_own(self, user_id: str) -> bool:
        """Return whether this is the bot's account."""
        return self.own_id != "" and user_id == self.own_id


def is_bot(
    memory: MemorySettings,
    login: str,
    user_id: str,
    badges: AbstractSet[str] = frozenset(),
) -> bool:
    """Return whether an account is a bot: by its login or id on a list, or by Twitch's badge."""
    folded_login = login.casefold()
    has_bot_badge = not BOT_BADGES.isdisjoint(badges)
    if folded_login in KNOWN_BOTS or has_bot_badge:
        return True
    listed = _names(memory.known_bots)
    return folded_login in listed or user_id in listed


# asked of every line of chat: the lists change only with the settings
@lru_cache(maxsize=8)
def _names(typed: tuple[str, ...]) -> frozenset[str]:
    """Return logins and ids as events have them, of those in the settings."""
    names = set()
    for name in typed:
        login = name.strip().removeprefix("@")
        names.add(login.casefold())
    return frozenset(names)
