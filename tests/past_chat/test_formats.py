"""Chat in every form that its program writes: who said what, and when."""

import gzip
import json
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from forgetmenot.errors import InputError
from forgetmenot.past_chat.chat_file import PastChat
from forgetmenot.text.days import day_of

UNTIL = 1_800_000_000_000
Said = tuple[str, str, str]
START = "# Start logging at 2026-05-01 20:00:00 CEST\n"
RAW = "@id={0};user-id=7;display-name=Alice;tmi-sent-ts={1} :alice!alice@alice PRIVMSG #demo :{2}"


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Chatterino writes the time of its PC."""
    yield from zone(monkeypatch, "Europe/Berlin")


def zone(monkeypatch: pytest.MonkeyPatch, name: str) -> Iterator[None]:
    if sys.platform == "win32":
        pytest.skip("the zone of a process is a thing of POSIX")
    monkeypatch.setenv("TZ", name)
    time.tzset()
    day_of.cache_clear()
    yield
    monkeypatch.undo()
    time.tzset()
    day_of.cache_clear()


def ms(moment: str) -> int:
    return int(datetime.fromisoformat(f"{moment}+00:00").timestamp() * 1_000)


def looked(path: Path, channel: str = "") -> PastChat:
    chat = PastChat(path, UNTIL, channel)
    chat.look()
    return chat


def lines_of(chat: PastChat) -> list[Said]:
    """Who said what, and when by UTC."""
    events = list(chat.events())
    assert len(events) == chat.lines
    return [
        (
            event.login,
            event.text,
            f"{datetime.fromtimestamp(event.at / 1_000, UTC):%Y-%m-%d %H:%M:%S}",
        )
        for event in events
    ]


HELLO = [("alice", "hello", "2026-05-01 18:05:09")]
MINUTE = [("alice", "hello", "2026-05-01 18:05:00")]

TIMESTAMPS: list[tuple[str, list[Said]]] = [
    ("20:05", MINUTE),
    ("8:05 pm", MINUTE),
    ("08:05 pm", MINUTE),
    ("20:05:09", HELLO),
    ("8:05:09 pm", HELLO),
    ("08:05:09 PM", HELLO),
    ("20:05:09.123", HELLO),
    ("8:05:09.123 pm", HELLO),
    ("08:05:09.123 pm", HELLO),
]


@pytest.mark.parametrize(("stamp", "expected"), TIMESTAMPS)
def test_chatterino_with_each_of_its_timestamps(
    tmp_path: Path, stamp: str, expected: list[Said]
) -> None:
    path = tmp_path / "demo-2026-05-01.log"
    path.write_text(f"{START}[{stamp}] alice: hello\n")
    chat = looked(path)
    assert (lines_of(chat), chat.unread.lines) == (expected, 0)


@pytest.mark.parametrize(
    ("stamp", "moment"),
    [
        ("9:05", "07:05:00"),
        ("09:05", "07:05:00"),
        ("9:05 am", "07:05:00"),
        ("9:05:09", "07:05:09"),
        ("12:05 am", "22:05:00"),
        ("12:05 pm", "10:05:00"),
        ("0:05", "22:05:00"),
    ],
)
def test_morning_midnight_and_noon_of_a_clock_with_and_without_zero(
    tmp_path: Path, stamp: str, moment: str
) -> None:
    path = tmp_path / "demo-2026-05-01.log"
    path.write_text(f"[{stamp}] alice: hello\n")
    day = "2026-04-30" if moment.startswith("22") else "2026-05-01"
    assert lines_of(looked(path)) == [("alice", "hello", f"{day} {moment}")]


OLD = "[2026-05-01 20:15:03] #demo alice: hi\n"
LOGS: list[tuple[str, str, list[Said]]] = [
    # Chatterino without timestamps: as near as its own marks tell
    (
        "demo-2026-05-01.log",
        f"{START}alice: hello\nゆき yuki_ch: hi: you\nbob subscribed\n",
        [
            ("alice", "hello", "2026-05-01 18:00:00"),
            ("yuki_ch", "hi: you", "2026-05-01 18:00:00"),
        ],
    ),
    # a localized name before the login; in older versions the login twice, or two spaces
    (
        "a.log",
        f"{START}[20:05:09] ゆき yuki_ch: hello\n",
        [("yuki_ch", "hello", "2026-05-01 18:05:09")],
    ),
    ("a.log", f"{START}[20:05:09]  alice: hello\n", HELLO),
    (
        "a.log",
        f"{START}[20:05:09] 한국어 yuki_ch: @bob: ok\n",
        [("yuki_ch", "@bob: ok", "2026-05-01 18:05:09")],
    ),
    # highlights: the channel stands before the time; lines of others are theirs
    (
        "mentions-2026-05-01.log",
        f"{START}#demo [20:05:09] alice: hello\n#other [20:05:10] bob: hi @demo\n",
        HELLO,
    ),
    # a stream's own log goes on over midnight
    (
        "demo-41374924781.log",
        f"{START}[23:59:58] alice: late\n[00:00:03] alice: early\n[1:05:00] alice: later\n",
        [
            ("alice", "late", "2026-05-01 21:59:58"),
            ("alice", "early", "2026-05-01 22:00:03"),
            ("alice", "later", "2026-05-01 23:05:00"),
        ],
    ),
    # the hour that comes twice in autumn, and a log that begins in the second of them
    (
        "demo-2026-10-25.log",
        "[02:50:00] alice: a\n[02:10:00] alice: b\n[02:55:00] alice: c\n[03:05:00] alice: d\n",
        [
            ("alice", "a", "2026-10-25 00:50:00"),
            ("alice", "b", "2026-10-25 01:10:00"),
            ("alice", "c", "2026-10-25 01:55:00"),
            ("alice", "d", "2026-10-25 02:05:00"),
        ],
    ),
    (
        "demo-2026-10-25.log",
        "# Start logging at 2026-10-25 02:05:00 CET\n[02:10:00] alice: b\n",
        [("alice", "b", "2026-10-25 01:10:00")],
    ),
    # Twitch's timestamps, which may be a little out of order
    (
        "a.log",
        f"{START}[20:05:09] alice: one\n[20:05:07] alice: two\n",
        [
            ("alice", "one", "2026-05-01 18:05:09"),
            ("alice", "two", "2026-05-01 18:05:07"),
        ],
    ),
    # justlog is in UTC, and writes days without zero
    ("channel.txt", OLD, [("alice", "hi", "2026-05-01 20:15:03")]),
    (
        "channel.txt",
        OLD.replace("05-01", "11-5"),
        [("alice", "hi", "2026-11-05 20:15:03")],
    ),
    # ?reverse: the newest line first, and of one second the last
    (
        "channel.txt",
        "".join(
            f"[2026-05-1 {t}] #demo alice: {m}\n"
            for t, m in (
                ("22:15:03", "four"),
                ("20:15:03", "three"),
                ("20:15:03", "two"),
                ("18:15:03", "one"),
            )
        ),
        [
            ("alice", "one", "2026-05-01 18:15:03"),
            ("alice", "two", "2026-05-01 20:15:03"),
            ("alice", "three", "2026-05-01 20:15:03"),
            ("alice", "four", "2026-05-01 22:15:03"),
        ],
    ),
    # TwitchDownloader's text: by UTC, with milliseconds, and since the beginning
    (
        "a.txt",
        "[2026-05-01 20:15:03 UTC] Alice: hi\n",
        [("alice", "hi", "2026-05-01 20:15:03")],
    ),
    (
        "a.txt",
        "[2026-05-01 20:15:03.250 UTC] Alice: hi\n",
        [("alice", "hi", "2026-05-01 20:15:03")],
    ),
    (
        "demo 2026-05-01.txt",
        "[0:15:03] Alice: hi\n",
        [("alice", "hi", "2026-04-30 22:15:03")],
    ),
    ("demo 2026-05-01.txt", "Alice: hi\n", [("alice", "hi", "2026-04-30 22:00:00")]),
    # raw IRC, as justlog's ?raw and its own files have it; other lines of it are no fault
    (
        "a.irc",
        ":tmi.twitch.tv 001 you :hi\n@room-id=1 :tmi.twitch.tv ROOMSTATE #demo\n"
        + RAW.format("m1", ms("2026-05-01 20:15:03"), "hi")
        + "\n",
        [("alice", "hi", "2026-05-01 20:15:03")],
    ),
]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(("name", "text", "expected"), LOGS)
def test_logs(
    tmp_path: Path, name: str, text: str, expected: list[Said], *, packed: bool
) -> None:
    data = text.encode()
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(data) if packed else data)
    chat = looked(path, "demo")
    assert lines_of(chat) == expected
    assert (chat.unread.lines, chat.unread.cut_off) == (0, False)


def test_justlog_is_read_by_utc_wherever_the_pc_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """West of Greenwich tonight's lines seemed to lie in the future."""
    path = tmp_path / "channel.txt"
    path.write_text(OLD)
    for name in ("America/Los_Angeles", "Asia/Tokyo"):
        for _ in zone(monkeypatch, name):
            chat = PastChat(path, ms("2026-05-01 20:16:00"))
            chat.look()
            assert lines_of(chat) == [("alice", "hi", "2026-05-01 20:15:03")]


# ── JSON ─────────────────────────────────────────────────────────────────────────────────────

AT = "2026-05-01T20:15:03Z"
COMMENT = {
    "_id": "c1", "created_at": AT, "commenter": {"_id": "7", "name": "alice", "display_name": "Alice"},
    "message": {"body": "hi", "user_badges": []},
}  # fmt: skip
VIDEO = {"title": "Boss rush", "id": "2134", "created_at": "2026-05-01T20:00:00Z"}
EMBEDDED = {
    "thirdParty": [{"name": 'a "quoted" \\ [{', "data": "A" * 3_000_000}],
    "n": [1, -2.5e3, None],
}
LARGE = {
    **COMMENT,
    "_id": "c0",
    "message": {"body": "large", "fragments": [{"text": "x" * 3_000_000}]},
}
JUSTLOG = {
    "text": "hi", "username": "alice", "displayName": "Alice", "channel": "demo", "timestamp": AT, "id": "m1",
    "type": 1, "tags": {"user-id": "7"},
}  # fmt: skip
DOWNLOADED = {
    "author": {"id": "7", "name": "alice", "display_name": "Alice", "badges": [{"name": "vip"}]}, "message": "hi",
    "message_id": "m1", "message_type": "text_message", "timestamp": ms("2026-05-01 20:15:03") * 1_000,
}  # fmt: skip
FIRST = {"timestamp": "2026-05-01T18:00:00Z", "text": "first", "id": "m0"}
LINE = [("alice", "hi", "2026-05-01 20:15:03")]

JSON_FORMS: list[tuple[str, object, list[Said]]] = [
    (
        "TwitchDownloader",
        {"video": VIDEO, "comments": [COMMENT], "embeddedData": None},
        LINE,
    ),
    (
        "embedded data first",
        {"embeddedData": EMBEDDED, "comments": [COMMENT], "video": VIDEO},
        LINE,
    ),
    (
        "a large comment",
        {"comments": [LARGE, COMMENT]},
        [("alice", "large", LINE[0][2]), *LINE],
    ),
    ("justlog", {"messages": [JUSTLOG]}, LINE),
    (
        "justlog, raw",
        {"messages": [{"raw": RAW.format("m1", ms("2026-05-01 20:15:03"), "hi")}]},
        LINE,
    ),
    (
        "justlog, reversed",
        {"messages": [JUSTLOG, {**JUSTLOG, **FIRST}]},
        [("alice", "first", "2026-05-01 18:00:00"), *LINE],
    ),
    ("chat-downloader", [DOWNLOADED], LINE),
    ("chat-downloader, older", [{**DOWNLOADED, "author": "alice"}], LINE),
    (
        "chat-downloader, other things",
        [{"message_type": "room_state", "slow_mode": True}, DOWNLOADED],
        LINE,
    ),
]


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize(
    ("form", "value", "expected"), JSON_FORMS, ids=[form[0] for form in JSON_FORMS]
)
def test_json(
    tmp_path: Path,
    form: str,
    value: object,
    expected: list[Said],
    *,
    indent: int | None,
    packed: bool,
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=bool(indent)).encode()
    path = tmp_path / "chat.json"
    path.write_bytes(gzip.compress(text, 1) if packed else text)
    chat = looked(path)
    assert lines_of(chat) == expected
    assert (chat.unread.lines, chat.unread.cut_off) == (0, False)
    [first, *_] = chat.events()
    assert first.display_name == ("alice" if "older" in form else "Alice")
    assert first.user_id == ("login:alice" if "older" in form else "7")
    if isinstance(value, dict) and "video" in value:
        assert (chat.about.title, chat.about.video) == ("Boss rush", 2134)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", ["json", "log"])
def test_a_file_that_is_cut_off_says_so_and_what_came_before_is_read(
    tmp_path: Path, kind: str, *, packed: bool
) -> None:
    comments = [
        {**COMMENT, "_id": f"c{number}", "message": {"body": f"line {number}"}}
        for number in range(300)
    ]
    text = json.dumps({"comments": comments, "video": VIDEO})
    if kind == "log":
        text = (
            START
            + "".join(f"[20:15:03] alice: line {number}\n" for number in range(300))
            + "[20:16"
        )
    data = text.encode()
    path = tmp_path / "chat.json"
    if packed:
        data = gzip.compress(data)[:-20]
    elif kind == "json":
        data = data[:-200]
    path.write_bytes(data)
    chat = looked(path)
    assert 200 < chat.lines <= 300
    assert (chat.unread.cut_off, chat.unread.lines) == (True, 0)


def test_lines_that_cannot_be_read_are_counted_and_the_first_of_them_named(
    tmp_path: Path,
) -> None:
    path = tmp_path / "demo-2026-05-01.log"
    lines = [
        f"[20:15:{number % 60:02}] alice: line {number}" for number in range(1, 100)
    ]
    for number in (14, 15, 90):
        lines[number - 1] = "[25:99] what is this"
    path.write_text("\n".join(lines) + "\n")
    chat = looked(path)
    assert (chat.unread.lines, chat.unread.first, chat.lines) == (3, [14, 15, 90], 96)
    path.write_text("\n".join([*lines[:1], *(["?"] * 400)]) + "\n")
    chat = looked(path)
    assert (chat.unread.lines, len(chat.unread.first)) == (400, 20)


@pytest.mark.parametrize(
    ("name", "text"),
    [("chat.txt", "[20:15:03] alice: hi\n"), ("chat.txt", "[0:15:03] Alice: hi\n")],
)
def test_a_log_that_names_no_day_says_how_to_name_one(
    tmp_path: Path, name: str, text: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=r"names no day.*2026-05-01"):
        looked(tmp_path / name)


def test_a_file_that_is_out_of_order_is_read_by_time_in_little_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forgetmenot.past_chat.chat_file.SORTED_AT_ONCE", 50)
    hours = [
        f"2026-05-{1 + number // 24:02} {number % 24:02}" for number in range(8 * 24)
    ]
    path = tmp_path / "channel.txt"
    path.write_text(
        "".join(
            f"[{hour}:30:00] #demo alice: line {hour}\n" for hour in reversed(hours)
        )
    )
    assert [text for _, text, _ in lines_of(looked(path))] == [
        f"line {hour}" for hour in hours
    ]


def test_a_line_that_stands_twice_in_a_file_is_one_line(tmp_path: Path) -> None:
    path = tmp_path / "channel.txt"
    lines = [
        RAW.format(f"m{number}", ms("2026-05-01 20:15:03") + number, number)
        for number in range(4)
    ]
    path.write_text("\n".join([*lines, *lines]))
    assert [text for _, text, _ in lines_of(looked(path))] == ["0", "1", "2", "3"]


# ── what was taken away in chat ──────────────────────────────────────────────────────────────

T = ms("2026-05-01 20:00:00")


def irc(*lines: str) -> str:
    return "\n".join(lines) + "\n"


def line(number: int, login: str, user_id: int, *, minute: int = 0) -> str:
    tags = f"id=m{number};user-id={user_id};tmi-sent-ts={T + 60_000 * minute}"
    return f"@{tags} :{login}!{login}@{login} PRIVMSG #demo :line {number}"


def clear(tags: str, *, minute: int, command: str = "CLEARCHAT #demo") -> str:
    return f"@{tags};tmi-sent-ts={T + 60_000 * minute} :tmi.twitch.tv {command}"


DAY_MIN = 24 * 60
TAKEN: list[tuple[str, str, list[str]]] = [
    (
        "one message",
        irc(
            line(1, "alice", 1),
            line(2, "alice", 1),
            clear("target-msg-id=m1", minute=1, command="CLEARMSG #demo :line 1"),
        ),
        ["line 2"],
    ),
    (
        "a timeout",
        irc(
            line(1, "alice", 1),
            line(2, "bob", 2),
            clear(
                "target-user-id=1;ban-duration=60",
                minute=1,
                command="CLEARCHAT #demo :alice",
            ),
            line(3, "alice", 1, minute=5),
        ),
        ["line 2", "line 3"],
    ),
    (
        "a timeout reaches a day back",
        irc(
            line(1, "alice", 1),
            line(2, "alice", 1, minute=DAY_MIN),
            clear(
                "target-user-id=1;ban-duration=60",
                minute=DAY_MIN + 5,
                command="CLEARCHAT #demo :alice",
            ),
        ),
        ["line 1"],
    ),
    (
        "a ban takes all",
        irc(
            line(1, "alice", 1),
            line(2, "alice", 1, minute=3 * DAY_MIN),
            clear(
                "target-user-id=1",
                minute=3 * DAY_MIN + 5,
                command="CLEARCHAT #demo :alice",
            ),
            line(3, "bob", 2, minute=4 * DAY_MIN),
        ),
        ["line 3"],
    ),
    (
        "the whole chat",
        irc(
            line(1, "alice", 1),
            line(2, "bob", 2),
            clear("room-id=9", minute=1),
            line(3, "bob", 2, minute=5),
        ),
        ["line 3"],
    ),
    (
        "newest first",
        irc(
            line(3, "alice", 1, minute=5),
            clear(
                "target-user-id=1;ban-duration=60",
                minute=1,
                command="CLEARCHAT #demo :alice",
            ),
            line(2, "bob", 2),
            line(1, "alice", 1),
        ),
        ["line 2", "line 3"],
    ),
    (
        "justlog's text",
        (
            "[2026-05-1 20:00:00] #demo alice: line 1\n[2026-05-1 20:00:00] #demo bob: line 2\n"
            "[2026-05-1 20:01:00] #demo alice has been timed out for 600 seconds\n"
            "[2026-05-1 20:30:00] #demo alice: line 3\n"
            "[2026-05-1 20:31:00] #demo bob has been banned\n"
        ),
        ["line 3"],
    ),
    (
        "Chatterino",
        (
            f"{START}[20:00:00] alice: line 1\n[20:00:01] bob: line 2\n[20:00:02] carol: line 3\n"
            "[20:00:03] dora: line 4\n"
            "[20:01:00] alice has been timed out for 10m.\n[20:01:01] bob has been permanently banned.\n"
            "[20:01:02] A message from carol was deleted: line 3\n"
            "[20:01:03] mod1 deleted message from dora saying: line 4\n"
            "[20:02:00] alice: line 5\n[20:02:01] dora: alice has been permanently banned.\n"
        ),
        ["line 5", "alice has been permanently banned."],
    ),
    (
        "Chatterino, by a moderator",
        (
            f"{START}[20:00:00] alice: line 1\n[20:00:01] bob: line 2\n[20:00:02] carol: line 3\n"
            "[20:01:00] mod1 timed out alice for 10m: spam\n[20:01:01] mod1 banned bob.\n"
            "[20:01:02] mod1 unbanned carol.\n"
        ),
        ["line 3"],
    ),
    (
        "Chatterino, the whole chat",
        (
            f"{START}[20:00:00] alice: line 1\n[20:01:00] Chat has been cleared by a moderator.\n"
            "[20:02:00] alice: line 2\n"
        ),
        ["line 2"],
    ),
    (
        "what AutoMod holds",
        (
            f"{START}[20:00:00] alice: line 1\n"
            "[20:00:01] automod: AutoMod: Held a message for reason: swearing level 4. Allow will post it. Allow Deny\n"
            "[20:00:01] ゆき yuki_ch: line 2\n[20:00:02] yuki_ch: line 3\n"
            "[20:00:03] AutoMod: Held a message for reason: swearing. Allow will post it in chat. Allow Deny\n"
            "[20:00:03] bob: line 4\n"
        ),
        ["line 1", "line 3"],
    ),
    (
        "justlog's JSON",
        json.dumps(
            {
                "messages": [
                    {"raw": line(1, "alice", 1)},
                    {"raw": line(2, "bob", 2)},
                    {
                        "raw": clear(
                            "target-user-id=1;ban-duration=60",
                            minute=1,
                            command="CLEARCHAT #demo :alice",
                        ),
                        "type": 2,
                    },
                ]
            }
        ),
        ["line 2"],
    ),
    (
        "chat-downloader",
        json.dumps(
            [
                {**DOWNLOADED, "message": "line 1"},
                {
                    **DOWNLOADED,
                    "message": "line 2",
                    "message_id": "m2",
                    "author": {"id": "8", "name": "bob"},
                },
                {
                    **DOWNLOADED,
                    "message": "line 3",
                    "message_id": "m3",
                    "author": {"id": "9", "name": "carol"},
                },
                {
                    "message_type": "ban_user",
                    "banned_user": "alice",
                    "target_author_id": "7",
                    "ban_duration": 60,
                    "ban_type": "timeout",
                    "timestamp": DOWNLOADED["timestamp"],
                },
                {
                    "message_type": "delete_message",
                    "target_message_id": "m2",
                    "timestamp": DOWNLOADED["timestamp"],
                },
            ]
        ),
        ["line 3"],
    ),
    (
        "TwitchDownloader",
        json.dumps(
            {
                "comments": [
                    {**COMMENT, "state": "deleted", "message": {"body": "line 1"}},
                    {
                        **COMMENT,
                        "_id": "c2",
                        "state": "published",
                        "message": {"body": "line 2"},
                    },
                ]
            }
        ),
        ["line 2"],
    ),
]


@pytest.mark.parametrize(
    ("form", "text", "remaining"), TAKEN, ids=[form[0] for form in TAKEN]
)
def test_what_was_taken_away_in_chat_is_not_read(
    tmp_path: Path, form: str, text: str, remaining: list[str]
) -> None:
    path = tmp_path / "chat.txt"
    path.write_text(text, encoding="utf-8")
    chat = looked(path)
    assert [words for _, words, _ in lines_of(chat)] == remaining, form
    assert chat.unread.lines == 0


# ── whatever stands in a file ────────────────────────────────────────────────────────────────

PIECES = (
    '{"comments":[', '{"messages":[', "[{", json.dumps(COMMENT), json.dumps(JUSTLOG), json.dumps(DOWNLOADED), ",",
    "]", "}", "{", "[", ":", '"', '"\\', "\\u12", "\v", "\x00", "-1e999", "NaN", "null", "9" * 5_000, "[" * 3_000,
    START, "\n", "[20:15:03] alice: hi\n", "[99:15:03] alice: hi\n", "[2026-13-99 20:15:03] #demo alice: hi\n",
    "# Stop logging at ", "# Start logging at 2026-99-01 20:00:00 CEST\n", "ゆき yuki_ch: hi\n", '"embeddedData":',
    "[20:01:00] alice has been timed out for 10m.\n", '"video":', '"timestamp":',
    "[0001-01-01 00:00:00] #demo alice: hi\n", "[9999-12-31 23:59:59] a: b\n",
)  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=12), st.booleans())
@settings(
    max_examples=150,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    deadline=None,
)
def test_no_file_raises_anything_but_an_error_that_names_it(
    tmp_path: Path,
    pieces: list[str],
    packed: bool,  # hypothesis gives it by its place
) -> None:
    data = "".join(pieces).encode()
    path = tmp_path / "chat 2026-05-01.log"
    path.write_bytes(gzip.compress(data)[: len(data) or None] if packed else data)
    chat = PastChat(path, UNTIL)
    try:
        chat.look()
    except InputError as error:
        assert path.name in str(error)  # noqa: PT017  # most files are read
    else:
        assert len(list(chat.events())) == chat.lines
