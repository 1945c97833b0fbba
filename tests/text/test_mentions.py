"""People are ids in stored texts."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forgetmenot.text.mentions import defang, ids_in, mention, show


def test_a_mention_is_shown_by_its_current_name() -> None:
    text = f"{mention('42')} raided {mention('7')} and {mention('42')}"
    assert ids_in(text) == ("42", "7")
    assert show(text, {"42": "alice"}) == "alice raided somebody and alice"


def test_a_provisional_id_can_be_mentioned() -> None:
    assert ids_in(mention("login:alice")) == ("login:alice",)


@pytest.mark.parametrize("bad", ["", "a b", "4>2", "x" * 65])
def test_what_is_no_id_is_refused(bad: str) -> None:
    with pytest.raises(ValueError, match="id"):
        mention(bad)


@settings(max_examples=200)
@given(st.text(alphabet=st.sampled_from("<＜@＠42> a"), max_size=30) | st.text(max_size=40))
def test_foreign_text_mentions_nobody(text: str) -> None:
    assert ids_in(defang(text)) == ()


def test_a_name_that_stands_for_somebody_else_is_shown_behind_an_at() -> None:
    names = {"1": "You", "2": "somebody", "3": "alice", "4": "уou"}
    assert (
        show("<@1> told <@2>, <@3> and <@4>; <@5> left", names) == "@You told @somebody, alice and @уou; somebody left"
    )
