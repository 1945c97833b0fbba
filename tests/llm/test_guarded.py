"""A model that fails is asked again within its deadline, then left alone; every try is on the meter."""

import asyncio
from collections import deque
from dataclasses import dataclass, field

import pytest
from structlog.testing import capture_logs

from forgetmenot.domain.model import ModelAnswer, ModelRequest, Purpose, TokenUsage
from forgetmenot.errors import (
    ModelBlocked,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelUnavailable,
    StoreFull,
)
from forgetmenot.llm.breaker import FAILURES, FIRST_REST_S
from forgetmenot.llm.gate import Gate
from forgetmenot.llm.guarded import Guarded, Limits, Pace
from forgetmenot.ports import CallMeter, LanguageModel

REPLY = ModelRequest(Purpose.REPLY, "be brief", "hello", 50)
SUMMARY = ModelRequest(Purpose.SUMMARY, "be brief", "chat", 50)


@dataclass
class ScriptedModel:
    """Answers what it was told to, or raises it; "ok" when the script has ended."""

    script: deque[str | ModelError] = field(default_factory=deque)
    requests: list[ModelRequest] = field(default_factory=list)
    closed: bool = False
    name: str = "scripted"

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        step = self.script.popleft() if self.script else "ok"
        if isinstance(step, ModelError):
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
    def pace(self) -> Pace:
        return Pace(monotonic=lambda: self.now, sleep=self.sleep, dice=lambda: 0.5)


@pytest.fixture
def model() -> ScriptedModel:
    """A model that answers "ok" until it is told otherwise."""
    return ScriptedModel()


@pytest.fixture
def meter() -> ListMeter:
    """A meter that can be read."""
    return ListMeter()


@pytest.fixture
def time() -> HandTime:
    """Time that stands still."""
    return HandTime()


def _guard(model: LanguageModel, meter: CallMeter, time: HandTime, limits: Limits | None = None) -> Guarded:
    return Guarded(model, gate=Gate(2), meter=meter, limits=limits or Limits(), pace=time.pace)


async def test_an_answer_passes_through_with_its_latency(
    model: ScriptedModel, meter: ListMeter, time: HandTime
) -> None:
    guarded = _guard(model, meter, time)
    assert await guarded.generate(REPLY) == ModelAnswer("ok", "scripted", TokenUsage(100, None, 5), latency_ms=0)
    assert meter.rows == [(Purpose.REPLY, "scripted", 100, None)]
    assert guarded.trouble is None
    await guarded.aclose()
    assert model.closed


async def test_an_answer_without_end_is_cut(model: ScriptedModel, meter: ListMeter, time: HandTime) -> None:
    model.script += ["word " * 2_000_000, "w" * 20 * 50]
    guarded = _guard(model, meter, time)
    long, fitting = await guarded.generate(REPLY), await guarded.generate(REPLY)
    assert (len(long.text), long.finish) == (20 * REPLY.max_output_tokens, "length")
    assert (len(fitting.text), fitting.finish) == (1_000, "stop")


async def test_a_passing_failure_is_tried_again_with_growing_waits(
    model: ScriptedModel, meter: ListMeter, time: HandTime
) -> None:
    model.script = deque([ModelUnavailable("down."), ModelUnavailable("down.")])
    assert (await _guard(model, meter, time).generate(REPLY)).text == "ok"
    assert time.slept == [0.5, 1.0]
    assert [row[3] for row in meter.rows] == ["ModelUnavailable", "ModelUnavailable", None]


async def test_the_wait_that_the_server_asked_for_is_honoured(
    model: ScriptedModel, meter: ListMeter, time: HandTime
) -> None:
    model.script = deque([ModelRateLimited("slow down.", 1.5)])
    await _guard(model, meter, time).generate(REPLY)
    assert time.slept == [1.5]


async def test_a_wait_beyond_the_deadline_is_not_waited_for(
    model: ScriptedModel, meter: ListMeter, time: HandTime
) -> None:
    model.script = deque([ModelRateLimited("slow down.", 12.0)])
    with pytest.raises(ModelRateLimited) as caught:
        await _guard(model, meter, time, Limits(reply_s=12.0)).generate(REPLY)
    assert caught.value.retry_after_s == 12.0
    assert time.slept == []


async def test_retries_are_bounded(model: ScriptedModel, meter: ListMeter, time: HandTime) -> None:
    model.script = deque([ModelUnavailable("down.")] * 9)
    with pytest.raises(ModelUnavailable):
        await _guard(model, meter, time, Limits(retries=2)).generate(SUMMARY)
    assert len(model.requests) == 3


@pytest.mark.parametrize("error", [ModelRefused("wrong key."), ModelBlocked("blocked.")])
async def test_what_cannot_get_better_is_not_tried_again(
    model: ScriptedModel, meter: ListMeter, time: HandTime, error: ModelError
) -> None:
    model.script = deque([error])
    with pytest.raises(type(error)):
        await _guard(model, meter, time).generate(REPLY)
    assert len(model.requests) == 1
    assert [row[3] for row in meter.rows] == [type(error).__name__]


async def test_after_failures_in_a_row_the_model_is_left_alone_and_then_probed(
    model: ScriptedModel, meter: ListMeter, time: HandTime
) -> None:
    model.script = deque([ModelRefused("wrong key.")] * FAILURES)
    guarded = _guard(model, meter, time)
    for _ in range(FAILURES):
        with pytest.raises(ModelRefused):
            await guarded.generate(REPLY)
    with pytest.raises(ModelUnavailable) as caught:
        await guarded.generate(REPLY)
    assert caught.value.retry_after_s == FIRST_REST_S
    assert len(model.requests) == FAILURES
    assert guarded.trouble == "The model scripted failed 5 times in a row: wrong key. Next try in 15 s."
    time.now += FIRST_REST_S
    assert (await guarded.generate(REPLY)).text == "ok"
    assert guarded.trouble is None


async def test_a_blocked_prompt_is_no_failure_of_the_server(
    model: ScriptedModel, meter: ListMeter, time: HandTime
) -> None:
    model.script = deque([ModelBlocked("blocked.")] * (FAILURES + 1))
    guarded = _guard(model, meter, time)
    for _ in range(FAILURES + 1):
        with pytest.raises(ModelBlocked):
            await guarded.generate(REPLY)
    assert guarded.trouble is None


class _Silent:
    """A model that never answers."""

    name = "silent"

    async def generate(self, _request: ModelRequest) -> ModelAnswer:
        await asyncio.Event().wait()
        raise AssertionError

    async def aclose(self) -> None:
        """Nothing."""


async def test_a_model_that_never_answers_is_given_up_at_the_deadline(meter: ListMeter, time: HandTime) -> None:
    guarded = _guard(_Silent(), meter, time, Limits(reply_s=0.01))
    with pytest.raises(ModelUnavailable, match="in time"):
        await guarded.generate(REPLY)
    assert [row[3] for row in meter.rows] == ["ModelUnavailable"]


async def test_waiting_for_a_place_counts_against_the_deadline_but_not_against_the_server(
    meter: ListMeter, time: HandTime
) -> None:
    guarded = Guarded(_Silent(), gate=Gate(1), meter=meter, limits=Limits(reply_s=0.01, memory_s=60), pace=time.pace)
    hog = asyncio.create_task(guarded.generate(SUMMARY))
    await asyncio.sleep(0)
    with pytest.raises(ModelUnavailable, match="no place free"):
        await guarded.generate(REPLY)
    hog.cancel()
    await asyncio.gather(hog, return_exceptions=True)
    assert meter.rows == []
    assert guarded.trouble is None


class _FullDisk:
    async def record(self, *_args: object) -> None:
        raise StoreFull("The disk is full.")


async def test_a_meter_that_cannot_write_does_not_cost_the_answer(model: ScriptedModel, time: HandTime) -> None:
    assert (await _guard(model, _FullDisk(), time).generate(REPLY)).text == "ok"


async def test_an_outage_is_told_once() -> None:
    time = HandTime()
    inner = ScriptedModel(deque([ModelUnavailable("The server is away.") for _ in range(300)]))
    model = Guarded(inner, gate=Gate(1), meter=ListMeter(), limits=Limits(12, 60, 0), pace=time.pace)
    with capture_logs() as told:
        for _ in range(300):
            try:
                await model.generate(REPLY)
            except ModelUnavailable:
                time.now += 60
    assert [line["event"] for line in told] == ["the model does not answer"]
    assert len(inner.requests) > 6
