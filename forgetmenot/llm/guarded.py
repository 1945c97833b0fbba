"""Wraps a model with a deadline, bounded retries, a circuit breaker, a meter and spending limits.

Guarantees:
- `generate` ends within its purpose's deadline, from when its spending limits were read. Of the
  model it raises only ModelError (a cancellation passes through).
- A purpose that is left out for a spending limit never reaches the model, whoever asks.
- An answer far longer than requested is cut.
- For memory work an answer of the wrong shape, an empty answer and a block count as failures, as a
  500 does.
"""

import asyncio
import contextlib
import json
import random
import time
from collections.abc import Awaitable, Callable
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
MAX_REST_S = 300.0
FIRST_WAIT_S = 0.5
# Upper bound of a text per token: a longer answer ignores its token limit and is cut.
CHARACTERS_A_TOKEN = 20
# No model reads or writes more in one call: a larger bill is nonsense.
MAX_TOKENS_A_CALL = 20_000_000
# A refused key or a blocked prompt would be refused again, and cost again.
WORTH_RETRYING = (ModelUnavailable, ModelRateLimited)


class Limits(Struct, frozen=True):
    """Deadlines (s) for a whole `generate`, and how often a failed call is tried again.

    `at_once` is how many calls may be under way together. Each model has its own limit, so replies
    never queue behind the memory's work.
    """

    reply_s: float = 12.0
    memory_s: float = 60.0
    retries: int = 2
    at_once: int = 5


class RetryClock(Struct, frozen=True):
    """Real time and randomness, replaceable in tests.

    Real in a replay too: servers do not follow its clock.
    """

    monotonic: Callable[[], float] = time.monotonic
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Callable[[], float] = random.random


class GuardedModel:
    """A LanguageModel around another one, which is made at its first call.

    An SDK takes a second to import. The circuit breaker is closed (calls pass), open after FAILURES
    in a row (none passes), then half-open: one call passes, the probe, and decides. The rest
    between two probes grows with each that fails. `spending` are the limits of its calls, if any.
    `bills_schema`: what a request's schema has of tokens is billed as well.
    """

    def __init__(
        self,
        name: str,
        make: Callable[[], LanguageModel],
        *,
        meter: CallMeter,
        limits: Limits,
        pace: RetryClock | None = None,
        bills_schema: bool = False,
    ) -> None:
        self.name = name
        self.spending: SpendLimit | None = None
        self._make = make
        self._make_lock = asyncio.Lock()
        self._inner: LanguageModel | None = None
        self._places = asyncio.Semaphore(limits.at_once)
        self._meter = meter
        self._limits = limits
        self._bills_schema = bills_schema
        self._pace = pace or RetryClock()
        # Failures in a row, and why the last call failed.
        self._failures = 0
        self._reason = ""
        # Prompts in a row that got no reply, although the server answered, and why the last did not.
        self._empty_replies = 0
        self._empty_reason = ""
        self._rest_s = FIRST_REST_S
        self._open_until: float | None = None
        self._is_probing = False
        self._prompt_cut: str | None = None
        self._last_window: int | None = None

    @property
    def prompt_cut(self) -> str | None:
        """Return a sentence, if the server has cut a prompt without saying so; None otherwise."""
        return self._prompt_cut

    @property
    def trouble(self) -> str | None:
        """Return what is wrong with the model, as a sentence for the checks; None if it answers."""
        if not self._failures and self._empty_replies >= FAILURES:
            return reason(
                "model_failed",
                model=self.name,
                n=self._empty_replies,
                reason=self._empty_reason,
                then="",
            )
        if not self._failures:
            return None
        rest_s = self._rest()
        then = reason("next_try", seconds=f"{rest_s:.0f}") if rest_s else ""
        return reason(
            "model_failed",
            model=self.name,
            n=self._failures,
            reason=self._reason,
            then=then,
        )

    async def aclose(self) -> None:
        """Give back connections, if it was ever called."""
        async with self._make_lock:
            if self._inner is not None:
                await self._inner.aclose()
                self._inner = None

    async def prepare(self) -> None:
        """Make the model now, so that the time of the first call is the server's alone.

        What goes wrong is reported by that call.
        """
        with contextlib.suppress(Exception):
            await self._model()

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer within the purpose's deadline.

        Raises ModelError, and StoreError if what was spent cannot be read.
        """
        if self.spending is not None:
            await self.spending.check(request.purpose)
        seconds = self._limits.memory_s
        if request.purpose is Purpose.REPLY:
            seconds = self._limits.reply_s
        deadline = self._pace.monotonic() + seconds
        try:
            async with asyncio.timeout(seconds) as queueing, self._places:
                # From here on every try is bounded by the deadline itself.
                queueing.reschedule(None)
                return await self._try_until(deadline, request)
        except TimeoutError:
            raise ModelUnavailable(reason("model_silent", model=self.name)) from None

    async def _try_until(self, deadline: float, request: ModelRequest) -> ModelAnswer:
        """Answer after as many tries as are allowed before the deadline. Raises ModelError."""
        tries = 0
        while True:
            try:
                return await self._call(request, deadline)
            except WORTH_RETRYING as error:
                wait_s = self._wait_s(error, tries)
                tries += 1
                next_try_at = self._pace.monotonic() + wait_s
                if next_try_at >= deadline or tries > self._limits.retries:
                    raise
                await self._pace.sleep(wait_s)

    def _wait_s(self, error: ModelError, tries: int) -> float:
        """Return how long to wait after a failed try.

        As long as the server asks for; else doubled with each try, and spread, so that calls that
        failed together do not come back together.
        """
        if error.retry_after_s is not None:
            return error.retry_after_s
        doubled_s: float = FIRST_WAIT_S * 2**tries
        return doubled_s * (0.5 + self._pace.random())

    async def _model(self) -> LanguageModel:
        async with self._make_lock:
            if self._inner is None:
                self._inner = await make_off_the_loop(self._make)
        return self._inner

    def _rest(self) -> float:
        """Return the seconds until a call may pass; 0.0 if one may pass now."""
        if self._open_until is None:
            return 0.0
        # While the probe is under way no other call passes, although its time has come.
        min_rest_s = 1.0 if self._is_probing else 0.0
        return max(self._open_until - self._pace.monotonic(), min_rest_s)

    async def _call(self, request: ModelRequest, deadline: float) -> ModelAnswer:
        """Try once, through the breaker, and meter the call. Raises ModelError."""
        started = self._pace.monotonic()
        rest_s = self._rest()
        if rest_s:
            paused = reason("model_paused", model=self.name, seconds=f"{rest_s:.0f}")
            raise ModelUnavailable(paused, rest_s)
        self._is_probing = self._open_until is not None
        answer = ModelAnswer("", self.name, TokenUsage())
        error: ModelError | None = None
        try:
            async with asyncio.timeout(deadline - started):
                model = await self._model()
                whole_answer = await model.generate(request)
            answer = _cut(whole_answer, request)
            if not _has_shape(answer, request):
                error = ModelBlocked(reason("model_empty", model=self.name))
        except TimeoutError:
            error = ModelUnavailable(reason("model_silent", model=self.name))
        except ModelError as raised:
            error = raised
        except asyncio.CancelledError:
            # This says nothing about the server.
            self._is_probing = False
            raise
        # A bug in an adapter must not leave the breaker half open.
        except Exception as raised:  # noqa: BLE001
            kind = type(raised).__name__
            error = ModelUnavailable(f"{self.name} failed unexpectedly ({kind}).")
            error.__cause__ = raised
        self._judge(request, error)
        latency_ms = round((self._pace.monotonic() - started) * 1_000)
        await self._record(request, answer, error, latency_ms)
        if error is not None:
            raise error
        return replace(answer, latency_ms=latency_ms)

    async def _record(
        self,
        request: ModelRequest,
        answer: ModelAnswer,
        error: ModelError | None,
        latency_ms: int,
    ) -> None:
        """Meter a call. A full disk must not cost the answer."""
        usage = TokenUsage()
        # What was refused or never arrived costs nothing; an empty answer does.
        if error is None or isinstance(error, ModelBlocked):
            usage = counted_usage(
                answer.usage, request, answer.text, bills_schema=self._bills_schema
            )
            sent = estimated_input(request)
            self._notice_cut_prompt(answer.usage.input, sent)
        kind = type(error).__name__ if error else None
        try:
            await self._meter.record(
                request.purpose, self.name, usage, latency_ms, kind
            )
        except ForgetMeNotError as meter_error:
            log.warning(
                "model call not metered",
                model=self.name,
                error=type(meter_error).__name__,
            )

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
            self._prompt_cut = reason(
                "model_cuts", model=self.name, read=window, sent=sent
            )
        self._last_window = window

    def _judge(self, request: ModelRequest, error: ModelError | None) -> None:
        """Open or close the breaker by a call's error; None if it had none.

        A prompt that gets no reply says nothing bad of the server, so it is called on. FAILURES in a row are named.
        """
        was_probing = self._is_probing
        self._is_probing = False
        is_blocked = isinstance(error, ModelBlocked)
        is_reply = request.purpose is Purpose.REPLY
        is_reply_blocked = is_blocked and is_reply
        if is_reply_blocked:
            self._empty_replies += 1
            self._empty_reason = str(error)
        elif error is None and is_reply:
            self._empty_replies = 0
        if error is None or is_reply_blocked:
            if self._failures and error is None:
                log.info("the model answers again", model=self.name)
            self._failures = 0
            self._rest_s = FIRST_REST_S
            self._open_until = None
            return
        self._failures += 1
        self._reason = str(error)
        if was_probing:
            self._rest_s = min(self._rest_s * 2, MAX_REST_S)
        if was_probing or self._failures >= FAILURES:
            self._open_until = self._pace.monotonic() + self._rest_s
        # A night without a model is one line.
        if self._failures == 1:
            log.warning("the model does not answer", model=self.name, reason=str(error))


def _cut(answer: ModelAnswer, request: ModelRequest) -> ModelAnswer:
    """Return an answer without what is far longer than requested."""
    max_characters = CHARACTERS_A_TOKEN * request.max_output_tokens
    if len(answer.text) <= max_characters:
        return answer
    return replace(answer, text=answer.text[:max_characters], finish="length")


def _has_shape(answer: ModelAnswer, request: ModelRequest) -> bool:
    """Return whether an answer for the memory has what its schema requires.

    A reply's shape is judged by its caller. One that was cut off at the limit may fit: its caller
    takes the whole sentences or changes of it.
    """
    if request.schema is None:
        return True
    if request.purpose is Purpose.REPLY:
        return True
    if answer.finish == "length" and answer.text.startswith("{"):
        return True
    fields = json_object(answer.text)
    if fields is None:
        return False
    required = request.schema.get("required", ())
    return fields.keys() >= set(required)


# ── counting: a server may bill nothing, or nonsense, and the limits must hold all the same ──


def counted_usage(
    usage: TokenUsage,
    request: ModelRequest,
    text: str,
    *,
    bills_schema: bool,
) -> TokenUsage:
    """Return the tokens that a call counts as: what was billed, else our own estimate."""
    sent = estimated_input(request)
    if bills_schema and request.schema is not None:
        schema_text = json.dumps(request.schema, separators=(",", ":"))
        sent += estimate_tokens(schema_text)
    # Thoughts and cached tokens cannot be seen from here: without a bill they are unknown.
    return TokenUsage(
        input=_plausible(usage.input, sent),
        cached=_plausible(usage.cached, None),
        output=_plausible(usage.output, estimate_tokens(text)),
        thoughts=_plausible(usage.thoughts, None),
    )


def estimated_input(request: ModelRequest) -> int:
    """Return about how many tokens a request sends, without its schema."""
    system_tokens = estimate_tokens(request.system)
    prompt_tokens = estimate_tokens(request.prompt)
    return system_tokens + prompt_tokens


def _plausible(billed: int | None, otherwise: int | None) -> int | None:
    if billed is None:
        return otherwise
    if not 0 <= billed <= MAX_TOKENS_A_CALL:
        return otherwise
    return billed


def context_window_hit(billed: int, sent: int) -> int | None:
    """Return the tokens that a server read, if it seems to have cut the prompt; else None.

    Ollama cuts without a word, to `num_ctx`, a multiple of 1,024 (4,096 if nobody sets it). Our
    estimate of what was sent is high by up to a third, and a server may not bill what it has
    cached: so it is a cut only where the bill is a window and much more was sent.
    """
    is_window = -billed % 1_024 <= 16
    if billed < 1_024:
        return None
    if not is_window:
        return None
    if sent < billed * 1.3:
        return None
    return billed


# ── spending limits ─────────────────────────────────────────────────────────────────────────

# As more of one is used, the bot first stops speaking up by itself, then writing briefs and recaps,
# then learning notes, then replying. Summaries come last, because chat that is not summarised in
# time is lost. What waits is done when there are tokens again. Each step is logged once and shown
# in the dock.


class Saving(IntEnum):
    """How much is left out; each step includes those before it."""

    NOTHING = 0
    SPEAKING_UP = 1
    BRIEFS = 2
    LEARNING = 3
    REPLIES = 4
    SUMMARIES = 5


# The share of a limit from which each step is taken, and the reason that says it.
_STEPS = {
    Saving.SPEAKING_UP: (0.7, "saving_1"),
    Saving.BRIEFS: (0.8, "saving_2"),
    Saving.LEARNING: (0.9, "saving_3"),
    Saving.REPLIES: (1.0, "saving_4"),
    Saving.SUMMARIES: (1.2, "saving_5"),
}
_SKIPPED_FROM = {
    Purpose.BRIEF: Saving.BRIEFS,
    Purpose.RECAP: Saving.BRIEFS,
    Purpose.EXTRACT: Saving.LEARNING,
    Purpose.REPLY: Saving.REPLIES,
    Purpose.SUMMARY: Saving.SUMMARIES,
}


class SpendLimit:
    """The limits of the settings against what was used.

    `used` returns the tokens by model of the last 24 hours, and of this stream.
    """

    def __init__(
        self,
        *,
        settings: Callable[[], Settings],
        used: Callable[
            [], Awaitable[tuple[prices.CountsByModel, prices.CountsByModel]]
        ],
    ) -> None:
        self._settings = settings
        self._used = used
        self._saving = Saving.NOTHING

    @property
    def line(self) -> str:
        """Return what is left out just now, as a sentence; empty if nothing is."""
        if not self._saving:
            return ""
        _, code = _STEPS[self._saving]
        return reason(code)

    async def saving(self) -> Saving:
        """Return what is left out now. Raises StoreError."""
        limits = self._settings().limits
        has_limit = any(
            (
                limits.tokens_per_day,
                limits.money_per_day,
                limits.tokens_per_stream,
                limits.money_per_stream,
            )
        )
        if not has_limit:
            self._saving = Saving.NOTHING
            return self._saving
        of_day, of_stream = await self._used()
        share_of_day = self._share(of_day, limits.tokens_per_day, limits.money_per_day)
        share_of_stream = self._share(
            of_stream, limits.tokens_per_stream, limits.money_per_stream
        )
        share = max(share_of_day, share_of_stream)
        saving = Saving.NOTHING
        for step, (first_share, _) in _STEPS.items():
            if share >= first_share:
                saving = step
        if saving != self._saving:
            log.warning("spending limit", saving=saving.name.lower())
        self._saving = saving
        return saving

    def _share(
        self,
        counts_by_model: prices.CountsByModel,
        tokens: int,
        money: float,
    ) -> float:
        """Return the share of a limit that was used; of both limits the larger one."""
        token_share = 0.0
        money_share = 0.0
        if tokens:
            used = 0
            for counts in counts_by_model.values():
                used += counts.input + counts.output
            token_share = used / tokens
        if money:
            cost = prices.cost(self._settings(), counts_by_model)
            # Of a model whose price nobody knows the limit in money cannot be kept.
            if cost is not None:
                money_share = cost.amount / money
        return max(token_share, money_share)

    async def check(self, purpose: Purpose) -> None:
        """Raise ModelUnavailable if a purpose is left out now. Raises StoreError."""
        saving = await self.saving()
        if saving >= _SKIPPED_FROM[purpose]:
            raise ModelUnavailable(self.line)
