"""docs/PRIVACY.md says what the settings do: its table and its numbers are made from the defaults."""

from pathlib import Path

from forgetmenot.settings.retention import BEGIN, END, retention_table
from forgetmenot.settings.schema import Settings
from forgetmenot.text.sensitive import CATEGORIES

PAGE = (Path(__file__).parents[2] / "docs" / "PRIVACY.md").read_text(encoding="utf-8")


def test_the_table_is_the_one_that_the_defaults_make() -> None:
    assert f"{BEGIN}\n{retention_table(Settings())}\n{END}" in PAGE


def test_the_text_for_viewers_has_the_same_numbers() -> None:
    words = " ".join(PAGE.replace("> ", "").split())
    assert f"deleted after {Settings().memory.raw_events_h:g} hours" in words
    assert f"replies after {Settings().privacy.keep_replies_d} days" in words


def test_every_category_that_is_never_stored_is_named() -> None:
    assert [name for name in CATEGORIES if f"`{name}`" not in PAGE] == []


def test_every_command_of_viewers_is_named() -> None:
    for command in ("!memory", "!remember", "!forget", "!forgetme", "!optout", "!optin", "!privacy", "!wrong"):
        assert f"`{command}" in PAGE


def test_another_setting_makes_another_table() -> None:
    from msgspec.structs import replace

    changed = replace(Settings(), privacy=replace(Settings().privacy, keep_replies_d=7))
    assert "7 days |" in retention_table(changed)
