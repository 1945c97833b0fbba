"""Removes what models write around the JSON they were asked for. Pure."""

import json
import re
from typing import Any

_THOUGHT = re.compile(r"\A(?:\s*<think>)?.*?</think>\s*", re.DOTALL)


def without_thought(text: str) -> str:
    """The text without a leading `<think>…</think>`, as small local models write it, with or without its first tag."""
    return _THOUGHT.sub("", text, count=1)


def unwrapped(text: str) -> str:
    """The JSON object in a text: without a code fence, a greeting or a remark around it; the text where there is none.

    Of an object that was cut off, what there is of it.
    """
    start = text.find("{")
    while start >= 0:
        try:
            value, end = json.JSONDecoder().raw_decode(text, start)
        except (ValueError, RecursionError):
            break
        if isinstance(value, dict):
            return text[start:end]
        start = text.find("{", end)
    return text[text.find("{") :].strip() if start >= 0 else text.strip()


def json_object(text: str) -> dict[str, Any] | None:
    """The JSON object that the text is; None if it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
