"""`forgetmenot learn` says what it takes, and learns it once."""

import json
from pathlib import Path

import pytest

from forgetmenot.cli import main


def test_it_learns_a_log_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "demo.log"
    log.write_text(
        "".join(f"[2026-05-01 20:{n:02}:00] #demo alice: I play the marimba\n" for n in range(40))
    )
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
