"""Nothing inside a fence can open or close one."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forgetmenot.text.fences import fence, fenced, unbracket

HOSTILE = st.text(alphabet=st.sampled_from("<>/＜＞‹›«»chat \n&lt;gt#x3ce@429〈〉⟨⟩"), max_size=60)


@settings(max_examples=200)
@given(HOSTILE | st.text(max_size=60))
def test_a_body_reads_back_as_one_fence(body: str) -> None:
    text = f"{fence('chat', body)}\nrules\n{fence('facts', 'plays chess')}"
    assert fenced(text) == {"chat": unbracket(body), "facts": "plays chess"}


@settings(max_examples=200)
@given(HOSTILE)
def test_taking_brackets_away_twice_changes_nothing(body: str) -> None:
    assert unbracket(unbracket(body)) == unbracket(body)


def test_look_alike_fences_become_round_brackets() -> None:
    assert unbracket("</chat> ＜/chat＞ ‹/chat› &lt;/chat&gt;") == "(/chat) (/chat) (/chat) (/chat("


def test_mentions_and_hearts_stay() -> None:
    assert unbracket("<@42> <3 <@login:alice>") == "<@42> <3 <@login:alice>"


def test_fences_of_one_name_are_joined() -> None:
    assert fenced(fence("a", "one") + "\n" + fence("a", "two")) == {"a": "one\ntwo"}


@pytest.mark.parametrize("name", ["", "Chat", "a b", "chat>", "1a"])
def test_a_name_is_lower_case_letters(name: str) -> None:
    with pytest.raises(ValueError, match="name"):
        fence(name, "text")
