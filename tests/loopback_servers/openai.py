"""An OpenAI-compatible server on loopback, with the habits of small local ones.

    async with SimOpenAI(formats={"json_object"}) as sim:   # answers 400 to json_schema
        … base_url=sim.url …

Imports nothing of the bot.
"""

import json
from typing import Any

from aiohttp import web

from tests.loopback_servers.model_server import Fault, ModelServer, count

ALL_FORMATS = frozenset({"json_schema", "json_object"})
Sent = dict[str, Any]


class SimOpenAI(ModelServer[Sent]):
    """The server. `formats`: the response formats it knows; to others it answers `refusal` (a status), or ignores them.

    `key`: the bearer token it insists on; empty for none. `seen`: every body that was posted.
    """

    route = "/v1/chat/completions"
    base = "/v1"

    def __init__(
        self,
        *,
        formats: frozenset[str] | set[str] = ALL_FORMATS,
        refusal: int | None = 400,
        key: str = "",
    ) -> None:
        super().__init__()
        self.authorizations: list[str | None] = []
        self._formats = formats
        self._refusal = refusal
        self._key = key

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        sent = await request.json()
        self.seen.append(sent)
        self.authorizations.append(request.headers.get("Authorization"))
        if self._faults:
            return await self._faults.popleft()(sent)
        if self._key and self.authorizations[-1] != f"Bearer {self._key}":
            return web.json_response(
                {"error": {"message": "Incorrect API key provided"}}, status=401
            )
        form = (sent.get("response_format") or {}).get("type")
        known = form is None or form in self._formats
        if not known and self._refusal:
            return web.json_response(
                {"error": {"message": f"{form} is not supported"}}, status=self._refusal
            )
        return web.json_response(completion(self._write(sent, obey=known), sent))

    def _write(self, sent: Sent, *, obey: bool) -> str:
        if not obey:
            return "Sure! Here is what I found."
        if self._script:
            return self._script.popleft()
        wants_json = "response_format" in sent or "JSON object" in json.dumps(
            sent["messages"]
        )
        return "{}" if wants_json else "Understood."


def completion(
    text: str | None,
    sent: Sent,
    *,
    finish: str = "stop",
    reasoning: int = 0,
    cached: int = 0,
) -> Sent:
    """A chat completion as it goes over the wire."""
    written = count(text or "") + reasoning
    return {
        "object": "chat.completion",
        "model": sent.get("model"),
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": text},
            }
        ],
        "usage": {
            "prompt_tokens": sum(
                count(message["content"]) for message in sent["messages"]
            ),
            "completion_tokens": written,
            "prompt_tokens_details": {"cached_tokens": cached},
            "completion_tokens_details": {"reasoning_tokens": reasoning},
        },
    }


def answer(
    text: str | None, *, finish: str = "stop", reasoning: int = 0, cached: int = 0
) -> Fault:
    """One particular completion."""

    async def reply(sent: Sent) -> web.StreamResponse:
        return web.json_response(
            completion(text, sent, finish=finish, reasoning=reasoning, cached=cached)
        )

    return reply
