"""One request to the bot and what became of it: the shapes that every surface and every service share."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from forgetmenot.domain.chat import Role


class Surface(StrEnum):
    """Where a request comes from."""

    CHAT = "chat"
    DOCK = "dock"
    CLI = "cli"
    MODEL = "model"


class Permission(StrEnum):
    """Who may ask on a surface."""

    ANYONE = "anyone"  # about themselves; moderators about anybody and about the channel
    MODERATOR = "moderator"  # moderators and the streamer
    OWNER = "owner"  # whoever sits at the streamer's machine
    POLICY = "policy"  # the model, as far as operations/policy allows it


@dataclass(frozen=True, slots=True)
class Asker:
    """Who asks. `role` is from the badges of the very message; `line_id` is that message."""

    surface: Surface
    viewer_id: str = ""
    role: Role = Role.VIEWER
    login: str = ""
    display_name: str = ""
    line_id: str = ""

    @property
    def moderates(self) -> bool:
        """Whether they may ask about anybody."""
        return self.role in {Role.BROADCASTER, Role.MODERATOR}


@dataclass(frozen=True, slots=True)
class Target:
    """Whom a request is about: a viewer, or (`id` None) the channel. `name` is for showing; `own`: it is the asker."""

    id: str | None = None
    name: str = "the channel"
    own: bool = False


@dataclass(frozen=True, slots=True)
class OperationResult:
    """What became of a request. `code` chooses a surface's sentence, `data` fills it; no sentence is made here."""

    ok: bool
    code: str
    data: Mapping[str, object] = field(default_factory=dict)
    target: Target | None = None
