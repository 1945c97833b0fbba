"""Who is not remembered, and under which rule. Pure.

Known bots (a list of those met in most channels, the settings, Twitch's own badge), viewers whom the streamer ignores,
viewers who opted out, and the bot itself. Their lines never enter tier 1.
"""

from collections.abc import Collection
from dataclasses import dataclass, field

from forgetmenot.domain.chat import ChatEvent
from forgetmenot.settings.schema import MemorySettings

_KNOWN_BOTS = """nightbot streamelements streamlabs moobot fossabot wizebot botisimo sery_bot phantombot deepbot ankhbot
    coebot stay_hydrated_bot soundalerts streamstickers pretzelrocks songlistbot restreambot own3d streamlootsbot
    tangiabot blerp kofistreambot supibot titlechange_bot pokemoncommunitygame frostytoolsdotcom creatisbot
    playwithviewersbot logviewer hnlbot vivbot scorpbot xanbot mirrobot buttsbot thepositivebot streamcaptainbot
    instructbot lolrankbot stdbot overlayexpert dotabod twitchprimereminder electricallongboard anotherttvviewer"""
KNOWN_BOTS = frozenset(_KNOWN_BOTS.split())
BOT_BADGES = frozenset({"bot-badge", "bot"})


@dataclass(frozen=True, slots=True)
class Exclusion:
    """The rules of one moment. `opted_out` are ids; `own_id` is the bot's, empty where nobody is signed in."""

    known_bots: frozenset[str] = KNOWN_BOTS
    ignored: frozenset[str] = frozenset()
    opted_out: Collection[str] = field(default_factory=frozenset)
    own_id: str = ""

    @classmethod
    def of(cls, memory: MemorySettings, opted_out: Collection[str], own_id: str) -> "Exclusion":
        """The rules as the settings have them."""
        return cls(KNOWN_BOTS | _logins(memory.known_bots), _logins(memory.ignored_viewers), opted_out, own_id)

    def why(self, event: ChatEvent) -> str | None:
        """The name of the rule that keeps a line out, or None."""
        if self.own_id and event.user_id == self.own_id:
            return "own"
        if event.user_id in self.opted_out or f"login:{event.login}" in self.opted_out:
            return "opted_out"
        if event.login in self.ignored or event.user_id in self.ignored:
            return "ignored"
        if (
            event.login in self.known_bots
            or event.user_id in self.known_bots
            or (event.badges and not BOT_BADGES.isdisjoint(event.badges))
        ):
            return "known_bot"
        return None


def _logins(names: Collection[str]) -> frozenset[str]:
    return frozenset(name.strip().removeprefix("@").casefold() for name in names)
