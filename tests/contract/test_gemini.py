"""The Gemini adapter through the real SDK against the loopback Gemini: every trap that was found has a test."""

import json
import re
import traceback
from collections.abc import AsyncIterator, Callable
from typing import Any, TypeVar

import aiohttp
import httpx2
import pytest
from google.auth import exceptions as auth_errors
from google.genai import errors as sdk_errors

from forgetmenot.domain import ModelRequest, Purpose, TokenUsage
from forgetmenot.errors import (
    ModelBlocked,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelUnavailable,
)
from forgetmenot.llm.gemini import Gemini
from tests.loopback_servers.gemini import (
    KEY,
    SimGemini,
    answer_body,
    error,
    rate_limited,
)
from tests.loopback_servers.model_server import body, raw

SCHEMA = {
    "type": "object",
    "properties": {"notes": {"type": "array"}},
    "required": ["notes"],
}
PLAIN = ModelRequest(Purpose.REPLY, "You are a bot.", "alice: hello", 50)
STRUCTURED = ModelRequest(
    Purpose.EXTRACT, "You keep notes.", "P1 plays drums.", 500, 0.0, SCHEMA
)
MODEL = "gemini-3.8-flash"
Make = Callable[..., Gemini]
Failed = TypeVar("Failed", bound=ModelError)


@pytest.fixture
async def sim() -> AsyncIterator[SimGemini]:
    """A loopback Gemini."""
    async with SimGemini() as server:
        yield server


@pytest.fixture
async def make(sim: SimGemini) -> AsyncIterator[Make]:
    """`make("gemini-3.8-flash", key=…)`: an adapter that is closed at the end."""
    made: list[Gemini] = []

    def opened(name: str = MODEL, **more: Any) -> Gemini:  # noqa: ANN401  # what it takes
        made.append(Gemini(name, **{"key": KEY, "base_url": sim.url, **more}))
        return made[-1]

    yield opened
    for gemini in made:
        await gemini.aclose()


async def fails(
    model: Gemini, kind: type[Failed], request: ModelRequest = PLAIN
) -> Failed:
    with pytest.raises(kind) as caught:
        await model.generate(request)
    return caught.value


@pytest.fixture
def gemini(make: Make) -> Gemini:
    """The adapter."""
    return make()


# ── what is sent ────────────────────────────────────────────────────────────────────────────


async def test_a_request_goes_over_the_wire_whole(
    sim: SimGemini, gemini: Gemini, make: Make
) -> None:
    sim.answers('{"notes": []}')
    answer = await gemini.generate(STRUCTURED)
    (sent,) = sim.seen
    assert (sent.version, sent.model, sent.key) == ("v1beta", MODEL, KEY)
    assert (sent.system, sent.prompt, sent.schema) == (
        "You keep notes.",
        "P1 plays drums.",
        SCHEMA,
    )
    assert sent.config["temperature"] == 0.0
    assert sent.config["maxOutputTokens"] == 500
    assert sent.config["responseMimeType"] == "application/json"
    assert "thinkingConfig" not in sent.config
    for setting in ("low", "0"):
        await make(thinking=setting).generate(PLAIN)
    assert [
        [*request.config["thinkingConfig"].values()] for request in sim.seen[1:]
    ] == [
        ["LOW"],
        [0],
    ]
    assert (answer.text, answer.model, answer.finish) == (
        '{"notes": []}',
        MODEL,
        "stop",
    )
    sim.fail(body({"candidates": answer_body("ok")["candidates"]}))
    assert (await gemini.generate(PLAIN)).usage == TokenUsage(), (
        "what is not counted is unknown"
    )


async def test_the_environment_cannot_redirect_it(
    sim: SimGemini, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GOOGLE_API_KEY", "another-key")
    monkeypatch.setenv("GEMINI_API_KEY", "another-key")
    monkeypatch.setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
    monkeypatch.setenv("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:9")
    await make().generate(PLAIN)
    assert sim.seen[0].key == KEY


# ── what comes back ─────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("finish", ["MAX_TOKENS", "CONTINUATION"])
async def test_an_answer_cut_at_the_limit_says_so_and_is_not_continued(
    sim: SimGemini, gemini: Gemini, finish: str
) -> None:
    counts = {
        "promptTokenCount": 900,
        "cachedContentTokenCount": 600,
        "candidatesTokenCount": 7,
    }
    part = answer_body(
        "part", finish=finish, usage={**counts, "thoughtsTokenCount": 40}
    )
    part["candidates"][0]["continuationToken"] = (
        "bW9yZQ=="  # without one the SDK would not go on by itself either
    )
    sim.fail(body(part), times=5)
    answer = await gemini.generate(PLAIN)
    assert (answer.text, answer.finish, len(sim.seen)) == ("part", "length", 1)
    assert answer.usage == TokenUsage(input=900, cached=600, output=7, thoughts=40)


BLOCKS = [
    (
        body({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),
        "held its answer back (prohibited content)",
    ),
    (body(answer_body(None, finish="SAFETY")), "held its answer back (safety)"),
    (
        body(answer_body("half an ans", finish="RECITATION")),
        "held its answer back (recitation)",
    ),
]


async def test_blocks_and_empty_answers_are_told_in_a_sentence(
    sim: SimGemini, gemini: Gemini
) -> None:
    for fault, words in BLOCKS:
        sim.fail(fault)
        assert words in str(await fails(gemini, ModelBlocked))
    # an answer that stops without a word is worth another try
    for empty in (
        body({"usageMetadata": {"promptTokenCount": 12}}),
        body(answer_body("  \n")),
    ):
        sim.fail(empty)
        assert "no usable answer" in str(await fails(gemini, ModelUnavailable))
    thoughts = {"promptTokenCount": 12, "thoughtsTokenCount": 400}
    sim.fail(
        body(answer_body(None, finish="MAX_TOKENS", usage=thoughts, thought="hm")),
        times=2,
    )
    assert "reply_output_tokens" in str(await fails(gemini, ModelBlocked))
    assert "memory_output_tokens" in str(await fails(gemini, ModelBlocked, STRUCTURED))


# ── what goes wrong ─────────────────────────────────────────────────────────────────────────


async def test_a_rate_limit_carries_the_wait_of_the_server(
    sim: SimGemini, gemini: Gemini
) -> None:
    for wait, seconds in (("1.5s", 1.5), (None, None)):
        sim.fail(rate_limited(wait))
        assert (await fails(gemini, ModelRateLimited)).retry_after_s == seconds
    assert len(sim.seen) == 2, "the SDK must not retry by itself"


UNAVAILABLE = [
    error(503, "UNAVAILABLE", "The model is overloaded."), raw("<html>", 502, {"Content-Type": "text/html"}),
    raw("", 500), raw('{"candidates": [{"content"'), raw("42"), raw("[" * 100_000), raw("[" * 100_000, 500),
]  # fmt: skip


async def test_a_server_in_trouble_is_worth_another_try_and_gets_one_request(
    sim: SimGemini, gemini: Gemini
) -> None:
    for number, fault in enumerate(UNAVAILABLE, 1):
        sim.fail(fault)
        await fails(gemini, ModelUnavailable)
        assert len(sim.seen) == number


@pytest.mark.filterwarnings(
    "ignore:.* is not a valid"
)  # what the adapter does when the program runs
@pytest.mark.parametrize(
    "place", ["message", "status", "blockReason", "finishReason", "text"]
)
async def test_a_server_that_echoes_the_prompt_is_not_quoted(
    sim: SimGemini, gemini: Gemini, place: str
) -> None:
    """Whatever a server writes besides the answer may be chat: no error and no answer carries it (promise 1)."""
    echoed = f"Input blocked: {PLAIN.prompt}"
    for status in (200, 400, 401, 403, 404, 429, 500):
        echo = {
            "error": {"code": status, "status": "X", "message": "m", place: echoed},
            "promptFeedback": {"blockReason": echoed} if place == "blockReason" else {},
            "candidates": [{"finishReason": echoed, "content": {"parts": []}}]
            if place == "finishReason"
            else [],
        }
        sim.fail(raw(echoed if place == "text" else json.dumps(echo), status))
        printed = traceback.format_exception(await fails(gemini, ModelError))
        assert "alice" not in "".join(printed), status


async def test_a_wrong_key_an_unknown_model_and_a_wrong_place_say_what_to_change(
    sim: SimGemini, make: Make
) -> None:
    assert "wrong-key" not in str(
        await fails(make(key="wrong-key-0123456789"), ModelRefused)
    )
    assert re.search(
        r"gemini-9-ultra.*reply_model",
        str(await fails(make("gemini-9-ultra"), ModelRefused)),
    )
    sim.fail(
        error(
            400,
            "FAILED_PRECONDITION",
            "User location is not supported for the API use.",
        )
    )
    assert "paid tier" in str(await fails(make(), ModelRefused))


async def test_no_exception_of_the_sdk_goes_unmapped(gemini: Gemini) -> None:
    """Every class that the SDK defines, and those of the HTTP clients below it."""
    own = [
        kind
        for kind in vars(sdk_errors).values()
        if isinstance(kind, type) and issubclass(kind, Exception)
    ]
    below = [
        auth_errors.TransportError,
        aiohttp.ClientError,
        httpx2.HTTPError,
        TimeoutError,
        ValueError,
        OSError,
    ]
    kinds: list[type[Exception]] = [
        *(kind for kind in own if not issubclass(kind, Warning)),
        *below,
    ]
    for kind in kinds:
        error = (
            kind(418, {"error": {}})
            if issubclass(kind, sdk_errors.APIError)
            else kind("broken")
        )
        with pytest.raises(ModelError), gemini._translating():
            raise error
