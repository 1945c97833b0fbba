"""Sizes and cuts."""

from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from forgetmenot.prompt.budget import bytes_for, clip, estimate


def test_three_bytes_are_a_token() -> None:
    assert estimate("") == 0
    assert estimate("abc") == 1
    assert estimate("abcd") == 2
    assert estimate("日本") == 2
    assert estimate("abc" * 100, 1.5) == 150


def test_a_cut_is_shown() -> None:
    assert clip("hello world", 11) == "hello world"
    assert clip("hello world", 9) == "hello…"
    assert clip("hello", 2) == ""


@given(st.text(), st.text(), st.integers(0, 60), st.floats(0.3, 3))
@hypothesis_settings(max_examples=150, deadline=None)
def test_parts_never_estimate_below_the_whole(a: str, b: str, most: int, factor: float) -> None:
    assert estimate(a + b, factor) <= estimate(a, factor) + estimate(b, factor)
    cut = clip(a + b, most)
    assert len(cut.encode("utf-8", "replace")) <= most
    assert estimate("x" * bytes_for(most, factor), factor) <= most
