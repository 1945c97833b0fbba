"""Types of the operations: table entries, actions, parameters, requests, what handlers need, what the policy looks at.

operations/commands lists the operations, operations/actions the model's actions.
"""

from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from forgetmenot.clock import Clock
from forgetmenot.domain import Asker, OperationResult, Outcome, Permission, Role, Surface, Target
from forgetmenot.ports import Moderation
from forgetmenot.settings.schema import Settings

if TYPE_CHECKING:  # whoever reads settings needs the names of the actions, and no database
    from forgetmenot.privacy.erasure import Eraser
    from forgetmenot.privacy.requests import Rights
    from forgetmenot.store.database import Database


class ActionClass(StrEnum):
    """Permission class of an action: A runs by itself, B under strict rules, C only with a person's approval."""

    FREE = "A"
    GUARDED = "B"
    NEVER_ALONE = "C"


class ParameterKind(StrEnum):
    """Type of a parameter."""

    TEXT = "text"
    SECONDS = "seconds"
    EFFECT = "effect"  # one of the names that [bridge] in the settings lists
    NUMBER = "number"  # of a note, an action, a reply, or a number of minutes
    VIEWER = "viewer"  # a name as it was typed or proposed, an id after code has resolved it
    FLAG = "flag"  # there or not


class Parameter(Struct, frozen=True):
    """One parameter. `least` and `most` bound the value in seconds, or the length of a text in characters."""

    name: str
    kind: ParameterKind
    least: int = 1
    most: int = 300
    default: str | None = None  # None: it must be given
    optional: bool = False  # an empty value will do
    unseen: bool = False  # of a viewer: the streamer may name a login that has never been seen here
    # of a viewer: a nickname or a short form will do; never where something is deleted or stopped
    may_be_short: bool = False


RunOperation = Callable[[str, Mapping[str, object], Asker], Awaitable[OperationResult]]


class ActionPorts(Struct, frozen=True):
    """The ports that actions use.

    `run` runs another operation of the table, so that the model changes memory through the same handler as people.
    """

    moderation: Moderation
    run: RunOperation
    run_effect: Callable[[str], Awaitable[Outcome]] | None = None  # of the streamer's other bot


class ActionCall(Struct, frozen=True):
    """The checked parameters of an action, with ids instead of the proposal's names."""

    params: Mapping[str, str]
    asked_by: str
    message_id: str = ""  # the target's last message
    at: int = 0  # when it was proposed (ms)
    line: str = ""  # the id of the line that asked for it, if it is done at once

    @property
    def target(self) -> str:
        """The id of the viewer it is about."""
        return self.params["target"]

    @property
    def seconds(self) -> int:
        """How long it is to last."""
        return int(self.params["seconds"])


Runner = Callable[[ActionPorts, ActionCall], Awaitable[Outcome]]


class Action(Struct, frozen=True):
    """An action the model may propose."""

    name: str
    kind: ActionClass
    run: Runner
    params: tuple[Parameter, ...] = ()
    scope: str = ""  # the right that Twitch asks for
    undo: Runner | None = None
    cooldown_s: int = 0
    reverts: bool = False  # taken back by itself after `seconds`
    needs_live: bool = False
    harms: bool = False  # its target must not be immune
    consent: bool = False  # its target must have asked for it
    channel_wide: bool = (
        False  # it concerns everybody: only moderators may ask for it, in so many words
    )
    self_only: bool = False  # a viewer may ask for it about themselves, a moderator about anybody
    mode: str = ""  # the room's mode that it switches on
    asks: str = ""  # the words (a pattern) with which somebody asks for it about themselves, or for everybody
    typed: str = ""  # the parameter that is what the asker typed, never what a model wrote: without it, nothing is done

    @property
    def needs_target(self) -> bool:
        """Whether it acts on a viewer."""
        return any(parameter.kind is ParameterKind.VIEWER for parameter in self.params)


class Request(Struct, frozen=True):
    """A checked request: who asks, about whom, and the parameters as the operation declares them."""

    asker: Asker
    target: Target
    values: Mapping[str, object]

    def text(self, name: str) -> str:
        """A text parameter; empty if it was left out."""
        return str(self.values.get(name, ""))

    def number(self, name: str) -> int:
        """A number parameter; 0 if it was left out."""
        return int(str(self.values.get(name, 0)))

    def flag(self, name: str) -> bool:
        """A flag parameter; False if it was left out."""
        return bool(self.values.get(name))


class ApprovalQueue(Protocol):
    """Decides what waits for a person."""

    async def approve(self, action_id: int, by: str) -> OperationResult:
        """Approve it. `by`: who decided, for the log."""

    async def deny(self, action_id: int, by: str) -> OperationResult:
        """Refuse it."""

    async def undo(self, by: str, action_id: int | None = None) -> OperationResult:
        """Undo it, or the last one of this hour that can be undone."""


async def _nothing() -> None:
    return None


async def _no_reply(_reply_id: int) -> str:
    return ""


async def _no_words(_fact: str, _typed: str) -> str | None:
    return None


class OperationContext(Struct):
    """What handlers work with. Outside the running bot the callables do nothing."""

    db: "Database"
    settings: Callable[[], Settings]
    clock: Clock
    table: "Mapping[str, Operation]"
    eraser: "Eraser"
    rights: "Rights"
    approvals: ApprovalQueue | None = None
    flush: Callable[[], Awaitable[object]] = _nothing  # makes lines that were just heard readable
    refresh: Callable[[], Awaitable[object]] = (
        _nothing  # the prompt's prefix and recall's cache read memory again
    )
    explain_reply: Callable[[int], Awaitable[str]] = _no_reply
    # a note as it should read after a correction that no form fits, by a model; None: it does not say
    reword: Callable[[str, str], Awaitable[str | None]] = _no_words


Handler = Callable[[OperationContext, Request], Awaitable[OperationResult]]


class Operation(Struct, frozen=True):
    """One entry of the table. `who` maps surfaces to permissions; `chat` lists the typed forms.

    In a form, `<x>` is a required parameter, `[x]` an optional one, and other words are literal. `examples`: lines as
    they are typed in chat and in a terminal. They are shown by `!help` and --help and in the README, and tests run
    them; a terminal's line makes the command (common.add_commands).
    """

    name: str
    who: Mapping[Surface, Permission]
    handler: Handler | None = (
        None  # None: only the model proposes it, and operations/executor carries it out
    )
    params: tuple[Parameter, ...] = ()
    chat: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    waits: bool = (
        False  # a right: it is kept until the memory can be written, and flushes by itself
    )
    edits_memory: bool = False  # the next reply must see it when the streamer asks for it
    action: Action | None = None  # how the policy treats it when the model proposes it

    def parameter(self, name: str) -> Parameter:
        """The parameter of that name. Raises StopIteration if none is declared."""
        return next(one for one in self.params if one.name == name)


# The facts that the policy decides on; operations/facts fills them.


class PersonFacts(Struct, frozen=True):
    """A viewer in chat. `role` is from the badges of their last message, `message_id`."""

    id: str
    login: str
    role: Role = Role.VIEWER
    display_name: str = ""
    newcomer: bool = False
    is_bot: bool = False  # a known bot, or this one
    message_id: str = ""


class PolicyFacts(Struct, frozen=True):
    """The situation of a proposal. `target`: None where it has none, or names nobody, or two people.

    `immune`: what Twitch says of the target, which is asked last: None where it could not be asked.
    `asked_for` names the actions that the asker's own words ask for. `asks_nothing`: they ask for none at all.
    `typed`: for actions that take the asker's own words, these words. `named`: the asker's line names the target.
    """

    asker: PersonFacts
    target: PersonFacts | None = None
    immune: bool | None = False
    asked_for: frozenset[str] = frozenset()
    asks_nothing: bool = False
    typed: Mapping[str, str] = field(default_factory=dict)
    named: bool = False
    live: bool = False
    paused: bool = False
    safe_mode: bool = False
    room_modes: frozenset[str] = frozenset()
    missing: str = ""  # why it cannot be done now: a log-in, a right, not being a moderator
    approved_by: str = ""  # the person who approved exactly this


class RecentDecisions(Struct, frozen=True):
    """Recent decisions and actions. `cooldown_until` (ms): of the action, and for class B of target and channel."""

    cooldown_until: int = 0
    refusals: int = 0  # of this asker, in the last ten minutes
    done_this_stream: int = 0
    waiting: int = 0
    waiting_of_asker: int = 0
