"""No line raises, no line hangs, and every line is exactly one thing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from forgetmenot.domain import ChatEvent, EventKind, Redaction, ReplyTo
from forgetmenot.text.mentions import ids_in
from forgetmenot.twitch.chat_lines import (
    ChatItem,
    OtherLine,
    OtherRoom,
    RoomState,
    Unparsed,
    parse,
    understand,
)

KINDS = (ChatEvent, Redaction, RoomState, OtherRoom, Unparsed, OtherLine)
keys = st.sampled_from(
    [
        "id", "user-id", "room-id", "source-room-id", "tmi-sent-ts", "badges", "bits", "display-name", "login",
        "msg-id", "slow", "followers-only", "target-msg-id", "target-user-id", "ban-duration", "reply-parent-msg-id",
        "reply-parent-user-id", "rm-deleted",
    ]
)  # fmt: skip
values = st.one_of(
    st.text(max_size=12),
    st.sampled_from(["", "1", "-1", "²", "9" * 5000, "a\\", "x=y"]),
)
commands = st.sampled_from(
    [
        "PRIVMSG", "USERNOTICE", "CLEARCHAT", "CLEARMSG", "NOTICE", "ROOMSTATE", "USERSTATE", "GLOBALUSERSTATE",
        "PING", "PONG", "RECONNECT", "CAP", "001", "JOIN", "PART", "privmsg",
    ]
)  # fmt: skip


@st.composite
def nearly_lines(draw: st.DrawFn) -> str:
    tags = ";".join(
        f"{k}={v}" for k, v in draw(st.lists(st.tuples(keys, values), max_size=6))
    )
    prefix = draw(
        st.sampled_from(["", ":", ":!", ":a!b@c ", ":tmi.twitch.tv ", " :x "])
    )
    params = draw(
        st.sampled_from(["", " ", " #den", " #den :", " * :", " #den x :"])
    ) + draw(st.text(max_size=20))
    return f"{draw(st.sampled_from(['@', '', '@@']))}{tags} {prefix}{draw(commands)}{params}"


@given(
    line=st.one_of(st.text(max_size=200), nearly_lines()),
    room=st.sampled_from(["den", None]),
)
def test_any_line_is_exactly_one_thing(line: str, room: str | None) -> None:
    item = understand(parse(line), room, 5)
    assert sum(isinstance(item, kind) for kind in KINDS) == 1
    assert understand(parse(line), room, 5) == item


def test_a_monstrous_line_takes_no_time() -> None:
    """Reading is linear: a quadratic reader would need minutes for these."""
    for piece in (";", "\\", " ", ":", "@", "=", " :", "a=b;"):
        line = "@" + piece * 200_000 + " :a!a@a PRIVMSG #den :" + piece * 200_000
        assert understand(parse(line), "den", 5) is not None


BASE = "id=m1;room-id=7;user-id=42;display-name=Alice;tmi-sent-ts=1700000000000"
ALICE = ":alice!alice@alice.tmi.twitch.tv PRIVMSG #den"


def read(line: str, room: str | None = "den", now: int = 5) -> ChatItem:
    return understand(parse(line), room, now)


def event(line: str) -> ChatEvent:
    item = read(line)
    assert isinstance(item, ChatEvent)
    return item


def test_odd_texts_are_cut_mended_and_mention_nobody() -> None:
    """`<@3>` in a message, in what it replies to, in a name or in Twitch's own sentence is plain text."""
    endless = "y" * 5_000
    tags = f"display-name={endless};system-msg={endless};reply-parent-msg-id=p;reply-parent-msg-body={endless}"
    item = event(f"@user-id=1;id=e1;{tags} :{endless}!x@x PRIVMSG #den :hi")
    assert item.reply_to is not None
    lengths = [
        len(text)
        for text in (
            item.login,
            item.display_name,
            item.system_text,
            item.reply_to.text,
        )
    ]
    assert lengths == [100, 100, 500, 500]
    half = event(
        "@user-id=1;id=\ud800;display-name=\udc80 :bob!bob@x PRIVMSG #den :!memory \ud83d"
    )
    assert (half.id, half.display_name, half.text) == ("?", "?", "!memory ?")
    nul = event("@user-id=1\x002;id=a\0b :bob!bob@x PRIVMSG #den :h\0i")
    assert (nul.id, nul.user_id, nul.text) == ("ab", "12", "hi")
    tags = r"display-name=<@3>;system-msg=<@3>\sis\shere;reply-parent-msg-id=p;reply-parent-msg-body=<@3>\shi"
    item = event(
        f"@user-id=1;{tags} :alice!alice@x PRIVMSG #den :what about <@3> and \uff1c@3>?"
    )
    assert item.text == "what about (@3> and (@3>?"
    assert item.reply_to is not None
    assert [
        ids_in(text)
        for text in (item.display_name, item.system_text, item.reply_to.text)
    ] == [
        (),
        (),
        (),
    ]


def test_what_is_said_is_an_event_with_everything() -> None:
    tags = (
        f"{BASE};badges=moderator/1,bot-badge/1,subscriber/12;first-msg=1;emote-only=1"
    )
    badges = frozenset({"moderator", "bot-badge", "subscriber"})
    made = (
        "m1",
        EventKind.MESSAGE,
        "42",
        "alice",
        "Alice",
        "hello: there :)",
        1_700_000_000_000,
    )
    assert event(f"@{tags} {ALICE} :hello: there :)") == ChatEvent(
        *made, room_id="7", badges=badges, emote_only=True
    )
    me = event(f"@{BASE} {ALICE} :\x01ACTION waves\x01")
    cheer = event(f"@{BASE};bits=100 {ALICE} :Cheer100 nice")
    assert (me.kind, me.text, cheer.kind) == (EventKind.ME, "waves", EventKind.CHEER)
    parent = "reply-parent-msg-id=m0;reply-parent-user-id=9;reply-parent-user-login=bob"
    answer = event(
        f"@{BASE};{parent};reply-parent-msg-body=is\\sit\\:\\\\ {ALICE} :@bob yes"
    )
    assert answer.reply_to == ReplyTo("m0", "9", "bob", "is it;\\")


@pytest.mark.parametrize(
    ("tag", "color"),
    [
        ("#1E90FF", "#1e90ff"),
        ("", ""),
        ("blue", ""),
        ("#1E90F", ""),
        ("#1e90ff;", "#1e90ff"),
        ("#00000g", ""),
    ],
)
def test_a_colour_is_one_or_none(tag: str, color: str) -> None:
    assert event(f"@{BASE};color={tag} {ALICE} :hi").color == color


@pytest.mark.parametrize(
    ("msg_id", "kind"),
    [
        ("resub", EventKind.SUB),
        ("submysterygift", EventKind.GIFT),
        ("raid", EventKind.RAID),
        ("announcement", EventKind.ANNOUNCEMENT),
        ("something-new", EventKind.NOTICE),
    ],
)
def test_usernotices_become_events_of_their_kind(msg_id: str, kind: EventKind) -> None:
    tags = f"{BASE};login=alice;msg-id={msg_id};system-msg=Alice\\sdid\\sit!"
    notice = event(f"@{tags} :tmi.twitch.tv USERNOTICE #den :yay")
    assert (notice.kind, notice.login, notice.text, notice.system_text) == (
        kind,
        "alice",
        "yay",
        "Alice did it!",
    )


ALL_SETTINGS = "@emote-only=0;followers-only=-1;r9k=0;room-id=7;slow=0;subs-only=1"
LINES: list[tuple[str, ChatItem]] = [
    # a timeout, a ban, a cleared chat; a person without an id never clears the whole chat
    (
        "@tmi-sent-ts=9;target-user-id=42;ban-duration=600 :t CLEARCHAT #den :alice",
        Redaction(9, None, "42", 600),
    ),
    (
        "@tmi-sent-ts=9;target-user-id=42 :t CLEARCHAT #den :alice",
        Redaction(9, user_id="42"),
    ),
    ("@tmi-sent-ts=9 :t CLEARCHAT #den", Redaction(9)),
    (":t CLEARCHAT #den :Alice", Redaction(5, user_id="login:alice")),
    # a deleted message, one without its id, and what a recording knows to be deleted
    (
        "@login=alice;target-msg-id=m1;tmi-sent-ts=9 :t CLEARMSG #den :gone",
        Redaction(9, event_id="m1"),
    ),
    ("@login=alice :t CLEARMSG #den :gone", Unparsed()),
    (f"@{BASE};rm-deleted=1 {ALICE} :gone", OtherLine("DELETED")),
    # a partner's line in a shared chat
    (f"@{BASE};source-room-id=8 {ALICE} :hi", OtherRoom()),
    (
        f"@{BASE};source-room-id=8;msg-id=sharedchatnotice;login=a :t USERNOTICE #den",
        OtherRoom(),
    ),
    # the protocol's own
    (":tmi.twitch.tv 001 justinfan1 :Welcome, GLHF!", OtherLine("001")),
    (":tmi.twitch.tv CAP * ACK :twitch.tv/tags", OtherLine("CAP")),
    (":a!a@a.tmi.twitch.tv JOIN #den", OtherLine("JOIN")),
    ("", OtherLine("")),
    # the room's state names only what changed
    ("@room-id=7;slow=10 :t ROOMSTATE #den", RoomState("7", slow_s=10)),
    (f"{ALL_SETTINGS} :t ROOMSTATE #den", RoomState("7", False, 0, False, True)),
    (
        "@followers-only=10;room-id=7 :t ROOMSTATE #den",
        RoomState("7", followers_only=True),
    ),
    (":t NOTICE * :Login authentication failed", OtherLine("NOTICE")),
    # nobody's message, one without text, one for no room, and garbage
    ("PRIVMSG #den :hi", Unparsed()),
    (f"@{BASE} {ALICE}", Unparsed()),
    (":alice!a@b PRIVMSG den :hi", Unparsed()),
    # an id that nobody can have
    *(
        (f"@user-id={bad};id=e1 {ALICE} :hi", Unparsed())
        for bad in ("12 34", "1<2", "é", "x" * 65, "1\\s2", "@1")
    ),
    *(
        (line, Unparsed())
        for line in ("<!DOCTYPE html>", "@id=1", "12 hello", "{}", "@a=b :x", "½ x")
    ),
]


@pytest.mark.parametrize(("line", "meaning"), LINES)
def test_what_a_line_means(line: str, meaning: ChatItem) -> None:
    assert read(line) == meaning


_GIFT = "id=g1;user-id=274598607;login=ananonymousgifter;msg-id=submysterygift"
_CHEER = "id=c1;user-id=407665396;bits=50"
_CHEERER = ":ananonymouscheerer!a@a.tmi.twitch.tv PRIVMSG #den :Cheer50 hi"
ANONYMOUS_LINES = [
    f"@{_GIFT} :tmi.twitch.tv USERNOTICE #den",
    f"@{_CHEER} {_CHEERER}",
    f"@bits=50 {_CHEERER}",  # a recording without ids
]


@pytest.mark.parametrize("line", ANONYMOUS_LINES)
def test_what_somebody_gives_anonymously_is_nobodys(line: str) -> None:
    """All anonymous gifts and cheers of Twitch share an account: as a viewer it would be a person of many people."""
    assert read(line) == OtherLine("ANONYMOUS")


def test_another_channels_line_is_another_rooms_unless_any_room_is_taken() -> None:
    assert read(f"@{BASE} {ALICE} :hi", room="attic") == OtherRoom()
    assert isinstance(read(f"@{BASE} {ALICE} :hi", room=None), ChatEvent)
    assert isinstance(
        read(f"@{BASE};source-room-id=7 {ALICE} :hi", room="Den"), ChatEvent
    )


def test_a_line_without_id_user_id_or_time_gets_the_same_ones_each_time() -> None:
    line = f"@emotes= {ALICE} :hi"
    first = event(line)
    again = event(line)
    later = understand(parse(line), "den", 6)
    assert first == again
    assert first.id.startswith("made-")
    assert (first.user_id, first.at, first.display_name) == ("login:alice", 5, "alice")
    assert isinstance(later, ChatEvent)
    assert later.id != first.id
