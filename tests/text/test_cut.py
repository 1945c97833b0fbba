"""A cut text ends with a whole word."""

from hypothesis import given, settings
from hypothesis import strategies as st

from forgetmenot.text.cut import cut


def test_no_name_is_halved() -> None:
    for most in range(4, 12):
        assert cut("hey @user12 hi", most) in {"hey ", "hey @user12"}
    assert cut("hey @user12 hi", 12) == "hey @user12 "
    assert cut("a" * 900, 500) == "a" * 500
    assert cut("short", 500) == "short"


@given(st.text(max_size=80), st.integers(0, 60))
@settings(max_examples=150, deadline=None)
def test_it_is_a_beginning_and_short(text: str, most: int) -> None:
    assert text.startswith(cut(text, most))
    assert len(cut(text, most)) <= most
