"""What the inside asks of the outside. Adapters fill these; app.py chooses which."""

from collections.abc import AsyncIterator
from typing import Protocol

from forgetmenot.clock import Clock
from forgetmenot.domain.action import Outcome
from forgetmenot.domain.chat import ChatEvent, Redaction
from forgetmenot.domain.model import ModelAnswer, ModelRequest, Purpose, TokenUsage

__all__ = ["CallMeter", "ChatOut", "ChatSource", "Clock", "LanguageModel", "Moderation"]


class ChatSource(Protocol):
    """Reads a channel. Ends when the source has ended; live sources reconnect by themselves for ever."""

    def events(self) -> AsyncIterator[ChatEvent | Redaction]:
        """Yield what happens, in the order in which it arrives."""
        ...


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
