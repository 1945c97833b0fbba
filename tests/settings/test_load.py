"""Settings: every one documented, and a broken file told by file, table and key."""

from pathlib import Path

import msgspec
import pytest

from forgetmenot.errors import SettingsError
from forgetmenot.settings.load import example_toml, load_settings, parse_settings
from forgetmenot.settings.schema import PersonaSettings, Settings


def test_the_example_is_the_defaults() -> None:
    assert parse_settings(example_toml(), "config.example.toml") == Settings()


def test_every_setting_stands_in_the_example() -> None:
    example = example_toml()
    for table in msgspec.structs.fields(Settings):
        if table.name == "personas":
            continue
        assert f"[{table.name}]" in example
        block = example.split(f"[{table.name}]")[1].split("\n[")[0]
        for key in msgspec.structs.fields(table.type):
            assert f"\n{key.name} =" in block, f"[{table.name}] {key.name} is not in config.example.toml"


def test_a_persona_stands_in_the_example_with_its_keys_and_defaults() -> None:
    commented = example_toml().split("# [personas.pirate]\n")[1].split("\n\n")[0]
    lines = [line.removeprefix("# ") for line in commented.splitlines() if line.startswith("# ")]
    settings = parse_settings("\n".join(["[personas.pirate]", *lines]), "example")
    assert [line.split(" =")[0] for line in lines] == [key.name for key in msgspec.structs.fields(PersonaSettings)]
    assert settings.personas["pirate"] == PersonaSettings(persona="You are a pirate captain.")


@pytest.mark.parametrize(
    ("toml", "words"),
    [
        ('[personas.pirate]\nvoice = "arr"', "[personas.pirate] has no key `voice`"),
        ('[personas]\npirate = "arr"', "a persona is a table, written as [personas.NAME]"),
        ('[bot]\nspeaks_as = "pirate"', "there is no persona `pirate`. Known are: none."),
        ('[personas.pirate]\ninherits = ["cook"]', "there is no persona `cook`. Known are: pirate."),
        ("[memry]\n", "no table `memry`. Did you mean `memory`?"),
        ("[memory]\nraw_event_h = 3", "[memory] has no key `raw_event_h`. Did you mean `raw_events_h`?"),
        ("[memory]\nraw_events_h = 48", "[memory], key `raw_events_h`: Expected `float` <= 24.0"),
        ('[bot]\nmode = "loud"', "[bot], key `mode`: Invalid enum value 'loud'"),
        ('[actions]\nclass_c = "live"', "[actions], key `class_c`: Invalid enum value 'live'"),
        ("[sending]\nper_30s = 21", "[sending], key `per_30s`"),
        ("name = 1", "no key `name`"),
        ("bot = 1", "`bot` must be a table, written as [bot]"),
        ("[bot", "not valid TOML"),
        ("[recall]\nchannel_notes = 1" + "0" * 30, "[recall], key `channel_notes`"),
        ("[recall]\nchannel_notes = " + "9" * 5_000, "not valid TOML"),
        ("[reply]\nviewer_gap_s = nan", "[reply], key `viewer_gap_s`"),
        ("[reply]\nspontaneous_gap_s = -1", "[reply], key `spontaneous_gap_s`"),
        ("[model]\nreply_timeout_s = inf", "[model], key `reply_timeout_s`"),
        ("a = " + "[" * 5_000 + "]" * 5_000, "nested too deeply"),
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
