"""What one action is made of. The catalogue lists them; policy and executor know no action by its name.

Promises shapes only: nothing here decides or calls anything.
"""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from forgetmenot.domain.action import Outcome
from forgetmenot.ports import ChatOut, Moderation


class ActionClass(StrEnum):
    """How freely an action may run: A by itself, B by strict rules, C only when a person approves it."""

    FREE = "A"
    GUARDED = "B"
    NEVER_ALONE = "C"


class Kind(StrEnum):
    """What a parameter holds."""

    TEXT = "text"
    SECONDS = "seconds"
    VIEWER = "viewer"  # a name in the proposal, an id after code has resolved it


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter. `least` and `most` bound the number of seconds, or the characters of a text."""

    name: str
    kind: Kind
    least: int = 1
    most: int = 300
    default: str | None = None  # None: it must be given
    spoken: bool = False  # said in chat as the bot's own words, without a person: it must tell of no deed


class MemoryHand(Protocol):
    """The part of the memory that an action may touch. Each call checks and filters what it is given."""

    async def remember(self, *, about: str, fact: str, asked_by: str, line: str) -> Outcome:
        """Keep a fact about the viewer with the id `about`, as `asked_by` said in the line with the id `line`."""
        ...

    async def forget(self, *, about: str, what: str, asked_by: str) -> Outcome:
        """Forget what fits those words (or `#id`) about the viewer with the id `about`."""
        ...

    async def flag_bit(self, *, bit: str, asked_by: str, line: str) -> Outcome:
        """Note that a running bit of the channel came up, in the line with the id `line`."""
        ...


@dataclass(frozen=True, slots=True)
class Hands:
    """What actions act through. `chat` is the reply room's one queue, which polishes and paces what is said."""

    moderation: Moderation
    chat: ChatOut
    memory: MemoryHand


@dataclass(frozen=True, slots=True)
class Job:
    """What is to be done: checked parameters, with ids where the proposal had names. All of it from code."""

    params: Mapping[str, str]
    asked_by: str
    target_login: str = ""
    message_id: str = ""  # the target's last message
    at: int = 0  # when it was proposed (ms)
    line: str = ""  # the id of the line that asked for it, if it is done at once

    @property
    def target(self) -> str:
        """The id of the viewer whom it is about."""
        return self.params["target"]

    @property
    def seconds(self) -> int:
        """How long it is to last."""
        return int(self.params["seconds"])


Runner = Callable[[Hands, Job], Awaitable[Outcome]]
Lookup = Callable[[Hands, Job, int], Awaitable[bool | None]]


@dataclass(frozen=True, slots=True)
class Action:
    """One thing the bot can do. `done` is what may be said once it is done, `{…}` being its parameters."""

    name: str
    kind: ActionClass
    does: str
    done: str
    run: Runner
    params: tuple[Parameter, ...] = ()
    scope: str = ""  # the right that Twitch asks for
    undo: Runner | None = None
    lookup: Lookup | None = None  # asks Twitch, now (ms), whether what a crash interrupted holds; None: not to be told
    cooldown_s: int = 0
    reverts: bool = False  # taken back by itself after `seconds`
    needs_live: bool = False
    harms: bool = False  # its target must not be immune
    consent: bool = False  # its target must have asked for it, or have opted in
    channel_wide: bool = False  # it concerns everybody: only moderators may ask for it, in so many words
    absent: bool = False  # whoever it is about need not be in chat: they cannot be
    own_only: bool = False  # it lifts only what the bot itself has done
    self_only: bool = False  # a viewer may ask for it about themselves, a moderator about anybody
    playful: bool = False  # out of place while people talk about something serious
    mode: str = ""  # the room's mode that it switches on
    tells: str = ""  # the words (a pattern) by which somebody says that it was done
    of: str = ""  # what it is done to (a pattern), where `tells` are everyday words that mean nothing without it
    asks: str = ""  # the words (a pattern) with which somebody asks for it about themselves, or for everybody
    told: str = ""  # the parameter that is what the asker typed, never what a model wrote: without it, nothing is done

    @property
    def needs_target(self) -> bool:
        """Whether somebody is to be found for it."""
        return any(parameter.kind is Kind.VIEWER for parameter in self.params)
