"""What models wrap their JSON in."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forgetmenot.llm.json_text import is_json_object, unwrapped, without_thought


@pytest.mark.parametrize("text", ['{"a": 1}', '```json\n{"a": 1}\n```', '```\n{"a": 1}\n```\n', ' {"a": 1}\n'])
def test_a_code_fence_around_the_whole_is_taken_off(text: str) -> None:
    assert unwrapped(text) == '{"a": 1}'


def test_a_code_fence_inside_stays() -> None:
    assert unwrapped("before ```x``` after") == "before ```x``` after"


def test_a_leading_thought_is_taken_off_and_an_open_one_stays() -> None:
    assert without_thought("<think>hm\nhm</think>\nhello") == "hello"
    assert without_thought("<think>hm") == "<think>hm"


def test_only_an_object_counts() -> None:
    assert [is_json_object(t) for t in ('{"a": []}', "[]", "{", "", "[" * 100_000)] == [
        True,
        False,
        False,
        False,
        False,
    ]


@settings(max_examples=100)
@given(st.text())
def test_nothing_raises(text: str) -> None:
    unwrapped(without_thought(text))
    is_json_object(text)
