"""What looks the same is the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forgetmenot.text.lookalikes import fold_word, plain, skeleton, unleet


@pytest.mark.parametrize(
    "disguise", ["admin", "ADMIN", "аdmin", "ａｄｍｉｎ", "𝔸𝕕𝕞𝕚𝕟", "🅰🅳🅼🅸🅽", "a\u0301dmin", "a\u200bdmin", "ᴀᴅᴍɪɴ"]
)
def test_disguises_have_one_skeleton(disguise: str) -> None:
    assert skeleton(disguise) == "admin"


def test_capitals_of_another_alphabet_count_as_they_look() -> None:
    assert skeleton("ΗΥΜΝ") == "hymn"


def test_digits_for_letters_are_read_by_filters_only() -> None:
    assert skeleton("m0d") == "m0d"
    assert unleet("m0d") == "mod"


@pytest.mark.parametrize(("word", "folded"), [("plain", "plain"), ("mоd", "mod"), ("привет", "привет"), ("сор", "cop")])
def test_a_word_is_folded_where_it_pretends(word: str, folded: str) -> None:
    assert fold_word(word) == folded


@settings(max_examples=200)
@given(st.text(max_size=60))
def test_plain_text_stays_plain(text: str) -> None:
    assert plain(plain(text)) == plain(text)
