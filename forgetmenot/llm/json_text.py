"""What models put around the JSON they were asked for, taken off again. Pure."""

import json
import re

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
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False
