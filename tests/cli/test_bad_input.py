"""What goes wrong on the command line is one sentence with a way out, an exit code, and nothing else."""

import json
import os
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from forgetmenot import cli
from tests.cli.conftest import CSV
from tests.program import command, environment


def told(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str]:
    """Run a command that fails: its exit code and its one sentence."""
    capsys.readouterr()
    code = cli.main([str(word) for word in words])
    shown = capsys.readouterr()
    assert shown.out == ""
    sentence = shown.err.strip().splitlines()[-1]
    assert sentence.startswith("forgetmenot: ")
    assert "Traceback" not in shown.err
    return code, sentence.removeprefix("forgetmenot: ")


def foreign(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("CREATE TABLE letters (text)")
        db.commit()


def newer(path: Path) -> None:
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version = 99")
        db.commit()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda path: path.write_bytes(b"This is a letter and no database. " * 50),
            "is not a readable SQLite database",
        ),
        (lambda path: path.write_bytes(b"x"), "is not a readable SQLite database"),
        (foreign, "is a database of another program"),
        (newer, "was written by another version of ForgetMeNot"),
    ],
)
def test_a_database_that_is_not_ours_stays_as_it_is(
    memory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], make: Callable[[Path], None], words: str
) -> None:
    """Nor is it closed to whoever used it, nor does it get neighbours."""
    path = memory if make is newer else tmp_path / "other.sqlite3"
    make(path)
    if make is not newer:
        path.chmod(0o644)
    before, mode = path.read_bytes(), path.stat().st_mode
    chat = tmp_path / "chat.csv"
    for typed in (("memory", "list"), ("replay", chat, "--format", "csv"), ("start", "demo")):
        code, sentence = told(capsys, *typed, "--db", path)
        assert code == 3
        assert words in sentence
    code, sentence = told(capsys, "demo", "--fast", "--db", path)
    assert code == 2
    assert "Use another file for the demo" in sentence
    assert (path.read_bytes(), path.stat().st_mode) == (before, mode)
    assert make is newer or {file.name for file in tmp_path.glob("other*")} <= {path.name, f"{path.name}.lock"}


def test_a_locked_database_is_said(
    memory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forgetmenot.store.database.BUSY_TIMEOUT_S", 0.05)
    with closing(sqlite3.connect(memory, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        code, sentence = told(capsys, "replay", memory.with_name("chat.csv"), "--format", "csv", "--db", memory)
    assert code == 3
    assert "is held by another program" in sentence


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("chat.csv/memory.sqlite3", "cannot be opened"),
        ("/proc/none/memory.sqlite3", "cannot be opened"),
        (".", "is a folder"),
        ("/", "is a folder"),
    ],
)
@pytest.mark.parametrize("words", [("replay", "chat.csv", "--format", "csv"), ("start", "demo"), ("demo", "--fast")])
def test_a_place_that_holds_no_memory_stays_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], place: str, said: str, words: tuple[str]
) -> None:
    """A folder stays open to whoever used it."""
    (tmp_path / "chat.csv").write_text(CSV, encoding="utf-8")
    tmp_path.chmod(0o755)
    code, sentence = told(capsys, *words, "--db", place)
    assert code in {2, 3}
    assert said in sentence
    assert [path.name for path in tmp_path.iterdir()] == ["chat.csv"]
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_mistyped_command_is_named_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    code, sentence = told(capsys, "strat")
    assert (code, sentence) == (
        2,
        "There is no command `strat`. Did you mean `start`? `forgetmenot --help` explains them.",
    )
    assert cli.main(["memory"]) == 2
    assert "import notes from JSON lines" in capsys.readouterr().err
    with pytest.raises(SystemExit, match="0"):
        cli.main(["help", "demo"])
    assert "--fast" in capsys.readouterr().out


def test_a_file_that_is_no_export_is_refused_in_few_lines(memory: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = memory.with_name("notes.txt")
    file.write_text("no note\n" * 100, encoding="utf-8")
    assert cli.main(["memory", "import", str(file), "--db", str(memory)]) == 2
    shown = capsys.readouterr().err.splitlines()
    assert len(shown) == 23
    assert "… and 80 more; --json prints all." in shown


@pytest.mark.slow
def test_what_goes_into_a_file_or_a_pipe_is_utf_8_whatever_the_system_thinks(tmp_path: Path) -> None:
    """As a Windows that redirects an export into a file: what comes out can be read in again."""
    (tmp_path / "notes.jsonl").write_text(
        '{"scope":"channel","fact":"the mascot is a 🦩 called ヒナ"}\n', encoding="utf-8"
    )
    words = ("--db", tmp_path / "m.sqlite3")
    assert cli.main(["memory", "import", str(tmp_path / "notes.jsonl"), *map(str, words)]) == 0
    env = environment(tmp_path, PYTHONIOENCODING="cp1252")
    export = command("memory", "export", *words)
    exported = subprocess.run(export, env=env, capture_output=True, check=True).stdout
    assert "🦩 called ヒナ" in exported.decode("utf-8")
    again = subprocess.run(
        command("memory", "import", "-", "--json", "--db", tmp_path / "m2.sqlite3"),
        env=env,
        input=exported,
        capture_output=True,
        check=True,
    )
    assert json.loads(again.stdout)["imported"] == 1


@pytest.mark.parametrize("words", [("memory", "show"), ("memory", "retract"), ("memory", "list", "--limit"), ("why",)])
def test_a_number_that_cannot_be_one_is_refused(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    capsys.readouterr()
    for number in ("0", "9" * 30, "1.5", "one"):
        typed = f"{words[-1]}={number}" if words[-1].startswith("--") else number
        with pytest.raises(SystemExit) as ended:
            cli.main([*(words[:-1] if "=" in typed else words), typed])
        assert ended.value.code == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert "is not a whole number of at least" in shown.err


def test_a_refused_model_is_one_sentence_and_nothing_is_lost(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "chat.csv").write_text(CSV, encoding="utf-8")
    model = '[model]\nprovider = "openai_compatible"\nbase_url = "http://127.0.0.1:9/v1"\n'
    (tmp_path / "c.toml").write_text(model, encoding="utf-8")
    words: tuple[object, ...] = ("replay", tmp_path / "chat.csv", "--format", "csv", "--until-compacted", "--json")
    words += ("--db", tmp_path / "m.sqlite3", "--config", tmp_path / "c.toml")
    code, sentence = told(capsys, *words)
    assert code == 5
    assert sentence.startswith("The model stopped answering at line ")
    with closing(sqlite3.connect(tmp_path / "m.sqlite3")) as db:
        assert 0 < db.execute("SELECT count(*) FROM events WHERE episode_id IS NULL").fetchone()[0] < 120


@pytest.mark.slow
def test_a_reader_who_has_seen_enough_is_no_error(memory: Path, tmp_path: Path) -> None:
    with closing(sqlite3.connect(memory)) as db:
        rows = [("channel", f"fact {n} " + "x" * 100) for n in range(1_500)]
        db.executemany(
            "INSERT INTO semantic_notes (scope, fact, confidence, source_kind, created_at, first_said_at,"
            " last_confirmed_at) VALUES (?, ?, 0.5, 'import', 0, 0, 0)",
            rows,
        )
        db.commit()
    read, write = os.pipe()
    with subprocess.Popen(
        command("memory", "list", "--db", memory), env=environment(tmp_path), stdout=write, stderr=subprocess.PIPE
    ) as process:
        os.close(write)
        with os.fdopen(read, "rb") as lines:
            lines.readline()
        _, errors = process.communicate(timeout=100)
    assert (process.returncode, errors) == (0, b"")


def test_a_stop_is_no_traceback_and_a_bug_is_told_without_what_it_choked_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    said = "alice: my secret is at https://id.example/?token=abcdef"

    def choke(command: str) -> None:
        if command == "demo":
            raise KeyboardInterrupt
        raise ExceptionGroup(said, [RuntimeError(said)]) from ValueError(said)

    monkeypatch.setattr(cli, "build_parser", choke)
    assert cli.main(["demo"]) == 130
    assert capsys.readouterr().err == "forgetmenot: stopped.\n"
    assert cli.main(["start", "x"]) == 1
    shown = capsys.readouterr().err
    assert "in choke" in shown
    assert "RuntimeError" in shown
    assert not any(part in shown for part in ("alice", "secret", "abcdef"))
