"""No line raises, no line hangs, and every line is exactly one thing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.domain.chat import ChatEvent, Redaction
from forgetmenot.text.mentions import ids_in
from forgetmenot.twitch import chat_lines
from forgetmenot.twitch.chat_lines import Unparsed, parse, understand, unescape

KINDS = (
    ChatEvent, Redaction, chat_lines.RoomState, chat_lines.ChannelNotice, chat_lines.Ping, chat_lines.Pong,
    chat_lines.Reconnect, chat_lines.Welcome, chat_lines.OtherRoom, chat_lines.Unparsed, chat_lines.OtherLine,
)  # fmt: skip
keys = st.sampled_from(
    [
        "id", "user-id", "room-id", "source-room-id", "tmi-sent-ts", "badges", "bits", "display-name", "login",
        "msg-id", "slow", "followers-only", "target-msg-id", "target-user-id", "ban-duration", "reply-parent-msg-id",
        "reply-parent-user-id", "rm-deleted",
    ]
)  # fmt: skip
values = st.one_of(st.text(max_size=12), st.sampled_from(["", "1", "-1", "²", "9" * 5000, "a\\", "x=y"]))
commands = st.sampled_from(
    [
        "PRIVMSG", "USERNOTICE", "CLEARCHAT", "CLEARMSG", "NOTICE", "ROOMSTATE", "USERSTATE", "GLOBALUSERSTATE",
        "PING", "PONG", "RECONNECT", "CAP", "001", "JOIN", "PART", "privmsg",
    ]
)  # fmt: skip


@st.composite
def nearly_lines(draw: st.DrawFn) -> str:
    tags = ";".join(f"{k}={v}" for k, v in draw(st.lists(st.tuples(keys, values), max_size=6)))
    prefix = draw(st.sampled_from(["", ":", ":!", ":a!b@c ", ":tmi.twitch.tv ", " :x "]))
    params = draw(st.sampled_from(["", " ", " #den", " #den :", " * :", " #den x :"])) + draw(st.text(max_size=20))
    return f"{draw(st.sampled_from(['@', '', '@@']))}{tags} {prefix}{draw(commands)}{params}"


@given(line=st.one_of(st.text(max_size=200), nearly_lines()), room=st.sampled_from(["den", None]))
def test_any_line_is_exactly_one_thing(line: str, room: str | None) -> None:
    found = understand(parse(line), room, 5)
    assert sum(isinstance(found, kind) for kind in KINDS) == 1
    assert understand(parse(line), room, 5) == found


@given(line=nearly_lines())
def test_an_event_always_has_an_id_a_person_and_a_time(line: str) -> None:
    found = understand(parse(line), None, 5)
    if isinstance(found, ChatEvent):
        assert found.id
        assert found.user_id
        assert found.at > 0


@given(value=st.text(max_size=60))
def test_unescaping_undoes_escaping(value: str) -> None:
    escaped = value.replace("\\", "\\\\").replace(";", "\\:").replace(" ", "\\s").replace("\r", "\\r")
    assert unescape(escaped.replace("\n", "\\n")) == value


def test_a_monstrous_line_takes_no_time() -> None:
    """Reading is linear: a quadratic reader would need minutes for these."""
    for piece in (";", "\\", " ", ":", "@", "=", " :", "a=b;"):
        line = "@" + piece * 200_000 + " :a!a@a PRIVMSG #den :" + piece * 200_000
        assert understand(parse(line), "den", 5) is not None


@pytest.mark.parametrize("bad", ["12 34", "1<2", "é", "x" * 65, "1\\s2", "@1"])
def test_an_id_that_nobody_can_have_is_not_understood(bad: str) -> None:
    said = understand(parse(f"@user-id={bad};id=e1 :bob!bob@x PRIVMSG #carol :hello"), "carol", 1)
    assert isinstance(said, Unparsed)


def test_an_endless_text_is_cut_at_a_word() -> None:
    said = understand(
        parse(f"@user-id=1;id=e1 :bob!bob@x PRIVMSG #carol :{'y ' * 247}@user12 {'z' * 5_000}"), "carol", 1
    )
    assert isinstance(said, ChatEvent)
    assert said.text == "y " * 247


def test_endless_names_and_sentences_are_cut_too() -> None:
    endless = "y" * 5_000
    tags = f"display-name={endless};system-msg={endless};reply-parent-msg-id=p;reply-parent-msg-body={endless}"
    said = understand(parse(f"@user-id=1;id=e1;{tags} :{endless}!x@x PRIVMSG #carol :hi"), "carol", 1)
    assert isinstance(said, ChatEvent)
    assert said.reply_to is not None
    lengths = [len(text) for text in (said.login, said.display_name, said.system_text, said.reply_to.text)]
    assert lengths == [100, 100, 500, 500]


def test_half_a_character_is_none() -> None:
    line = "@user-id=1;id=\ud800;display-name=\udc80 :bob!bob@x PRIVMSG #carol :!memory \ud83d"
    said = understand(parse(line), "carol")
    assert isinstance(said, ChatEvent)
    assert (said.id, said.display_name, said.text) == ("?", "?", "!memory ?")


def test_nobody_is_mentioned_by_who_types_the_brackets() -> None:
    """`<@3>` in a message, in what it replies to, in a name or in Twitch's own sentence is plain text."""
    forged = "what about <@3> and \uff1c@3>?"
    tags = r"display-name=<@3>;system-msg=<@3>\sis\shere;reply-parent-msg-id=p;reply-parent-msg-body=<@3>\shi"
    said = understand(parse(f"@user-id=1;{tags} :alice!alice@x PRIVMSG #c :{forged}"), "c", 1)
    assert isinstance(said, ChatEvent)
    assert said.text == "what about (@3> and (@3>?"
    assert said.reply_to is not None
    assert [ids_in(text) for text in (said.display_name, said.system_text, said.reply_to.text)] == [(), (), ()]
