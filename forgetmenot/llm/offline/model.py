"""A model without a network or a key: deterministic rules that read the same prompts and answer in the same forms.

It shows the whole road, keeps the memory working where no model is configured, and says that it is offline. The same
request always gets the same answer. What the rules are: `summary`, `extract` and `answer` beside it.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from forgetmenot.domain.model import ModelAnswer, ModelRequest, Purpose, TokenUsage
from forgetmenot.llm.offline.answer import answer
from forgetmenot.llm.offline.extract import extract
from forgetmenot.llm.offline.summary import recap, summary
from forgetmenot.text.fences import fenced

BYTES_PER_TOKEN = 3


class Offline:
    """A LanguageModel of rules."""

    @property
    def name(self) -> str:
        """What the meter and the telemetry call it."""
        return "offline"

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer by purpose; never empty, never an error."""
        text = await asyncio.to_thread(_text, request)  # a long window takes longer than the loop may be held
        usage = TokenUsage(_tokens(request.system + request.prompt), None, _tokens(text), None)
        return ModelAnswer(text, self.name, usage)

    async def aclose(self) -> None:
        """Nothing to give back."""


def _text(request: ModelRequest) -> str:
    if request.purpose is Purpose.EXTRACT:
        return extract(request.prompt)
    if request.purpose is Purpose.SUMMARY:
        return _shaped(summary(_data(request.prompt)), request.schema)
    if request.purpose in {Purpose.RECAP, Purpose.DIGEST, Purpose.BRIEF}:
        return _shaped(recap(_data(request.prompt)), request.schema)
    return _shaped(answer(request.system, request.prompt), request.schema)


def _data(prompt: str) -> str:
    """What stands in the fences; all of it where there are none."""
    return "\n".join(fenced(prompt).values()) or prompt


def _shaped(text: str, schema: Mapping[str, Any] | None) -> str:
    """The text as the schema wants it: in its first text property, with the least of whatever else is required."""
    if not schema:
        return text
    properties: Mapping[str, Any] = schema.get("properties") or {}
    name = next((key for key, value in properties.items() if value.get("type") == "string"), "text")
    rest = {key: _least(properties.get(key, {})) for key in schema.get("required", ()) if key != name}
    return json.dumps({name: text, **rest}, ensure_ascii=False)


def _least(schema: Mapping[str, Any]) -> object:
    least: Mapping[str, object] = {
        "array": [],
        "object": {},
        "integer": 0,
        "number": 0.0,
        "boolean": False,
        "string": "",
    }
    return least.get(str(schema.get("type")))


def _tokens(text: str) -> int:
    return -(-len(text.encode()) // BYTES_PER_TOKEN)
