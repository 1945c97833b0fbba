"""The input of a prompt, rows and viewers, before it becomes text.

Texts name people as `<@id>`; `names` maps ids to present names. `Past.id` is an episode's id, or the stream's for
a recap. Everything is a tuple in the order in which it is to be shown, the most valuable notes first.
"""

import hashlib
from collections.abc import Mapping

from msgspec import Struct, field

from forgetmenot.domain import (
    Note,
    PromptLine,
    Recalled,
    Role,
    Section,
    Standing,
    StreamEvent,
    Viewer,
)

# What a prompt has of each kind, at most.
SPEAKER_NOTES = 20
CHANNEL_NOTES = 5
OTHERS = 2
NOTES_PER_OTHER = 20
OWN_LINES = 5
PAST_EPISODES = 2
EVENT_ROWS = 8
# Lines with the same words of more people than these become one line.
A_FEW = 5


class Past(Struct, frozen=True):
    """Something that happened: an episode's summary or a stream's recap, and when.

    `streams_ago`: 0 for the stream that is on, 1 for the one before; None where it belongs to no stream. For a
    question that asks when something was, `minutes`: those of the stream, `link`: to them in its video. `table`: where
    the text stands.
    """

    id: int
    at: int
    text: str
    is_recap: bool = False
    streams_ago: int | None = None
    minutes: str = ""
    link: str = ""
    table: str = "episodes"


class PersonMentioned(Struct, frozen=True):
    """A viewer who is talked about, and what is known about them.

    `brief`: who they are, where just that is asked; `brief_notes`: the ids of the notes that it is made of.
    `ordinary_word`: the word that may mean them, where it is one of the language first ("drums"); else empty.
    """

    viewer: Viewer
    notes: tuple[Recalled, ...] = ()
    brief: str = ""
    brief_notes: tuple[int, ...] = ()
    ordinary_word: str = ""


class UnclearName(Struct, frozen=True):
    """A word of the message that may name several people, and how these are shown."""

    word: str
    names: tuple[str, ...]


class ActionDone(Struct, frozen=True):
    """What became of an action, in words. `id`: action_logs.id. `done`: its name if it was really done, else empty."""

    id: int
    text: str
    done: str = ""


class PrefixMaterial(Struct, frozen=True):
    """The input of the prefix. `actions`: what it may propose, each with its parameters."""

    channel: str = ""
    title: str = ""
    category: str = ""
    actions: tuple[str, ...] = ()
    channel_notes: tuple[Note, ...] = ()
    digest: str = ""
    # oldest first: the last stream's recap and last episode, then this stream's newest
    episodes: tuple[Past, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)


class Prefix(Struct, frozen=True):
    """The composed prefix. `sections` joined are `text`; a reply may leave out the last of them, never one before.

    `whole_episodes`: the ids of the episodes of which it has every word; of others it has some sentences.
    """

    text: str
    sections: tuple[Section, ...]
    whole_episodes: tuple[int, ...] = ()

    @property
    def sha256(self) -> str:
        """Return the SHA-256 of its bytes."""
        return hashlib.sha256(self.text.encode()).hexdigest()


class TailMaterial(Struct, frozen=True):
    """The input for one message.

    `left_at`: when the speaker left the stream before (ms). `before`: lines of the speaker that the message continues
    (a bare mention). `thread`: the bot's lines to this speaker. `hidden`: people of whom nothing may stand in the
    prompt, whatever was read. `live_since`: 0 where the stream is off (ms). `language`: the one to answer in, where it
    has to be said. What is suppressed is not in it at all.
    """

    now: int
    speaker: Viewer
    message: PromptLine
    standing: Standing = Standing.KNOWN
    streams: int = 0
    left_at: int = 0
    # today's news of their time here, in words, the most remarkable first
    together: tuple[str, ...] = ()
    # when the newest of it became true that the reply may congratulate on (ms); 0: nothing
    congratulate_at: int = 0
    before: tuple[PromptLine, ...] = ()
    brief: str = ""
    brief_notes: tuple[int, ...] = ()
    notes: tuple[Recalled, ...] = ()
    others: tuple[PersonMentioned, ...] = ()
    unclear_names: tuple[UnclearName, ...] = ()
    # notes about the channel that fit the message and stand in no prefix
    channel: tuple[Recalled, ...] = ()
    # notes about anybody, for a question that asks for a person
    anybody: tuple[Recalled, ...] = ()
    past_episodes: tuple[Past, ...] = ()
    # lines of the speaker and of those asked about that no summary has yet, the newest first
    unsummarised: tuple[PromptLine, ...] = ()
    own_lines: tuple[PromptLine, ...] = ()
    thread: tuple[PromptLine, ...] = ()
    # what the streamer said aloud lately, as captions had it
    spoken: tuple[PromptLine, ...] = ()
    # what Twitch reported lately, oldest first; what moderators did is for moderators alone
    happened: tuple[StreamEvent, ...] = ()
    moderation: tuple[StreamEvent, ...] = ()
    chat: tuple[PromptLine, ...] = ()
    bot_replies: tuple[PromptLine, ...] = ()
    actions_done: tuple[ActionDone, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    # what the model looked up by words of its own
    looked_up: tuple[Recalled, ...] = ()
    looked_up_past: tuple[Past, ...] = ()
    live_since: int = 0
    # False: the line does not name the bot, and may be for others
    is_addressed: bool = True
    language: str = ""

    @property
    def other_ids(self) -> tuple[str, ...]:
        """Return the ids of those who are talked about, in the order of `others`."""
        return tuple(other.viewer.id for other in self.others)

    @property
    def lines_heard(self) -> tuple[PromptLine, ...]:
        """Return every line that people typed or said aloud; not the bot's own."""
        from_channel = (*self.chat, *self.spoken, *self.unsummarised)
        from_speaker = (*self.own_lines, *self.before, self.message)
        return (*from_channel, *from_speaker)


def stranger(
    user_id: str,
    name: str,
    now: int,
    role: Role = Role.VIEWER,
) -> Viewer:
    """Return a speaker of whom nothing is stored."""
    return Viewer(user_id, name.lower(), name, role, now, now)
