"""The command line as its user types it, on a memory of the test's own."""

import asyncio
import json
import shutil
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest

from forgetmenot.app.replay import read_recording, replay
from forgetmenot.cli import build_parser
from forgetmenot.settings.schema import Settings

CSV = "".join(
    f"viewer{n % 7},{1_700_000_000_000 + n * 2_000},I like level {n}\n"
    for n in range(120)
)


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Away from the checkout, where a contributor may have a config.toml."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """Where the memory lies."""
    return tmp_path / "memory.sqlite3"


@pytest.fixture
def run(database: Path, capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Run one command on the memory; what it printed, read as JSON where --json is among the words."""

    def run_command(*words: object, code: int = 0) -> Any:  # noqa: ANN401  # JSON
        arguments = build_parser(str(words[0])).parse_args(
            [*map(str, words), "--db", str(database)]
        )
        assert arguments.run(arguments) == code
        out = capsys.readouterr().out
        return json.loads(out) if "--json" in words else out

    return run_command


@pytest.fixture
def take_in(
    run: Callable[..., Any], tmp_path: Path
) -> Callable[[Iterable[Mapping[str, object]]], Any]:
    """Import these notes; what the import told."""

    def import_notes(lines: Iterable[Mapping[str, object]]) -> Any:  # noqa: ANN401  # JSON
        file = tmp_path / "notes.jsonl"
        file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        report = run("memory", "import", file, "--json")
        file.unlink()
        return report

    return import_notes


@pytest.fixture(scope="session")
def replayed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A recording and the memory of it: made once, copied for each test."""
    folder = tmp_path_factory.mktemp("replayed")
    (folder / "chat.csv").write_text(CSV, encoding="utf-8")
    asyncio.run(
        replay(
            read_recording(folder / "chat.csv", "csv"),
            folder / "memory.sqlite3",
            Settings(),
        )
    )
    return folder


@pytest.fixture
def memory(replayed: Path, tmp_path: Path) -> Path:
    """A memory with something in it."""
    return shutil.copytree(replayed, tmp_path, dirs_exist_ok=True) / "memory.sqlite3"
