"""What is left out when a prompt is too large: seven rungs in a fixed order, then the rest, and never the floor.

The floor is the instructions, the date, the speaker, the speaker's own messages and the current message. Within a
rung rows go one by one, and no further than is needed. The prefix loses whole sections from its end, so that what
remains of it is the beginning of the same bytes.
"""

from dataclasses import dataclass
from typing import NamedTuple

from forgetmenot.domain.model import Section
from forgetmenot.prompt.sections import Block


class Rung(NamedTuple):
    """One step: the named section goes down to so many rows. A section of the prefix goes whole."""

    name: str
    section: str
    keep: int = 0


LADDER = (
    Rung("1 episodes", "episodes"),
    Rung("2 lore past 5", "lore", 5),
    Rung("3 channel notes past 3", "digest"),
    Rung("3 channel notes past 3", "channel_notes_more"),
    Rung("4 chat past 12", "chat", 12),
    Rung("5 lore past 2", "lore", 2),
    Rung("6 chat past 8", "chat", 8),
    Rung("7 chat past 5", "chat", 5),
    Rung("rest", "past_episode"),
    Rung("rest", "bot_replies"),
    Rung("rest", "actions_done"),
    Rung("rest", "others"),
    Rung("rest", "chat"),
    Rung("rest", "brief"),
    Rung("rest", "lore"),
    Rung("rest", "channel_notes"),
    Rung("rest", "channel"),
)


@dataclass(slots=True)
class Layout:
    """A prompt while it is being made to fit. `prefix[0]`, the instructions, never goes."""

    prefix: list[Section]
    blocks: dict[str, Block]
    factor: float
    dropped: list[Section]
    sections: dict[str, Section]
    shed: list[str]

    @classmethod
    def of(cls, prefix: tuple[Section, ...], blocks: list[Block], factor: float) -> "Layout":
        """Everything, before anything is dropped."""
        sections = {block.name: block.section(factor) for block in blocks}
        return cls(list(prefix), {block.name: block for block in blocks}, factor, [], sections, [])

    @property
    def tokens(self) -> int:
        """The size of what is in it now."""
        return sum(s.tokens for s in self.prefix) + sum(s.tokens for s in self.sections.values())

    def fit(self, budget: int) -> None:
        """Climb down the ladder until it fits or nothing but the floor is left."""
        for rung in LADDER:
            if self.tokens <= budget:
                return
            if self._step(rung, budget) and rung.name not in self.shed:
                self.shed.append(rung.name)

    def _step(self, rung: Rung, budget: int) -> bool:
        if rung.section in self.blocks:
            return self._shorten(rung, budget)
        if len(self.prefix) > 1 and self.prefix[-1].name == rung.section:
            self.dropped.append(self.prefix.pop())
            return True
        return False

    def _shorten(self, rung: Rung, budget: int) -> bool:
        whole = self.blocks[rung.section]
        low, high = min(rung.keep, len(whole.rows)), len(whole.rows)
        if low == high:
            return False
        rest = self.tokens - self.sections[rung.section].tokens
        while low < high:  # the most rows with which it fits, or the rung's own number
            middle = (low + high + 1) // 2
            if rest + whole.cut(middle).section(self.factor).tokens <= budget:
                low = middle
            else:
                high = middle - 1
        self.replace(whole.cut(low))
        return True

    def replace(self, block: Block) -> None:
        """Put a changed block in the place of the one of its name."""
        self.blocks[block.name] = block
        self.sections[block.name] = block.section(self.factor)
