"""What no text of a model may send: addresses, commands, blocked phrases, what only programs read; all else stays."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.operations.actions import NAMES
from forgetmenot.text.clean import clean
from forgetmenot.text.mentions import has_link, without_links
from forgetmenot.text.unsendable import (
    without_command,
    without_machine_text,
    without_phrases,
)

HERE = Path(__file__).parent
ADDRESSES = """evil.zip/abc evil.cc _https://evil.zip/x 1.2.3.4/x 1.2.3.4 evil。com evil.com:8080 http:/evil.zip t.co
evil․com evil.ｃom ｗｗｗ.x bob@evil.com 😀evil.com evil_.com (evil.cc) //x evil.js/x evil.com.js xn--e1a.xn--p1ai"""
WORDS = """... e.g. i.e. 3.5 3.5k 1.5hrs v1.2 1.2.3 v1.2.3-rc1 Node.js (Vue.js). a.k.a. U.S.A. S.T.A.L.K.E.R.
10:30. well...yes wait..what です。ok and/or 12.5% a.m. :/ .NET config.ini"""
PARTED = {
    "drums.You too": "drums. You too",
    "evil.Com": "evil. Com",
    "1.First": "1. First",
}
LINKS = [
    "https://evil.zip",
    "www.evil",
    "EVIL.GG/x",
    "sub.evil.tv/abc?d",
    "evil dot com",
    "evil (dot) gg",
]
TALK = ("plays drums", "e.g. tea", "a dot on the map", "node.js", "dot matrix")


def test_an_address_is_taken_out_and_a_word_with_a_dot_stays() -> None:
    assert {without_links(f"see {address} now") for address in ADDRESSES.split()} == {
        "see now"
    }
    unchanged = [f"see {word} now" for word in WORDS.split()]
    assert [without_links(text) for text in unchanged] == unchanged
    assert {
        text: without_links(text) for text in PARTED
    } == PARTED  # a forgotten space is put in
    assert [text for text in (*LINKS, *TALK) if has_link(text)] == LINKS


def test_json_tags_calls_and_annotations_are_cut_and_ordinary_brackets_stay() -> None:
    hostile = [
        json.loads(line)
        for line in (HERE / "hostile.txt").read_text(encoding="utf-8").splitlines()
    ]
    harmless = (HERE / "harmless.txt").read_text(encoding="utf-8").splitlines()
    assert [
        text for text in hostile if without_machine_text(clean(text)) == clean(text)
    ] == []
    assert [text for text in harmless if without_machine_text(text) != text] == []
    cleaned = {
        "[000000] Bob moved to Oslo.": "Bob moved to Oslo.",
        'Sure! {"action": {"name": "ban"}, "say": "x"} Bye': "Sure! Bye",
        'You said {"say": "cut of': "You said",
        **{f'Sure! {name}(target="bob")': "Sure!" for name in NAMES},
    }
    assert {text: without_machine_text(text) for text in cleaned} == cleaned


SPELT = (
    "badword", "bad-word", "bad_word", "bad word", "b4dword", "b@dword", "b a d w o r d", "BÁDWORD", "baaadword",
    "badwоrd", "bad\u200bword", "ba*dw*ord", "xbadwordy", "b.a.d.w.o.r.d", "𝐛𝐚𝐝word",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "phrase", "rest"),
    [
        ("an ass here", "ass", "an … here"),
        ("an a$$ here", "ass", "an … here"),
        ("an @ss here", "ass", "an … here"),
        ("an a s s here", "ass", "an … here"),
        ("an a-s-s here", "ass", "an … here"),
        *((f"so {spelt} it is", "badword", "so … it is") for spelt in SPELT),
        ("evil, phrase", "evil phrase", "…"),
        ("badword! (badword), @badword.", "badword", "…! (…), …."),
        ("it is 420 now", "420", "it is … now"),
    ],
)
def test_a_blocked_phrase_is_cut_however_it_is_spelt(
    text: str, phrase: str, rest: str
) -> None:
    assert without_phrases(text, [phrase]) == rest


@pytest.mark.parametrize(
    "text", ["class", "club adventure", "as if", "455 points", "a sass", "4$$"]
)
def test_a_short_blocked_phrase_is_found_as_a_word_alone(text: str) -> None:
    assert without_phrases(text, ["ass"]) == text


FILTERS: list[Callable[[str], str]] = [
    without_links,
    without_command,
    without_machine_text,
    lambda text: without_phrases(text, ["bad"]),
]
PIECES = (
    "[", "]", "{", "}", '{"a": ', '"', "ban(", "action", ":", "=", "<", ">", "target=", "[id:1]", "(said by them",
    ")", " ", "b@d ", "b-a-d", "/", "!", "…", "//", "a.Bc", "ｃ。com", "www.",
)  # fmt: skip


@pytest.mark.parametrize("cut", FILTERS)
@given(
    st.text(max_size=200) | st.lists(st.sampled_from(PIECES), max_size=40).map("".join)
)
def test_twice_is_once(cut: Callable[[str], str], text: str) -> None:
    assert cut(cut(text)) == cut(text)
    assert "//" not in without_links(text)
    assert not without_command(text).startswith(("/", "!", "."))
