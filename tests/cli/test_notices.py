"""What is told before the bot starts."""

import argparse
from pathlib import Path

import pytest

from forgetmenot.cli import play, start
from forgetmenot.cli.common import show_notices
from forgetmenot.errors import SettingsError
from forgetmenot.settings.schema import ModelSettings, Provider, Settings


def test_geminis_terms_are_said_when_gemini_is_chosen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    show_notices(Settings(), tmp_path / "memory.sqlite3")
    assert capsys.readouterr().err == ""
    show_notices(Settings(model=ModelSettings(provider=Provider.GEMINI)), tmp_path / "memory.sqlite3")
    told = capsys.readouterr().err
    assert all(words in told for words in ("under 18", "EEA", "free tier"))


@pytest.mark.parametrize(("command", "words"), [(start, ["run"]), (start, ["listen", ""]), (play, ["demo"])])
def test_a_folder_that_is_copied_elsewhere_is_warned_about(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    command: object,
    words: list[str],
) -> None:
    """Each command tells it before it starts; none of them gets further than its first error here."""
    monkeypatch.delenv("GEMINI_API_KEY", raising=False)
    parser = argparse.ArgumentParser()
    command.add(parser.add_subparsers())  # type: ignore[attr-defined]
    model = ["--model", "gemini"] if words == ["demo"] else []
    settings = tmp_path / "config.toml"
    settings.write_text('[twitch]\nchannel = "demo"\n[model]\nprovider = "openai_compatible"\n', encoding="utf-8")
    model += ["--config", str(settings)] if words == ["run"] else []
    arguments = parser.parse_args([*words, *model, "--db", str(tmp_path / "Dropbox" / "memory.sqlite3")])
    with pytest.raises(SettingsError):
        arguments.run(arguments)
    told = capsys.readouterr().err
    assert "Dropbox syncs" in told
    assert ("free tier" in told) == ("gemini" in model)
