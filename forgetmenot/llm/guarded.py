"""Wraps a model with a deadline, bounded retries, a circuit breaker, a meter and spending limits.

Guarantees:
- `generate` ends within its purpose's deadline, from when its spending limits were read; of the model it raises only
  ModelError (a cancellation passes through).
- A purpose that is left out for a spending limit never reaches the model, whoever asks.
- An answer far longer than requested is cut.
- For memory work an answer of the wrong shape, an empty answer and a block count as failures, as a 500 does.
"""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from enum import IntEnum

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.domain import ModelAnswer, ModelRequest, Purpose, TokenUsage
from forgetmenot.errors import (
    ForgetMeNotError,
    ModelBlocked,
    ModelError,
    ModelRateLimited,
    ModelUnavailable,
)
from forgetmenot.languages import reason
from forgetmenot.llm.answer_text import json_object
from forgetmenot.logs import log
from forgetmenot.ports import CallMeter, LanguageModel
from forgetmenot.settings import prices
from forgetmenot.settings.schema import Settings
from forgetmenot.startup import make_off_the_loop
from forgetmenot.text.tokens import estimate_tokens

FAILURES = 5
FIRST_REST_S = 15.0
LONGEST_REST_S = 300.0
FIRST_WAIT_S = 0.5
# Upper bound of a text per token: a longer answer ignores its token limit and is cut.
CHARACTERS_A_TOKEN = 20
# No model reads or writes more in one call: a larger bill is nonsense.
MOST_TOKENS_A_CALL = 20_000_000
WORTH_RETRYING = (ModelUnavailable, ModelRateLimited)


class Limits(Struct, frozen=True):
    """Deadlines in seconds for a whole `generate`, retries included; how often a failed call is tried again.

    `at_once`: calls under way together. Each model has its own, so replies never queue behind the memory's work.
    """

    reply_s: float = 12.0
    memory_s: float = 60.0
    retries: int = 2
    at_once: int = 4


class RetryClock(Struct, frozen=True):
    """Real time and randomness, replaceable in tests. Real in a replay too: servers do not follow its clock."""

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random


class GuardedModel:
    """A LanguageModel around another one, which is made at its first call: an SDK takes a second to import.

    Its circuit breaker is closed (calls pass), open after FAILURES in a row (none does), then half-open: one call
    does, and decides. The rest between grows with each of these that fails. `spending`: the limits that its calls keep
    to, if there are any.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[], LanguageModel],
        *,
        meter: CallMeter,
        limits: Limits,
        pace: RetryClock | None = None,
    ) -> None:
        self.name = name
        self.spending: SpendLimit | None = None
        self._make = make
        self._making = asyncio.Lock()
        self._inner: LanguageModel | None = None
        self._places = asyncio.Semaphore(limits.at_once)
        self._meter = meter
        self._limits = limits
        self._pace = pace or RetryClock()
        self._failures = 0  # in a row
        self._rest_s = FIRST_REST_S
        self._open_until: float | None = None
        self._probing = False
        self._reason = ""
        self._prompt_cut: str | None = None
        self._last_window: int | None = None

    @property
    def prompt_cut(self) -> str | None:
        """A sentence, if the server has cut a prompt without saying so; None otherwise."""
        return self._prompt_cut

    @property
    def trouble(self) -> str | None:
        """What is wrong with the model, as a sentence for the checks; None where it answers."""
        if not self._failures:
            return None
        rest = self._rest()
        then = reason("next_try", seconds=f"{rest:.0f}") if rest else ""
        return reason(
            "model_failed", model=self.name, n=self._failures, reason=self._reason, then=then
        )

    async def aclose(self) -> None:
        """Give back connections, if it was ever called."""
        async with self._making:
            if self._inner is not None:
                await self._inner.aclose()
                self._inner = None

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer, within the purpose's deadline. Raises ModelError; StoreError where what was spent cannot be read."""
        if self.spending is not None:
            await self.spending.check(request.purpose)
        limits = self._limits
        seconds = limits.reply_s if request.purpose is Purpose.REPLY else limits.memory_s
        deadline = self._pace.monotonic() + seconds
        try:
            async with asyncio.timeout(seconds) as queueing, self._places:
                queueing.reschedule(
                    None
                )  # from here on every try is bounded by the deadline itself
                tries = 0
                while True:
                    try:
                        return await self._call(request, deadline)
                    except WORTH_RETRYING as error:
                        # the server's own word on when it takes calls again, or doubled and spread, so that calls
                        # that failed together do not come back together
                        spread = FIRST_WAIT_S * 2**tries * (0.5 + self._pace.random())
                        wait = spread if error.retry_after_s is None else error.retry_after_s
                        tries += 1
                        if tries > limits.retries or self._pace.monotonic() + wait >= deadline:
                            raise
                        await self._pace.sleep(wait)
        except TimeoutError:
            raise ModelUnavailable(reason("model_silent", model=self.name)) from None

    async def _model(self) -> LanguageModel:
        async with self._making:
            if self._inner is None:
                self._inner = await make_off_the_loop(self._make)
        return self._inner

    def _rest(self) -> float:
        """Seconds until a call may pass; 0.0 where one may pass now."""
        if self._open_until is None:
            return 0.0
        # while the probe is out nobody else gets through, although its time has come
        return max(self._open_until - self._pace.monotonic(), 1.0 if self._probing else 0.0)

    async def _call(self, request: ModelRequest, deadline: float) -> ModelAnswer:
        """One try: through the breaker, on the meter."""
        started = self._pace.monotonic()
        if rest := self._rest():
            raise ModelUnavailable(
                reason("model_paused", model=self.name, seconds=f"{rest:.0f}"), rest
            )
        self._probing = self._open_until is not None
        answer = ModelAnswer("", self.name, TokenUsage())
        error: ModelError | None = None
        try:
            async with asyncio.timeout(deadline - started):
                answer = await (await self._model()).generate(request)
            most = CHARACTERS_A_TOKEN * request.max_output_tokens
            if len(answer.text) > most:
                answer = replace(answer, text=answer.text[:most], finish="length")
            if not _has_shape(answer, request):
                error = ModelBlocked(reason("model_empty", model=self.name))
        except TimeoutError:
            error = ModelUnavailable(reason("model_silent", model=self.name))
        except ModelError as raised:
            error = raised
        except asyncio.CancelledError:
            self._probing = False  # this says nothing about the server
            raise
        except Exception as raised:  # noqa: BLE001  # a bug in an adapter must not leave the breaker half open
            error = ModelUnavailable(f"{self.name} failed unexpectedly ({type(raised).__name__}).")
            error.__cause__ = raised
        self._judge(request, error)
        latency_ms = round((self._pace.monotonic() - started) * 1_000)
        await self._record(request, answer, error, latency_ms)
        if error is not None:
            raise error
        return replace(answer, latency_ms=latency_ms)

    async def _record(
        self, request: ModelRequest, answer: ModelAnswer, error: ModelError | None, latency_ms: int
    ) -> None:
        """Meter a call. A full disk must not cost the answer."""
        usage = TokenUsage()
        # what was refused or never arrived costs nothing; an empty answer does
        if error is None or isinstance(error, ModelBlocked):
            usage = counted_usage(answer.usage, request, answer.text)
            self._notice_cut_prompt(answer.usage.input, estimated_input(request))
        kind = type(error).__name__ if error else None
        try:
            await self._meter.record(request.purpose, self.name, usage, latency_ms, kind)
        except ForgetMeNotError as trouble:
            log.warning("model call not metered", model=self.name, error=type(trouble).__name__)

    def _notice_cut_prompt(self, billed: int | None, sent: int) -> None:
        """Remember whether the server reads less of a prompt than is sent.

        It counts once two prompts in a row were billed with the same size of a context window: one
        may be that long by chance.
        """
        if billed is None:
            return
        window = context_window_hit(billed, sent)
        if window is None:
            self._prompt_cut = None
        elif window == self._last_window:
            if self._prompt_cut is None:
                log.warning("the server cuts prompts", model=self.name, window=window)
            self._prompt_cut = reason("model_cuts", model=self.name, read=window, sent=sent)
        self._last_window = window

    def _judge(self, request: ModelRequest, error: ModelError | None) -> None:
        """What a call says about the server; a prompt that gets no reply says nothing bad of it."""
        probing, self._probing = self._probing, False
        if error is None or (isinstance(error, ModelBlocked) and request.purpose is Purpose.REPLY):
            if self._failures and error is None:
                log.info("the model answers again", model=self.name)
            self._failures, self._rest_s, self._open_until = 0, FIRST_REST_S, None
            return
        self._failures += 1
        self._reason = str(error)
        if probing:
            self._rest_s = min(self._rest_s * 2, LONGEST_REST_S)
        if probing or self._failures >= FAILURES:
            self._open_until = self._pace.monotonic() + self._rest_s
        if self._failures == 1:  # a night without a model is one line
            log.warning("the model does not answer", model=self.name, reason=str(error))


def _has_shape(answer: ModelAnswer, request: ModelRequest) -> bool:
    """Whether an answer for the memory holds what its schema requires; a reply's is judged by who asked for it.

    One that was cut off at the limit may: whoever asked takes the whole sentences or changes of it.
    """
    if request.schema is None or request.purpose is Purpose.REPLY:
        return True
    if answer.finish == "length" and answer.text.startswith("{"):
        return True
    answered = json_object(answer.text)
    return answered is not None and answered.keys() >= set(request.schema.get("required", ()))


# Counting. A server may bill nothing, or nonsense; the caps must hold all the same.


def counted_usage(usage: TokenUsage, request: ModelRequest, text: str) -> TokenUsage:
    """Return the tokens that a call counts as: what was billed, else our own estimate."""
    return TokenUsage(
        input=_plausible(usage.input, estimated_input(request)),
        cached=_plausible(usage.cached, None),
        output=_plausible(usage.output, estimate_tokens(text)),
        thoughts=_plausible(usage.thoughts, None),
    )


def estimated_input(request: ModelRequest) -> int:
    """Return about how many tokens a request sends."""
    return estimate_tokens(request.system) + estimate_tokens(request.prompt)


def _plausible(billed: int | None, otherwise: int | None) -> int | None:
    if billed is None or not 0 <= billed <= MOST_TOKENS_A_CALL:
        return otherwise
    return billed


def context_window_hit(billed: int, sent: int) -> int | None:
    """Return the tokens that a server read, if it seems to have cut the prompt; else None.

    Ollama cuts without a word, to `num_ctx`, a multiple of 1,024 (4,096 if nobody sets it). Our
    estimate of what was sent is high by up to a third, and a server may not bill what it has
    cached: so it is a cut only where the bill is a window and much more was sent.
    """
    is_window = -billed % 1_024 <= 16
    if billed < 1_024 or not is_window or sent < billed * 1.3:
        return None
    return billed


# Spending limits. As more of one is used, the bot first stops speaking up by itself, then writing briefs and recaps,
# then learning notes, then replying; summaries come last, because chat that is not summarised in time is lost. What
# waits is done when there are tokens again. Each step is logged once and shown in the dock.


class Saving(IntEnum):
    """How much is left out; each step includes those before it."""

    NOTHING = 0
    SPEAKING_UP = 1
    BRIEFS = 2
    LEARNING = 3
    REPLIES = 4
    SUMMARIES = 5


# The reason for each, and from which share of a limit it is taken.
_FROM = {"saving_1": 0.7, "saving_2": 0.8, "saving_3": 0.9, "saving_4": 1.0, "saving_5": 1.2}
_SKIPPED_FROM = {
    Purpose.BRIEF: Saving.BRIEFS,
    Purpose.RECAP: Saving.BRIEFS,
    Purpose.EXTRACT: Saving.LEARNING,
    Purpose.REPLY: Saving.REPLIES,
    Purpose.SUMMARY: Saving.SUMMARIES,
}
_Used = Mapping[str, prices.TokenCounts]


class SpendLimit:
    """The limits of the settings against what was used. `used`: by model, in the last 24 hours and in this stream."""

    def __init__(
        self,
        *,
        settings: Callable[[], Settings],
        used: Callable[[], Awaitable[tuple[_Used, _Used]]],
    ) -> None:
        self._settings = settings
        self._used = used
        self._saving = Saving.NOTHING

    @property
    def line(self) -> str:
        """What is left out just now, as a sentence; empty where nothing is."""
        return reason(list(_FROM)[self._saving - 1]) if self._saving else ""

    async def saving(self) -> Saving:
        """What is left out now. Raises StoreError."""
        settings = self._settings()
        limits = settings.limits
        limited = (
            (limits.tokens_per_day, limits.money_per_day),
            (limits.tokens_per_stream, limits.money_per_stream),
        )
        if not any(one for pair in limited for one in pair):
            self._saving = Saving.NOTHING
            return self._saving
        shares = [0.0]
        for used, (tokens, money) in zip(await self._used(), limited, strict=True):
            if tokens:
                shares.append(sum(one.input + one.output for one in used.values()) / tokens)
            if money and (spent := prices.cost(settings, used)) is not None:
                shares.append(spent.amount / money)
        saving = Saving(sum(max(shares) >= share for share in _FROM.values()))
        if saving != self._saving:
            log.warning("spending limit", saving=saving.name.lower())
        self._saving = saving
        return saving

    async def check(self, purpose: Purpose) -> None:
        """Raises ModelUnavailable for what is left out now, and StoreError."""
        saving = await self.saving()
        if saving >= _SKIPPED_FROM[purpose]:
            raise ModelUnavailable(self.line)
