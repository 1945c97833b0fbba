"""What the inside asks of the outside. Adapters fill these; app/bot chooses which."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

from forgetmenot.clock import Clock
from forgetmenot.domain.action import Outcome, Penalty, RoomModes
from forgetmenot.domain.model import ModelAnswer, ModelRequest, Purpose, TokenUsage

__all__ = [
    "BotState",
    "CallMeter",
    "ChatOut",
    "ChoreState",
    "Clock",
    "Control",
    "LanguageModel",
    "Moderation",
    "Told",
]


class ChatOut(Protocol):
    """Says something in the channel."""

    async def say(self, text: str, reply_to: str | None = None) -> Outcome:
        """Send one message of at most 500 characters, as an answer to the event with that id if one is given.

        A refusal is an Outcome. Raises TwitchUnavailable, TwitchRateLimited or TwitchLoginNeeded where it was not sent.
        """
        ...


class Moderation(Protocol):
    """Changes something on Twitch. Each returns what happened; errors of the network are raised as TwitchError."""

    async def timeout(self, user_id: str, seconds: int, reason: str) -> Outcome:
        """Time a viewer out."""
        ...

    async def untimeout(self, user_id: str) -> Outcome:
        """Lift a timeout or a ban."""
        ...

    async def ban(self, user_id: str, reason: str) -> Outcome:
        """Ban a viewer until somebody lifts it."""
        ...

    async def delete_message(self, event_id: str) -> Outcome:
        """Delete one message."""
        ...

    async def announce(self, text: str) -> Outcome:
        """Post an announcement."""
        ...

    async def set_slow_mode(self, seconds: int | None) -> Outcome:
        """Switch slow mode on (3–120 s between messages), or off with None."""
        ...

    async def set_emote_only(self, *, on: bool) -> Outcome:
        """Switch emote-only mode."""
        ...

    async def shoutout(self, user_id: str) -> Outcome:
        """Give a shoutout to another broadcaster."""
        ...

    async def create_marker(self, description: str) -> Outcome:
        """Mark this moment of the stream."""
        ...

    async def create_clip(self) -> Outcome:
        """Clip the last moments of the stream."""
        ...

    async def set_channel(self, *, title: str | None = None, category: str | None = None) -> Outcome:
        """Change the title or the category."""
        ...

    async def is_immune(self, user_id: str) -> bool:
        """Ask Twitch whether this viewer is the broadcaster, a moderator or a VIP."""
        ...

    async def penalty_of(self, user_id: str) -> Penalty | None:
        """Ask Twitch which ban or timeout this viewer is under now; None for neither."""
        ...

    async def room_modes(self) -> RoomModes:
        """Ask Twitch which of the room's modes are on now."""
        ...

    async def title_and_category(self) -> tuple[str, str]:
        """Ask Twitch how the channel's title and category read now."""
        ...


class LanguageModel(Protocol):
    """Writes text."""

    @property
    def name(self) -> str:
        """The model's name as the meter and the telemetry show it."""
        ...

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer one request. Raises ModelError and nothing else; never an empty text."""
        ...

    async def aclose(self) -> None:
        """Give back connections."""
        ...


class CallMeter(Protocol):
    """Counts what calls cost, for good."""

    async def record(self, purpose: Purpose, model: str, usage: TokenUsage, latency_ms: int, error: str | None) -> None:
        """Note one finished call; `error` is the class of what went wrong, or None."""
        ...


# ── what the dock asks of the running bot ───────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class Told:
    """What became of a wish, as one sentence for whoever wished it."""

    ok: bool
    line: str


@dataclass(frozen=True, slots=True)
class ChoreState:
    """One piece of periodic work. `trouble`: a sentence about its last failure, or empty; `due_at` in ms."""

    name: str
    trouble: str
    due_at: int


@dataclass(frozen=True, slots=True)
class BotState:
    """How the running bot stands; troubles are sentences, empty where all is well.

    `phase` is "connected", "connecting", "waiting" (for the next attempt) or "none" (nothing is read); times in ms.
    """

    command: str
    login: str
    phase: str
    phase_since: int
    phase_trouble: str
    login_trouble: str
    reply_model: str
    memory_model: str
    model_trouble: str
    memory_trouble: str
    queued: int
    thinking: int
    chores: tuple[ChoreState, ...]
    recall_ms: tuple[float, ...]
    settings_file: str


class Control(Protocol):
    """The running bot as the dock may ask and steer it.

    Mappings are JSON as it stands. A wish never raises for what a person got wrong: `Told` says so. Errors of ours
    (errors.py) come through.
    """

    def state(self) -> BotState:
        """How it stands now; costs next to nothing."""
        ...

    async def why(self, reply_id: int) -> Mapping[str, object]:
        """Everything that led to one reply. Raises InputError if it is no longer kept."""
        ...

    async def chain(self, note_id: int) -> Mapping[str, object]:
        """Where one note comes from and where it was used. Raises InputError if there is no such note."""
        ...

    async def try_out(self, login: str, text: str) -> Mapping[str, object]:
        """What it would say to that, without saying or doing anything. Raises ModelError."""
        ...

    async def switch(self, what: str, minutes: int = 0) -> Told:
        """Turn a switch: pause, resume, quiet (for `minutes`), safe, unsafe."""
        ...

    async def approve(self, action_id: int) -> Told:
        """Carry out what waits for a person."""
        ...

    async def deny(self, action_id: int) -> Told:
        """Refuse it."""
        ...

    async def undo(self, action_id: int) -> Told:
        """Take back what was done."""
        ...

    async def remember(self, viewer_id: str | None, fact: str, *, bit: bool = False) -> Told:
        """Write a note about a viewer, the channel (None) or, with `bit`, a running bit."""
        ...

    async def edit(self, note_id: int, fact: str) -> Told:
        """Write a fact anew: the old note is superseded, not overwritten."""
        ...

    async def pin(self, note_id: int, *, on: bool) -> Told:
        """Pin a note, or let it go."""
        ...

    async def retract(self, note_id: int) -> Told:
        """Take a note back; it can be restored."""
        ...

    async def restore(self, note_id: int) -> Told:
        """Undo the last change of a note."""
        ...

    async def leave_alone(self, viewer_id: str | None, what: str) -> Told:
        """Never bring something up again: words, or `#12` for a note."""
        ...

    async def allow_again(self, row_id: int) -> Told:
        """Take one entry off that list."""
        ...

    async def erase(self, viewer_id: str, progress: Callable[[float, str], None]) -> Told:
        """Erase a viewer for good. `progress` is called with the share that is done and what is being done."""
        ...

    async def export(self, viewer_id: str) -> Mapping[str, object]:
        """Everything that is kept about a viewer. Raises InputError if nobody has that id."""
        ...

    async def opt_out(self, viewer_id: str, *, on: bool) -> Told:
        """Store nothing of a viewer from now on, or let them in again."""
        ...

    async def change_setting(self, table: str, key: str, value: object) -> Told:
        """Change one setting that may be changed while the bot runs, for good."""
        ...
