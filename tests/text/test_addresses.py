"""Web addresses, commands and blocked words are found; ordinary words stay."""

from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.text.mentions import has_link, without_addresses
from forgetmenot.text.outgoing import without_command

ADDRESSES = """evil.zip/abc evil.cc _https://evil.zip/x 1.2.3.4/x 1.2.3.4 evil。com evil.com:8080 http:/evil.zip t.co
evil․com evil.ｃom ｗｗｗ.x bob@evil.com 😀evil.com evil_.com (evil.cc) //x evil.js/x evil.com.js xn--e1a.xn--p1ai"""
WORDS = """... e.g. i.e. 3.5 3.5k 1.5hrs v1.2 1.2.3 v1.2.3-rc1 Node.js (Vue.js). a.k.a. U.S.A. S.T.A.L.K.E.R.
10:30. well...yes wait..what です。ok and/or 12.5% a.m. :/ .NET config.ini"""
PARTED = {
    "drums.You too": "drums. You too", "evil.Com": "evil. Com", "Dr.Who": "Dr. Who", "1.First": "1. First",
}  # fmt: skip


def test_an_address_is_taken_out_and_a_word_with_a_dot_stays() -> None:
    assert {without_addresses(f"see {address} now") for address in ADDRESSES.split()} == {"see now"}
    kept = [f"see {word} now" for word in WORDS.split()]
    assert [without_addresses(text) for text in kept] == kept
    assert {text: without_addresses(text) for text in PARTED} == PARTED  # a forgotten space is put in


LINKS = (
    *("https://evil.zip", "see evil.com now", "www.evil", "EVIL.GG/x", "sub.evil.tv/abc?d", "evil dot com"),
    *("evil (dot) gg", "hxxps evil"),
)
TALK = ("plays drums", "e.g. tea", "3.14", "a dot on the map", "node.js", "dot matrix", "")


def test_a_link_is_one_however_it_is_spelt() -> None:
    assert [text for text in LINKS + TALK if has_link(text)] == list(LINKS)


@given(st.text(alphabet="a1B.-_/:。 ｃé", max_size=60))
def test_twice_is_once_and_nothing_is_left(text: str) -> None:
    once = without_addresses(text)
    assert without_addresses(once) == once
    assert "//" not in once


@given(st.text(max_size=60))
def test_twice_is_once(text: str) -> None:
    assert without_command(without_command(text)) == without_command(text)
    assert not without_command(text).startswith(("/", "!", "."))
