"""A model of rules, without network or key, that reads the same prompts and answers in the same shapes.

It keeps the memory working where no model is configured, and says nothing rather than something silly. The same
request always gets the same answer. It spends no tokens.
"""

import asyncio
import json
import re
from collections.abc import Mapping
from itertools import zip_longest
from typing import Any

from forgetmenot.domain.model import ModelAnswer, ModelRequest, Purpose, TokenUsage
from forgetmenot.llm.offline.answer import answer
from forgetmenot.text.mentions import fenced
from forgetmenot.text.statement_rules import MOST_WORDS, NOTHING, SENTENCE_END, extract, sentences_that_fit, summary

_EMPTY: Mapping[str, object] = {"array": [], "object": {}, "integer": 0, "number": 0.0, "boolean": False, "string": ""}


class Offline:
    """A LanguageModel of rules. `name` is what the meter and the telemetry call it."""

    name = "offline"

    async def generate(self, request: ModelRequest) -> ModelAnswer:
        """Answer by purpose; never an error."""
        text = await asyncio.to_thread(_text, request)  # a long window takes longer than the loop may be held
        return ModelAnswer(text, self.name, TokenUsage(0, 0, 0, 0))

    async def aclose(self) -> None:
        """Nothing to close."""


def _text(request: ModelRequest) -> str:
    if request.purpose is Purpose.REPLY:
        return json.dumps(answer(request.system, request.prompt, request.language), ensure_ascii=False)
    if request.purpose is Purpose.EXTRACT:
        return extract(request.prompt)
    data = "\n".join(fenced(request.prompt).values()) or request.prompt
    return _shaped(summary(data) if request.purpose is Purpose.SUMMARY else recap(data), request.schema)


def recap(text: str) -> str:
    """A recap of several summaries, one a line: the first sentences of each in turn."""
    bare = [re.sub(r"\A\s*(?:[-*•]|\[[^\]]*\]|\([^)]*\)|\d+[.:])\s*", "", line) for line in text.splitlines()]
    sentences = [one for row in zip_longest(*map(SENTENCE_END.split, bare)) for one in row if one and one != NOTHING]
    return sentences_that_fit(dict.fromkeys(sentences), MOST_WORDS // 2) or "A quiet stream."


def _shaped(text: str, schema: Mapping[str, Any] | None) -> str:
    """The text as the schema wants it: in its first text field, with nothing in whatever else is required."""
    if not schema:
        return text
    kinds = {name: str(field.get("type")) for name, field in (schema.get("properties") or {}).items()}
    name = next((name for name, kind in kinds.items() if kind == "string"), "text")
    rest = {key: _EMPTY.get(kinds.get(key, "")) for key in schema.get("required", ()) if key != name}
    return json.dumps({name: text, **rest}, ensure_ascii=False)
