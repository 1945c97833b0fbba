"""Removes what models write around the JSON they were asked for. Pure."""

import json
import re
from typing import Any

_THOUGHT = re.compile(r"\A\s*<think>.*?</think>\s*", re.DOTALL)
_CODE = re.compile(r"\A\s*```[a-zA-Z]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)


def without_thought(text: str) -> str:
    """The text without a leading `<think>…</think>`, as small local models write it."""
    return _THOUGHT.sub("", text, count=1)


def unwrapped(text: str) -> str:
    """The text without a Markdown code fence around the whole of it."""
    found = _CODE.match(text)
    return found[1] if found else text.strip()


def is_json_object(text: str) -> bool:
    """Whether the text is one JSON object."""
    return json_object(text) is not None


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object that the text is; None if it is none."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None
