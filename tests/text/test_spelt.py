"""A phrase is found however it is spelt, and not where it only happens to stand."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forgetmenot.text.spelt import without_phrase


@pytest.mark.parametrize(
    "spelt",
    [
        "badword",
        "bad-word",
        "bad_word",
        "bad word",
        "b4dword",
        "b@dword",
        "b a d w o r d",
        "BÁDWORD",
        "baaadword",
        "badwоrd",
        "bad\u200bword",
        "ba*dw*ord",
        "xbadwordy",
        "b.a.d.w.o.r.d",
        "𝐛𝐚𝐝word",
    ],
)
def test_it_is_found(spelt: str) -> None:
    assert without_phrase(f"so {spelt} it is", "badword") == "so … it is"


@pytest.mark.parametrize("text", ["class", "club adventure", "as if", "455 points", "a sass", "4$$"])
def test_a_short_one_is_only_found_as_words(text: str) -> None:
    assert without_phrase(without_phrase(text, "ass"), "bad") == text


@pytest.mark.parametrize("spelt", ["ass", "a$$", "@ss", "a s s", "a-s-s"])
def test_a_short_one_is_found_behind_signs(spelt: str) -> None:
    assert without_phrase(f"an {spelt} here", "ass") == "an … here"


def test_marks_around_a_word_stay() -> None:
    assert without_phrase("badword! (badword), @badword.", "badword") == "…! (…), …."
    assert without_phrase("evil, phrase", "evil phrase") == "…"
    assert without_phrase("it is 420 now", "420") == "it is … now"
    assert without_phrase("nothing", "!?") == "nothing"


@given(st.text(alphabet="bad4@!- …wórd", max_size=60))
@settings(max_examples=200, deadline=None)
def test_twice_is_once(text: str) -> None:
    once = without_phrase(text, "bad")
    assert without_phrase(once, "bad") == once
