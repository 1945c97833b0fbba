"""A model that fails is asked again within its deadline, then left alone; every try is on the meter."""

import asyncio
from collections import deque
from dataclasses import dataclass, field

import pytest
from msgspec.structs import replace

from forgetmenot.domain import ModelAnswer, ModelRequest, Purpose, TokenUsage
from forgetmenot.errors import ModelBlocked, ModelError, ModelRateLimited, ModelRefused, ModelUnavailable, StoreFull
from forgetmenot.llm.guarded import (
    FAILURES,
    FIRST_REST_S,
    LONGEST_REST_S,
    GuardedModel,
    Limits,
    RetryClock,
    SpendLimit,
)
from forgetmenot.ports import CallMeter, LanguageModel
from forgetmenot.settings.prices import Used
from forgetmenot.settings.schema import LimitSettings, PriceSettings, Settings

REPLY = ModelRequest(Purpose.REPLY, "be brief", "hello", 50)
SUMMARY = ModelRequest(Purpose.SUMMARY, "be brief", "chat", 50)


@dataclass
class ScriptedModel:
    """Answers what it was told to, or raises it; "ok" when the script has ended."""

    script: deque[str | BaseException] = field(default_factory=deque)
    requests: list[ModelRequest] = field(default_factory=list)
    closed: bool = False
    name: str = "scripted"

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        step = self.script.popleft() if self.script else "ok"
        if isinstance(step, BaseException):
            raise step
        return ModelAnswer(step, self.name, TokenUsage(input=100, output=5))

    async def aclose(self) -> None:
        self.closed = True


@dataclass
class ListMeter:
    """Keeps what was metered."""

    rows: list[tuple[Purpose, str, int | None, str | None]] = field(default_factory=list)

    async def record(
        self, purpose: Purpose, model: str, usage: TokenUsage, _latency_ms: int, error: str | None
    ) -> None:
        self.rows.append((purpose, model, usage.input, error))


@dataclass
class HandTime:
    """A monotonic clock that only moves when somebody sleeps."""

    now: float = 0.0
    slept: list[float] = field(default_factory=list)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    @property
    def pace(self) -> RetryClock:
        return RetryClock(monotonic=lambda: self.now, sleep=self.sleep, random=lambda: 0.5)


@dataclass
class Guarded:
    """A model that answers "ok" until it is told otherwise, a meter that can be read, and time that stands still."""

    model: ScriptedModel = field(default_factory=ScriptedModel)
    meter: ListMeter = field(default_factory=ListMeter)
    time: HandTime = field(default_factory=HandTime)

    def guard(self, limits: Limits | None = None) -> GuardedModel:
        return _guard(self.model, self.meter, self.time, limits)


@pytest.fixture
def at() -> Guarded:
    return Guarded()


def _guard(model: LanguageModel, meter: CallMeter, time: HandTime, limits: Limits | None = None) -> GuardedModel:
    return GuardedModel(model, meter=meter, limits=limits or Limits(), pace=time.pace)


async def test_an_answer_without_end_is_cut(at: Guarded) -> None:
    at.model.script += ["".join(map(str, range(300_000))), "w" * 20 * 50]
    guarded = at.guard()
    long, fitting = await guarded.generate(REPLY), await guarded.generate(REPLY)
    assert (len(long.text), long.finish) == (20 * REPLY.max_output_tokens, "length")
    assert (len(fitting.text), fitting.finish) == (1_000, "stop")


async def test_a_summary_that_loops_to_its_limit_is_taken_up_to_the_loop(at: Guarded) -> None:
    at.model.script += ['{"summary": "P1 plays drums. ' + "P2 laughed again. " * 500]
    schema = {"type": "object", "required": ["summary"]}
    request = ModelRequest(Purpose.SUMMARY, "s", "p", 50, schema=schema)
    answer = await at.guard().generate(request)
    assert (answer.text, answer.finish) == ('{"summary": "P1 plays drums. P2 laughed again. P2 laughed again', "length")


async def test_a_passing_failure_is_tried_again_with_growing_waits(at: Guarded) -> None:
    at.model.script = deque([ModelUnavailable("down."), ModelUnavailable("down.")])
    assert (await at.guard().generate(REPLY)).text == "ok"
    assert at.time.slept == [0.5, 1.0]
    assert [row[3] for row in at.meter.rows] == ["ModelUnavailable", "ModelUnavailable", None]


async def test_a_wait_beyond_the_deadline_is_not_waited_for(at: Guarded) -> None:
    at.model.script = deque([ModelRateLimited("slow down.", 12.0)])
    with pytest.raises(ModelRateLimited) as caught:
        await at.guard(Limits(reply_s=12.0)).generate(REPLY)
    assert caught.value.retry_after_s == 12.0
    assert at.time.slept == []


async def test_retries_are_bounded(at: Guarded) -> None:
    at.model.script = deque([ModelUnavailable("down.")] * 9)
    with pytest.raises(ModelUnavailable):
        await at.guard(Limits(retries=2)).generate(SUMMARY)
    assert len(at.model.requests) == 3


@pytest.mark.parametrize("error", [ModelRefused("wrong key."), ModelBlocked("blocked.")])
async def test_what_cannot_get_better_is_not_tried_again(at: Guarded, error: ModelError) -> None:
    at.model.script = deque([error])
    with pytest.raises(type(error)):
        await at.guard().generate(REPLY)
    assert len(at.model.requests) == 1
    assert [row[3] for row in at.meter.rows] == [type(error).__name__]


async def test_after_failures_in_a_row_the_model_is_left_alone_and_then_probed(at: Guarded) -> None:
    at.model.script = deque([ModelRefused("wrong key.")] * FAILURES)
    guarded = at.guard()
    for _ in range(FAILURES):
        with pytest.raises(ModelRefused):
            await guarded.generate(REPLY)
    with pytest.raises(ModelUnavailable) as caught:
        await guarded.generate(REPLY)
    assert caught.value.retry_after_s == FIRST_REST_S
    assert len(at.model.requests) == FAILURES
    assert guarded.trouble == "The model scripted failed 5 times in a row: wrong key. Next try in 15 s."
    at.time.now += FIRST_REST_S
    assert (await guarded.generate(REPLY)).text == "ok"
    assert guarded.trouble is None


async def test_a_blocked_prompt_is_no_failure_of_the_server(at: Guarded) -> None:
    at.model.script = deque([ModelBlocked("blocked.")] * (FAILURES + 1))
    guarded = at.guard()
    for _ in range(FAILURES + 1):
        with pytest.raises(ModelBlocked):
            await guarded.generate(REPLY)
    assert guarded.trouble is None


@pytest.mark.parametrize(
    "answer", [ModelBlocked("blocked."), "", "no object", "[]", '{"text": "said"}', '{"summary": "']
)
async def test_for_the_memory_no_usable_answer_is_a_failure_like_any(at: Guarded, answer: str | ModelError) -> None:
    request = replace(SUMMARY, schema={"type": "object", "required": ["summary"]})
    at.model.script = deque([answer] * FAILURES)
    guarded = at.guard(Limits(retries=0))
    for _ in range(FAILURES):
        with pytest.raises(ModelBlocked):
            await guarded.generate(request)
    with pytest.raises(ModelUnavailable):
        await guarded.generate(request)
    assert "failed 5 times in a row" in (guarded.trouble or "")
    assert {row[3] for row in at.meter.rows} == {"ModelBlocked"}


async def test_a_bug_in_an_adapter_is_a_failure_like_any(at: Guarded) -> None:
    """Also of the call that tries whether the server is back: else nobody would ever be asked again."""
    at.model.script = deque([ModelRefused("wrong key.")] * FAILURES + [ValueError("a bug"), "ok"])
    guarded = at.guard(Limits(retries=0))
    for _ in range(FAILURES + 1):
        with pytest.raises(ModelError):
            await guarded.generate(REPLY)
        at.time.now += FIRST_REST_S
    at.time.now += FIRST_REST_S
    assert (await guarded.generate(REPLY)).text == "ok"


class _Silent:
    """A model that never answers."""

    name = "silent"

    async def generate(self, _request: ModelRequest) -> ModelAnswer:
        await asyncio.Event().wait()
        raise AssertionError

    async def aclose(self) -> None:
        """Nothing."""


async def test_a_model_that_never_answers_is_given_up_at_the_deadline(at: Guarded) -> None:
    guarded = _guard(_Silent(), at.meter, at.time, Limits(reply_s=0.01))
    with pytest.raises(ModelUnavailable, match="in time"):
        await guarded.generate(REPLY)
    assert [row[3] for row in at.meter.rows] == ["ModelUnavailable"]


async def test_waiting_for_a_place_counts_against_the_deadline_but_not_against_the_server(at: Guarded) -> None:
    guarded = GuardedModel(
        _Silent(), meter=at.meter, limits=Limits(reply_s=0.01, memory_s=60, at_once=1), pace=at.time.pace
    )
    hog = asyncio.create_task(guarded.generate(SUMMARY))
    await asyncio.sleep(0)
    with pytest.raises(ModelUnavailable, match="no free slot"):
        await guarded.generate(REPLY)
    hog.cancel()
    await asyncio.gather(hog, return_exceptions=True)
    assert at.meter.rows == []
    assert guarded.trouble is None


class _FullDisk:
    async def record(self, *_args: object) -> None:
        raise StoreFull("The disk is full.")


async def test_a_meter_that_cannot_write_does_not_cost_the_answer(at: Guarded) -> None:
    assert (await _guard(at.model, _FullDisk(), at.time).generate(REPLY)).text == "ok"


async def test_an_outage_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    time = HandTime()
    inner = ScriptedModel(deque([ModelUnavailable("The server is away.") for _ in range(300)]))
    model = GuardedModel(inner, meter=ListMeter(), limits=Limits(12, 60, 0), pace=time.pace)
    for _ in range(300):
        try:
            await model.generate(REPLY)
        except ModelUnavailable:
            time.now += 60
    assert caplog.messages == ["the model does not answer"]
    assert len(inner.requests) > 6


async def test_a_failed_probe_makes_the_rest_longer_up_to_a_limit(at: Guarded) -> None:
    at.model.script = deque([ModelRefused("wrong key.")] * 30)
    guarded, rests = at.guard(), []
    for number in range(FAILURES + 8):
        with pytest.raises(ModelRefused):
            await guarded.generate(REPLY)
        if number >= FAILURES - 1:
            with pytest.raises(ModelUnavailable) as caught:
                await guarded.generate(REPLY)
            rests.append(caught.value.retry_after_s or 0.0)
            at.time.now += rests[-1]
    assert rests[:2] == [FIRST_REST_S, 2 * FIRST_REST_S]
    assert rests == sorted(rests)
    assert rests[-1] == LONGEST_REST_S


async def test_an_abandoned_probe_lets_the_next_call_probe(at: Guarded) -> None:
    at.model.script = deque([ModelRefused("wrong key.")] * FAILURES + [asyncio.CancelledError()])
    guarded = at.guard()
    for _ in range(FAILURES):
        with pytest.raises(ModelRefused):
            await guarded.generate(REPLY)
    at.time.now += FIRST_REST_S
    with pytest.raises(asyncio.CancelledError):
        await guarded.generate(REPLY)
    assert (await guarded.generate(REPLY)).text == "ok"


async def refused(day: int, stream: int, limits: LimitSettings) -> set[Purpose]:
    async def used() -> tuple[dict[str, Used], dict[str, Used]]:
        return {"big": Used(day, 0, 0)}, {"big": Used(stream, 0, 0)}

    settings = Settings(limits=limits, prices={"big": PriceSettings(input=2)})
    limit = SpendLimit(settings=lambda: settings, used=used)
    model, found, said = limit.around(ScriptedModel()), set(), set()
    for purpose in Purpose:
        try:
            await model.generate(ModelRequest(purpose, "", "", 1))
        except ModelUnavailable as error:
            found.add(purpose)
            said.add(str(error))
    assert said <= {limit.line}
    return found


BRIEFS = {Purpose.BRIEF, Purpose.RECAP}


@pytest.mark.parametrize(
    ("share", "left_out"),
    [
        (0.0, set()), (0.7, set()), (0.8, BRIEFS), (0.9, BRIEFS | {Purpose.EXTRACT}),
        (1.0, set(Purpose) - {Purpose.SUMMARY}), (1.2, set(Purpose)),
    ],
)  # fmt: skip
async def test_the_order_in_which_things_are_left_out(share: float, left_out: set[Purpose]) -> None:
    used = int(share * 1_000)
    assert await refused(used, 0, LimitSettings(tokens_per_day=1_000)) == left_out
    assert await refused(9_999, used, LimitSettings(tokens_per_stream=1_000)) == left_out, "the stream's own"
    assert await refused(1_000 * used, 0, LimitSettings(money_per_day=2)) == left_out, "two for a million tokens"
    assert await refused(0, 500 * used, LimitSettings(money_per_stream=1)) == left_out
    assert await refused(used, 0, LimitSettings()) == set(), "no limit"
