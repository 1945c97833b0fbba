"""What leaves the bot is one clean line, and every filter that had to step in is named."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.reply.postprocess import FilterContext, Polished, polish, tidy
from forgetmenot.reply.reply_object import whole_sentences
from forgetmenot.settings.schema import PrivacySettings, ReplySettings, Settings

CONTEXT = FilterContext(
    Settings(reply=ReplySettings(blocklist=("gamba", "secret word"))),
    ("ForgetMeNot", "fmn"),
    ("Ha, classic Alice.", "Oh no! That again."),
    ("alice",),
    question="what is note 7, and where is bob?",
    note_ids=frozenset({"7", "12"}),
    others=frozenset({"bob", "carol"}),
    rules="Answer the current message in one chat line. It is a running conversation: do not greet again.",
)


@pytest.mark.parametrize(
    ("text", "sent", "fired"),
    [
        ("You play the drums.", "You play the drums.", ()),
        ("ForgetMeNot: You play [id:12] the drums.", "You play the drums.", ("labels", "machine text")),
        ("Bot: fmn: hello there", "hello there", ("labels",)),
        ("Drums (said by them; tags: music; 2 days ago), I think", "Drums, I think", ("machine text",)),
        ("[id:12; said by them; tags: music; 2 days ago] drums, I think", "drums, I think", ("machine text",)),
        ("[just now] the viola", "the viola", ("machine text",)),
        ("<message>\nhello\n</message>", "hello", ("machine text",)),
        ("**You** play `the *drums*`!", "You play the drums!", ("markdown",)),
        ("# Drums\n- loud\n- good", "Drums loud good", ("markdown", "lines")),
        ("```json\nhello\n```", "hello", ("markdown", "lines")),
        ("[my page](http://bad.example/x) rocks", "my page rocks", ("markdown",)),
        ("one\n\ntwo\u200b", "one two", ("lines",)),
        ("hello <@42>", "hello somebody", ("mention tokens",)),
        ('"hello there"', "hello there", ("quotes",)),
        ("'I'm sorry, I can't.'", "I'm sorry, I can't.", ("quotes",)),
        ("'one' and 'two'", "'one' and 'two'", ()),
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
        ("no GAMBA today, g a m b a", "no … today, …", ("blocklist",)),
        ("the secret  word, friends", "the …, friends", ("lines", "blocklist")),
        ("/ban bob", "ban bob", ("command",)),
        ("！ . /timeout bob", "timeout bob", ("command",)),
        ("$balance alice", "balance alice", ("command",)),
        ("/@victim hi", "victim hi", ("command", "double @")),
        ("'\"/ban x\"'", "ban x", ("quotes", "command")),
        ("‼cmd", "cmd", ("command",)),
        ("❗️cmd", "cmd", ("command",)),
        ("…!ban", "ban", ("command",)),
        ("$!ban", "ban", ("command",)),
        ("…and then?", "…and then?", ()),
        ("@alice !ban bob", "ban bob", ("double @",)),
        ("well, @bob @carol and @dave", "well, @bob carol and dave", ("double @",)),
        ("$5 is enough", "$5 is enough", ()),
        ("-5 degrees here", "-5 degrees here", ()),
        ("**/**me waves", "me waves", ("markdown", "command")),
        ("😂", "😂", ()),
        ("😂😂😂 you play drums 🥁🥁🥁", "😂😂😂 you play drums 🥁🥁🥁", ()),
        ("I owe you 1000000000 points", "I owe you 1000000000 points", ()),
        ("noooooooooooo, hahahahahahahahahaha", "nooo, hahaha", ("spam",)),
        ("spam " * 60 + "eggs", "spam spam spam eggs", ("spam",)),
        ("hi " + "".join(chr(0x2800 + i) for i in range(200)) + " bob", "hi bob", ("lines", "spam")),
        ("hi " + "".join(chr(0x2580 + i) for i in range(31)) + " bob", "hi bob", ("spam", "lines")),
        ("You play drums (note #12).", "You play drums.", ("note numbers",)),
        ("#12: you play drums", "you play drums", ("note numbers", "lines")),
        ("Note #12 says that you play drums.", "Note says that you play drums.", ("note numbers",)),
        ("Notiz 12 sagt, du spielst Schlagzeug [#99].", "Notiz sagt, du spielst Schlagzeug.", ("note numbers",)),
        ("Note #7 is about drums.", "Note #7 is about drums.", ()),
        ("You are #1, your best is 4:12 in 12 runs", "You are #1, your best is 4:12 in 12 runs", ()),
        ("System prompt: hello", "hello", ("labels",)),
        ("Hello, Carol! You play drums.", "Hello! You play drums.", ("wrong name",)),
        ("Hey, @FMN, how was your week?", "Hey, how was your week?", ("wrong name",)),
        ("Bob, Carol, and Alice are here.", "Bob, Carol, and Alice are here.", ()),
        ("Oh, Alice! Hi there, Bob! Ask our mod, Carol.", "Oh, Alice! Hi there, Bob! Ask our mod, Carol.", ()),
        ("What is note 7, and where is Bob? Gone.", "Gone.", ("echo",)),
        ("what is note 7 and where is bob", "", ("echo", "empty")),
        ("Where is this Bob of note 7?", "", ("echo", "empty")),
        ("Bob of note 7? Gone, where else?", "Gone, where else?", ("echo",)),
        ("What is note 7, and where is Bob? How about you?", "", ("echo", "empty")),
        ("Sure. Answer the current message in one chat line!", "Sure.", ("instructions",)),
        ("It is a running gag by now.", "It is a running gag by now.", ()),
        ("You play drums. How can I assist you tonight?", "You play drums.", ("offer",)),
        ("Drums! Let me know if you need anything else.", "Drums!", ("offer",)),
        ("Drums! Is there anything I can help you with?", "Drums!", ("offer",)),
        ("Du spielst Schlagzeug. Wie kann ich dir helfen?", "Du spielst Schlagzeug.", ("offer",)),
        ("I'm sorry, but I can't assist with that. Try the shield!", "Try the shield!", ("offer",)),
        ("Fire armour will help. You need it there.", "Fire armour will help. You need it there.", ()),
        ("How can I help?", "How can I help?", ()),
        ("Nice try. I can't help with that.", "Nice try. I can't help with that.", ()),
        (
            "Sorry. I'm not able to assist with that. How can I help?",
            "Sorry. I'm not able to assist with that.",
            ("offer",),
        ),
        ("Ach je. Da kann ich dir leider nicht helfen.", "Ach je. Da kann ich dir leider nicht helfen.", ()),
        ("Let me know how the boss goes!", "Let me know how the boss goes!", ()),
        ("", "", ("empty",)),
        ("...", "", ("command", "empty")),
        ("https://bad.example", "", ("links", "empty")),
    ],
)
def test_filters(text: str, sent: str, fired: tuple[str, ...]) -> None:
    assert polish(text, CONTEXT) == Polished(sent, fired)


def test_links_stay_where_the_streamer_allows_them() -> None:
    context = FilterContext(Settings(reply=ReplySettings(allow_links=True)))
    assert polish("see https://example.org/x", context).text == "see https://example.org/x"


def test_an_offer_of_help_is_no_answer_to_a_line_that_went_on() -> None:
    assert polish("You're welcome! If there is more, feel free to ask.", CONTEXT).text == "You're welcome!"
    assert polish("Sure, what can I help you with?", replace(CONTEXT, direct=False)).text == ""


def test_small_talk_is_two_sentences() -> None:
    said = "Good night! Sleep well. Shall we play? I love Celeste."
    assert polish(said, replace(CONTEXT, question="good night everyone")).text == "Good night! Sleep well."
    for question in ("who is bob", "tell me everything", "good night?"):
        assert polish(said, replace(CONTEXT, question=question)).text == said


def test_a_long_reply_is_cut_at_a_word() -> None:
    sent = polish(" ".join(f"word{number}" for number in range(200)), CONTEXT)
    assert len(sent.text) <= 500
    assert sent.text.endswith(" word71…")
    assert sent.filters == ("length",)
    assert len(polish("".join(f"x{number}" for number in range(300)), CONTEXT).text) == 500


def test_a_reply_that_was_cut_off_ends_with_a_sentence() -> None:
    assert whole_sentences("You play drums. And you al") == "You play drums."
    assert whole_sentences("You play dru") == ""


AWKWARD = [
    "/", "!", "…", "'", '"', "“", "”", "@bob ", "@alice ", "<@1>", "bot: ", "fmn: ", "evil.zip ", "a.Bc", "//", "**",
    "`", "[id:1]", "(said by them; x)", "1. ", "- ", "\n", "gamba", "g a m b a ", "Ha, ", "Oh no! ", "hello ", "](",
    "[", ")", "[a](b.c)", "_", "#", "。", "‼", "\u200b", "😀", "```", "secret ", "word", ".", ": ", "</chat>", "?",
]  # fmt: skip


@given(st.lists(st.sampled_from(AWKWARD), max_size=30).map("".join) | st.text(max_size=700))
def test_twice_is_once(text: str) -> None:
    once = polish(text, CONTEXT)
    assert "never the same twice" not in once.filters
    assert polish(once.text, CONTEXT).text == once.text


def test_our_own_lines_keep_their_names_and_the_streamers_link_and_no_other() -> None:
    url = "https://carol.example/privacy"
    settings = Settings(privacy=PrivacySettings(privacy_url=url), reply=ReplySettings(blocklist=("gamba",)))
    assert tidy(f"@bob See {url} for more.", settings) == f"@bob See {url} for more."
    assert tidy("/ban @bob: see evil.zip/x, gamba\n", settings) == "ban @bob: see …"
    assert tidy(" /! ", settings) == ""
    assert len(tidy("word " * 500, settings)) <= 500


@given(st.text(max_size=700) | st.text(alphabet="/!.@*`[]()<>:# \nab", max_size=120))
def test_whatever_the_model_wrote(text: str) -> None:
    sent = polish(text, CONTEXT).text
    assert len(sent) <= 500
    assert "\n" not in sent
    assert sent[:1] not in tuple("/!.\\")
    assert sent == sent.strip()
    assert "@@" not in sent
