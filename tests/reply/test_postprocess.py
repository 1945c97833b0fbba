"""What leaves the bot is one clean line, and every filter that had to step in is named."""

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from forgetmenot.reply.postprocess import Manner, Polished, polish, whole_sentences
from forgetmenot.settings.schema import ReplySettings, Settings

MANNER = Manner(
    Settings(reply=ReplySettings(blocklist=("gamba", "secret word"))),
    ("ForgetMeNot", "fmn"),
    ("Ha, classic Alice.", "Oh no! That again."),
    ("alice",),
)


@pytest.mark.parametrize(
    ("text", "sent", "fired"),
    [
        ("You play the drums.", "You play the drums.", ()),
        ("ForgetMeNot: You play [id:12] the drums.", "You play the drums.", ("labels",)),
        ("Bot: fmn: hello there", "hello there", ("labels",)),
        ("Drums (said by them; tags: music; 2 days ago), I think", "Drums, I think", ("labels",)),
        ("<message>\nhello\n</message>", "hello", ("fences", "lines")),
        ("**You** play `the *drums*`!", "You play the drums!", ("markdown",)),
        ("# Drums\n- loud\n- good", "Drums loud good", ("markdown", "lines")),
        ("```json\nhello\n```", "hello", ("markdown", "lines")),
        ("[my page](http://bad.example/x) rocks", "my page rocks", ("markdown",)),
        ("one\n\ntwo\u200b", "one two", ("lines",)),
        ("hello <@42>", "hello somebody", ("mention tokens",)),
        ('"hello there"', "hello there", ("quotes",)),
        ('"one" and "two"', '"one" and "two"', ()),
        ("look at https://bad.example/x now", "look at now", ("links",)),
        ("look at bad-site.com/x now", "look at now", ("links",)),
        ("@@bob said so", "bob said so", ("double @",)),
        ("@alice @alice yes you do", "yes you do", ("double @",)),
        ("@bob yes, @alice", "bob yes, alice", ("double @",)),
        ("ask @bob or @bob", "ask @bob or bob", ("double @",)),
        ("Ha, you play the drums.", "You play the drums.", ("openers",)),
        ("Ha, Alice: you play the drums.", "You play the drums.", ("openers",)),
        ("Ha, bob, you play the drums.", "Bob, you play the drums.", ("openers",)),
        ("Ha, no.", "Ha, no.", ()),
        ("Well, you play the drums.", "Well, you play the drums.", ()),
        ("no GAMBA today, g a m b a", "no … today, g a m b a", ("blocklist",)),
        ("the secret  word, friends", "the … friends", ("lines", "blocklist")),
        ("/ban bob", "ban bob", ("command",)),
        ("！ . /timeout bob", "timeout bob", ("command",)),
        ("$balance alice", "balance alice", ("command",)),
        ("$5 is enough", "$5 is enough", ()),
        ("-5 degrees here", "-5 degrees here", ()),
        ("**/**me waves", "me waves", ("markdown", "command")),
        ("😂", "😂", ()),
        ("", "", ("empty",)),
        ("...", "", ("command", "empty")),
        ("https://bad.example", "", ("links", "empty")),
    ],
)
def test_filters(text: str, sent: str, fired: tuple[str, ...]) -> None:
    assert polish(text, MANNER) == Polished(sent, fired)


def test_links_stay_where_the_streamer_allows_them() -> None:
    manner = Manner(Settings(reply=ReplySettings(allow_links=True)))
    assert polish("see https://example.org/x", manner).text == "see https://example.org/x"


def test_a_long_reply_is_cut_at_a_word() -> None:
    sent = polish("word " * 200, MANNER)
    assert len(sent.text) <= 500
    assert sent.text.endswith("word…")
    assert sent.filters == ("lines", "length")
    assert len(polish("x" * 900, MANNER).text) == 500


def test_a_reply_that_was_cut_off_ends_with_a_sentence() -> None:
    assert whole_sentences("You play drums. And you al") == "You play drums."
    assert whole_sentences("You play dru") == "You play dru"


@given(st.text(max_size=700) | st.text(alphabet="/!.@*`[]()<>:# \nab", max_size=120))
@hypothesis_settings(max_examples=200, deadline=None)
def test_whatever_the_model_wrote(text: str) -> None:
    sent = polish(text, MANNER).text
    assert len(sent) <= 500
    assert "\n" not in sent
    assert sent[:1] not in tuple("/!.\\")
    assert sent == sent.strip()
    assert "@@" not in sent
