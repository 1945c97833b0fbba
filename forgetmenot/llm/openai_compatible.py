"""Any server with `POST {base}/chat/completions`: Ollama, llama.cpp, LM Studio, and hosted ones. No SDK, only aiohttp.

Guarantees:
- Only ModelError is raised, and the text is never empty.
- A schema is requested as `json_schema`, then as `json_object`, then in plain words. A format that the server refuses,
  or ignores twice in a row, is not tried for ten minutes. A request with a `plain_system` falls back to plain text.
- An error carries no server text except the status and a known reason, because a server may echo chat.

It does not validate the JSON against the schema.
"""

import contextlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import aiohttp
from msgspec.structs import replace

from forgetmenot.domain import ModelAnswer, ModelRequest, TokenUsage
from forgetmenot.errors import (
    ModelBlocked,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelUnavailable,
)
from forgetmenot.languages import reason
from forgetmenot.llm.guarded import json_object, unwrapped, without_thought
from forgetmenot.logs import log
from forgetmenot.network import BadProxy, body_of, proxy_for, trusted

FORMATS = ("json_schema", "json_object", "plain")
NOT_THIS_FORMAT = {
    400,
    404,
    415,
    422,
    501,
}  # what servers answer to a response_format that they do not know
# Plain words propose no action, and a server may only have had a bad moment.
PLAINER_FOR_S = 600.0
FINISHES = {"stop", "length", "content_filter"}
# What servers name in `error.code` or `error.type`, and the reason that we give for it.
HINTS = {
    "context_length_exceeded": "hint_long",
    "exceed_context_size_error": "hint_long",
    "content_policy_violation": "hint_filter",
    "content_filter": "hint_filter",
    "billing_hard_limit_reached": "hint_spent",
    "billing_not_active": "hint_spent",
}
LARGEST_ANSWER = 2 * 1024 * 1024
ROOM_FOR_THOUGHTS = 2_000  # tokens
TOTAL_TIMEOUT_S = 600.0  # llm/guarded.py keeps the real deadline


class OpenAICompatible:
    """One model behind one base address (`http://127.0.0.1:11434/v1`). `key` may be empty. `now`: seconds."""

    def __init__(
        self,
        name: str,
        *,
        base_url: str,
        key: str = "",
        thinking: str = "",
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = name
        self._url = base_url.rstrip("/") + "/chat/completions"
        self._key = key
        self._thinking = thinking
        self._thinks = False
        self._now = now
        self._format = 0
        self._plainer_until = 0.0
        self._ignored = 0  # answers in a row that were no JSON
        self._session: aiohttp.ClientSession | None = None

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """One answer, with up to two more tries in simpler formats where a schema is asked. Raises ModelError.

        A model that thinks unasked is asked once more with room for its thoughts, and so from then on.
        """
        while True:
            try:
                return await self._generate(request)
            except _ThoughtOnly as error:
                if self._thinks:
                    raise ModelBlocked(str(error)) from None
                log.info("the model thinks and gets more output tokens", model=self.name)
                self._thinks = True

    async def _generate(self, request: ModelRequest) -> ModelAnswer:
        if not request.schema:
            return self._answer(await self._post(request, None), request)
        if self._now() > self._plainer_until:
            self._format = 0
        first, refused = self._format, False
        for index in range(first, len(FORMATS)):
            plainly = FORMATS[index] == "plain" and request.plain_system is not None
            try:
                body = await self._post(request, FORMATS[index])
            except _NotThisFormat as error:
                if index == len(FORMATS) - 1:
                    raise error.meaning from error
                refused = True
                continue
            answer = self._answer(body, replace(request, schema=None) if plainly else request)
            answer = replace(answer, plain=plainly)
            if plainly or answer.finish == "length" or json_object(answer.text) is not None:
                self._ignored = 0 if index == 0 else self._ignored + (not refused)
                if index > first and (refused or self._ignored > 1):
                    self._format, self._plainer_until = index, self._now() + PLAINER_FOR_S
                return answer
        raise ModelUnavailable(reason("model_no_json", model=self.name))

    async def aclose(self) -> None:
        """Close the session."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def _post(self, request: ModelRequest, form: str | None) -> Mapping[str, Any]:
        """Send it; the answer's JSON. Raises ModelError, and _NotThisFormat where a simpler format may help."""
        with self._translating():
            if self._session is None:
                wait = aiohttp.ClientTimeout(total=TOTAL_TIMEOUT_S)
                self._session = aiohttp.ClientSession(
                    timeout=wait, connector=aiohttp.TCPConnector(ssl=trusted())
                )
            headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
            payload = self._body(
                request, form
            )  # to this address and no other: redirects are not followed
            proxy, proxy_headers = proxy_for(self._url)
            sending = self._session.post(
                self._url,
                json=payload,
                headers=headers,
                allow_redirects=False,
                proxy=proxy,
                proxy_headers=proxy_headers,
            )
            async with sending as response:
                raw = await body_of(response, LARGEST_ANSWER)
                if response.status != 200:
                    error = self._error(
                        response.status, _reason(raw), _seconds(response.headers.get("Retry-After"))
                    )
                    raise (
                        _NotThisFormat(error)
                        if form and response.status in NOT_THIS_FORMAT
                        else error
                    )
                body = json.loads(raw)
        if not isinstance(body, dict):
            raise ModelUnavailable(reason("model_empty", model=self.name))
        return body

    def _body(self, request: ModelRequest, form: str | None) -> dict[str, Any]:
        plain = request.plain_system if form == "plain" else None
        system = request.system if plain is None else plain
        # these servers count thoughts as output, so a limit for the words alone would end before the first one
        most = request.max_output_tokens + (ROOM_FOR_THOUGHTS if self._thinks else 0)
        body: dict[str, Any] = {"model": self.name, "max_tokens": most, "stream": False}
        if request.temperature is not None:
            body["temperature"] = request.temperature
        if self._thinking:
            body["reasoning_effort"] = self._thinking
        if form == "json_schema":
            schema = request.schema or {}
            # a strict server wants every field required, and none besides them allowed
            strict = set(schema.get("properties", ())) == set(schema.get("required", ()))
            strict = strict or "additionalProperties" not in schema
            content = {"name": request.purpose.value, "strict": strict, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": content}
        elif form == "json_object":
            body["response_format"] = {"type": "json_object"}
        if (
            form in {"json_object", "plain"} and request.plain_system is None
        ):  # else the instructions describe it
            described = json.dumps(request.schema, separators=(",", ":"))
            # in these formats no schema is sent, so the words have to describe it
            system += f"\n\nAnswer with one JSON object that satisfies this schema, and with nothing else:\n{described}"
        messages = [
            {"role": "system", "content": system.strip()},
            {"role": "user", "content": request.prompt},
        ]
        return body | {"messages": messages if system.strip() else messages[1:]}

    def _answer(self, body: Mapping[str, Any], request: ModelRequest) -> ModelAnswer:
        choices = body.get("choices")
        choice = (
            choices[0]
            if isinstance(choices, list) and choices and isinstance(choices[0], dict)
            else {}
        )
        message = choice.get("message")
        message = message if isinstance(message, dict) else {}
        content, thought = message.get("content"), message.get("reasoning_content")
        said = choice.get("finish_reason")
        finish = (
            said if isinstance(said, str) and said in FINISHES else "other" if said else "stop"
        )  # our words alone
        usage = _usage(body.get("usage"))
        text = without_thought(content).strip() if isinstance(content, str) else ""
        thought = (
            thought if isinstance(thought, str) else text if text.startswith("<think>") else ""
        )
        if request.schema and not text and json_object(unwrapped(thought)) is not None:
            text = thought  # a server that holds a thinking model to a schema may take its answer for a thought
        if finish == "content_filter":
            raise ModelBlocked(reason("model_withheld", model=self.name, why="content filter"))
        if not text or text.startswith("<think>"):
            why = reason("model_empty", model=self.name)
            if finish == "length":
                setting = f"{'reply' if request.purpose == 'reply' else 'memory'}_output_tokens"
                why = reason(
                    "model_thought",
                    model=self.name,
                    most=request.max_output_tokens,
                    setting=setting,
                )
            raise (_ThoughtOnly if thought or usage.thoughts else ModelBlocked)(why)
        return ModelAnswer(unwrapped(text) if request.schema else text, self.name, usage, finish)

    @contextlib.contextmanager
    def _translating(self) -> Iterator[None]:
        """The one place where aiohttp's exceptions become ours."""
        try:
            yield
        except (ModelError, _NotThisFormat):
            raise
        except TimeoutError as error:
            raise ModelUnavailable(reason("model_silent", model=self.name)) from error
        except (aiohttp.ClientError, OSError) as error:
            raise ModelUnavailable(
                reason("server_away", url=self._url, error=type(error).__name__)
            ) from error
        except BadProxy as error:
            raise ModelUnavailable(
                reason("server_away", url=self._url, error=str(error).rstrip("."))
            ) from None
        except (ValueError, RecursionError):  # what it choked on stands in the exception
            raise ModelUnavailable(reason("model_empty", model=self.name)) from None

    def _error(self, status: int, said: str, wait: float | None) -> ModelError:
        if status in {401, 403}:
            return ModelRefused(reason("server_key", status=status))
        if status == 404 or said == "model_not_found":
            return ModelRefused(reason("server_model", model=repr(self.name), address=self._url))
        if status == 429:
            return ModelRateLimited(reason("model_limit", model=self.name), wait)
        if status == 408 or status >= 500:
            return ModelUnavailable(reason("server_trouble", status=status), wait)
        hint = reason(HINTS.get(said, "hint_parameter"))
        return ModelRefused(reason("server_refused", status=status, hint=hint))


class _ThoughtOnly(Exception):
    """The output tokens went on thinking."""


class _NotThisFormat(Exception):
    """The server may not know the response_format. `meaning`: what it is if a plain request fails like this too."""

    def __init__(self, meaning: ModelError) -> None:
        super().__init__(str(meaning))
        self.meaning = meaning


def _usage(usage: object) -> TokenUsage:
    if not isinstance(usage, dict):
        return TokenUsage()
    written, thoughts = (
        _count(usage, "completion_tokens"),
        _count(usage, "completion_tokens_details", "reasoning_tokens"),
    )
    return TokenUsage(
        input=_count(usage, "prompt_tokens"),
        cached=_count(usage, "prompt_tokens_details", "cached_tokens"),
        # thoughts are a part of `completion_tokens`, and are counted by themselves here
        output=written - thoughts if written is not None and thoughts else written,
        thoughts=thoughts,
    )


def _count(table: object, *path: str) -> int | None:
    for name in path:
        table = table.get(name) if isinstance(table, dict) else None
    return table if isinstance(table, int) else None


def _reason(raw: bytes) -> str:
    """The code or type that an error body names, if it is one of ours; what else it says may be somebody's chat."""
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        return ""
    inner = body.get("error", body) if isinstance(body, dict) else None
    named = [inner.get("code"), inner.get("type")] if isinstance(inner, dict) else []
    return next((name for name in named if isinstance(name, str) and name in HINTS), "")


def _seconds(header: str | None) -> float | None:
    try:
        return max(0.0, float(header)) if header else None
    except ValueError:  # a date: rare, and the backoff will do
        return None
