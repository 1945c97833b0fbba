"""A text without one person, or without one fact: it cuts rather too much than too little, and invents nothing."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from forgetmenot.text.mentions import defang, ids_in, mention, with_names
from forgetmenot.text.removal import NameForms, fact_stems, without_fact, without_person

WITHOUT_ALICE = {
    "<@1> plays drums. They also sing. <@2> won.": "<@2> won.",
    "<@2> won. They were happy. <@1> lost.": "<@2> won. They were happy.",
    "<@1> and <@2> raced on Spa.": "<@2> raced on Spa.",
    "<@3>, <@2>, <@1> and <@4> met.": "<@3>, <@2> and <@4> met.",
    "<@1> plays drums, and <@2> adopted a cat.": "<@2> adopted a cat.",
    "<@2> raced while <@1> slept.": "<@2> raced.",
    "<@2> left; <@1> stayed.": "<@2> left.",
    "<@2> asked <@1> about drums.": "",
    "<@2> and <@1>'s cat met.": "",
    "<@1> plays drums and adopted a cat.": "",
    "Chat cheered. <@1>'s cat came in. Its tail was wet.": "Chat cheered. Its tail was wet.",
    "<@1>はドラムを叩く。<@2>が勝った。雨が降った。": "<@2>が勝った。雨が降った。",
}
PIECES = "<@1> <@2> <@3> and , while they plays drums . ; 's but cat Chat !"


def test_sentences_and_clauses_about_a_person_go() -> None:
    assert {text: without_person(text, "1") for text in WITHOUT_ALICE} == WITHOUT_ALICE


@given(st.lists(st.sampled_from(PIECES.split()), max_size=25))
def test_whatever_the_text_is_they_are_not_in_what_is_left(pieces: list[str]) -> None:
    text = " ".join(pieces)
    rest = without_person(text, "1")
    assert "1" not in ids_in(rest)
    assert set(ids_in(rest)) <= set(ids_in(text))
    assert len(rest) <= len(text)
    if "<@1>" not in text:
        assert rest == text
    assert without_person(rest, "1") == rest


def test_names_are_found_as_words_in_any_case() -> None:
    name_forms = NameForms("123456", ["alice_x", "Alïce"], (), ["malice_x", "Alice_XY"])
    assert name_forms.anonymized(
        "hey ALICE_X, @alice_x's and alïce; malice_x, alice_xy, <@123456>, id 123456"
    ) == (
        "hey somebody, somebody's and somebody; malice_x, alice_xy, somebody, id somebody"
    )
    assert name_forms.with_mentions("@Alice_X won") == "<@123456> won"
    king = NameForms(
        "42", ["king"], {"king"}
    )  # an everyday word is a name only behind an @
    assert (
        king.anonymized("@king is king, and 42 is a number")
        == "somebody is king, and 42 is a number"
    )


def test_a_name_that_is_no_word_is_found_inside_longer_ones() -> None:
    """An emote, a play on it, a script that parts no words: no byte of it stays."""
    name_forms = NameForms(
        "900017", ["kuromi_87", "くろみさん", "Tom"], (), ["Kuromi_870"]
    )
    assert name_forms.anonymized(
        "kuromi_87lol XKuromi_87x, @kuromi_87: くろみさんのねこ id900017x 9000170"
    ) == ("somebody somebody, somebody: somebodyのねこ idsomebodyx 9000170")
    assert (
        name_forms.anonymized("kuromi_870 @kuromi_870's, tomorrow the tomb")
        == "kuromi_870 @kuromi_870's, tomorrow the tomb"
    )
    assert (
        NameForms("1", ["くろみ"], (), ["くろみさん"]).anonymized("くろみさんと くろみ")
        == "くろみさんと somebody"
    )
    assert NameForms("1", ["猫"], ()).anonymized("子猫と 猫") == "子猫と somebody"
    assert (
        NameForms("1", ["12345", "ab1"], ()).anonymized("123456 ab12 12345 ab1")
        == "123456 ab12 somebody somebody"
    )


def test_only_what_says_the_fact_about_its_subject_goes() -> None:
    remaining = {
        "<@1> plays drums. <@2> plays drums.": "<@2> plays drums.",
        "<@1> said hi. They play the drums in a band.": "<@1> said hi.",
        "<@1> lives in Oslo.": "<@1> lives in Oslo.",
    }
    assert {
        text: without_fact(text, "1", "plays drums") for text in remaining
    } == remaining
    assert without_fact("<@1> is it.", "1", "is it") == "<@1> is it.", (
        "nothing but small words"
    )
    assert fact_stems("is it") == frozenset()


def test_a_mention_is_shown_by_its_current_name() -> None:
    text = f"{mention('42')} raided {mention('7')} and {mention('42')}"
    assert ids_in(text) == ("42", "7")
    assert with_names(text, {"42": "alice"}) == "alice raided somebody and alice"
    names = {
        "1": "You",
        "2": "somebody",
        "3": "alice",
        "4": "уou",
    }  # who stands for somebody else has an @
    visible_text = "@You told @somebody, alice and @уou; somebody left"
    assert with_names("<@1> told <@2>, <@3> and <@4>; <@5> left", names) == visible_text
    for bad in ("", "a b", "4>2", "x" * 65):
        with pytest.raises(ValueError, match="id"):
            mention(bad)


@given(
    st.text(alphabet=st.sampled_from("<＜@＠42> a"), max_size=30) | st.text(max_size=40)
)
@example("<@42> ＜@42> <＠42>")
def test_foreign_text_mentions_nobody(text: str) -> None:
    assert ids_in(defang(text)) == ()
