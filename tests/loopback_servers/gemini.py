"""A Gemini on loopback: speaks `generateContent`, bills by a tokenizer of its own, fails on demand.

    async with SimGemini() as sim:
        sim.answers("first", "second")
        sim.fail(rate_limited("1.5s"), times=2)  # the next two calls
        … base_url=sim.url …
        sim.seen[0].prompt

Imports nothing of the bot. What it answers was checked against the published form of the API, not against the service.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from tests.loopback_servers.model_server import Fault, ModelServer, body, count

MODELS = ("gemini-3.5-flash-lite", "gemini-3.8-flash")
KEY = "sim-key"


@dataclass(frozen=True, slots=True)
class GeminiRequest:
    """One request as it came over the wire."""

    version: str
    model: str
    key: str
    system: str
    prompt: str
    config: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All of the input, in the order in which it is billed."""
        return self.system + "\n" + self.prompt

    @property
    def schema(self) -> Any:  # noqa: ANN401  # whatever the client sent
        """The JSON schema of the answer, or None."""
        return self.config.get("responseJsonSchema") or self.config.get(
            "responseSchema"
        )


class SimGemini(ModelServer[GeminiRequest]):
    """The server; it insists on KEY."""

    route = "/{version}/models/{call}"

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        model, _, verb = request.match_info["call"].partition(":")
        received = _read(
            await request.json(), request.match_info["version"], model, request.headers
        )
        self.seen.append(received)
        if self._faults:
            return await self._faults.popleft()(received)
        if received.key != KEY:
            return await refused_key(received)
        if model not in MODELS or verb != "generateContent":
            return await unknown_model(received)
        if self._script:
            text = self._script.popleft()
        else:
            text = "{}" if received.schema else "Understood."
        usage = {
            "promptTokenCount": count(received.text),
            "candidatesTokenCount": count(text),
        }
        return web.json_response(answer_body(text, usage=usage))


def answer_body(
    text: str | None,
    *,
    finish: str = "STOP",
    usage: dict[str, int] | None = None,
    thought: str = "",
) -> dict[str, Any]:
    """A `GenerateContentResponse` as it goes over the wire."""
    parts = [{"text": thought, "thought": True}] if thought else []
    parts += [{"text": text}] if text is not None else []
    candidate: dict[str, Any] = {"finishReason": finish, "index": 0}
    if parts:
        candidate["content"] = {"role": "model", "parts": parts}
    return {"candidates": [candidate], "usageMetadata": usage or {}}


def error(code: int, status: str, message: str, *details: dict[str, Any]) -> Fault:
    """A fault in Google's form of an error."""
    return body(
        {
            "error": {
                "code": code,
                "status": status,
                "message": message,
                "details": list(details),
            }
        },
        code,
    )


def rate_limited(delay: str | None = "1.5s") -> Fault:
    """429, with the wait where Google puts it."""
    info = {"@type": "type.googleapis.com/google.rpc.RetryInfo"} | (
        {"retryDelay": delay} if delay else {}
    )
    quota = {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": []}
    return error(
        429, "RESOURCE_EXHAUSTED", "You exceeded your current quota.", quota, info
    )


def _info(reason: str) -> dict[str, Any]:
    return {
        "@type": "type.googleapis.com/google.rpc.ErrorInfo",
        "reason": reason,
        "domain": "googleapis.com",
    }


refused_key = error(
    400,
    "INVALID_ARGUMENT",
    "API key not valid. Please pass a valid API key.",
    _info("API_KEY_INVALID"),
)
unknown_model = error(404, "NOT_FOUND", "The model is not found for this API version.")


def _read(
    sent: dict[str, Any], version: str, model: str, headers: Mapping[str, str]
) -> GeminiRequest:
    return GeminiRequest(
        version=version,
        model=model,
        key=headers.get("x-goog-api-key", ""),
        system=_joined([sent.get("systemInstruction") or {}]),
        prompt=_joined(sent.get("contents") or []),
        config=sent.get("generationConfig") or {},
    )


def _joined(contents: list[dict[str, Any]]) -> str:
    texts = []
    for content in contents:
        texts += [part.get("text", "") for part in content.get("parts", [])]
    return "\n".join(texts)
