"""The types that packages exchange: frozen, without behaviour.

Times are integers: milliseconds since the epoch, UTC. Twitch's ids are text. Texts of episodes,
recaps and notes name people as `<@id>` (see `forgetmenot.text.mentions`): a name is looked up last,
when something is shown.
"""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from msgspec import Struct, field

from forgetmenot.durations import HOUR

# ── what is said in a channel, and by whom ────────────────────────────────────────────────────────

# Silence (ms) after which a new stream begins, where Twitch's live state is unknown.
STREAM_GAP = 12 * HOUR


class EventKind(StrEnum):
    """What somebody did in the channel."""

    MESSAGE = "message"
    ME = "me"
    CHEER = "cheer"
    SUB = "sub"
    GIFT = "gift"
    RAID = "raid"
    ANNOUNCEMENT = "announcement"
    # Said aloud by the streamer, as captions have it.
    SPOKEN = "spoken"
    FOLLOW = "follow"
    # Channel points spent.
    REDEMPTION = "redemption"
    # Something that happened on the stream: the end of a poll, a hype train, ads.
    STREAM = "stream"
    # What a moderator did: `events.target_id` is whom it hit.
    MODERATION = "moderation"
    # Any other USERNOTICE: watch streaks, badges, rituals.
    NOTICE = "notice"


class ReplyTo(Struct, frozen=True):
    """The message that a Twitch reply answers."""

    event_id: str
    user_id: str
    login: str
    text: str


# in no circle of references, so the garbage collector need not walk over the lines that wait to be written
class ChatEvent(Struct, frozen=True, gc=False):
    """One thing said or done in the channel, by one person.

    `text` is what the person typed (empty for a bare sub); `system_text` is Twitch's own sentence
    about it. `badges` are names without versions ("moderator", "vip", "subscriber", "broadcaster",
    "bot-badge"). `color` is the one they chose for their name, as #rrggbb; "" if they chose none.
    `sub_months`: for how long they have subscribed in all; `watch_streak`: the number of streams
    that Twitch announces with it. Both 0 if it says neither.
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
    reply_to: ReplyTo | None = None
    system_text: str = ""
    emote_only: bool = False
    color: str = ""
    sub_months: int = 0
    watch_streak: int = 0


class Redaction(Struct, frozen=True):
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

    @property
    def moderates(self) -> bool:
        """Return whether they run this channel: its broadcaster, or a moderator."""
        return self in {Role.BROADCASTER, Role.MODERATOR}


# How many streams in a row somebody must have missed to have been away, however long ago they came: while
# the channel itself paused, nobody missed any. One is not enough: whoever misses just the first stream
# after a pause of six weeks was not away for six weeks.
ABSENCE_STREAMS = 2


class Attendance(NamedTuple):
    """How often somebody was there: in all and since a date, and when they left the last stream.

    `missed`: how many streams they missed since then.
    """

    streams: int
    lately: int
    before_at: int | None
    missed: int


class Visit(NamedTuple):
    """Somebody's first and last line in a stream (ms), and how many streams they missed just before it."""

    first_at: int
    last_at: int
    missed: int = 0


class TimeTogether(NamedTuple):
    """What rows say of somebody's time in the channel. Times in ms, 0 for never.

    `visits`: to each stream that they came to, oldest first.
    """

    visits: Sequence[Visit]
    sub_months: int = 0
    sub_months_at: int = 0
    watch_streak: int = 0
    watch_streak_at: int = 0
    moderator_since: int = 0
    congratulated_at: int = 0


class Standing(StrEnum):
    """How well a person is known, computed from the streams they came to."""

    NEWCOMER = "newcomer"
    KNOWN = "known"
    REGULAR = "regular"
    RETURNER = "returner"


class Viewer(Struct, frozen=True):
    """A person: an immutable Twitch id with the names it goes by now.

    `called`, `say_as` and `pronouns` are their own words for themselves; "" if they said none.
    """

    id: str
    login: str
    display_name: str
    role: Role
    first_seen_at: int
    last_seen_at: int
    opted_out: bool = False
    called: str = ""
    say_as: str = ""
    pronouns: str = ""

    @property
    def wishes(self) -> str:
        """How they ask to be called, as `Deb (say: deb); they/them`; "" if they do not."""
        return "; ".join(filter(None, (self.chosen_name, self.pronouns)))

    @property
    def chosen_name(self) -> str:
        """The name that they chose, as `Deb (say: deb)`; "" if they chose none."""
        return f"{self.called} (say: {self.say_as})" if self.say_as else self.called


class Stream(Struct, frozen=True):
    """One broadcast, or chat without a gap of 12 h if Twitch's live state is not known.

    `so_far`: what the streamer has the bot say of it while it is on; "" for its summaries.
    """

    id: int
    started_at: int
    ended_at: int | None
    title: str
    category: str
    recap: str
    so_far: str = ""


class Video(NamedTuple):
    """A video of Twitch's. `at`: when it begins; `until`: how long it is probably kept (ms)."""

    id: int
    at: int
    until: int

    def link(self, at: int, now: int) -> str:
        """Return the address of a moment; "" if the video is probably gone, or began later."""
        seconds = (at - self.at) // 1_000
        if seconds < 0 or now >= self.until:
            return ""
        hours = seconds // 3600
        minutes = seconds // 60 % 60
        place = f"{hours}h{minutes}m{seconds % 60}s"
        return f"https://www.twitch.tv/videos/{self.id}?t={place}"


class ChannelState(Struct, frozen=True):
    """How the channel is. `started_at` (ms) and `stream_id` are set while it is live."""

    live: bool
    title: str
    category: str
    started_at: int | None = None
    stream_id: str = ""


class Line(Struct, frozen=True):
    """A row of tier 1 as the memory reads it: who, what, when; without the person's names.

    `tries`: summaries that failed; `retry_from`: the seq of the first line of the window that is
    tried next.
    """

    seq: int
    id: str
    stream_id: int | None
    viewer_id: str
    kind: EventKind
    text: str
    system_text: str
    role: Role
    addressed: bool
    from_bot: bool
    at: int
    tries: int = 0
    retry_from: int | None = None


class PromptLine(NamedTuple):
    """One line of chat, or of the bot's own (`viewer_id` None).

    `id`: events.seq, or bot_messages.id.
    """

    id: int
    event_id: str
    viewer_id: str | None
    text: str
    at: int


class StreamEvent(NamedTuple):
    """Something that Twitch reported, in its words: a raid, a sub, a hype train.

    `id`: events.seq.
    """

    id: int
    event_id: str
    viewer_id: str
    kind: EventKind
    text: str
    at: int


# ── what is remembered: episodes (tier 2) and notes (tier 3) ──────────────────────────────────────


class EpisodeKind(StrEnum):
    """How an episode came to be."""

    # A window of chat, summarised by a model.
    CHAT = "chat"
    # A window that was about to age out unread: people, counts, topics.
    COUNTED = "counted"
    # Somebody asked for something to be remembered.
    COMMAND = "command"
    IMPORT = "import"


class Participation(NamedTuple):
    """Somebody's part in an episode: lines said (0: only mentioned), and how many to the bot."""

    lines: int
    addressed: int


class Participant(Struct, frozen=True):
    """Somebody in an episode.

    `lines` 0: mentioned, did not speak. `hidden`: opted out or banned.
    """

    viewer_id: str
    role: Role
    lines: int
    addressed: int
    hidden: bool


class Episode(Struct, frozen=True):
    """Tier 2: what happened in one window of chat. `summary` is text with `<@id>` for people.

    `tries`: how often reading it for notes has failed. `topic`: what was played. `language`: what
    chat was in, by its English name; empty for English.
    """

    id: int
    kind: EpisodeKind
    stream_id: int | None
    started_at: int
    ended_at: int
    summary: str
    events: int
    tries: int = 0
    topic: str = ""
    language: str = ""


class Scope(StrEnum):
    """Whom or what a note is about."""

    VIEWER = "viewer"
    CHANNEL = "channel"
    RUNNING_BIT = "running_bit"


class NoteStatus(StrEnum):
    """Where a note is in its life. Active ones are recalled, past ones if a message asks."""

    ACTIVE = "active"
    # Its time is over: what was, and when.
    PAST = "past"
    EXPIRED = "expired"
    SUPERSEDED = "superseded"
    EVICTED = "evicted"
    RETRACTED = "retracted"


class SourceKind(StrEnum):
    """Whose word a note rests on, the strongest first."""

    COMMAND = "command"
    IMPORT = "import"
    SELF_CLAIM = "self_claim"
    # Nobody said it: seen by everybody, reported by Twitch, or inferred.
    OBSERVED = "observed"
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


class Note(Struct, frozen=True):
    """Tier 3: one durable fact in the third person without its subject ("plays drums").

    `topics` and `asked_with` are words written at extraction, for recall. `expires_at` is None for
    a permanent one. `persona` is whose note it is; an empty text: of every persona. `used_at`: when
    a reply last used it. `stale`: neither confirmed nor used for long.
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
    used_at: int | None
    stale: bool
    expires_at: int | None
    superseded_by: int | None
    pinned: bool
    episode_ids: tuple[int, ...]
    persona: str = ""

    @property
    def text_with_topics(self) -> str:
        """Return what it says, with the words beside it."""
        return " ".join((self.fact, *self.topics, *self.asked_with))

    def is_inactive(self, now: int) -> bool:
        """Return whether the note is stale or past, so that only a message with a word of it brings it up."""
        return self.stale or self.status is NoteStatus.PAST or self.is_over(now)

    def is_over(self, now: int) -> bool:
        """Return whether its time is over."""
        return self.expires_at is not None and self.expires_at <= now


class Recalled(Struct, frozen=True):
    """A note in a prompt or an answer, with the score that put it there (0.0: padding).

    `asked_for`: the message has a word of the note's own.
    """

    note: Note
    score: float
    asked_for: bool = False


# ── what a language model is shown, asked and billed for ──────────────────────────────────────────


# A row of the database: what it is of ("notes", "episodes", "streams" for their recaps, "events"
# for lines of chat, "replies", "actions"), and its id.
RowId = tuple[str, int]


class Section(Struct, frozen=True):
    """One part of a prompt as it was sent, and its rows; `dropped` counts rows left out of it."""

    name: str
    text: str
    tokens: int
    rows: tuple[RowId, ...] = ()
    dropped: int = 0


class Prompt(Struct, frozen=True):
    """What a reply's model call sees."""

    prefix: str
    tail: str
    sections: tuple[Section, ...]
    estimated_tokens: int
    shed: tuple[str, ...] = ()


class Purpose(StrEnum):
    """What a model call is for; the meter and the settings tell them apart."""

    REPLY = "reply"
    SUMMARY = "summary"
    RECAP = "recap"
    EXTRACT = "extract"
    BRIEF = "brief"


# The summary of a window in which the rules without a model found nothing; pages leave it out.
NOTHING = "Nothing in particular was said."


class ModelRequest(Struct, frozen=True):
    """One call to a language model. `schema` is a JSON schema that the answer's text must satisfy.

    `plain_system`: the system text for a server that can hold its model to no JSON, which then
    answers in plain text; None: only JSON will do. `language`: the interface's, for a model that
    words its answers by rules.
    """

    purpose: Purpose
    system: str
    prompt: str
    max_output_tokens: int
    temperature: float | None = None
    schema: Mapping[str, Any] | None = None
    plain_system: str | None = None
    language: str = "en"


class TokenUsage(Struct, frozen=True):
    """Tokens as the provider billed them; None where it does not say. `input` includes `cached`."""

    input: int | None = None
    cached: int | None = None
    output: int | None = None
    thoughts: int | None = None


class ModelAnswer(Struct, frozen=True):
    """A model's text with its bill. `finish`: "stop", "length" or the provider's own word.

    `plain`: a schema was asked for, and this is the plain text of a server that cannot do JSON.
    """

    text: str
    model: str
    usage: TokenUsage
    finish: str = "stop"
    latency_ms: int = 0
    plain: bool = False


# ── what the model proposes, what the policy decides, what became of it ───────────────────────────


class Proposal(Struct, frozen=True):
    """What the model asked to be done. `if_refused` is what it would say if that is not done."""

    name: str
    params: Mapping[str, str] = field(default_factory=dict)
    if_refused: str = ""


class Verdict(StrEnum):
    """What the policy says to a proposal."""

    ALLOW = "allow"
    ALLOW_CHANGED = "allow_changed"
    ASK = "ask"
    DENY = "deny"


class Decision(Struct, frozen=True):
    """The policy's answer, with the name of the rule that gave it.

    `params` are the ones to execute.
    """

    verdict: Verdict
    rule: str
    reason: str
    params: Mapping[str, str] = field(default_factory=dict)


class OutcomeKind(StrEnum):
    """What became of an action or of a message."""

    DONE = "done"
    # Twitch said no; detail says why.
    REFUSED = "refused"
    FAILED = "failed"
    # No answer in time: nothing may be claimed.
    UNKNOWN = "unknown"


class Outcome(Struct, frozen=True):
    """The result of one call that changes something on Twitch.

    `twitch_id` is the created thing's id, if any. `is_about_text`: Twitch refused these words, and
    may take others.
    """

    kind: OutcomeKind
    detail: str = ""
    twitch_id: str = ""
    is_about_text: bool = False


# ── one request to the bot and its result, for every surface and every service ──────────────


class Surface(StrEnum):
    """Where a request comes from."""

    CHAT = "chat"
    DOCK = "dock"
    CLI = "cli"
    MODEL = "model"


class Permission(StrEnum):
    """Who may ask on a surface."""

    # About themselves; moderators about anybody and about the channel.
    ANYONE = "anyone"
    # Moderators and the streamer.
    MODERATOR = "moderator"
    # Whoever sits at the streamer's machine.
    OWNER = "owner"
    # The model, as far as operations/policy allows it.
    POLICY = "policy"


class MissingRights(Struct, frozen=True):
    """What an account's log-in at Twitch lacks.

    `trouble`: a sentence with the way out; "" if it lacks nothing. `users`: the names of the actions that need it, or
    of the rights themselves where the bot needs them for chat.
    """

    trouble: str = ""
    users: tuple[str, ...] = ()


class Asker(Struct, frozen=True):
    """Who asks. `role` is from the badges of the very message; `line_id` is that message.

    `reply_to_id`: the message that it replies to; "" for none.
    """

    surface: Surface
    viewer_id: str = ""
    role: Role = Role.VIEWER
    login: str = ""
    display_name: str = ""
    line_id: str = ""
    reply_to_id: str = ""

    @property
    def moderates(self) -> bool:
        """Return whether they may ask about anybody."""
        return self.role.moderates


class Target(Struct, frozen=True):
    """Whom a request is about: a viewer, or (`id` None) the channel.

    `name` is for showing; `own`: it is the asker.
    """

    id: str | None = None
    name: str = "the channel"
    own: bool = False


class LinePeople(NamedTuple):
    """The viewers whom a line that no model wrote is about, and the others whom it names."""

    about: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()


OF_NOBODY = LinePeople()


class OperationResult(Struct, frozen=True):
    """What became of a request.

    `code` chooses a surface's sentence, `data` fills it; no sentence is made here. `about_ids`: the viewers whom the
    data is about, where that is not the target. `named_ids`: whom its texts mention.
    """

    ok: bool
    code: str
    data: Mapping[str, object] = field(default_factory=dict)
    target: Target | None = None
    about_ids: frozenset[str] = frozenset()
    named_ids: frozenset[str] = frozenset()
