"""Spending limits: which work is skipped, in which order, as the tokens of a day or a stream run out.

As more of a limit is used the bot first stops speaking up by itself, then writing briefs and recaps, then learning
notes (episodes wait), then replying; summaries come last, because chat that is not summarised in time is lost.
Nothing is lost by the earlier steps: what waits is done when there are tokens again. Each step is logged once and shown
in the dock.
"""

from collections.abc import Awaitable, Callable
from enum import IntEnum
from typing import NamedTuple

from forgetmenot.domain.model import ModelAnswer, ModelRequest, Purpose
from forgetmenot.errors import ModelUnavailable
from forgetmenot.languages import reason
from forgetmenot.logs import log
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.schema import Settings


class Saving(IntEnum):
    """How much is left out; each step includes those before it."""

    NOTHING = 0
    SPEAKING_UP = 1
    BRIEFS = 2
    LEARNING = 3
    REPLIES = 4
    SUMMARIES = 5


class SavingStep(NamedTuple):
    """From which share of a limit a step is taken, what it skips, and the reason that the dock gives."""

    share: float
    skips: tuple[Purpose, ...]
    code: str


STEPS = {
    Saving.SPEAKING_UP: SavingStep(0.7, (), "saving_1"),
    Saving.BRIEFS: SavingStep(0.8, (Purpose.BRIEF, Purpose.RECAP, Purpose.DIGEST), "saving_2"),
    Saving.LEARNING: SavingStep(0.9, (Purpose.EXTRACT,), "saving_3"),
    Saving.REPLIES: SavingStep(1.0, (Purpose.REPLY,), "saving_4"),
    Saving.SUMMARIES: SavingStep(1.2, (Purpose.SUMMARY,), "saving_5"),
}
_SKIPPED_FROM = {purpose: saving for saving, step in STEPS.items() for purpose in step.skips}


def saving_at(share: float) -> Saving:
    """What is left out where this share of a limit is used (1.0: all of it)."""
    return max((saving for saving, step in STEPS.items() if share >= step.share), default=Saving.NOTHING)


class SpendLimit:
    """The limits of the settings against what was used. `used`: tokens of the last 24 hours and of this stream."""

    def __init__(self, *, settings: Callable[[], Settings], used: Callable[[], Awaitable[tuple[int, int]]]) -> None:
        self._settings = settings
        self._used = used
        self._saving = Saving.NOTHING

    @property
    def line(self) -> str:
        """What is left out just now, as a sentence; empty where nothing is."""
        return reason(STEPS[self._saving].code) if self._saving else ""

    async def saving(self) -> Saving:
        """What is left out now. Raises StoreError."""
        limits = self._settings().limits
        if not limits.tokens_per_day and not limits.tokens_per_stream:
            self._saving = Saving.NOTHING
            return self._saving
        pairs = zip(await self._used(), (limits.tokens_per_day, limits.tokens_per_stream), strict=True)
        saving = max((saving_at(used / limit) for used, limit in pairs if limit), default=Saving.NOTHING)
        if saving != self._saving:
            log.warning("spending limit", saving=saving.name.lower())
        self._saving = saving
        return saving

    def around(self, model: LanguageModel) -> LanguageModel:
        """The same model, which refuses what is left out."""
        return _Limited(model, self)


class _Limited:
    """A LanguageModel under a limit."""

    def __init__(self, inner: LanguageModel, limit: SpendLimit) -> None:
        self._inner = inner
        self._limit = limit

    @property
    def name(self) -> str:
        return self._inner.name

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        saving = await self._limit.saving()
        if saving >= _SKIPPED_FROM[request.purpose]:
            raise ModelUnavailable(reason(STEPS[saving].code))
        return await self._inner.generate(request)

    async def aclose(self) -> None:
        await self._inner.aclose()
