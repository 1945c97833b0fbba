"""The types of operations: entries, parameters, actions, requests, and the facts that the policy decides on.

operations/commands lists the operations, operations/actions the model's actions.
"""

from collections.abc import Awaitable, Callable, Collection, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, field

from forgetmenot.clock import Clock
from forgetmenot.domain import (
    Asker,
    OperationResult,
    Outcome,
    OutcomeKind,
    Permission,
    Role,
    Surface,
    Target,
)
from forgetmenot.languages import reason
from forgetmenot.ports import Moderation
from forgetmenot.settings.schema import Settings

if (
    TYPE_CHECKING
):  # whoever reads settings needs the names of the actions, and no database
    from forgetmenot.privacy.erasure import Eraser
    from forgetmenot.privacy.requests import PrivacyService
    from forgetmenot.store.database import Database


# ── parameters ────────────────────────────────────────────────────────────────────────────────


class ParameterKind(StrEnum):
    """Type of a parameter."""

    TEXT = "text"
    SECONDS = "seconds"
    # one of the names that [bridge] in the settings lists
    EFFECT = "effect"
    # of a note, an action, a reply, or a number of minutes
    NUMBER = "number"
    # a name as it was typed or proposed, an id after code has resolved it
    VIEWER = "viewer"
    # there or not
    FLAG = "flag"


class Parameter(Struct, frozen=True):
    """One parameter.

    `minimum` and `maximum` bound a number, the seconds, or the length of a text in characters. `default` None: it must
    be given. `optional`: it may be left out. `unseen`: a viewer may be a login that was never seen here.
    """

    name: str
    kind: ParameterKind
    minimum: int = 1
    maximum: int = 300
    default: str | None = None
    optional: bool = False
    unseen: bool = False
    # of a viewer: a nickname or a short form will do; never where something is deleted or stopped
    may_be_short: bool = False


# ── actions of the model ──────────────────────────────────────────────────────────────────────


class ActionClass(StrEnum):
    """Permission class of an action: A runs by itself, B under strict rules, C only with a person's approval."""

    FREE = "A"
    GUARDED = "B"
    NEVER_ALONE = "C"


RunOperation = Callable[[str, Mapping[str, object], Asker], Awaitable[OperationResult]]


class ActionPorts(Struct, frozen=True):
    """The ports that actions use.

    `run` runs an operation, so that the model changes memory through the same handler as people. `run_effect` asks the
    streamer's other bot; None where there is none.
    """

    moderation: Moderation
    run: RunOperation
    run_effect: Callable[[str], Awaitable[Outcome]] | None = None


class ActionCall(Struct, frozen=True):
    """The checked parameters of an action, with ids instead of the proposal's names.

    `asked_by` is a viewer's id, `message_id` the target's last message, `at` when it was proposed (ms). `line`: the id
    of the line that asked for it, if it is done at once.
    """

    params: Mapping[str, str]
    asked_by: str
    message_id: str = ""
    at: int = 0
    line: str = ""

    @property
    def target(self) -> str:
        """Return the id of the viewer it is about."""
        return self.params["target"]

    @property
    def seconds(self) -> int:
        """Return how long it is to last."""
        return int(self.params["seconds"])


Runner = Callable[[ActionPorts, ActionCall], Awaitable[Outcome]]


class Action(Struct, frozen=True):
    """An action the model may propose.

    `scope` is the right that Twitch asks for, `mode` the room's mode that it switches on. `asks` is a pattern of the
    words with which somebody asks for it about themselves, or for everybody.
    """

    name: str
    kind: ActionClass
    run: Runner
    params: tuple[Parameter, ...] = ()
    scope: str = ""
    undo: Runner | None = None
    cooldown_s: int = 0
    # the bot undoes it after the number of seconds among its parameters
    reverts: bool = False
    needs_live: bool = False
    # its target must not be immune
    harms: bool = False
    # its target must have asked for it
    consent: bool = False
    # it concerns everybody: only moderators may ask for it, in so many words
    channel_wide: bool = False
    # a viewer may ask for it about themselves, a moderator about anybody
    self_only: bool = False
    mode: str = ""
    asks: str = ""
    # the parameter that the asker must have typed; a model's text for it is not used
    typed: str = ""

    @property
    def needs_target(self) -> bool:
        """Return whether it acts on a viewer."""
        return any(parameter.kind is ParameterKind.VIEWER for parameter in self.params)


# ── operations ────────────────────────────────────────────────────────────────────────────────


class Request(Struct, frozen=True):
    """A checked request: who asks, about whom, and the parameters as the operation declares them.

    `named_ids`: whom the texts of the answer mention; the handler adds them.
    """

    context: "OperationContext"
    asker: Asker
    target: Target
    values: Mapping[str, object]
    named_ids: set[str] = field(default_factory=set)

    @property
    def db(self) -> "Database":
        """Return the memory."""
        return self.context.db

    @property
    def now(self) -> int:
        """Return the time in ms."""
        return self.context.clock.now()

    @property
    def settings(self) -> Settings:
        """Return the settings as they are now."""
        return self.context.settings()

    @property
    def is_in_chat(self) -> bool:
        """Return whether it was typed in chat, where everybody reads the answer."""
        return self.asker.surface is Surface.CHAT

    def text(self, name: str) -> str:
        """Return a text parameter; empty if it was left out."""
        return str(self.values.get(name, ""))

    def number(self, name: str) -> int:
        """Return a number parameter; 0 if it was left out."""
        return int(str(self.values.get(name, 0)))

    def flag(self, name: str) -> bool:
        """Return a flag parameter; False if it was left out."""
        return bool(self.values.get(name))


class Refused(Exception):
    """A request is not done. Control flow of handlers: operations/run makes it the result that says why."""

    def __init__(
        self,
        code: str,
        target: Target | None = None,
        *,
        about_ids: Collection[str] = (),
        **data: object,
    ) -> None:
        """Make the result with that code.

        `about_ids`: the viewers whom its data is about, where that is not the target.
        """
        super().__init__(code)
        self.result = OperationResult(
            ok=False,
            code=code,
            data=data,
            target=target,
            about_ids=frozenset(about_ids),
        )


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


async def _no_account(_text: str) -> Outcome:
    return Outcome(OutcomeKind.REFUSED, reason("bot_not_in"))


async def _no_words(_fact: str, _typed: str) -> str | None:
    return None


class OperationContext(Struct):
    """What handlers work with. Outside the running bot the callables do nothing."""

    db: "Database"
    settings: Callable[[], Settings]
    clock: Clock
    operations: "Mapping[str, Operation]"
    eraser: "Eraser"
    privacy: "PrivacyService"
    approvals: ApprovalQueue | None = None
    # stores the lines that were just heard
    flush: Callable[[], Awaitable[object]] = _nothing
    # makes the prompt's prefix and recall's cache read the memory again
    refresh: Callable[[], Awaitable[object]] = _nothing
    explain_reply: Callable[[int], Awaitable[str]] = _no_reply
    # has a model word a note and its correction as one sentence; None if it gives none
    reword: Callable[[str, str], Awaitable[str | None]] = _no_words
    # says a line in chat and pins it
    say_and_pin: Callable[[str], Awaitable[Outcome]] = _no_account


Handler = Callable[[Request], Awaitable[OperationResult]]


class Operation(Struct, frozen=True):
    """One entry: something that can be asked of the bot. `permissions` says where, and by whom.

    `chat` lists the forms as they are typed: `<x>` is a required parameter, `[x]` an optional one, other words are
    literal. `examples` are lines as they are typed in chat and in a terminal. `!help`, --help and docs/COMMANDS.md show
    them, and tests run them; a terminal's line makes the command (cli/common.add_commands).
    """

    name: str
    permissions: Mapping[Surface, Permission]
    # None: only the model proposes it, and operations/executor carries it out
    handler: Handler | None = None
    params: tuple[Parameter, ...] = ()
    chat: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    # a viewer has a right to it, so where the disk is full it waits; its handler stores the lines just heard itself
    waits: bool = False
    # its answer is not stored; nor is the line that asks for a receipt (memory/ingest)
    leaves_nothing: bool = False
    # the memory is read again before the next reply, if it was asked for in the dock
    edits_memory: bool = False
    # typed as a reply to somebody's line, it is about that line
    about_replied_line: bool = False
    # how the policy treats it when the model proposes it
    action: Action | None = None

    def permits(self, asker: Asker) -> bool:
        """Return whether the asker may ask for it, whomever it is about."""
        permission = self.permissions.get(asker.surface)
        if permission is None:
            return False
        return permission is not Permission.MODERATOR or asker.moderates

    def parameter(self, name: str) -> Parameter:
        """Return the parameter of that name. Raises StopIteration if none is declared."""
        return next(parameter for parameter in self.params if parameter.name == name)


# ── the facts that the policy decides on; operations/facts fills them ─────────────────────────


class PersonFacts(Struct, frozen=True):
    """A viewer in chat. `role` is from the badges of their last message, `message_id`."""

    id: str
    login: str
    role: Role = Role.VIEWER
    display_name: str = ""
    newcomer: bool = False
    # a known bot, or this one
    is_bot: bool = False
    message_id: str = ""


class PolicyFacts(Struct, frozen=True):
    """The situation of a proposal. `target`: None where it has none, or names nobody, or two people.

    `immune`: what Twitch says of the target, which is asked last: None where it could not be asked.
    `asked_for` names the actions that the asker's own words ask for. `asks_nothing`: they ask for none at all.
    `typed`: for actions that take the asker's own words, these words. `named`: the asker's line names the target.
    `obstacle`: why it cannot be done now, in words: no log-in, a right that is missing, not being a moderator; empty
    if nothing stands in the way. `approved_by`: the person who approved exactly this.
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
    obstacle: str = ""
    approved_by: str = ""


class RecentDecisions(Struct, frozen=True):
    """Recent decisions and actions.

    `cooldown_until` (ms): of the action, and for class B of target and channel. `refusals`: of this asker, in the last
    ten minutes.
    """

    cooldown_until: int = 0
    refusals: int = 0
    done_this_stream: int = 0
    waiting: int = 0
    waiting_of_asker: int = 0
