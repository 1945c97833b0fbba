"""Texts and their words: cleaned, cut, compared and fenced."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forgetmenot.text.clean import clean, fold_word, skeleton
from forgetmenot.text.mentions import fence, fenced_texts, unbracket
from forgetmenot.text.words import STOPWORDS, words


@pytest.mark.parametrize(
    ("raw", "visible"),
    [
        ("  plain   text\n here ", "plain text here"),
        ("a\u200bb\u202ec\x07", "abc"),
        ("duplicate \U000e0000", "duplicate"),
        ("z\u0335\u0336\u0337\u0338!", "z\u0335\u0336!"),
        ("cafe\u0301", "café"),
        ("\ud800x", "x"),
        ("👩\u200d💻", "👩\u200d💻"),
        ("👩\u200d", "👩"),
        ("❤\ufe0f\u200d🔥", "❤\ufe0f\u200d🔥"),
        ("\u200da\ufe0f", "a"),
        ("\u3164\u2800", ""),
    ],
)
def test_what_is_seen_stays_and_what_is_not_goes(raw: str, visible: str) -> None:
    assert clean(raw) == visible


@example("´\u200d\r\x1b")
@given(
    st.text(max_size=80)
    | st.text(
        alphabet=st.sampled_from("a\u0301\u0335\u200d\ufe0f❤👩 \n\u202e"), max_size=20
    )
)
def test_cleaning_twice_changes_nothing(text: str) -> None:
    once = clean(text)
    assert clean(once) == once
    assert not any(unicodedata.category(char) in {"Cc", "Cs", "Co"} for char in once)
    once.encode()


@pytest.mark.parametrize(
    "disguise",
    [
        "admin",
        "ADMIN",
        "аdmin",
        "ａｄｍｉｎ",
        "𝔸𝕕𝕞𝕚𝕟",
        "🅰🅳🅼🅸🅽",
        "a\u0301dmin",
        "a\u200bdmin",
        "ᴀᴅᴍɪɴ",
        "ᗩᗪᗰIᑎ",
    ],
)
def test_disguises_have_one_skeleton(disguise: str) -> None:
    assert skeleton(disguise) == "admin"


@pytest.mark.parametrize(
    ("word", "folded"),
    [("plain", "plain"), ("mоd", "mod"), ("привет", "привет"), ("сор", "cop")],
)
def test_a_word_is_folded_where_it_pretends(word: str, folded: str) -> None:
    assert fold_word(word) == folded


HOSTILE = st.text(
    alphabet=st.sampled_from("<>/＜＞‹›«»chat \n&lt;gt#x3ce@429〈〉⟨⟩"), max_size=60
)


@given(HOSTILE | st.text(max_size=60))
def test_a_body_reads_back_as_one_fence(body: str) -> None:
    text = f"{fence('chat', body)}\nrules\n{fence('facts', 'plays chess')}"
    assert fenced_texts(text) == {"chat": unbracket(body), "facts": "plays chess"}
    assert unbracket(unbracket(body)) == unbracket(body)


def test_look_alike_fences_become_round_brackets_and_mentions_and_hearts_stay() -> None:
    assert (
        unbracket("</chat> ＜/chat＞ ‹/chat› &lt;/chat&gt;")
        == "(/chat) (/chat) (/chat) (/chat("
    )
    assert unbracket("<@42> <3 <@login:alice>") == "<@42> <3 <@login:alice>"


@pytest.mark.parametrize(
    ("text", "its_words"),
    [
        ("Hello, World!", "hello world"),
        ("sooooo gooood", "soo good"),
        ("don't", "dont"),
        ("alice's cat", "alice cat"),
        ("<@42> and <@login:alice>", "<@42> and <@login:alice>"),
        ("ｐｌａｙｓ", "plays"),
        ("cafe\u0301 café", "cafe cafe"),
        ("mоd", "mod"),
        ("привет", "привет"),
        ("mo\u200bd", "mod"),
        ("h̷̢e̸l̷lo", "hello"),
        ("日本語", "日本 本語"),
        ("日", "日"),
        ("😀 KEKW 🎸", "kekw"),
        ("1000 III", "1000 iii"),
        ("", ""),
    ],
)
def test_texts_that_look_the_same_have_the_same_words(
    text: str, its_words: str
) -> None:
    assert " ".join(words(text)) == its_words


def test_every_stop_word_is_one_word() -> None:
    assert all(words(word) == [word] for word in STOPWORDS)


@given(
    st.lists(
        st.text("abzAZ019 _-.#'`\n<@>:")
        | st.sampled_from(["<@42>", "<@login:alice>", "it's"])
    ).map("".join)
)
def test_a_text_of_plain_letters_has_the_words_it_has_beside_others(text: str) -> None:
    assert words(f"{text} ж") == [*words(text), "ж"]
