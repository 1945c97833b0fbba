"""Recordings, imports and pipes with odd bytes, marks, missing ends or the wrong format."""

import io
import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from forgetmenot import cli
from tests.cli.conftest import CSV


@pytest.mark.parametrize(("kind", "first"), [("csv", "sender,date,message"), ("irc", "")])
def test_a_mark_that_windows_editors_put_first_belongs_to_no_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, first: str
) -> None:
    """Nor does an odd byte, of which an old log holds some, cost a line."""
    lines = {
        "csv": "alice,1700000000000,hello",
        "irc": "@id=1;user-id=2;tmi-sent-ts=1700000000000 :alice!alice@alice.tmi.twitch.tv PRIVMSG #demo :hello",
    }
    path = tmp_path / "chat"
    written = (first + "\n" if first else "") + lines[kind] + "\n"
    path.write_bytes(written.encode("utf-8-sig").replace(b"hello", b"hell\xf8"))
    assert cli.main(["replay", str(path), "--format", kind, "--db", "m.sqlite3"]) == 0
    assert capsys.readouterr().out.startswith("lines: 1\nevents: 1\n")


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes with a path")
def test_a_recording_may_come_through_a_pipe(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`<(unzip -p chat.zip)` and /dev/stdin can be opened once and read once."""

    def one(content: str, *words: object) -> Any:  # noqa: ANN401  # JSON
        os.mkfifo(pipe := tmp_path / "pipe")
        with ThreadPoolExecutor() as other:
            other.submit(pipe.write_text, content, "utf-8-sig")
            assert cli.main([str(word) for word in words]) == 0
        pipe.unlink()
        return json.loads(capsys.readouterr().out)

    words = ("replay", tmp_path / "pipe", "--format", "csv", "--json", "--db", tmp_path / "m.sqlite3")
    assert one(CSV, *words)["lines"] == 120


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes with a path")
@pytest.mark.parametrize("words", ["memory import --db M", "recall --db M --batch", "start demo --db"])
def test_a_pipe_into_which_nobody_writes_is_not_waited_for(
    words: str, memory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(pipe := tmp_path / "pipe")
    assert cli.main([*words.replace("M", str(memory)).split(), str(pipe)]) == 2
    assert f"{pipe} is no file. " in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "kind"), [(CSV, "irc"), ("PING :tmi.twitch.tv\nhello there\n", "irc"), ("", "csv")]
)
def test_a_recording_without_a_usable_line_is_an_error_that_shows_what_one_looks_like(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str, kind: str
) -> None:
    (tmp_path / "chat.txt").write_text(content, encoding="utf-8")
    assert cli.main(["replay", "chat.txt", "--format", kind, "--json", "--db", "m.sqlite3"]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert f"No line of chat.txt is chat in {kind} format." in shown.err
    assert "csv: alice,1700000000000,hello" in shown.err
    assert [path.name for path in tmp_path.iterdir()] == ["chat.txt"]


def test_a_line_without_end_is_not_taken_into_memory(
    memory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "endless.jsonl"
    with bad.open("wb") as file:
        file.write(b'{"viewer": "alice", "fact": "likes jazz"}\n')
        file.truncate(1 << 32)  # four gigabytes of nothing, which take no place on the disk
    assert cli.main(["memory", "import", str(bad), "--db", str(memory)]) == 2
    assert "line 2: too long" in capsys.readouterr().err


FACT = '{"scope":"channel","fact":"the mascot is a 🦩 called %s"}\n'
GOOD, ODD = (FACT % "ヒナ").encode(), b'{"fact":"\xff\xfe"}\n'


@pytest.mark.parametrize(
    ("content", "piped", "refused"),
    [
        (GOOD + ODD + (FACT % "Momo").encode(), False, [2]),  # not the rest of the file
        ((FACT % "ヒナ").replace("\n", "\r\n").encode("utf-16"), False, []),  # as PowerShell's > writes it
        (b"\xef\xbb\xbf" + GOOD, True, []),  # as it pipes it
    ],
)
def test_a_line_that_is_no_utf_8_is_refused_by_its_number_and_windows_marks_cost_none(
    memory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, content: bytes,
    refused: list[int], *, piped: bool,
) -> None:  # fmt: skip
    (file := memory.with_name("notes.jsonl")).write_bytes(content)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content), "utf-8"))
    capsys.readouterr()
    assert cli.main(["memory", "import", "-" if piped else str(file), "--db", str(memory), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["imported"], [one["line"] for one in told["refused"]]) == (1 + len(refused), refused)
