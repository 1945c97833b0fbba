"""The facts that the policy decides on, as frozen types; operations/fact_gathering fills them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from forgetmenot.domain.chat import Role, Standing

PRIVILEGED = frozenset({Role.BROADCASTER, Role.MODERATOR})
IMMUNE = PRIVILEGED | {Role.VIP}


@dataclass(frozen=True, slots=True)
class PersonFacts:
    """A viewer in chat. `role` is from the badges of their last message, `message_id`."""

    id: str
    login: str
    role: Role = Role.VIEWER
    display_name: str = ""
    standing: Standing = Standing.KNOWN
    is_bot: bool = False
    is_self: bool = False
    opted_in: bool = False  # takes part in fun moderation
    message_id: str = ""

    @property
    def privileged(self) -> bool:
        """Whether they run this channel: the broadcaster or a moderator."""
        return self.role in PRIVILEGED


class TargetFound(StrEnum):
    """Whether the proposal's target was identified."""

    NOT_NEEDED = "not_needed"
    FOUND = "found"
    UNKNOWN = "unknown"
    AMBIGUOUS = "ambiguous"


class Immunity(StrEnum):
    """What Twitch says about the target. It is asked last, so `NOT_ASKED` forbids nothing."""

    NOT_ASKED = "not_asked"
    NO = "no"
    YES = "yes"
    UNREACHABLE = "unreachable"


@dataclass(frozen=True, slots=True)
class PolicyFacts:
    """The situation of a proposal. `asked_for` names the actions that the asker's own words ask for.

    `typed`: for actions that take the asker's own words, these words. `named`: the asker's line names the target.
    """

    asker: PersonFacts
    target: PersonFacts | None = None
    found: TargetFound = TargetFound.NOT_NEEDED
    immunity: Immunity = Immunity.NOT_ASKED
    asked_for: frozenset[str] = frozenset()
    typed: Mapping[str, str] = field(default_factory=dict)
    named: bool = False
    live: bool = False
    paused: bool = False
    safe_mode: bool = False
    serious: bool = False
    room_modes: frozenset[str] = frozenset()
    failing: frozenset[str] = frozenset()  # actions switched off after failures
    approved_by: str = ""  # the person who approved exactly this


@dataclass(frozen=True, slots=True)
class RecentDecisions:
    """Recent decisions and actions. Cooldowns are the ms until which they last; 0: none."""

    viewer_until: int = 0
    channel_until: int = 0
    action_until: int = 0
    refusals: int = 0  # of this asker, in the last ten minutes
    done_this_stream: int = 0
    waiting: int = 0
    waiting_of_asker: int = 0
    own_timeouts: frozenset[str] = frozenset()  # ids that the bot itself timed out
