"""Words, stems and trigrams."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forgetmenot.text.words import STOPWORDS, stem, stems, trigrams, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Hello, World!", ["hello", "world"]),
        ("sooooo gooood", ["soo", "good"]),
        ("don't", ["dont"]),
        ("alice's cat", ["alice", "cat"]),
        ("<@42> and <@login:alice>", ["<@42>", "and", "<@login:alice>"]),
        ("ｐｌａｙｓ", ["plays"]),
        ("cafe\u0301 café", ["cafe", "cafe"]),
        ("mоd", ["mod"]),
        ("привет", ["привет"]),
        ("mo\u200bd", ["mod"]),
        ("h̷̢e̸l̷lo", ["hello"]),
        ("日本語", ["日本", "本語"]),
        ("日", ["日"]),
        ("😀 KEKW 🎸", ["kekw"]),
        ("1000 III", ["1000", "iii"]),
        ("", []),
    ],
)
def test_texts_that_look_the_same_have_the_same_words(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_stems_join_inflections() -> None:
    assert stems("plays playing played") == ["play", "play", "play"]
    assert stem("speedrunning") == "speedrun"


def test_trigrams_mark_the_edges() -> None:
    assert trigrams("cat") == {" ca", "cat", "at "}
    assert trigrams("") == frozenset()


def test_stop_words_are_words_as_words_gives_them() -> None:
    assert all(words(word) == [word] for word in STOPWORDS)


@settings(max_examples=200)
@given(st.text(max_size=100))
def test_words_hold_no_space_and_no_capital(text: str) -> None:
    for word in words(text):
        assert word
        assert " " not in word
        assert word == word.casefold() or word.startswith("<@")


@given(st.lists(st.text("abzAZ019 _-.#'`\n<@>:") | st.sampled_from(["<@42>", "<@login:alice>", "it's"])).map("".join))
def test_a_text_of_plain_letters_has_the_words_it_has_beside_others(text: str) -> None:
    assert words(f"{text} ж") == [*words(text), "ж"]
