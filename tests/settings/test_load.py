"""Settings: every one documented, and a broken file told by file, table and key."""

import os
import re
import sys
from pathlib import Path

import msgspec
import pytest

from forgetmenot.errors import SettingsError
from forgetmenot.settings.load import example_toml, load_settings, parse_settings
from forgetmenot.settings.schema import Settings


def test_the_example_is_the_defaults() -> None:
    assert parse_settings(example_toml(), "config.example.toml") == Settings()


def test_every_setting_is_explained() -> None:
    explained = set[tuple[str, str]]()
    table = ""
    for line in example_toml().splitlines():
        head = re.fullmatch(r"(?:# )?\[([\w.]+)\].*", line.strip())
        key = re.match(r"#?\s?(\w+) = .*?\s# .+", line)
        if head:
            table = head[1]
        elif key:
            explained.add((table, key[1]))
    tables = [
        table_field
        for table_field in msgspec.structs.fields(Settings)
        if table_field.name not in {"personas", "prices"}
    ]
    every = set[tuple[str, str]]()
    for table_field in tables:
        keys = msgspec.structs.fields(table_field.type)
        every |= {(table_field.name, key.name) for key in keys}
    assert sorted(every - explained) == []


KEYS = (
    "AIzaSyApa55wordpa55wordpa55wordpa55word",
    "sk-pa55word",
    "gsk_Pa55wordpa55wordpa55wordpa55word",
    "pa55word=",
)


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ('[personas.pirate]\nvoice = "arr"', "[personas.NAME] has no key `voice`"),
        (
            "[prices.gemini-3.8]\ninput = 1",
            'A name with a dot stands in quotes: [prices."NAME"].',
        ),
        (
            '[bot]\nspeaks_as = "cook"\n[personas.pirate]\nown_notes = true',
            "There is no `cook`. Known are: pirate.",
        ),
        ("[memry]\n", "no table `memry`. Did you mean `memory`?"),
        (
            "[memory]\nraw_event_h = 3",
            "[memory] has no key `raw_event_h`. Did you mean `raw_events_h`?",
        ),
        (
            f"[bot]\npersona = '{'a' * 4_001}'",
            "[bot], key `persona` must be at most 4000 letters long.",
        ),
        (
            "[memory]\nraw_events_h = 48",
            "[memory], key `raw_events_h` must be at most 24.",
        ),
        (
            '[bot]\naliases = "fmn"',
            "[bot], key `aliases` must be a list in square brackets, not text.",
        ),
        (
            '[bot]\nmode = "mention"',
            "[bot], key `mode` cannot be `mention`. Did you mean `mentions`?",
        ),
        (
            '[actions]\nclass_c = "live"',
            "[actions], key `class_c` cannot be `live`. Known are: off, shadow, ask.",
        ),
        (
            '[twitch]\nchannel = "twitch.tv/alice"',
            "key `channel`: `twitch.tv/alice` is not a login",
        ),
        *(
            (
                f'[twitch]\nserver = "{server}"',
                "the log-in is sent there, so only an address on this computer",
            )
            for server in (
                "api.twitch.tv",
                "http://127.0.0.1.example.com",
                "http://me:pa55word@127.0.0.1",
            )
        ),
        (
            '[twitch]\nclient_id = "<script>"',
            "key `client_id`: a client ID has only letters and digits",
        ),
        *(
            (
                f'[model]\nbase_url = "{url}"',
                "key `base_url`: an address without user, password",
            )
            for url in (
                "box",
                "http://me:pa55word@box/v1",
                "https://box/v1?key=pa55word",
            )
        ),
        *(
            (
                f'[model]\napi_key_env = "{key}"',
                "[model], key `api_key_env`: the name of an environment variable",
            )
            for key in KEYS
        ),
        ("[bot", "not valid TOML"),
        (
            '[recap]\nfolder = "C:\\Users\\alice"',
            "line 2, column 15). Write a path as 'C:\\Users\\alice'",
        ),
        (
            '[recap]\nfolder = "C:\\alice"',
            "Write a path as 'C:\\Users\\alice' or \"C:/Users/alice\": ",
        ),
        (
            '[recap]\nfolder = "C:\\new\\talks"',
            "[recap], key `folder`: write a path as 'C:\\Users\\alice'",
        ),
        (
            '[hearing]\ncaptions = "D:\\big\\talk.txt"',
            "[hearing], key `captions`: write a path as",
        ),
        ("[people]\nregular_streams = " + "9" * 5_000, "not valid TOML"),
        ("[reply]\nviewer_gap_s = nan", "[reply], key `viewer_gap_s`"),
        ("a = " + "[" * 5_000 + "]" * 5_000, "nested too deeply"),
        (
            '[model]\nprovider = "gemini"\nreply_model = "gemini-9"\n[limits]\nmoney_per_day = 2',
            "nobody knows what `gemini-9` costs. Put its prices into the table",
        ),
        (
            "[memory]\nwindow_min_events = 200",
            "`window_min_events` (200) is larger than `window_max_events` (100)",
        ),
    ],
)
def test_a_broken_setting_is_named_with_the_way_out(toml: str, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_settings(toml, "config.toml")
    assert "config.toml" in str(caught.value)
    assert words in str(caught.value)
    assert "pa55word" not in str(caught.value)


@pytest.mark.parametrize(
    "written", ["alice", "Alice", "#alice", "@Alice", "", "a" * 25]
)
def test_a_login_may_be_written_as_people_write_it_and_is_the_one_that_twitch_knows(
    written: str,
) -> None:
    chosen = parse_settings(
        f'[twitch]\nchannel = "{written}"\nbot_login = "{written}"', "config.toml"
    ).twitch
    assert {chosen.channel, chosen.bot_login} == {written.strip("#@").lower()}


def test_a_time_zone_that_does_not_exist_is_named_with_one_that_does() -> None:
    assert parse_settings(
        '[bot]\ntimezone = "Asia/Kolkata"', "config.toml"
    ).bot.timezone
    for name, guess in (
        ("Europe/Berln", "Did you mean `Europe/Berlin`?"),
        ("../passwd", ""),
    ):
        with pytest.raises(SettingsError) as raised:
            parse_settings(f'[bot]\ntimezone = "{name}"', "config.toml")
        sentence = str(raised.value)
        assert "config.toml: table [bot], key `timezone`" in sentence
        assert f"There is no time zone `{name}`." in sentence
        assert guess in sentence
        assert "leave it empty" in sentence


def test_the_page_about_privacy_has_the_numbers_of_the_defaults() -> None:
    page = (Path(__file__).parents[2] / "docs" / "PRIVACY.md").read_text(
        encoding="utf-8"
    )
    text = " ".join(page.replace("> ", "").split())
    privacy = Settings().privacy
    hours = f"{Settings().memory.raw_events_h:g} hours"
    for words in (
        f"`events` | {hours}, or less",
        f"deleted after {hours}",
        f"| {privacy.keep_replies_d} days |",
        f"replies after {privacy.keep_replies_d} days",
        f"the newest {privacy.keep_backups}",
    ):
        assert words in text


@pytest.mark.skipif(sys.platform == "win32", reason="pipes and devices of POSIX")
def test_a_pipe_or_a_device_in_the_place_of_the_file_is_not_waited_for(
    tmp_path: Path,
) -> None:
    with pytest.raises(
        SettingsError, match=r"does not exist. .* `forgetmenot start` makes one"
    ):
        load_settings(tmp_path / "config.toml")
    os.mkfifo(tmp_path / "config.toml")
    for path in (tmp_path / "config.toml", Path("/dev/zero")):
        with pytest.raises(SettingsError, match="it is no file"):
            load_settings(path)
