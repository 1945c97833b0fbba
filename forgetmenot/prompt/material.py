"""What a prompt is made from: rows that were read and people that were looked up, before any of it is text.

Texts name people as `<@id>`; `names` tells what they are called now. `Past.id` is an episode's id, or the stream's for
a recap. Everything is a tuple in the order in which it is to be shown, the most valuable notes first.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field

from forgetmenot.domain.chat import Role, Standing, Viewer
from forgetmenot.domain.memory import Note, Recalled
from forgetmenot.domain.model import Section
from forgetmenot.prompt.depth import NORMAL, Depth


@dataclass(frozen=True, slots=True)
class Past:
    """Something that happened: an episode's summary or a stream's recap, and when.

    `streams_ago`: 0 for the stream that is on, 1 for the one before; None where it belongs to no stream.
    """

    id: int
    at: int
    text: str
    is_recap: bool = False
    streams_ago: int | None = None


@dataclass(frozen=True, slots=True)
class PromptLine:
    """One line of chat, or of the bot's own (`viewer_id` None). `id`: events.seq, or bot_messages.id."""

    id: int
    event_id: str
    viewer_id: str | None
    text: str
    at: int


@dataclass(frozen=True, slots=True)
class Other:
    """Somebody who is talked about, and what is known about them."""

    viewer: Viewer
    lore: tuple[Recalled, ...]


@dataclass(frozen=True, slots=True)
class ActionDone:
    """What became of an action, in words. `id`: action_logs.id. `done`: its name if it was really done, else empty."""

    id: int
    text: str
    done: str = ""


@dataclass(frozen=True, slots=True)
class PrefixMaterial:
    """What stays the same until the next compaction pass. `actions`: one line for each action it may propose."""

    channel: str = ""
    title: str = ""
    category: str = ""
    actions: tuple[str, ...] = ()
    channel_notes: tuple[Note, ...] = ()
    digest: str = ""
    episodes: tuple[Past, ...] = ()  # oldest first: the last stream's recap and last episode, then this stream's newest
    names: Mapping[str, str] = field(default_factory=dict)
    bit_streams: Mapping[int, int] = field(default_factory=dict)  # running bit's id → streams it came up in


@dataclass(frozen=True, slots=True)
class Prefix:
    """The composed prefix. `sections` joined are `text`; a reply may leave out the last of them, never one before."""

    text: str
    sections: tuple[Section, ...]

    @property
    def sha256(self) -> str:
        """The fingerprint of its bytes."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class TailMaterial:
    """What belongs to one message.

    `before`: lines of the speaker that the message continues (a bare mention). `thread`: the bot's lines to this
    speaker. `hidden`: people of whom nothing may stand in the prompt, whatever was read. `left_alone`: what the reply
    must not bring up.
    """

    now: int
    nonce: str
    speaker: Viewer
    message: PromptLine
    standing: Standing = Standing.KNOWN
    streams: int = 0
    before: tuple[PromptLine, ...] = ()
    brief: str = ""
    brief_notes: tuple[int, ...] = ()
    lore: tuple[Recalled, ...] = ()
    others: tuple[Other, ...] = ()
    past_episodes: tuple[Past, ...] = ()
    own_lines: tuple[PromptLine, ...] = ()
    thread: tuple[PromptLine, ...] = ()
    chat: tuple[PromptLine, ...] = ()
    bot_replies: tuple[PromptLine, ...] = ()
    actions_done: tuple[ActionDone, ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    left_alone: tuple[str, ...] = ()
    depth: Depth = NORMAL

    @property
    def said(self) -> tuple[PromptLine, ...]:
        """Every line of chat in it."""
        return (*self.chat, *self.own_lines, *self.before, self.message)


def stranger(user_id: str, name: str, now: int, role: Role = Role.VIEWER) -> Viewer:
    """Somebody of whom nothing is stored, as a speaker."""
    return Viewer(user_id, name.lower(), name, role, now, now)
