"""A model that fails is asked again within its deadline, then left alone; every try is on the meter."""

import asyncio
from collections import deque

import pytest
from msgspec.structs import replace
from structlog.testing import capture_logs

from forgetmenot.domain import ModelAnswer, ModelRequest, Purpose, TokenUsage
from forgetmenot.errors import (
    ModelBlocked,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelUnavailable,
    StoreFull,
)
from forgetmenot.languages import in_language
from forgetmenot.llm.guarded import (
    FAILURES,
    FIRST_REST_S,
    MAX_REST_S,
    GuardedModel,
    Limits,
    RetryClock,
    SpendLimit,
    counted_usage,
)
from forgetmenot.ports import LanguageModel
from forgetmenot.settings.prices import TokenCounts
from forgetmenot.settings.schema import LimitSettings, PriceSettings, Settings
from tests.stage import ScriptedModel

REPLY = ModelRequest(Purpose.REPLY, "be brief", "hello", 50)
SUMMARY = ModelRequest(Purpose.SUMMARY, "be brief", "chat", 50)


class Scripted:
    """A model that answers as told ("ok" when the script has ended), a meter to read, and time that sleep moves."""

    name = "scripted"

    def __init__(self) -> None:
        self.script: deque[str | BaseException] = deque()
        self.requests: list[ModelRequest] = []
        self.metered: list[str | None] = []
        self.slept: list[float] = []
        self.now = 0.0

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        self.requests.append(request)
        step = self.script.popleft() if self.script else "ok"
        if isinstance(step, BaseException):
            raise step
        return ModelAnswer(step, self.name, TokenUsage(input=100, output=5))

    async def aclose(self) -> None:
        """Nothing to close."""

    async def record(
        self,
        _purpose: Purpose,
        _model: str,
        _usage: TokenUsage,
        _ms: int,
        error: str | None,
    ) -> None:
        self.metered.append(error)

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds

    def guard(
        self, limits: Limits | None = None, model: LanguageModel | None = None
    ) -> GuardedModel:
        pace = RetryClock(
            monotonic=lambda: self.now, sleep=self.sleep, random=lambda: 0.5
        )
        return GuardedModel(
            self.name,
            lambda: model or self,
            meter=self,
            limits=limits or Limits(),
            pace=pace,
        )


@pytest.fixture
def at() -> Scripted:
    return Scripted()


async def fails(
    guarded: GuardedModel, kind: type[ModelError], request: ModelRequest = REPLY
) -> ModelError:
    with pytest.raises(kind) as caught:
        await guarded.generate(request)
    return caught.value


async def test_an_answer_without_end_is_cut(at: Scripted) -> None:
    at.script += ["".join(map(str, range(300_000))), "w" * 20 * 50]
    guarded = at.guard()
    long = await guarded.generate(REPLY)
    fitting = await guarded.generate(REPLY)
    assert (len(long.text), long.finish) == (20 * REPLY.max_output_tokens, "length")
    assert (len(fitting.text), fitting.finish) == (1_000, "stop")


async def test_a_passing_failure_is_tried_again_within_number_and_deadline_and_no_other(
    at: Scripted,
) -> None:
    at.script += [ModelUnavailable("down."), ModelUnavailable("down.")]
    assert (await at.guard().generate(REPLY)).text == "ok"
    assert at.slept == [0.5, 1.0]
    assert at.metered == ["ModelUnavailable", "ModelUnavailable", None]
    at.script += [ModelUnavailable("down.")] * 3 + [
        ModelRateLimited("slow down.", 12.0)
    ]
    await fails(at.guard(Limits(retries=2)), ModelUnavailable, SUMMARY)
    limited = await fails(at.guard(Limits(reply_s=12.0)), ModelRateLimited)
    assert (limited.retry_after_s, len(at.requests), len(at.slept)) == (12.0, 7, 4)
    for error in (ModelRefused("wrong key."), ModelBlocked("blocked.")):
        at.script += [error]
        await fails(at.guard(), type(error))
    assert at.metered[-2:] == ["ModelRefused", "ModelBlocked"]
    assert len(at.slept) == 4


async def test_after_failures_in_a_row_the_model_is_left_alone_ever_longer_and_then_probed(
    at: Scripted,
) -> None:
    at.script += [ModelRefused("wrong key.")] * (FAILURES + 8)
    guarded = at.guard()
    rests = []
    with capture_logs() as logged:
        for number in range(FAILURES + 8):
            await fails(guarded, ModelRefused)
            if number >= FAILURES - 1:
                rests.append(
                    (await fails(guarded, ModelUnavailable)).retry_after_s or 0.0
                )
                if number == FAILURES - 1:
                    assert (
                        guarded.trouble
                        == "The model scripted failed 5 times in a row: wrong key. Next try in 15 s."
                    )
                    assert (
                        in_language("de")
                        .reason(guarded.trouble)
                        .startswith("Mit dem Modell scripted ging es 5-mal")
                    )
                at.now += rests[-1]
    assert rests[:2] == [FIRST_REST_S, 2 * FIRST_REST_S]
    assert rests == sorted(rests)
    assert rests[-1] == MAX_REST_S
    events = [entry["event"] for entry in logged]
    assert events == ["the model does not answer"], (
        "a night without a model is one line"
    )
    assert (await guarded.generate(REPLY)).text == "ok"
    assert guarded.trouble is None


@pytest.mark.parametrize("odd", [ValueError("a bug"), asyncio.CancelledError()])
async def test_a_probe_that_ends_oddly_lets_the_next_call_probe(
    at: Scripted, odd: BaseException
) -> None:
    at.script += [ModelRefused("wrong key.")] * FAILURES + [odd]
    guarded = at.guard(Limits(retries=0))
    for _ in range(FAILURES):
        await fails(guarded, ModelRefused)
    at.now += FIRST_REST_S
    with pytest.raises((ModelError, asyncio.CancelledError)):
        await guarded.generate(REPLY)
    at.now += 2 * FIRST_REST_S
    assert (await guarded.generate(REPLY)).text == "ok"


async def test_no_usable_answer_is_a_failure_for_the_memory_and_none_of_the_server_for_a_reply(
    at: Scripted,
) -> None:
    request = replace(SUMMARY, schema={"type": "object", "required": ["summary"]})
    for answer in (
        ModelBlocked("blocked."),
        "",
        "no object",
        "[]",
        '{"text": "said"}',
        '{"summary": "',
    ):
        at.script += [answer] * FAILURES
        guarded = at.guard(Limits(retries=0))
        for _ in range(FAILURES):
            await fails(guarded, ModelBlocked, request)
        await fails(guarded, ModelUnavailable, request)
    assert set(at.metered) == {"ModelBlocked"}
    at.script += [ModelBlocked("blocked.")] * (FAILURES + 1)
    guarded = at.guard()
    for _ in range(FAILURES + 1):
        await fails(guarded, ModelBlocked)


async def test_a_model_that_never_has_a_reply_is_named_and_called_on(
    at: Scripted,
) -> None:
    guarded = at.guard()
    empty = ModelBlocked("It gave no usable answer.")
    at.script += [empty] * (FAILURES - 1)
    for _ in range(FAILURES - 1):
        await fails(guarded, ModelBlocked)
    assert named_trouble(guarded) == ""
    at.script += [empty, "ok", empty]
    await fails(guarded, ModelBlocked)
    assert named_trouble(guarded) == (
        f"The model scripted failed {FAILURES} times in a row: It gave no usable answer."
    )
    # the memory may have answers all the while
    await guarded.generate(SUMMARY)
    assert named_trouble(guarded) != ""
    await fails(guarded, ModelBlocked)
    await guarded.generate(REPLY)
    assert named_trouble(guarded) == ""


def named_trouble(guarded: GuardedModel) -> str:
    return in_language("en").reason(guarded.trouble or "")


async def test_waiting_for_an_answer_or_a_place_ends_at_the_deadline(
    at: Scripted,
) -> None:
    """The wait for a place says nothing of the server."""
    endless = ScriptedModel()
    endless.gate = asyncio.Event()
    guarded = at.guard(Limits(reply_s=0.01), endless)
    assert "in time" in str(await fails(guarded, ModelUnavailable))
    assert at.metered == ["ModelUnavailable"]
    guarded = at.guard(Limits(reply_s=0.01, memory_s=60, at_once=1), endless)
    hog = asyncio.create_task(guarded.generate(SUMMARY))
    await asyncio.sleep(0)
    assert "did not answer in time" in str(await fails(guarded, ModelUnavailable))
    hog.cancel()
    await asyncio.gather(hog, return_exceptions=True)
    assert (len(at.metered), guarded.trouble) == (1, None)


async def refused(day: int, stream: int, limits: LimitSettings) -> set[Purpose]:
    async def used() -> tuple[dict[str, TokenCounts], dict[str, TokenCounts]]:
        return {"big": TokenCounts(day, 0, 0)}, {"big": TokenCounts(stream, 0, 0)}

    settings = Settings(limits=limits, prices={"big": PriceSettings(input=2)})
    limit = SpendLimit(settings=lambda: settings, used=used)
    model = Scripted().guard()
    left_out = set()
    sentences = set()
    model.spending = limit
    for purpose in Purpose:
        try:
            await model.generate(ModelRequest(purpose, "", "", 1))
        except ModelUnavailable as error:
            left_out.add(purpose)
            sentences.add(str(error))
    assert sentences <= {limit.line}
    return left_out


BRIEFS = {Purpose.BRIEF, Purpose.RECAP}


@pytest.mark.parametrize(
    ("share", "left_out"),
    [
        (0.0, set()),
        (0.7, set()),
        (0.8, BRIEFS),
        (0.9, BRIEFS | {Purpose.EXTRACT}),
        (1.0, set(Purpose) - {Purpose.SUMMARY}),
        (1.2, set(Purpose)),
    ],
)
async def test_the_order_in_which_things_are_left_out(
    share: float, left_out: set[Purpose]
) -> None:
    used = int(share * 1_000)
    assert await refused(used, 0, LimitSettings(tokens_per_day=1_000)) == left_out
    assert (
        await refused(9_999, used, LimitSettings(tokens_per_stream=1_000)) == left_out
    ), "the stream's own"
    assert await refused(1_000 * used, 0, LimitSettings(money_per_day=2)) == left_out, (
        "two for a million tokens"
    )
    assert await refused(0, 500 * used, LimitSettings(money_per_stream=1)) == left_out
    assert await refused(used, 0, LimitSettings()) == set(), "no limit"


async def test_a_full_disk_does_not_cost_the_answer(
    at: Scripted, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def full(*_args: object) -> None:
        raise StoreFull("The disk is full.")

    monkeypatch.setattr(at, "record", full)
    assert (await at.guard().generate(REPLY)).text == "ok"


LONG = ModelRequest(Purpose.REPLY, "be brief", "hello " * 4_000, 50)


@pytest.mark.parametrize(
    ("billed", "counted"),
    [
        (TokenUsage(), (5, 1)),
        (TokenUsage(input=-7, output=10**30), (5, 1)),
        (TokenUsage(input=900, output=12), (900, 12)),
    ],
)
def test_a_server_that_bills_nothing_or_nonsense_counts_as_we_estimate(
    billed: TokenUsage, counted: tuple[int, int]
) -> None:
    usage = counted_usage(billed, REPLY, "ok", bills_schema=False)
    assert (usage.input, usage.output) == counted


def test_a_schema_counts_where_its_tokens_are_billed() -> None:
    request = replace(REPLY, schema={"type": "object"})
    unbilled = TokenUsage()
    without = counted_usage(unbilled, request, "ok", bills_schema=False)
    with_schema = counted_usage(unbilled, request, "ok", bills_schema=True)
    assert (without.input, with_schema.input) == (5, 11)


class Cutting(Scripted):
    """A server that reads no more than its window, and says so only in its bill."""

    window = 4_096

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer, and bill what was read."""
        answer = await super().generate(request)
        read = min(self.window, len(request.prompt) // 4)
        return replace(answer, usage=TokenUsage(input=read, output=5))


async def test_a_server_that_cuts_prompts_is_named_with_what_to_do() -> None:
    server = Cutting()
    guarded = server.guard()
    await guarded.generate(LONG)
    assert guarded.prompt_cut is None, "one prompt may be that long by chance"
    await guarded.generate(LONG)
    assert guarded.prompt_cut is not None
    sentence = in_language("en").reason(guarded.prompt_cut)
    assert "4096" in sentence.replace(",", "")
    assert "OLLAMA_CONTEXT_LENGTH" in sentence
    server.window = 16_384
    await guarded.generate(LONG)
    assert guarded.prompt_cut is None
