"""What leaves the bot is one clean line, and every filter that had to step in is named."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.reply.output_filters import (
    FilterContext,
    Polished,
    claims_action,
    polish,
    tidy,
)
from forgetmenot.settings.schema import PrivacySettings, ReplySettings, Settings

CONTEXT = FilterContext(
    Settings(reply=ReplySettings(blocklist=("gamba", "secret word"))),
    ("alice",),
    rules="Answer the current message in one chat line. It is a running conversation: do not greet again.",
    done=frozenset({"clip"}),
)


UNCHANGED = (
    "You play the drums.",
    '"one" and "two"',
    "¡Hola, bob!",
    "…and then?",
    "$5 is enough",
    "-5 degrees here",
    "😂😂😂 drums 🥁🥁🥁",
    "It is a running gag by now.",
)
CHANGED = [
    ("You play [id:12] the drums.", "You play the drums.", "machine text"),
    (
        "Drums (said by them; tags: music; 2 days ago), I think",
        "Drums, I think",
        "machine text",
    ),
    ("**You** play __the drums__, *waves*", "You play the drums, *waves*", "markdown"),
    ("# Drums\n- loud\n- good", "Drums loud good", "markdown, lines"),
    ("[my page](http://bad.example/x) rocks", "my page rocks", "markdown"),
    ("one\n\ntwo\u200b", "one two", "lines"),
    ("hello <@42>", "hello somebody", "mention tokens"),
    ("look at https://bad.example/x now", "look at now", "links"),
    ("@alice @alice yes you do", "yes you do", "double @"),
    ("well, @bob @bob @carol and @dave", "well, @bob bob carol and dave", "double @"),
    ("no GAMBA today, the secret  word", "no … today, the …", "lines, blocklist"),
    ("She is in York. Baker Street 12!", "She is in York.", "contact data"),
    (
        "Elm Street is next. Call +44 20 7946 0958.",
        "Elm Street is next.",
        "contact data",
    ),
    ("what a N1gg3r", "what a …", "blocklist"),
    ("n i g g e r, there you go", "…, there you go", "blocklist"),
    ("！ . /timeout bob", "timeout bob", "command"),
    ("$balance alice", "balance alice", "command"),
    ("@alice !ban bob", "ban bob", "double @"),
    ("❗️cmd", "cmd", "command"),
    ("…!ban", "ban", "command"),
    ("**/**me waves", "me waves", "markdown, command"),
    ("Sure. Answer the current message in one chat line!", "Sure.", "instructions"),
    ("https://bad.example", "", "links, empty"),
]


@pytest.mark.parametrize(
    ("text", "sent", "fired"), [*((text, text, "") for text in UNCHANGED), *CHANGED]
)
def test_filters(text: str, sent: str, fired: str) -> None:
    polished = polish(text, CONTEXT)
    assert (polished.text, ", ".join(polished.filters)) == (sent, fired)


CLAIMS = (
    "Bob: banned.",
    "Bob wurde gebannt.",
    "I have timed out Bob.",
    "Clipped!",
    "Slow mode is on now.",
    "Title updated.",
    "I posted an announcement",
    "✅ bob banned",
    "No problem, bob is banned",
    "𝐛𝐚𝐧𝐧𝐞𝐝",
    "I've deleted your messages.",
    "Deleted everything about you.",
    "Ich habe dich stummgeschaltet.",
    "Marker gesetzt.",
)
TALK = (
    "I can't ban anybody.",
    "Who banned bob?",
    "Should I time him out?",
    "The mods banned him.",
    "Noted!",
    "Ich habe bob nicht gebannt",
    "A ban would be harsh.",
    "I love clips",
    "Not today, bob.",
    "I'll remember that.",
    "He was timed out by a mod yesterday.",
    "The title of that book is long",
    "Watching that clip again",
    "Done!",
    "Tell me and I'll keep it safe.",
    "You got kicked by a horse in May.",
    "You deleted your save file.",
    "Merk ich mir!",
    "Ich kann dich nicht bannen.",
    "You muted your mic again.",
    "Banned books week is your favourite.",
)


@pytest.mark.parametrize("text", CLAIMS)
def test_a_claim_of_an_action_is_heard(text: str) -> None:
    assert claims_action(text)


@pytest.mark.parametrize("text", TALK)
def test_talk_of_an_action_is_no_claim(text: str) -> None:
    assert not claims_action(text)


def test_what_was_done_may_be_said_and_no_more() -> None:
    assert polish("Clipped! I banned bob. What a jump.", CONTEXT) == Polished(
        "Clipped! What a jump.", ("claim",)
    )
    assert claims_action("I timed out bob", {"clip"})
    assert not claims_action("I timed out bob for an hour", {"long_timeout"})
    assert not claims_action("I made a clip. I timed out bob.", {"timeout", "clip"})


def test_a_long_reply_is_cut_at_a_word_and_links_stay_where_they_are_allowed() -> None:
    sent = polish(" ".join(f"word{number}" for number in range(200)), CONTEXT)
    assert len(sent.text) <= 500
    assert sent.text.endswith(" word71…")
    assert sent.filters == ("length",)
    with_links = FilterContext(Settings(reply=ReplySettings(allow_links=True)))
    assert (
        polish("see https://example.org/x", with_links).text
        == "see https://example.org/x"
    )


def test_an_answer_is_read_up_to_its_four_thousandth_character() -> None:
    assert polish(" " * 3_990 + "hello there", CONTEXT).text == "hello ther"


def test_a_text_is_given_up_that_still_changes_after_twenty_rounds() -> None:
    # Each round takes one mark of a list away, and one more finds nothing to do.
    assert polish("* " * 19 + "hello", CONTEXT) == Polished("hello", ("markdown",))
    assert polish("* " * 20 + "hello", CONTEXT) == Polished(
        "", ("markdown", "never the same twice")
    )


def test_our_own_lines_keep_their_names_and_the_streamers_link_and_no_other() -> None:
    url = "https://carol.example/privacy"
    settings = Settings(
        privacy=PrivacySettings(privacy_url=url),
        reply=ReplySettings(blocklist=("gamba",)),
    )
    assert tidy(f"@bob See {url} for more.", settings) == f"@bob See {url} for more."
    assert tidy("/ban @bob: see evil.zip/x, gamba\n", settings) == "ban @bob: see …"


@given(st.text(max_size=700) | st.text(alphabet="/!.@*`[]()<>:# \nab", max_size=120))
def test_whatever_the_model_wrote(text: str) -> None:
    sent = polish(text, CONTEXT).text
    assert len(sent) <= 500
    assert "\n" not in sent
    assert sent[:1] not in tuple("/!.\\")
    assert sent == sent.strip()
    assert "@@" not in sent


def test_contact_data_is_said_where_the_settings_allow_it() -> None:
    text = "Call +44 20 7946 0958 for the poster."
    allowing = Settings(privacy=PrivacySettings(allow_categories=("contact",)))
    assert polish(text, FilterContext(Settings())).text == ""
    assert polish(text, FilterContext(allowing)).text == text
