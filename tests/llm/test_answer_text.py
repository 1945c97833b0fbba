"""Of a model's text only the answer is left: no thought, no fence, no greeting."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.llm.answer_text import (
    ends_with_object,
    json_object,
    unwrapped,
    visible_text,
)

SECRET = "alice is afraid of spiders"
ANSWER = "Hello bob."

# As they were reported of real servers and models.
WITH_A_THOUGHT = [
    f"<think>{SECRET}</think>{ANSWER}",
    f"<think>\n{SECRET}\n</think>\n\n<think>{SECRET}</think>{ANSWER}",
    f"{SECRET}\n</think>\n{ANSWER}",
    f"<thinking>{SECRET}</thinking>\n{ANSWER}",
    f"<THINK>{SECRET}</THINK>{ANSWER}",
    f"<thought>{SECRET}</thought>{ANSWER}",
    f"[THINK]{SECRET}[/THINK]{ANSWER}",
    f"◁think▷{SECRET}◁/think▷{ANSWER}",
    (
        f"<|channel|>analysis<|message|>{SECRET}<|end|><|start|>assistant"
        f"<|channel|>final<|message|>{ANSWER}<|return|>"
    ),
    (
        f"<|channel|>analysis<|message|>{SECRET}<|end|><|start|>assistant"
        f"<|channel|>final <|constrain|>json<|message|>{ANSWER}"
    ),
    f"<|channel>thought\n{SECRET}<channel|>{ANSWER}",
    f"analysis{SECRET.capitalize()}.assistantfinal{ANSWER}",
    f"analysis {SECRET}. assistantfinal{ANSWER}",
]


@pytest.mark.parametrize("text", WITH_A_THOUGHT)
def test_only_the_answer_is_left(text: str) -> None:
    assert visible_text(text) == ANSWER


@pytest.mark.parametrize(
    "text",
    [
        f"<think>{SECRET}",
        f"<thinking>{SECRET} and </think",
        f"[THINK]{SECRET}",
        f"◁think▷{SECRET}",
        f"<|channel|>analysis<|message|>{SECRET}",
        f"<|start|>assistant{SECRET}",
        f"<|channel>thought {SECRET}",
        f"analysis{SECRET.capitalize()}",
        f"<|reserved_7|>{SECRET}<|reserved_8|>{ANSWER}",
    ],
)
def test_what_cannot_be_told_from_a_thought_is_not_said(text: str) -> None:
    assert visible_text(text) == ""


@pytest.mark.parametrize(
    "text",
    [
        ANSWER,
        "I think so.",
        "analysis of your run: it was fast.",
        "a < b and b > c",
        "Press [Enter] to start.",
        "final answer: 42",
    ],
)
def test_ordinary_words_stay(text: str) -> None:
    assert visible_text(text) == text
    assert visible_text(f"{text}<|im_end|>") == text
    assert visible_text(f"{text}</s>") == text


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ('{"a": 1}', '{"a": 1}'),
        ('Sure! Here is the JSON:\n```json\n{"a": 1}\n```\nAnything else?', '{"a": 1}'),
        ('A draft: {"a": 1}. Better: {"a": 2}', '{"a": 2}'),
        ('{"a": 1} and a remark {"b": 2}', '{"a": 1}'),
        ('{"b": 1} {"c": 2}', '{"c": 2}'),
        ('{"a": {"a": 5}}', '{"a": {"a": 5}}'),
        ('I use {braces} and then {"a": 1}', '{"a": 1}'),
        ('```json\n{"a": "alice pl', '{"a": "alice pl'),
        (
            '{"a": "x", "b": {"a": 1}, "c": "cut o',
            '{"a": "x", "b": {"a": 1}, "c": "cut o',
        ),
        ("before ```x``` after", "before ```x``` after"),
    ],
)
def test_the_last_object_with_the_wanted_fields_is_the_answer(
    text: str, answer: str
) -> None:
    assert unwrapped(text, ["a"]) == answer


def test_an_object_in_a_thought_is_the_answer_only_at_its_end() -> None:
    draft = 'First {"a": 1}'
    assert ends_with_object(draft, ["a"]) == '{"a": 1}'
    assert ends_with_object(f"{draft} would be wrong, because", ["a"]) == ""
    assert ends_with_object(draft, ["b"]) == ""


@given(st.text(), st.text())
def test_no_text_raises(text: str, field: str) -> None:
    unwrapped(visible_text(text), [field])
    ends_with_object(text, [field])
    json_object(text)


@pytest.mark.parametrize(
    "text", ["{" * 300_000, '{"a":' * 100_000, "<think>" * 50_000, "{}" * 50_000]
)
def test_long_and_deep_texts_are_read_in_a_moment(text: str) -> None:
    unwrapped(visible_text(text), ["a"])
