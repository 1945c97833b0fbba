"""What models write around their answers: thoughts, code fences, greetings. Pure.

Guarantees:
- `visible_text` returns no word of a thought, and "" if thought and answer cannot be told apart.
- Of several JSON objects the last one with the required fields is the answer: earlier ones are
  drafts.
"""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any

from forgetmenot.domain import ModelRequest, Purpose
from forgetmenot.languages import Reason, reason

# How models mark a thought: the mark before it and the mark behind it.
_THOUGHT_MARKS = (
    (
        r"<(?:think|thinking|thought|reasoning)>",
        r"</(?:think|thinking|thought|reasoning)>",
    ),
    (r"\[THINK\]", r"\[/THINK\]"),
    (r"◁think▷", r"◁/think▷"),
    (r"<\|channel>thought", r"<channel\|>"),
)
# Harmony: `<|channel|>analysis<|message|>…<|end|>…<|channel|>final<|message|>…`.
_HARMONY_MARK = re.compile(r"<\|(?:channel|message|start)\|>")
_HARMONY_FINAL = re.compile(
    r"<\|channel\|>\s*final(?:[^<]|<\|constrain\|>)*<\|message\|>"
)
# The same where a server has dropped the marks: `analysisThey ask …assistantfinalHello.`
_BARE_ANALYSIS = re.compile(
    r"\Aanalysis(?=[A-Z\"“'(])|\Aanalysis\b(?=.*assistantfinal)", re.DOTALL
)
_BARE_FINAL = "assistantfinal"
# Marks of the end of an answer, which a server should have dropped.
_END_MARK = re.compile(
    r"(?:<\|(?:return|end|im_end|eot_id|endoftext|end_of_text)\|>|</s>|<end_of_turn>)+\s*\Z"
)
# A brace that begins an object, and not an aside in ordinary words.
_OBJECT_START = re.compile(r"\{\s*[\"}]")
_ANY_MARK = re.compile(r"<\|[^<>|]{0,40}\|>|<\|channel>|<channel\|>")


def visible_text(text: str) -> str:
    """Return what of a model's text is its answer, without its thoughts; "" if nothing is."""
    if _HARMONY_MARK.search(text):
        text = _after_last(_HARMONY_FINAL, text)
    elif _BARE_ANALYSIS.search(text):
        _, final_mark, answer = text.rpartition(_BARE_FINAL)
        text = answer if final_mark else ""
    for opening, closing in _THOUGHT_MARKS:
        text = _without_marked(text, opening, closing)
    text = _END_MARK.sub("", text).strip()
    # a mark that is left may separate a thought that nobody here knows of
    if _ANY_MARK.search(text):
        return ""
    return text


def is_thought(text: str) -> bool:
    """Return whether a text has words, and all of them are a thought."""
    return bool(text.strip()) and not visible_text(text)


def _after_last(pattern: re.Pattern[str], text: str) -> str:
    """Return what stands behind the last match; "" if there is none."""
    end = None
    for match in pattern.finditer(text):
        end = match.end()
    return "" if end is None else text[end:]


def _without_marked(
    text: str,
    opening: str,
    closing: str,
) -> str:
    """Return the text without what stands between these marks.

    A mark that opens and never closes hides the rest; one that closes and never opened hides what
    is before it, for some servers drop the first mark.
    """
    visible: list[str] = []
    start = 0
    hidden = False
    for mark in re.finditer(f"(?i)(?P<opening>{opening})|{closing}", text):
        if mark["opening"] is None:
            if not hidden:
                visible.clear()
            hidden = False
            start = mark.end()
        elif not hidden:
            visible.append(text[start : mark.start()])
            hidden = True
    if not hidden:
        visible.append(text[start:])
    return "".join(visible)


def json_object(text: str) -> dict[str, Any] | None:
    """Return the JSON object that the whole text is; None if it is none."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def unwrapped(text: str, required: Iterable[str] = ()) -> str:
    """Return the JSON object in a text, without a code fence, a greeting or a remark around it.

    Of several the last one that has the `required` fields, else the last one. Of an object that
    was cut off, what there is of it. The text itself if no object begins in it.
    """
    last = ""
    last_complete = ""
    fields = set(required)
    for source, value in _objects(text):
        last = source
        if fields <= value.keys():
            last_complete = source
    if last:
        return last_complete or last
    start = max(text.find("{"), 0)
    return text[start:].strip()


def ends_with_object(text: str, required: Iterable[str]) -> str:
    """Return the JSON object that a text ends with, if it has the required fields; "" otherwise."""
    source = unwrapped(text, required)
    value = json_object(source)
    if value is None:
        return ""
    if not set(required) <= value.keys():
        return ""
    _, _, rest = text.rpartition(source)
    # Behind it may be the end of a code fence.
    if rest.strip("` \n\t"):
        return ""
    return source


def _objects(text: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the outermost JSON objects of a text, each with its source.

    They end where one was cut off: what stands in it are its fields, not the answer.
    """
    decoder = json.JSONDecoder()
    start = _OBJECT_START.search(text)
    while start is not None:
        try:
            value, end = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            return
        yield text[start.start() : end], value
        start = _OBJECT_START.search(text, end)


def only_thought(model: str, request: ModelRequest) -> Reason:
    """Return the reason for an answer whose tokens all went on thinking, with the setting that raises their limit."""
    setting = "memory_output_tokens"
    if request.purpose is Purpose.REPLY:
        setting = "reply_output_tokens"
    return reason(
        "model_thought",
        model=model,
        most=request.max_output_tokens,
        setting=setting,
    )
