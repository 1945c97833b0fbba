"""Servers of models as they really answer: each row is a report about one, played on loopback.

Every one of them must end in the right answer, with no word of a thought in it.
"""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from forgetmenot.domain import ModelRequest, Purpose
from forgetmenot.errors import ModelError, ModelUnavailable
from forgetmenot.llm.guarded import GuardedModel, Limits
from forgetmenot.llm.openai_compatible import OpenAICompatible
from tests.stage import NoMeter

pytestmark = pytest.mark.slow

Sent = dict[str, Any]
Server = Callable[[Sent, int], web.Response]
SCHEMA = {
    "type": "object",
    "properties": {"summary": {"type": "string"}},
    "required": ["summary"],
    "additionalProperties": False,
}
JSON = '{"summary": "Robin came by."}'
DRAFT = '{"summary": "Robin, or was it alice?"}'
SECRET = "alice is afraid of spiders"


def completion(message: Sent, finish: str = "stop", **more: object) -> web.Response:
    """A completion; the message's other fields are the server's own."""
    choice = {
        "index": 0,
        "finish_reason": finish,
        "message": {"role": "assistant", **message},
    }
    usage = {"prompt_tokens": 9, "completion_tokens": 9}
    return web.json_response(
        {"model": "m", "choices": [choice], "usage": usage, **more}
    )


def refusal(status: int, message: str, parameter: str | None = None) -> web.Response:
    """An error as OpenAI words it."""
    return web.json_response(
        {"error": {"message": message, "param": parameter}}, status=status
    )


def says(sent: Sent) -> str:
    """What an obedient model answers."""
    return (
        JSON if "response_format" in sent or "JSON object" in json.dumps(sent) else "Hi"
    )


def thinks(field: str) -> Server:
    """A model whose thoughts use up a short limit."""

    def server(sent: Sent, _number: int) -> web.Response:
        if sent["max_tokens"] < 500:
            return completion({"content": "", field: SECRET}, "length")
        return completion({"content": "Hi", field: SECRET})

    return server


def refuses(
    parameter: str,
    message: str = "Unsupported parameter: '{}'.",
    *,
    names_parameter: bool = True,
) -> Server:
    """A server that refuses a parameter, and names it or not."""

    def server(sent: Sent, _number: int) -> web.Response:
        if parameter not in sent:
            return completion({"content": says(sent)})
        return refusal(
            400, message.format(parameter), parameter if names_parameter else None
        )

    return server


def at_first(first: Server) -> Server:
    """A server that answers oddly once."""

    def server(sent: Sent, number: int) -> web.Response:
        return (
            first(sent, number) if number == 1 else completion({"content": says(sent)})
        )

    return server


def always(message: Sent, finish: str = "stop") -> Server:
    """A server with one answer."""
    return lambda _sent, _number: completion(message, finish)


def fails_on_grammar(sent: Sent, _number: int) -> web.Response:
    if (sent.get("response_format") or {}).get("type") == "json_schema":
        return refusal(500, "failed to parse grammar")
    return completion({"content": JSON})


def streams(_sent: Sent, _number: int) -> web.Response:
    pieces = [
        {"choices": [{"index": 0, "delta": {"reasoning": SECRET}}]},
        {"choices": [{"index": 0, "delta": {"content": "H"}}]},
        {"choices": [{"index": 0, "delta": {"content": "i"}, "finish_reason": "stop"}]},
    ]
    lines = [f"data: {json.dumps(piece)}\n\n" for piece in pieces]
    return web.Response(
        text="".join([*lines, "data: [DONE]\n\n"]), content_type="text/event-stream"
    )


TOOL_CALL = {
    "content": None,
    "tool_calls": [{"id": "c", "function": {"name": "answer", "arguments": JSON}}],
}
PLAIN: dict[str, Server] = {
    "thoughts in reasoning use up the limit": thinks("reasoning"),
    "thoughts in reasoning_content use up the limit": thinks("reasoning_content"),
    "thoughts in the text": always({"content": f"<think>{SECRET}</think>Hi"}),
    "a thought without its first mark": always({"content": f"{SECRET}</think>Hi"}),
    "harmony": always(
        {
            "content": f"<|channel|>analysis<|message|>{SECRET}<|channel|>final<|message|>Hi"
        }
    ),
    "max_tokens is refused": refuses(
        "max_tokens",
        "Unsupported parameter: '{}'. Use 'max_completion_tokens' instead.",
    ),
    "max_tokens is refused without a name": refuses(
        "max_tokens", "bad request", names_parameter=False
    ),
    "an error with status 200": at_first(
        lambda _sent, _n: web.json_response({"error": {"message": SECRET, "code": 429}})
    ),
    "finish is error": at_first(lambda _sent, _n: completion({"content": ""}, "error")),
    "choices are null": at_first(
        lambda _sent, _n: web.json_response({"choices": None})
    ),
    "content in parts": always(
        {
            "content": [
                {"type": "thinking", "thinking": [{"type": "text", "text": SECRET}]},
                {"type": "text", "text": "Hi"},
            ]
        }
    ),
    "an event stream": streams,
}
STRUCTURED: dict[str, Server] = {
    "the answer stands in the thought": always(
        {"content": "", "reasoning_content": JSON}
    ),
    "the answer stands at the end of reasoning": always(
        {"content": "", "reasoning": f"{SECRET}. {JSON}"}
    ),
    "a draft in the thought": always({"content": f"<think>{DRAFT}</think>{JSON}"}),
    "a draft before the answer": always({"content": f"Maybe {DRAFT}? No: {JSON}"}),
    "max_tokens is refused": refuses("max_tokens"),
    "temperature is refused": refuses("temperature", "Unsupported value: '{}' 0.0."),
    "temperature is refused without a name": refuses(
        "temperature", "bad request", names_parameter=False
    ),
    "stream is refused": refuses("stream"),
    "no grammar for a schema": fails_on_grammar,
    "an error with status 200 and no choices": at_first(
        lambda _sent, _n: web.json_response(
            {"choices": None, "error": {"message": "upstream", "code": 502}}
        )
    ),
    "the answer is a tool call": always(TOOL_CALL, "tool_calls"),
}
ROWS = [(name, server, "Hi") for name, server in PLAIN.items()]
ROWS += [(name, server, JSON) for name, server in STRUCTURED.items()]

Ask = Callable[..., Awaitable[str]]


@pytest.fixture
async def ask() -> AsyncIterator[Ask]:
    """A function that returns what the guarded adapter makes of a server's answer."""
    runners: list[web.AppRunner] = []
    models: list[GuardedModel] = []

    async def ask_server(
        server: Server, *, schema: bool, path: str = "/v1", base: str = "/v1"
    ) -> str:
        requests: list[Sent] = []

        async def handle(request: web.Request) -> web.Response:
            requests.append(await request.json())
            return server(requests[-1], len(requests))

        app = web.Application()
        app.router.add_post(f"{path}/chat/completions", handle)
        runner = web.AppRunner(app)
        await runner.setup()
        runners.append(runner)
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        port = runner.addresses[0][1]
        url = f"http://127.0.0.1:{port}{base}"
        limits = Limits(reply_s=15, memory_s=15)
        model = GuardedModel(
            "m",
            lambda: OpenAICompatible("m", base_url=url),
            meter=NoMeter(),
            limits=limits,
        )
        models.append(model)
        request = ModelRequest(Purpose.REPLY, "Be brief.", "bob: hello", 100)
        if schema:
            request = ModelRequest(
                Purpose.SUMMARY, "Sum up.", "P1: hello", 100, 0.0, SCHEMA
            )
        return (await model.generate(request)).text

    yield ask_server
    for model in models:
        await model.aclose()
    for runner in runners:
        await runner.cleanup()


@pytest.mark.parametrize(
    ("name", "server", "answer"), ROWS, ids=[row[0] for row in ROWS]
)
async def test_a_server_as_it_really_answers(
    ask: Ask, name: str, server: Server, answer: str
) -> None:
    assert await ask(server, schema=answer == JSON) == answer


@pytest.mark.parametrize(
    "message",
    [
        {"content": "", "reasoning": SECRET},
        {"content": f"<think>{SECRET}"},
        {"content": f"<|channel|>analysis<|message|>{SECRET}"},
        {"content": [{"type": "thinking", "thinking": SECRET}]},
        {"content": f"<think>{DRAFT}"},
        {"content": "", "reasoning": f"{DRAFT} would be wrong"},
    ],
)
@pytest.mark.parametrize("schema", [False, True])
async def test_a_thought_without_an_answer_is_never_said(
    ask: Ask, message: Sent, schema: bool
) -> None:
    with pytest.raises(ModelError) as caught:
        await ask(always(message), schema=schema)
    assert SECRET not in str(caught.value)


async def test_an_address_without_v1_finds_it(ask: Ask) -> None:
    assert await ask(always({"content": "Hi"}), schema=False, base="") == "Hi"


async def test_an_address_at_which_nothing_is_stays_an_error(ask: Ask) -> None:
    with pytest.raises(ModelError, match="/chat/completions"):
        await ask(always({"content": "Hi"}), schema=False, path="/other", base="")


async def test_what_a_server_refuses_is_left_out_from_then_on_and_tried_again_later() -> (
    None
):
    now = 0.0
    requests: list[Sent] = []
    server = refuses("temperature")

    async def handle(request: web.Request) -> web.Response:
        requests.append(await request.json())
        return server(requests[-1], len(requests))

    app = web.Application()
    app.router.add_post("/v1/chat/completions", handle)
    runner = web.AppRunner(app)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    url = f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    model = OpenAICompatible("m", base_url=url, now=lambda: now)
    request = ModelRequest(Purpose.SUMMARY, "Sum up.", "P1: hello", 100, 0.0, SCHEMA)
    try:
        for time, calls in ((0.0, 2), (1.0, 1), (601.0, 2)):
            now = time
            before = len(requests)
            assert (await model.generate(request)).text == JSON
            assert len(requests) - before == calls
        assert "response_format" in requests[-1], (
            "the schema is no reason to be left out"
        )
    finally:
        await model.aclose()
        await runner.cleanup()


async def test_a_server_that_refuses_everything_is_named_after_a_few_tries(
    ask: Ask,
) -> None:
    tries = 0

    def server(_sent: Sent, _number: int) -> web.Response:
        nonlocal tries
        tries += 1
        return refusal(400, "bad request")

    with pytest.raises(ModelError, match="refused the request"):
        await ask(server, schema=True)
    assert tries <= 6


@pytest.mark.slow
async def test_a_server_that_always_fails_with_status_200_is_retried_and_then_named(
    ask: Ask,
) -> None:
    with pytest.raises(ModelUnavailable, match="502"):
        await ask(
            lambda _sent, _n: web.json_response(
                {"error": {"code": 502, "message": SECRET}}
            ),
            schema=False,
        )
