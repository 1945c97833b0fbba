"""What is remembered: episodes (tier 2) and notes (tier 3)."""

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple


class EpisodeKind(StrEnum):
    """How an episode came to be."""

    CHAT = "chat"  # a window of chat, summarised by a model
    COUNTED = "counted"  # a window that was about to age out unread: people, counts, topics
    COMMAND = "command"  # somebody asked for something to be remembered
    IMPORT = "import"


class Part(NamedTuple):
    """Somebody's part in an episode: lines said (0: only spoken about), and how many of them to the bot."""

    lines: int
    addressed: int


@dataclass(frozen=True, slots=True)
class Episode:
    """Tier 2: what happened in one window of chat. `summary` is text with `<@id>` for people.

    `tries`: how often reading it for notes has failed. `topic`: what it is about, in a word or two, or the category.
    """

    id: int
    kind: EpisodeKind
    stream_id: int | None
    started_at: int
    ended_at: int
    summary: str
    events: int
    people: tuple[str, ...]
    tries: int = 0
    topic: str = ""


class Scope(StrEnum):
    """Whom or what a note is about."""

    VIEWER = "viewer"
    CHANNEL = "channel"
    RUNNING_BIT = "running_bit"


class NoteStatus(StrEnum):
    """Where a note is in its life; active ones are recalled, and past ones where a message asks for them."""

    ACTIVE = "active"
    PAST = "past"  # its time is over: what was, and when
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    EVICTED = "evicted"
    RETRACTED = "retracted"


class SourceKind(StrEnum):
    """Whose word a note rests on, the strongest first."""

    COMMAND = "command"
    IMPORT = "import"
    SELF_CLAIM = "self_claim"
    OBSERVED = "observed"  # about the channel or a running bit: seen by everybody
    REPORTED = "reported"


class Lifetime(StrEnum):
    """How long a note is good for, unless it is confirmed again."""

    DAY = "1d"
    THREE_DAYS = "3d"
    WEEK = "7d"
    MONTH = "30d"
    PERMANENT = "permanent"


class Importance(StrEnum):
    """How much is lost with a note."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


WEEK_MS = 7 * 86_400_000


@dataclass(frozen=True, slots=True)
class Note:
    """Tier 3: one durable fact, in the third person without its subject ("plays drums in <@42>'s band").

    `topics` and `asked_with` are words written at extraction, for recall. `expires_at` is None for a permanent one.
    `persona` is whose note it is; an empty text: of every persona. `used_at`: when a reply last used it; 0: never.
    `stale`: neither confirmed nor used for long.
    """

    id: int
    scope: Scope
    subject_id: str | None
    fact: str
    confidence: float
    status: NoteStatus
    source_kind: SourceKind
    importance: Importance
    topics: tuple[str, ...]
    asked_with: tuple[str, ...]
    created_at: int
    first_said_at: int
    last_confirmed_at: int
    used_at: int
    stale: bool
    expires_at: int | None
    superseded_by: int | None
    pinned: bool
    episode_ids: tuple[int, ...]
    persona: str = ""

    @property
    def is_past_when_over(self) -> bool:
        """Whether it was to last longer than a week: then it tells what was, when its time is over."""
        return self.expires_at is not None and self.expires_at - self.last_confirmed_at > WEEK_MS

    def is_quiet(self, now: int) -> bool:
        """Whether only a message that asks for it by its words finds it: it is stale, or past."""
        return self.stale or self.status is NoteStatus.PAST or self.is_over(now)

    def is_over(self, now: int) -> bool:
        """Whether its time is over."""
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True, slots=True)
class Recalled:
    """A note in a prompt or an answer, with the score that put it there (0.0: padding).

    `asked_for`: the message has a word of the note's own.
    """

    note: Note
    score: float
    asked_for: bool = False
