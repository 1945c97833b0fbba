"""Any model, made safe to call: a deadline, bounded retries, a circuit breaker, a place in the queue, a meter.

Promises: `generate` ends within its purpose's deadline and raises ModelError and nothing else (a cancellation passes
through); an answer far beyond what was asked for is cut. It does not judge what the model wrote.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from forgetmenot.domain.model import ModelAnswer, ModelRequest, Purpose, TokenUsage
from forgetmenot.errors import ForgetMeNotError, ModelBlocked, ModelError, ModelRateLimited, ModelUnavailable
from forgetmenot.llm.breaker import Breaker
from forgetmenot.llm.gate import Gate
from forgetmenot.logs import log
from forgetmenot.ports import CallMeter, LanguageModel

FIRST_WAIT_S = 0.5
CHARACTERS_A_TOKEN = 20
"""No model writes more than so many at a time: what is longer than its tokens allow does not keep to them."""
WORTH_RETRYING = (ModelUnavailable, ModelRateLimited)


@dataclass(frozen=True, slots=True)
class Limits:
    """Deadlines in seconds for a whole `generate`, retries included, and how often a failed call is tried again."""

    reply_s: float = 12.0
    memory_s: float = 60.0
    retries: int = 2

    def deadline_s(self, purpose: Purpose) -> float:
        """Seconds that a call for this purpose may take."""
        return self.reply_s if purpose is Purpose.REPLY else self.memory_s


@dataclass(frozen=True, slots=True)
class Pace:
    """Real time and dice, replaceable in tests. Real in a replay too: a server knows nothing of its clock."""

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    dice: Callable[[], float] = random.random


class Guarded:
    """A LanguageModel around another one."""

    def __init__(
        self,
        inner: LanguageModel,
        *,
        gate: Gate,
        meter: CallMeter,
        limits: Limits,
        pace: Pace | None = None,
    ) -> None:
        self._inner = inner
        self._gate = gate
        self._meter = meter
        self._limits = limits
        self._pace = pace or Pace()
        self._breaker = Breaker()
        self._away = ""

    @property
    def name(self) -> str:
        """The inner model's name."""
        return self._inner.name

    @property
    def trouble(self) -> str | None:
        """What is wrong with the model, as a sentence for the health page; None where it answers."""
        words = self._breaker.trouble(self._pace.monotonic())
        return f"The model {self.name} {words}" if words else None

    async def aclose(self) -> None:
        """Give back connections."""
        await self._inner.aclose()

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer, within the purpose's deadline. Raises ModelError and nothing else."""
        seconds = self._limits.deadline_s(request.purpose)
        deadline = self._pace.monotonic() + seconds
        try:
            async with (
                asyncio.timeout(seconds) as queueing,
                self._gate.place(urgent=request.purpose is Purpose.REPLY),
            ):
                queueing.reschedule(None)  # from here on every try is bounded by the deadline itself
                return await self._persist(request, deadline)
        except TimeoutError:
            raise ModelUnavailable(f"{self.name} had no place free within {seconds:g} s.") from None

    async def _persist(self, request: ModelRequest, deadline: float) -> ModelAnswer:
        tries = 0
        while True:
            try:
                return await self._call(request, deadline)
            except WORTH_RETRYING as error:
                wait = self._wait_s(error, tries)
                tries += 1
                if tries > self._limits.retries or self._pace.monotonic() + wait >= deadline:
                    raise
                log.debug("model asked again", model=self.name, purpose=request.purpose, wait_s=round(wait, 2))
                await self._pace.sleep(wait)

    def _wait_s(self, error: ModelError, tries: int) -> float:
        if error.retry_after_s is not None:
            return error.retry_after_s
        return float(FIRST_WAIT_S * 2**tries * (0.5 + self._pace.dice()))

    async def _call(self, request: ModelRequest, deadline: float) -> ModelAnswer:
        """One try: through the breaker, on the meter."""
        started = self._pace.monotonic()
        rest = self._breaker.rest_s(started)
        if rest:
            raise ModelUnavailable(f"{self.name} is left alone for {rest:.0f} s after repeated failures.", rest)
        self._breaker.begin()
        try:
            async with asyncio.timeout(deadline - started):
                answer = await self._inner.generate(request)
        except TimeoutError:
            error = ModelUnavailable(f"{self.name} did not answer in time.")
            await self._note_failure(request, started, error)
            raise error from None
        except ModelError as error:
            await self._note_failure(request, started, error)
            raise
        except asyncio.CancelledError:
            self._breaker.abandoned()
            raise
        self._breaker.succeeded()
        self._is_back()
        await self._note(request.purpose, answer.usage, started, None)
        return replace(_within(answer, request), latency_ms=self._ms_since(started))

    async def _note_failure(self, request: ModelRequest, started: float, error: ModelError) -> None:
        if isinstance(error, ModelBlocked):  # the server is well; it is this prompt that gets no answer
            self._breaker.succeeded()
        else:
            self._breaker.failed(self._pace.monotonic(), str(error))
            self._is_away(error)
        await self._note(request.purpose, TokenUsage(), started, type(error).__name__)

    def _is_away(self, error: ModelError) -> None:
        """Told once per kind of trouble: a night without a model is one line."""
        kind = type(error).__name__
        if self._away != kind:
            log.warning("the model does not answer", model=self.name, reason=str(error))
        self._away = kind

    def _is_back(self) -> None:
        if self._away:
            log.info("the model answers again", model=self.name)
        self._away = ""

    async def _note(self, purpose: Purpose, usage: TokenUsage, started: float, error: str | None) -> None:
        try:
            await self._meter.record(purpose, self.name, usage, self._ms_since(started), error)
        except ForgetMeNotError as trouble:  # a full disk must not cost the answer
            log.warning("model call not metered", model=self.name, error=type(trouble).__name__)

    def _ms_since(self, started: float) -> int:
        return round((self._pace.monotonic() - started) * 1_000)


def _within(answer: ModelAnswer, request: ModelRequest) -> ModelAnswer:
    most = CHARACTERS_A_TOKEN * request.max_output_tokens
    return answer if len(answer.text) <= most else replace(answer, text=answer.text[:most], finish="length")
