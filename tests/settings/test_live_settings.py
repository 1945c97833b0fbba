"""A setting is changed in its file and for the next event; comments, order and everything else stay."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from forgetmenot.errors import SettingsError
from forgetmenot.settings.live_settings import (
    LABELS,
    LiveSettings,
    change_file,
    form_of,
)
from forgetmenot.settings.load import load_settings
from forgetmenot.settings.schema import Settings

FILE = '# mine\n[bot]\nmode = "shadow"  # for now\naliases = ["fmn"]\n\n# last words\n[actions]\nclass_b = "ask"\n'


def no_check(_settings: Settings) -> None:
    return None


def test_two_changes_at_the_same_time_both_stay(tmp_path: Path) -> None:
    path = tmp_path / "config.toml"
    path.write_text(FILE)
    live = LiveSettings(Settings(), path)
    changes = [
        ("reply", "max_chars", 321),
        ("actions", "safe_mode", True),
        ("bot", "mode", "live"),
        ("bot", "name", "K"),
    ]
    with ThreadPoolExecutor(len(changes)) as pool:
        list(
            pool.map(
                lambda change: live.change({change[:2]: change[2]}, no_check), changes
            )
        )
    for table, key, value in changes:
        assert getattr(getattr(live(), table), key) == value
        assert getattr(getattr(load_settings(path), table), key) == value


def test_every_live_setting_has_a_form_and_no_other_changes_while_it_runs() -> None:
    assert {form_of(*place)["kind"] for place in LABELS} == {
        "choice",
        "switch",
        "number",
        "list",
        "text",
    }
    for setting in (("dock", "port"), ("model", "api_key_env"), ("x", "y")):
        with pytest.raises(SettingsError, match="while the bot runs"):
            LiveSettings(Settings()).change({setting: "x"}, no_check)


def test_several_change_together_or_not_at_all_and_a_wrong_value_is_named_by_its_label(
    tmp_path: Path,
) -> None:
    path = tmp_path / "config.toml"
    path.write_text(FILE)
    settings = LiveSettings(load_settings(path), path)
    with pytest.raises(SettingsError, match="Longest reply: Must be at most 500"):
        settings.change(
            {("twitch", "channel"): "alice", ("reply", "max_chars"): 9_000}, no_check
        )
    for (table, key), value in {
        ("bot", "mode"): "loud",
        ("bot", "nothing"): 1,
        ("bot", "name"): object(),
    }.items():
        with pytest.raises(SettingsError):
            change_file(path, {(table, key): value})
    assert path.read_text() == FILE
    assert settings.generation == 0
    assert [path.name for path in tmp_path.iterdir()] == ["config.toml"]
    settings.change(
        {("twitch", "channel"): "#Alice", ("reply", "max_chars"): 90}, no_check
    )
    assert (
        settings().twitch.channel,
        settings().reply.max_chars,
        settings.generation,
    ) == (
        "alice",
        90,
        1,
    )
    assert load_settings(path) == settings()
