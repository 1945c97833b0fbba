"""What goes wrong on the command line is one sentence with a way out, an exit code, and nothing else."""

import io
import itertools
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


def failed_output(
    capsys: pytest.CaptureFixture[str], *words: object
) -> tuple[int, str]:
    """Run a command that fails: its exit code and its sentence; nothing is on standard output."""
    capsys.readouterr()
    try:
        code = cli.main([str(word) for word in words])
    except SystemExit as ended:  # argparse
        code = int(ended.code or 0)
    output = capsys.readouterr()
    assert output.out == ""
    assert "Traceback" not in output.err
    return code, output.err


# What is typed in a folder with the files below (M is the memory, P a pipe into which nobody writes), and what is said.
BAD = [
    (
        "strat",
        "There is no command `strat`. Did you mean `start`? `forgetmenot --help` explains them.",
    ),
    ("xyzzy", "There is no command `xyzzy`. `forgetmenot --help` explains them."),
    (
        "start --hepl",
        "`start` does not know `--hepl`. `forgetmenot start --help` explains it.",
    ),
    ("memory shw", "`memory` has no action `shw`. Did you mean `show`?"),
    (
        "memory xyzzy",
        "`memory` has no action `xyzzy`. `forgetmenot memory --help` explains them.",
    ),
    ("memory", "import notes from JSON lines"),
    *(
        (f"{words}{number}", "is not a whole number of at least")
        for words, number in itertools.product(
            ("memory show ", "memory list --limit=", "why "),
            ("0", "9" * 30, "1.5", "one"),
        )
    ),
    ("memory show 99 M", "There is no note 99."),
    ("memory why 99 M", "There is no note 99."),
    ("memory pin 99 M", "There is no such note"),
    ("memory undo 99 M", "note"),
    ("memory list --viewer nobody M", "No viewer named nobody"),
    ("memory nevermention the M", "a topic"),
    ("memory maymention 7 M", "There is no such note or entry."),
    ("memory import nowhere.jsonl M", "cannot be read"),
    ("recall --batch nowhere.jsonl M", "cannot be read"),
    ("memory import P M", "P is no file. "),
    ("recall --batch P M", "P is no file. "),
    ("start demo --db P", "no file"),
    ("memory import endless.jsonl M", "line 2: too long"),
    ("memory import foreign M", "80 more; --json prints all."),
    ("cost --since soon M", "a number and a unit"),
    ("recall --batch - --now noon M", "noon is not a time"),
    ("prompt --viewer alice --message hi --now noon M", "noon is not a time"),
    ("prompt --viewer alice --message hi --config small.toml M", "budget_tokens"),
    ("why 99 M", "no reply 99."),
    ("learn chat.log M", "--yes"),
    ("learn foreign --yes M", "foreign is no chat"),
    ("viewer export erinquux M", "No viewer named"),
    ("viewer optin erinquux M", "No viewer named"),
    ("viewer optout @ M", "No viewer named"),
    ("viewer erase viewer1 M", "--yes"),
    ("replay foreign --format irc --json M", "csv: alice,1700000000000,hello"),
    ("replay chat.csv --format irc M", "No line of chat.csv is chat in irc format."),
]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pipes with a path")
@pytest.mark.parametrize(("typed", "expected"), BAD)
def test_it_is_said_and_changes_nothing(
    memory: Path, capsys: pytest.CaptureFixture[str], typed: str, expected: str
) -> None:
    folder = memory.parent
    (folder / "foreign").write_text("hello\n" * 100, encoding="utf-8")
    (folder / "small.toml").write_text(
        "[prompt]\nbudget_tokens = 500\n", encoding="utf-8"
    )
    (folder / "chat.log").write_text(
        "[2026-05-01 20:15:03] #demo alice: I play the marimba\n", encoding="utf-8"
    )
    os.mkfifo(folder / "P")
    with (folder / "endless.jsonl").open("wb") as file:
        file.write(b'{"viewer": "alice", "fact": "likes jazz"}\n')
        file.truncate(
            1 << 32
        )  # four gigabytes of nothing, which take no place on the disk
    before = sorted(path.name for path in folder.iterdir())
    words = typed.split()
    code, sentence = failed_output(
        capsys, *words[:-1], *(("--db", memory) if words[-1] == "M" else words[-1:])
    )
    assert code == 2
    assert expected in sentence
    assert len(sentence.splitlines()) < 60
    assert [
        name
        for name in sorted(path.name for path in folder.iterdir())
        if name not in before
    ] == []


@pytest.mark.parametrize("words", ["memory xyzzy", "start --hepl"])
def test_the_way_out_is_a_command_as_it_was_started(words: str) -> None:
    """Also where the way in which it was started ends with the program's name."""
    result = subprocess.run(
        command(*words.split()),
        env=environment(Path.cwd(), FORGETMENOT_COMMAND="uvx forgetmenot"),
        capture_output=True,
        text=True,
        check=False,
    )
    name = words.split(maxsplit=1)[0]
    assert f"`uvx forgetmenot {name} --help`" in result.stderr


# ── files that are not ours ──


def not_a_database(path: Path) -> None:
    path.write_bytes(b"This is a letter and no database. " * 50)


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
        (not_a_database, "is not a readable SQLite database"),
        (lambda path: path.write_bytes(b"x"), "is not a readable SQLite database"),
        (foreign, "is a database of another program"),
        (newer, "was written by another version of ForgetMeNot"),
    ],
)
def test_a_database_that_is_not_ours_stays_as_it_is(
    memory: Path,
    capsys: pytest.CaptureFixture[str],
    make: Callable[[Path], None],
    words: str,
) -> None:
    """Nor is it closed to whoever used it, nor does it get neighbours."""
    path = memory if make is newer else memory.with_name("other.sqlite3")
    make(path)
    path.chmod(0o644 if make is not newer else 0o600)
    before = path.read_bytes()
    mode = path.stat().st_mode
    for typed in (
        ("memory", "list"),
        ("replay", memory.with_name("chat.csv"), "--format", "csv"),
        ("start", "demo"),
    ):
        code, sentence = failed_output(capsys, *typed, "--db", path)
        assert code == 3
        assert words in sentence
    code, sentence = failed_output(capsys, "demo", "--fast", "--db", path)
    assert code == 2
    assert "Use another file for the demo" in sentence
    assert (path.read_bytes(), path.stat().st_mode) == (before, mode)
    assert make is newer or {file.name for file in memory.parent.glob("other*")} <= {
        path.name,
        f"{path.name}.lock",
    }


@pytest.mark.parametrize(
    ("place", "expected"),
    [
        ("chat.csv/memory.sqlite3", "cannot be opened"),
        ("/proc/none/m.sqlite3", "cannot be opened"),
        (".", "a folder"),
    ],
)
@pytest.mark.parametrize(
    "words", ["replay chat.csv --format csv", "start demo", "demo --fast"]
)
def test_a_place_that_holds_no_memory_stays_as_it_is(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    place: str,
    expected: str,
    words: str,
) -> None:
    """A folder stays open to whoever used it."""
    (tmp_path / "chat.csv").write_text(CSV, encoding="utf-8")
    tmp_path.chmod(0o755)
    code, sentence = failed_output(capsys, *words.split(), "--db", place)
    assert code in {2, 3}
    assert expected in sentence
    assert [path.name for path in tmp_path.iterdir()] == ["chat.csv"]
    assert tmp_path.stat().st_mode & 0o777 == 0o755


def test_a_locked_database_is_said(
    memory: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("forgetmenot.store.database.BUSY_TIMEOUT_S", 0.05)
    with closing(sqlite3.connect(memory, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        code, sentence = failed_output(capsys, "memory", "retract", "1", "--db", memory)
    assert code == 3
    assert "is held by another program" in sentence


# ── odd bytes ──

FACT = '{"scope":"channel","fact":"the mascot is a 🦩 called %s"}\n'
GOOD = (FACT % "ヒナ").encode()
ODD = b'{"fact":"\xff\xfe"}\n'


@pytest.mark.parametrize(
    ("content", "piped", "refused"),
    [
        (GOOD + ODD + (FACT % "Momo").encode(), False, [2]),  # not the rest of the file
        (
            (FACT % "ヒナ").replace("\n", "\r\n").encode("utf-16"),
            False,
            [],
        ),  # as PowerShell's > writes it
        (b"\xef\xbb\xbf" + GOOD, True, []),  # as it pipes it
    ],
)
def test_a_line_that_is_no_utf_8_is_refused_by_its_number_and_windows_marks_cost_none(
    memory: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    content: bytes,
    refused: list[int],
    *,
    piped: bool,
) -> None:
    file = memory.with_name("notes.jsonl")
    file.write_bytes(content)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(content), "utf-8"))
    assert (
        cli.main(
            [
                "memory",
                "import",
                "-" if piped else str(file),
                "--db",
                str(memory),
                "--json",
            ]
        )
        == 0
    )
    report = json.loads(capsys.readouterr().out)
    assert (report["imported"], [line["line"] for line in report["refused"]]) == (
        1 + len(refused),
        refused,
    )


@pytest.mark.slow
def test_what_goes_into_a_pipe_is_utf_8_whatever_the_system_thinks(
    tmp_path: Path,
) -> None:
    """As a Windows that redirects an export into a file: what comes out can be read in again."""
    env = environment(tmp_path, PYTHONIOENCODING="cp1252")
    db = ("--db", tmp_path / "m.sqlite3")
    subprocess.run(
        command("memory", "import", "-", *db), env=env, input=GOOD, check=True
    )
    exported = subprocess.run(
        command("memory", "export", *db), env=env, capture_output=True, check=True
    ).stdout
    assert "🦩 called ヒナ" in exported.decode("utf-8")


def test_a_stop_is_no_traceback_and_a_bug_is_told_without_what_it_choked_on(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    private_text = "alice: my secret is at https://id.example/?token=abcdef"

    def choke(command: str) -> None:
        if command == "demo":
            raise KeyboardInterrupt
        raise ExceptionGroup(
            private_text, [RuntimeError(private_text)]
        ) from ValueError(private_text)

    monkeypatch.setattr(cli, "build_parser", choke)
    assert failed_output(capsys, "demo") == (130, "forgetmenot: stopped.\n")
    assert cli.main(["start", "x"]) == 1
    errors = capsys.readouterr().err
    assert "in choke" in errors
    assert "RuntimeError" in errors
    assert not any(part in errors for part in ("alice", "secret", "abcdef"))
