"""Why Twitch took a message and did not show it, as a type and in words for the streamer. Pure.

Twitch does not publish the list of its codes; unknown ones are OTHER and keep Twitch's own sentence.
"""

from dataclasses import dataclass
from enum import StrEnum

from forgetmenot.domain.action import Outcome, OutcomeKind


class DropReason(StrEnum):
    """What was in the way."""

    HELD = "held"
    BLOCKED = "blocked"
    DUPLICATE = "duplicate"
    TOO_LONG = "too_long"
    TOO_FAST = "too_fast"
    SLOW_MODE = "slow_mode"
    FOLLOWERS_ONLY = "followers_only"
    SUBSCRIBERS_ONLY = "subscribers_only"
    EMOTE_ONLY = "emote_only"
    UNIQUE_CHAT = "unique_chat"
    BANNED = "banned"
    TIMED_OUT = "timed_out"
    VERIFICATION = "verification"
    NOT_SHOWN = "not_shown"  # not sent, and no reason given
    OTHER = "other"


_CODES = {
    "msg_rejected": DropReason.HELD,
    "automod_held": DropReason.HELD,
    "msg_rejected_mandatory": DropReason.BLOCKED,
    "channel_settings": DropReason.BLOCKED,
    "msg_duplicate": DropReason.DUPLICATE,
    "msg_too_long": DropReason.TOO_LONG,
    "msg_ratelimit": DropReason.TOO_FAST,
    "msg_slowmode": DropReason.SLOW_MODE,
    "msg_followersonly": DropReason.FOLLOWERS_ONLY,
    "msg_followersonly_zero": DropReason.FOLLOWERS_ONLY,
    "msg_followersonly_followed": DropReason.FOLLOWERS_ONLY,
    "msg_subsonly": DropReason.SUBSCRIBERS_ONLY,
    "msg_emoteonly": DropReason.EMOTE_ONLY,
    "msg_r9k": DropReason.UNIQUE_CHAT,
    "msg_banned": DropReason.BANNED,
    "user_banned": DropReason.BANNED,
    "msg_timedout": DropReason.TIMED_OUT,
    "user_timed_out": DropReason.TIMED_OUT,
    "msg_verified_email": DropReason.VERIFICATION,
    "msg_requires_verified_phone_number": DropReason.VERIFICATION,
}
_SENTENCES = {
    DropReason.HELD: "AutoMod holds the message until a moderator releases it.",
    DropReason.BLOCKED: "The channel's moderation settings block the message.",
    DropReason.DUPLICATE: "Twitch rejects it as a repeat of the last message.",
    DropReason.TOO_LONG: "The message is too long for Twitch.",
    DropReason.TOO_FAST: "Twitch says that the bot writes too fast.",
    DropReason.SLOW_MODE: "The chat is in slow mode. Moderators are exempt.",
    DropReason.FOLLOWERS_ONLY: "The chat is for followers only. Let the bot follow, or make it a moderator.",
    DropReason.SUBSCRIBERS_ONLY: "The chat is for subscribers only. Make the bot a moderator or a VIP.",
    DropReason.EMOTE_ONLY: "The chat is in emote-only mode.",
    DropReason.UNIQUE_CHAT: "The chat is in unique-chat mode and rejects repeated messages.",
    DropReason.BANNED: "The bot's account is banned in this channel.",
    DropReason.TIMED_OUT: "The bot's account is timed out in this channel.",
    DropReason.VERIFICATION: "The chat requires the bot's account to have a verified e-mail address or phone number.",
    DropReason.NOT_SHOWN: "Twitch did not show the message and gave no reason.",
}


@dataclass(frozen=True, slots=True)
class Dropped(Outcome):
    """An Outcome that says why a message was not shown."""

    reason: DropReason = DropReason.OTHER


def drop_reason(code: str | None) -> DropReason:
    """The reason that a code of Twitch's stands for."""
    return _CODES.get((code or "").lower(), DropReason.OTHER) if code else DropReason.NOT_SHOWN


def dropped(code: str | None, sentence: str | None) -> Dropped:
    """The outcome of a message that was not shown. A held one may still be released: nothing is claimed of it."""
    reason = drop_reason(code)
    kind = OutcomeKind.UNKNOWN if reason is DropReason.HELD else OutcomeKind.REFUSED
    return Dropped(kind, _SENTENCES.get(reason) or sentence or f"Twitch did not show the message ({code}).", "", reason)
