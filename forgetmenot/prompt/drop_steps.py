"""Makes a prompt fit its budget: what is dropped first, and what never. Pure.

When a prompt is too large, rows are dropped in seven fixed steps, then whole blocks, no more than needed. The prefix
loses whole sections from its end, so that what remains is the beginning of the same bytes: a model's server has read
those already, and charges less for them.
"""

from typing import NamedTuple

from forgetmenot.domain import Section
from forgetmenot.prompt.rows import Block


class DropStep(NamedTuple):
    """One step: cut the named section to `keep` rows. A section of the prefix is dropped whole."""

    name: str
    section: str
    keep: int = 0


_REST = (
    "past_episode",
    "looked_up_past",
    "spoken",
    "bot_replies",
    "actions_done",
    "channel_notes_asked",
    "anybody",
    "unsummarised",
    "others",
    "chat",
    "happened",
    "moderation",
    "brief",
    "lore",
    "channel_notes",
    "channel",
)
DROP_STEPS = (
    DropStep("1 episodes", "episodes"),
    DropStep("2 lore past 5", "lore", 5),
    DropStep("3 channel notes past 3", "digest"),
    DropStep("3 channel notes past 3", "channel_notes_more"),
    DropStep("4 chat past 12", "chat", 12),
    DropStep("5 lore past 2", "lore", 2),
    DropStep("6 chat past 8", "chat", 8),
    DropStep("7 chat past 5", "chat", 5),
    *(DropStep("rest", section) for section in _REST),
)


class PromptDraft:
    """A prompt while it is being made to fit. `prefix[0]`, the instructions, never goes."""

    def __init__(self, prefix: tuple[Section, ...], blocks: list[Block]) -> None:
        self.prefix = list(prefix)
        # of the prefix, from its end
        self.dropped: list[Section] = []
        # the names of the steps that were taken
        self.shed: list[str] = []
        self.blocks: dict[str, Block] = {}
        # the text and the size of each block, which are measured at every step
        self.sections: dict[str, Section] = {}
        for block in blocks:
            self.replace(block)

    @property
    def tokens(self) -> int:
        """Return the size of what is in the draft now."""
        sections = (*self.prefix, *self.sections.values())
        return sum(section.tokens for section in sections)

    def fit(self, budget: int) -> None:
        """Take drop steps until the draft fits into a budget of tokens, or none is left to take."""
        for step in DROP_STEPS:
            if self.tokens <= budget:
                return
            is_dropped = self._step(step, budget)
            if is_dropped and step.name not in self.shed:
                self.shed.append(step.name)

    def _step(self, step: DropStep, budget: int) -> bool:
        """Take one drop step, and return whether anything was dropped."""
        if step.section in self.blocks:
            return self._shorten(step, budget)
        is_only_instructions = len(self.prefix) == 1
        if is_only_instructions:
            return False
        if self.prefix[-1].name != step.section:
            return False
        self.dropped.append(self.prefix.pop())
        return True

    def _shorten(self, step: DropStep, budget: int) -> bool:
        """Drop rows of a block until the draft fits, and return whether any was dropped."""
        whole = self.blocks[step.section]
        other_tokens = self.tokens - self.sections[step.section].tokens
        shortened = whole.within(budget - other_tokens, step.keep)
        self.replace(shortened)
        return len(shortened.rows) < len(whole.rows)

    def replace(self, block: Block) -> None:
        """Put a changed block in the place of the one of its name."""
        self.blocks[block.name] = block
        self.sections[block.name] = block.section()
