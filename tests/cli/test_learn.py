"""`forgetmenot learn` says what it takes, asks, and learns."""

import json
from pathlib import Path

import pytest

from forgetmenot.cli import main


@pytest.fixture
def log(tmp_path: Path) -> Path:
    path = tmp_path / "demo.log"
    path.write_text("".join(f"[2026-05-01 20:{n:02}:00] #demo alice: I play the marimba\n" for n in range(40)))
    return path


def test_it_learns_a_log_once(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["learn", str(log), "--db", str(tmp_path / "m.sqlite3"), "--yes", "--json"]
    assert main(command) == 0
    out, err = capsys.readouterr()
    found = json.loads(out)
    assert (found["lines"], found["streams"], found["bad"], found["trouble"]) == (40, 1, {}, "")
    assert found["episodes"] >= 1
    assert "40 lines, 1 stream, 1 day. Model calls: " in err
    assert main(command) == 0
    none = dict.fromkeys(("lines", "streams", "episodes", "notes"), 0)
    assert json.loads(capsys.readouterr().out) == {**found, **none, "known": 40}


def test_it_says_each_per_cent_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "config.toml").write_text("[memory]\nwindow_min_events = 1\nwindow_max_events = 2\n")
    (log := tmp_path / "demo.log").write_text("[2026-05-01 20:00:00] #demo alice: I play the marimba\n" * 300)
    paths = ("--db", str(tmp_path / "m.sqlite3"), "--config", str(tmp_path / "config.toml"))
    assert main(["learn", str(log), "--yes", *paths]) == 0
    said = [line for line in capsys.readouterr().err.splitlines() if line.endswith("%")]
    assert said == sorted(set(said))  # of equal width, so in the order of numbers
    assert said[-1] == "100%"


def test_it_asks_first_and_names_a_foreign_file(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    database = ["--db", str(tmp_path / "m.sqlite3")]
    assert main(["learn", str(log), *database]) == 2
    assert "--yes" in capsys.readouterr().err
    foreign = tmp_path / "foreign.txt"
    foreign.write_text("hello\n")
    assert main(["learn", str(foreign), *database, "--yes"]) == 2
    assert "foreign.txt is no chat" in capsys.readouterr().err
