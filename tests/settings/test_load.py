"""Settings: every one documented, and a broken file told by file, table and key."""

from pathlib import Path

import msgspec
import pytest

from forgetmenot.errors import SettingsError
from forgetmenot.settings.load import example_toml, load_settings, parse_settings
from forgetmenot.settings.schema import Settings


def test_the_example_is_the_defaults() -> None:
    assert parse_settings(example_toml(), "config.example.toml") == Settings()


def test_every_setting_stands_in_the_example() -> None:
    example = example_toml()
    for table in msgspec.structs.fields(Settings):
        assert f"[{table.name}]" in example
        block = example.split(f"[{table.name}]")[1].split("\n[")[0]
        for key in msgspec.structs.fields(table.type):
            assert f"\n{key.name} =" in block, f"[{table.name}] {key.name} is not in config.example.toml"


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ("[memry]\n", "no table `memry`. Did you mean `memory`?"),
        ("[memory]\nraw_event_h = 3", "[memory] has no key `raw_event_h`. Did you mean `raw_events_h`?"),
        ("[memory]\nraw_events_h = 48", "[memory], key `raw_events_h`: Expected `float` <= 24.0"),
        ('[bot]\nmode = "loud"', "[bot], key `mode`: Invalid enum value 'loud'"),
        ('[actions]\nclass_c = "live"', "[actions], key `class_c`: Invalid enum value 'live'"),
        ("[sending]\nper_30s = 21", "[sending], key `per_30s`"),
        ("name = 1", "no key `name`"),
        ("bot = 1", "`bot` must be a table, written as [bot]"),
        ("[bot", "not valid TOML"),
        ("[memory]\nwindow_min_events = 200", "`window_min_events` (200) is larger than `window_max_events` (100)"),
    ],
)
def test_a_broken_setting_is_named_with_the_way_out(toml: str, words: str) -> None:
    with pytest.raises(SettingsError) as caught:
        parse_settings(toml, "config.toml")
    assert "config.toml" in str(caught.value)
    assert words in str(caught.value)


def test_a_missing_file_says_what_to_copy(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"does not exist. Copy config\.example\.toml"):
        load_settings(tmp_path / "config.toml")


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(path)
