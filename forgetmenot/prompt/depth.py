"""How much of what goes into a prompt, by how fast the chat is: a pure function of messages per minute.

A quiet chat leaves room for one more episode of the past. In a flood nobody's lines fill the prompt, and it matters
more who is who. It shapes the tail only: the prefix does not know what minute it is.
"""

from dataclasses import dataclass

from forgetmenot.settings.schema import Settings

QUIET_BELOW = 2.0
BUSY_FROM = 60.0
FLOOD_FROM = 200.0


@dataclass(frozen=True, slots=True)
class Depth:
    """How many rows of each kind. `lines_per_viewer` bounds what one person takes of the chat."""

    band: str
    chat_lines: int
    lines_per_viewer: int
    own_lines: int
    lore: int
    others: int
    lore_per_other: int
    past_episodes: int


def depth_for(per_minute: float, settings: Settings) -> Depth:
    """The working set at that many messages a minute. The settings' numbers are those of a normal chat."""
    prompt, recall = settings.prompt, settings.recall
    chat, own, lore, others = prompt.chat_lines, prompt.own_lines, recall.speaker_notes, recall.others
    if per_minute < QUIET_BELOW:
        return Depth("quiet", chat, chat, own, lore, others, recall.notes_per_other, 2)
    if per_minute < BUSY_FROM:
        return Depth("normal", chat, chat, own, lore, others, recall.notes_per_other, 1)
    if per_minute < FLOOD_FROM:
        return Depth("busy", chat, 3, min(own, 4), lore, others, recall.notes_per_other, 1)
    return Depth("flood", chat, 1, min(own, 3), lore, others + (1 if others else 0), recall.notes_per_other, 0)


NORMAL = depth_for(10.0, Settings())
