"""The wire format of chat completions, and its dialects: what is sent, and what comes back. Pure.

Each dialect here was reported of a real server: thoughts in `reasoning` (Ollama, OpenRouter, vLLM)
or `reasoning_content` (llama.cpp, DeepSeek), an error under status 200, `choices: null`, content in
parts, the answer as a tool call, an event stream though none was asked for, a 500 for a grammar.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from forgetmenot.domain import ModelRequest, TokenUsage

Payload = dict[str, Any]

FORMATS = ("json_schema", "json_object", "plain")
# Parameters that an answer can do without, in the order in which they are left out.
OPTIONAL = ("reasoning_effort", "temperature", "stream")
# A limit's name, and the one by which newer models know it.
LIMIT = "max_tokens"
NEW_LIMIT = "max_completion_tokens"
# Statuses for a request that the server does not understand.
NOT_UNDERSTOOD = frozenset({400, 404, 415, 422, 501})
# Words by which an error of another status blames the response format.
FORMAT_WORDS = ("grammar", "response_format", "json_schema", "json schema")
FINISHES = frozenset({"stop", "length", "content_filter", "error"})
# What servers name in `error.code` or `error.type`, and the reason that we give for it.
HINTS = {
    "context_length_exceeded": "hint_long",
    "exceed_context_size_error": "hint_long",
    "content_policy_violation": "hint_filter",
    "content_filter": "hint_filter",
    "billing_hard_limit_reached": "hint_spent",
    "billing_not_active": "hint_spent",
    "insufficient_quota": "hint_spent",
}
THOUGHT_FIELDS = ("reasoning_content", "reasoning", "thinking")
LARGEST_COUNT = 1_000_000_000  # tokens: a server that counts more does not count


class Rejection(Struct, frozen=True):
    """Why a request may have been refused: the parameter that the error names, or ""."""

    parameter: str = ""


class RequestForm(Struct, frozen=True):
    """How a request is sent: in which response format, and without which parameters."""

    format_index: int = 0
    omitted: frozenset[str] = frozenset()

    @property
    def is_plain(self) -> bool:
        """Return whether the schema is described in words alone."""
        return FORMATS[self.format_index] == "plain"

    def with_next_format(self) -> "RequestForm | None":
        """Return the same with the next simpler response format; None after the simplest."""
        if self.is_plain:
            return None
        return replace(self, format_index=self.format_index + 1)

    def after(self, rejection: Rejection, *, has_schema: bool) -> "RequestForm | None":
        """Return the form to try after a rejection; None if there is no other.

        A parameter that is named is left out. Else the format is made simpler, and after the
        simplest one the whole format is tried again without any optional parameter.
        """
        if rejection.parameter == "response_format":
            return self.with_next_format() if has_schema else None
        if rejection.parameter:
            return replace(self, omitted=self.omitted | {rejection.parameter})
        if has_schema and not self.is_plain:
            return self.with_next_format()
        everything_optional = frozenset((*OPTIONAL, LIMIT))
        if everything_optional <= self.omitted:
            return None
        return RequestForm(omitted=self.omitted | everything_optional)


def payload(
    model: str,
    request: ModelRequest,
    form: RequestForm,
    *,
    thinking: str,
    extra_tokens: int,
) -> Payload:
    """Return the body of a request; `extra_tokens`: room for thoughts beside the answer."""
    body: Payload = {"model": model}
    limit = request.max_output_tokens + extra_tokens
    if LIMIT not in form.omitted:
        body[LIMIT] = limit
    elif NEW_LIMIT not in form.omitted:
        body[NEW_LIMIT] = limit
    body["stream"] = False
    if request.temperature is not None:
        body["temperature"] = request.temperature
    if thinking:
        body["reasoning_effort"] = thinking
    if request.schema:
        body |= _response_format(request, FORMATS[form.format_index])
    for name in OPTIONAL:
        if name in form.omitted:
            body.pop(name, None)
    body["messages"] = _messages(request, form)
    return body


def _response_format(request: ModelRequest, format_name: str) -> Payload:
    if format_name == "plain":
        return {}
    if format_name == "json_object":
        return {"response_format": {"type": "json_object"}}
    schema = request.schema or {}
    # a strict server wants every field required, and none besides them allowed
    fields = set(schema.get("properties", ()))
    required = set(schema.get("required", ()))
    is_strict = fields == required or "additionalProperties" not in schema
    named_schema = {
        "name": request.purpose.value,
        "strict": is_strict,
        "schema": schema,
    }
    return {"response_format": {"type": "json_schema", "json_schema": named_schema}}


def _messages(request: ModelRequest, form: RequestForm) -> list[dict[str, str]]:
    system = _system(request, form).strip()
    messages = [{"role": "user", "content": request.prompt}]
    if system:
        messages.insert(0, {"role": "system", "content": system})
    return messages


def _system(request: ModelRequest, form: RequestForm) -> str:
    """Return the system text, with the schema in words if no server reads it."""
    if not request.schema:
        return request.system
    if request.plain_system is not None:
        return request.plain_system if form.is_plain else request.system
    if form.format_index == 0:
        return request.system
    described = json.dumps(request.schema, separators=(",", ":"))
    return (
        f"{request.system}\n\nAnswer with one JSON object that satisfies this schema, and with"
        f" nothing else:\n{described}"
    )


class Completion(Struct, frozen=True):
    """What a server answered, whatever its dialect.

    `status`: HTTP's, or that of the error in a body with status 200. `hint`, `parameter` and
    `names_model` are read from an error. `finish`: one of FINISHES, or "other".
    """

    status: int
    has_choice: bool = False
    content: str = ""
    thought: str = ""
    tool_arguments: str = ""
    finish: str = "stop"
    usage: TokenUsage = TokenUsage()
    hint: str = ""
    parameter: str = ""
    names_model: bool = False

    def rejection(self, sent: Payload) -> Rejection | None:
        """Return why the request may have been refused for its form; None if it was not.

        `sent`: the payload. A parameter that was not sent cannot be the reason.
        """
        if self.hint or self.names_model:
            return None
        parameter = self.parameter if self.parameter in sent else ""
        if self.status in NOT_UNDERSTOOD:
            return Rejection(parameter)
        if self.status >= 500 and parameter == "response_format":
            return Rejection(parameter)
        return None


def read(status: int, raw: bytes) -> Completion:
    """Return what a server's answer says. Raises ValueError, RecursionError for a broken body."""
    if status != 200:
        return _read_error(status, _parsed_or_none(raw))
    if raw.lstrip().startswith(b"data:"):
        body = _from_event_stream(raw)
    else:
        body = json.loads(raw)
    if not isinstance(body, dict):
        return Completion(200)
    error = body.get("error")
    if error:
        return _read_error(_status_of(error), body)
    usage = _usage(body.get("usage"))
    choice = _first_table(body.get("choices"))
    if choice is None:
        return Completion(200, usage=usage)
    message = _table(choice.get("message"))
    content, thought = _content(message)
    return Completion(
        200,
        has_choice=True,
        content=content,
        thought=thought,
        tool_arguments=_tool_arguments(message),
        finish=_finish(choice.get("finish_reason")),
        usage=usage,
    )


def _table(value: object) -> Payload:
    """Return a JSON object; an empty one in the place of anything else."""
    return value if isinstance(value, dict) else {}


def _first_table(value: object) -> Payload | None:
    """Return the JSON object with which a list begins; None if there is none."""
    if not isinstance(value, list):
        return None
    if not value:
        return None
    first = value[0]
    return first if isinstance(first, dict) else None


def _text(value: object) -> str:
    """Return a text; "" in the place of anything else."""
    return value if isinstance(value, str) else ""


def _content(message: Mapping[str, Any]) -> tuple[str, str]:
    """Return the text of a message and its thought."""
    thought = ""
    for field in THOUGHT_FIELDS:
        thought += _text(message.get(field))
    content = message.get("content")
    if not isinstance(content, list):
        return _text(content), thought
    answer = ""
    for part in content:
        if not isinstance(part, dict):
            continue
        text = part.get("text")
        is_text = part.get("type", "text") == "text"
        if is_text and isinstance(text, str):
            answer += text
        else:
            # parts of other types are thoughts or pictures
            thought += json.dumps(part, ensure_ascii=False)
    return answer, thought


def _tool_arguments(message: Mapping[str, Any]) -> str:
    """Return the arguments of a tool call as JSON; "" if there is none.

    No tool was offered, so they are the answer.
    """
    call = _table(_first_table(message.get("tool_calls")))
    function = _table(call.get("function"))
    arguments = function.get("arguments")
    # by the protocol they are JSON in a text; some servers send the object itself
    if isinstance(arguments, dict):
        return json.dumps(arguments, ensure_ascii=False)
    return _text(arguments)


def _finish(value: object) -> str:
    if not value or value == "tool_calls":
        return "stop"
    finish = _text(value)
    return finish if finish in FINISHES else "other"


def _from_event_stream(raw: bytes) -> dict[str, Any]:
    """Return the whole completion that an event stream sends in pieces."""
    message = dict.fromkeys(("content", *THOUGHT_FIELDS), "")
    choice: dict[str, Any] = {"message": message}
    body: dict[str, Any] = {}
    for piece in _stream_pieces(raw):
        for field in ("error", "usage"):
            if piece.get(field):
                body[field] = piece[field]
        piece_choice = _first_table(piece.get("choices"))
        if piece_choice is None:
            continue
        body["choices"] = [choice]
        finish = piece_choice.get("finish_reason")
        if finish:
            choice["finish_reason"] = finish
        delta = _table(piece_choice.get("delta"))
        for field in ("content", *THOUGHT_FIELDS):
            message[field] += _text(delta.get(field))
    return body


def _stream_pieces(raw: bytes) -> list[dict[str, Any]]:
    pieces = []
    for line in raw.decode(errors="replace").splitlines():
        data = line.removeprefix("data:").strip()
        # lines of another kind are remarks and names of events
        if data in {line, "[DONE]"}:
            continue
        piece = json.loads(data)
        if isinstance(piece, dict):
            pieces.append(piece)
    return pieces


def _parsed_or_none(raw: bytes) -> object:
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        return None


def _status_of(error: object) -> int:
    """Return the status that an error under status 200 carries; 502 if it carries none."""
    code = str(_table(error).get("code"))
    is_status = code.isdecimal() and len(code) == 3
    status = int(code) if is_status else 0
    return status if 400 <= status <= 599 else 502


def _read_error(status: int, body: object) -> Completion:
    """Read an error's code and the parameter that it names; its words may be somebody's chat."""
    table = _table(body)
    # some servers send the error's fields without a table around them
    error = table.get("error", table)
    if isinstance(error, str):
        error = {"message": error}
    fields = _table(error)
    code = _text(fields.get("code"))
    kind = _text(fields.get("type"))
    hint = HINTS.get(kind) or HINTS.get(code, "")
    # payment required: what OpenRouter and DeepSeek answer without credit
    if status == 402:
        hint = "hint_spent"
    words = _text(fields.get("message")).casefold()
    # servers at home name it only in words
    names_model = status == 404 and "model" in words
    if "model_not_found" in {code, kind}:
        names_model = True
    parameter = _named_parameter(fields.get("param"), words)
    return Completion(
        status,
        hint=hint,
        parameter=parameter,
        names_model=names_model,
    )


def _named_parameter(param: object, words: str) -> str:
    """Return the parameter that an error names, in its field `param` or in its text, or ""."""
    known = (LIMIT, NEW_LIMIT, *OPTIONAL)
    # "response_format.json_schema" names a field of it
    name, _, _ = _text(param).partition(".")
    if name in {*known, "response_format"}:
        return name
    # before the others: "response_format" errors may name a whole schema
    if any(word in words for word in FORMAT_WORDS):
        return "response_format"
    # The first one: "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'".
    first = re.search(rf"\b(?:{'|'.join(known)})\b", words)
    return first[0] if first else ""


def _usage(usage: object) -> TokenUsage:
    written = _count(usage, "completion_tokens")
    thoughts = _count(usage, "completion_tokens_details", "reasoning_tokens")
    answer_tokens = written
    if written is not None and thoughts:
        # thoughts are a part of `completion_tokens`, and are counted by themselves here
        answer_tokens = max(0, written - thoughts)
    return TokenUsage(
        input=_count(usage, "prompt_tokens"),
        cached=_count(usage, "prompt_tokens_details", "cached_tokens"),
        output=answer_tokens,
        thoughts=thoughts,
    )


def _count(table: object, *path: str) -> int | None:
    """Return a count of tokens; None if there is none, or one that cannot be."""
    count = table
    for name in path:
        count = _table(count).get(name)
    # True is an int as well
    if not isinstance(count, int):
        return None
    if isinstance(count, bool):
        return None
    return count if 0 <= count <= LARGEST_COUNT else None
