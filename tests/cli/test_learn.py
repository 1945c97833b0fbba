"""`forgetmenot learn` says what it takes, and learns it once."""

import json
from pathlib import Path

import pytest

from forgetmenot.cli import main


def test_it_learns_a_log_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "demo.log"
    log.write_text(
        "".join(
            f"[2026-05-01 20:{n:02}:00] #demo alice: I play the marimba\n"
            for n in range(40)
        )
    )
    command = [
        "learn",
        str(log),
        "--db",
        str(tmp_path / "m.sqlite3"),
        "--yes",
        "--json",
    ]
    assert main(command) == 0
    out, err = capsys.readouterr()
    report = json.loads(out)
    assert (report["lines"], report["streams"], report["bad"], report["trouble"]) == (
        40,
        1,
        {},
        "",
    )
    assert report["episodes"] >= 1
    assert (
        "40 lines, 1 stream, 1 day. It takes less than a minute and costs nothing: "
        in err
    )
    assert main(command) == 0
    none = dict.fromkeys(("lines", "streams", "episodes", "notes"), 0)
    assert json.loads(capsys.readouterr().out) == {**report, **none, "known": 40}


def test_it_names_what_it_could_not_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "demo.log"
    log.write_text(
        "[2026-05-01 20:00:00] #demo alice: hi\n[99:99] what\n[2026-05-01 20:0"
    )
    assert (
        main(
            ["learn", str(log), "--db", str(tmp_path / "m.sqlite3"), "--yes", "--json"]
        )
        == 0
    )
    out, err = capsys.readouterr()
    assert json.loads(out)["bad"] == {
        str(log): {"lines": 1, "first": [2], "cut_off": True}
    }
    assert "demo.log: 1 line cannot be read: 2. demo.log is cut off" in err
