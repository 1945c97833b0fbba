"""One reply in the making: its trigger, under one snapshot of the settings, with its row."""

from dataclasses import dataclass

from forgetmenot.clock import SECOND
from forgetmenot.domain.chat import ChatEvent
from forgetmenot.reply.triggers import Trigger, TriggerKind
from forgetmenot.settings.schema import Settings


@dataclass(frozen=True, slots=True)
class Job:
    """`reply_id`: its row in bot_messages. `kept`: False if the answer's words are not: who asked is not stored."""

    trigger: Trigger
    settings: Settings
    reply_id: int
    kept: bool = True

    @property
    def event(self) -> ChatEvent:
        """The line that asks for it."""
        return self.trigger.event

    @property
    def deadline(self) -> int:
        """When it is too late for an answer."""
        return self.event.at + self.settings.reply.stale_after_s * SECOND

    @property
    def reply_to(self) -> str | None:
        """The message that Twitch shows it under; a raid is welcomed to everybody."""
        return None if self.trigger.kind is TriggerKind.RAID else self.event.id
