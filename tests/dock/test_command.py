"""`forgetmenot dock` finds the page of whichever bot is running."""

import asyncio
import json
from pathlib import Path

import pytest

from forgetmenot.cli import common, main
from forgetmenot.cli import dock as command
from tests.dock.conftest import Served


async def run(dock: Served, folder: Path, *words: str) -> int:
    settings = folder / "config.toml"
    settings.write_text(f"[dock]\nport = {dock.port}\n")
    return await asyncio.to_thread(main, ["dock", "--config", str(settings), *words])


async def test_the_page_that_knows_the_address_is_running(
    dock: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await run(dock, tmp_path, "--json", "--db", str(tmp_path / "m.sqlite3")) == 0
    told = json.loads(capsys.readouterr().out)
    assert told == {"address": f"{dock.origin}/?token={dock.token}", "running": True}


async def test_a_page_of_another_memory_is_not_taken_for_ours(
    dock: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other" / "m.sqlite3"
    assert await run(dock, tmp_path, "--json", "--db", str(other)) == 0
    assert json.loads(capsys.readouterr().out)["running"] is False
    assert await run(dock, tmp_path, "--db", str(other)) == 1
    assert "the same --db" in capsys.readouterr().err


async def test_the_demos_page_is_found(
    dock: Served, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = tmp_path / "data" / "forgetmenot"
    ours.mkdir(parents=True)
    (ours / "demo").symlink_to(tmp_path)
    for module in (common, command):
        monkeypatch.setattr(module, "data_folder", lambda: ours)
    assert await run(dock, tmp_path, "--print") == 0
    assert capsys.readouterr().out.strip() == f"{dock.origin}/?token={dock.token}"
