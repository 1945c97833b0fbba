"""Foreign text as one visible line."""

import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from forgetmenot.text.clean import clean


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ("  plain   text\n here ", "plain text here"),
        ("a\u200bb\u202ec\x07", "abc"),
        ("duplicate \U000e0000", "duplicate"),
        ("z\u0335\u0336\u0337\u0338!", "z\u0335\u0336!"),
        ("cafe\u0301", "café"),
        ("\ud800x", "x"),
        ("❤\ufe0f", "❤\ufe0f"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("👩\u200d", "👩"),
        ("❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"),
        ("\u200da\ufe0f", "a"),
        ("\u3164\u2800", ""),
        ("日本語", "日本語"),
    ],
)
def test_what_is_seen_stays_and_what_is_not_goes(raw: str, expected: str) -> None:
    assert clean(raw) == expected


@settings(max_examples=200)
@example("´\u200d\r\x1b")
@given(st.text(max_size=80) | st.text(alphabet=st.sampled_from("a\u0301\u0335\u200d\ufe0f❤👩 \n\u202e"), max_size=20))
def test_cleaning_twice_changes_nothing(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert not any(unicodedata.category(char) in {"Cc", "Cs", "Co"} for char in once)
    once.encode()
