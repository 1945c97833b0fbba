"""`forgetmenot dock` prints the address that OBS keeps."""

import json
from pathlib import Path

import pytest

from forgetmenot.cli import main


def test_the_address_stays_the_same_until_a_new_one_is_asked_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    here = ["--db", str(tmp_path / "memory.sqlite3")]
    assert main(["dock", "--print", *here]) == 0
    address = capsys.readouterr().out.strip()
    assert address.startswith("http://127.0.0.1:8737/?token=")
    assert main(["dock", "--json", *here]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["address"] == address
    assert main(["dock", "--print", "--new-token", *here]) == 0
    assert capsys.readouterr().out.strip() != address


def test_a_dock_that_is_off_says_how_to_switch_it_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text("[dock]\nport = 0\n")
    assert main(["dock", "--config", str(settings), "--db", str(tmp_path / "m.sqlite3")]) == 2
    assert "[dock]" in capsys.readouterr().err


def test_without_a_running_bot_it_says_what_to_start(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], unused_tcp_port: int
) -> None:
    settings = tmp_path / "config.toml"
    settings.write_text(f"[dock]\nport = {unused_tcp_port}\n")
    assert main(["dock", "--config", str(settings), "--db", str(tmp_path / "m.sqlite3")]) == 1
    told = capsys.readouterr()
    assert "forgetmenot run" in told.err
    assert str(unused_tcp_port) in told.out
