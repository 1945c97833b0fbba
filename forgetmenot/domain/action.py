"""What the model proposes, what the policy decides, what became of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the model asked to be done. `if_refused` is what it would say if that is not done."""

    name: str
    params: Mapping[str, str] = field(default_factory=dict)
    if_refused: str = ""


class Verdict(StrEnum):
    """What the policy says to a proposal."""

    ALLOW = "allow"
    ALLOW_CHANGED = "allow_changed"
    ASK = "ask"
    DENY = "deny"


@dataclass(frozen=True, slots=True)
class Decision:
    """The policy's answer, with the name of the rule that gave it. `params` are the ones to execute."""

    verdict: Verdict
    rule: str
    reason: str
    params: Mapping[str, str] = field(default_factory=dict)


class OutcomeKind(StrEnum):
    """What became of an action or of a message."""

    DONE = "done"
    REFUSED = "refused"  # Twitch said no; detail says why
    FAILED = "failed"
    UNKNOWN = "unknown"  # no answer in time: nothing may be claimed


@dataclass(frozen=True, slots=True)
class Penalty:
    """A ban or a timeout as Twitch tells of it: whether the bot made it, since when, until when (ms; None: a ban)."""

    by_bot: bool
    since: int
    until: int | None


@dataclass(frozen=True, slots=True)
class RoomModes:
    """Which of the room's modes are on. `slow_s`: how far apart messages must be (s); None: slow mode is off."""

    slow_s: int | None
    emote_only: bool


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of one call that changes something on Twitch. `twitch_id` is the created thing's id, if any."""

    kind: OutcomeKind
    detail: str = ""
    twitch_id: str = ""
