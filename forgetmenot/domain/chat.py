"""What is said in a channel, and by whom."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class EventKind(StrEnum):
    """What somebody did in the channel."""

    MESSAGE = "message"
    ME = "me"
    CHEER = "cheer"
    SUB = "sub"
    GIFT = "gift"
    RAID = "raid"
    ANNOUNCEMENT = "announcement"
    MODERATION = "moderation"  # done to them: a timeout, a ban, a deleted message; not theirs, and without text
    SPOKEN = "spoken"  # said aloud by the streamer, as captions have it
    FOLLOW = "follow"
    REDEMPTION = "redemption"  # channel points spent
    STREAM = "stream"  # something that happened on the stream: the end of a poll, a hype train, ads
    NOTICE = "notice"  # any other USERNOTICE: watch streaks, badges, rituals


@dataclass(frozen=True, slots=True)
class ReplyTo:
    """The message that a Twitch reply answers."""

    event_id: str
    user_id: str
    login: str
    text: str


@dataclass(frozen=True, slots=True)
class ChatEvent:
    """One thing said or done in the channel, by one person.

    `text` is what the person typed (empty for a bare sub); `system_text` is Twitch's own sentence about it.
    `badges` are names without versions ("moderator", "vip", "subscriber", "broadcaster", "bot-badge").
    """

    id: str
    kind: EventKind
    user_id: str
    login: str
    display_name: str
    text: str
    at: int
    room_id: str = ""
    badges: frozenset[str] = frozenset()
    bits: int = 0
    reply_to: ReplyTo | None = None
    system_text: str = ""
    emote_only: bool = False


@dataclass(frozen=True, slots=True)
class Redaction:
    """Twitch took text away: one message, one person's messages, or (neither set) the whole chat.

    `duration_s` is set for a timeout; a person without it was banned.
    """

    at: int
    event_id: str | None = None
    user_id: str | None = None
    duration_s: int | None = None


class Role(StrEnum):
    """What a person is in this channel, read from the badges of their last message."""

    BROADCASTER = "broadcaster"
    MODERATOR = "moderator"
    VIP = "vip"
    SUBSCRIBER = "subscriber"
    VIEWER = "viewer"


class Attendance(NamedTuple):
    """How often somebody was there: streams in all, since a date, and when the stream before this one was left."""

    streams: int
    lately: int
    before_at: int | None


class Standing(StrEnum):
    """How well a person is known, computed from the streams they came to."""

    NEWCOMER = "newcomer"
    KNOWN = "known"
    REGULAR = "regular"
    RETURNER = "returner"


@dataclass(frozen=True, slots=True)
class Viewer:
    """A person: an immutable Twitch id with the names it goes by now."""

    id: str
    login: str
    display_name: str
    role: Role
    first_seen_at: int
    last_seen_at: int
    opted_out: bool = False


@dataclass(frozen=True, slots=True)
class Stream:
    """One broadcast, or one stretch of chat without a gap of 12 h where Twitch's live state is not known."""

    id: int
    started_at: int
    ended_at: int | None
    title: str
    category: str
    recap: str


@dataclass(frozen=True, slots=True)
class ChannelState:
    """How the channel is. `started_at` (ms) and `stream_id` are set while it is live."""

    live: bool
    title: str
    category: str
    started_at: int | None = None
    stream_id: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A row of tier 1 as the memory reads it: who, what, when; without the names that the person went by.

    `tries`: summaries that failed; `retry_from`: the seq of the first line of the window that is tried next.
    """

    seq: int
    id: str
    stream_id: int | None
    viewer_id: str
    kind: EventKind
    text: str
    system_text: str
    role: Role
    emote_only: bool
    addressed: bool
    from_bot: bool
    at: int
    tries: int = 0
    retry_from: int | None = None
