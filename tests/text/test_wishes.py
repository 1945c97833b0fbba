"""A wish is known by its form alone; talk is left alone."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from forgetmenot.text.wishes import Kind, Wish, wish_of


@pytest.mark.parametrize(
    ("line", "wish"),
    [
        ("!memory", Wish(Kind.MEMORY)),
        ("！memory @Bob", Wish(Kind.MEMORY, who="Bob")),
        ("!forget me", Wish(Kind.FORGET_ME)),
        ("!forgetme CONFIRM", Wish(Kind.FORGET_ME, confirmed=True)),
        ("!forgetme @bob confirm", Wish(Kind.FORGET_ME, who="bob", confirmed=True)),
        ("!optout", Wish(Kind.OPT_OUT)),
        ("!optin bob", Wish(Kind.OPT_IN, who="bob")),
        ("!privacy", Wish(Kind.PRIVACY)),
        ("!privacy? what do you keep of me", Wish(Kind.PRIVACY)),
        ("!optout please", Wish(Kind.OPT_OUT)),
        ("!optout!!", Wish(Kind.OPT_OUT)),
        ("!memory?", Wish(Kind.MEMORY)),
        ("!forgetme confirm.", Wish(Kind.FORGET_ME, confirmed=True)),
        ("!privacypolicy", None),
        ("!remember that I play drums", Wish(Kind.REMEMBER, text="I play drums")),
        ("!remember this about alice", Wish(Kind.REMEMBER_THIS, who="alice")),
        ("!remember that about me", Wish(Kind.REMEMBER_THIS)),
        ("!forget #12", Wish(Kind.FORGET, text="#12")),
        ("!wrong #12", Wish(Kind.WRONG, text="12")),
        ("!wrong 12 undo", Wish(Kind.WRONG, text="12", confirmed=True)),
        ("!remember", Wish(Kind.REMEMBER)),
        ("!forget", Wish(Kind.FORGET)),
        ("!forget everything about me", Wish(Kind.FORGET_ME)),
        ("!forget everything", Wish(Kind.FORGET_ME)),
        ("!forget everything please!", Wish(Kind.FORGET_ME)),
        ("!forget everything about trains", Wish(Kind.FORGET, text="everything about trains")),
        ("!wrong 12.", Wish(Kind.WRONG, text="12")),
        ("!wrong 12 undo please", Wish(Kind.WRONG, text="12", confirmed=True)),
        ("!wrong", None),
        ("!forgetful", None),
        ("!remembering", None),
        ("!memory of the day please", None),
        ("hello", None),
    ],
)
def test_commands(line: str, wish: Wish | None) -> None:
    assert wish_of(line) == wish


@pytest.mark.parametrize(
    ("said", "wish"),
    [
        ("remember that I play drums", Wish(Kind.REMEMBER, text="I play drums", spoken=True)),
        ("please remember I'm left-handed, thanks!", Wish(Kind.REMEMBER, text="I'm left-handed", spoken=True)),
        ("remember this about @alice", Wish(Kind.REMEMBER_THIS, who="alice", spoken=True)),
        ("forget that I play drums", Wish(Kind.FORGET, text="I play drums", spoken=True)),
        ("forget everything you know about me", Wish(Kind.FORGET_ME, spoken=True)),
        ("delete everything about me", Wish(Kind.FORGET_ME, spoken=True)),
        ("what do you know about me?", Wish(Kind.MEMORY, spoken=True)),
        ("what do you remember about @alice", Wish(Kind.MEMORY, who="alice", spoken=True)),
        ("remember that boss?", None),
        ("remember that time we lost", None),
        ("remember when I won", None),
        ("do you remember that I play drums", None),
        ("forget it", None),
        ("forget that", None),
        ("what do you know", None),
    ],
)
def test_the_same_said_to_the_bot(said: str, wish: Wish | None) -> None:
    assert wish_of(f"@bot {said}", said) == wish


@given(st.text(max_size=200), st.one_of(st.none(), st.text(max_size=200)))
@settings(max_examples=150)
def test_anything_may_be_typed(text: str, question: str | None) -> None:
    assert wish_of(text, question) is None or isinstance(wish_of(text, question), Wish)
