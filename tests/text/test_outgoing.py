"""Links, words of the blocklist and commands leave no text."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forgetmenot.text.outgoing import has_link, without_command, without_links, without_phrases


@pytest.mark.parametrize(
    "text",
    [
        "https://evil.zip", "see evil.com now", "www.evil", "EVIL.GG/x", "sub.evil.tv/abc?d", "evil dot com",
        "evil (dot) gg", "hxxps evil",
    ],
)  # fmt: skip
def test_an_address_is_one_however_it_is_spelt(text: str) -> None:
    assert has_link(text)


@pytest.mark.parametrize("text", ["plays drums", "e.g. tea", "3.14", "a dot on the map", "node.js", "dot matrix", ""])
def test_talk_is_no_address(text: str) -> None:
    assert not has_link(text)


def test_what_goes_out_is_without_them() -> None:
    assert without_links("free skins at https://evil.zip and evil.com now") == "free skins at and now"
    assert without_command(" /ban bob") == "ban bob"
    assert without_phrases("a BAD word, badword", ["bad word"]) == "a …, …"


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=60))
def test_twice_is_once(text: str) -> None:
    assert without_command(without_command(text)) == without_command(text)
    assert without_links(without_links(text)) == without_links(text)
    assert not without_command(text).startswith(("/", "!", "."))
