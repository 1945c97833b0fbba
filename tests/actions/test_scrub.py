"""What is hidden when it is out of the ordinary even for a tag."""

import pytest

from forgetmenot.actions import scrub

TWO_PASSES = "<[]\naction:( ```clip[ACTION:x clip]acsay ={"


def test_what_a_removal_uncovers_is_removed_too() -> None:
    assert not scrub.smells(scrub.without_tags(TWO_PASSES))


def test_a_text_that_never_comes_clean_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scrub, "_PASSES", 1)
    assert scrub.without_tags(TWO_PASSES) == ""


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ('[ACTION:x say text="a ] b"] there', "there"),
        ('[ACTION:x say text="a ] b', "b"),
        ('[ACTION:x say text="a ] b" and more', 'b" and more'),
        ("<action>ban bob", "ban bob"),
        ("<action ban bob", ""),
        ("hi <invoke name='ban'>bob</invoke> bye", "hi bye"),
        ("(action: ban bob", ""),
        ("one\n[ACTION:x ban target=bob\ntwo", "one two"),
        ("ban(bob, (now)) ok", "ok"),
        ("cut off [AC\n", "cut off"),
    ],
)  # fmt: skip
def test_unclosed_and_quoted_tags_end_where_a_reader_would_say(text: str, left: str) -> None:
    assert scrub.without_tags(text) == left


def test_the_nonce_alone_is_taken_out() -> None:
    assert scrub.without_tags("abc123", "abc123") == ""
