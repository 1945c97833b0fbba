"""What the inside asks of the outside. Adapters fill these; app/bot chooses which."""

from collections.abc import Collection, Mapping, Sequence
from typing import Protocol

from msgspec import Struct

from forgetmenot.domain import (
    ModelAnswer,
    ModelRequest,
    OperationResult,
    Outcome,
    Purpose,
    TokenUsage,
)
from forgetmenot.secret_store import Account


class ChatOut(Protocol):
    """Says something in the channel."""

    async def say(self, text: str, reply_to: str | None = None) -> Outcome:
        """Send one message of at most 500 characters, as an answer to an event if its id is passed.

        A refusal is an Outcome. Raises TwitchUnavailable, TwitchRateLimited or TwitchLoginNeeded
        where it was not sent.
        """


class Moderation(Protocol):
    """Changes something on Twitch.

    Each returns what happened; errors of the network are raised as TwitchError.
    """

    async def timeout(
        self,
        user_id: str,
        seconds: int,
        reason: str,
    ) -> Outcome:
        """Time a viewer out, from 1 s to 14 days.

        `reason`: shown to moderators; it may be empty.
        """

    async def untimeout(self, user_id: str) -> Outcome:
        """Lift a timeout or a ban."""

    async def ban(self, user_id: str, reason: str) -> Outcome:
        """Ban a viewer until somebody lifts it."""

    async def delete_message(self, event_id: str) -> Outcome:
        """Delete one message, by the id of its event."""

    async def announce(self, text: str) -> Outcome:
        """Post an announcement in the bot's name, which has to be a moderator for it."""

    async def set_slow_mode(self, seconds: int | None) -> Outcome:
        """Switch slow mode on (3–120 s between messages), or off with None."""

    async def set_emote_only(self, *, on: bool) -> Outcome:
        """Switch emote-only mode on or off."""

    async def pin_message(self, message_id: str) -> Outcome:
        """Pin a message until the stream ends, in the place of the one that is pinned."""

    async def shoutout(self, user_id: str) -> Outcome:
        """Give a shoutout to another broadcaster."""

    async def create_marker(self, description: str) -> Outcome:
        """Mark this moment of the stream."""

    async def create_clip(self) -> Outcome:
        """Clip the last moments of the stream."""

    async def set_channel(
        self, *, title: str | None = None, category: str | None = None
    ) -> Outcome:
        """Change the title or the category."""

    async def lacks(self, scopes: Mapping[Account, Collection[str]]) -> str:
        """Return why what needs these rights cannot be done now: a log-in, a right, no moderator.

        A reason with its fix; empty where nothing is missing. Asks nobody.

        """

    async def is_immune(self, user_id: str) -> bool:
        """Ask Twitch whether this viewer is the broadcaster, a moderator or a VIP."""


class LanguageModel(Protocol):
    """Writes text."""

    @property
    def name(self) -> str:
        """Return the model's name as the meter and the telemetry show it."""

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer one request. Raises ModelError and nothing else; never an empty text."""

    async def aclose(self) -> None:
        """Give back connections."""


class CallMeter(Protocol):
    """Records the tokens of calls permanently."""

    async def record(
        self,
        purpose: Purpose,
        model: str,
        usage: TokenUsage,
        latency_ms: int,
        error: str | None,
    ) -> None:
        """Note one finished call; `error` is the class of what went wrong, or None."""


class HearingState(Struct, frozen=True):
    """Whether what the streamer says is heard.

    `trouble`: why a source fails, as a sentence. Times in ms.
    """

    listening: bool
    trouble: str = ""
    last: str = ""
    last_at: int = 0


class BotState(Struct, frozen=True):
    """How the running bot is. Troubles are sentences, empty if all is well.

    `file_trouble`: that another program took the memory's file away. `sending_trouble`: why Twitch
    does not show what the bot writes, and what helps. `saving`: what a spending limit leaves out,
    as a sentence. `hearing` is None while the settings leave it off. `phase` is "connected",
    "connecting", "waiting" (for the next attempt) or "none" (nothing is read). `port_trouble`: why
    the dock is at another port than usual.
    """

    login: str
    phase: str
    phase_trouble: str
    login_trouble: str
    reply_model: str
    memory_model: str
    model_trouble: str
    memory_trouble: str
    task_troubles: tuple[str, ...]
    settings_file: str
    file_trouble: str = ""
    login_hint: str = ""
    sending_trouble: str = ""
    saving: str = ""
    port_trouble: str = ""
    hearing: HearingState | None = None


class Check(Struct, frozen=True):
    """One check of the installation or of the running bot.

    `state` is ok, warn (it works, but something is missing) or bad; `fix` says what to do, and is
    empty if all is well.
    """

    name: str
    state: str
    line: str
    fix: str = ""


class Control(Protocol):
    """The running bot as the dock may ask and steer it. Mappings are JSON as it stands.

    What a person got wrong is a result of `run`, never an exception. Errors of ours (errors.py)
    come through.
    """

    def state(self) -> BotState:
        """Return how it stands now; costs next to nothing."""

    async def checks(self, *, everything: bool) -> Sequence[Check]:
        """Return how each part is; `everything`: also this computer, the files and the network."""

    async def why(self, reply_id: int) -> Mapping[str, object]:
        """Return everything that led to one reply. Raises InputError if it is no longer kept."""

    async def chain(self, note_id: int) -> Mapping[str, object]:
        """Return where one note comes from and where it was used.

        Raises InputError if there is no such note.
        """

    async def run(self, name: str, params: Mapping[str, object]) -> OperationResult:
        """Run an operation of the table as the streamer."""

    def hear(self, text: str) -> bool:
        """Take a line that a program says the streamer said; False if too many come.

        Raises InputError while off.
        """
