"""The OpenAI-compatible adapter over real HTTP against a loopback server with the habits of local ones."""

import json
import traceback
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from forgetmenot.domain import ModelRequest, Purpose, TokenUsage
from forgetmenot.errors import ModelBlocked, ModelError, ModelRateLimited, ModelRefused
from forgetmenot.llm.build import build_model
from forgetmenot.llm.openai_compatible import LARGEST_ANSWER, OpenAICompatible
from forgetmenot.settings.schema import ModelSettings, Provider
from tests.loopback_servers.model_server import Fault, raw
from tests.loopback_servers.openai import SimOpenAI, answer
from tests.stage import NoMeter

SCHEMA = {"type": "object", "properties": {"notes": {"type": "array"}}}
PLAIN = ModelRequest(Purpose.REPLY, "You are a bot.", "alice: hello", 50, 0.7)
STRUCTURED = ModelRequest(
    Purpose.EXTRACT, "You keep notes.", "P1 plays drums.", 500, 0.0, SCHEMA
)
Make = Callable[..., OpenAICompatible]


@pytest.fixture
async def sim() -> AsyncIterator[SimOpenAI]:
    """A loopback server that knows every format."""
    async with SimOpenAI() as server:
        yield server


@pytest.fixture
async def make() -> AsyncIterator[Make]:
    """`make("http://…", key=…)`: an adapter that is closed at the end."""
    made: list[OpenAICompatible] = []

    def opened(base_url: str, **more: Any) -> OpenAICompatible:  # noqa: ANN401  # what it takes
        made.append(OpenAICompatible("local", base_url=base_url, **more))
        return made[-1]

    yield opened
    for model in made:
        await model.aclose()


@pytest.fixture
def model(sim: SimOpenAI, make: Make) -> OpenAICompatible:
    """The adapter."""
    return make(sim.url + "/")


async def test_a_plain_request_needs_no_key(
    sim: SimOpenAI, model: OpenAICompatible
) -> None:
    sim.fail(answer("Hello.", reasoning=30, cached=2))
    reply = await model.generate(PLAIN)
    assert (reply.text, reply.usage) == (
        "Hello.",
        TokenUsage(input=7, cached=2, output=2, thoughts=30),
    )
    assert sim.authorizations == [None]
    assert sim.seen[0] == {
        "model": "local",
        "max_tokens": 50,
        "stream": False,
        "temperature": 0.7,
        "messages": [
            {"role": "system", "content": "You are a bot."},
            {"role": "user", "content": "alice: hello"},
        ],
    }


@pytest.mark.parametrize("refusal", [422, None], ids=["refuses", "ignores"])
@pytest.mark.parametrize(
    ("formats", "tried"),
    [
        ({"json_object"}, ["json_schema", "json_object"]),
        (set(), ["json_schema", "json_object", None]),
    ],
)
async def test_a_server_without_schemas_is_asked_more_simply_for_ten_minutes(
    make: Make, refusal: int | None, formats: set[str], tried: list[str | None]
) -> None:
    now = 0.0
    async with SimOpenAI(formats=formats, refusal=refusal) as sim:
        model = make(sim.url, now=lambda: now)
        assert (await model.generate(STRUCTURED)).text == "{}"
        assert [
            sent.get("response_format", {}).get("type") for sent in sim.seen
        ] == tried
        assert (
            json.dumps(SCHEMA, separators=(",", ":"))
            in sim.seen[-1]["messages"][0]["content"]
        )
        if (
            refusal is None
        ):  # one answer without JSON says little: the schema is tried once more
            await model.generate(STRUCTURED)
        for at, again in ((0.0, 1), (599.0, 1), (601.0, len(tried))):
            now = at
            before = len(sim.seen)
            await model.generate(STRUCTURED)
            assert len(sim.seen) == before + again


async def test_a_server_that_points_elsewhere_is_not_followed(
    sim: SimOpenAI, model: OpenAICompatible
) -> None:
    async with SimOpenAI() as elsewhere:
        for status in (301, 302, 307, 308):
            sim.fail(raw("", status, {"Location": f"{elsewhere.url}/chat/completions"}))
            with pytest.raises(ModelError):
                await model.generate(PLAIN)
        assert elsewhere.seen == []


async def test_a_model_that_thinks_unasked_gets_room_for_its_thoughts(
    sim: SimOpenAI, model: OpenAICompatible
) -> None:
    sim.fail(answer("<think>P1 says that", finish="length"))
    sim.fail(answer('<think>P1 says that they play.</think>{"notes": []}'))
    assert (await model.generate(STRUCTURED)).text == '{"notes": []}'
    await model.generate(STRUCTURED)
    assert [sent["max_tokens"] for sent in sim.seen] == [500, 2_500, 2_500]
    sim.fail(answer("<think>P1 says that", finish="length"))
    with pytest.raises(ModelBlocked, match="on thinking"):
        await model.generate(STRUCTURED)


@pytest.mark.parametrize(
    ("content", "thought", "text"),
    [
        ('{"notes": [1]}', "hm", '{"notes": [1]}'),
        ("", 'They play.\n{"notes": [2]}', '{"notes": [2]}'),
        ("", "They play.", "{}"),  # it is asked once more, with room for its thoughts
    ],
)
async def test_thoughts_in_a_field_of_their_own_are_no_answer_unless_they_hold_it(
    sim: SimOpenAI, model: OpenAICompatible, content: str, thought: str, text: str
) -> None:
    """llama.cpp and others put what stands between the tags into `reasoning_content`, sometimes all of it."""
    message = {"content": content, "reasoning_content": thought}
    answer_body = {"choices": [{"message": message, "finish_reason": "stop"}]}
    sim.fail(raw(json.dumps(answer_body)))
    assert (await model.generate(STRUCTURED)).text == text


ENDLESS = json.dumps(
    {
        "choices": [
            {"message": {"content": "x" * LARGEST_ANSWER}, "finish_reason": "stop"}
        ]
    }
)
ODD = (
    "", "<html>", "[]", "null", '{"choices": 3}', '{"choices": [null]}', "{", "[" * 100_000, '{"error": [1]}', ENDLESS,
    '{"error": {"code": ["x"], "type": {}}}',
)  # fmt: skip
UNFINISHED = answer("<think>hm, hm", finish="length")
REFUSED = [raw(text, 400) for text in ODD if text is not ENDLESS]
FAILURES: list[tuple[Fault, type[ModelError], str]] = [
    (answer(None, finish="stop"), ModelBlocked, "no usable answer"),
    (answer(None, finish="length"), ModelBlocked, "reply_output_tokens"),
    (answer("Hel", finish="content_filter"), ModelBlocked, "content filter"),
    (UNFINISHED, ModelBlocked, "reply_output_tokens"),
    (raw("{}", 401), ModelRefused, "api_key_env"),
    (raw("{}", 402), ModelRefused, "no credit left"),
    (raw('{"error": {"code": "insufficient_quota"}}', 429), ModelRefused, "no credit"),
    *((raw(text, 200), ModelError, ".") for text in ODD),
    *((raw(text, 500), ModelError, ".") for text in ODD),
    *((fault, ModelError, ".") for fault in REFUSED),
    (raw(ENDLESS, 400), ModelError, "."),
]


async def test_what_is_no_answer_is_told_in_a_sentence(
    sim: SimOpenAI, model: OpenAICompatible
) -> None:
    """Bodies of any shape and length become our errors."""
    refused = {id(fault) for fault in REFUSED}
    for fault, kind, words in FAILURES:
        # these are asked for once more: with room for thoughts, or without optional parameters
        is_repeated = fault is UNFINISHED or id(fault) in refused
        sim.fail(fault, times=2 if is_repeated else 1)
        with pytest.raises(kind, match=words):
            await model.generate(PLAIN)
    for wait, seconds in (("2", 2.0), ("Fri, 20 Nov 2026 18:00:00 GMT", None)):
        sim.fail(raw("{}", 429, {"Retry-After": wait}))
        with pytest.raises(ModelRateLimited) as caught:
            await model.generate(PLAIN)
        assert caught.value.retry_after_s == seconds


@pytest.mark.parametrize("place", ["message", "code", "type", "bare", "finish"])
async def test_a_server_that_echoes_the_prompt_is_not_quoted(
    sim: SimOpenAI, model: OpenAICompatible, place: str
) -> None:
    """Whatever a server writes besides the answer may be chat: no error and no answer carries it (promise 1)."""
    echoed = f"Input blocked: {PLAIN.prompt}"
    error = {"error": echoed} if place == "bare" else {"error": {place: echoed}}
    choice = {
        "choices": [
            {
                "finish_reason": echoed,
                "message": {"content": "Hi." if place == "finish" else ""},
            }
        ]
    }
    for status in (200, 400, 401, 404, 429, 500):
        sim.fail(raw(json.dumps(error | choice), status))
        try:
            printed = repr(await model.generate(PLAIN))
        except ModelError as caught:
            printed = "".join(traceback.format_exception(caught))
        assert "alice" not in printed, status


@pytest.mark.parametrize(("variable", "sent"), [("", None), ("MY_KEY", "Bearer mine")])
async def test_the_key_of_gemini_is_never_sent_to_another_server(
    sim: SimOpenAI, variable: str, sent: str | None
) -> None:
    settings = ModelSettings(
        provider=Provider.OPENAI_COMPATIBLE, base_url=sim.url, api_key_env=variable
    )
    keys = {"GEMINI_API_KEY": "secret", "MY_KEY": "mine"}
    built = build_model(settings, "local", NoMeter(), environ=keys)
    await built.generate(PLAIN)
    await built.aclose()
    assert sim.authorizations == [sent]
